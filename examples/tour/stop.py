"""What a stop of the tour is: data with planted answers, a query, and how its result is read and drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import pyarrow as pa

    Answer = tuple[Any, ...]

SEED = 7


@dataclass(frozen=True)
class Scene:
    """Rows with something planted in them."""

    table: pa.Table
    # What the query must find, all of it and nothing else.
    planted: list[Answer]
    # The partitions that are drawn.
    shown: list[str]
    # Where the rows of a stream are cut into files, which arrive one after the other.
    cuts: tuple[datetime, ...] = ()


@dataclass(frozen=True)
class Stop:
    """One way to ask. `find` is the call as anybody would write it; tables and Spark DataFrames go through it alike."""

    title: str
    # What the mode is for, what was planted, and what was put beside it to mislead.
    about: str
    decoys: str
    query: str
    # The column that tells partitions apart, and how many of them a tour has.
    key: str
    n_keys: int
    plant: Callable[[np.random.Generator, int], Scene]
    find: Callable[[Any], Any]
    # The answers in a result, in the form in which they were planted.
    answers: Callable[[pa.Table], list[Answer]]
    # The picture of some partitions: their rows, and what was found in them, by rex.plot.
    draw: Callable[[pa.Table, pa.Table], Any]
    # A page of docs/ on the mode.
    page: str

    def scene(self, n_keys: int | None = None) -> Scene:
        """The data of this stop, the same on every machine."""
        return self.plant(np.random.default_rng(SEED), n_keys or self.n_keys)


@dataclass(frozen=True)
class Score:
    """How the answers compare with what was planted. Each counts as often as it comes."""

    n_planted: int
    n_found: int
    n_others: int

    @property
    def is_right(self) -> bool:
        return self.n_found == self.n_planted and self.n_others == 0

    def __str__(self) -> str:
        others = f"{self.n_others:,} {'other' if self.n_others == 1 else 'others'}" if self.n_others else "nothing else"
        return f"found {self.n_found:,} of {self.n_planted:,} planted, {others}"


def compare(planted: list[Answer], answers: list[Answer]) -> Score:
    """Count the planted answers that were found, and the answers that nobody planted."""
    wanted, given = Counter(planted), Counter(answers)
    return Score(wanted.total(), (wanted & given).total(), (given - wanted).total())
