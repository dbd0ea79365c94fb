"""Matches as paths of a forest: the same as by walking along them."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from tests.modes.windows.kernels.letters import PATTERNS, SKIPS, by_definition, by_search, drawn, same

from sparkrex.modes.windows import automaton
from sparkrex.modes.windows.kernels.forest import find_nodes, labels_of

NODES = np.array([[0, 0, 1], [1, 2, 2], [2, 0, -1], [0, 2, 1]], np.int64)
"""The path 0, 1, 2 with labels 0, 2, 0, and another node in front of 1."""
RUNS = np.array([0, 3, 4], np.int64)
IS_MEMBER = np.array([True, True, False, False])


@pytest.mark.parametrize("form", ["interpreted", "compiled"])
@pytest.mark.parametrize("is_seek", [False, True])
def test_plant(form: str, is_seek: bool) -> None:
    with patch.object(automaton, "LONG", -1):
        for seed, pattern in enumerate(PATTERNS):
            for skip in SKIPS:
                text = drawn(seed + 100)
                expected = by_definition(pattern, text, skip, [len(text) - 1] * len(text), is_seek=is_seek)
                found = by_search(pattern, text, skip, "UNBOUNDED", "automaton", form, is_seek=is_seek)
                assert same(found, expected), (pattern, text, skip)


@pytest.mark.parametrize(
    ("from_first", "offset", "expected"),
    [(True, 0, [0, 2, 2, 2]), (True, 1, [2, -1, -1, -1]), (False, 0, [2, 2, 2, 2]), (False, 1, [0, -1, -1, -1])],
)
def test_find_nodes(from_first: bool, offset: int, expected: list[int]) -> None:
    assert find_nodes(NODES, RUNS, IS_MEMBER, from_first, offset).tolist() == expected


def test_labels_of() -> None:
    labels = np.empty(6, np.int16)
    labels_of(NODES, np.array([0, 3]), np.array([0, 3]), labels)
    assert labels.tolist() == [0, 2, 0, 2, 2, 0]
