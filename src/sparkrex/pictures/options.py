"""What a call says of a picture, and what is drawn where it says nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from sparkrex.errors import AnalysisError, nearest
from sparkrex.pictures.positions import is_number, is_text, is_time
from sparkrex.scalar.expression import ColumnAt, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa

    from sparkrex.modes.plan import Plan

MOST_PANELS = 6
ROW = "row"
"""The x axis where nothing else can be one: the rows of a partition, counted from 0."""


@dataclass(frozen=True, slots=True)
class Options:
    """Columns of both axes, the partitions asked for by the values of their keys, the range of x, how many panels."""

    x: str | None = None
    y: str | None = None
    key: Mapping[str, object] | None = None
    between: tuple[object, object] | None = None
    panels: int = MOST_PANELS
    title: str | None = None

    def axes(self) -> tuple[str, ...]:
        """The columns that it names for the axes."""
        return tuple(name for name in (self.x, self.y) if name is not None)

    def columns(self) -> tuple[str, ...]:
        """The columns that it names."""
        return tuple(name for name in (self.x, self.y, *(self.key or ())) if name is not None)


def choose_x(options: Options, plan: Plan, table: pa.Table) -> str | None:
    """The column of the x axis: the first one of ORDER BY, if it is a number or a time; None: rows are counted."""
    if options.x is not None:
        return named_column(options.x, table)
    name = plan.order_by[0].column if plan.order_by else None
    if name is None or name not in table.column_names:
        return None
    kind = table.schema.field(name).type
    return name if is_number(kind) or is_time(kind) else None


def choose_y(options: Options, plan: Plan, table: pa.Table, x: str | None) -> str | None:
    """The column of the y axis: the first number that is tested or returned, else the first text; None: there is none.
    """
    if options.y is not None:
        return named_column(options.y, table)
    keys = {key.expression.column for key in plan.partition_by if isinstance(key.expression, ColumnAt)}
    ordered = {key.column for key in plan.order_by}
    expressions = [*plan.tested(), *(measure.expression for measure in plan.returned())]
    read = dict.fromkeys(
        node.column for expression in expressions for node in walk(expression) if isinstance(node, ColumnAt)
    )
    type_column = getattr(plan, "type_column", None)  # events whose types are told by a column
    taken = {*keys, *ordered, x}
    candidates = dict.fromkeys((*read, *([] if type_column is None else [str(type_column)])))
    return first_drawable([name for name in candidates if name in table.column_names and name not in taken], table)


def first_drawable(names: Iterable[str], table: pa.Table) -> str | None:
    """The first column of numbers, else the first one of texts."""
    listed = list(names)
    for is_wanted in (is_number, is_text):
        for name in listed:
            if is_wanted(table.schema.field(name).type):
                return name
    return None


def named_column(name: str, table: pa.Table, what: str = "the input") -> str:
    """The column that a call names, in any case."""
    if name in table.column_names:
        return name
    found = [column for column in table.column_names if column.lower() == name.lower()]
    if not found:
        raise AnalysisError(
            "REX201", f"{what} has no column {name}", None, None,
            hint=nearest(name, table.column_names) or f"it has {', '.join(table.column_names) or 'no columns'}",
        )
    return str(found[0])


def asked_rows(key: Mapping[str, object], names: Sequence[str], columns: Sequence[pa.ChunkedArray]) -> pa.Array:
    """By row of these columns of keys, whether it is of the partitions asked for."""
    import pyarrow as pa

    keep = pa.array([True] * len(columns[0])) if columns else pa.array([], pa.bool_())
    for name, value in key.items():
        known = {one.lower(): column for one, column in zip(names, columns, strict=True)}
        if name.lower() not in known:
            raise AnalysisError(
                "REX201", f"key: the partitions have no key {name}", None, None,
                hint=f"they are by {', '.join(names)}" if names else "the query has no PARTITION BY",
            )
        column = known[name.lower()]
        values = list(value) if isinstance(value, list | tuple | set) else [value]
        try:
            wanted = pa.array(values, None if pa.types.is_dictionary(column.type) else column.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise AnalysisError(
                "REX202", f"key: {value!r} is no value of {name}, which is of type {column.type}", None, None,
                hint=f'write key={{"{name}": ...}} with a value, or a list of values, of that type',
            ) from error
        plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        found = pc.is_in(plain, value_set=wanted.cast(plain.type))
        keep = pc.and_(keep, found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found)
    return keep
