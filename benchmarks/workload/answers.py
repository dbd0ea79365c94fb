"""What a workload found, pattern by pattern: how many matches, and a sum over them that a wrong event would change."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class Answer(NamedTuple):
    """Of one pattern."""

    n_matches: int
    checksum: int


Answers = dict[str, Answer]


def answers_of(found: pa.Table, names: Iterable[str], keys: tuple[str, ...] = ()) -> Answers:
    """The answer of every pattern, in whatever order rows and matches are.

    Matches are numbered by pattern and, with keys, by partition.
    """
    answers = dict.fromkeys(names, Answer(0, 0))
    if not found.num_rows:
        return answers
    pattern, pattern_names = _codes(found, "pattern")
    variable, variable_names = _codes(found, "variable")
    hashes = np.array([crc32(name.encode()) for name in variable_names], np.uint64)
    events = _mixed(found.column("id").to_numpy().astype(np.uint64) * _FIRST + hashes[variable])
    columns = [found.column("match_id").to_numpy(), *(found.column(key).to_numpy() for key in keys), pattern]
    order = np.lexsort(columns)
    is_first = np.concatenate(([True], np.any([np.diff(column[order]) != 0 for column in columns], axis=0)))
    first = np.flatnonzero(is_first)
    matches = _mixed(np.add.reduceat(events[order], first))
    match_pattern = pattern[order][first]
    bounds = np.searchsorted(match_pattern, np.arange(len(pattern_names) + 1))
    for code, name in enumerate(pattern_names):
        own = matches[bounds[code] : bounds[code + 1]]
        answers[name] = Answer(len(own), int(own.sum(dtype=np.uint64)))
    return answers


def difference(one: Answers, other: Answers) -> str | None:
    """The first pattern whose answers differ, in words."""
    for name, answer in one.items():
        if other[name] != answer:
            return f"{name} has {answer.n_matches:,} and {other[name].n_matches:,} matches, or others"
    return None


def total(answers: Answers) -> int:
    """The matches of all patterns."""
    return sum(answer.n_matches for answer in answers.values())


def share_matched(answers: Answers) -> float:
    """The share of patterns that have a match."""
    return sum(answer.n_matches > 0 for answer in answers.values()) / len(answers)


def _codes(found: pa.Table, name: str) -> tuple[NDArray[np.int64], list[str]]:
    column = found.column(name).combine_chunks()
    column = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
    return column.indices.to_numpy().astype(np.int64), column.dictionary.to_pylist()


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Bits spread over all places, so that sums of different values differ."""
    values = (values ^ (values >> np.uint64(29))) * _SECOND
    return values ^ (values >> np.uint64(32))
