"""Names in a query that stand without an element.

Columns of CLUSTER BY may: they are the same in all rows of a match. Other columns may not, because it would have to be
guessed which row is meant. Whether a name is a column at all is known when the input is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.source import Span
from sparkrex.syntax.items import Name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sparkrex.languages.sqlts.query import Query
    from sparkrex.source import Source
    from sparkrex.syntax.items import ScalarText


def find_unqualified(query: Query, conditions: Sequence[ScalarText], source: Source) -> tuple[Name, ...]:
    """The names that must not be columns. A name with a dot after it that no element has is an error."""
    found: list[Name] = []
    for condition in conditions:
        found += _names_in(_outer_columns(condition.tree), query, frozenset())
    tree = query.selected.tree
    if tree is not None:
        aliases = frozenset(item.alias.lower() for item in tree.expressions if isinstance(item, exp.Alias))
        found += _names_in(_outer_columns(tree), query, aliases)
    return tuple(found)


def _outer_columns(tree: exp.Expr) -> Iterator[exp.Column]:
    """The columns that do not stand in a subquery."""
    for column in tree.find_all(exp.Column):
        around = column.find_ancestor(exp.Query)
        if (around is None or around is tree) and not _is_parameter(column):
            yield column


def _is_parameter(column: exp.Column) -> bool:
    """Whether it is a parameter of a function that is written in place: `x -> x + 1`."""
    function = column.find_ancestor(exp.Lambda)
    return function is not None and column.parts[0].name in {part.name for part in function.expressions}


def _names_in(columns: Iterable[exp.Column], query: Query, aliases: frozenset[str]) -> Iterator[Name]:
    references = query.writer.references
    known = {*references.names, *(element.upper() for element in (query.selected.alias,))}
    for column in columns:
        parts = [part.name for part in column.parts]
        if len(parts) > 1 and parts[0].upper() in known:
            continue
        n_before = 1 if len(parts) > 1 and parts[0].lower() == query.input_name else 0
        name = parts[n_before]
        place = column.parts[n_before].meta
        if "start" not in place or name.lower() in query.cluster_columns | aliases:
            continue
        span = Span(column.parts[0].meta.get("start", place["start"]), place["end"] + 1)
        if len(parts) > n_before + 1 and not n_before:
            references.fail_unknown(name, span)
        yield Name(name, span)
