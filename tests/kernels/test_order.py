"""Counting and radix sort, against sorted lists."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sparkrex.kernels.order import (
    count_buckets,
    count_descents,
    count_keys,
    join_keys,
    scatter_rows,
    scatter_values,
    scatter_words,
    sort_buckets,
    survey,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LOW, HIGH = -(2**63), 2**63 - 1
WORDS: dict[str, Callable[[np.random.Generator, int], NDArray[np.int64]]] = {
    "small": lambda generator, n: generator.integers(-3, 4, n),
    "seconds in microseconds": lambda generator, n: generator.integers(0, 90, n) * 1_000_000,
    "spread": lambda generator, n: generator.integers(0, 1 << 40, n),
    "two clusters": lambda generator, n: generator.integers(0, 50, n) + (generator.random(n) < 0.5) * (1 << 45),
    "all bits": lambda generator, n: generator.integers(LOW, HIGH, n, endpoint=True),
    "extremes": lambda generator, n: generator.choice(np.array([LOW, LOW + 1, -1, 0, 1, HIGH - 1, HIGH]), n),
    "descending": lambda generator, n: np.arange(n)[::-1].copy(),
    "one value": lambda generator, n: np.full(n, 7),
}
SIZES = [0, 1, 2, 47, 49, 300, 1_500]
"""On both sides of the sizes at which one sort takes over from another."""


def words_of(kind: str, n: int) -> NDArray[np.int64]:
    return WORDS[kind](np.random.default_rng(n), n).astype(np.int64)


@pytest.mark.parametrize("n", [1, 2, 300, 9_000])
@pytest.mark.parametrize("kind", ["small", "extremes"])
def test_survey(kind: str, n: int) -> None:
    values = words_of(kind, n)
    for begin, end in {(0, n), (n // 3, n), (n // 2, n // 2 + 1)}:
        steps = [(int(values[i - 1]), int(values[i])) for i in range(max(begin, 1), end)]
        n_descents, n_ascents = sum(b < a for a, b in steps), sum(b > a for a, b in steps)
        expected = (values[begin:end].min(), values[begin:end].max(), n_descents, n_ascents)
        assert survey(values, begin, end) == expected


@pytest.mark.parametrize("n", [2, 3, 200])
def test_descents_count_within_a_key(n: int) -> None:
    keys, words = words_of("small", n), words_of("extremes", n)
    for begin, end in {(1, n), (n // 2, n)}:
        expected = sum(keys[i - 1] == keys[i] and words[i] < words[i - 1] for i in range(begin, end))
        assert count_descents(keys, words, begin, end) == expected


@pytest.mark.parametrize("n", [0, 1, 200])
def test_keys_are_counted_and_rows_put_in_their_order(n: int) -> None:
    keys = words_of("small", n)
    table = np.zeros((2, 7), np.int64)
    count_keys(keys, -3, 0, n, table)
    counted = Counter(keys.tolist())
    assert table[0].tolist() == [counted[key] for key in range(-3, 4)]
    assert [int(table[1, key + 3]) for key in sorted(counted)] == [keys.tolist().index(key) for key in sorted(counted)]
    places = np.concatenate([[0], np.cumsum(table[0, :-1])])
    order, ordered = np.full(n, -1), np.full(n, -1)
    scatter_rows(keys, -3, places.copy(), 0, n, order)
    scatter_values(keys, -3, places.copy(), 0, n, np.arange(n) * 10, ordered)
    assert order.tolist() == np.argsort(keys, kind="stable").tolist()
    assert ordered.tolist() == (order * 10).tolist()


def test_joined_words_sort_by_the_rank_of_keys_first() -> None:
    keys, words = words_of("small", 200), words_of("descending", 200)
    rank = np.array([4, 0, 6, 2, 5, 1, 3])
    joined = np.empty(200, np.int64)
    join_keys(keys, -3, rank, words, 0, 8, 0, 200, joined)
    assert np.argsort(joined, kind="stable").tolist() == np.lexsort((words, rank[keys + 3])).tolist()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", WORDS)
def test_rows_are_sorted_by_key_and_word_and_ties_stay(kind: str, n: int) -> None:
    words = words_of(kind, n)
    keys = (words_of("small", n) > 0).astype(np.int64) + 5
    low = int(words.min()) if n else 0
    # Key 5 has one bucket; key 6 has one for every value of its leading two bits.
    bits = max(2, (int(words.max()) - low).bit_length()) if n else 2
    key_bucket, key_shift = np.array([0, 1]), np.array([63, bits - 2], np.uint64)
    if bits == 64:
        words, low = words >> 1, low >> 1
        key_shift[1] = 61
    counts = np.zeros(5, np.int64)
    count_buckets(keys, 5, words, low, key_bucket, key_shift, 0, n, counts)
    assert counts.sum() == n
    assert counts[0] == (keys == 5).sum()
    offsets = np.concatenate([[0], np.cumsum(counts)])
    pairs = np.full((n, 2), -1)
    scatter_words(keys, 5, words, low, key_bucket, key_shift, offsets[:-1].copy(), 0, n, pairs)
    order = np.full(n, -1)
    sort_buckets(offsets, 0, 2, pairs, order)
    sort_buckets(offsets, 2, 5, pairs, order)
    assert order.tolist() == np.lexsort((words, keys)).tolist()


@pytest.mark.parametrize("n", [49, 1_500])
@pytest.mark.parametrize("kind", ["all bits", "extremes"])
def test_words_of_64_bits_take_another_round(kind: str, n: int) -> None:
    words = words_of(kind, n)
    pairs = np.stack([words, np.arange(n)], axis=1)
    order = np.full(n, -1)
    sort_buckets(np.array([0, n]), 0, 1, pairs, order)
    assert order.tolist() == np.argsort(words, kind="stable").tolist()
