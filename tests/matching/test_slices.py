"""Work over matches is done in slices that cover every match once, however long matches are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex import threads
from sparkrex.threads import spread_slices

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.mark.parametrize("lengths", [[], [1], [0, 0], [25], [3, 4, 3, 9, 1, 0, 0, 11, 2], [10, 10, 10], [0, 30, 0, 0]])
@pytest.mark.parametrize("cut", [0, 2])
def test_slices_cover_every_match_once(monkeypatch: pytest.MonkeyPatch, lengths: Sequence[int], cut: int) -> None:
    monkeypatch.setattr(threads, "SLICE", 10)
    offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    n_matches = len(lengths)
    pieces = [(0, n_matches)] if not 0 < cut < n_matches else [(0, cut), (cut, n_matches)]
    found: list[tuple[int, int]] = []
    spread_slices(lambda begin, end: found.append((begin, end)), pieces, offsets)
    assert sorted(match for begin, end in found for match in range(begin, end)) == list(range(n_matches))
    # None is longer than a slice but one of a single long match, with empty ones behind it at most.
    for begin, end in found:
        assert begin < end
        assert offsets[end] - offsets[begin] <= 10 or end == begin + 1


def test_aggregates_in_slices_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"ts": range(300), "x": [(7 * n) % 13 for n in range(300)]})
    clauses = [
        f"""ORDER BY ts MEASURES sum(x) AS s, stddev(x) AS d, max(A.x) AS m, count(B.x) AS n {rows}
            AFTER MATCH SKIP TO NEXT ROW PATTERN ((A | B){{1,20}}) DEFINE A AS x % 2 = 0"""
        for rows in ("", "ALL ROWS PER MATCH")
    ]
    whole = [rex.match(clause)(table) for clause in clauses]
    monkeypatch.setattr(threads, "SLICE", 50)
    assert [rex.match(clause)(table) for clause in clauses] == whole
