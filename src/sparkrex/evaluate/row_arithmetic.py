"""Compile arithmetic in row conditions: numbers, dates, times and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.values import FLOAT, INTERVAL, Kind
from sparkrex.evaluate import blocks
from sparkrex.evaluate.blocks import Value, as_long
from sparkrex.evaluate.row_constants import DAY
from sparkrex.evaluate.row_kinds import (
    DATE,
    DATE_LIMITS,
    DECIMAL_LIMITS,
    FLOAT32,
    FLOATS,
    LONG_LIMITS,
    TIME_LIMITS,
    UNSIGNED,
    CannotVectoriseError,
    limits_of,
)
from sparkrex.scalar.expression import Difference, OnZero

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.evaluate.vectorised import Compiler, Node
    from sparkrex.scalar.expression import Call

_ARITHMETIC: dict[str, Any] = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}


def arithmetic(compiler: Compiler, node: Call, operands: Sequence[Node]) -> Node:
    """Sum, difference, product, quotient or remainder."""
    left, right = operands
    names = {left.kind.name, right.kind.name}
    if names <= {"int", "decimal", "float", "float32"}:
        if UNSIGNED in (left.kind, right.kind):
            raise CannotVectoriseError("arithmetic of unsigned integers")
        return _numbers(compiler, node, left, right)
    if node.function in ("add", "subtract"):
        return _times(compiler, node, left, right)
    raise CannotVectoriseError(f"{node.function} of {left.kind.name} and {right.kind.name}")


def _numbers(compiler: Compiler, node: Call, left: Node, right: Node) -> Node:
    name = node.function
    if name == "divide":
        return _divide(compiler, node, left, right)
    if name == "multiply" and "decimal" in (left.kind.name, right.kind.name) and _are_exact(left, right):
        scale = sum(int(side.kind.detail or 0) for side in (left, right) if side.kind.name == "decimal")
        if scale > 18:
            raise CannotVectoriseError("a decimal of more than 18 digits")
        return _integers(compiler, np.multiply, left, right, DECIMAL_LIMITS, Kind("decimal", scale))
    (left, right), kind = compiler.aligned([left, right])
    fails_on_zero = node.on_zero is OnZero.FAILS
    if kind in FLOATS:
        if name == "integer_divide":
            raise CannotVectoriseError("integer division of other numbers")
        if name == "modulo":
            return compiler.node(
                kind, lambda block: blocks.float_remainder(left.run(block), right.run(block), fails_on_zero)
            )
        function = _ARITHMETIC[name]
        found = compiler.node(
            kind, lambda block: blocks.float_arithmetic(function, left.run(block), right.run(block))
        )
        if name == "multiply" and kind == FLOAT and left.term is not None and right.term is not None:
            found.term = left.term.times(right.term)
        return found
    limits = limits_of(kind)
    if name in _ARITHMETIC:
        return _integers(compiler, _ARITHMETIC[name], left, right, limits, kind)
    if name == "integer_divide" and kind.name != "int":
        raise CannotVectoriseError("integer division of other numbers")
    is_remainder = name == "modulo"
    return compiler.node(
        kind,
        lambda block: blocks.limited(
            blocks.integer_division(
                as_long(left.run(block)), as_long(right.run(block)), is_remainder=is_remainder
            ),
            limits,
        ),
    )


def _divide(compiler: Compiler, node: Call, left: Node, right: Node) -> Node:
    if FLOAT32 in (left.kind, right.kind):
        raise CannotVectoriseError("division of floats")
    on_zero = {None: "ieee", OnZero.FAILS: "failure", OnZero.INFINITE: "infinity"}[node.on_zero]
    if on_zero == "infinity" and left.kind.name == right.kind.name == "int":
        raise CannotVectoriseError("division of integers whose types are not known")
    dividend, divisor = compiler.converted(left, FLOAT), compiler.converted(right, FLOAT)
    return compiler.node(
        FLOAT, lambda block: blocks.float_division(dividend.run(block), divisor.run(block), on_zero)
    )


def _integers(compiler: Compiler, function: Any, left: Node, right: Node, limits: tuple[int, int], kind: Kind) -> Node:
    one, other = left.run, right.run
    return compiler.node(
        kind,
        lambda block: blocks.integer_arithmetic(function, as_long(one(block)), as_long(other(block)), limits),
    )


def _times(compiler: Compiler, node: Call, left: Node, right: Node) -> Node:
    """Differences of dates and times, and times moved by an interval."""
    is_difference = node.function == "subtract" and left.kind == right.kind
    if is_difference and left.kind == DATE:
        left, right = (_near(compiler, side, DATE_LIMITS) for side in (left, right))
        days = _integers(compiler, np.subtract, left, right, LONG_LIMITS, Kind("int", 64))
        return compiler.scaled(days, DAY, TIME_LIMITS, INTERVAL) if node.difference is Difference.INTERVAL else days
    is_time = left.kind.name == "timestamp" and left.kind.detail != "ns"
    is_zoned = "zoned" in str(left.kind.detail)
    if is_difference and is_time:
        left, right = (_near(compiler, _micros(compiler, side), TIME_LIMITS) for side in (left, right))
        return _integers(compiler, np.subtract, left, right, LONG_LIMITS, INTERVAL)
    if is_time and right.kind == INTERVAL and right.is_constant and not (is_zoned and right.literal == "long"):
        left = _near(compiler, _micros(compiler, left), TIME_LIMITS)
        return _integers(compiler, _ARITHMETIC[node.function], left, right, TIME_LIMITS, left.kind)
    raise CannotVectoriseError(f"{node.function} of {left.kind.name} and {right.kind.name}")


def _micros(compiler: Compiler, node: Node) -> Node:
    zone = " zoned" if "zoned" in str(node.kind.detail) else ""
    return compiler.converted(node, Kind("timestamp", "us" + zone))


def _near(compiler: Compiler, node: Node, limits: tuple[int, int]) -> Node:
    run = node.run
    return compiler.node(node.kind, lambda block: blocks.limited(as_long(run(block)), limits))


def sign(compiler: Compiler, node: Call, operands: Sequence[Node]) -> Node:
    """ABS and the sign before a number."""
    (operand,) = operands
    function: Any = np.abs if node.function == "abs" else np.negative
    run = operand.run
    if operand.kind in FLOATS:
        return compiler.node(operand.kind, lambda block: _apply(function, run(block)))
    if operand.kind.name not in ("int", "decimal") or operand.kind == UNSIGNED:
        raise CannotVectoriseError(f"{node.function} of {operand.kind.name}")
    limits = limits_of(operand.kind)
    return compiler.node(
        operand.kind, lambda block: blocks.integer_sign(function, as_long(run(block)), limits)
    )


def _are_exact(left: Node, right: Node) -> bool:
    return {left.kind.name, right.kind.name} <= {"int", "decimal"}


def _apply(function: Any, value: Value) -> Value:
    return Value(function(value.data), value.nulls, value.failures, value.has_nan)
