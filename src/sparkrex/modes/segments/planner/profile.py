"""Measures the weights of the cost model on synthetic data (appendix D), and prints the paper's Tables 5 and 6.

Every operator runs over children that answer at once with segments made beforehand, and whose time is taken off; so
what is measured is the operator alone. What counts as input and output is what `cost` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import median
from time import thread_time_ns
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.ordered import Columns
from sparkrex.modes.segments.aggregates.profile import profile as profile_aggregate
from sparkrex.modes.segments.aggregates.registry import find, names
from sparkrex.modes.segments.operators.arrays import distinct
from sparkrex.modes.segments.operators.build import JOINS
from sparkrex.modes.segments.operators.conditions import Condition, SegmentConditions
from sparkrex.modes.segments.operators.contract import Segments, Spaces
from sparkrex.modes.segments.operators.joins import WildcardConcat
from sparkrex.modes.segments.operators.leaves import Generator
from sparkrex.modes.segments.operators.series import Column, Series
from sparkrex.modes.segments.operators.unary import Filter, MaterializeKleene, MaterializeNot, ProbeNot
from sparkrex.modes.segments.pattern import Window
from sparkrex.modes.segments.planner.condition_cost import n_nodes
from sparkrex.modes.segments.planner.physical_plan import Op
from sparkrex.modes.segments.planner.weights import SHIPPED, OperatorWeights, Weights, write_weights
from sparkrex.scalar.expression import Call, ColumnAt, End, Literal, Semantics, Target
from sparkrex.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from sparkrex.modes.segments.operators.contract import Operator

    Rows = NDArray[np.int64]
    Answer = Callable[[Spaces], Segments]
    Case = tuple[Any, Spaces, float, float]
    """An operator, what to ask it, and how much comes in and goes out."""

_N_ROWS = 100_000
_LONGEST = 12
_SIZES = (30, 300, 3000, 30_000, 200_000)
_LARGEST_KLEENE = 3000
"""Its answers are many times its input."""
_LIMIT = 1 << 40
_NOBODY: frozenset[str] = frozenset()


class _Given:
    """A child that answers with what it was given, or makes it; `spent` is the time that takes."""

    name = "Given"
    children = ()

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.spent = 0

    def find(self, spaces: Spaces) -> Segments:
        begun = thread_time_ns()
        found = self.answer(spaces)
        self.spent += thread_time_ns() - begun
        return found

    def describe(self) -> list[str]:
        return []


@dataclass(frozen=True, slots=True)
class _Marks:
    """A condition that holds for one in so many segments, and costs next to nothing."""

    held: NDArray[np.bool_]
    end_test = None
    is_alone = False

    def holds(self, start: Rows, end: Rows, bindings: Any) -> NDArray[np.bool_]:
        return self.held[: len(start)]


class Profiler:
    """Synthetic rows and segments, and the cases of every operator over them."""

    def __init__(self, sizes: tuple[int, ...] = _SIZES) -> None:
        self.sizes = sizes
        self.generator = np.random.default_rng(7)
        rows = np.arange(_N_ROWS, dtype=np.int64)
        self.values = self.generator.normal(size=_N_ROWS).cumsum()
        columns = {"t": Column(rows, None), "x": Column(self.values, None)}
        self.series = Series(columns, np.array([0, _N_ROWS], np.int64))
        self.whole = _space(0, _N_ROWS - 1, 0, _N_ROWS - 1)

    def operators(self) -> dict[Op, OperatorWeights]:
        """The weights of every operator."""
        return {op: _fit([_measure_case(case) for case in self.cases(op)]) for op in Op if op is not Op.CONTAINS}

    def cases(self, op: Op) -> Iterator[Case]:
        """Runs of an operator with different sizes and different parts of its input that it lets through."""
        for size in self.sizes:
            if op is Op.MATERIALIZE_KLEENE and size > _LARGEST_KLEENE:
                continue
            for part in (1, 4):
                yield self._case(op, size, part)

    def segments(self, size: int, sparseness: int = 1) -> Segments:
        """Random segments of the one space, in order: of those there are in the rows they lie in, half, or fewer."""
        n_rows = min(_N_ROWS, max(2, 2 * sparseness * size // _LONGEST))
        keys = np.sort(self.generator.choice(n_rows * _LONGEST, min(size, n_rows * _LONGEST), replace=False))
        start, length = keys // _LONGEST, keys % _LONGEST
        found = Segments(np.zeros(len(keys), np.int64), start, np.minimum(start + length, _N_ROWS - 1))
        return distinct(found)

    def _case(self, op: Op, size: int, part: int) -> Case:
        match op:
            case Op.WINDOW | Op.SCAN | Op.INDEX:
                return self._generator(op, size, part)
            case Op.MATERIALIZE_NOT | Op.PROBE_NOT | Op.MATERIALIZE_KLEENE | Op.FILTER:
                return self._unary(op, size, part)
            case _:
                return self._join(op, size, part)

    def _generator(self, op: Op, size: int, part: int) -> Case:
        # Long spaces and spaces of one segment, in turn.
        if part == 1:
            n = max(1, size // _LONGEST)
            spaces, n_spaces = _space(0, n - 1, 0, n + _LONGEST - 2), 1
            n_tested = n * _LONGEST
        else:
            found = self.segments(size)
            spaces = Spaces(found.start, found.start, found.end, found.end)
            n_spaces = n_tested = len(found)
        held = np.arange(n_tested) % part == 0
        condition: Any = None if op is Op.WINDOW else _Marks(held)
        operator = Generator(op.value, self.series, _rows(_LONGEST), condition, (), _LIMIT)
        return operator, spaces, n_spaces + n_tested, n_tested if condition is None else held.sum()

    def _unary(self, op: Op, size: int, part: int) -> Case:
        start = np.repeat(np.arange(max(1, size // _LONGEST)), _LONGEST)
        end = start + np.tile(np.arange(_LONGEST), len(start) // _LONGEST)
        space = _space(0, start[-1], 0, end[-1])
        n = len(start)
        had = Segments(np.zeros(n, np.int64), start, end)
        some = Segments(had.space[::part], start[::part], end[::part])
        common = (op.value, self.series, _rows(_LONGEST))
        match op:
            case Op.MATERIALIZE_NOT:
                child = _Given(lambda _: some)
                return MaterializeNot(*common, (child,), _NOBODY, _LIMIT), space, 1 + n + len(some), n - len(some)
            case Op.PROBE_NOT:
                child = _Given(lambda spaces: _every(spaces, part))
                return ProbeNot(*common, (child,), _NOBODY, _LIMIT), space, 1 + n, n - len(some)
            case Op.FILTER:
                child = _Given(lambda _: had)
                marks: Any = _Marks(np.arange(n) % part == 0)
                return Filter(*common, (child,), _NOBODY, _LIMIT, marks), space, 1 + n, len(some)
            case _:
                base = self.segments(size, 4 * part)
                child = _Given(lambda _: base)
                kleene = MaterializeKleene(op.value, self.series, _rows(4 * _LONGEST), (child,), _NOBODY, _LIMIT)
                found = kleene.find(self.whole)
                pairs = _n_pairs(found.end, base.start, 0, 0)
                return kleene, self.whole, 1 + len(base), len(found) + pairs

    def _join(self, op: Op, size: int, part: int) -> Case:
        left, right = self.segments(size, part), self.segments(size, part)
        n_left, n_both = len(left), len(left) + len(right)
        fixed = (_Given(lambda _: left), _Given(lambda _: right))
        sides: tuple[_Given, _Given] = fixed
        inputs, outputs = float(1 + n_left), float(n_left * part)
        match op:
            case Op.WILDCARD_CONCAT:
                wild = WildcardConcat(
                    op.value, self.series, _rows(4 * _LONGEST), fixed, (_NOBODY, _NOBODY), _NOBODY, _LIMIT, 0,
                    _rows(part), (0, 0),
                )
                return wild, self.whole, 1 + n_both, _n_pairs(left.end, right.start, 0, part - 1)
            case Op.SORT_MERGE_CONCAT:
                inputs, outputs = 1 + n_both, _n_pairs(left.end, right.start, 0, 0)
            case Op.RIGHT_PROBE_CONCAT:
                sides = (fixed[0], _Given(lambda spaces: _onwards(spaces, part)))
            case Op.LEFT_PROBE_CONCAT:
                sides = (_Given(lambda spaces: _backwards(spaces, part)), fixed[0])
            case Op.RIGHT_PROBE_AND | Op.LEFT_PROBE_AND:
                probed = _Given(lambda spaces: _every(spaces, part))
                sides = (fixed[0], probed) if op is Op.RIGHT_PROBE_AND else (probed, fixed[0])
                outputs = -(-n_left // part)
            case _:
                inputs, outputs = 1 + n_both, -1
        operator = JOINS[op](
            op.value, self.series, _rows(2 * _LONGEST), sides, (_NOBODY, _NOBODY), _NOBODY, _LIMIT
        )
        if outputs < 0:
            outputs = len(operator.find(self.whole))
        return operator, self.whole, inputs, outputs

    def ordering(self) -> float:
        """Nanoseconds to put a segment with one binding in its place."""
        found = self.segments(self.sizes[-1])
        order = self.generator.permutation(len(found))
        mixed = Segments(
            found.space[order], found.start[order], found.end[order], {"A": (found.start[order], found.end[order])}
        )
        return _time(lambda: distinct(mixed)) / len(mixed)

    def _fall(self, threshold: float) -> Condition:
        """Whether x falls that far from a segment's first to its last row."""
        first, last = (
            ColumnAt(Target(frozenset({"S"}), Semantics.FINAL, end), "x") for end in (End.FIRST, End.LAST)
        )
        fall = Call("subtract", (last, first))
        expression = Call("lt", (fall, Literal(threshold)))
        table = pa.table({"t": np.arange(_N_ROWS), "x": self.values})
        columns = Columns(table, self.series.offsets)
        host: Any = None  # nothing in it needs a host
        conditions = SegmentConditions([expression], self.series, columns, host, Source(""))
        return Condition(conditions, 0, frozenset({"S"}), (), False)

    def conditions(self) -> OperatorWeights:
        """Nanoseconds per node of a condition, for a call and for every segment."""
        condition = self._fall(-1.0)
        conditions = condition.conditions
        expression = conditions.expressions[0]
        n = n_nodes(expression)
        conditions.leave_to_compiled(0, condition.own)
        measured = []
        for size in self.sizes:
            found = self.segments(size)
            time = _time(partial(condition.holds, found.start, found.end, {}))
            measured.append((float(len(found)), 0.0, time / n))
        return _fit(measured)

    def ends(self) -> OperatorWeights:
        """Nanoseconds of a leaf whose condition compares the values at both ends."""
        measured = []
        for size in self.sizes:
            for threshold in (-1.0, -4.0):
                condition = self._fall(threshold)
                leaf = Generator("", self.series, _rows(_LONGEST), condition, (), _LIMIT)
                n = max(1, size // _LONGEST)
                space = _space(0, n - 1, 0, n + _LONGEST - 2)
                time = _time(partial(leaf.find, space))
                measured.append((float(1 + n * _LONGEST), float(len(leaf.find(space))), time))
        return _fit(measured)


def profile_all(sizes: tuple[int, ...] = _SIZES) -> Weights:
    """All weights, measured here and now."""
    profiler = Profiler(sizes)
    aggregates = {}
    for name in names():
        found = find(name)
        assert found is not None
        aggregates[name] = profile_aggregate(found.bound((20,)) if found.n_constants else found, 2000)
    return Weights(profiler.operators(), aggregates, profiler.conditions(), profiler.ends(), profiler.ordering())


def tables(weights: Weights) -> str:
    """Tables 5 and 6 of the paper, in nanoseconds."""
    lines = ["Table 5: weights of operators (ns)", f"{'operator':<20}{'call':>10}{'input':>10}{'output':>10}"]
    lines += [
        f"{op.value:<20}{one.call:>10.0f}{one.input:>10.2f}{one.output:>10.2f}" for op, one in weights.operators.items()
    ]
    other = weights.conditions
    lines += [f"{'node of a condition':<20}{other.call:>10.0f}{other.input:>10.2f}{'-':>10}"]
    ends = weights.ends
    lines += [f"{'test of both ends':<20}{ends.call:>10.0f}{ends.input:>10.2f}{ends.output:>10.2f}"]
    lines += [f"{'ordering bindings':<20}{'-':>10}{weights.ordering:>10.2f}{'-':>10}", ""]
    lines += ["Table 6: weights of aggregates (ns); C constant, L linear, Q quadratic"]
    lines += [f"{'aggregate':<24}{'index':>14}{'lookup':>14}{'scan':>14}"]
    for name, one in sorted(weights.aggregates.items()):
        found = find(name)
        cells = []
        for way in ("index", "lookup", "scan"):
            weight, cost = getattr(one, way), None if found is None else getattr(found.cost, way)
            is_lookup_only = found is not None and found.needs_index and way == "scan"
            is_there = weight is not None and cost is not None and not is_lookup_only
            cells.append(f"{weight:.2f} ({cost.value[0].upper()})" if is_there and cost is not None else "-")
        lines.append(f"{name:<24}" + "".join(f"{cell:>14}" for cell in cells))
    return "\n".join(lines)


def main(path: Path = SHIPPED) -> None:
    """Measure, store, print."""
    weights = profile_all()
    write_weights(weights, path)
    print(tables(weights))


def _rows(most: int) -> tuple[Window, ...]:
    return (Window(None, None, most),)


def _space(start_low: int, start_high: int, end_low: int, end_high: int) -> Spaces:
    bounds = np.array([[start_low], [start_high], [end_low], [end_high]], np.int64)
    return Spaces(bounds[0], bounds[1], bounds[2], bounds[3])


def _every(spaces: Spaces, part: int) -> Segments:
    """The one segment of every so manieth space."""
    chosen = np.arange(0, len(spaces), part)
    return Segments(chosen, spaces.start_low[chosen], spaces.end_low[chosen])


def _onwards(spaces: Spaces, n: int) -> Segments:
    """Of every space n segments from its start."""
    space = np.repeat(np.arange(len(spaces)), n)
    start = spaces.start_low[space]
    return Segments(space, start, np.minimum(start + np.tile(np.arange(n), len(spaces)), _N_ROWS - 1))


def _backwards(spaces: Spaces, n: int) -> Segments:
    """Of every space n segments up to its end."""
    space = np.repeat(np.arange(len(spaces)), n)
    end = spaces.end_high[space]
    return Segments(space, np.maximum(end - np.tile(np.arange(n)[::-1], len(spaces)), 0), end)


def _n_pairs(ends: Rows, starts: Rows, nearest: int, furthest: int) -> int:
    """Pairs of an end and a start that is from `nearest` to `furthest` rows after it."""
    ordered = np.sort(starts)
    return int((np.searchsorted(ordered, ends + furthest, "right") - np.searchsorted(ordered, ends + nearest)).sum())


def _measure_case(case: Case) -> tuple[float, float, float]:
    """Inputs, outputs, nanoseconds of the operator without its children: the median of a few runs.

    It is the time of this thread: what else runs on the machine does not count.
    """
    operator, spaces, inputs, outputs = case
    operator.find(spaces)  # compiles
    times = []
    for _ in range(5):
        children: tuple[Operator, ...] = operator.children
        before = sum(child.spent for child in children if isinstance(child, _Given))
        begun = thread_time_ns()
        operator.find(spaces)
        whole = thread_time_ns() - begun
        times.append(whole - (sum(child.spent for child in children if isinstance(child, _Given)) - before))
    return float(inputs), float(outputs), float(median(times))


def _time(run: Callable[[], object]) -> float:
    run()
    times = []
    for _ in range(5):
        begun = thread_time_ns()
        run()
        times.append(thread_time_ns() - begun)
    return float(median(times))


def _fit(measured: list[tuple[float, float, float]]) -> OperatorWeights:
    """Least squares of relative errors, with no weight below zero: what comes out negative is left out."""
    data = np.array(measured)
    factors = np.column_stack([np.ones(len(data)), data[:, 0], data[:, 1]]) / data[:, 2:]
    used = [column for column in range(3) if factors[:, column].any()]
    while True:
        solution, *_ = np.linalg.lstsq(factors[:, used], np.ones(len(data)))
        if (solution >= 0).all():
            break
        used = [column for column, weight in zip(used, solution, strict=True) if weight >= 0]
    weights = dict(zip(used, solution.tolist(), strict=True))
    return OperatorWeights(*(round(weights.get(column, 0.0), 3) for column in range(3)))
