"""Partitions and order of many rows by counting and radix sort, on threads.

What is in order already is found by looking, and then not sorted: rows that lie as they should are not moved; where
only the partitions are mixed, one pass puts the rows of each together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.keys import encoded, read_only
from sparkrex.threads import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.columns.keys import Pieces

_TABLE_ENTRIES = 1 << 16
"""A table with one entry per possible key may have so many entries, or as many as there are rows."""
_BUCKET_ROWS = 1 << 13
"""So many rows fit the second cache while they are sorted."""
_SCATTER_GROUPS = 1 << 14
"""Into more groups than this, rows are not scattered one by one: each write would miss the caches."""

SCATTERED = (1, 8)
"""Bytes of values that there are compiled scatters for."""


@dataclass(frozen=True, eq=False, slots=True)
class _Groups:
    """Keys from `low` on, in a table with one entry for each; groups are the keys that occur, by first appearance."""

    keys: NDArray[np.int64]
    low: int
    group_key: NDArray[np.int64]
    """The table's entry of each group."""
    piece_counts: NDArray[np.int64]
    """Rows per piece and table entry."""
    n_runs: int
    """Runs of rows with equal keys: as many as groups if the rows of each group lie together."""
    first_rows: NDArray[np.int64]
    """The first row of each group."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Rows per group."""
        sizes: NDArray[np.int64] = self.piece_counts.sum(axis=0)[self.group_key]
        return sizes


@dataclass(frozen=True, eq=False)
class Scatter:
    """How the rows of each group are put together, in order: the columns are, and the rows' numbers if asked for.

    What lies far apart is written group by group, in sequence; then each group, which fits a cache, is put in order.
    """

    groups: _Groups
    places: NDArray[np.int64]
    """Where each piece puts its first row of each key."""
    pieces: Pieces
    within: _Within | None = None
    """How the rows of each group are put in order behind that; None: they are in order."""

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The row at each position."""
        together = _order_by_group(self)
        return together if self.within is None else self.within.put(together)

    def put(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values in order; each has so many bytes as `SCATTERED` lists."""
        together = self.put_together(values)
        return together if self.within is None else self.within.put(together)

    def put_together(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of each group together, in input order."""
        from sparkrex.kernels.order import scatter_values

        source = read_only(values).view(f"i{values.dtype.itemsize}")
        ordered = np.empty(len(values), source.dtype)
        places = dict(zip(self.pieces, self.places.copy(), strict=True))
        keys, low = self.groups.keys, self.groups.low
        spread(
            lambda begin, end: scatter_values(keys, low, places[begin, end], begin, end, source, ordered), self.pieces
        )
        return ordered.view(values.dtype)


@dataclass(frozen=True, eq=False, slots=True)
class _Within:
    """The order of the rows of each group: `places` says which of them stands at each position."""

    places: NDArray[np.int32]
    offsets: NDArray[np.int64]
    group_pieces: Pieces

    def put(self, together: NDArray[Any]) -> NDArray[Any]:
        """Values in order that `Scatter.put_together` has put together."""
        from sparkrex.kernels.order import permute

        source = together.view(f"i{together.dtype.itemsize}")
        ordered = np.empty(len(source), source.dtype)
        spread(
            lambda first, last: permute(self.offsets, first, last, self.places, source, ordered), self.group_pieces
        )
        return ordered.view(together.dtype)


@dataclass(frozen=True, eq=False, slots=True)
class Counted:
    """Order, partition offsets, and the scatter that makes the order, if one does; neither if rows are in order."""

    order: NDArray[np.int64] | None
    offsets: NDArray[np.int64]
    scatter: Scatter | None = None
    words: NDArray[np.int64] | None = None
    """The words in order, if there was a single one for each row and they were sorted by group."""


def arrange_by_counting(
    keys: NDArray[np.int64] | None, words: list[NDArray[np.int64]], n_rows: int, pieces: Pieces
) -> Counted:
    """Order and partition offsets of at least two rows."""
    word = _single_word(words, pieces)
    survey = None if word is None else _survey_values(word, pieces)
    if keys is None:
        whole = np.array([0, n_rows], np.int64)
        if word is None or survey is None or not survey.n_descents:
            return Counted(None, whole)
        return Counted(_order_by_word(_one_group(n_rows, pieces), word, survey, whole, pieces), whole)
    groups = _group_rows(keys, pieces)
    offsets = np.concatenate(([0], np.cumsum(groups.sizes))).astype(np.int64)
    lie_together = groups.n_runs == len(groups.group_key)
    if word is None or survey is None or not survey.n_descents:
        if lie_together:
            return Counted(None, offsets)
        scatter = _scatter(groups, offsets, pieces)
        # Into many groups writes miss the caches as reads do.
        if len(groups.group_key) <= _SCATTER_GROUPS:
            return Counted(None, offsets, scatter)
        return Counted(scatter.order, offsets)
    if lie_together and not _descents_within_runs(groups.keys, word, pieces):
        return Counted(None, offsets)
    if len(groups.group_key) > _SCATTER_GROUPS:
        word, survey = _combine_words(groups, word, survey, pieces)
        groups, whole = _one_group(n_rows, pieces), np.array([0, n_rows], np.int64)
        return Counted(_order_by_word(groups, word, survey, whole, pieces), offsets)
    if int(groups.sizes.max()) < 4 * _BUCKET_ROWS:
        return _sort_groups(groups, word, offsets, pieces)
    return Counted(_order_by_word(groups, word, survey, offsets, pieces), offsets)


@dataclass(frozen=True, slots=True)
class _Survey:
    low: int
    high: int
    n_descents: int
    n_ascents: int


def _survey_values(values: NDArray[np.int64], pieces: Pieces) -> _Survey:
    from sparkrex.kernels.order import survey

    values = read_only(values)
    parts = spread(lambda begin, end: survey(values, begin, end), pieces)
    lows, highs, descents, ascents = zip(*parts, strict=True)
    return _Survey(int(min(lows)), int(max(highs)), int(sum(descents)), int(sum(ascents)))


def _group_rows(keys: NDArray[np.int64], pieces: Pieces) -> _Groups:
    keys, low, counted, n_runs = _count_keys(keys, pieces)
    opens = np.zeros(len(keys), np.bool_)
    opens[_first_rows(counted)] = True
    piece_counts = np.ascontiguousarray(counted[:, 0])
    first = np.flatnonzero(opens)
    return _Groups(keys, low, keys[first] - low, piece_counts, n_runs, first)


def first_rows(keys: NDArray[np.int64], pieces: Pieces) -> NDArray[np.int64]:
    """The first row of every key, in no order."""
    _, _, counted, _ = _count_keys(keys, pieces)
    return _first_rows(counted)


def _count_keys(
    keys: NDArray[np.int64], pieces: Pieces
) -> tuple[NDArray[np.int64], int, NDArray[np.int64], int]:
    """Keys in a narrow range, its first number, by piece and key the rows and the first of them, and runs of rows."""
    from sparkrex.kernels.order import count_keys

    keys = read_only(keys)
    survey = _survey_values(keys, pieces)
    n_runs = survey.n_ascents + survey.n_descents + 1
    low, n_entries = survey.low, survey.high - survey.low + 1
    if n_entries > max(len(keys), _TABLE_ENTRIES):
        # Keys in order need no hashing: each run is a group.
        is_monotonic = not survey.n_ascents or not survey.n_descents
        keys = read_only(_run_numbers(keys) if is_monotonic else encoded(pa.array(keys), pieces))
        low, n_entries = 0, n_runs if is_monotonic else int(keys.max()) + 1
    counted = np.zeros((len(pieces), 2, n_entries), np.int64)
    tables = dict(zip(pieces, counted, strict=True))
    spread(lambda begin, end: count_keys(keys, low, begin, end, tables[begin, end]), pieces)
    return keys, low, counted, n_runs


def _first_rows(counted: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first row of every key that occurs, by what `_count_keys` has counted."""
    found = []
    is_new = np.ones(counted.shape[2], np.bool_)
    for counts, rows in counted:
        occurs = counts > 0
        found.append(rows[is_new & occurs])
        is_new &= ~occurs
    return np.concatenate(found)


def _one_group(n_rows: int, pieces: Pieces) -> _Groups:
    piece_counts = np.array([[end - begin] for begin, end in pieces], np.int64)
    zero = np.zeros(1, np.int64)
    return _Groups(read_only(np.zeros(n_rows, np.int64)), 0, zero, piece_counts, 1, zero)


def _combine_words(
    groups: _Groups, word: NDArray[np.int64], survey: _Survey, pieces: Pieces
) -> tuple[NDArray[np.int64], _Survey]:
    """Words that sort all rows by group and word."""
    from sparkrex.kernels.order import join_keys

    n_groups = len(groups.group_key)
    if n_groups.bit_length() + (survey.high - survey.low).bit_length() > 63:
        word = _ranks(word, survey, pieces)
        survey = _survey_values(word, pieces)
    word = read_only(word)
    word_bits = (survey.high - survey.low).bit_length()
    ranks = np.zeros(groups.piece_counts.shape[1], np.int64)
    ranks[groups.group_key] = np.arange(n_groups)
    joined = np.empty(len(word), np.int64)
    reading = (groups.keys, groups.low, ranks, word, survey.low, word_bits)
    spread(lambda begin, end: join_keys(*reading, begin, end, joined), pieces)
    return joined, _Survey(0, (n_groups << word_bits) - 1, 1, 1)


def _run_numbers(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    changes = np.zeros(len(keys), np.int64)
    np.not_equal(keys[1:], keys[:-1], out=changes[1:], casting="unsafe")
    return np.cumsum(changes, out=changes)


def _descents_within_runs(keys: NDArray[np.int64], word: NDArray[np.int64], pieces: Pieces) -> bool:
    from sparkrex.kernels.order import count_descents

    word = read_only(word)
    return any(spread(lambda begin, end: count_descents(keys, word, max(begin, 1), end), pieces))


def _scatter(groups: _Groups, offsets: NDArray[np.int64], pieces: Pieces) -> Scatter:
    starts = np.zeros(groups.piece_counts.shape[1], np.int64)
    starts[groups.group_key] = offsets[:-1]
    return Scatter(groups, _places(starts, groups.piece_counts), pieces)


def _sort_groups(
    groups: _Groups, word: NDArray[np.int64], offsets: NDArray[np.int64], pieces: Pieces
) -> Counted:
    """Rows of groups that each fit a cache, sorted by word."""
    from sparkrex.kernels.order import sort_words

    together = _scatter(groups, offsets, pieces)
    words = together.put_together(word)
    places, ordered = np.empty(len(word), np.int32), np.empty(len(word), np.int64)
    group_pieces = _pieces_of_buckets(offsets, pieces)
    spread(lambda first, last: sort_words(offsets, first, last, words, places, ordered), group_pieces)
    within = _Within(places, offsets, group_pieces)
    return Counted(None, offsets, replace(together, within=within), ordered)


def _pieces_of_buckets(bucket_offsets: NDArray[np.int64], pieces: Pieces) -> list[tuple[int, int]]:
    """Ranges of buckets with about as many rows as the pieces have."""
    cuts = np.searchsorted(bucket_offsets, [end for _, end in pieces]).tolist()
    return list(zip([0, *cuts[:-1]], cuts, strict=True))


def _order_by_group(scatter: Scatter) -> NDArray[np.int64]:
    """Rows of each group together, in input order."""
    from sparkrex.kernels.order import scatter_rows

    keys, low = scatter.groups.keys, scatter.groups.low
    places = dict(zip(scatter.pieces, scatter.places.copy(), strict=True))
    order = np.empty(len(keys), np.int64)
    spread(lambda begin, end: scatter_rows(keys, low, places[begin, end], begin, end, order), scatter.pieces)
    return order


def _places(starts: NDArray[np.int64], piece_counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each piece puts the first row of each entry: after those of the pieces before it."""
    places = np.cumsum(piece_counts, axis=0)
    places -= piece_counts
    places += starts
    return places


def _order_by_word(
    groups: _Groups, word: NDArray[np.int64], survey: _Survey, offsets: NDArray[np.int64], pieces: Pieces
) -> NDArray[np.int64]:
    """Rows of each group together, sorted by word."""
    from sparkrex.kernels.order import count_buckets, scatter_words, sort_buckets

    n_rows = len(word)
    word = read_only(word)
    group_shift, group_buckets = _bucket_layout(groups.sizes, survey.high - survey.low)
    n_buckets = int(group_buckets.sum())
    key_bucket = np.zeros(groups.piece_counts.shape[1], np.int64)
    key_bucket[groups.group_key] = np.cumsum(group_buckets) - group_buckets
    key_shift = np.zeros(len(key_bucket), np.uint64)
    key_shift[groups.group_key] = group_shift
    reading = (groups.keys, groups.low, word, survey.low, key_bucket, key_shift)
    if n_buckets == len(groups.group_key):
        piece_counts = groups.piece_counts[:, groups.group_key]
        bucket_offsets = offsets
    else:
        piece_counts = np.zeros((len(pieces), n_buckets), np.int64)
        tables = dict(zip(pieces, piece_counts, strict=True))
        spread(lambda begin, end: count_buckets(*reading, begin, end, tables[begin, end]), pieces)
        bucket_offsets = np.concatenate(([0], np.cumsum(piece_counts.sum(axis=0)))).astype(np.int64)
    places = dict(zip(pieces, _places(bucket_offsets[:-1], piece_counts), strict=True))
    pairs = np.empty((n_rows, 2), np.int64)
    spread(lambda begin, end: scatter_words(*reading, places[begin, end], begin, end, pairs), pieces)
    order = np.empty(n_rows, np.int64)
    bucket_pieces = _pieces_of_buckets(bucket_offsets, pieces)
    spread(lambda first, last: sort_buckets(bucket_offsets, first, last, pairs, order), bucket_pieces)
    return order


def _bucket_layout(sizes: NDArray[np.int64], word_range: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """How far each group shifts words to get a bucket's number, and how many buckets that gives it."""
    parts = sizes // _BUCKET_ROWS
    # A group that is not much larger than a bucket is one.
    leading_bits = np.where(parts < 4, 0, np.ceil(np.log2(np.maximum(parts, 1)))).astype(np.int64)
    shift = np.clip(word_range.bit_length() - leading_bits, 0, 63).astype(np.uint64)
    return shift, ((np.uint64(word_range) >> shift) + np.uint64(1)).astype(np.int64)


def _single_word(words: list[NDArray[np.int64]], pieces: Pieces) -> NDArray[np.int64] | None:
    """One word that ascends as these do, one after the other."""
    if len(words) <= 1:
        return words[0] if words else None
    surveys = [_survey_values(word, pieces) for word in words]
    if sum((survey.high - survey.low).bit_length() for survey in surveys) > 63:
        # Ranks are below the number of rows, so any two fit; more than two are joined two at a time.
        last = _ranks(words[-1], surveys[-1], pieces)
        if len(words) == 2:
            words = [_ranks(words[0], surveys[0], pieces), last]
        else:
            joined = _single_word([words[-2], last], pieces)
            assert joined is not None  # only no words give none
            words = [*words[:-2], joined]
        return _single_word(words, pieces)
    result = np.zeros(len(words[0]), np.int64)

    def join(begin: int, end: int) -> None:
        for word, survey in zip(words, surveys, strict=True):
            result[begin:end] <<= (survey.high - survey.low).bit_length()
            result[begin:end] |= word[begin:end] - survey.low

    spread(join, pieces)
    return result


def _ranks(word: NDArray[np.int64], survey: _Survey, pieces: Pieces) -> NDArray[np.int64]:
    """Dense ranks of one word."""
    whole = np.array([0, len(word)], np.int64)
    order = _order_by_word(_one_group(len(word), pieces), word, survey, whole, pieces)
    ranks = np.empty(len(word), np.int64)
    ranks[order] = _run_numbers(word[order])
    return ranks
