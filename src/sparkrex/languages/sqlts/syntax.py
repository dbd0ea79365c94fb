"""What an SQL-TS query is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkrex.languages.match_recognize.syntax import Clause
    from sparkrex.source import Span
    from sparkrex.syntax.items import Name, ScalarText


@dataclass(frozen=True, slots=True)
class Element:
    """One element of the pattern, by its name in upper case; a star takes one row or more."""

    name: str
    is_star: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Reference:
    """`X.previous.column`, tokens `first` to `last`: a column of an element's row, or of one near it.

    The row is the element's last one, or its first one if `is_first`, and then `shift` rows on. `column` are the tokens
    of the column's name and of the fields after it, dots among them.
    """

    first: int
    last: int
    element: str
    is_first: bool
    shift: int
    column: range


@dataclass(frozen=True, slots=True)
class ElementText:
    """An element in the equivalent pattern: the variables of its first and later rows, and its own condition."""

    variables: tuple[str, str]
    is_star: bool
    condition: ScalarText | None


@dataclass(frozen=True, slots=True)
class SequenceQuery:
    """A query as the clause of MATCH_RECOGNIZE that means the same, and that clause as text.

    `unqualified` are the names in conditions and in the SELECT list that stand without an element.
    """

    clause: Clause
    elements: tuple[ElementText, ...]
    text: str
    unqualified: tuple[Name, ...]
    names: tuple[str, ...]
    """Those of the elements, as in the query."""
