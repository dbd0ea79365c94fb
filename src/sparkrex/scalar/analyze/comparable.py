"""Text beside numbers: hosts differ in what they make of it, Spark only while the job runs. Refused before.

A string literal is another matter: every host takes `price > '5'` for the number 5. Only what is surely text and surely
a number is refused: columns, what navigation reads of them, literals, casts, and arithmetic over these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from sparkrex.scalar.analyze.expressions import Converter

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv)
_OF_NUMBERS = ("sum", "avg", "stddev_samp", "stddev_pop", "var_samp", "var_pop")
_TRUSTED = (exp.Column, exp.Dot, exp.Literal, exp.Cast, exp.Neg, *_ARITHMETIC)


def refuse_text_with_numbers(converter: Converter, node: exp.Expr) -> None:
    """Fail if the node compares text with a number, or calculates with text."""
    match node:
        case exp.Between():
            parts = [node.this, node.args["low"], node.args["high"]]
        case exp.In() if node.expressions:
            parts = [node.this, *node.expressions]
        case exp.Binary() if isinstance(node, _COMPARISONS + _ARITHMETIC):
            parts = [node.this, node.expression]
        case _:
            return
    kinds = [_kind(converter, part) for part in parts]
    numbers = [kind for kind in kinds if kind is not None and kind.this in exp.DataType.NUMERIC_TYPES]
    texts = [
        part for part, kind in zip(parts, kinds, strict=True)
        if kind is not None and kind.this in exp.DataType.TEXT_TYPES and not isinstance(part.unnest(), exp.Literal)
    ]
    if not numbers or not texts:
        return
    place = converter.span(texts[0])
    written = " ".join(converter.scope.source.text[place.start : place.end].split())
    wanted = numbers[0].sql(dialect=converter.scope.dialect)
    verb = "calculated with" if isinstance(node, _ARITHMETIC) else "compared with"
    raise converter.error(
        "REX214", f"{written} is text: it cannot be {verb} a number", converter.span(node),
        hint=f"CAST({written} AS {wanted}), if it holds numbers",
    )


def refuse_text_in_numbers(converter: Converter, call: exp.Expr, name: str) -> None:
    """Fail if an aggregate of numbers, such as sum, is asked of text."""
    argument = call.this if isinstance(call.this, exp.Expr) else None
    kind = None if argument is None else _kind(converter, argument)
    if name not in _OF_NUMBERS or argument is None or kind is None or kind.this not in exp.DataType.TEXT_TYPES:
        return
    place = converter.span(argument)
    written = " ".join(converter.scope.source.text[place.start : place.end].split())
    raise converter.error(
        "REX214", f"{name} needs numbers, and {written} is text", converter.span(call),
        hint=f"{name}(CAST({written} AS DOUBLE)), if it holds numbers",
    )


def _kind(converter: Converter, part: exp.Expr) -> exp.DataType | None:
    """The type of an operand, if it is sure."""
    part = part.unnest()
    while row_pattern_function(part) is not None and part.expressions:
        part = part.expressions[0].unnest()
    return converter.types.get(id(part)) if isinstance(part, _TRUSTED) else None
