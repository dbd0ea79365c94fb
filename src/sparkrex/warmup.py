"""Small queries that between them call every kernel as any query would, so that all compiled code is on disk.

A kernel is compiled once for every combination of argument types. These follow from the types and the order of keys,
the types of aggregated columns, NULLs, and the matcher; the number of rows decides whether kernels and threads are used
at all. `tests/cli/test_warmup.py` holds the golden cases and the benchmark against this list.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.api import match, sql, why, workload
from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

FEW, MEDIUM, MANY = 60, 3_000, 150_000
"""Rows that plain Python walks; more than that; more than one thread is given."""


@dataclass(frozen=True, slots=True)
class Step:
    """One query of the warm-up."""

    name: str
    clause: str
    table: pa.Table
    settings: Settings
    keyword: str = "MATCH_RECOGNIZE"

    def run(self) -> None:
        """Run it. A matcher that was asked for by name may refuse."""
        text = f"SELECT * FROM t {self.keyword} ({self.clause})"
        if self.keyword == "WINDOW":
            text = f"SELECT m OVER w AS m, sum(price) OVER w AS s FROM t WINDOW w AS ({self.clause})"
        try:
            sql(text, t=self.table, settings=self.settings)
        except (AnalysisError, UnsupportedError):
            if self.settings.matcher is None:
                raise


@dataclass(frozen=True, slots=True)
class WorkloadStep:
    """One workload of the warm-up, over times of one type."""

    name: str
    time: str
    within: str
    table: pa.Table
    settings: Settings

    def run(self) -> None:
        """Run it."""
        texts = {name: f"{text} WITHIN {self.within}" for name, text in _PATTERNS.items()}
        workload(texts, time=self.time, type="word", max_steps=200, settings=self.settings).detect(self.table)


@dataclass(frozen=True, slots=True)
class WhyStep:
    """One question of the warm-up: why a pattern did not match."""

    name: str
    clause: str
    table: pa.Table

    def run(self) -> None:
        """Ask it."""
        why(match(self.clause), self.table)


def steps() -> Iterator[Step | WorkloadStep | WhyStep]:
    """All queries of the warm-up."""
    rows = _rows(MEDIUM)
    for name, clause in _CLAUSES.items():
        for matcher in (None, "ops_forward", "ops_reverse", "automaton", "backtrack"):
            for chunk_rows in (None, MEDIUM // 2 + 1):
                where = f"{matcher or 'any matcher'}{', in chunks' if chunk_rows else ''}"
                yield Step(f"{name}, {where}", clause, rows, Settings(matcher=matcher, chunk_rows=chunk_rows))
    for name, clause in _WINDOWS.items():
        for matcher in (None, "backtrack"):
            where = matcher or "any matcher"
            yield Step(f"window, {name}, {where}", clause, rows, Settings(matcher=matcher), "WINDOW")
    for name, clause in _SEGMENTS.items():
        for planner in (None, "sm_left", "pr_left_pnot", "pr_right"):
            yield Step(f"{name}, {planner or 'any planner'}", clause, rows, Settings(planner=planner))
    for name, clause in _EVENTS.items():
        for matcher in ("nfab", "basic", "backtrack"):
            for chunk_rows in (None, MEDIUM // 2 + 1):
                where = f"{matcher}{', in chunks' if chunk_rows else ''}"
                settings = Settings(matcher=matcher, chunk_rows=chunk_rows)
                yield Step(f"{name}, {where}", clause, rows, settings, "MATCH_EVENTS")
    for name, clause in _TREND_AGGREGATES.items():
        for chunk_rows in (None, MEDIUM // 2 + 1):
            where = "in chunks" if chunk_rows else "at once"
            yield Step(f"{name}, {where}", clause, rows, Settings(chunk_rows=chunk_rows), "MATCH_TRENDS")
        # A few events are counted in plain Python, which calls parts of kernels that are compiled all the same.
        yield Step(f"{name}, a few rows", clause, _rows(FEW), Settings(), "MATCH_TRENDS")
    for time, within in (("ts", "5"), ("at", "5 seconds"), ("price", "0.1")):
        for chunk_rows in (None, MEDIUM // 2 + 1):
            where = "in chunks" if chunk_rows else "at once"
            yield WorkloadStep(f"workload by {time}, {where}", time, within, rows, Settings(chunk_rows=chunk_rows))
    for name, window in (("", ""), (" in windows", "WITHIN INTERVAL '5' SECOND")):
        clause = f"ORDER BY at PATTERN (UP+ HIGH) {window} DEFINE UP AS price > PREV(price), HIGH AS price > 2"
        yield WhyStep(f"why{name}", clause, rows)
    threaded = Settings(threads=2)
    many = _rows(MANY)
    shuffled = many.take(pa.array(np.random.default_rng(1).permutation(MANY)))
    for order in ("in order", "shuffled"):
        table = many if order == "in order" else shuffled
        for key in _KEYS:
            yield Step(f"partition by {key or 'nothing'}, {order}", _ordered_clause(key, "ts"), table, threaded)
        for time in _ORDERS:
            yield Step(f"order by {time}, {order}", _ordered_clause("few", time), table, threaded)
            yield Step(f"order by {time}, {order}, one partition", _ordered_clause("", time), table, threaded)
        for name, clause in _CLAUSES.items():
            yield Step(f"{name}, {order}", clause, table, threaded)
        for name, clause in _EVENTS.items():
            yield Step(f"{name}, {order}", clause, table, threaded, "MATCH_EVENTS")
        for name, clause in _TREND_AGGREGATES.items():
            yield Step(f"{name}, {order}", clause, table, threaded, "MATCH_TRENDS")


_BEGIN = "PARTITION BY few ORDER BY ts"
_V = "PATTERN (STRT DOWN+ UP+) DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"
_NUMBERS = ("price", "small", "volume", "gaps", "money", "flag_number")
_AGGREGATES = ", ".join(
    f"{mode} {function}(UP.{column}) AS {mode}_{function}_{column}"
    for mode in ("RUNNING", "FINAL") for function in ("sum", "avg", "min", "max", "count") for column in _NUMBERS
)
_NAVIGATION = (
    "FINAL LAST(UP.price) AS a, RUNNING LAST(UP.price, 1) AS b, FIRST(DOWN.gaps) AS c, FINAL FIRST(gaps, 1) AS d, "
    "PREV(FIRST(UP.price), 2) AS e, NEXT(LAST(DOWN.word)) AS f, CLASSIFIER() AS g, MATCH_NUMBER() AS h, "
    "LAST(word) AS i"
)
_CLAUSES = {
    "no measures": f"{_BEGIN} {_V}",
    "aggregates per match": f"{_BEGIN} MEASURES {_AGGREGATES} ONE ROW PER MATCH {_V}",
    "aggregates per row": f"{_BEGIN} MEASURES {_AGGREGATES} ALL ROWS PER MATCH {_V}",
    "other aggregates": f"{_BEGIN} MEASURES stddev(UP.price) AS s, count(*) AS n, min(UP.word) AS w, "
    f"max(UP.day) AS d, array_agg(UP.price) AS l, min_by(UP.price, UP.volume) AS m {_V}",
    "navigation per match": f"{_BEGIN} MEASURES {_NAVIGATION} ONE ROW PER MATCH {_V}",
    "navigation per row": f"{_BEGIN} MEASURES {_NAVIGATION} ALL ROWS PER MATCH {_V}",
    "unmatched rows": f"{_BEGIN} MEASURES {_NAVIGATION} ALL ROWS PER MATCH WITH UNMATCHED ROWS {_V}",
    "keys that take turns": "PARTITION BY small ORDER BY ts MEASURES FIRST(DOWN.ts) AS a, min(DOWN.price) AS low, "
    "max(UP.volume) AS high PATTERN (STRT DOWN+ UP+) DEFINE DOWN AS price < PREV(price) AND word <> 'a', "
    "UP AS price > PREV(price)",
    "funnel": f"{_BEGIN} MEASURES A.ts AS x PATTERN (A N*? B) DEFINE A AS word = 'a' AND price > 80, "
    "B AS word = 'b' AND price < 20",
    "single rows": f"{_BEGIN} PATTERN (A B) DEFINE A AS price > 50, B AS price < 50",
    "skip to next row": f"{_BEGIN} MEASURES LAST(UP.ts) AS x AFTER MATCH SKIP TO NEXT ROW {_V}",
    "skip to a variable": f"{_BEGIN} MEASURES LAST(UP.ts) AS x AFTER MATCH SKIP TO LAST UP {_V}",
    "empty matches": f"{_BEGIN} MEASURES count(*) AS n ALL ROWS PER MATCH PATTERN (A*) DEFINE A AS price > 50",
    "alternation": f"{_BEGIN} MEASURES CLASSIFIER() AS c PATTERN ((A | B){{2,3}}? C) "
    "DEFINE A AS price > 60, B AS volume < 100, C AS word = 'd'",
    "permutation": f"{_BEGIN} PATTERN (PERMUTE(A, B, C)) DEFINE A AS price > 60, B AS volume < 100, C AS gaps > 3",
    "exclusion and anchors": f"{_BEGIN} ALL ROWS PER MATCH PATTERN (^ A {{- B+ -}} C) "
    "DEFINE B AS price > 10, C AS price < 90",
    "running average": f"{_BEGIN} MEASURES count(A.*) AS n PATTERN (A+ B) "
    "DEFINE A AS price >= avg(A.price), B AS volume < 100",
    "running sum of integers": f"{_BEGIN} MEASURES count(*) AS n PATTERN (A+) DEFINE A AS sum(A.volume) < 4000",
    "first row's value": f"{_BEGIN} MEASURES LAST(B.ts) AS x PATTERN (A B+) "
    "DEFINE B AS B.price > A.price AND B.gaps IS NOT NULL AND B.word <> FIRST(A.word)",
    "timeouts": f"{_BEGIN} MEASURES LAST(B.ts) AS x ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN (A B+? C) WITHIN 20 "
    "DEFINE A AS price > 50, C AS LAST(B.price, 1) < C.price AND C.price < 20",
    "within": f"{_BEGIN} MEASURES LAST(B.ts) AS x PATTERN (A B+? C) "
    "DEFINE C AS C.ts - A.ts <= 20 AND LAST(B.price, 1) < C.price",
}
_TRENDS = " AND ".join(
    f"{call} > -1e9"
    for column in ("price", "volume", "gaps") for call in (
        f"linear_reg_r2_signed(ts, {column})", f"linear_reg_slope(at, {column})", f"mann_kendall_test({column})",
        f"sum({column})", f"avg({column})", f"min({column})", f"max({column})", f"median({column})", f"range({column})",
        f"stddev({column})", f"count({column})", f"first({column})", f"last({column})",
    )
)
_WINDOWS = {
    "short matches": "PARTITION BY few ORDER BY ts MEASURES LAST(A.price) AS m ROWS BETWEEN CURRENT ROW AND "
    "UNBOUNDED FOLLOWING PATTERN (S A+) DEFINE A AS price < PREV(price)",
    "long matches": "ORDER BY ts MEASURES sum(A.volume) AS m ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING "
    "AFTER MATCH SKIP TO NEXT ROW PATTERN ((A | B)+) DEFINE A AS price < PREV(price)",
    "names of long matches": "ORDER BY ts MEASURES CLASSIFIER(A) AS m ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING "
    "AFTER MATCH SKIP TO NEXT ROW SEEK PATTERN ((A | B)+) DEFINE A AS price < PREV(price)",
    "a bounded frame": "PARTITION BY few ORDER BY ts MEASURES LAST(A.price) AS m ROWS BETWEEN CURRENT ROW AND 5 "
    "FOLLOWING SEEK PATTERN (S A+) DEFINE A AS price < S.price",
}

_SEGMENTS = {
    "segments, trends": f"{_BEGIN} MEASURES avg(S.price) AS p, START_INDEX() AS i PATTERN (S) "
    f"DEFINE SEGMENT S AS {_TRENDS} AND window(2, 4)",
    "segments, other aggregates": f"{_BEGIN} MEASURES END_INDEX() AS j PATTERN ((A B) & W) "
    "DEFINE SEGMENT W AS window(3, 6), SEGMENT A AS equal_up_down_ticks(price), "
    "SEGMENT B AS corr(A.price, B.price) > 0.5",
    "segments, sequence": f"{_BEGIN} MEASURES START_INDEX() AS i PATTERN ((W (FALL & S) W) & LONG & RISE) "
    "DEFINE SEGMENT W AS true, SEGMENT FALL AS last(price) - first(price) < -60, SEGMENT S AS window(ts, 0, 3), "
    "SEGMENT LONG AS window(6, 8), SEGMENT RISE AS last(price) > first(price)",
    "segments, references": f"{_BEGIN} MEASURES first(B.ts) AS x AFTER MATCH SKIP PAST LAST ROW PATTERN ((P A B) & W) "
    "DEFINE P AS zscore_outlier(price, 5) > 1, SEGMENT A AS last(price) > P.price, "
    "SEGMENT B AS avg(B.price) > avg(A.price), SEGMENT W AS window(ts, 0, 4)",
    "segments, not, or and repetition": f"{_BEGIN} MEASURES count(*) AS n PATTERN (((UP | DOWN)+ & ~(W BIG W)) & S) "
    "DEFINE SEGMENT UP AS last(price) > first(price) AND window(2), SEGMENT DOWN AS sum(volume) < 500 AND window(2), "
    "SEGMENT W AS true, SEGMENT BIG AS max(price) > 90, SEGMENT S AS window(2, 5)",
    "segments, so many repetitions": f"{_BEGIN} MEASURES count(*) AS n PATTERN (UP{{2,3}} & S) "
    "DEFINE SEGMENT UP AS last(price) > first(price), SEGMENT S AS window(2, 5)",
    "all matches of a row pattern": f"{_BEGIN} MEASURES START_INDEX() AS i ALL MATCHES PATTERN (A B{{1,3}} C) "
    "DEFINE B AS price < PREV(price), C AS price > 50",
}
_EVENTS = {
    "events, next": "TIME ts TYPE word PATTERN SEQ(a x, b+ y[], c z) WHERE skip_till_next_match(x, y[], z) { [few] AND "
    "y[i].price > avg(y[..i-1].price) AND z.volume < 80% * y[y.LEN].volume AND z.gaps > x.gaps } WITHIN 50 "
    "RETURN x.ts AS a, count(y[]) AS n, sum(y[].volume) AS s, max(y[].price) AS m, z.word AS w",
    "events, any": "TIME at TYPE word PATTERN SEQ(a x, (b y[] | c z[])+) WHERE skip_till_any_match(x, y[], z[]) "
    "{ [few] AND y[i].volume > y[i-1].volume } WITHIN 6 seconds RETURN EVENTS",
    "events, negation": "TIME ts TYPE word PATTERN SEQ(~(a p), b x, ~(c q), d y, ~(a r)) "
    "WHERE skip_till_any_match(x, y) { [few] AND q.volume > x.volume } WITHIN 5 RETURN x.price AS p",
    "events, looked up": "TIME ts TYPE word PATTERN SEQ(a x, b y, c z) WHERE skip_till_next_match(x, y, z) "
    "{ [few] AND x.volume = z.volume AND y.price <= x.price } WITHIN 50 RETURN x.ts AS a",
    "events, looked up, negation": "TIME ts TYPE word PATTERN SEQ(a x, ~(b y), c z) "
    "WHERE skip_till_any_match(x, y, z) { [few] AND x.volume = z.volume AND y.price > x.price } WITHIN 50 "
    "RETURN x.ts AS a",
    "events, contiguous": "TIME small TIE BREAK ts TIES STRICT PATTERN SEQ(e x, e+ y[]) "
    "WHERE partition_contiguity(x, y[]) { [few] AND y[i].price > y[i-1].price } OUTPUT NON-OVERLAPPING RETURN EVENTS",
    "events, strict, window of events": "TIME price TIE BREAK ts PATTERN SEQ(e x, e{1,3} y[]) "
    "WHERE strict_contiguity(x, y[]) { y[1].volume > x.volume } WITHIN 3 EVENTS RETURN min(y[].gaps) AS g",
}
_PATTERNS = {
    "compared": "PATTERN SEQ(a x, b y, c z) WHERE [few] AND x.price < y.price AND y.gaps <> z.gaps",
    "equal": "PATTERN AND(a x, b y, c z) WHERE [few] AND x.volume = y.volume AND x.price + z.price < 50",
    "kleene": "PATTERN SEQ(KL(a x), b y) WHERE [few] AND x[1].price < y.price",
    "negated": "PATTERN SEQ(NOT(d p), a x, NOT(c q), b y, NOT(d r)) WHERE [few] AND q.price > x.price",
}
_OF_A = "COUNT(*), COUNT(x), SUM(x.volume), AVG(x.price), MIN(x.gaps), MAX(x.money)"
_TRENDS_BY = {
    "by state, counted": "TIME ts TYPE word {counts} RETURN COUNT(*) PATTERN SEQ(a+ x, b y) "
    "SEMANTICS skip-till-any-match WHERE [few] WITHIN 50",
    "by state": "TIME at TYPE word {counts} RETURN few, {all} PATTERN SEQ(a+ x, (b y | c z)+) "
    "SEMANTICS skip-till-next-match GROUP-BY few WITHIN 60 seconds SLIDE 20 seconds",
    "by state, merged": "TIME ts TYPE word {counts} RETURN few, {all} PATTERN SEQ(a x, b? y) "
    "SEMANTICS skip-till-any-match WHERE [many] GROUP-BY few WITHIN 3 SLIDE 1",
    "by gap": "TIME ts TYPE word {counts} RETURN {all} PATTERN SEQ(a+ x, ~SEQ(c n, d m), b y, ~(c o)) "
    "SEMANTICS skip-till-any-match WHERE [few] WITHIN 40",
    "by rank": "TIME ts TYPE word {counts} RETURN {all} PATTERN SEQ(a+ x, b y) SEMANTICS skip-till-any-match "
    "WHERE [few] AND x.price < NEXT(x).price AND x.gaps <> NEXT(y).gaps WITHIN 60",
    "by open event": "TIME small TYPE word {counts} RETURN {all} PATTERN SEQ(a+ x, b y) "
    "SEMANTICS skip-till-next-match WHERE [few] AND x.volume >= NEXT(x).volume WITHIN 60",
    "by event": "TIME price TYPE word {counts} RETURN {all} PATTERN SEQ(a+ x, ~(c n), b y) SEMANTICS contiguous "
    "WHERE [few] AND x.volume < NEXT(x).volume AND x.word <= NEXT(y).word WITHIN 30",
}
_TREND_AGGREGATES = {
    f"trends {name}, {counts}": clause.format(counts=f"COUNTS {counts.upper()}", all=_OF_A)
    for name, clause in _TRENDS_BY.items() for counts in ("exact", "log")
}
_KEYS = ("", "few", "small", "many", "sparse", "word", "long_word", "coded", "gaps", "price", "day", "few, word")
_ORDERS = ("ts", "at", "price", "day", "small", "gaps", "word", "money", "ts DESC", "gaps DESC NULLS LAST", "few, ts")


def _ordered_clause(key: str, order: str) -> str:
    partition = f"PARTITION BY {key} " if key else ""
    return f"{partition}ORDER BY {order} MEASURES count(*) AS n PATTERN (A B*) DEFINE B AS price < PREV(price)"


def _rows(n_rows: int) -> pa.Table:
    """Rows in the order of `few`, then `ts`, with columns of the usual types."""
    random = np.random.default_rng(0)
    numbers = np.arange(n_rows)
    volume = random.integers(0, 1000, n_rows)
    words = pa.array(["a", "b", "c", "d"]).take(pa.array(volume % 4))
    columns: dict[str, Any] = {
        "few": numbers * 10 // n_rows,
        "ts": numbers,
        "at": pa.array(numbers * 1_000_000).cast(pa.timestamp("us")),
        "day": pa.array((numbers % 1000).astype(np.int32)).cast(pa.date32()),
        "price": random.random(n_rows) * 100,
        "volume": volume,
        "small": (numbers % 100).astype(np.int32),
        "many": numbers // 3,
        "sparse": (numbers // 10) * 1_000_003_000_007,
        "gaps": pa.array(volume, mask=volume % 7 == 0),
        "money": pa.array(volume.astype(np.int32)).cast(pa.decimal128(10, 0)).cast(pa.decimal128(12, 2)),
        "flag_number": (volume % 2).astype(np.int64),
        "word": words,
        "long_word": pa.array([f"a word of some length {number // 10}" for number in range(n_rows)]),
        "coded": words.dictionary_encode(),
    }
    return pa.table(columns)


def compiled_kernels() -> list[Any]:
    """Every kernel that this process has called from Python, as Numba's dispatcher."""
    from numba.core.dispatcher import Dispatcher

    return [
        found for found in gc.get_objects()
        # By its own type: `isinstance` asks a proxy for the object behind it, which may be gone.
        if issubclass(type(found), Dispatcher) and found.signatures
        and _is_kernel_module(found.py_func.__module__)
    ]


def _is_kernel_module(name: str) -> bool:
    """Whether a module is in a folder of kernels: the shared ones, or those of a mode."""
    return name.startswith("sparkrex.") and ".kernels." in name


def cache_folders() -> list[str]:
    """Where the compiled code lies."""
    return sorted({kernel.stats.cache_path for kernel in compiled_kernels() if kernel.stats.cache_path is not None})
