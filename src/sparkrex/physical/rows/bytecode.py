"""Compile context conditions to the machine of `kernels.machine`.

The engine's own expression language: arithmetic, comparison, boolean logic, CASE, COALESCE, NULLIF, ABS, GREATEST,
LEAST, running aggregates, classifiers, over the kinds of `columns.values`. What is outside it raises
`CannotCompileError`, and the interpreter takes the query.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from sparkrex.analyze.split import CURRENT, Projection, conjuncts, is_constant, row_local
from sparkrex.columns.values import BOOL, FLOAT, INT, INTERVAL, STRING, Kind
from sparkrex.ir.guards import guards
from sparkrex.ir.scalar import Aggregate, Call, ClassifierAt, End, Expression, Literal, MatchNumber, Target, walk
from sparkrex.kernels import machine as m
from sparkrex.kernels import path as p
from sparkrex.physical.rows.records import FUNCTIONS, Records

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_COMPARISONS = {"eq": m.EQ_I, "ne": m.NE_I, "lt": m.LT_I, "le": m.LE_I, "gt": m.LT_I, "ge": m.LE_I}
_TO_FLOAT = m.EQ_F - m.EQ_I
_NULL = Kind("null")


class CannotCompileError(Exception):
    """The condition is outside the engine's language; says why."""


@dataclass(frozen=True, slots=True)
class Operand:
    """Where a value is (`kernels.machine`), and its kind."""

    mode: int
    number: int
    kind: Kind
    target: int = 0


_NOTHING = Operand(m.NOTHING, 0, _NULL)


@dataclass(slots=True)
class Bytecode:
    """The compiled conditions of a query.

    `ranges` has the first and last instruction of every variable with a context condition. `string_constants` are the
    places in `int_constants` that hold the number of a string literal: its code depends on the batch.
    """

    code: list[tuple[int, ...]] = field(default_factory=list)
    int_constants: list[int] = field(default_factory=list)
    string_constants: list[int] = field(default_factory=list)
    float_constants: list[float] = field(default_factory=list)
    targets: dict[tuple[int, int, int, int], int] = field(default_factory=dict)
    int_columns: list[Expression] = field(default_factory=list)
    float_columns: list[Expression] = field(default_factory=list)
    records: Records = field(default_factory=Records)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    n_registers: int = 1


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
            for position, conjunct in enumerate(conjuncts(condition)):
                self._test(conjunct, position > 0)
            self.out.ranges[variable] = (begin, len(self.out.code))
        return self.out

    def _test(self, conjunct: Expression, is_guarded: bool) -> None:
        """A condition holds if all its conjuncts are true; the first that is not ends it."""
        n_code = len(self.out.code)
        result = self._boolean(self._compile(conjunct, is_guarded))
        is_comparison = isinstance(conjunct, Call) and conjunct.function in _COMPARISONS
        if is_comparison and len(self.out.code) > n_code:
            operation, _, *rest = self.out.code[-1]
            self.out.code[-1] = (operation, m.TEST, *rest)
        else:
            self._emit(m.MOVE_I, m.TEST, result)

    # -- emitting ------------------------------------------------------------------------------------------------

    def _register(self, kind: Kind) -> Operand:
        self.out.n_registers += 1
        return Operand(m.REGISTER, self.out.n_registers - 1, kind)

    def _emit(self, operation: int, to: int, a: Operand, b: Operand = _NOTHING, c: int = 0) -> None:
        self.out.code.append((operation, to, a.mode, a.number, a.target, b.mode, b.number, b.target, c))

    def _jump(self, operation: int, tested: Operand = _NOTHING) -> int:
        """A jump that `_land` completes; it tests a register."""
        self._emit(operation, 0, tested)
        return len(self.out.code) - 1

    def _land(self, jump: int) -> None:
        """Let a jump go to the next instruction."""
        line = self.out.code[jump]
        self.out.code[jump] = (*line[:6], len(self.out.code), *line[7:])

    def _result(self, operation: int, kind: Kind, a: Operand, b: Operand = _NOTHING, c: int = 0) -> Operand:
        to = self._register(kind)
        self._emit(operation, to.number, a, b, c)
        return to

    def _in_register(self, operand: Operand) -> Operand:
        """Jumps test registers only."""
        if operand.mode == m.REGISTER:
            return operand
        to = self._register(operand.kind)
        self._move(to, operand)
        return to

    # -- expressions ---------------------------------------------------------------------------------------------

    def _compile(self, node: Expression, is_guarded: bool) -> Operand:
        if isinstance(node, Literal):
            return self._literal(node.value)
        if isinstance(node, Call) and is_constant(node):
            value, kind = self.constants(node)
            return self._constant(value, kind)
        projection = row_local(node, is_guarded=is_guarded)
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
                raise CannotCompileError(f"{node} has a type that only the interpreter knows")

    def _literal(self, value: object) -> Operand:
        match value:
            case None:
                return Operand(m.NULL, 0, _NULL)
            case bool():
                return self._constant(int(value), BOOL)
            case int():
                return self._constant(value, INT)
            case float():
                return self._constant(value, FLOAT)
            case str():
                self.out.string_constants.append(len(self.out.int_constants))
                return self._constant(self.literal_number(value), STRING)
            case Decimal():
                scale = max(0, -int(value.as_tuple().exponent))
                return self._constant(int(value.scaleb(scale)), Kind("decimal", scale))
            case _:
                raise CannotCompileError(f"literal {value!r}")

    def _constant(self, value: object, kind: Kind) -> Operand:
        if value is None:
            return Operand(m.NULL, 0, kind)
        if kind == FLOAT:
            self.out.float_constants.append(float(value))  # type: ignore[arg-type]  # of kind float
            return Operand(m.CONSTANT, len(self.out.float_constants) - 1, kind)
        number = int(value)  # type: ignore[call-overload]  # every other kind is an integer
        if not -(2**63) <= number < 2**63:
            raise CannotCompileError("a number beyond 64 bits")
        self.out.int_constants.append(number)
        return Operand(m.CONSTANT, len(self.out.int_constants) - 1, kind)

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
            raise CannotCompileError(f"{node.function} in DEFINE")
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
            return self._result(m.DIV_F, FLOAT, result, self._constant(10.0**scale, FLOAT))
        if scale and node.function in ("var_samp", "var_pop"):
            return self._result(m.DIV_F, FLOAT, result, self._constant(10.0 ** (2 * scale), FLOAT))
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
            return self._connector(node, is_guarded)
        if name == "case":
            return self._case(node, is_guarded)
        if name == "coalesce":
            return self._coalesce(node, is_guarded)
        if name == "between":
            low = Call("ge", node.operands[:2], "({0} >= {1})")
            high = Call("le", (node.operands[0], node.operands[2]), "({0} <= {1})")
            return self._compile(Call("and", (low, high), "({0} AND {1})"), is_guarded)
        if name == "in":
            options = tuple(Call("eq", (node.operands[0], option), "({0} = {1})") for option in node.operands[1:])
            whole = options[0] if len(options) == 1 else Call("or", options, "({0})")
            return self._compile(whole, is_guarded)
        operands = [
            self._compile(operand, is_guarded or guarded)
            for operand, guarded in zip(node.operands, guards(node), strict=True)
        ]
        if name in _COMPARISONS:
            return self._compare(_COMPARISONS[name], operands, swapped=name in ("gt", "ge"))
        if name in ("is_distinct_from", "is_not_distinct_from"):
            result = self._compare(m.DISTINCT_I, operands, swapped=False)
            return result if name == "is_distinct_from" else self._result(m.NOT, BOOL, result)
        match name:
            case "not":
                return self._result(m.NOT, BOOL, self._boolean(operands[0]))
            case "is_null":
                return self._is_null(operands[0])
            case "is_true" | "is_false":
                operation = m.IS_TRUE if name == "is_true" else m.IS_FALSE
                return self._result(operation, BOOL, self._boolean(operands[0]))
            case "add" | "subtract" | "multiply" | "divide" | "integer_divide" | "modulo":
                return self._arithmetic(node, operands)
            case "negate" | "abs":
                return self._sign(name, operands[0])
            case "nullif":
                equal = self._compare(m.EQ_I, operands, swapped=False)
                result = self._register(operands[0].kind)
                self._move(result, operands[0])
                jump = self._jump(m.JUMP_UNLESS_TRUE, equal)
                self._move(result, Operand(m.NULL, 0, result.kind))
                self._land(jump)
                return result
            case "greatest" | "least" | "greatest_strict" | "least_strict":
                return self._extreme(name, operands)
            case _:
                raise CannotCompileError(f"function {name} over several rows of the match")

    def _boolean(self, operand: Operand) -> Operand:
        if operand.kind not in (BOOL, _NULL):
            raise CannotCompileError(f"a condition of type {operand.kind.name}")
        return operand

    def _is_null(self, operand: Operand) -> Operand:
        return self._result(m.IS_NULL_F if operand.kind == FLOAT else m.IS_NULL_I, BOOL, operand)

    def _connector(self, node: Call, is_guarded: bool) -> Operand:
        """AND and OR stop at the operand that decides."""
        is_and = node.function == "and"
        result = self._register(BOOL)
        jumps: list[int] = []
        for position, operand in enumerate(node.operands):
            value = self._boolean(self._compile(operand, is_guarded or position > 0))
            if position == 0:
                self._move(result, value)
            else:
                self._emit(m.AND if is_and else m.OR, result.number, result, value)
            if position < len(node.operands) - 1:
                jumps.append(self._jump(m.JUMP_IF_FALSE if is_and else m.JUMP_IF_TRUE, result))
        for jump in jumps:
            self._land(jump)
        return result

    def _move(self, to: Operand, value: Operand) -> None:
        self._emit(m.MOVE_F if to.kind == FLOAT else m.MOVE_I, to.number, value)

    def _case(self, node: Call, is_guarded: bool) -> Operand:
        operands = node.operands
        results = [*operands[1::2]] + ([operands[-1]] if len(operands) % 2 else [])
        kind = self._common_kind(results)
        result = self._register(kind)
        ends: list[int] = []
        for position in range(0, len(operands) - 1, 2):
            condition = self._boolean(self._compile(operands[position], is_guarded or position > 0))
            skip = self._jump(m.JUMP_UNLESS_TRUE, self._in_register(condition))
            self._move(result, self._converted(self._compile(operands[position + 1], True), kind))
            ends.append(self._jump(m.JUMP))
            self._land(skip)
        if len(operands) % 2:
            self._move(result, self._converted(self._compile(operands[-1], True), kind))
        else:
            self._move(result, Operand(m.NULL, 0, kind))
        for end in ends:
            self._land(end)
        return result

    def _coalesce(self, node: Call, is_guarded: bool) -> Operand:
        kind = self._common_kind(list(node.operands))
        result = self._register(kind)
        ends: list[int] = []
        for position, operand in enumerate(node.operands):
            self._move(result, self._converted(self._compile(operand, is_guarded or position > 0), kind))
            ends.append(self._jump(m.JUMP_UNLESS_NULL, result))
        for end in ends:
            self._land(end)
        return result

    def _common_kind(self, expressions: list[Expression]) -> Kind:
        """The kind all of them can have. They are compiled once to learn it, and that code is thrown away."""
        n_code, n_registers = len(self.out.code), self.out.n_registers
        kinds = [self._compile(expression, True).kind for expression in expressions]
        del self.out.code[n_code:]
        self.out.n_registers = n_registers
        kind = kinds[0]
        for other in kinds[1:]:
            kind = _wider(kind, other)
        return BOOL if kind == _NULL else kind

    def _compare(self, operation: int, operands: list[Operand], *, swapped: bool) -> Operand:
        left, right = self._aligned(operands[0], operands[1])
        if swapped:
            left, right = right, left
        if left.kind == FLOAT:
            operation += _TO_FLOAT
        return self._result(operation, BOOL, left, right)

    def _aligned(self, left: Operand, right: Operand) -> tuple[Operand, Operand]:
        kind = _wider(left.kind, right.kind)
        return self._converted(left, kind), self._converted(right, kind)

    def _converted(self, operand: Operand, kind: Kind) -> Operand:
        if operand.kind == kind:
            return operand
        if operand.kind == _NULL:
            return replace(operand, kind=kind)
        if kind == FLOAT:
            result = self._result(m.TO_F, FLOAT, operand)
            if operand.kind.name == "decimal" and operand.kind.detail:
                return self._result(m.DIV_F, FLOAT, result, self._constant(10.0 ** int(operand.kind.detail), FLOAT))
            return result
        if kind.name == "decimal":
            from_scale = int(operand.kind.detail or 0) if operand.kind.name == "decimal" else 0
            factor = self._constant(10 ** (int(kind.detail or 0) - from_scale), INT)
            return self._result(m.MUL_I, kind, operand, factor)
        raise CannotCompileError(f"{operand.kind.name} with {kind.name}")

    def _arithmetic(self, node: Call, operands: list[Operand]) -> Operand:
        left, right = operands
        name = node.function
        names = {left.kind.name, right.kind.name}
        if _NULL.name in names:
            raise CannotCompileError("arithmetic with NULL")
        if names <= {"int", "float", "decimal"}:
            return self._number_arithmetic(node, left, right)
        if left.kind.name in ("timestamp", "interval") and right.kind == INTERVAL and name in ("add", "subtract"):
            return self._result(m.ADD_I if name == "add" else m.SUB_I, left.kind, left, right)
        is_difference = left.kind.name == "timestamp" and left.kind == right.kind and name == "subtract"
        if is_difference and "us" in str(left.kind.detail):
            return self._result(m.SUB_I, INTERVAL, left, right)
        if left.kind == right.kind == Kind("date") and name == "subtract":
            days = self._result(m.SUB_I, INT, left, right)
            if "to_days" not in node.template:
                return days
            return self._result(m.MUL_I, INTERVAL, days, self._constant(86_400_000_000, INT))
        raise CannotCompileError(f"{name} of {left.kind.name} and {right.kind.name}")

    def _number_arithmetic(self, node: Call, left: Operand, right: Operand) -> Operand:
        name = node.function
        fails_on_zero = int("error(" in node.template)
        if name == "divide":
            dividend, divisor = self._converted(left, FLOAT), self._converted(right, FLOAT)
            return self._result(m.DIV_F, FLOAT, dividend, divisor, fails_on_zero)
        if name == "integer_divide":
            if left.kind != INT or right.kind != INT:
                raise CannotCompileError("integer division of other numbers")
            return self._result(m.DIV_I, INT, left, right)
        if name == "multiply" and FLOAT not in (left.kind, right.kind):
            scale = sum(int(side.kind.detail or 0) for side in (left, right) if side.kind.name == "decimal")
            kind = Kind("decimal", scale) if "decimal" in (left.kind.name, right.kind.name) else INT
            return self._result(m.MUL_I, kind, left, right)
        left, right = self._aligned(left, right)
        operation = {"add": m.ADD_I, "subtract": m.SUB_I, "multiply": m.MUL_I, "modulo": m.MOD_I}[name]
        if left.kind == FLOAT:
            return self._result(operation + m.ADD_F - m.ADD_I, FLOAT, left, right, fails_on_zero)
        return self._result(operation, left.kind, left, right)

    def _sign(self, name: str, operand: Operand) -> Operand:
        if operand.kind.name not in ("int", "float", "decimal"):
            raise CannotCompileError(f"{name} of {operand.kind.name}")
        operation = m.NEG_I if name == "negate" else m.ABS_I
        if operand.kind == FLOAT:
            operation += m.ADD_F - m.ADD_I
        return self._result(operation, operand.kind, operand)

    def _extreme(self, name: str, operands: list[Operand]) -> Operand:
        kind = operands[0].kind
        for operand in operands[1:]:
            kind = _wider(kind, operand.kind)
        operands = [self._converted(operand, kind) for operand in operands]
        result = self._register(kind)
        self._move(result, operands[0])
        is_strict = name.endswith("_strict")
        less = m.LT_F if kind == FLOAT else m.LT_I
        ends: list[int] = []
        for operand in operands[1:]:
            pair = (result, operand) if name.startswith("greatest") else (operand, result)
            better = self._result(less, BOOL, *pair)
            if is_strict:
                # One NULL decides; the comparison with it is NULL and stays so.
                skip = self._jump(m.JUMP_UNLESS_TRUE, self._is_null(better))
                self._move(result, Operand(m.NULL, 0, kind))
                ends.append(self._jump(m.JUMP))
                self._land(skip)
                keep = self._jump(m.JUMP_UNLESS_TRUE, better)
                self._move(result, operand)
                self._land(keep)
                continue
            take = self._jump(m.JUMP_IF_TRUE, self._is_null(result))
            keep = self._jump(m.JUMP_UNLESS_TRUE, better)
            self._land(take)
            self._move(result, operand)
            self._land(keep)
        for end in ends:
            self._land(end)
        return result


def _wider(left: Kind, right: Kind) -> Kind:
    """The kind in which both can be compared."""
    if left == right or right == _NULL:
        return left
    if left == _NULL:
        return right
    names = {left.name, right.name}
    if names <= {"int", "float", "decimal"}:
        if "float" in names:
            return FLOAT
        scales = [int(kind.detail or 0) for kind in (left, right) if kind.name == "decimal"]
        return Kind("decimal", max(scales))
    raise CannotCompileError(f"{left.name} with {right.name}")
