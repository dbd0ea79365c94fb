"""The `backtrack` matcher: prioritised search in Numba over columns.

Row conditions are bitmaps; context conditions are bytecode. Which splits of the program may remember their failures is
decided here, by what the conditions reachable from them read (see `kernels.backtrack`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.analyze.split import Condition, context_level, is_constant
from sparkrex.columns.values import (
    FLOAT,
    INTERVAL,
    STRING,
    Kind,
    StringCodes,
    floats_of,
    ints_of,
    kind_of,
    nulls_of,
    plain,
)
from sparkrex.errors import ExecutionError
from sparkrex.ir.plan import SkipTo
from sparkrex.ir.render import render
from sparkrex.ir.scalar import Call, ColumnAt, Expression, Literal, walk
from sparkrex.kernels import backtrack as kernel
from sparkrex.physical.contract import Columns, Matches, State
from sparkrex.physical.rows.bitmaps import evaluate_bitmaps
from sparkrex.physical.rows.bytecode import Bytecode, CannotCompileError, Compiler
from sparkrex.physical.rows.frame import frame_of, hold_back, release
from sparkrex.physical.rows.program import Op, Program

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.config import Settings
    from sparkrex.hosts.host import Evaluator
    from sparkrex.ir.plan import MatchRecognize
    from sparkrex.ir.render import Leaf
    from sparkrex.source import Span

_SKIP_MODES = {
    SkipTo.PAST_LAST_ROW: kernel.PAST_LAST_ROW, SkipTo.NEXT_ROW: kernel.NEXT_ROW, SkipTo.FIRST: kernel.TO_FIRST,
    SkipTo.LAST: kernel.TO_LAST,
}


class BacktrackMatcher:
    """Immutable: plan, program and split conditions. `sample` is the input's schema as an empty table."""

    name = "backtrack"

    def __init__(
        self, plan: MatchRecognize, program: Program, conditions: tuple[Condition, ...], reach: tuple[int, int],
        evaluator: Evaluator, settings: Settings,
    ) -> None:
        self.plan = plan
        self.program = program
        self.conditions = conditions
        self.reach_back, self.lookahead = reach
        self.evaluator = evaluator
        self.settings = settings
        self.memo = _memo(program, conditions)

    def refusal(self, sample: pa.Table) -> str | None:
        """Why the conditions cannot be compiled for columns of these types, None if they can."""
        try:
            _Context(self, Columns(sample, np.zeros(1, np.int64)))
        except CannotCompileError as error:
            return str(error)
        return None

    def open(self) -> State:
        """The state before the first feed."""
        return State()

    def describe(self) -> list[str]:
        """The program and how failures are remembered."""
        slot, is_per_start, _, _ = self.memo
        splits = self.program.operation == Op.SPLIT
        per_partition = int((splits & (slot >= 0) & ~is_per_start).sum())
        per_start = int((splits & (slot >= 0) & is_per_start).sum())
        total = int(splits.sum())
        memory = (
            f"failures remembered at {per_partition} of {total} splits for the partition, "
            f"at {per_start} for a start row"
        )
        budget = [f"step budget {self.settings.step_budget:,} per start row"] if total > per_partition else []
        return [f"program of {len(self.program)} instructions", memory, *budget]

    def feed(self, state: State, columns: Columns, *, opens: bool, closes: bool) -> Matches:
        """See the contract."""
        frame = frame_of(state, columns, opens=opens)
        numbers, bitmaps = evaluate_bitmaps(self.conditions, frame, self.evaluator, self.plan.source)
        context = _Context(self, frame)
        variables = self.program.variables
        bitmap_of = np.array([numbers.get(name, -1) for name in variables] or [-1], np.int32)
        program = self.program
        skip_member = np.array([name in self.plan.skip.variables for name in variables] or [False], np.bool_)
        outcome = kernel.search(
            frame.offsets, state.begins, closes, np.int64(state.next_start), np.int64(state.next_number),
            (program.operation, program.variable, program.is_excluded, program.first, program.second, program.entry),
            self.memo, (bitmap_of, bitmaps, *context.ranges, context.has_path), context.machine,
            (_SKIP_MODES[self.plan.skip.to], skip_member), np.int64(self.lookahead),
            np.int64(self.settings.step_budget),
        )
        (status, row, n_matches, _, start, end, number, n_labels, labels, next_start, next_number) = outcome
        if status != kernel.DONE:
            raise self.failure(status, frame, int(row))
        if closes:
            release(state)
        else:
            hold_back(state, frame, int(next_start), int(next_number), self.reach_back, self.settings)
        start, end = start[:n_matches].copy(), end[:n_matches].copy()
        offsets = np.concatenate(([0], np.cumsum(end - start))).astype(np.int64)
        return Matches(start, end, number[:n_matches].copy(), labels[:n_labels].copy(), offsets)

    def failure(self, status: int, frame: Columns, row: int) -> ExecutionError:
        """The error of a search that could not go on, from the start row `row` of the frame."""
        error = self._error(status, frame, row)
        error.row = row
        return error

    def _error(self, status: int, frame: Columns, row: int) -> ExecutionError:
        skip = self.plan.skip
        partition = int(np.searchsorted(frame.offsets, row, side="right")) - 1
        place = row - int(frame.offsets[partition]) + 1
        where = f"the match starts at row {place} of its partition"
        match status:
            case kernel.SKIP_TO_FIRST_ROW:
                return ExecutionError(
                    "REX401", f"AFTER MATCH SKIP {skip.to.value} {skip.name} goes to the first row of the match",
                    self.plan.source, skip.span, notes=(where,),
                    hint="the same match would be found for ever; skip to a later variable, or to the next row",
                )
            case kernel.SKIP_TO_ABSENT:
                return ExecutionError(
                    "REX402",
                    f"AFTER MATCH SKIP {skip.to.value} {skip.name}: no row of the match is mapped to {skip.name}",
                    self.plan.source, skip.span, notes=(where,),
                    hint=f"make {skip.name} mandatory in the pattern, or skip past the last row",
                )
            case kernel.BUDGET:
                return ExecutionError(
                    "REX403", f"the search from one row took more than {self.settings.step_budget:,} steps",
                    self.plan.source, self.plan.span, notes=(where,),
                    hint="bound the quantifiers, add WITHIN, or raise the setting step_budget",
                )
            case kernel.OVERFLOW:
                return ExecutionError(
                    "REX405", "a number in DEFINE is out of the range of 64 bits", self.plan.source, self.plan.span,
                    notes=(where,), hint="cast to double or to a wider decimal",
                )
            case _:
                return ExecutionError(
                    "REX404", "division by zero in DEFINE", self.plan.source, self._division(), notes=(where,),
                    hint="guard it with CASE or NULLIF",
                )

    def _division(self) -> Span:
        """Where the first division in a context condition stands."""
        for condition in self.conditions:
            for node in () if condition.context is None else walk(condition.context):
                if isinstance(node, Call) and node.function in ("divide", "integer_divide", "modulo") and node.span:
                    return node.span
        return self.plan.span


def _memo(program: Program, conditions: tuple[Condition, ...]) -> tuple[NDArray[np.int32], NDArray[np.bool_], int, int]:
    """Slot per instruction (-1: remembers nothing), whether it is forgotten at every start, and how many there are."""
    levels = {c.variable: context_level(c.context) if c.context is not None else 0 for c in conditions}
    level = np.zeros(len(program), np.int8)
    is_match = program.operation == Op.MATCH
    level[is_match] = [levels.get(program.variables[v], 0) for v in program.variable[is_match]]
    # What an instruction can still test: the highest level of anything reachable from it.
    while True:
        reached = np.maximum(level, np.where(program.operation == Op.ACCEPT, 0, level[program.first]))
        reached = np.maximum(reached, np.where(program.operation == Op.SPLIT, level[program.second], 0))
        if (reached == level).all():
            break
        level = reached.astype(np.int8)
    slot = np.full(len(program), -1, np.int32)
    is_split = program.operation == Op.SPLIT
    of_partition, of_start = is_split & (level == 0), is_split & (level == 1)
    slot[of_partition] = np.arange(of_partition.sum())
    slot[of_start] = np.arange(of_start.sum())
    return slot, of_start, int(of_partition.sum()), int(of_start.sum())


class _Context:
    """Columns and bytecode of the context conditions for one frame, as the arrays that the kernel takes."""

    def __init__(self, matcher: BacktrackMatcher, frame: Columns) -> None:
        self.frame = frame
        self.evaluator = matcher.evaluator
        self.variables = matcher.program.variables
        self._arrays: dict[Expression, pa.Array | None] = {}
        conditions = {c.variable: c.context for c in matcher.conditions if c.context is not None}
        literals = {str(node.value) for c in conditions.values() for node in walk(c)
                    if isinstance(node, Literal) and isinstance(node.value, str)}
        self._literals = sorted({*self.variables, *literals})
        # Codes are needed while compiling but depend on the columns that compiling asks for: literals get stand-ins.
        compiler = Compiler(self._kind, self._constant, self._literals.index)
        self.bytecode = compiler.compile(conditions)
        self.has_path = bool(self.bytecode.sets or self.bytecode.aggregates)
        self.ranges = self._ranges()
        self.machine = self._machine(conditions)

    def _array(self, expression: Expression) -> pa.Array:
        if expression not in self._arrays:
            if isinstance(expression, ColumnAt):
                self._arrays[expression] = plain(self.frame.ordered.column(expression.column))
            else:
                (column,) = self.evaluator.evaluate([self._text(expression)], self._renamed(), [expression.span])
                self._arrays[expression] = plain(column)
        return self._arrays[expression]

    def _renamed(self) -> pa.Table:
        return self.frame.ordered.rename_columns([f"c{i}" for i in range(self.frame.table.num_columns)])

    def _text(self, expression: Expression) -> str:
        names = self.frame.table.column_names

        def leaf(node: Leaf) -> str:
            assert isinstance(node, ColumnAt)  # projections read columns only
            return f"rex_rows.c{names.index(node.column)}"

        return render(expression, leaf)

    def _kind(self, expression: Expression) -> Kind | None:
        if not all(isinstance(node, ColumnAt | Literal) or hasattr(node, "operands") for node in walk(expression)):
            return None
        return kind_of(self._array(expression).type)

    def _constant(self, expression: Expression) -> tuple[object, Kind]:
        assert is_constant(expression)  # asked for constants only
        text = render(expression, lambda _: "NULL")
        (column,) = self.evaluator.evaluate([text], pa.table({"c": [0]}), [expression.span])
        return _scalar(plain(column))

    def _missing(self, expression: Expression) -> tuple[object, bool]:
        """The value of a projection where there is no target row: the expression over an all-NULL row."""
        if isinstance(expression, ColumnAt):
            return 0, True
        table = self._renamed()
        row = pa.table({field.name: pa.nulls(1, field.type) for field in table.schema})
        (column,) = self.evaluator.evaluate([self._text(expression)], row, [expression.span])
        value = plain(column)
        if value[0].as_py() is None:
            return 0, True
        if kind_of(value.type) == STRING:
            return value[0].as_py(), False
        return (floats_of(value) if kind_of(value.type) == FLOAT else ints_of(value))[0], False

    def _ranges(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        none = (-1, -1, 0)
        ranges = [self.bytecode.ranges.get(name, none) for name in self.variables] or [none]
        begin, end, result = (np.array(part, np.int64) for part in zip(*ranges, strict=True))
        return begin, end, result

    def _machine(self, conditions: dict[str, Expression]) -> tuple[Any, ...]:
        code: Bytecode = self.bytecode
        n_rows = self.frame.table.num_rows
        strings = [self._array(e) for e in code.int_columns if kind_of(self._array(e).type) == STRING]
        missing_ints = [self._missing(expression) for expression in code.int_columns]
        texts = [value for value, _ in missing_ints if isinstance(value, str)]
        codes = StringCodes(strings, sorted({*self._literals, *texts}))
        ints = np.zeros((len(code.int_columns), n_rows), np.int64)
        int_nulls = np.zeros((len(code.int_columns), n_rows), np.uint8)
        for number, expression in enumerate(code.int_columns):
            array = self._array(expression)
            ints[number] = codes.encode(array) if kind_of(array.type) == STRING else ints_of(array)
            int_nulls[number] = nulls_of(array)
        floats = np.zeros((len(code.float_columns), n_rows))
        float_nulls = np.zeros((len(code.float_columns), n_rows), np.uint8)
        for number, expression in enumerate(code.float_columns):
            array = self._array(expression)
            floats[number], float_nulls[number] = floats_of(array), nulls_of(array)
        missing_floats = [self._missing(expression) for expression in code.float_columns]
        missing = (
            np.array([codes.code(v) if isinstance(v, str) else v for v, _ in missing_ints], np.int64),
            np.array([is_null for _, is_null in missing_ints], np.uint8),
            np.array([v for v, _ in missing_floats], np.float64),
            np.array([is_null for _, is_null in missing_floats], np.uint8),
        )
        instructions = np.array(code.code, np.int64).reshape(-1, 5)
        constants = self._constants(code, codes)
        targets = np.array(list(code.targets), np.int64).reshape(-1, 4)
        longest = int(np.diff(self.frame.offsets).max(initial=0)) + 1
        registers = (
            np.zeros(code.n_registers, np.int64), np.zeros(code.n_registers), np.zeros(code.n_registers, np.uint8),
        )
        label_codes = np.array([codes.code(name) for name in self.variables] or [0], np.int64)
        return (
            instructions, constants, targets, (ints, int_nulls, floats, float_nulls), missing,
            self._path(code, longest), registers, label_codes,
        )

    def _constants(self, code: Bytecode, codes: StringCodes) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        constants = list(code.int_constants)
        for number in code.string_constants:
            constants[number] = codes.code(self._literals[constants[number]])
        return np.array(constants, np.int64), np.array(code.float_constants, np.float64)

    def _path(self, code: Bytecode, longest: int) -> tuple[Any, ...]:
        members = np.array(
            [[name in variables for name in self.variables] for variables in code.sets], np.uint8
        ).reshape(len(code.sets), len(self.variables))
        slots = np.array(list(code.first_slots), np.int64).reshape(-1, 2)
        aggregates = np.array(list(code.aggregates), np.int64).reshape(-1, 5)
        n_sets, n_first, n_aggregates = len(members), len(slots), len(aggregates)
        return (
            members, np.empty((n_sets, longest), np.int64), np.empty((n_sets, longest), np.int64), slots,
            np.empty((n_first, longest), np.int64), aggregates, np.empty((n_aggregates, longest), np.int64),
            np.empty((n_aggregates, longest), np.int64), np.empty((n_aggregates, longest)),
            np.empty((n_aggregates, longest)),
        )


def _scalar(values: pa.Array) -> tuple[object, Kind]:
    """Value and kind of a one-row array."""
    if pa.types.is_null(values.type) or values[0].as_py() is None:
        return None, kind_of(values.type) or Kind("null")
    if values.type == pa.month_day_nano_interval():
        months, days, nanoseconds = values[0].as_py()
        if months or nanoseconds % 1000:
            raise CannotCompileError("an interval of months")
        return days * 86_400_000_000 + nanoseconds // 1000, INTERVAL
    kind = kind_of(values.type)
    if kind is None or kind == STRING:
        raise CannotCompileError(f"a constant of type {values.type}")
    return (floats_of(values) if kind == FLOAT else ints_of(values))[0], kind
