"""Random segment searches over random small tables, as Hypothesis strategies; built as trees, without any text.

Thresholds are numbers that no aggregate of so few small whole numbers can equal, so that rounding never decides, and
the y column holds halves, whose sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from tests.modes.segments import building as b

from sparkrex.modes.plan import Skip, SkipTo
from sparkrex.modes.segments.pattern import Window

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentDefinition, SegmentSearch
    from sparkrex.scalar.expression import Expression

COLUMNS = ("k", "t", "x", "y")
COMPARISONS = ("lt", "le", "gt", "ge")
ANY_SEGMENT = "W"
"""A segment variable that is always true; it may occur again and again, and nobody refers to it."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A leaf: its name, counted from the left, and the Nots around it."""

    name: str
    is_segment: bool
    absences: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A search and the rows it searches."""

    search: SegmentSearch
    rows: list[dict[str, Any]]

    def __str__(self) -> str:
        definitions = "\n".join(
            f"  {'SEGMENT ' * one.is_segment}{one.variable} AS {one.condition} {one.windows or ''}"
            for one in self.search.definitions
        )
        rows = "\n".join(f"  {tuple(row.values())}" for row in self.rows)
        return f"{self.search.pattern!r}\n{definitions}\nmeasured {self.search.measured}, {self.search.skip}\n{rows}"


@dataclass
class _Drawing:
    """A pattern being drawn: how many leaves may still come, and those there are."""

    draw: st.DrawFn
    n_left: int
    n_absences: int = 0
    variables: list[Variable] = field(default_factory=list)

    def pattern(self, depth: int, absences: tuple[int, ...] = ()) -> SegmentPattern:
        """A random pattern of at most this depth."""
        kinds = ["variable"] if depth == 0 or self.n_left <= 1 else [
            "variable", "concatenation", "concatenation", "chain", "and", "and", "alternation", "optional", "kleene",
            "kleene", "not",
        ]
        match self.draw(st.sampled_from(kinds)):
            case "variable":
                return self.variable(absences)
            case "concatenation":
                return b.concat(self.pattern(depth - 1, absences), self.pattern(depth - 1, absences))
            case "chain":
                return b.concat(*(self.pattern(depth - 1, absences) for _ in range(3)))
            case "and":
                return b.both(self.pattern(depth - 1, absences), self.pattern(depth - 1, absences))
            case "alternation":
                return b.either(self.pattern(depth - 1, absences), self.pattern(depth - 1, absences))
            case "optional":
                # `A B? C` after zero repetitions are expanded.
                before, middle, after = (self.pattern(depth - 1, absences) for _ in range(3))
                return b.either(b.concat(before, middle, after), b.concat(before, after))
            case "kleene":
                minimum = self.draw(st.sampled_from([1, 1, 1, 2, 3]))
                maximum = self.draw(st.sampled_from([None, None, minimum, minimum + 1]))
                return b.repeat(self.pattern(depth - 1, absences), minimum, maximum)
            case _:
                self.n_absences += 1
                return b.absent(self.pattern(depth - 1, (*absences, self.n_absences)))

    def variable(self, absences: tuple[int, ...]) -> SegmentPattern:
        """A new leaf, or the segment that is always true."""
        self.n_left -= 1
        kind = self.draw(st.sampled_from(["segment", "segment", "segment", "point", "any"]))
        if kind == "any":
            return b.segment(ANY_SEGMENT)
        variable = Variable(f"V{len(self.variables)}", kind == "segment", absences)
        self.variables.append(variable)
        return b.segment(variable.name) if variable.is_segment else b.point(variable.name)


@st.composite
def examples(
    draw: st.DrawFn, *, depth: int = 3, n_leaves: int = 5, n_rows: int = 7, with_references: bool = True,
    with_skip: bool = True,
) -> Example:
    """A random search over one or two partitions."""
    drawing = _Drawing(draw, n_leaves)
    pattern = drawing.pattern(depth)
    variables = drawing.variables
    # References go one way, so that no two parts of a pattern wait for each other.
    ordered = variables if draw(st.booleans()) else variables[::-1]
    definitions = [b.define(ANY_SEGMENT)]
    for place, variable in enumerate(ordered):
        others = [
            other.name for other in ordered[:place]
            if with_references and other.absences == variable.absences[: len(other.absences)]
        ]
        definitions.append(draw(_definitions(variable, others)))
    visible = [variable.name for variable in variables if not variable.absences]
    measured = draw(st.lists(st.sampled_from(visible), unique=True, max_size=2)) if visible else []
    skips = [None, None, None, Skip(SkipTo.PAST_LAST_ROW), Skip(SkipTo.NEXT_ROW)]
    skip = draw(st.sampled_from(skips)) if with_skip else None
    search = b.search(pattern, *definitions, measured=sorted(measured), skip=skip, columns=COLUMNS)
    return Example(search, draw(tables(n_rows=n_rows)))


@st.composite
def tables(draw: st.DrawFn, *, n_rows: int = 7) -> list[dict[str, Any]]:
    """One or two partitions, in order; t ascends with gaps and ties, x and y have NULLs."""
    rows = []
    for key in ("a", "b")[: draw(st.sampled_from([1, 1, 2]))]:
        t = draw(st.integers(-3, 3))
        for _ in range(n_rows - draw(st.sampled_from([0, 0, 1, 1, 2, 3, n_rows - 1]))):
            x = draw(st.one_of(*[st.integers(-3, 3)] * 5, st.none()))
            y = draw(st.one_of(*[st.integers(-4, 4)] * 3, st.none()))
            rows.append({"k": key, "t": t, "x": x, "y": None if y is None else y / 2})
            t += draw(st.sampled_from([1, 1, 1, 2, 3, 0]))
    return rows


@st.composite
def _definitions(draw: st.DrawFn, variable: Variable, others: list[str]) -> SegmentDefinition:
    kinds = ["condition", "condition", "condition", "both", "window", "none", "none"]
    kind = draw(st.sampled_from(kinds))
    windows = (draw(windows_of_rows_or_columns()),) if kind in ("window", "both") else ()
    condition = draw(conditions(variable, others)) if kind in ("condition", "both") else None
    return b.define(variable.name, condition, *windows, point=not variable.is_segment)


@st.composite
def windows_of_rows_or_columns(draw: st.DrawFn) -> Window:
    """On rows, on the order column, or on another column (there it is an ordinary condition)."""
    column = draw(st.sampled_from([None, None, "t", "t", "x"]))
    low = draw(st.sampled_from([None, None, 0, 1, 2, 3]))
    least = 1 if low is None and column is None else (low or 0)
    high = draw(st.sampled_from([None, least, least + 1, least + 3]))
    return Window(column, low, high)


@st.composite
def conditions(draw: st.DrawFn, variable: Variable, others: list[str]) -> Expression:
    """One comparison, or two with AND, OR, NOT."""
    one = draw(_comparisons(variable, others))
    match draw(st.sampled_from(["one", "one", "one", "and", "or", "not"])):
        case "one":
            return one
        case "not":
            return b.call("not", one)
        case connector:
            return b.call(connector, one, draw(_comparisons(variable, others)))


@st.composite
def _comparisons(draw: st.DrawFn, variable: Variable, others: list[str]) -> Expression:
    name = variable.name
    column = draw(st.sampled_from(["x", "x", "y"]))
    operator = draw(st.sampled_from(COMPARISONS))
    threshold = draw(st.sampled_from([-1.37, -0.61, -0.29, 0.29, 0.47, 0.83, 1.37]))
    of_segments = ["end", "change", "ratio", "aggregate", "regression", "trend", "null", "ticks"]
    kinds = of_segments if variable.is_segment else ["end", "end", "previous", "zscore"]
    if others:
        kinds = [*kinds, *["reference"] * len(kinds)]
    kind = draw(st.sampled_from(kinds))
    if kind == "reference":
        return draw(_references(variable, draw(st.sampled_from(others)), column, operator))
    if kind == "ticks":
        return b.aggregate("equal_up_down_ticks", name, column)
    if kind == "null":
        is_null = b.call("is_null", b.first(name, column, draw(st.integers(0, 2))))
        return draw(st.sampled_from([is_null, b.call("not", is_null)]))
    subject: Expression
    match kind:
        case "end":
            subject = draw(st.sampled_from([b.first(name, column), b.last(name, column)]))
        case "previous":
            neighbour = b.last(name, column, shift=draw(st.sampled_from([-1, 1])))
            subject = b.call("subtract", b.last(name, column), neighbour)
        case "zscore":
            subject = b.aggregate("zscore_outlier", name, column, constants=(draw(st.sampled_from([1, 2, 3])),))
        case "change":
            subject = b.call("subtract", b.last(name, column), b.first(name, column))
        case "ratio":
            subject = b.ratio(b.last(name, column), b.first(name, column))
        case "regression":
            function = draw(st.sampled_from(["linear_reg_r2", "linear_reg_r2_signed", "linear_reg_slope"]))
            subject = b.aggregate(function, name, "t", column)
        case "trend":
            subject = b.aggregate("mann_kendall_test", name, column)
        case _:
            functions = ["sum", "avg", "min", "max", "count", "stddev", "var", "median", "range"]
            subject = b.aggregate(draw(st.sampled_from(functions)), name, column)
    return b.call(operator, subject, threshold)


@st.composite
def _references(draw: st.DrawFn, variable: Variable, other: str, column: str, operator: str) -> Expression:
    name = variable.name
    own = b.last(name, column)
    kinds = ["end", "end", "aggregate", "count", "null", *["corr"] * variable.is_segment]
    match draw(st.sampled_from(kinds)):
        case "end":
            return b.call(operator, own, draw(st.sampled_from([b.first(other, column), b.last(other, column)])))
        case "aggregate":
            return b.call(operator, own, b.aggregate(draw(st.sampled_from(["min", "max", "sum"])), other, column))
        case "count":
            return b.call(operator, b.aggregate("count", name), b.aggregate("count", other, column))
        case "null":
            is_null = b.call("is_null", b.last(other, column))
            return draw(st.sampled_from([is_null, b.call("not", is_null)]))
        case _:
            return b.call(operator, b.corr((name, column), (other, column)), 0.29)
