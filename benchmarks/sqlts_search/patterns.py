"""Patterns of the benchmark: as SQL-TS text for the engine, and as truth by row for the loops that it is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Element:
    """`condition` is SQL-TS text, {0} the element; `holds` says the same of prices and those of the rows before."""

    name: str
    is_star: bool
    condition: str
    holds: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A sequence of elements over a table `t` with the columns `day`, which orders it, and `price`."""

    title: str
    elements: tuple[Element, ...]

    def text(self) -> str:
        """The query: one row per match, the first day of each element and the last day of all."""
        days = [f"FIRST({element.name}).day AS {element.name}_day" for element in self.elements]
        names = ", ".join(("*" if element.is_star else "") + element.name for element in self.elements)
        conditions = "\n  AND ".join(element.condition.format(element.name) for element in self.elements)
        last = f"{self.elements[-1].name}.day AS last_day"
        return f"SELECT {', '.join([*days, last])}\nFROM t SEQUENCE BY day AS ({names})\nWHERE {conditions}"

    def truth(self, prices: NDArray[np.float64]) -> NDArray[np.uint8]:
        """By element and row, whether the condition is true; nothing is true of the first row's missing previous one.
        """
        previous = np.append(np.nan, prices[:-1])
        return np.array([element.holds(prices, previous) for element in self.elements], np.uint8)

    def stars(self) -> NDArray[np.uint8]:
        """By element, whether it is a star."""
        return np.array([element.is_star for element in self.elements], np.uint8)

    def with_first_star(self) -> Pattern:
        """The same with a star on the first element."""
        first, *rest = self.elements
        return replace(self, title=f"{self.title}, *{first.name}", elements=(replace(first, is_star=True), *rest))


def _falls(name: str) -> Element:
    return Element(name, True, "{0}.price < 0.98 * {0}.previous.price", lambda price, before: price < 0.98 * before)


def _rises(name: str) -> Element:
    return Element(name, True, "{0}.price > 1.02 * {0}.previous.price", lambda price, before: price > 1.02 * before)


def _is_flat(name: str) -> Element:
    return Element(
        name, True, "0.98 * {0}.previous.price < {0}.price AND {0}.price < 1.02 * {0}.previous.price",
        lambda price, before: (0.98 * before < price) & (price < 1.02 * before),
    )


DOUBLE_BOTTOM = Pattern("relaxed double bottom", (
    Element("X", False, "{0}.price >= 0.98 * {0}.previous.price", lambda price, before: price >= 0.98 * before),
    _falls("Y"), _is_flat("Z"), _rises("T"), _is_flat("U"), _falls("V"), _is_flat("W"), _rises("R"),
    Element("S", False, "{0}.price <= 1.02 * {0}.previous.price", lambda price, before: price <= 1.02 * before),
))
"""Example 10."""

CRASH = Pattern("rise, then a fall to nothing", (
    Element("X", True, "{0}.price > {0}.previous.price", lambda price, before: price > before),
    Element("Y", False, "{0}.price <= 0", lambda price, before: price <= 0),
))
"""(*X, Y). After a run of rises that does not end at nothing, the naive search starts again at each row of the run."""

PEAK = Pattern("rise and fall to nothing", (
    Element("X", True, "{0}.price > {0}.previous.price", lambda price, before: price > before),
    Element("Y", True, "{0}.price < {0}.previous.price", lambda price, before: price < before),
    Element("Z", False, "{0}.price <= 0", lambda price, before: price <= 0),
))
"""(*X, *Y, Z). Each start inside the rise walks the rest of it and all of the fall."""
