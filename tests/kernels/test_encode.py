"""Codes of strings by first appearance, against a dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sparkrex.kernels.encode import encode_strings, find_literals

if TYPE_CHECKING:
    from numpy.typing import NDArray


def encoded(strings: list[bytes | None], begin: int, end: int, kind: type) -> tuple[list[int], list[int]]:
    """Codes from `begin` to `end`, and the first string of each."""
    parts = [string or b"" for string in strings]
    data = b"".join(parts) + bytes(8)
    offsets: NDArray[Any] = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(kind)
    n_bytes = max(8, int(offsets[-1]))
    windows = np.ndarray((n_bytes - 7,), np.uint64, data, strides=(1,))
    has_nulls = None in strings
    nulls = np.array([string is None for string in strings] if has_nulls else [], np.bool_)
    codes = np.full(len(strings), -1)
    firsts = encode_strings(offsets, windows, nulls, begin, end, codes)
    assert (codes[:begin] == -1).all()
    assert (codes[end:] == -1).all()
    return codes[begin:end].tolist(), firsts.tolist()


def expected(strings: list[bytes | None], begin: int, end: int) -> tuple[list[int], list[int]]:
    firsts: dict[bytes | None, int] = {}
    for place in range(begin, end):
        firsts.setdefault(strings[place], place)
    numbers = {string: code for code, string in enumerate(firsts)}
    return [numbers[string] for string in strings[begin:end]], list(firsts.values())


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize(
    "strings",
    [
        [], [b""], [None], [b"", None, b""], [b"a", b"b", b"a"], [b"a", b"a\0", b"a\0\0", b"a"],
        # One to eight bytes are told by their hash, more by their bytes; the last ones are behind the last window.
        [b"12345678", b"123456789", b"12345678", b"123456780", b"123456789"],
        [b"x" * 40 + bytes([i % 3]) for i in range(9)],
    ],
    ids=str,
)
def test_some_strings(strings: list[bytes | None], kind: type) -> None:
    assert encoded(strings, 0, len(strings), kind) == expected(strings, 0, len(strings))


@pytest.mark.parametrize("seed", range(4))
def test_random_strings_and_a_part_of_them(seed: int) -> None:
    generator = np.random.default_rng(seed)
    strings: list[bytes | None] = [
        None if seed % 2 and generator.random() < 0.1
        else bytes(generator.integers(97, 99, generator.integers(0, 14)).astype(np.uint8))
        for _ in range(600)
    ]
    assert encoded(strings, 0, 600, np.int32) == expected(strings, 0, 600)
    assert encoded(strings, 123, 456, np.int32) == expected(strings, 123, 456)


def test_more_strings_than_the_table_begins_with() -> None:
    strings: list[bytes | None] = [f"number {i * 7919 % 9000}".encode() for i in range(12_000)]
    assert encoded(strings, 0, len(strings), np.int32) == expected(strings, 0, len(strings))


@pytest.mark.parametrize("seed", range(3))
def test_literals(seed: int) -> None:
    """Of zero to eight bytes, zero bytes among them, up to the last byte of the data."""
    generator = np.random.default_rng(seed)
    strings = [bytes(generator.integers(0, 2, generator.integers(0, 11)).astype(np.uint8)) for _ in range(300)]
    literals = [b"", b"\0", b"\0\0", *{string for string in strings if len(string) == 8}][:5]
    data = b"".join(strings)
    offsets = np.concatenate([[0], np.cumsum([len(string) for string in strings])]).astype(np.int32)
    windows = np.ndarray((len(data) - 7,), np.uint64, data, strides=(1,))
    words = np.array([int.from_bytes(literal, "little") for literal in literals], np.uint64)
    lengths = np.array([len(literal) for literal in literals], np.int64)
    codes = np.full(290, 255, np.uint8)
    find_literals(offsets, windows, words, lengths, 10, 300, codes)
    assert codes.tolist() == [literals.index(s) + 1 if s in literals else 0 for s in strings[10:]]
    assert (codes > 0).sum() > 30
