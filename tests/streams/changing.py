"""Streams of workloads that are stopped, and go on from the same state with other patterns.

What must come is derived from the batch: a pattern that stays gives what it gives over the whole stream; a new one the
matches among what came after it, which begin behind all that its bucket had got before; one that is removed nothing
more.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tests.streams.driving import N_BUCKETS, TICK, TIME, DictStore, Stream, few_hashes
from tests.streams.examples import arriving, is_legal, table_of
from tests.streams.workloads import TYPES, drawn_stream, query_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.streams.workloads import WorkloadQuery

Matches = Counter[str]


@dataclass
class Changing:
    """Events as they arrive, and the patterns of each run of the stream with the events that it reads.

    No run has patterns without an equivalence test beside others: these are operators of their own.
    """

    table: pa.Table
    runs: list[tuple[dict[str, str], int]]
    options: dict[str, Any]
    seed: str

    def __str__(self) -> str:
        rows = [f"  {row}" for row in self.table.to_pylist()]
        return "\n".join([*(f"{run}" for run in self.runs), str(self.options), *rows])


@dataclass
class Life:
    """A pattern while it is there: from row `begin` of the stream to row `end`. None: to the drain.

    Its matches begin after `born`, by bucket.
    """

    text: str
    begin: int
    born: dict[int, int] = field(default_factory=dict)
    end: int | None = None
    given: Matches = field(default_factory=Counter)


def changing_of(seed: int, number: int) -> Changing:
    """Example `number` of a seed."""
    draw = random.Random(f"changing {seed} {number}")
    while True:
        texts, options, rows = drawn_stream(draw)
        is_partitioned = any("[k]" in text for text in texts.values())
        options["max_kleene"] = 20  # events that came before count against a new pattern too
        if is_legal(query_of(texts, **options), TYPES) and len(texts) > 2:
            break
    names = list(texts)
    present = set(draw.sample(names, draw.randint(1, len(names))))
    arrived = arriving(draw, rows, TIME)
    cuts = [0, *sorted(draw.randint(0, len(rows)) for _ in range(draw.choice([1, 1, 2, 3]))), len(rows)]
    runs = []
    for begin, end in itertools.pairwise(cuts):
        order = [name for name in names if name in present]
        draw.shuffle(order)
        runs.append(({name: texts[name] for name in order}, end - begin))
        # A NOT in front looks back to what came before, as far as that was kept.
        may_come = [name for name in names if not _looks_back(texts[name])]
        for name in names:
            if draw.random() < 0.35 and (name in present or name in may_come):
                present ^= {name}
        present = present or set(draw.sample(may_come or order, 1))
    assert is_partitioned is ("[k]" in texts[names[0]])
    return Changing(table_of(arrived, TYPES), runs, options, f"{seed} {number}")


def _looks_back(text: str) -> bool:
    return "(NOT" in text


def problem_of(example: Changing) -> str | None:
    """What is given and should not be, or should and is not."""
    draw = random.Random(example.seed)
    lives: list[Life] = []
    present: dict[str, Life] = {}
    is_late: list[bool] = []
    stores = [DictStore() for _ in range(N_BUCKETS)]
    watermark = high = at = 0
    delay = draw.choice([0, 1, 3, 10]) * TICK
    stream = None
    for texts, n_rows in example.runs:
        query = query_of(texts, **example.options)
        come = {} if stream is None else _come(stream, example.table, at, is_late)
        for name in present.keys() - texts.keys():
            present.pop(name).end = at
        for name in texts.keys() - present.keys():
            present[name] = Life(texts[name], at, {} if stream is None else come)
            lives.append(present[name])
        if stream is not None:
            stream.operator.close()
        stream = Stream(query, example.table, draw)
        stream.stores, stream.watermark = stores, watermark
        end, has_run = at + n_rows, False  # the checkpoint is that of the patterns that it was last run with
        while at < end or not has_run or draw.random() < 0.5:
            has_run = True
            previous, watermark = watermark, max(watermark, (high - delay) // 1000 * 1000)
            rows = example.table.slice(at, min(draw.choice([0, 1, 2, 5]), end - at))
            at += rows.num_rows
            times = rows.column(TIME).cast(pa.int64()).to_pylist()
            is_late += [0 < previous >= time for time in times]
            for advanced in stream.batch(rows, watermark):
                _give(present, stream.cut.result(advanced.rows))
            high = max([high, *times])
            if high and draw.random() < 0.1:
                high += draw.choice([1, 4, 50]) * TICK
        stores = stream.stores
    assert stream is not None
    drained = stream.cut.result(stream.drain())
    _give(present, drained)
    return next(filter(None, (_difference(example, life, is_late) for life in lives)), None)


def _come(stream: Stream, table: pa.Table, at: int, is_late: list[bool]) -> dict[int, int]:
    """By bucket the latest time that has come, or that the watermark has passed."""
    sent = stream.cut.rows(table.slice(0, at).filter(pa.array([not late for late in is_late], pa.bool_())))
    found = dict.fromkeys(range(N_BUCKETS), stream.watermark)
    times = sent.column(stream.task.time).cast(pa.int64()).to_pylist()
    for time, number in zip(times, few_hashes(sent, stream.task.hashed).tolist(), strict=True):
        bucket = number % N_BUCKETS
        found[bucket] = max(found[bucket], time)
    return found


def _give(present: dict[str, Life], rows: pa.Table) -> None:
    for name, match in matches_of(rows, {name: life.text for name, life in present.items()}):
        present[name].given[match] += 1


def matches_of(rows: pa.Table, texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Names and events of the matches, which are numbered in their partitions."""
    found: defaultdict[tuple[Any, ...], list[str]] = defaultdict(list)
    for row in rows.to_pylist():
        name = row["pattern"]
        found[name, row["match_id"], row["k"] if "[k]" in texts[name] else ""].append(f"{row['variable']} {row['b']}")
    for (name, *_), events in found.items():
        yield name, "; ".join(events)


def _difference(example: Changing, life: Life, is_late: list[bool]) -> str | None:
    end = example.table.num_rows if life.end is None else life.end
    keep = [life.begin <= place < end and not late for place, late in enumerate(is_late)]
    rows = example.table.filter(pa.array(keep, pa.bool_()))
    query = query_of({"p": life.text}, **example.options)
    wanted: Matches = Counter()
    times = dict(zip(rows.column("b").to_pylist(), rows.column(TIME).cast(pa.int64()).to_pylist(), strict=True))
    buckets = _buckets(query, rows)
    for _, match in matches_of(query.batch(rows), {"p": life.text}):
        first = int(match.split(";")[0].split()[1])
        if times[first] > life.born.get(buckets[first], 0):
            wanted[match] += 1
    # What was undecided when a pattern went is not given. What was given is decided, so it is right over these rows.
    missing, wrong = wanted - life.given if life.end is None else Counter[str](), life.given - wanted
    if not missing and not wrong:
        return None
    return f"{life}\nmissing {dict(missing)}\nwrong {dict(wrong)}"


def _buckets(query: WorkloadQuery, rows: pa.Table) -> dict[int, int]:
    """By event the bucket it goes to."""
    cut = query.cut(rows)
    sent = cut.numbered(rows)
    numbers = rows.column("b").to_pylist()
    places = sent.column("rex_place").to_pylist()
    hashes = few_hashes(sent, cut.lowered.keys).tolist()
    return {numbers[place]: key % N_BUCKETS for place, key in zip(places, hashes, strict=True)}
