"""The walk along states: frames that end with the partition."""

from __future__ import annotations

import pytest
from tests.modes.windows.kernels.letters import PATTERNS, SKIPS, by_definition, by_search, drawn, same


@pytest.mark.parametrize("form", ["interpreted", "compiled"])
@pytest.mark.parametrize("is_seek", [False, True])
def test_walk_frames(form: str, is_seek: bool) -> None:
    for seed, pattern in enumerate(PATTERNS):
        for skip in SKIPS:
            text = drawn(seed)
            expected = by_definition(pattern, text, skip, [len(text) - 1] * len(text), is_seek=is_seek)
            found = by_search(pattern, text, skip, "UNBOUNDED", "automaton", form, is_seek=is_seek)
            assert same(found, expected), (pattern, text, skip)
