"""Random conditions over few references, and the hostile values that these may have."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sparkrex.scalar.expression import Call, ColumnAt, Expression, Literal, Target, walk
from sparkrex.scalar.prove import Facts, ValueKind

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from tests.scalar.prove.plain import Reference

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
KINDS = {
    "d": ValueKind.DOUBLE, "e": ValueKind.DOUBLE, "i": ValueKind.INTEGER, "j": ValueKind.INTEGER,
    "m": ValueKind.DECIMAL, "s": ValueKind.TEXT, "b": ValueKind.BOOLEAN,
}
_DOUBLES = (
    None, math.nan, -math.inf, math.inf, -1.0, -0.0, 0.0, 5e-324, 1e-323, 0.1, 1.0, 2.0, 3.0, 1e16, 1e16 + 2, 1.7e308,
)
_INTEGERS = (None, -2, -1, 0, 1, 2, 3, 4, 5, 2**53, 2**53 + 1, 2**63 - 1, -(2**63))
_DECIMALS = (None, *(Decimal(text) for text in ("-1.00", "0.00", "0.01", "0.98", "1.00", "1.01", "2.00", "99999.99")))
VALUES: dict[str, tuple[Any, ...]] = {
    "d": _DOUBLES, "e": _DOUBLES, "i": _INTEGERS, "j": _INTEGERS, "m": _DECIMALS,
    "s": (None, "", "B", "a", "ab", "é"), "b": (None, True, False),
}
NUMBERS: tuple[Any, ...] = (
    -1, 0, 1, 2, 3, 4, Decimal("0.1"), Decimal("0.98"), Decimal("1.02"), Decimal("2.5"), Decimal("-0.5"), 1e16, 5e-324,
    2.5, 2.0, 9007199254740992.0, 2**53 + 1, 10**16,
)
_INTEGER_FAMILY: tuple[Any, ...] = (-1, 0, 1, 2, 3, 4, Decimal("2.5"), 2.5)
FAMILIES = (("d",), ("d", "e"), ("i",), ("i", "j"), ("m",), ("d", "i"), ("i", "m"), ("s",), ("b",), ("d", "m"))


def at(column: str, shift: int = 0) -> ColumnAt:
    """A reference."""
    return ColumnAt(Target(shift=shift), column)


def references(expressions: list[Expression]) -> list[Reference]:
    """What the expressions read."""
    found = {
        (node.column, node.target.shift): None
        for expression in expressions for node in walk(expression) if isinstance(node, ColumnAt)
    }
    return sorted(found)


def assignments(names: list[Reference], facts: Facts, chance: random.Random, most: int) -> Iterator[dict[Any, Any]]:
    """Values for the references that the facts allow: all, or as many as asked for."""
    domains = [
        [value for value in VALUES[column] if _is_allowed(value, column, shift, facts)] for column, shift in names
    ]
    if math.prod(map(len, domains)) <= most:
        for values in itertools.product(*domains):
            yield dict(zip(names, values, strict=True))
        return
    for _ in range(most):
        row: dict[Any, Any] = {}
        for name, domain in zip(names, domains, strict=True):
            # Equal values are where strict and non-strict differ, and would be rare.
            alike = [value for value in row.values() if any(value is other for other in domain)]
            row[name] = chance.choice(alike if alike and chance.random() < 0.4 else domain)
        yield row


def _is_allowed(value: Any, column: str, shift: int, facts: Facts) -> bool:
    if value is None:
        return shift != 0 or column not in facts.never_null
    return column not in facts.positive or not value <= 0  # NaN is above zero


class Conditions:
    """Makes random conditions over references to the columns of one family."""

    def __init__(self, chance: random.Random, columns: tuple[str, ...]) -> None:
        self.chance = chance
        shifts = (0, -1) if len(columns) == 1 or chance.random() < 0.3 else (0,)
        self.references = [at(column, shift) for column in columns for shift in shifts]
        self.numbers = chance.sample(NUMBERS if chance.random() < 0.6 else _INTEGER_FAMILY, 3)
        self.are_numbers = columns[0] in "deijm"

    def condition(self, depth: int) -> Expression:
        """A condition of at most this depth."""
        choose = self.chance.random()
        if depth == 0 or choose < 0.35:
            return self.atom()
        if choose < 0.5:
            return Call("not", (self.condition(depth - 1),))
        if choose < 0.55:
            return Call(self.chance.choice(("is_true", "is_false")), (self.condition(depth - 1),))
        name = "and" if choose < 0.85 else "or"
        return Call(name, tuple(self.condition(depth - 1) for _ in range(self.chance.choice((2, 2, 3)))))

    def atom(self) -> Expression:
        """A comparison, mostly."""
        choose = self.chance.random()
        reference = self.chance.choice(self.references)
        if choose < 0.06:
            return Call("is_null", (reference,))
        if choose < 0.08:
            return Literal(self.chance.choice((True, False, None)))
        if choose < 0.13:
            return Call("between", (reference, self.operand(), self.operand()))
        if choose < 0.18:
            return Call("in", (reference, *(self.constant() for _ in range(self.chance.choice((1, 2, 3))))))
        if choose < 0.21:
            name = self.chance.choice(("is_distinct_from", "is_not_distinct_from"))
            return Call(name, (reference, self.operand()))
        if choose < 0.25 and reference.column == "b":
            return reference
        sides = (reference, self.operand()) if self.chance.random() < 0.8 else (self.operand(), self.operand())
        return Call(self.chance.choice(COMPARISONS), sides)

    def constant(self) -> Expression:
        """A literal of the family."""
        if self.are_numbers:
            return Literal(self.chance.choice(self.numbers) if self.chance.random() < 0.95 else None)
        column = self.references[0].column
        return Literal(self.chance.choice(VALUES[column]))

    def operand(self) -> Expression:
        """A literal, a reference, or a reference with arithmetic."""
        choose = self.chance.random()
        reference = self.chance.choice(self.references)
        if choose < 0.35:
            return self.constant()
        if choose < 0.6 or not self.are_numbers:
            return reference
        number = Literal(self.chance.choice(self.numbers))
        name = self.chance.choice(("add", "subtract", "multiply", "multiply"))
        if name == "subtract" or self.chance.random() < 0.5:
            return Call(name, (reference, number))
        if self.chance.random() < 0.1 and number.value:
            return Call("divide", (reference, number))
        return Call(name, (number, reference))


def facts_of_columns(chance: random.Random, columns: tuple[str, ...]) -> Facts:
    """Random facts."""
    never_null = frozenset(column for column in columns if chance.random() < 0.5)
    positive = frozenset(column for column in columns if column in "deijm" and chance.random() < 0.5)
    return Facts({column: KINDS[column] for column in columns}, never_null, positive)
