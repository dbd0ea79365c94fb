"""Codes of strings, numbered by first appearance, by a hash table over their bytes.

Bytes are read eight at a time: `windows[p]` is the eight bytes from byte p on, whatever its alignment. Equal hashes are
never taken for equal strings.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.cached import njit

_FIRST_SLOTS = 4096
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def encode_strings(offsets, windows, nulls, begin, end, codes):
    """Give the strings [begin, end) codes from 0 on; NULL, if there is any, has one of its own.

    Parameters
    ----------
    offsets : int32 or int64, n_strings + 1: where in the bytes each begins
    windows : uint64 per byte but the last seven; there are eight bytes at least
    nulls : bool per string, or empty if none is NULL
    codes : int64 per string, filled from `begin` to `end`

    Returns the first string of each code, int64.
    """
    n_slots = _FIRST_SLOTS
    # A slot is a hash, and above four bits for the length a code + 1, so that zeros are empty.
    slots = np.zeros((n_slots, 2), np.uint64)
    firsts = np.empty(n_slots, np.int64)
    n_codes = 0
    null_code = -1
    for i in range(begin, end):
        if nulls.shape[0] and nulls[i]:
            if null_code < 0:
                null_code = n_codes
                firsts[n_codes] = i
                n_codes += 1
            codes[i] = null_code
            continue
        start = np.int64(offsets[i])
        length = np.int64(offsets[i + 1]) - start
        hash_ = _hash(windows, start, length)
        slot = _first_slot(hash_, n_slots)
        while True:
            entry = np.int64(slots[slot, 1])
            code = (entry >> 4) - 1
            if code < 0:
                code = n_codes
                firsts[code] = i
                n_codes += 1
                slots[slot, 0] = hash_
                slots[slot, 1] = (n_codes << 4) | min(length, 9)
                if 2 * n_codes >= n_slots:
                    n_slots *= 4
                    slots = _rehash(slots, n_slots)
                    larger = np.empty(n_slots, np.int64)
                    larger[:n_codes] = firsts[:n_codes]
                    firsts = larger
                break
            if slots[slot, 0] == hash_ and entry & 15 == min(length, 9):
                # Up to eight bytes, strings of one length have different hashes: each step of `_hash` can be undone.
                if length <= 8:
                    break
                first = firsts[code]
                other = np.int64(offsets[first])
                if np.int64(offsets[first + 1]) - other == length and _is_equal(windows, start, other, length):
                    break
            slot = (slot + 1) & (n_slots - 1)
        codes[i] = code
    return firsts[:n_codes].copy()


@njit(cache=True, nogil=True)
def find_literals(offsets, windows, words, lengths, begin, end, codes):
    """Say of the strings [begin, end) which of a few short literals each is.

    Parameters
    ----------
    offsets, windows : as for `encode_strings`
    words, lengths : uint64 and int64 per literal: its bytes, at most eight, as a number, and how many there are
    codes : uint8 per string from `begin` on, filled: the number of its literal, from 1 on, or 0
    """
    last = windows.shape[0] - 1
    ones = ~np.uint64(0)
    for i in range(begin, end):
        start = np.int64(offsets[i])
        length = np.int64(offsets[i + 1]) - start
        code = 0
        if 0 < length <= 8:
            window = windows[start] if start <= last else windows[last] >> np.uint64(8 * (start - last))
            word = window & (ones >> np.uint64(64 - 8 * length))
            for k in range(words.shape[0]):
                code += (k + 1) * np.int64((words[k] == word) & (lengths[k] == length))
        elif length == 0:
            for k in range(words.shape[0]):
                code += (k + 1) * np.int64(lengths[k] == 0)
        codes[i - begin] = code


@njit(cache=True, nogil=True)
def _bytes_at(windows, position, n_bytes):
    """One to eight bytes as a number; those behind them are not read, or cut off."""
    last = windows.shape[0] - 1
    window = windows[position] if position <= last else windows[last] >> np.uint64(8 * (position - last))
    return window & ((~np.uint64(0)) >> np.uint64(64 - 8 * n_bytes))


@njit(cache=True, nogil=True)
def _hash(windows, start, length):
    hash_ = np.uint64(length) * _FACTOR
    position = start
    stop = start + length
    while position < stop:
        hash_ = (hash_ ^ _bytes_at(windows, position, min(stop - position, 8))) * _FACTOR
        hash_ ^= hash_ >> np.uint64(32)
        position += 8
    return hash_


@njit(cache=True, nogil=True)
def _first_slot(hash_, n_slots):
    """From the middle of a product, where the bits of all bytes meet; the lowest see only the first bytes."""
    return np.int64((hash_ * _FACTOR) >> np.uint64(32)) & (n_slots - 1)


@njit(cache=True, nogil=True)
def _is_equal(windows, left, right, length):
    for done in range(0, length, 8):
        n_bytes = min(length - done, 8)
        if _bytes_at(windows, left + done, n_bytes) != _bytes_at(windows, right + done, n_bytes):
            return False
    return True


@njit(cache=True, nogil=True)
def _rehash(slots, n_slots):
    result = np.zeros((n_slots, 2), np.uint64)
    for i in range(slots.shape[0]):
        if slots[i, 1]:
            slot = _first_slot(slots[i, 0], n_slots)
            while result[slot, 1]:
                slot = (slot + 1) & (n_slots - 1)
            result[slot] = slots[i]
    return result
