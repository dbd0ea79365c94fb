"""A random example: a table of a few rows and a query with row patterns in its windows.

Patterns, conditions and measures are those of the random MATCH_RECOGNIZE queries, as far as a window allows them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tests.answers import render_table
from tests.modes.rows.property.examples import SCHEMA as ROW_SCHEMA
from tests.modes.rows.property.examples import generate as generate_rows
from tests.modes.rows.property.expressions import CONDITION_KINDS, MEASURE_KINDS, ExpressionWriter, Scope
from tests.modes.rows.property.patterns import PatternWriter

if TYPE_CHECKING:
    from tests.modes.rows.property.draws import Draw

_ANCHOR = re.compile(r"[\^$]")

# `r` numbers the rows, so that answers have an order.
SCHEMA = pa.schema([("r", pa.int64()), *ROW_SCHEMA])

SKIPS = ((34, "PAST LAST ROW"), (34, "TO NEXT ROW"), (10, "TO FIRST v"), (10, "TO LAST v"), (6, "TO v"))
ENDS = (
    (42, "UNBOUNDED FOLLOWING"), (6, "CURRENT ROW"), (12, "2 FOLLOWING"), (8, "1 FOLLOWING"), (6, "3 FOLLOWING"),
    (3, "0 FOLLOWING"), (3, "100 FOLLOWING"), (8, "r % 3 FOLLOWING"), (7, "abs(coalesce(x, 2)) FOLLOWING"),
    (3, "1 + 1 FOLLOWING"), (2, "x FOLLOWING"),
)
DIALECTS = ((40, "trino"), (30, "spark"), (20, "duckdb"), (10, "snowflake"))
FUNCTIONS = (
    (14, "count(*)"), (10, "sum(x)"), (6, "sum(y)"), (6, "avg(y)"), (4, "avg(x)"), (6, "min(x)"), (6, "max(k)"),
    (4, "count(x)"), (4, "min(y)"), (8, "first_value({c})"), (8, "last_value({c})"), (8, "nth_value({c}, {n})"),
    (4, "first_value({c}) IGNORE NULLS"), (4, "last_value({c}) IGNORE NULLS"),
    (4, "nth_value({c}, {n}) IGNORE NULLS"), (3, "sum(x + t)"), (3, "max(CASE WHEN k = 'a' THEN x END)"),
    (4, "first_value(x + t)"),
)
# In memory.
MORE_FUNCTIONS = (
    (8, "array_agg(x)"), (6, "count(*) FILTER (WHERE x > 0)"), (4, "sum(x) FILTER (WHERE k = 'a')"),
    (4, "bool_or(x > 1)"), (2, "count(*) FILTER (WHERE k IS NULL)"),
)


@dataclass(frozen=True, slots=True)
class Example:
    """One question and what it exercises."""

    query: str
    dialect: str
    rows: tuple[tuple[Any, ...], ...]
    skips: frozenset[str]
    ends: frozenset[str]
    features: frozenset[str]
    way: int
    """Which of the ways in which an example can be asked, from 0 to 4."""

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


def generate(draw: Draw, *, is_for_spark: bool = False) -> Example:
    """One random example; with `is_for_spark`, one whose functions Spark has and whose order has no ties."""
    dialect = draw.weighted(DIALECTS)
    writer = _WindowWriter(draw, has_ties=not is_for_spark)
    functions = FUNCTIONS + (MORE_FUNCTIONS if not is_for_spark else ())
    items: list[str] = []
    base = f"b AS ({writer.partition()})"
    windows = [base]
    for number in range(draw.weighted(((78, 1), (22, 2)))):
        name, text, measures = "wv"[number], *writer.window(extends_base=draw.chance(15))
        over = f"({text})" if draw.chance(20) else name
        if over == name:
            windows.append(f"{name} AS ({text})")
        calls = [f"{measure} OVER {over} AS {name}{measure}" for measure in measures if draw.chance(85)]
        for place in range(draw.integer(0 if calls else 1, 3)):
            function = draw.weighted(functions).replace("{c}", draw.choice(("x", "k", "y", "t")))
            calls.append(f"{function.replace('{n}', str(draw.integer(1, 3)))} OVER {over} AS {name}f{place}")
        items += calls
    if draw.chance(12):
        items.append("sum(x) OVER (ORDER BY r) AS plain")
    rows = tuple((number, *row) for number, row in enumerate(generate_rows(draw).rows))
    query = _query(draw, dialect, items, windows)
    return Example(
        query, dialect, rows, frozenset(writer.skips), frozenset(writer.ends), frozenset(writer.features),
        draw.integer(0, 4),
    )


def _query(draw: Draw, dialect: str, items: list[str], windows: list[str]) -> str:
    """The calls in a query of some form; it always gives the rows in order of `r`."""
    where = draw.weighted(((85, ""), (15, "\nWHERE x > 0 OR x IS NULL")))
    source = draw.weighted(((72, "data"), (10, "data AS d"), (10, "(SELECT * FROM data) AS d"), (8, "data d")))
    first = draw.weighted(((80, "r"), (12, "*"), (8, "r, x, k")))
    if source != "data" and first == "r":
        # Not in a window behind OVER: there D is a variable.
        items = [f"sum(d.x){item.removeprefix('sum(x)')}" if item.startswith("sum(x)") else item for item in items]
    select = f"SELECT {first}, {', '.join(items)}\nFROM {source}{where}\nWINDOW " + ",\n".join(windows)
    call, _, alias = items[0].rpartition(" AS ")
    form = draw.weighted(((66, ""), (8, "order"), (8, "expression"), (8, "subquery"), (5, "cte"), (5, "qualify")))
    if form == "order":
        return f"{select}\nORDER BY {call}, r"
    if form == "expression":
        return select.replace(f"{call} AS", f"CASE WHEN {call} IS NULL THEN 'none' ELSE 'some' END AS") + "\nORDER BY r"
    if form == "subquery":
        return f"SELECT q.r, count(*) OVER () AS n, {alias} FROM ({select}) q WHERE {alias} IS NOT NULL ORDER BY r"
    if form == "cte":
        return f"WITH q AS ({select}), p AS (SELECT * FROM q)\nSELECT * FROM p WHERE r > 0 ORDER BY r"
    if form == "qualify" and dialect in ("duckdb", "snowflake"):
        return f"{select}\nQUALIFY {call} IS NOT NULL\nORDER BY r"
    return f"{select}\nORDER BY r"


class _WindowWriter:
    """Writes windows and notes what they have."""

    def __init__(self, draw: Draw, *, has_ties: bool) -> None:
        self._draw = draw
        self._has_ties = has_ties
        self.skips: set[str] = set()
        self.ends: set[str] = set()
        self.features: set[str] = set()

    def partition(self) -> str:
        return self._draw.weighted(((38, ""), (52, "PARTITION BY g"), (10, "PARTITION BY g, k")))

    def window(self, *, extends_base: bool) -> tuple[str, list[str]]:
        """The text between the parentheses, and the names of the measures."""
        draw = self._draw
        skip = draw.weighted(SKIPS)
        self.skips.add(skip)
        names = draw.some(("A", "B", "C", "D"), 2 if skip.endswith(" v") else 1, 4)
        pattern = PatternWriter(draw, names, allows_exclusion=True)
        goal = draw.choice(names) if skip.endswith(" v") and draw.chance(80) else None
        written = pattern.write() if goal is None else pattern.write_towards(goal)
        variables = tuple(written.variables)
        unions = {name: tuple(draw.some(variables, 1, 3)) for name in draw.subset(("U",), 40)}
        expressions = ExpressionWriter(draw, Scope(variables, unions))
        self.features |= written.operators - {"anchor"}
        end = draw.weighted(ENDS)
        self.ends.add(end)
        if skip.endswith(" v"):
            skip = f"{skip[:-2]} {goal if goal is not None else draw.choice(variables)}"
        measures = [self._measure(expressions) for _ in range(draw.integer(0, 3))]
        lines = [
            "b" if extends_base else self.partition(),
            self._order(),
            "MEASURES " + ", ".join(f"{text} AS m{number}" for number, text in enumerate(measures)) if measures else "",
            f"ROWS BETWEEN CURRENT ROW AND {end}",
            "" if skip == "PAST LAST ROW" and draw.chance(30) else f"AFTER MATCH SKIP {skip}",
            self._feature(draw.weighted(((45, ""), (15, "INITIAL"), (40, "SEEK")))),
            # Windows have no anchors; what matches no row stands in their place.
            f"PATTERN ({_ANCHOR.sub('()', written.text)})",
            "SUBSET " + ", ".join(f"{name} = ({', '.join(parts)})" for name, parts in unions.items()) if unions else "",
            "DEFINE " + ", ".join(self._definitions(expressions, variables)),
        ]
        return "\n  ".join(filter(None, lines)), [f"m{number}" for number in range(len(measures))]

    def _order(self) -> str:
        draw = self._draw
        if not self._has_ties:
            return "ORDER BY " + draw.weighted(((60, "t, r"), (20, "t DESC, r"), (10, "r"), (10, "y, r")))
        key = draw.weighted(((62, "t"), (8, ""), (14, "t, x"), (6, "y"), (4, "k, t"), (3, "-t"), (3, "x + t, y")))
        if not key:
            return ""
        nulls = draw.weighted(((70, ""), (15, " NULLS FIRST"), (15, " NULLS LAST")))
        return f"ORDER BY {key}{draw.weighted(((60, ''), (25, ' DESC'), (15, ' ASC')))}{nulls}"

    def _feature(self, text: str) -> str:
        if text:
            self.features.add(text)
        return text

    def _definitions(self, expressions: ExpressionWriter, variables: tuple[str, ...]) -> list[str]:
        draw = self._draw
        definitions = []
        for name in variables:
            if draw.chance(42):
                continue
            kind = draw.weighted(tuple(zip((30, 26, 18, 16, 10), CONDITION_KINDS, strict=True)))
            self.features.add(f"{kind} condition")
            definitions.append(f"{name} AS {_without_numbers(lambda kind=kind: expressions.condition(kind), 'x >= 0')}")
        # DEFINE is required.
        return definitions or [f"{variables[0]} AS true"]

    def _measure(self, expressions: ExpressionWriter) -> str:
        kind = self._draw.weighted(tuple(zip((12, 26, 24, 16, 0, 22), MEASURE_KINDS, strict=True)))
        self.features.add(f"{kind} measure")
        return _without_numbers(lambda: expressions.measure(kind), "7")


def _without_numbers(write: Any, otherwise: str) -> str:
    """What is written, if the matches of a window, which have neither number nor status, can answer it."""
    for _ in range(5):
        text = str(write())
        if "MATCH_" not in text:
            return text
    return otherwise
