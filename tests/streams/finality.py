"""When a result row is certain, by trying what may still come; and when the operator gives it.

A row is certain at a watermark if it is in the answer for every continuation of its partition by rows above it, also
by none. Here continuations are short and their values few: a row that the operator gives before it is certain is a
mistake, and one that it gives later is, too: no kind of query is left out. If a row seems to be late, first look
whether the continuations that would change it were tried.

`python -m tests.streams.finality --examples 200 --seed 1` prints how often rows come later, by kind of query.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tests.differential.relations import one_database
from tests.streams.driving import EPOCH, TICK, TIME, Query, Stream
from tests.streams.workloads import query_of

from sparkrex.languages.events.syntax import StreamOptions
from sparkrex.modes.trends.language.syntax import TrendOptions
from sparkrex.modes.trends.plan import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SCHEMA = pa.schema({
    "id": pa.int64(), "k": pa.string(), "a": pa.bool_(), "b": pa.bool_(), "c": pa.bool_(), "x": pa.int64(),
    TIME: pa.timestamp("us", "UTC"),
})
BOUNDS = (2, 3)
"""Seconds: those in queries, which decide what times are tried."""
FAR = 1_000_000_000
_START = datetime(1970, 1, 1)
_ITS_OWN = ("k", "match_id")
STREAM_OPTIONS = StreamOptions(TIME, ("id",), None, {"A": "a", "B": "b", "C": "c"}, has_strict_ties=False)

Row = dict[str, Any]
Letter = tuple[bool, bool, bool]


@dataclass(frozen=True, slots=True)
class Case:
    """A query, rows of one partition with times in microseconds, and words for what kind of query it is."""

    query: Query
    rows: tuple[Row, ...]
    kind: str

    def __str__(self) -> str:
        lines = [f"  {row}" for row in self.rows]
        return "\n".join([f"{self.query.text} {self.query.settings}", *lines])


@dataclass(frozen=True, slots=True)
class Timing:
    """For every result row, the watermark at which it is certain and that at which it came; None: at the end."""

    row: str
    certain: int | None
    given: int | None


def case_of(mode: str, seed: int, number: int) -> Case:
    """Case `number` of a seed."""
    draw = random.Random(f"{mode} {seed} {number}")
    query, kind = {
        "rows": _row_query, "events": _event_query, "trends": _trend_query, "segments": _segment_query,
        "workloads": _workload_query,
    }[mode](draw)
    time, rows = EPOCH * TICK, []
    for place in range(draw.choice([2, 3, 4, 5])):
        time += draw.choice([0, 1, 1, 2, 3, 5]) * TICK
        a, b, c = (draw.random() < 0.6 for _ in range(3))
        rows.append({"id": place, "k": "p", "a": a, "b": b, "c": c, "x": draw.randint(0, 2), TIME: time})
    return Case(query, tuple(rows), kind)


def _row_query(draw: random.Random) -> tuple[Query, str]:
    size = f"INTERVAL '{draw.choice(BOUNDS)}' SECOND"
    pattern = draw.choice([
        "A B", "A B*", "A B* C", "A+ B?", "A (B | C)", "A B C", "A+", "A B+ C?", "A B*? C", "(A B)+", "A B{1,2}",
        "A | B C", "A B $", "^ A B", "A*", "A? B", "PERMUTE(A, B)", "A B+", "A B?? C", "A (B C)?",
        "A B C", "A (B | A) C",
    ])
    bounds = ["ts <= PREV(ts) + {0}", "ts - PREV(ts) <= {0}", "ts - FIRST(ts) <= {0}", "ts - A.ts <= {0}"]
    defined, bound_kinds = [], set()
    for name in sorted(set(pattern) & set("ABC")):
        condition = name.lower()
        if draw.random() < 0.35:
            bound = draw.choice(bounds[:3] if name == "A" else bounds)
            condition += f" AND {bound.format(size)}"
            bound_kinds.add("PREV" if "PREV" in bound else "FIRST" if "FIRST" in bound else "A.ts")
        if draw.random() < 0.2:
            # Always true: what is asked is whether bounds in time beside it still decide.
            # Arrays are the interpreter's, which is slow.
            true = draw.choice(["COUNT(*) < 99", "COUNT(A.x) < 99"] * 4 + ["ARRAY_AGG(id)[0] >= 0"])
            condition = f"{true} AND {condition}"
            bound_kinds.add("aggregate")
        defined.append(f"{name} AS {condition}")
    within = draw.random() < 0.35
    rows = draw.choice(["ONE ROW PER MATCH"] * 3 + ["ALL ROWS PER MATCH", "ALL ROWS PER MATCH WITH UNMATCHED ROWS"])
    if within and rows == "ONE ROW PER MATCH" and draw.random() < 0.4:
        rows += " SHOW TIMEOUT MATCHES"
    skip = draw.choice(["PAST LAST ROW", "PAST LAST ROW", "TO NEXT ROW", "TO NEXT ROW"])
    more = draw.choice(["", "", "", ", MATCH_NUMBER() AS m", ", NEXT(LAST(id)) AS later"])
    if "ALL ROWS" in rows:  # its rows come as a whole: all of them wait for the row behind the last one
        more = more.replace("NEXT(LAST", "NEXT(FINAL LAST")
    text = (
        f"PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, FINAL LAST(id) AS l, FINAL COUNT(*) AS n{more} {rows} "
        f"AFTER MATCH SKIP {skip} PATTERN ({pattern}) {f'WITHIN {size}' if within else ''} "
        f"DEFINE {', '.join(defined)}"
    )
    kinds = [f"{pattern!r}", skip, *(["WITHIN"] if within else []), *sorted(bound_kinds)]
    kinds += [
        "unmatched" if "UNMATCHED" in rows else "all rows" if "ALL" in rows
        else "timeouts" if "TIMEOUT" in rows else "one row"
    ]
    kinds += ["number" if "NUMBER" in more else "NEXT"] if more else []
    return Query(text, settings={"tie_break": "id"}), ", ".join(kinds)


def _event_query(draw: random.Random) -> tuple[Query, str]:
    pattern, names, given = draw.choice([
        ("SEQ(A a, B b)", "a, b", "b.id"), ("SEQ(A a, B+ b[], C c)", "a, b[], c", "c.id"),
        ("SEQ(A a, B b, ~(C c))", "a, b", "b.id"), ("SEQ(A a, ~(C c), B b)", "a, b", "b.id"),
        ("SEQ(A a, B+ b[])", "a, b[]", "b[b.LEN].id"), ("SEQ(A a, B b, C c)", "a, b, c", "c.id"),
        ("SEQ(~(C c), A a, B b)", "a, b", "b.id"), ("SEQ(A a, B+ b[], ~(C c))", "a, b[]", "b[b.LEN].id"),
    ])
    strategy = draw.choice(["skip_till_next_match", "skip_till_any_match", "partition_contiguity"])
    overlap = draw.choice(["", "", "OUTPUT NON-OVERLAPPING"])
    text = (
        f"PATTERN {pattern} WHERE {strategy}({names}) {{ [k] }} WITHIN {draw.choice(BOUNDS)} seconds {overlap} "
        f"RETURN a.k AS k, a.id AS f, {given} AS l"
    )
    return Query(text, "MATCH_EVENTS", STREAM_OPTIONS), ", ".join(filter(None, [pattern, strategy, overlap]))


def _trend_query(draw: random.Random) -> tuple[Query, str]:
    pattern = draw.choice(["SEQ(A+, B)", "A+", "SEQ(A, ~(C), B+)", "SEQ(A+, B)"])
    semantics = draw.choice(["skip-till-any-match", "skip-till-next-match", "contiguous"])
    slide = draw.choice(["", "SLIDE 1 second"])
    text = (
        f"RETURN k, COUNT(*) AS n, MIN(A.id) AS f, MAX(A.id) AS l PATTERN {pattern} SEMANTICS {semantics} WHERE [k] "
        f"GROUP-BY k WITHIN {draw.choice(BOUNDS)} seconds {slide}"
    )
    options = TrendOptions(STREAM_OPTIONS, None, Counts.EXACT)
    return Query(text, "MATCH_TRENDS", options), f"{pattern}, {semantics} {slide}"


def _segment_query(draw: random.Random) -> tuple[Query, str]:
    skip = draw.choice(["ALL MATCHES", "AFTER MATCH SKIP PAST LAST ROW", "AFTER MATCH SKIP TO NEXT ROW"])
    low = draw.choice([0, 1])
    window = draw.choice([f"window(ts, {low}, {draw.choice(BOUNDS)}, SECOND)", "window(1, 2)"])
    condition = draw.choice(["sum(x) > 1", "last(x) > first(x)", "avg(x) > 0.7"])
    text = (
        f"PARTITION BY k ORDER BY ts MEASURES FIRST(S.id) AS f, LAST(S.id) AS l {skip} PATTERN (S) "
        f"DEFINE SEGMENT S AS {condition} AND {window}"
    )
    return Query(text, settings={"tie_break": "id"}), f"{skip}, {window.split(',')[0]}"


def _workload_query(draw: random.Random) -> tuple[Query, str]:
    patterns = draw.sample([
        "SEQ(A a, B b)", "SEQ(A a, NOT(C c))", "SEQ(A a, B b, NOT(C c))", "SEQ(NOT(C c), A a, B b)", "AND(A a, B b)",
        "SEQ(A a, KL(B b), NOT(C c))", "AND(A a, NOT(C c), B b)",
    ], 2)
    texts = {}
    for number, pattern in enumerate(patterns):
        strategy = f"WHERE skip_till_next_match({'a, b' if ' B b' in pattern else 'a'}) {{ [k] }}"
        is_own = draw.random() < 0.3 and "KL" not in pattern and "AND" not in pattern
        where = strategy if is_own else "WHERE [k]"
        texts[f"p{number}"] = f"PATTERN {pattern} {where} WITHIN {draw.choice(BOUNDS)} seconds"
    types = {name: name.lower() for name in "ABC"}
    return query_of(texts, types=types, tie_break="id"), "; ".join(texts.values())


def timings(case: Case, draw: random.Random) -> list[Timing]:
    """When rows are certain, and when they come."""
    marks = watermarks(case)
    certain = certain_rows(case, marks, draw)
    given: list[Counter[str]] = []
    # Conditions of rows that wait are not known to the operator: it has them, and does not look at them.
    stream = Stream(case.query, table_of(case.rows))
    told: Counter[str] = Counter()
    for number, mark in enumerate(marks):
        rows = table_of(case.rows if number == 0 else ())
        found = pa.concat_tables([one.rows for one in stream.batch(rows, mark)])
        told.update(written(stream.cut.result(found)))
        given.append(Counter(told))
    told.update(written(stream.cut.result(stream.drain())))
    return [
        Timing(
            row, next((mark for mark, known in zip(marks, certain, strict=True) if known[row] >= number), None),
            next((mark for mark, known in zip(marks, given, strict=True) if known[row] >= number), None),
        )
        for row in told for number in range(1, told[row] + 1)
    ]


def watermarks(case: Case) -> list[int]:
    """All that may matter: times of rows, and these a bound later, and a tick before and behind."""
    last = case.rows[-1][TIME]
    moments = {row[TIME] + bound * TICK + step for row in case.rows for bound in (0, 1, *BOUNDS) for step in (-1, 0)}
    return sorted({*moments, last + 10 * TICK, last + FAR})


def certain_rows(case: Case, marks: list[int], draw: random.Random) -> list[Counter[str]]:
    """For each watermark, the rows that are in the answer however the partition goes on."""
    rows: list[Row] = []
    n_ways = []
    for number, mark in enumerate(marks):
        known = [row for row in case.rows if row[TIME] <= mark]
        ways = list(continuations(mark, draw))
        n_ways.append(len(ways))
        for place, more in enumerate(ways):
            rows += [row | {"k": f"{number} {place}"} for row in (*known, *more)]
    answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in case.query.batch(table_of(rows)).to_pylist():
        answers[row["k"]][_told(row)] += 1
    found = []
    for number, n in enumerate(n_ways):
        least = answers[f"{number} 0"]
        for place in range(1, n):
            if not least:
                break
            least = least & answers[f"{number} {place}"]
        found.append(least)
    return found


def continuations(mark: int, draw: random.Random) -> Iterator[tuple[Row, ...]]:
    """None, all of one row, and some of two and three."""
    yield ()
    letters: list[Letter] = list(itertools.product([False, True], repeat=3))  # type: ignore[arg-type]
    steps = [1, *(bound * TICK for bound in BOUNDS), FAR]
    for letter, step in itertools.product(letters, steps):
        yield (_row(100, letter, mark + step, draw),)
    for _ in range(120):
        time, rows = mark, []
        for place in range(draw.choice([2, 2, 3])):
            # Several rows may come at the last moment that a bound allows.
            time += draw.choice([0 if place else 1, 1, 1, *steps])
            # What goes on needs conditions that hold.
            rows.append(_row(100 + place, draw.choice([*letters, *letters[-1:] * 6]), time, draw))
        yield tuple(rows)


def _row(number: int, letter: Letter, time: int, draw: random.Random) -> Row:
    a, b, c = letter
    return {"id": number, "k": "p", "a": a, "b": b, "c": c, "x": draw.choice([0, 2, 100, -100]), TIME: time}


def table_of(rows: Iterable[Row]) -> pa.Table:
    return pa.Table.from_pylist(
        [row | {TIME: _START + timedelta(microseconds=row[TIME])} for row in rows], SCHEMA
    )


def written(table: pa.Table) -> list[str]:
    """The rows as text, without their key and without numbers that a stream gives otherwise."""
    return [_told(row) for row in table.to_pylist()]


def _told(row: Mapping[str, Any]) -> str:
    """A row in words, whatever a time zone is called."""
    return repr({name: value for name, value in row.items() if name not in _ITS_OWN}).replace("Etc/UTC", "UTC")


def too_early(found: Iterable[Timing]) -> list[Timing]:
    """Rows that came before they were certain."""
    return [one for one in found if one.given is not None and (one.certain is None or one.given < one.certain)]


def too_late(found: Iterable[Timing]) -> list[Timing]:
    """Rows that came after they were certain."""
    return [one for one in found if one.certain is not None and (one.given is None or one.given > one.certain)]


def reduced(case: Case, wanted: str) -> Case:
    """The case with the rows left out that do not matter."""
    place = len(case.rows) - 1
    while place >= 0:
        smaller = replace(case, rows=case.rows[:place] + case.rows[place + 1 :])
        if smaller.rows:
            found = timings(smaller, random.Random(0))
            if too_early(found) if wanted == "early" else too_late(found):
                case = smaller
        place -= 1
    return case


def main(arguments: Iterable[str]) -> int:
    """Command line: see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m tests.streams.finality", description="When rows come.")
    parser.add_argument("--mode", default="rows")
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=5, help="show so many kinds of rows that come later")
    options = parser.parse_args(list(arguments))
    warnings.simplefilter("ignore")
    kinds: Counter[str] = Counter()
    shown: dict[str, Case] = {}
    n_rows = n_early = n_late = 0
    with one_database():
        for number in range(options.examples):
            case = case_of(options.mode, options.seed, number)
            found = timings(case, random.Random(number))
            n_rows += len(found)
            n_late += len(too_late(found))
            for one in too_early(found):
                n_early += 1
                print(f"too early: {one}\n{case}", flush=True)
            for one in too_late(found):
                kind = f"{'never' if one.given is None else 'later'}: {case.kind}"
                kinds[kind] += 1
                shown.setdefault(kind, case)
    print(f"{options.mode}: {n_rows} rows, {n_early} too early, {n_late} later than they are certain")
    for number, (kind, n) in enumerate(kinds.most_common()):
        print(f"{n:5} {kind}")
        if number < options.show:
            case = reduced(shown[kind], "late")
            print(case)
            print("\n".join(f"    {one}" for one in too_late(timings(case, random.Random(0)))))
    return 1 if n_early or n_late else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
