"""Numbers and times in bytecode: kinds brought together, comparison, arithmetic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.columns.values import BOOL, FLOAT, INT, INTERVAL, Kind
from sparkrex.evaluate.bytecode import UNTYPED, CannotCompileError
from sparkrex.kernels import machine as m
from sparkrex.scalar.expression import Difference, OnZero
from sparkrex.scalar.intervals import is_same_in_every_zone

if TYPE_CHECKING:
    from sparkrex.evaluate.bytecode import Bytecode, Operand
    from sparkrex.scalar.expression import Call

_TO_FLOAT = m.EQ_F - m.EQ_I
_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}


def wider(left: Kind, right: Kind) -> Kind:
    """The kind in which both can be compared."""
    if left == right or right == UNTYPED:
        return left
    if left == UNTYPED:
        return right
    names = {left.name, right.name}
    if names <= {"int", "float", "decimal"}:
        if "float" in names:
            return FLOAT
        scales = [int(kind.detail or 0) for kind in (left, right) if kind.name == "decimal"]
        return Kind("decimal", max(scales))
    time = _in_microseconds(left)
    if time is not None and time == _in_microseconds(right):
        return time
    raise CannotCompileError(f"{left.name} with {right.name}")


def converted(out: Bytecode, operand: Operand, kind: Kind) -> Operand:
    """A value as one of another kind."""
    if operand.kind == kind:
        return operand
    if operand.kind == UNTYPED:
        return replace(operand, kind=kind)
    if kind == FLOAT:
        result = out.result(m.TO_F, FLOAT, operand)
        if operand.kind.name == "decimal" and operand.kind.detail:
            return out.result(m.DIV_F, FLOAT, result, out.constant(10.0 ** int(operand.kind.detail), FLOAT))
        return result
    if kind.name == "decimal":
        from_scale = int(operand.kind.detail or 0) if operand.kind.name == "decimal" else 0
        factor = out.constant(10 ** (int(kind.detail or 0) - from_scale), INT)
        return out.result(m.MUL_I, kind, operand, factor)
    if _in_microseconds(operand.kind) == kind:
        unit = str(operand.kind.detail).split()[0]
        return out.result(m.MUL_I, kind, operand, out.constant(_MICROSECONDS[unit], INT))
    raise CannotCompileError(f"{operand.kind.name} with {kind.name}")


def _in_microseconds(kind: Kind) -> Kind | None:
    """The kind of a time of a coarser unit in microseconds, which intervals count; None for anything else."""
    unit, _, zone = str(kind.detail).partition(" ")
    if kind.name != "timestamp" or unit not in _MICROSECONDS:
        return None
    return Kind("timestamp", f"us {zone}".rstrip())


def _align_kinds(out: Bytecode, left: Operand, right: Operand) -> tuple[Operand, Operand]:
    kind = wider(left.kind, right.kind)
    return converted(out, left, kind), converted(out, right, kind)


def compare(out: Bytecode, operation: int, operands: list[Operand], *, swapped: bool) -> Operand:
    """A comparison, given as that of integers; `swapped` has the right one first."""
    left, right = _align_kinds(out, operands[0], operands[1])
    if swapped:
        left, right = right, left
    if left.kind == FLOAT:
        operation += _TO_FLOAT
    return out.result(operation, BOOL, left, right)


def arithmetic(out: Bytecode, node: Call, operands: list[Operand]) -> Operand:
    """An operation on two numbers or times."""
    left, right = operands
    name = node.function
    names = {left.kind.name, right.kind.name}
    if UNTYPED.name in names:
        raise CannotCompileError("arithmetic with NULL")
    if names <= {"int", "float", "decimal"}:
        return _number_arithmetic(out, node, left, right)
    # Intervals count microseconds, and where there are time zones a day is not always 24 hours.
    time = _in_microseconds(left.kind)
    is_movable = left.kind == INTERVAL or time == Kind("timestamp", "us") or (
        time is not None and is_same_in_every_zone(node.operands[1])
    )
    if is_movable and right.kind == INTERVAL and name in ("add", "subtract"):
        moved = left if time is None else converted(out, left, time)
        return out.result(m.ADD_I if name == "add" else m.SUB_I, moved.kind, moved, right)
    if time is not None and time == _in_microseconds(right.kind) and name == "subtract":
        return out.result(m.SUB_I, INTERVAL, converted(out, left, time), converted(out, right, time))
    if left.kind == right.kind == Kind("date") and name == "subtract":
        days = out.result(m.SUB_I, INT, left, right)
        if node.difference is not Difference.INTERVAL:
            return days
        return out.result(m.MUL_I, INTERVAL, days, out.constant(86_400_000_000, INT))
    raise CannotCompileError(f"{name} of {left.kind.name} and {right.kind.name}")


def _number_arithmetic(out: Bytecode, node: Call, left: Operand, right: Operand) -> Operand:
    name = node.function
    fails_on_zero = int(node.on_zero is OnZero.FAILS)
    if name == "divide":
        dividend, divisor = converted(out, left, FLOAT), converted(out, right, FLOAT)
        return out.result(m.DIV_F, FLOAT, dividend, divisor, fails_on_zero)
    if name == "integer_divide":
        if left.kind != INT or right.kind != INT:
            raise CannotCompileError("integer division of other numbers")
        return out.result(m.DIV_I, INT, left, right)
    if name == "multiply" and FLOAT not in (left.kind, right.kind):
        scale = sum(int(side.kind.detail or 0) for side in (left, right) if side.kind.name == "decimal")
        kind = Kind("decimal", scale) if "decimal" in (left.kind.name, right.kind.name) else INT
        return out.result(m.MUL_I, kind, left, right)
    left, right = _align_kinds(out, left, right)
    operation = {"add": m.ADD_I, "subtract": m.SUB_I, "multiply": m.MUL_I, "modulo": m.MOD_I}[name]
    if left.kind == FLOAT:
        return out.result(operation + m.ADD_F - m.ADD_I, FLOAT, left, right, fails_on_zero)
    return out.result(operation, left.kind, left, right)


def sign(out: Bytecode, name: str, operand: Operand) -> Operand:
    """Negation, or the number without its sign."""
    if operand.kind.name not in ("int", "float", "decimal"):
        raise CannotCompileError(f"{name} of {operand.kind.name}")
    operation = m.NEG_I if name == "negate" else m.ABS_I
    if operand.kind == FLOAT:
        operation += m.ADD_F - m.ADD_I
    return out.result(operation, operand.kind, operand)
