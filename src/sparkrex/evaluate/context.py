"""Context conditions of one feed as the arrays that kernels take: columns, bytecode, records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import put_in_order
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
from sparkrex.evaluate.bytecode import CannotCompileError
from sparkrex.evaluate.bytecode_compiler import Compiler
from sparkrex.evaluate.moved_times import moved_times
from sparkrex.kernels.machine import Machine, ReadColumns
from sparkrex.scalar.expression import ColumnAt, Expression, Literal, walk
from sparkrex.scalar.intervals import fixed_interval
from sparkrex.scalar.render.duckdb import render
from sparkrex.scalar.split import Condition, is_constant

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.hosts.host import Evaluator
    from sparkrex.scalar.render.renderer import Leaf


class Context:
    """Compiles the conditions over the frame's types; raises `CannotCompileError` where the machine cannot hold them.

    `columns` are shared by all threads; `machine` and `path` hold registers and records, so each thread makes its own.
    """

    def __init__(
        self, conditions: tuple[Condition, ...], variables: tuple[str, ...], frame: Columns, evaluator: Evaluator,
        threads: int,
    ) -> None:
        self.frame = frame
        self.evaluator = evaluator
        self.threads = threads
        self.variables = variables
        self._arrays: dict[Expression, pa.Array] = {}
        contexts = {c.variable: c.context for c in conditions if c.context is not None}
        literals = {str(node.value) for c in contexts.values() for node in walk(c)
                    if isinstance(node, Literal) and isinstance(node.value, str)}
        self._literals = sorted({*variables, *literals})
        # Codes are needed while compiling but depend on the columns that compiling asks for: literals get stand-ins.
        compiler = Compiler(self._kind, self._constant, self._literals.index)
        self.bytecode = compiler.compile(contexts)
        ranges = [self.bytecode.ranges.get(name, (0, 0)) for name in variables] or [(0, 0)]
        self.code_begin, self.code_end = (np.array(part, np.int64) for part in zip(*ranges, strict=True))
        strings = [self._array(e) for e in self.bytecode.int_columns if kind_of(self._array(e).type) == STRING]
        self._missing_ints = [self._value_of_no_row(expression) for expression in self.bytecode.int_columns]
        self._missing_floats = [self._value_of_no_row(expression) for expression in self.bytecode.float_columns]
        texts = [value for value, _ in self._missing_ints if isinstance(value, str)]
        self._codes = StringCodes(strings, sorted({*self._literals, *texts}))
        self.columns = ReadColumns(
            *self._fill_columns(self.bytecode.int_columns, np.int64, self._ints),
            *self._fill_columns(self.bytecode.float_columns, np.float64, floats_of),
        )

    def machine(self) -> Machine:
        """The program with registers of its own. Asks the host nothing: threads call it."""
        code = self.bytecode
        constants = list(code.int_constants)
        for number in code.string_constants:
            constants[number] = self._codes.code(self._literals[constants[number]])
        return Machine(
            np.array(code.code, np.int64).reshape(-1, 9),
            np.array(list(code.targets), np.int64).reshape(-1, 4),
            np.array(list(code.records.reads), np.int64).reshape(-1, 3),
            np.array(constants, np.int64),
            np.array(code.float_constants, np.float64),
            np.array([self._codes.code(v) if isinstance(v, str) else v for v, _ in self._missing_ints], np.int64),
            np.array([is_null for _, is_null in self._missing_ints], np.uint8),
            np.array([v for v, _ in self._missing_floats], np.float64),
            np.array([is_null for _, is_null in self._missing_floats], np.uint8),
            np.zeros(code.n_registers, np.int64), np.zeros(code.n_registers), np.zeros(code.n_registers, np.uint8),
            np.array([self._codes.code(name) for name in self.variables] or [0], np.int64),
        )

    def path(self, longest: int) -> tuple[Any, ...]:
        """See `kernels.path.extend`; for partitions of at most `longest` rows."""
        records = self.bytecode.records
        return (*records.updates(self.variables), *records.table(longest))

    def _fill_columns(
        self, expressions: list[Expression], type_: type[np.generic], values_of: Callable[[pa.Array], NDArray[Any]]
    ) -> tuple[NDArray[Any], NDArray[np.uint8], NDArray[np.uint8]]:
        """Values and NULL flags of the columns in the frame's order, and which of them have NULLs."""
        n_rows, order = self.frame.n_rows, self.frame.order
        values = np.empty((len(expressions), n_rows), type_)
        nulls = np.zeros((len(expressions), n_rows), np.uint8)
        has_nulls = np.zeros(len(expressions), np.uint8)
        for number, expression in enumerate(expressions):
            array = self._array(expression)
            has_nulls[number] = array.null_count > 0
            values[number] = put_in_order(values_of(array), order, self.threads)
            if has_nulls[number]:
                nulls[number] = put_in_order(nulls_of(array), order, self.threads)
        return values, nulls, has_nulls

    def _ints(self, array: pa.Array) -> NDArray[np.int64]:
        return self._codes.encode(array) if kind_of(array.type) == STRING else ints_of(array)

    def _array(self, expression: Expression) -> pa.Array:
        """The expression over the frame's table, not yet in order."""
        if expression not in self._arrays:
            self._arrays[expression] = values_in_rows(expression, self.frame.table, self.evaluator)
        return self._arrays[expression]

    def _kind(self, expression: Expression) -> Kind | None:
        if not all(isinstance(node, ColumnAt | Literal) or hasattr(node, "operands") for node in walk(expression)):
            return None
        return kind_of(self._array(expression).type)

    def _constant(self, expression: Expression) -> tuple[object, Kind]:
        assert is_constant(expression)  # asked for constants only
        fixed = fixed_interval(expression)
        if fixed is not None:
            return fixed, INTERVAL
        text = render(expression, lambda _: "NULL")
        (column,) = self.evaluator.evaluate([text], pa.table({"c": [0]}), [expression.span])
        return _scalar(plain(column))

    def _value_of_no_row(self, expression: Expression) -> tuple[object, bool]:
        """The value of a projection where there is no target row: the expression over an all-NULL row."""
        if isinstance(expression, ColumnAt):
            return 0, True
        schema = _renamed_by_number(self.frame.table).schema
        row = pa.table({field.name: pa.nulls(1, field.type) for field in schema})
        (column,) = self.evaluator.evaluate([_text(expression, self.frame.table)], row, [expression.span])
        value = plain(column)
        if value[0].as_py() is None:
            return 0, True
        if kind_of(value.type) == STRING:
            return value[0].as_py(), False
        return (floats_of(value) if kind_of(value.type) == FLOAT else ints_of(value))[0], False


def values_in_rows(expression: Expression, table: pa.Table, evaluator: Evaluator) -> pa.Array:
    """An expression that reads columns of one row, over all rows of a table."""
    if isinstance(expression, ColumnAt):
        return plain(table.column(expression.column))
    moved = moved_times(expression, table)
    if moved is not None:
        return moved
    (column,) = evaluator.evaluate([_text(expression, table)], _renamed_by_number(table), [expression.span])
    return plain(column)


def _renamed_by_number(table: pa.Table) -> pa.Table:
    return table.rename_columns([f"c{i}" for i in range(table.num_columns)])


def _text(expression: Expression, table: pa.Table) -> str:
    names = table.column_names

    def leaf(node: Leaf) -> str:
        assert isinstance(node, ColumnAt)  # projections read columns only
        return f"rex_rows.c{names.index(node.column)}"

    return render(expression, leaf)


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
