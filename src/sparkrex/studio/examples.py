"""Queries to start from: one of each mode, over the columns of the table at hand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from sparkrex.pictures.positions import is_number, is_text, is_time

if TYPE_CHECKING:
    import pyarrow as pa

_TIME_NAMES = re.compile(r"(ts|time|date|day|timestamp|when|step|seq|position|id|.*_(at|ts|time|date))", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_TYPES = 12
"""Texts of a column that can be types of events."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Columns for what queries need: `order` of rows, `key` of partitions, a `value`, and a `kind` of rows.

    `kinds` are two texts of that column, and `low` and `high` thirds of the values.
    """

    order: str | None = None
    key: str | None = None
    value: str | None = None
    kind: str | None = None
    kinds: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0


def roles_of(rows: pa.Table) -> Roles:
    """A guess by names, types and the first rows."""
    names = {field.name: field.type for field in rows.schema}
    numbers = [name for name, kind in names.items() if is_number(kind)]
    times = [name for name, kind in names.items() if is_time(kind)]
    named = [name for name in numbers if _TIME_NAMES.fullmatch(name)]
    order = next(iter([*times, *named, *numbers]), None)
    counts = {name: len(rows.column(name).unique()) for name, kind in names.items() if is_text(kind)}
    repeated = [name for name, count in counts.items() if 0 < count <= max(rows.num_rows // 2, 1)]
    values = [name for name in numbers if name != order and name not in named]
    kind = None
    if repeated and (len(repeated) > 1 or not values):
        # Of two columns that repeat, the one with more values tells series apart, the other one is the kind of a row.
        kind = min(reversed(repeated), key=lambda name: counts[name])
        kind = kind if 2 <= counts[kind] <= _MOST_TYPES else None
    key = next((name for name in repeated if name != kind), None)
    value = next(iter(values), None)
    low, high = _thirds(rows.column(value)) if value is not None else (0.0, 0.0)
    kinds: tuple[str, ...] = ()
    if kind is not None:
        listed = pc.value_counts(rows.column(kind).drop_null()).to_pylist()
        listed.sort(key=lambda one: (-one["counts"], str(one["values"])))
        kinds = tuple(str(one["values"]) for one in listed[:2])
    return Roles(order, key, value, kind, kinds, low, high)


def _thirds(column: pa.ChunkedArray) -> tuple[float, float]:
    found = pc.quantile(column.cast("float64", safe=False), [1 / 3, 2 / 3]).to_pylist()
    low, high = (float(f"{one or 0:.4g}") for one in found)
    return low, high


def examples_for(table: str, roles: Roles) -> list[tuple[str, str]]:
    """Title and text of each query that the columns allow."""
    if roles.order is None:
        return []
    found = []
    if roles.value is not None:
        found += _of_values(_Words(table, roles))
    if roles.kind is not None and len(roles.kinds) == 2:
        found.append(("Events: any two kinds, others passed over", _kinds(_Words(table, roles))))
    return found


class _Words:
    """Names as the queries write them."""

    def __init__(self, table: str, roles: Roles) -> None:
        assert roles.order is not None
        self.table, self.order = quoted(table), quoted(roles.order)
        self.value = quoted(roles.value or "")
        self.partition = f"PARTITION BY {quoted(roles.key)}\n  " if roles.key else ""
        self.cluster = f"  CLUSTER BY {quoted(roles.key)}\n" if roles.key else ""
        self.equal = f" {{ [{quoted(roles.key)}] }}" if roles.key else ""
        self.where = f"\n  WHERE [{quoted(roles.key)}] AND " if roles.key else "\n  WHERE "
        self.group = f"\n  GROUP-BY {quoted(roles.key)}" if roles.key else ""
        self.tie_break = f" TIE BREAK {quoted(roles.key)}" if roles.key else ""
        self.kind = quoted(roles.kind or "")
        self.kinds = roles.kinds
        self.low, self.high = f"{roles.low:g}", f"{roles.high:g}"


def quoted(name: str) -> str:
    """A name as the dialect Spark writes it."""
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def _of_values(w: _Words) -> list[tuple[str, str]]:
    return [
        ("Row pattern: a fall and a rise (V)", f"""SELECT * FROM {w.table} MATCH_RECOGNIZE (
  {w.partition}ORDER BY {w.order}
  MEASURES FIRST(DOWN.{w.order}) AS fell_at, LAST(UP.{w.order}) AS back_at, MIN(DOWN.{w.value}) AS low
  PATTERN (STRT DOWN{{3,}} UP{{3,}})
  DEFINE
    DOWN AS {w.value} < PREV({w.value}),
    UP AS {w.value} > PREV({w.value}))"""),
        ("Window: for each row, how low it falls from here", f"""SELECT {w.order}, {w.value}, low OVER w AS low
FROM {w.table}
WINDOW w AS (
  {w.partition}ORDER BY {w.order}
  MEASURES LAST(DOWN.{w.value}) AS low
  ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (STRT DOWN{{3,}} UP)
  DEFINE DOWN AS {w.value} < PREV({w.value}), UP AS {w.value} > PREV({w.value}))"""),
        ("Segment: a stretch close to a straight line down", f"""SELECT * FROM {w.table} MATCH_RECOGNIZE (
  {w.partition}ORDER BY {w.order}
  MEASURES FIRST(FALL.{w.order}) AS from_row, LAST(FALL.{w.order}) AS to_row
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (FALL)
  DEFINE SEGMENT FALL AS window(8, 20)
    AND linear_reg_r2_signed({w.value}, {w.order}) < -0.9)"""),
        ("Events: high, then low, others passed over", f"""SELECT * FROM {w.table} MATCH_EVENTS (
  TIME {w.order}{w.tie_break} TYPES (High AS {w.value} >= {w.high}, Low AS {w.value} < {w.low})
  PATTERN SEQ(High a, Low b)
  WHERE skip_till_next_match(a, b){w.equal}
  RETURN a.{w.order} AS high_at, b.{w.order} AS low_at, a.{w.value} - b.{w.value} AS change)"""),
        ("Trends: how many ways down there are", f"""SELECT * FROM {w.table} MATCH_TRENDS (
  TIME {w.order}
  RETURN COUNT(*) AS trends, MIN(S.{w.value}) AS low
  PATTERN Tick S+
  SEMANTICS contiguous{w.where}S.{w.value} > NEXT(S).{w.value}{w.group})"""),
        ("SQL-TS: a fall, up to the first row above it", f"""SELECT
  X.{w.order} AS start_at, Z.previous.{w.order} AS end_at
FROM {w.table}
{w.cluster}  SEQUENCE BY {w.order}
  AS (X, *Y, Z)
WHERE Y.{w.value} < Y.previous.{w.value} AND Z.{w.value} > X.{w.value}"""),
    ]


def _kinds(w: _Words) -> str:
    first, second = (text.replace("'", "''") for text in w.kinds)
    return f"""SELECT * FROM {w.table} MATCH_EVENTS (
  TIME {w.order}{w.tie_break} TYPES (First AS {w.kind} = '{first}', Second AS {w.kind} = '{second}')
  PATTERN SEQ(First a, Second b)
  WHERE skip_till_next_match(a, b){w.equal}
  RETURN a.{w.order} AS first_at, b.{w.order} AS second_at)"""
