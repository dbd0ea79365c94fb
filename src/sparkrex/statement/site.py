"""A place in a statement that a language claims, in indices of the statement's tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

    from sparkrex.source import Span

Piece: TypeAlias = "str | range"
"""Text, or the user's text of some tokens."""


@dataclass(frozen=True, slots=True)
class Input:
    """What a clause reads: its first and last token; its name if it is a plain table; its alias.

    Without an alias of its own, a table or table function goes by its name, and `schema` are the names before that.
    """

    first: int
    last: int
    table: str | None
    alias: str | None
    schema: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """Text that takes the place of some tokens."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Site:
    """What a language claims. `clause` are the tokens that it parses, and `clause_span` is where they stand.

    `edits` put the result in the place of what was written. `columns` is the column list of the result. A result that
    `is_read_whole` is read by the positions of its columns, so that none may be left out. `input_condition` is SQL:
    only rows of the input that meet it are read. `tokens`, if there are any, are parsed in the place of those of
    `clause`: a language may put some of its own between the user's. `input_pieces` make a FROM item, of which `input`
    is then only the place. Without an input nothing is read, and the edits are all. `span` is the relation's place for
    errors, if that is not all of it.
    """

    first: int
    last: int
    input: Input | None
    clause: range
    clause_span: Span
    edits: tuple[Edit, ...]
    columns: tuple[str, ...] | None = None
    columns_span: Span | None = None
    is_read_whole: bool = False
    input_condition: str | None = None
    tokens: tuple[Token, ...] = ()
    input_pieces: tuple[Piece, ...] = ()
    span: Span | None = None
