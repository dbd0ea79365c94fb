"""Aggregates that only Spark computes as Spark does: workers gather the arguments, Spark aggregates them.

A worker reads every argument from the rows of a match as a list, NULLs included, so that the lists of one aggregate are
equally long. Behind the workers the lists are unfolded, one row for each of their positions, and grouped again by what
identifies a row of the result. That is one more shuffle, of one partial aggregate for each row of the result: Spark
aggregates before it shuffles, and the unfolded rows of a row stand in one task. A higher-order function would need no
shuffle, but can only fold with an expression, which `percentile_approx` or a sketch is not.

What identifies a row are numbers that Spark gives the rows of the input before anything is shuffled, of the first and
the last row of the match, or of the row itself, and the number of the match: not a number that is given behind the
workers, which may be another one when a task runs again.

A user's aggregate is computed by a window over the unfolded rows, each for itself: Spark lets a pandas UDAF stand
beside no other aggregate.

The order of the unfolded rows is lost in the shuffle. Aggregates that depend on it are not computed like this: what is
first or last is an element of a list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Aggregate, Expression, Literal
from sparkrex.scalar.render.spark import SPARK, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sparkrex.source import Span

FIRST_ID, LAST_ID, NUMBER = "rex_first_id", "rex_last_id", "rex_match_number"
"""Columns that identify a row of the result."""

# Of a list the element that these aggregates give.
_FIRST = {"anyvalue", "any_value", "first", "firstvalue", "first_value"}
_LAST = {"last", "lastvalue", "last_value"}
# As Spark writes them: the value, and what is said of NULLs, which has three places.
_ELEMENT_CALL = re.compile(
    r"\w+\((.*?)(?:, (TRUE|FALSE)| (IGNORE|RESPECT) NULLS)?\)(?: (IGNORE|RESPECT) NULLS)?", re.IGNORECASE | re.DOTALL
)
_PLACE, _ELEMENT, _CARRIED = "rex_place", "rex_element", "rex_carried"


@dataclass(frozen=True, slots=True)
class Gathered:
    """An aggregate of Spark's: its column, the columns with the lists of its arguments, and its SQL over `{0}`, ..."""

    name: str
    lists: tuple[str, ...]
    sql: str
    span: Span | None

    @property
    def function(self) -> str:
        """The function's name."""
        return self.sql.partition("(")[0].lower()

    def over_arguments(self) -> str:
        """The aggregate over the unfolded rows."""
        return self.sql.format(*(f"{_ELEMENT}.{quoted(name)}" for name in self.lists))

    def over_elements(self) -> str:
        """The aggregate over the unfolded rows that its lists reach to."""
        return f"{self.over_arguments()} FILTER (WHERE {_PLACE} < {_size(self.lists[0])}) AS {quoted(self.name)}"


def list_nodes(aggregate: Aggregate) -> list[Aggregate]:
    """The lists that a worker gathers for an aggregate: of every argument, NULLs included."""
    arguments: Sequence[Expression] = aggregate.arguments or (Literal(True),)
    return [
        Aggregate(
            "array_agg", (argument,), aggregate.variables, aggregate.semantics, filter=aggregate.filter,
            span=aggregate.span,
        )
        for argument in arguments
    ]


def element_of(aggregate: Aggregate, lists: Sequence[str]) -> str | None:
    """Spark's SQL of an aggregate that is an element of its list; None if it is none."""
    is_first = aggregate.function in _FIRST
    written = _ELEMENT_CALL.fullmatch(aggregate_template(aggregate))
    if written is None or not (is_first or aggregate.function in _LAST):
        return None
    value, *words = written.groups()
    values = quoted(lists[0])
    if value != "{0}":
        # What is chosen is an expression of the arguments.
        zipped = f"arrays_zip({', '.join(map(quoted, lists))})"
        computed = value.format(*(f"{_ELEMENT}.{quoted(name)}" for name in lists))
        values = f"transform({zipped}, {_ELEMENT} -> {computed})"
    if any(word is not None and word.upper() in ("TRUE", "IGNORE") for word in words):
        values = f"filter({values}, {_ELEMENT} -> {_ELEMENT} IS NOT NULL)"
    return f"get({values}, 0)" if is_first else f"get({values}, size({values}) - 1)"


def aggregate_template(aggregate: Aggregate) -> str:
    """Spark's SQL of the aggregate with `{0}`, ... for its arguments."""
    places = [f"{{{place}}}" for place in range(len(aggregate.arguments))]
    return SPARK.aggregate(replace(aggregate, filter=None), places)


def regrouped_sql(
    source: str, columns: Sequence[str], gathered: Sequence[Gathered], identity: Sequence[str],
    is_sparks: Callable[[str], bool],
) -> str:
    """A query over the workers' columns that has, instead of the lists, the aggregates.

    `is_sparks` says which functions are Spark's own: those of users are computed one by one.
    """
    together = [one for one in gathered if is_sparks(one.function)]
    left = dict.fromkeys(columns)
    text = f"SELECT * FROM {source}"
    if together:
        text = _grouped_sql(source, list(left), together, identity)
        left = dict.fromkeys([*_without(left, together), *(one.name for one in together)])
    for one in gathered:
        if one not in together:
            text = _window_sql(text, _without(left, [one]), one, identity)
            left = dict.fromkeys([*_without(left, [one]), one.name])
    return text


def _without(columns: Iterable[str], gathered: Sequence[Gathered]) -> list[str]:
    """The columns that are no lists of these aggregates."""
    lists = {name for one in gathered for name in one.lists}
    return [name for name in columns if name not in lists]


def _grouped_sql(source: str, columns: Sequence[str], gathered: Sequence[Gathered], identity: Sequence[str]) -> str:
    """All aggregates of Spark's by one grouping."""
    lists = dict.fromkeys(name for one in gathered for name in one.lists)
    carried = [name for name in columns if name not in lists and name not in identity]
    keys = ", ".join(map(quoted, identity))
    whole = [keys, f"struct({', '.join(map(quoted, carried)) or 'NULL AS rex_nothing'}) AS {_CARRIED}", *_lists(lists)]
    inner = [
        keys, _CARRIED, *dict.fromkeys(f"size({quoted(one.lists[0])}) AS {_size(one.lists[0])}" for one in gathered),
        _unfolded(lists),
    ]
    outer = [keys, f"first({_CARRIED}) AS {_CARRIED}", *(one.over_elements() for one in gathered)]
    unfolded = f"SELECT {', '.join(inner)} FROM (SELECT {', '.join(whole)} FROM {source})"
    grouped = f"SELECT {', '.join(outer)} FROM ({unfolded}) GROUP BY {keys}"
    shown = [keys, *(f"{_CARRIED}.{quoted(name)} AS {quoted(name)}" for name in carried)]
    shown += [quoted(one.name) for one in gathered]
    return f"SELECT {', '.join(shown)} FROM ({grouped})"


def _window_sql(source: str, columns: Sequence[str], one: Gathered, identity: Sequence[str]) -> str:
    """An aggregate of a user's by a window: what is written in Python stands beside no other aggregate."""
    listed = ", ".join(map(quoted, columns))
    size = f"size({quoted(one.lists[0])}) AS {_size(one.lists[0])}"
    whole = f"SELECT {listed}, {', '.join(_lists(one.lists))} FROM ({source})"
    unfolded = f"SELECT {listed}, {size}, {_unfolded(one.lists)} FROM ({whole})"
    value = f"{one.over_arguments()} OVER (PARTITION BY {', '.join(map(quoted, identity))})"
    valued = f"SELECT *, {value} AS rex_value FROM ({unfolded})"
    result = f"CASE WHEN {_size(one.lists[0])} > 0 THEN rex_value END AS {quoted(one.name)}"
    return f"SELECT {listed}, {result} FROM ({valued}) WHERE coalesce({_PLACE}, 0) = 0"


def _lists(names: Iterable[str]) -> list[str]:
    """The lists; one over no rows is NULL, and then so would be what is unfolded beside it."""
    return [f"coalesce({quoted(name)}, array()) AS {quoted(name)}" for name in names]


def _unfolded(names: Iterable[str]) -> str:
    return f"posexplode_outer(arrays_zip({', '.join(map(quoted, names))})) AS ({_PLACE}, {_ELEMENT})"


def _size(name: str) -> str:
    return quoted(f"rex_size_{name}")
