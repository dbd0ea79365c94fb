"""The prioritised search: any frame."""

from __future__ import annotations

import pytest
from tests.modes.windows.kernels.letters import PATTERNS, SKIPS, by_definition, by_search, drawn, same


@pytest.mark.parametrize("ahead", [None, 0, 3])
@pytest.mark.parametrize("is_seek", [False, True])
def test_search_frames(ahead: int | None, is_seek: bool) -> None:
    for seed, pattern in enumerate(PATTERNS):
        for skip in SKIPS:
            text = drawn(seed + 50)
            ends = [min(len(text) - 1, row + (len(text) if ahead is None else ahead)) for row in range(len(text))]
            expected = by_definition(pattern, text, skip, ends, is_seek=is_seek)
            end = "UNBOUNDED" if ahead is None else str(ahead)
            found = by_search(pattern, text, skip, end, "backtrack", "compiled", is_seek=is_seek)
            assert same(found, expected), (pattern, text, skip)
