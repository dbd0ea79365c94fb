"""Compile context conditions to the machine of `kernels.machine`.

The engine's own expression language: arithmetic and comparison (`bytecode_arithmetic`), boolean logic, CASE, COALESCE,
NULLIF, GREATEST, LEAST (`bytecode_jumps`), running aggregates, classifiers, over the kinds of `columns.values`. What is
outside it raises `CannotCompileError`, and the interpreter takes the query.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from sparkrex.columns.values import BOOL, FLOAT, INT, STRING, Kind
from sparkrex.errors import ExecutionError
from sparkrex.evaluate.bounds import as_bounds
from sparkrex.evaluate.bytecode import UNTYPED, Bytecode, CannotCompileError, Operand, boolean
from sparkrex.evaluate.bytecode_arithmetic import arithmetic, compare, sign
from sparkrex.evaluate.bytecode_jumps import case, coalesce, connector, extreme, nullif
from sparkrex.evaluate.records import FUNCTIONS
from sparkrex.kernels import machine as m
from sparkrex.kernels import path as p
from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    End,
    Expression,
    Literal,
    MatchNumber,
    Target,
    walk,
)
from sparkrex.scalar.guards import guards
from sparkrex.scalar.intervals import fixed_interval
from sparkrex.scalar.split import CURRENT, Projection, conjuncts, is_constant, row_local

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_COMPARISONS = {"eq": m.EQ_I, "ne": m.NE_I, "lt": m.LT_I, "le": m.LE_I, "gt": m.LT_I, "ge": m.LE_I}


class Compiler:
    """Compiles the context conditions of one query.

    `kinds` gives the kind of every projected expression, `constants` the value and kind of expressions that read no
    row, `literal_number` the number of a string literal.
    """

    def __init__(
        self, kinds: Callable[[Expression], Kind | None], constants: Callable[[Expression], tuple[object, Kind]],
        literal_number: Callable[[str], int],
    ) -> None:
        self.kinds = kinds
        self.constants = constants
        self.literal_number = literal_number
        self.out = Bytecode()

    def compile(self, conditions: Mapping[str, Expression]) -> Bytecode:
        """Bytecode of the conditions by variable."""
        for variable, condition in conditions.items():
            begin = len(self.out.code)
            bounds = (bound for conjunct in conjuncts(condition) for bound in as_bounds(conjunct, self._is_time))
            for position, conjunct in enumerate(bounds):
                self._test(conjunct, position > 0)
            self.out.ranges[variable] = (begin, len(self.out.code))
        return self.out

    def _is_time(self, column: ColumnAt) -> bool:
        kind = self.kinds(column)
        return kind is not None and kind.name == "timestamp"

    def _test(self, conjunct: Expression, is_guarded: bool) -> None:
        """A condition holds if all its conjuncts are true; the first that is not ends it."""
        n_code = len(self.out.code)
        result = boolean(self.operand(conjunct, is_guarded))
        is_comparison = isinstance(conjunct, Call) and conjunct.function in _COMPARISONS
        if is_comparison and len(self.out.code) > n_code:
            operation, _, *rest = self.out.code[-1]
            self.out.code[-1] = (operation, m.TEST, *rest)
        else:
            self.out.emit(m.MOVE_I, m.TEST, result)

    def operand(self, node: Expression, is_guarded: bool) -> Operand:
        """Where the value of an expression is; a guarded one may not be reached."""
        try:
            return self._operand(node, is_guarded)
        except CannotCompileError as error:
            error.span = error.span or node.span
            raise

    def _operand(self, node: Expression, is_guarded: bool) -> Operand:
        if isinstance(node, Literal):
            return self._literal(node.value)
        if isinstance(node, Call) and is_constant(node):
            try:
                return self.out.constant(*self.constants(node))
            except ExecutionError:
                # `IF(false, 0 / 0, 1)`: it fails only if it is reached, so it is evaluated where it stands.
                if not is_guarded:
                    raise
        projection = row_local(node, is_guarded=is_guarded and not self._is_moved_time(node))
        if projection is not None and self.kinds(projection.expression) is not None:
            return self._load(projection)
        match node:
            case MatchNumber():
                return Operand(m.MATCH_NUMBER, 0, INT)
            case ClassifierAt(target):
                return Operand(m.CLASSIFIER, 0, STRING, self._target(target))
            case Aggregate():
                return self._aggregate(node)
            case Call():
                return self._call(node, is_guarded)
            case _:
                raise CannotCompileError("has a type that only the interpreter knows", node)

    def _is_moved_time(self, node: Expression) -> bool:
        """Whether it is a time some days on, which only the host knows; it fails at the end of all time alone."""
        match node:
            case Call("add" | "subtract", (ColumnAt() as column, interval)):
                return self._is_time(column) and fixed_interval(interval) is not None
            case _:
                return False

    def _literal(self, value: object) -> Operand:
        match value:
            case None:
                return Operand(m.NULL, 0, UNTYPED)
            case bool():
                return self.out.constant(int(value), BOOL)
            case int():
                return self.out.constant(value, INT)
            case float():
                return self.out.constant(value, FLOAT)
            case str():
                self.out.string_constants.append(len(self.out.int_constants))
                return self.out.constant(self.literal_number(value), STRING)
            case Decimal():
                scale = max(0, -int(value.as_tuple().exponent))
                return self.out.constant(int(value.scaleb(scale)), Kind("decimal", scale))
            case _:
                raise CannotCompileError(f"literal {value!r}")

    def _load(self, projection: Projection) -> Operand:
        kind, column = self._column(projection.expression)
        if projection.target == CURRENT:
            return Operand(m.COLUMN, column, kind)
        return Operand(m.TARGET, column, kind, self._target(projection.target))

    def _column(self, expression: Expression) -> tuple[Kind, int]:
        """Kind and number of a projected column, among those of integers or those of doubles."""
        kind = self.kinds(expression)
        assert kind is not None  # checked by the callers
        columns = self.out.float_columns if kind == FLOAT else self.out.int_columns
        if expression not in columns:
            columns.append(expression)
        return kind, columns.index(expression)

    def _target(self, target: Target) -> int:
        slot = 0
        if target.variables is None:
            kind = p.FIRST_OF_PATH if target.end is End.FIRST else p.LAST_OF_PATH
            if target.end is End.LAST and target.offset == 0:
                kind = p.CURRENT
        elif target.end is End.FIRST:
            kind, slot = p.FIRST_OF_SET, self.out.records.first_row(target.variables, target.offset)
        else:
            kind, slot = p.LAST_OF_SET, self.out.records.last_row(target.variables, target.offset)
        key = (kind, target.offset, target.shift, slot)
        return self.out.targets.setdefault(key, len(self.out.targets))

    def _aggregate(self, node: Aggregate) -> Operand:
        if node.function not in FUNCTIONS or node.is_distinct or len(node.arguments) > 1:
            raise CannotCompileError(f"the aggregate {node.function}")
        values, column, value_kind = p.NO_VALUES, 0, INT
        if node.arguments:
            value_kind, values, column = self._aggregated_column(node.arguments[0])
            self._check_aggregate(node.function, value_kind)
        condition = -1
        if node.filter is not None:
            filter_kind, _, condition = self._aggregated_column(node.filter)
            if filter_kind != BOOL:
                raise CannotCompileError("a filter that is not boolean")
        read = self.out.records.aggregate(node.function, node.variables, values, column, condition)
        result = Operand(m.AGGREGATE, read, self._aggregate_kind(node.function, value_kind))
        scale = int(value_kind.detail or 0) if value_kind.name == "decimal" else 0
        if scale and node.function in ("avg", "stddev_samp", "stddev_pop"):
            return self.out.result(m.DIV_F, FLOAT, result, self.out.constant(10.0**scale, FLOAT))
        if scale and node.function in ("var_samp", "var_pop"):
            return self.out.result(m.DIV_F, FLOAT, result, self.out.constant(10.0 ** (2 * scale), FLOAT))
        return result

    def _aggregated_column(self, argument: Expression) -> tuple[Kind, int, int]:
        kind = self.kinds(argument)
        if kind is None or any(isinstance(node, ClassifierAt | MatchNumber) for node in walk(argument)):
            raise CannotCompileError("an aggregate over values that only the interpreter knows")
        kind, column = self._column(argument)
        return kind, p.DOUBLES if kind == FLOAT else p.INTEGERS, column

    def _check_aggregate(self, function: str, kind: Kind) -> None:
        numeric = kind.name in ("int", "float", "decimal")
        fits = {
            "count": True, "count_if": kind == BOOL, "bool_and": kind == BOOL, "bool_or": kind == BOOL,
            "min": True, "max": True,
        }.get(function, numeric)
        if not fits:
            raise CannotCompileError(f"{function} of {kind.name}")

    def _aggregate_kind(self, function: str, kind: Kind) -> Kind:
        if function in ("count", "count_if"):
            return INT
        if function in ("avg", "var_samp", "var_pop", "stddev_samp", "stddev_pop"):
            return FLOAT
        return kind

    def _call(self, node: Call, is_guarded: bool) -> Operand:
        name = node.function
        if name in ("and", "or"):
            return connector(self, node, is_guarded)
        if name == "case":
            return case(self, node, is_guarded)
        if name == "coalesce":
            return coalesce(self, node, is_guarded)
        if name == "between":
            low = Call("ge", node.operands[:2])
            high = Call("le", (node.operands[0], node.operands[2]))
            return self.operand(Call("and", (low, high)), is_guarded)
        if name == "in":
            options = tuple(Call("eq", (node.operands[0], option)) for option in node.operands[1:])
            whole = options[0] if len(options) == 1 else Call("or", options)
            return self.operand(whole, is_guarded)
        operands = [
            self.operand(operand, is_guarded or guarded)
            for operand, guarded in zip(node.operands, guards(node), strict=True)
        ]
        if name in _COMPARISONS:
            return compare(self.out, _COMPARISONS[name], operands, swapped=name in ("gt", "ge"))
        if name in ("is_distinct_from", "is_not_distinct_from"):
            result = compare(self.out, m.DISTINCT_I, operands, swapped=False)
            return result if name == "is_distinct_from" else self.out.result(m.NOT, BOOL, result)
        match name:
            case "not":
                return self.out.result(m.NOT, BOOL, boolean(operands[0]))
            case "is_null":
                return self.out.is_null(operands[0])
            case "is_true" | "is_false":
                operation = m.IS_TRUE if name == "is_true" else m.IS_FALSE
                return self.out.result(operation, BOOL, boolean(operands[0]))
            case "add" | "subtract" | "multiply" | "divide" | "integer_divide" | "modulo":
                return arithmetic(self.out, node, operands)
            case "negate" | "abs":
                return sign(self.out, name, operands[0])
            case "nullif":
                return nullif(self.out, operands)
            case "greatest" | "least" | "greatest_strict" | "least_strict":
                return extreme(self.out, name, operands)
            case _:
                raise CannotCompileError(f"function {name} over several rows of the match")
