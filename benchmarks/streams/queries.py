"""The queries that are measured, and how Flink writes those that it can express.

Flink refuses a greedy end and PREV of a last row that is not of the match's variable, and knows no event queries and no
trends. What both can say is written without these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ROWS = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
    MEASURES {} AFTER MATCH SKIP PAST LAST ROW PATTERN {})"""
_EVENTS: dict[str, Any] = {"time": "ts", "types": {"A": "kind = 0", "B": "kind = 1"}, "ties": "order", "tie_break": "x"}


@dataclass(frozen=True, slots=True)
class StreamQuery:
    """`search` gives the matches in a table or stream, under settings; `flink` is the same as SQL over a table `t`."""

    search: Callable[[Any, Mapping[str, Any]], Any]
    flink: str | None = None


def _rows(measures: str, pattern: str, flink: str | None = None) -> StreamQuery:
    """A row pattern; `flink` is its pattern if Flink can have it, in Flink's words."""
    text = _ROWS.format(measures, pattern)
    on_flink = f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
        MEASURES {measures} ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN {flink})"""

    def search(ticks: Any, settings: Mapping[str, Any]) -> Any:
        return rex.sql(text, ticks=ticks, settings=settings)

    return StreamQuery(search, on_flink if flink else None)


_FUNNEL = "(A N*? B M*? C) WITHIN INTERVAL '1' HOUR DEFINE A AS kind = 0, B AS kind = 1, C AS kind = 2"
_SUM = "(A+ B) WITHIN INTERVAL '1' HOUR DEFINE A AS SUM(A.x) < 3"
_TURN = "(S D+ U) WITHIN INTERVAL '1' HOUR DEFINE D AS {}, U AS U.x > LAST(D.x)"
QUERIES: dict[str, StreamQuery] = {
    "V shape": _rows(
        "FIRST(ts) AS a, LAST(ts) AS b, MIN(D.x) AS low",
        "(S D+ U+) DEFINE D AS x < PREV(x), U AS x > PREV(x)",
    ),
    "fall and turn": _rows(
        "S.ts AS a, U.ts AS b, LAST(D.x) AS low", _TURN.format("x < PREV(x)"),
        _TURN.format("(LAST(D.x, 1) IS NULL AND D.x < S.x) OR D.x < LAST(D.x, 1)"),
    ),
    "funnel": _rows("A.ts AS a, C.ts AS c", _FUNNEL, _FUNNEL),
    "running sum": _rows("FIRST(A.ts) AS a, B.ts AS b", _SUM, _SUM),
    "events": StreamQuery(lambda ticks, settings: rex.events(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] } WITHIN 10 minutes RETURN a.ts AS a, b.ts AS b",
        ticks, settings=settings, **_EVENTS)),
    "trends": StreamQuery(lambda ticks, settings: rex.trends(
        "RETURN k, COUNT(*) AS n PATTERN SEQ(A+, B) SEMANTICS skip-till-next-match WHERE [k] GROUP-BY k "
        "WITHIN 1 minutes SLIDE 1 minutes", ticks, settings=settings, **_EVENTS)),
}
