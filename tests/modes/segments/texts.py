"""Random segment queries as text, as Hypothesis strategies, for the way from text to table."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

TYPES = {"k": "VARCHAR", "t": "BIGINT", "x": "BIGINT", "y": "DOUBLE", "d": "DECIMAL(5, 1)", "w": "DECIMAL(30, 1)"}
SCHEMA = pa.schema({
    "k": pa.string(), "t": pa.int64(), "x": pa.int64(), "y": pa.float64(), "d": pa.decimal128(5, 1),
    "w": pa.decimal128(30, 1),
})
_THRESHOLDS = ("-1.37", "-0.61", "0.29", "0.83", "1.37")
"""Nothing that so few small numbers come to: rounding decides nothing."""


@dataclass
class _Text:
    """A pattern being written: the leaves there are, and those that the outside may not refer to."""

    draw: st.DrawFn
    n_left: int
    points: list[str] = field(default_factory=list)
    segments: list[str] = field(default_factory=list)
    hidden: set[str] = field(default_factory=set)

    def pattern(self, depth: int) -> str:
        """A random pattern in the precedence of a factor."""
        if depth == 0 or self.n_left <= 1:
            return self.variable()
        kind = self.draw(st.sampled_from(["variable", "chain", "chain", "and", "and", "or", "optional", "many", "not"]))
        match kind:
            case "variable":
                return self.variable()
            case "chain":
                return f"({' '.join(self.pattern(depth - 1) for _ in range(self.draw(st.integers(2, 3))))})"
            case "and":
                return f"({self.pattern(depth - 1)} & {self.pattern(depth - 1)})"
            case "or":
                return f"({self.pattern(depth - 1)} | {self.pattern(depth - 1)})"
            case "optional":
                before, inside, after = (self.pattern(depth - 1) for _ in range(3))
                return f"({before} ({inside}){self.draw(st.sampled_from(['?', '*']))} {after})"
            case "many":
                return f"({self.pattern(depth - 1)}){self.draw(st.sampled_from(['+', '{2}', '{1,2}', '{2,}']))}"
            case _:
                known = {*self.points, *self.segments}
                text = f"~({self.pattern(depth - 1)})"
                self.hidden |= {*self.points, *self.segments} - known
                return text

    def variable(self) -> str:
        """A new leaf, or any segment."""
        self.n_left -= 1
        kind = self.draw(st.sampled_from(["segment", "segment", "segment", "point", "any"]))
        if kind == "any":
            return "W"
        names = self.segments if kind == "segment" else self.points
        names.append(f"{'S' if kind == 'segment' else 'P'}{len(names)}")
        return names[-1]


@st.composite
def clauses(draw: st.DrawFn, *, depth: int = 2, n_leaves: int = 4, decimals: bool = False) -> str:
    """The text between MATCH_RECOGNIZE's parentheses. With `decimals`, half of the conditions read such columns."""
    text = _Text(draw, n_leaves)
    pattern = text.pattern(depth)
    if not text.segments and "W" not in pattern:
        pattern = f"{pattern} & W"  # points alone would be a row pattern
    visible = [name for name in (*text.segments, *text.points) if name not in text.hidden]
    definitions = ["SEGMENT W AS true"] if "W" in pattern else []
    for place, name in enumerate(text.segments):
        others = [other for other in text.segments[:place] if other not in text.hidden]
        definitions.append(f"SEGMENT {name} AS {draw(_of_segment(name, others, decimals=decimals))}")
    definitions += [f"{name} AS {draw(_of_row())}" for name in text.points]
    measures = ["START_INDEX() AS i", "END_INDEX() AS j", "MATCH_NUMBER() AS number", "count(*) AS n", "sum(x) AS s"]
    measured = draw(st.lists(st.sampled_from(visible), unique=True, max_size=2)) if visible else []
    for name in measured:
        measures += [f"first({name}.t) AS {name}_from", f"last({name}.x) AS {name}_x", f"avg({name}.y) AS {name}_y"]
    measures += draw(st.lists(_measure(measured), max_size=2, unique_by=lambda text: text.rsplit(" ", 1)[1]))
    skips = ["", "", "ALL MATCHES", "AFTER MATCH SKIP PAST LAST ROW", "AFTER MATCH SKIP TO NEXT ROW"]
    skip = draw(st.sampled_from(skips))
    defined = f"\nDEFINE {', '.join(definitions)}" if definitions else ""
    return (
        f"PARTITION BY k ORDER BY t MEASURES {', '.join(measures)} {skip}\n"
        f"PATTERN ({pattern}){defined}"
    )


@st.composite
def containing_clauses(draw: st.DrawFn, *, decimals: bool = False) -> str:
    """Patterns that say what a segment contains, or that it contains none, alone, beside others and inside of them."""
    x, y = (draw(st.sampled_from([f"S{n}", f"S{n}", f"S{n}", f"P{n}", f"(S{n} | P{n})", f"(P{n} S{n})", f"(S{n})+"]))
            for n in range(2))
    chain = draw(st.sampled_from([
        f"W {x} W", f"W {x} W", f"{x} W", f"W {x}", f"W {x} W {y} W", f"W {x} W {y} W", f"W {x} W {y}", f"{x} W {y} W",
        f"W {x} {y} W",
    ]))
    said = draw(st.sampled_from([f"({chain})", f"~({chain})", f"~({chain})"]))
    pattern = draw(st.sampled_from([
        said, f"(S2 & {said})", f"(S2 & {said})", f"(S2 & {said} & ALLW)", f"(S2 & {said} & ALLW)", f"({said} & ALLW)",
        f"(S2 {said})", f"({said} | S2)", f"({said})+", f"(S2 & {said})+", f"(({said})+ & ALLW)",
        f"(S2 & {said}){{1,2}}", f"~(S2 & {said})",
    ]))
    outer = ["S2"] if "S2" in pattern and not pattern.startswith("~(S2") else []
    inner = [name for name in ("S0", "S1") if name in pattern and "~" not in pattern]
    wild = draw(st.sampled_from(["true", "true", "window(2, NULL)", "window(1, 2)", "window(t, 1)", "window(t, 0, 3)"]))
    whole = draw(st.sampled_from(["window(1, 4)", "window(2, 3)", "window(t, 0, 4)", "window(t, 1, 3)"]))
    definitions = [f"SEGMENT W AS {wild}", *([f"SEGMENT ALLW AS {whole}"] if "ALLW" in pattern else [])]
    for name in sorted(set(re.findall(r"[SP]\d", pattern))):
        others = outer if name != "S2" and draw(st.integers(0, 7)) == 0 else []  # then it is not only contained
        condition = draw(_of_segment(name, others, decimals=decimals)) if name[0] == "S" else draw(_of_row())
        definitions.append(f"{'SEGMENT ' * (name[0] == 'S')}{name} AS {condition}")
    measures = ["START_INDEX() AS i", "END_INDEX() AS j", "MATCH_NUMBER() AS number", "sum(x) AS s"]
    for name in [*outer, *inner]:
        if draw(st.integers(0, 5)) == 0:
            measures += [f"first({name}.t) AS {name}_from", f"last({name}.t) AS {name}_to"]
    skip = draw(st.sampled_from(["", "", "", "AFTER MATCH SKIP PAST LAST ROW"]))
    return (
        f"PARTITION BY k ORDER BY t MEASURES {', '.join(measures)} {skip}\n"
        f"PATTERN ({pattern})\nDEFINE {', '.join(definitions)}"
    )


@st.composite
def _measure(draw: st.DrawFn, measured: Sequence[str]) -> str:
    """What is less usual in MEASURES: aggregates of T-ReX, of expressions, and what only the standard's have."""
    of = draw(st.sampled_from(["", *(f"{name}." for name in measured)]))
    other = draw(st.sampled_from(["", *(f"{name}." for name in measured)])) if of else of
    texts = [
        f"mann_kendall_test({of}x) AS mk", f"linear_reg_slope({of}t, {of}x - {of}y) + 1 AS slope",
        f"range({of}x) AS spread", f"equal_up_down_ticks({of}y) AS ticks", f"sum(DISTINCT {of}x) AS different",
        f"count({of}x) FILTER (WHERE {of}x > 0) AS above", f"sum({of}x * 2) AS twice", f"PREV({of}t) AS before",
        f"NEXT(first({of}x), 2) AS behind",
    ]
    if other:
        texts.append(f"corr({of}x, {other}x) AS together")
    return draw(st.sampled_from(texts))


@st.composite
def _of_segment(draw: st.DrawFn, name: str, others: Sequence[str], *, decimals: bool) -> str:
    column = draw(st.sampled_from(["x", "x", "y"]))
    threshold = draw(st.sampled_from(_THRESHOLDS))
    operator = draw(st.sampled_from(["<", "<=", ">", ">="]))
    subjects = [
        f"last({column}) - first({name}.{column})", f"last({column}) / first({column})", f"avg({column})",
        f"max({name}.{column}) - min({column})", f"linear_reg_slope(t, {column})", f"linear_reg_r2_signed(t, {column})",
        f"mann_kendall_test({column})", f"median({column})", f"avg({column} * 2 - {name}.t)",
        f"sqrt(abs(sum({column})))",
    ]
    if decimals and draw(st.booleans()):
        return draw(_of_decimals(name, others))
    subjects += [f"avg({column}) - {other}.{column}" for other in others] * 4
    one = f"{draw(st.sampled_from(subjects))} {operator} {threshold}"
    windows = ["window(2)", "window(1, 3)", "window(2, NULL)", "window(t, 0, 3)", "window(t, 2)", "window(x, 0, 2)"]
    window = draw(st.sampled_from(windows))
    other = f"first({column}) IS NOT NULL"
    texts = [one, one, window, window, "true", f"{one} AND {window}", f"NOT ({one})", f"{one} OR {other}"]
    return draw(st.sampled_from(texts))


@st.composite
def _of_decimals(draw: st.DrawFn, name: str, others: Sequence[str]) -> str:
    """Sums, extremes and differences of tenths, held against tenths that they may well come to."""
    column = draw(st.sampled_from(["d", "d", "d", "w"]))
    threshold = draw(st.sampled_from(["-0.3", "0.1", "0.2", "0.3", "0.7"]))
    operator = draw(st.sampled_from(["<", "<=", ">", ">=", "=", "="]))
    subjects = [
        f"sum({column})", f"min({column})", f"max({name}.{column})", f"range({column})", f"last({column})",
        f"last({column}) - first({name}.{column})", f"max({column}) - min({column})", f"sum({column}) - last({column})",
        f"avg({column})" if column == "d" else f"sum({column})",
    ]
    subjects += [f"sum({column}) - {other}.{column}" for other in others] * 3
    compared = [threshold, threshold, f"last({column})", f"first({column}) + {threshold}"]
    return f"{draw(st.sampled_from(subjects))} {operator} {draw(st.sampled_from(compared))}"


@st.composite
def _of_row(draw: st.DrawFn) -> str:
    texts = ["x > 0.5", "y < 0.3", "x > PREV(x)", "x IS NULL", "true", "zscore_outlier(x, 2) > 0.4"]
    return draw(st.sampled_from(texts))


@st.composite
def plain_clauses(draw: st.DrawFn) -> str:
    """Ordinary patterns under ALL MATCHES, with references of all kinds."""
    pattern = draw(st.sampled_from([
        "A* D+ B* Z", "A D+ Z", "D+", "A+ B", "A B? C", "A* B", "(A | B) C+", "D{1,2} Z", "A (B C)+", "(A | B)+ C",
        "A (B | C D)? Z", "PERMUTE(A, B)",
    ]))
    names = sorted({letter for letter in pattern.replace("PERMUTE", "") if letter.isalpha()})
    union = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    sources = [*names, "U"]
    definitions = []
    for name in names:
        other = draw(st.sampled_from(sources))
        conditions = [
            "", "", "x > 0", "x > PREV(x)", f"x >= {other}.x", f"x > first({other}.x)", f"avg({other}.x) < 1.1",
            f"t - first({other}.t) <= 2", f"count({other}.*) < 3", f"last({name}.x, 1) < x OR count({name}.*) = 1",
            f"mann_kendall_test({other}.x) < 0.9", "sum(x) > -2", f"linear_reg_slope({other}.t, {other}.x) > -0.4",
        ]
        condition = draw(st.sampled_from(conditions))
        definitions += [f"{name} AS {condition}"] if condition else []
    measures = ["START_INDEX() AS i", "END_INDEX() AS j", "MATCH_NUMBER() AS number", "count(*) AS n"]
    for name in draw(st.lists(st.sampled_from(sources), unique=True, max_size=2)):
        measures += [f"first({name}.t) AS {name}_from", f"sum({name}.x) AS {name}_sum", f"range({name}.y) AS {name}_y"]
    defined = f" DEFINE {', '.join(definitions)}" if definitions else ""
    return (
        f"PARTITION BY k ORDER BY t MEASURES {', '.join(measures)} ALL MATCHES PATTERN ({pattern})"
        f" SUBSET U = ({', '.join(union)}){defined}"
    )


@st.composite
def tables(
    draw: st.DrawFn, *, n_rows: int = 6, decimals: bool = False, nulls: bool = True, nan: bool = False
) -> list[dict[str, Any]]:
    """One or two partitions; t ascends without ties, x and y have NULLs, if wanted, and y has NaN, if wanted."""
    rows = []
    missing = [st.none()] if nulls else []
    for key in ("a", "b")[: draw(st.integers(1, 2))]:
        t = draw(st.integers(-3, 3))
        for _ in range(draw(st.integers(1, n_rows))):
            x = draw(st.one_of(*[st.integers(-3, 3)] * 5, *missing))
            y = draw(st.one_of(*[st.integers(-4, 4)] * 3, *missing, *[st.just(math.nan)] * nan))
            d = draw(st.one_of(*[st.integers(-4, 4)] * 5, *missing)) if decimals else None
            tenths = None if d is None else Decimal(d) / 10
            rows.append({"k": key, "t": t, "x": x, "y": None if y is None else y / 2, "d": tenths, "w": tenths})
            t += draw(st.sampled_from([1, 1, 1, 2, 3]))
    return rows
