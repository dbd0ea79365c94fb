"""Counting and radix sort of rows by partition and order.

A partition key is an int64 per row, equal where the keys are equal; an order is an int64 *word* per row that ascends as
the order does. Rows go into buckets, first by partition, then, where a partition is large, by the leading bits of the
word; then each bucket, which fits a cache, is sorted. Every step is stable. Threads take ranges of rows, each with its
own counts, then ranges of buckets.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.cached import njit

_BLOCK = 4096
"""Rows that stay in the first cache while two loops read them."""
_INSERTION_ROWS = 48
"""Up to so many rows, insertion is the fastest sort."""
_WIDE_DIGIT_ROWS = 1024
"""From so many rows on, three digits of 11 bits beat five of 8."""
_LEADING_BITS = 12
_MOST_SHARING = 4
"""Rows may share their leading bits with so many others on average for insertion to finish the work."""


@njit(cache=True, nogil=True)
def survey(values, begin, end):
    """Least and greatest value of the rows [begin, end), how many are below the row before them, and how many above it.

    Parameters
    ----------
    values : int64 per row
    """
    low = values[begin]
    high = low
    n_descents = np.int64(0)
    n_ascents = np.int64(0)
    for block in range(begin, end, _BLOCK):
        stop = min(block + _BLOCK, end)
        # Slices, and no branches, so that the loops become vector instructions.
        here = values[block:stop]
        for i in range(here.shape[0]):
            low = here[i] if here[i] < low else low
            high = here[i] if here[i] > high else high
        start = block if block > 0 else 1
        before = values[start - 1 : stop - 1]
        after = values[start:stop]
        for i in range(after.shape[0]):
            n_descents += np.int64(after[i] < before[i])
            n_ascents += np.int64(after[i] > before[i])
    return low, high, n_descents, n_ascents


@njit(cache=True, nogil=True)
def count_descents(keys, words, begin, end):
    """How many rows of [begin, end), begin at least 1, have the key of the row before them and a word below its word.

    Parameters
    ----------
    keys, words : int64 per row
    """
    key_before, key_after = keys[begin - 1 : end - 1], keys[begin:end]
    word_before, word_after = words[begin - 1 : end - 1], words[begin:end]
    n_descents = np.int64(0)
    for i in range(key_after.shape[0]):
        n_descents += np.int64((key_before[i] == key_after[i]) & (word_after[i] < word_before[i]))
    return n_descents


@njit(cache=True, nogil=True)
def count_keys(keys, low, begin, end, table):
    """Count the rows of [begin, end) per key, and find the first of each.

    Parameters
    ----------
    keys : int64 per row, at least `low`
    table : int64, 2 x number of keys from `low` on, zero on entry: filled with counts and, if there are any, first rows
    """
    counts, first_rows = table
    for i in range(np.uint64(begin), np.uint64(end)):
        counts[np.uint64(keys[i] - low)] += 1
    n_missing = np.int64(0)
    for key in range(counts.shape[0]):
        n_missing += np.int64(counts[key] > 0)
    # Most keys come early; those that have been seen are marked by the complement of their first row.
    i = begin
    while n_missing > 0:
        key = np.uint64(keys[i] - low)
        if first_rows[key] == 0:
            first_rows[key] = ~i
            n_missing -= 1
        i += 1
    for key in range(counts.shape[0]):
        if counts[key] > 0:
            first_rows[key] = ~first_rows[key]


@njit(cache=True, nogil=True)
def join_keys(keys, key_low, key_rank, words, word_low, word_bits, begin, end, joined):
    """Words that sort the rows [begin, end) by the rank of their keys, then by their words.

    Parameters
    ----------
    keys, words : int64 per row, at least `key_low` and `word_low`; a word less `word_low` has at most `word_bits` bits
    key_rank : int64 per key from `key_low` on, of at most 63 - `word_bits` bits
    joined : int64 per row, filled
    """
    for i in range(begin, end):
        joined[i] = (key_rank[keys[i] - key_low] << word_bits) | (words[i] - word_low)


@njit(cache=True, nogil=True)
def scatter_rows(keys, low, places, begin, end, order):
    """Put the numbers of the rows [begin, end) where their keys go, in input order.

    Parameters
    ----------
    keys : int64 per row, at least `low`
    places : int64 per key from `low` on: the place of the next row, advanced
    order : int64 per row, filled
    """
    for i in range(np.uint64(begin), np.uint64(end)):
        key = np.uint64(keys[i] - low)
        place = np.uint64(places[key])
        places[key] = place + np.uint64(1)
        order[place] = i


@njit(cache=True, nogil=True)
def scatter_values(keys, low, places, begin, end, values, ordered):
    """Put the values of the rows [begin, end) where `scatter_rows` puts their numbers.

    Cheaper than reading them in that order: reads are in sequence, and writes to each group are.

    Parameters
    ----------
    keys, low, places : as for `scatter_rows`
    values : integers of 8 to 64 bits, per row
    ordered : of the same type per row, filled
    """
    for i in range(np.uint64(begin), np.uint64(end)):
        key = np.uint64(keys[i] - low)
        place = np.uint64(places[key])
        places[key] = place + np.uint64(1)
        ordered[place] = values[i]


@njit(cache=True, nogil=True)
def count_buckets(keys, key_low, words, word_low, key_bucket, key_shift, begin, end, counts):
    """Count the rows of [begin, end) per bucket.

    A row's bucket is its key's first one plus the leading bits of its word, those that its key's shift leaves.

    Parameters
    ----------
    keys, words : int64 per row, at least `key_low` and `word_low`
    key_bucket : int64 per key from `key_low` on
    key_shift : uint64 per key, below 64
    counts : int64 per bucket, zero on entry, filled
    """
    origin = np.uint64(word_low)
    for i in range(begin, end):
        key = keys[i] - key_low
        counts[key_bucket[key] + np.int64((np.uint64(words[i]) - origin) >> key_shift[key])] += 1


@njit(cache=True, nogil=True)
def scatter_words(keys, key_low, words, word_low, key_bucket, key_shift, places, begin, end, pairs):
    """Put the rows [begin, end) into their buckets, in input order.

    Parameters
    ----------
    keys, key_low, words, word_low, key_bucket, key_shift : as for `count_buckets`
    places : int64 per bucket: the place of the next row, advanced
    pairs : int64, n_rows x 2, filled with words and row numbers, side by side because each write opens a cache line
    """
    origin = np.uint64(word_low)
    for i in range(begin, end):
        key = keys[i] - key_low
        word = words[i]
        bucket = key_bucket[key] + np.int64((np.uint64(word) - origin) >> key_shift[key])
        place = places[bucket]
        places[bucket] = place + 1
        pairs[place, 0] = word
        pairs[place, 1] = i


@njit(cache=True, nogil=True)
def sort_buckets(bucket_offsets, first, last, pairs, order):
    """Sort the rows of the buckets [first, last) by their words, each bucket for itself; ties stay as they are.

    Parameters
    ----------
    bucket_offsets : int64, n_buckets + 1
    pairs : int64, n_rows x 2: word and number of the row at each place; overwritten
    order : int64 per row, filled at the places of these buckets
    """
    most = 0
    for bucket in range(first, last):
        most = max(most, bucket_offsets[bucket + 1] - bucket_offsets[bucket])
    packed = np.empty(most, np.uint64)
    spare = np.empty(most, np.uint64)
    places = np.empty(most, np.int32)
    counts = np.empty(1 << _LEADING_BITS, np.int64)
    for bucket in range(first, last):
        begin = bucket_offsets[bucket]
        end = bucket_offsets[bucket + 1]
        n_descents = np.int64(0)
        for i in range(begin + 1, end):
            n_descents += np.int64(pairs[i, 0] < pairs[i - 1, 0])
        if n_descents and end - begin > _INSERTION_ROWS:
            _radix_sort(pairs[begin:end, 0], places, packed, spare, counts)
            for i in range(begin, end):
                order[i] = pairs[begin + places[i - begin], 1]
            continue
        if n_descents:
            _insert_pairs(pairs, begin, end)
        for i in range(begin, end):
            order[i] = pairs[i, 1]


@njit(cache=True, nogil=True)
def sort_words(bucket_offsets, first, last, words, places, ordered):
    """The same for words alone, without the rows that they are of.

    Parameters
    ----------
    words : int64 per row
    places : int32 per row, filled: which of its bucket's words stands there when they are sorted
    ordered : int64 per row, filled with the words in that order
    """
    most = 0
    for bucket in range(first, last):
        most = max(most, bucket_offsets[bucket + 1] - bucket_offsets[bucket])
    packed = np.empty(most, np.uint64)
    spare = np.empty(most, np.uint64)
    counts = np.empty(1 << _LEADING_BITS, np.int64)
    for bucket in range(first, last):
        begin = bucket_offsets[bucket]
        end = bucket_offsets[bucket + 1]
        here = words[begin:end]
        own = places[begin:end]
        to = ordered[begin:end]
        if end - begin > _INSERTION_ROWS:
            n_descents = np.int64(0)
            for i in range(1, here.shape[0]):
                n_descents += np.int64(here[i] < here[i - 1])
            if n_descents:
                _radix_sort(here, own, packed, spare, counts)
                for i in range(np.uint64(here.shape[0])):
                    to[i] = here[np.uint64(own[i])]
            else:
                for i in range(here.shape[0]):
                    own[i] = i
                    to[i] = here[i]
            continue
        for i in range(here.shape[0]):
            word = here[i]
            j = i
            while j > 0 and to[j - 1] > word:
                to[j] = to[j - 1]
                own[j] = own[j - 1]
                j -= 1
            to[j] = word
            own[j] = i


@njit(cache=True, nogil=True)
def permute(bucket_offsets, first, last, places, values, ordered):
    """Put the values of the buckets [first, last) in order: `places` are those of `sort_words`."""
    for bucket in range(first, last):
        begin = bucket_offsets[bucket]
        end = bucket_offsets[bucket + 1]
        here = values[begin:end]
        own = places[begin:end]
        to = ordered[begin:end]
        for i in range(np.uint64(here.shape[0])):
            to[i] = here[np.uint64(own[i])]


@njit(cache=True, nogil=True)
def _insert_pairs(pairs, begin, end):
    for i in range(begin + 1, end):
        word = pairs[i, 0]
        row = pairs[i, 1]
        j = i
        while j > begin and pairs[j - 1, 0] > word:
            pairs[j, 0] = pairs[j - 1, 0]
            pairs[j, 1] = pairs[j - 1, 1]
            j -= 1
        pairs[j, 0] = word
        pairs[j, 1] = row


@njit(cache=True, nogil=True)
def _radix_sort(words, places, packed, spare, counts):
    """Fill `places` with the places of one bucket's words, by word.

    A row is packed into 64 bits: its place in the bucket, and above it the bits of its word that are not common to all.
    Where these are spread evenly, one pass over their leading bits leaves little to insertion; otherwise all digits are
    sorted, least significant first. Words too wide for one round take another with their upper bits.
    """
    n_rows = words.shape[0]
    low = words[0]
    high = low
    differing = np.int64(0)
    for i in range(n_rows):
        word = words[i]
        low = word if word < low else low
        high = word if word > high else high
        differing |= word ^ words[0]
    origin = np.uint64(low)
    word_bits = _n_bits(np.uint64(high) - origin)
    place_bits = _n_bits(np.uint64(n_rows - 1))
    place_mask = (np.uint64(1) << np.uint64(place_bits)) - np.uint64(1)
    # Trailing zeros common to all, such as whole seconds in microseconds leave, need no sorting.
    done = 0
    while not (differing >> done) & 1:
        done += 1
    is_first = True
    while done < word_bits:
        round_bits = min(word_bits - done, 64 - place_bits)
        round_mask = (~np.uint64(0)) >> np.uint64(64 - round_bits)
        for i in range(n_rows):
            place = np.uint64(i) if is_first else packed[i] & place_mask
            word = np.uint64(words[np.int64(place)]) - origin
            packed[i] = (((word >> np.uint64(done)) & round_mask) << np.uint64(place_bits)) | place
        # Insertion compares places too: right only if places ascend within equal words, as they do in a first round.
        if not (is_first and _sort_by_leading_bits(packed, spare, counts, n_rows, place_bits, round_bits)):
            _sort_by_digits(packed, spare, counts, n_rows, place_bits, round_bits)
        is_first = False
        done += round_bits
    for i in range(n_rows):
        places[i] = np.int32(packed[i] & place_mask)


@njit(cache=True, nogil=True)
def _sort_by_leading_bits(packed, spare, counts, n_rows, first_bit, n_bits):
    """Sort by the leading bits, then by insertion; return False and do nothing if too many rows share them."""
    leading = min(_LEADING_BITS, _n_bits(np.uint64(n_rows)), n_bits)
    shift = np.uint64(first_bit + n_bits - leading)
    counts[: 1 << leading] = 0
    for i in range(n_rows):
        counts[np.int64(packed[i] >> shift)] += 1
    sharing = np.int64(0)
    total = np.int64(0)
    for value in range(1 << leading):
        count = counts[value]
        counts[value] = total
        total += count
        sharing += count * count
    if sharing > (_MOST_SHARING + 1) * n_rows:
        return False
    for i in range(n_rows):
        value = np.int64(packed[i] >> shift)
        spare[counts[value]] = packed[i]
        counts[value] += 1
    packed[0] = spare[0]
    for i in range(1, n_rows):
        value = spare[i]
        j = i
        while j > 0 and packed[j - 1] > value:
            packed[j] = packed[j - 1]
            j -= 1
        packed[j] = value
    return True


@njit(cache=True, nogil=True)
def _sort_by_digits(packed, spare, counts, n_rows, first_bit, n_bits):
    """Sort by the bits [first_bit, first_bit + n_bits), least significant digits first."""
    widest = 11 if n_rows >= _WIDE_DIGIT_ROWS else 8
    n_digits = (n_bits + widest - 1) // widest
    digit_bits = (n_bits + n_digits - 1) // n_digits
    digit_mask = (np.uint64(1) << np.uint64(digit_bits)) - np.uint64(1)
    source, target = packed, spare
    for digit in range(n_digits):
        shift = np.uint64(first_bit + digit * digit_bits)
        counts[: 1 << digit_bits] = 0
        for i in range(n_rows):
            counts[np.int64((source[i] >> shift) & digit_mask)] += 1
        total = np.int64(0)
        for value in range(1 << digit_bits):
            count = counts[value]
            counts[value] = total
            total += count
        for i in range(n_rows):
            value = np.int64((source[i] >> shift) & digit_mask)
            target[counts[value]] = source[i]
            counts[value] += 1
        source, target = target, source
    if n_digits % 2:
        packed[:n_rows] = spare[:n_rows]


@njit(cache=True, nogil=True)
def _n_bits(value):
    """Bits that a uint64 needs."""
    n_bits = 0
    while value:
        value >>= np.uint64(1)
        n_bits += 1
    return n_bits
