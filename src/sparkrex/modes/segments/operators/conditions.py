"""Conditions of segments, over arrays of candidates: the same compiled operators as row conditions, other leaves.

A reference reads a column at the first or last row of a variable's segment; an aggregate is looked up in an index over
the whole series, or scanned segment by segment. Everything above them is `evaluate.vectorised`; what that does not
know, the host evaluates (`by_host`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.values import BOOL, FLOAT, Kind
from sparkrex.errors import ExecutionError
from sparkrex.evaluate.blocks import Value, integer_arithmetic, limited
from sparkrex.evaluate.row_kinds import (
    DATE,
    DECIMAL_LIMITS,
    FLOAT32,
    MICROSECONDS,
    TIME_LIMITS,
    CannotVectoriseError,
    row_kind,
)
from sparkrex.evaluate.run_blocks import truth
from sparkrex.evaluate.vectorised import Compiler, Node
from sparkrex.evaluate.vectorised_batch import VectorisedBatch
from sparkrex.modes.segments.aggregates.registry import find
from sparkrex.modes.segments.operators.by_host import HostCondition
from sparkrex.modes.segments.operators.calls import AggregateCall, call_of, in_parts, over_segments
from sparkrex.modes.segments.operators.decimals import (
    EXACT,
    RANKS,
    avg_of_scaled,
    difference,
    exact_type,
    form_for,
    is_decimal,
    is_narrow,
)
from sparkrex.modes.segments.operators.end_tests import EndTest, NumberColumns, end_test_of
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, Difference, End, Expression, Target, walk
from sparkrex.scalar.render.renderer import leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.segments.aggregates.contract import SegmentAggregate
    from sparkrex.modes.segments.operators.contract import Binding
    from sparkrex.modes.segments.operators.decimals import Decimals
    from sparkrex.modes.segments.operators.series import Series
    from sparkrex.modes.segments.pattern import Window
    from sparkrex.modes.segments.planner.logical import Leaf
    from sparkrex.scalar.render.renderer import Leaf as LeafExpression
    from sparkrex.source import Source

_LONG = Kind("int", 64)
_KEEP_THE_KIND = ("min", "max")


@dataclass(eq=False)
class SegmentCompiler(Compiler):
    """Compiles conditions whose references name a variable's segment: the place of a reference stands for its shift."""

    places: dict[Target, int] = field(default_factory=dict)
    calls: dict[AggregateCall, int] = field(default_factory=dict)

    def _source(self, projection: Any, kind: Kind | None) -> Node:
        place = self.places.setdefault(projection.target, len(self.places))
        node = super()._source(replace(projection, target=Target(shift=place)), kind)
        return self.converted(node, FLOAT) if node.kind == FLOAT32 else node

    def _new(self, expression: Expression, may_project: bool) -> Node:
        if isinstance(expression, Call) and expression.difference is Difference.NUMBER:
            if self._is_of_times(expression):
                return self._microseconds(expression)
            expression = replace(expression, difference=None)
        if not isinstance(expression, Aggregate):
            return super()._new(expression, may_project)
        return self._of_call(call_of(expression))

    def _of_call(self, call: AggregateCall) -> Node:
        type_ = self.schema.field(call.columns[0]).type if call.columns else None
        if type_ is None or not is_decimal(type_):
            number = self.number_of(call)
            return self.node(self._kind_of(call), lambda block: block.call(number))  # type: ignore[attr-defined]  # a SegmentBlock
        name = call.aggregate.name
        if name in EXACT and not is_narrow(type_):
            raise CannotVectoriseError("a decimal of more than 18 digits")
        aggregate = avg_of_scaled(type_.scale) if name == "avg" and is_narrow(type_) else call.aggregate
        number = self.number_of(replace(call, aggregate=aggregate, form=form_for(name, type_)))
        if name not in EXACT:
            return self.node(self._kind_of(call), lambda block: block.call(number))  # type: ignore[attr-defined]  # a SegmentBlock
        kind = Kind("decimal", type_.scale)
        return self.node(kind, lambda block: block.decimal_call(number))  # type: ignore[attr-defined]  # a SegmentBlock

    def number_of(self, call: AggregateCall) -> int:
        """The call's number, a new one if it has none yet."""
        return self.calls.setdefault(call, len(self.calls))

    def compiled(self, aggregate: Expression) -> Node:
        """An aggregate alone, for a condition that the host evaluates."""
        return self._compile(aggregate, False)

    def _kind_of(self, call: AggregateCall) -> Kind:
        """The kind of an aggregate's values: doubles, but for counts, whole numbers and times that stay such."""
        name = call.aggregate.name
        if name == "count":
            return _LONG
        if call.aggregate.is_boolean:
            return BOOL
        kind = row_kind(self.schema.field(call.columns[0]).type)
        if kind is None or name not in (*_KEEP_THE_KIND, "sum", "range"):
            return FLOAT
        if kind.name == "int":
            return _LONG
        if kind.name not in ("date", "timestamp") or name not in _KEEP_THE_KIND:
            return FLOAT
        return kind if kind == DATE else Kind("timestamp", "us zoned" if "zoned" in str(kind.detail) else "us")

    def _is_of_times(self, call: Call) -> bool:
        kinds = [row_kind(self.schema.field(one.column).type) for one in call.operands if isinstance(one, ColumnAt)]
        if Kind("timestamp", "ns") in kinds:
            raise CannotVectoriseError("nanoseconds")
        return all(kind is not None and kind.name == "timestamp" for kind in kinds)

    def _microseconds(self, difference: Call) -> Node:
        last, first = (self.converted(self._compile(operand, False), MICROSECONDS) for operand in difference.operands)
        return self.node(
            _LONG, lambda block: integer_arithmetic(np.subtract, last.run(block), first.run(block), TIME_LIMITS)
        )


@dataclass(frozen=True, eq=False, slots=True)
class Condition:
    """One condition, ready to test segments of `own` variables. `uses_index` shares the work of aggregates."""

    conditions: SegmentConditions
    number: int
    own: frozenset[str]
    windows: tuple[Window, ...]
    uses_index: bool

    def holds(
        self, start: NDArray[np.int64], end: NDArray[np.int64], bindings: dict[str, Binding]
    ) -> NDArray[np.bool_]:
        """Where the condition holds; NULL does not."""
        if not len(start):
            return np.zeros(0, np.bool_)
        test = self.end_test
        if test is not None:
            return test.holds(start, end)
        bound = {**bindings, **dict.fromkeys(self.own, (start, end))}
        value = self._value(self.conditions.nodes[self.number], len(start), bound)
        failures = value.failures
        if failures is not None and np.any(failures):
            # 64 bits are not enough, or digits would be lost. The host has more, or else an error of its own.
            try:
                value = self._value(self.conditions.hosted(self.number), len(start), bound)
            except ExecutionError as error:
                error.row = int(start[np.argmax(np.broadcast_to(failures, (len(start),)))])
                raise
        return np.broadcast_to(np.asarray(truth(value), np.bool_), (len(start),))

    def _value(self, node: Node, length: int, bound: dict[str, Binding]) -> Value:
        block = SegmentBlock(self.conditions, length, bound, self.windows if self.uses_index else None, self.own)
        try:
            with np.errstate(all="ignore"):
                return node.run(block)  # type: ignore[arg-type]  # reads as a block does
        except ExecutionError as error:
            error.span = error.span or self.conditions.expressions[self.number].span
            raise

    @property
    def end_test(self) -> EndTest | None:
        """The condition as a test of the values at both ends, if it is one."""
        return self.conditions.end_test(self.number, self.own)

    @property
    def is_alone(self) -> bool:
        """Whether it refers to no other variable's segment."""
        return self.conditions.is_alone(self.number, self.own)

    @property
    def has_rows(self) -> bool:
        """Whether `rows` are known."""
        return self.number in self.conditions.rows_where

    def rows(self) -> NDArray[np.int64]:
        """The rows that are by themselves segments for which it holds; tested once for all that ask."""
        known = self.conditions.rows_where
        if self.number not in known:
            every = np.arange(self.conditions.series.n_rows, dtype=np.int64)
            known[self.number] = np.flatnonzero(self.holds(every, every, {}))
        return known[self.number]

    def __str__(self) -> str:
        return str(self.conditions.expressions[self.number])


class SegmentConditions(VectorisedBatch):
    """All conditions of a query over one series: compiled once, their columns loaded, indexes built when asked for."""

    def __init__(
        self, expressions: Sequence[Expression], series: Series, columns: Columns, evaluator: Evaluator, source: Source
    ) -> None:
        self.series = series
        self.expressions = expressions
        self._number_of = {expression: number for number, expression in enumerate(expressions)}
        super().__init__(expressions, columns, evaluator, 1)
        self.by_host = [expression for number, expression in enumerate(expressions) if number not in self.nodes]
        self.source = source
        self._hosted: dict[int, Node] = {}
        for expression in self.by_host:
            number = self._number_of[expression]
            self.nodes[number] = self.hosted(number)
        self.leaves = self._leaves(set(range(len(self.compiler.leaves))))
        self.places = list(self.segment_compiler.places)
        self.calls = list(self.segment_compiler.calls)
        self._indexes: dict[tuple[SegmentAggregate, tuple[str, ...], str, int], Any] = {}
        self.rows_where: dict[int, NDArray[np.int64]] = {}
        """By condition, see `Condition.rows`."""
        self._numbers = NumberColumns(columns.table)
        self._end_tests: dict[tuple[int, frozenset[str]], EndTest | None] = {}
        self._referred: dict[int, frozenset[str]] = {}

    def forget(self) -> None:
        """As if nothing had been tested or looked up yet."""
        self._indexes.clear()
        self.rows_where.clear()
        self._end_tests.clear()
        self._numbers = NumberColumns(self.columns.table)

    def end_test(self, number: int, own: frozenset[str]) -> EndTest | None:
        """A condition as a test of the values at both ends of its own segment, if it is one."""
        key = (number, own)
        if key not in self._end_tests:
            self._end_tests[key] = end_test_of(self.expressions[number], own, self._numbers)
        return self._end_tests[key]

    def leave_to_compiled(self, number: int, own: frozenset[str]) -> None:
        """Test this condition as any other, even if there is a shorter way: to measure, and to compare."""
        self._end_tests[number, own] = None

    def is_alone(self, number: int, own: frozenset[str]) -> bool:
        """Whether a condition refers to its own segment only."""
        if number not in self._referred:
            found: frozenset[str] = frozenset()
            for node in walk(self.expressions[number]):
                variables = node.target.variables if isinstance(node, ColumnAt) else None
                if isinstance(node, Aggregate):
                    variables = node.variables
                found |= variables or frozenset()
            self._referred[number] = found
        return self._referred[number] <= own

    def hosted(self, number: int) -> Node:
        """A condition as the host evaluates it."""
        if number not in self._hosted:
            self._hosted[number] = self._new_hosted(self.expressions[number])
        return self._hosted[number]

    def _new_hosted(self, expression: Expression) -> Node:
        compiler = self.segment_compiler
        places: dict[LeafExpression, int] = {}
        called: dict[LeafExpression, Any] = {}
        decimals: dict[LeafExpression, tuple[pa.DataType, Callable[[SegmentBlock], pa.Array]]] = {}
        for leaf in leaves(expression):
            if isinstance(leaf, ColumnAt):
                places[leaf] = compiler.places.setdefault(leaf.target, len(compiler.places))
            elif (exact := self._exact(leaf)) is not None:
                decimals[leaf] = exact
            else:
                node = compiler.compiled(leaf)
                called[leaf] = (node.kind, node.run)
        # Calls and places may be new: a condition comes here when some segment's values are too wide.
        self.places, self.calls = list(compiler.places), list(compiler.calls)
        found = HostCondition(expression, called, decimals, places, self.columns.table, self.evaluator, self.source)
        return Node(BOOL, found.run)  # type: ignore[arg-type]  # a SegmentBlock

    def _exact(self, leaf: Expression) -> tuple[pa.DataType, Callable[[SegmentBlock], pa.Array]] | None:
        """An aggregate of decimals that is a decimal, as an Arrow array of as many digits as there are."""
        call = call_of(leaf) if isinstance(leaf, Aggregate) else None
        if call is None or call.aggregate.name not in EXACT:
            return None
        decimals = self.series.columns[call.columns[0]].decimals
        if decimals is None:
            return None
        name, number_of = call.aggregate.name, self.segment_compiler.number_of
        type_ = exact_type(name, decimals.values.type)
        if name == "sum":
            sums = [number_of(replace(call, form=form)) for form in decimals.limbs]
            return type_, lambda block: decimals.total(*block.whole_numbers(sums))
        if name != "range":
            (ranks,) = (number_of(replace(call, form=RANKS)),)
            return type_, lambda block: _rank_decimals(decimals, block, ranks)
        ends = [number_of(replace(call, aggregate=found, form=RANKS)) for end in ("max", "min") if (found := find(end))]
        return type_, lambda block: difference(*(_rank_decimals(decimals, block, end) for end in ends))

    def of(self, leaf: Leaf, *, uses_index: bool) -> Condition:
        """The condition of a leaf of the plan that has one."""
        assert leaf.condition is not None
        return Condition(self, self._number_of[leaf.condition], frozenset(leaf.variables), leaf.windows, uses_index)

    @property
    def segment_compiler(self) -> SegmentCompiler:
        """The compiler, as what it is."""
        assert isinstance(self.compiler, SegmentCompiler)  # `_new_compiler` made it
        return self.compiler

    def _new_compiler(self, *known: Any) -> Compiler:
        return SegmentCompiler(self.columns.table.schema, *known)

    def index_of(self, number: int, windows: tuple[Window, ...]) -> Any | None:
        """The index of a call for segments in these windows, built once for all variables; None if there is none."""
        call = self.calls[number]
        longest = self.series.longest(windows)
        key = (call.aggregate, call.columns, call.form, longest)
        if key not in self._indexes:
            self._indexes[key] = call.aggregate.index(*self.arguments(call), self.series.partitions, longest)
        return self._indexes[key]

    def arguments(self, call: AggregateCall) -> tuple[tuple[NDArray[Any], ...], tuple[NDArray[np.uint8] | None, ...]]:
        """Columns and NULLs of a call."""
        columns = [self.series.columns[name] for name in call.columns]
        return tuple(column.form(call.form) for column in columns), tuple(column.nulls for column in columns)


def _rank_decimals(decimals: Decimals, block: SegmentBlock, number: int) -> pa.Array:
    (ranks,), is_null = block.whole_numbers([number])
    return decimals.ranked(ranks, is_null)


class SegmentBlock:
    """Candidates of one leaf: what compiled conditions read for them."""

    def __init__(
        self, conditions: SegmentConditions, length: int, bound: dict[str, Binding],
        windows: tuple[Window, ...] | None, own: frozenset[str],
    ) -> None:
        self.conditions = conditions
        self.length = length
        self.bound = bound
        self.windows = windows
        self.own = own
        self.memo: list[Value | None] = [None] * conditions.compiler.n_slots
        self._positions: dict[int, tuple[NDArray[np.int64], NDArray[np.bool_] | None]] = {}

    def read(self, number: int, shift: int, is_float: bool) -> Value:
        """A leaf at the place that `shift` stands for."""
        leaf = self.conditions.leaves[number]
        positions, missing = self.positions(shift)
        if not len(leaf.data):
            return Value(np.zeros(self.length, leaf.data.dtype), np.ones(self.length, np.bool_))
        data = leaf.at(positions)
        nulls = None if leaf.nulls is None else leaf.nulls[positions]
        if missing is not None:
            if leaf.outside is not None:
                data = np.where(missing, leaf.outside, data)
                nulls = None if nulls is None else nulls & ~missing
            else:
                nulls = missing if nulls is None else nulls | missing
        return Value(data, nulls, has_nan=None if is_float else False)

    def positions(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
        """Rows of a place, any row where there is none, and where there is none."""
        if number not in self._positions:
            target = self.conditions.places[number]
            (variable,) = target.variables or ("",)
            first, last = self.bound[variable]
            positions = first + target.offset if target.end is End.FIRST else last - target.offset
            missing = (positions < first) | (positions > last) | (first < 0)
            if target.shift:
                offsets = self.conditions.series.offsets
                partition = np.searchsorted(offsets, positions, side="right") - 1
                positions = positions + target.shift
                partition = np.clip(partition, 0, len(offsets) - 2)
                missing |= (positions < offsets[partition]) | (positions >= offsets[partition + 1])
            if missing.any():
                positions = np.where(missing, 0, positions)
                self._positions[number] = (positions, missing)
            else:
                self._positions[number] = (positions, None)
        return self._positions[number]

    def call(self, number: int) -> Value:
        """An aggregate over the segments of its variable."""
        call = self.conditions.calls[number]
        segments = [self.bound[variable] for variable in call.variables]
        values, is_null = over_segments(call.aggregate, segments, partial(self._values, number))
        return Value(values, is_null if is_null.any() else None)

    def decimal_call(self, number: int) -> Value:
        """An aggregate of scaled whole numbers that is a decimal of at most 18 digits; others are failures."""
        try:
            value = self.call(number)
        except ExecutionError:  # beyond 64 bits: the whole condition is asked in more digits
            return Value(np.zeros(self.length, np.int64), None, np.ones(self.length, np.bool_))
        return limited(value, DECIMAL_LIMITS)

    def whole_numbers(self, numbers: Sequence[int]) -> tuple[list[NDArray[np.int64]], NDArray[np.bool_]]:
        """Aggregates of whole numbers, and where the first is NULL."""
        found = [self.call(number) for number in numbers]
        is_null = np.zeros(self.length, np.bool_)
        if found[0].nulls is not None:
            is_null |= found[0].nulls
        return [value.data for value in found], is_null

    def _values(self, number: int, segments: Sequence[Binding]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        call = self.conditions.calls[number]
        columns, nulls = self.conditions.arguments(call)
        if len(segments) == 2:
            return in_parts(partial(call.aggregate.scan_pairs, columns, nulls), *segments[0], *segments[1])
        start, end = segments[0]
        # The windows are of the segments under test; those of other variables may be longer.
        is_own = call.variables[0] in self.own
        if (self.windows is not None and is_own) or call.aggregate.needs_index:
            index = self.conditions.index_of(number, (self.windows or ()) if is_own else ())
            if index is not None:
                return in_parts(partial(call.aggregate.lookup, index), start, end)
        partitions = self.conditions.series.partitions
        return in_parts(partial(call.aggregate.scan_many, columns, nulls, partitions), start, end)

