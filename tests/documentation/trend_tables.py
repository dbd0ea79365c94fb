"""The tables of trends in docs/semantics.md: a row with a pattern, its semantics and a stream has the number of trends.

A stream is events in order, `kind[time][=x]` each: `a b` are at times 1 and 2, `a3` at 3, and x of `a=5` is 5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

import sparkrex as rex

PAGE = Path(__file__).parents[2] / "docs" / "semantics.md"

_SEMANTICS = {"any": "skip-till-any-match", "next": "skip-till-next-match", "contiguous": "contiguous"}
_CELL = re.compile(r"(?<!\\)\|")
_EVENT = re.compile(r"(?P<kind>[a-z])(?P<time>-?\d+)?(?:=(?P<x>\S+))?")


@dataclass(frozen=True)
class TrendRow:
    """A row of a table: `trends` has the number in every window, in order, and none where no window has a trend."""

    line: int
    pattern: str
    semantics: str
    stream: str
    trends: tuple[int, ...]

    @property
    def name(self) -> str:
        """`pattern on stream`, as test reports show it."""
        return f"{self.line}: {self.pattern} on {self.stream}"


def trend_rows() -> list[TrendRow]:
    """The rows that have an example."""
    found = []
    for line, text in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        cells = [cell.strip().replace("\\|", "|") for cell in _CELL.split(text)][1:-1]
        if len(cells) == 6 and cells[2] in _SEMANTICS:
            numbers = () if cells[4] == "-" else tuple(map(int, cells[4].split(",")))
            found.append(TrendRow(line, cells[1].strip("`"), cells[2], cells[3], numbers))
    return found


def numbers_of(row: TrendRow, matcher: str | None = None) -> tuple[int, ...]:
    """What the engine counts, by the algorithm that is named."""
    events = [_EVENT.fullmatch(word) for word in row.stream.split()]
    assert all(events), f"line {row.line}: {row.stream}"
    read = [event.groupdict() for event in events if event is not None]
    stream = pa.table({
        "ts": [number if event["time"] is None else int(event["time"]) for number, event in enumerate(read, 1)],
        "kind": [str(event["kind"]).upper() for event in read],
        "x": pa.array([None if event["x"] in (None, "NULL") else int(event["x"]) for event in read], pa.int64()),
    })
    pattern, *clauses = re.split(r" (?=WHERE|WITHIN)", row.pattern)
    text = f"RETURN COUNT(*) AS n PATTERN {pattern} SEMANTICS {_SEMANTICS[row.semantics]} {' '.join(clauses)}"
    found = rex.trends(text, stream, time="ts", type="kind", settings={"matcher": matcher})
    return tuple(int(n) for n in found.sort_by("window_start").column("n").to_pylist())
