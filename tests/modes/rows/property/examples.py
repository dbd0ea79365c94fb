"""A random example: a table of a few rows and the text of a MATCH_RECOGNIZE query over it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tests.answers import render_table
from tests.modes.rows.property.expressions import CONDITION_KINDS, MEASURE_KINDS, ExpressionWriter, Scope
from tests.modes.rows.property.patterns import PatternWriter

if TYPE_CHECKING:
    from tests.modes.rows.property.draws import Draw

SCHEMA = pa.schema(
    [("g", pa.int64()), ("t", pa.int64()), ("k", pa.string()), ("x", pa.int64()), ("y", pa.float64())]
)

ROW_MODES = (
    (28, "ONE ROW PER MATCH"),
    (26, "ALL ROWS PER MATCH SHOW EMPTY MATCHES"),
    (20, "ALL ROWS PER MATCH OMIT EMPTY MATCHES"),
    (26, "ALL ROWS PER MATCH WITH UNMATCHED ROWS"),
)
SKIP_MODES = (
    (32, "PAST LAST ROW"),
    (32, "TO NEXT ROW"),
    (12, "TO FIRST v"),
    (12, "TO LAST v"),
    (12, "TO v"),
)
DIALECTS = ((64, "spark"), (16, "trino"), (12, "duckdb"), (8, "snowflake"))


@dataclass(frozen=True, slots=True)
class Example:
    """One question and what it exercises."""

    query: str
    dialect: str
    rows: tuple[tuple[Any, ...], ...]
    row_mode: str
    skip_mode: str
    operators: frozenset[str]
    conditions: frozenset[str]
    measures: frozenset[str]
    chunk_rows: int
    asks_interpreter: bool

    @property
    def table(self) -> pa.Table:
        columns = list(zip(*self.rows, strict=True)) or [()] * len(SCHEMA)
        arrays = [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)]
        return pa.Table.from_arrays(arrays, schema=SCHEMA)

    def as_case(self, title: str = "found by the property suite") -> str:
        """The example as a golden case without its answer, so that anyone can run it again."""
        return (
            f"title: {title}\ntags: property\ndialect: {self.dialect}\n\n"
            f"-- table data\n{render_table(self.table)}\n\n-- query\n{self.query}\n"
        )

    def __repr__(self) -> str:
        return f"Example:\n{self.as_case()}"


TIMEOUTS = "ONE ROW PER MATCH SHOW TIMEOUT MATCHES"


def generate_timeouts(draw: Draw) -> Example:
    """One random example with SHOW TIMEOUT MATCHES."""
    return generate(draw, shows_timeouts=True)


def generate(draw: Draw, *, shows_timeouts: bool = False) -> Example:
    """One random example."""
    row_mode = TIMEOUTS if shows_timeouts else draw.weighted(ROW_MODES)
    skip_mode = draw.weighted(SKIP_MODES)
    goes_to_variable = skip_mode.endswith(" v")
    names = draw.some(("A", "B", "C", "D", "E"), 2 if goes_to_variable else 1, 4)
    writer = PatternWriter(draw, names, allows_exclusion="UNMATCHED" not in row_mode)
    target: str | None = None
    if goes_to_variable and draw.chance(80):
        target = draw.choice(names)
        pattern = writer.write_towards(target)
    else:
        pattern = writer.write()
    variables = tuple(pattern.variables)
    unions = {name: tuple(draw.some(variables, 1, 3)) for name in draw.subset(("U", "V"), 30)}
    expressions = ExpressionWriter(draw, Scope(variables, unions))

    conditions: set[str] = set()
    definitions = []
    for name in variables:
        if draw.chance(38):
            continue
        kind = draw.weighted(tuple(zip((34, 16, 18, 20, 12), CONDITION_KINDS, strict=True)))
        conditions.add(kind)
        definitions.append(f"{name} AS {expressions.condition(kind)}")

    measures: set[str] = set()
    written = []
    for number in range(1, draw.integer(1, 4) + 1):
        kind = draw.weighted(tuple(zip((12, 22, 24, 16, 8, 18), MEASURE_KINDS, strict=True)))
        measures.add(kind)
        written.append(f"{expressions.measure(kind)} AS m{number}")

    if shows_timeouts:
        written.append("MATCH_STATUS() AS status")
    if goes_to_variable:
        goal = target if target is not None else draw.choice(variables)
        holders = [name for name, parts in unions.items() if goal in parts]
        if holders and draw.chance(30):
            goal = draw.choice(holders)
        skip = f"{skip_mode[:-2]} {goal}"
    else:
        skip = skip_mode

    order_by = draw.weighted(((8, "ORDER BY t"), (1, "ORDER BY y"))) if shows_timeouts else _order_by(draw)
    if order_by[:10] in ("ORDER BY t", "ORDER BY y", "ORDER BY k") and draw.chance(12):
        written.append("MATCH_ROWTIME() AS time_of_it")
    clauses = [
        _partition_by(draw),
        order_by,
        _listed("MEASURES", written),
        _row_mode_text(draw, row_mode),
        "" if skip == "PAST LAST ROW" and draw.chance(30) else f"AFTER MATCH SKIP {skip}",
        f"PATTERN ({pattern.text})",
        # WITHIN takes one ascending key.
        f"WITHIN {draw.integer(1, 4)}" if shows_timeouts
        or (order_by in ("ORDER BY t", "ORDER BY t ASC") and draw.chance(6)) else "",
        _listed("SUBSET", [f"{name} = ({', '.join(parts)})" for name, parts in unions.items()]),
        _listed("DEFINE", definitions),
    ]
    body = "\n  ".join(filter(None, clauses))
    return Example(
        query=f"SELECT * FROM data MATCH_RECOGNIZE (\n  {body})",
        dialect=draw.weighted(DIALECTS),
        rows=_rows(draw),
        row_mode=row_mode,
        skip_mode=skip_mode,
        operators=frozenset(pattern.operators),
        conditions=frozenset(conditions),
        measures=frozenset(measures),
        chunk_rows=draw.integer(1, 4),
        # The interpreter asks the host about every mapping: too slow for every example.
        asks_interpreter=draw.chance(10),
    )


def _listed(keyword: str, items: list[str]) -> str:
    return f"{keyword} {', '.join(items)}" if items else ""


def _row_mode_text(draw: Draw, mode: str) -> str:
    """The mode, or one of the shorter ways to say it."""
    if mode == TIMEOUTS:
        return mode
    if mode.startswith("ONE"):
        return "" if draw.chance(30) else mode
    if "SHOW" in mode and draw.chance(50):
        return "ALL ROWS PER MATCH"
    return mode


def _partition_by(draw: Draw) -> str:
    return draw.weighted(((38, ""), (52, "PARTITION BY g"), (10, "PARTITION BY g, k")))


def _order_by(draw: Draw) -> str:
    key = draw.weighted(((62, "t"), (8, ""), (14, "t, x"), (6, "y"), (4, "k, t"), (3, "-t"), (3, "x + t, y")))
    if not key:
        return ""
    direction = draw.weighted(((60, ""), (25, " DESC"), (15, " ASC")))
    nulls = draw.weighted(((70, ""), (15, " NULLS FIRST"), (15, " NULLS LAST")))
    return f"ORDER BY {key}{direction}{nulls}"


def _rows(draw: Draw) -> tuple[tuple[Any, ...], ...]:
    count = draw.weighted(((2, 0), (3, 1), (6, 2), (10, 3), (28, 5), (27, 7), (16, 9), (8, 12)))
    # Most tables come in order, so that a reader sees what happens; ties and disorder are the other half.
    is_shuffled = draw.chance(35)
    rows = []
    for number in range(count):
        time = draw.integer(0, count) if is_shuffled else number
        rows.append((
            draw.weighted(((70, 1), (22, 2), (8, None))),
            None if draw.chance(5) else time,
            draw.weighted(((38, "a"), (28, "b"), (18, "c"), (9, "d"), (7, None))),
            draw.weighted(((24, 0), (26, 1), (22, 2), (14, 3), (6, -1), (8, None))),
            draw.weighted(
                ((22, 0.0), (24, 1.0), (20, 0.5), (14, 2.5), (4, -1.5), (3, -0.0), (4, math.nan), (9, None))
            ),
        ))
    return tuple(rows)
