"""A condition taken apart: comparisons, what joins them, and everything else, to see which part was not TRUE.

How far a condition was missed follows from its comparisons of numbers: one is missed by the difference of its sides; an
AND by the largest miss among its parts that are not TRUE, if all of these are such comparisons; an OR by the smallest.
NOT is moved inwards, BETWEEN is two comparisons and IN several. A part that can fail, as a division can, is looked at
only where the parts before it leave it open: where those of AND are TRUE, and those of OR are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import plain
from sparkrex.reasons.answer import Compared, Value
from sparkrex.scalar.expression import Call, ColumnAt, Expression, Literal
from sparkrex.scalar.guards import can_fail
from sparkrex.scalar.render.renderer import leaves
from sparkrex.scalar.split import conjunction
from sparkrex.source import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sparkrex.source import Source

    Evaluate: TypeAlias = Callable[[Sequence[Expression]], list[pa.ChunkedArray]]
    """The values of expressions, in so many places."""

_NAVIGATION = re.compile(r"\b(PREV|NEXT|FIRST|LAST)\s*\(\s*\Z", re.IGNORECASE)
_CLOSING = re.compile(r"\s*(,\s*\d+\s*)?\)")
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides; `expression` has to be TRUE."""

    expression: Expression
    left: Expression
    right: Expression
    guard: Expression | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    """What is no comparison; `expression` has to be TRUE."""

    expression: Expression
    guard: Expression | None = None


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part has to be TRUE."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A part has to be TRUE."""

    parts: tuple[Part, ...]


Part: TypeAlias = Comparison | Whole | AllOf | AnyOf


def take_apart(condition: Expression, *, is_negated: bool = False, guard: Expression | None = None) -> Part:
    """The parts of a condition that has to be TRUE or, negated, FALSE."""
    if isinstance(condition, Call):
        operands = condition.operands
        match condition.function:
            case "not":
                return take_apart(operands[0], is_negated=not is_negated, guard=guard)
            case "and" | "or":
                is_and = (condition.function == "and") is not is_negated
                parts: list[Part] = []
                before = [guard] if guard is not None else []
                for operand in operands:
                    own = conjunction(before) if can_fail(operand) else guard
                    parts.append(take_apart(operand, is_negated=is_negated, guard=own))
                    wanted = _negated(operand) if is_negated else operand
                    before.append(wanted if is_and else _negated(Call("is_true", (wanted,), span=operand.span)))
                return AllOf(tuple(parts)) if is_and else AnyOf(tuple(parts))
            case "between":
                value, low, high = operands
                ends = (_compare("ge", value, low, condition), _compare("le", value, high, condition))
                found = tuple(take_apart(end, is_negated=is_negated, guard=guard) for end in ends)
                return AnyOf(found) if is_negated else AllOf(found)
            case "in":
                value, *options = operands
                equal = (_compare("eq", value, option, condition) for option in options)
                found = tuple(take_apart(one, is_negated=is_negated, guard=guard) for one in equal)
                return AllOf(found) if is_negated else AnyOf(found)
            case name if name in _OPPOSITE and condition.syntax is None:
                left, right = operands
                return Comparison(_negated(condition) if is_negated else condition, left, right, guard)
    return Whole(_negated(condition) if is_negated else condition, guard)


def _negated(condition: Expression) -> Expression:
    return Call("not", (condition,), span=condition.span)


def _compare(name: str, left: Expression, right: Expression, of: Call) -> Call:
    return Call(name, (left, right), span=of.span)


def missed_by(part: Part, evaluate: Evaluate) -> NDArray[np.float64]:
    """How far a condition was missed in every place; NaN where it is TRUE, or no number tells."""
    found = _look(part, evaluate)
    return np.where(found.is_true, np.nan, found.miss)


@dataclass(frozen=True, slots=True)
class _Looked:
    """By place: whether the part is TRUE, how far it was missed, and whether it was looked at."""

    is_true: NDArray[np.bool_]
    miss: NDArray[np.float64]
    is_reached: NDArray[np.bool_] | None


def _look(part: Part, evaluate: Evaluate) -> _Looked:
    match part:
        case Comparison():
            truth, left, right, *guard = evaluate([*_guarded(part, part.expression, part.left, part.right)])
            is_true = truth_of(truth)
            apart = _numbers(left) - _numbers(right)
            miss = np.abs(np.where(np.isfinite(apart), apart, np.nan))
            return _Looked(is_true, miss, truth_of(guard[0]) if guard else None)
        case Whole():
            truth, *guard = evaluate([*_guarded(part, part.expression)])
            is_true = truth_of(truth)
            return _Looked(is_true, np.full(len(is_true), np.nan), truth_of(guard[0]) if guard else None)
        case AllOf(parts):
            every = [_look(one, evaluate) for one in parts]
            is_true = np.logical_and.reduce([one.is_true for one in every])
            worst = np.zeros(len(is_true))
            for one in every:
                failing = ~one.is_true if one.is_reached is None else ~one.is_true & one.is_reached
                worst = np.where(failing, np.maximum(worst, one.miss), worst)  # a NaN stays
            return _Looked(is_true, worst, _reached_with(every))
        case AnyOf(parts):
            every = [_look(one, evaluate) for one in parts]
            is_true = np.logical_or.reduce([one.is_true for one in every])
            return _Looked(is_true, np.fmin.reduce([one.miss for one in every]), _reached_with(every))
        case _:
            assert_never(part)


def _reached_with(every: Sequence[_Looked]) -> NDArray[np.bool_] | None:
    """A part was looked at if its first part was, or one of several that guard nothing."""
    return every[0].is_reached


def _guarded(part: Comparison | Whole, *expressions: Expression) -> Iterator[Expression]:
    """The expressions, NULL where the guard is not TRUE; and the guard, if there is one."""
    for expression in expressions:
        if part.guard is None or not can_fail(expression):
            yield expression
        else:
            yield Call("case", (part.guard, expression), span=expression.span)
    if part.guard is not None:
        yield part.guard


def truth_of(values: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Where a condition is TRUE."""
    array = plain(values.cast(pa.bool_())).fill_null(False)
    found: NDArray[np.bool_] = array.to_numpy(zero_copy_only=False)
    return found


def _numbers(values: pa.ChunkedArray) -> NDArray[np.float64]:
    """Numbers as doubles; NaN for NULL, and for what is no number."""
    kind = values.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return np.full(len(values), np.nan)
    array = plain(values.cast(pa.float64(), safe=False))
    found: NDArray[np.float64] = array.fill_null(np.nan).to_numpy(zero_copy_only=False)
    return found


def compared(part: Part, evaluate: Evaluate, source: Source) -> tuple[Compared, ...]:
    """The parts of a condition that are not TRUE, with their values. `evaluate` knows one place."""
    match part:
        case Comparison() | Whole():
            truth, *guard = (one[0].as_py() for one in evaluate([*_guarded(part, part.expression)]))
            if truth is True or (guard and guard[0] is not True):
                return ()
            if isinstance(part, Whole):
                sides: list[Expression] = [*leaves(part.expression)]
            else:
                sides = [side for side in (part.left, part.right) if not isinstance(side, Literal)]
            values = [one[0].as_py() for one in evaluate(sides)] if sides else []
            miss = float(missed_by(part, evaluate)[0])
            return (Compared(
                part.expression.span, _text(part.expression, source), truth,
                tuple(Value(_place(side, source), _text(side, source), value)
                      for side, value in zip(sides, values, strict=True)),
                None if np.isnan(miss) else miss,
            ),)
        case AllOf(parts) | AnyOf(parts):
            found = [compared(one, evaluate, source) for one in parts]
            if isinstance(part, AnyOf) and not all(found):
                return ()
            return _apart([one for several in found for one in several])
        case _:
            assert_never(part)


def _apart(found: list[Compared]) -> tuple[Compared, ...]:
    """Each comparison once: those of IN stand in one place, of which the closest is kept."""
    kept: dict[tuple[Span | None, tuple[Span | None, ...]], Compared] = {}
    for one in found:
        key = one.span, tuple(value.span for value in one.values)
        if key not in kept or _distance(one) < _distance(kept[key]):
            kept[key] = one
    return tuple(kept.values())


def _distance(one: Compared) -> float:
    return np.inf if one.missed_by is None else one.missed_by


def _place(expression: Expression, source: Source) -> Span | None:
    """Where it stands: of a column in PREV(...) and the like, with these around it."""
    span = expression.span
    while span is not None and isinstance(expression, ColumnAt):
        opening = _NAVIGATION.search(source.text, 0, span.start)
        closing = _CLOSING.match(source.text, span.end)
        if opening is None or closing is None:
            return span
        span = Span(opening.start(), closing.end())
    return span


def _text(expression: Expression, source: Source) -> str:
    """As the user wrote it, if that is known."""
    span = _place(expression, source)
    return str(expression) if span is None else " ".join(source.text[span.start : span.end].split())
