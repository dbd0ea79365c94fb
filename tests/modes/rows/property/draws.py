"""Where the generator's choices come from: Hypothesis, which can shrink them, or `random`, which is fast.

Options are written simplest first: Hypothesis shrinks towards the first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeVar

from hypothesis import strategies as st

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")


class Draw(ABC):
    """Random choices."""

    @abstractmethod
    def integer(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both possible."""

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """True so many times in a hundred."""
        return self.integer(0, 99) >= 100 - percent

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        """One of the options, each as likely as its weight."""
        number = self.integer(0, sum(weight for weight, _ in options) - 1)
        for weight, option in options:
            if number < weight:
                return option
            number -= weight
        raise AssertionError("weights are not negative")

    def subset(self, options: Sequence[T], percent: int) -> list[T]:
        """Each option with the given chance, in order."""
        return [option for option in options if self.chance(percent)]

    def some(self, options: Sequence[T], least: int, most: int) -> list[T]:
        """Between `least` and `most` different options, in their order."""
        count = self.integer(least, min(most, len(options)))
        rest = list(range(len(options)))
        picked = [rest.pop(self.integer(0, len(rest) - 1)) for _ in range(count)]
        return [options[index] for index in sorted(picked)]


class RandomDraw(Draw):
    """Choices by `random.Random`."""

    def __init__(self, source: random.Random) -> None:
        self._random = source.random

    def integer(self, low: int, high: int) -> int:
        return low + int(self._random() * (high - low + 1))


class BytesDraw(Draw):
    """Choices by the bytes of a string, one each; when they run out, the simplest choice."""

    def __init__(self, choices: bytes) -> None:
        self._choices = iter(choices)

    def integer(self, low: int, high: int) -> int:
        # Monotone in the byte: a smaller byte is a simpler choice, which is how Hypothesis shrinks.
        return low + (next(self._choices, 0) * (high - low + 1) >> 8)


def strategy(generate: Callable[[Draw], T], n_bytes: int = 512) -> SearchStrategy[T]:
    """A generator as a Hypothesis strategy.

    All choices come from one string of bytes, not from a strategy each: Hypothesis likes to copy what it drew in one
    place to others of the same kind, and then half of the queries of a run are repetitions.
    """
    return st.binary(min_size=n_bytes, max_size=n_bytes).map(lambda choices: generate(BytesDraw(choices)))
