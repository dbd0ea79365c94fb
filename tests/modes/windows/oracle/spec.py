"""A window with a row pattern, read from the tokens between its parentheses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tests.modes.rows.oracle.errors import CannotEvaluate
from tests.modes.windows.oracle.pattern import read_pattern
from tests.modes.windows.oracle.tokens import cut, split, words_of

from sparkrex.languages.match_recognize.traverse import variables as variables_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.modes.windows.oracle.scalars import Scope
    from tests.modes.windows.oracle.tokens import Tokens

    from sparkrex.languages.match_recognize.row_pattern import RowPattern
    from sparkrex.scalar.expression import Expression, SortItem

_HEADS = (
    "PARTITION BY", "ORDER BY", "MEASURES", "ROWS BETWEEN", "RANGE BETWEEN", "GROUPS BETWEEN", "AFTER MATCH SKIP",
    "INITIAL", "SEEK", "PATTERN", "SUBSET", "DEFINE",
)


class Skip(Enum):
    """Where the search goes on after a match."""

    PAST_LAST_ROW = "PAST LAST ROW"
    TO_NEXT_ROW = "TO NEXT ROW"
    TO_FIRST = "TO FIRST"
    TO_LAST = "TO LAST"


@dataclass(frozen=True, slots=True)
class Window:
    """All that the definition needs. `end` is None for UNBOUNDED FOLLOWING, else how many rows follow."""

    partition_by: tuple[Expression, ...]
    order_by: tuple[SortItem, ...]
    measures: Mapping[str, Expression]
    end: Expression | int | None
    skip: Skip
    skip_to: frozenset[str]
    seeks: bool
    pattern: RowPattern
    definitions: Mapping[str, Expression]
    dialect: str


def clauses_of(parts: Tokens, named: Mapping[str, Tokens]) -> dict[str, Tokens]:
    """The clauses of a window, those of the windows that it extends included."""
    clauses = cut(parts, _HEADS)
    base = clauses.pop("")
    if not base:
        return clauses
    if len(base) != 1 or base[0].name not in named:
        raise CannotEvaluate(f"window {words_of(base)}")
    return {**clauses_of(named[base[0].name], named), **clauses}


def has_pattern(clauses: Mapping[str, Tokens]) -> bool:
    """Whether a window has a row pattern."""
    return "PATTERN" in clauses


def read_window(clauses: Mapping[str, Tokens], scope: Scope) -> Window:
    """The window; names are resolved among the columns of the scope."""
    pattern = read_pattern(clauses["PATTERN"][1:-1])
    variables = {name: frozenset({name}) for name in variables_of(pattern)}
    for item in split(clauses["SUBSET"]) if "SUBSET" in clauses else []:
        variables[item[0].name] = frozenset(part[0].name for part in split(item[3:-1]))
    match_scope = _with_variables(scope, variables)
    skip, skip_to = _skip(clauses.get("AFTER MATCH SKIP", ()), variables)
    measures, definitions = {}, {}
    for item in split(clauses["MEASURES"]) if "MEASURES" in clauses else []:
        end = -2 if item[-2].upper == "AS" else -1
        measures[item[-1].name] = match_scope.read(item[:end])
    for item in split(clauses["DEFINE"]):
        definitions[item[0].name] = match_scope.read(item[2:])
    return Window(
        tuple(scope.read(part) for part in split(clauses["PARTITION BY"])) if "PARTITION BY" in clauses else (),
        tuple(scope.sort_items(split(clauses["ORDER BY"]))) if "ORDER BY" in clauses else (),
        measures, _end(clauses.get("ROWS BETWEEN", ()), scope), skip, skip_to, "SEEK" in clauses, pattern,
        definitions, scope.dialect,
    )


def _with_variables(scope: Scope, variables: Mapping[str, frozenset[str]]) -> Scope:
    return type(scope)(scope.columns, variables, scope.dialect)


def _end(parts: Tokens, scope: Scope) -> Expression | int | None:
    words = words_of(parts)
    if not words.startswith("CURRENT ROW AND "):
        raise CannotEvaluate(f"frame {words}")
    end = parts[3:]
    if words_of(end) == "CURRENT ROW":
        return 0
    if words_of(end) == "UNBOUNDED FOLLOWING":
        return None
    if end[-1].upper != "FOLLOWING":
        raise CannotEvaluate(f"frame {words}")
    return scope.read(end[:-1])


def _skip(parts: Tokens, variables: Mapping[str, frozenset[str]]) -> tuple[Skip, frozenset[str]]:
    words = words_of(parts)
    if words in ("", "PAST LAST ROW"):
        return Skip.PAST_LAST_ROW, frozenset()
    if words == "TO NEXT ROW":
        return Skip.TO_NEXT_ROW, frozenset()
    is_first = len(parts) == 3 and parts[1].upper == "FIRST"
    return (Skip.TO_FIRST if is_first else Skip.TO_LAST), variables[parts[-1].name]
