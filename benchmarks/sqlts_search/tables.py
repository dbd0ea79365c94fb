"""The figures as tables: lists of lines of cells, the header first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.sqlts_search.engine import CHUNKS, FORWARD, REVERSE, Searched
from benchmarks.sqlts_search.naive import NAIVE, READINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.sqlts_search.comparing import Compared
    from benchmarks.sqlts_search.proven import Proven
    from benchmarks.tables import Lines

PAPER_GAIN, PAPER_MOST = 93, 800


def test_lines(found: Sequence[Compared]) -> Lines:
    """Tests of each search, and tests of the naive search by test of the engine's."""
    lines = [["sequence", "pattern", "rows", "matches", "naive", FORWARD, "x", REVERSE, "x", CHUNKS, "x"]]
    for one in found:
        cells = [one.sequence, one.pattern, f"{one.n_rows:,}", f"{one.n_matches:,}", f"{one.naive_tests:,}"]
        for search in (FORWARD, REVERSE, CHUNKS):
            searched = one.engine[search]
            cells += [f"{searched.n_tests:,}", gain(one.ratio(search))] if isinstance(searched, Searched) else ["", ""]
        lines.append(cells)
    return lines


def time_lines(found: Sequence[Compared]) -> Lines:
    """Milliseconds of the search alone over truth that is there, and of the engine from a table to a table."""
    lines = [[
        "sequence", "pattern", "naive search", "forward search", "reverse search", "engine forward", "engine reverse"
    ]]
    for one in found:
        engine = [one.engine[search] for search in (FORWARD, REVERSE)]
        lines.append([
            one.sequence, one.pattern, f"{1000 * one.naive_seconds:.2f}",
            *(f"{1000 * e.search_seconds:.2f}" if isinstance(e, Searched) else "" for e in engine),
            *(f"{1000 * e.seconds:.0f}" if isinstance(e, Searched) else "" for e in engine),
        ])
    return lines


def reading_lines(counts: Mapping[str, Mapping[str, int]], ops_tests: Mapping[str, int]) -> Lines:
    """By reading of naive and pattern: tests, and how often as many as OPS forward makes."""
    lines = [["naive is", *(cell for pattern in counts for cell in (f"{pattern}: tests", "x OPS"))]]
    for reading in READINGS:
        cells = ["possessive, next row (as above)" if reading == NAIVE else reading]
        for pattern, own in counts.items():
            cells += [f"{own[reading]:,}", gain(own[reading] / ops_tests[pattern])]
        lines.append(cells)
    lines.append(["the paper, for this query", *["", f"{PAPER_GAIN}"] * len(counts)])
    lines.append(["the paper, for others", *["", f"up to {PAPER_MOST}"] * len(counts)])
    return lines


def family_lines(by_length: Mapping[int, Sequence[Compared]], least: Sequence[int], wanted: int) -> Lines:
    """By length of runs, the gain of each family; then the length at which it is as large as wanted."""
    titles = [one.pattern for one in next(iter(by_length.values()))]
    lines = [["L", *(cell for title in titles for cell in (f"{title}: naive", "OPS", "x"))]]
    for length, row in by_length.items():
        cells = [str(length)]
        for one in row:
            ops = one.engine[FORWARD]
            assert isinstance(ops, Searched)  # forward search there always is
            cells += [f"{one.naive_tests:,}", f"{ops.n_tests:,}", gain(one.ratio())]
        lines.append(cells)
    if least:
        lines.append([f"{wanted}x from", *(cell for length in least for cell in ("", "", f"L = {length}"))])
    return lines


def proof_lines(found: Sequence[Proven]) -> Lines:
    """One line per query."""
    header = ["query", "rows", "matches", "before", "after", "before ms", "after ms", "x"]
    return [header, *(_proof_line(one) for one in found)]


def _proof_line(one: Proven) -> list[str]:
    return [
        one.name, f"{one.n_rows:,}", f"{one.n_matches:,}", matcher_of(one.before), matcher_of(one.after),
        f"{1000 * one.seconds_before:.1f}", f"{1000 * one.seconds_after:.1f}",
        gain(one.seconds_before / one.seconds_after),
    ]


def matcher_of(explained: str) -> str:
    """The matcher that an explanation names."""
    found = re.search(r"matcher (\w+)", explained)
    return found[1] if found else "none"


def gain(ratio: float) -> str:
    """Two digits behind the point for what is near 1."""
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"
