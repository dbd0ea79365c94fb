"""Many partitions open at once, their rows cut into feeds at random: what whole partitions give, in the same order.

Feeds have any of the open slots, in any order, some without rows; the horizon moves between rows; slots are selected,
states merged, saved and restored. `REX_EVENT_EXAMPLES` sets how many examples are run and `REX_SEED` the seed.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.modes.events.any_order_draws import generate_any_order
from tests.modes.events.building import here, last, query, seq, stream
from tests.modes.events.draws import Example, events, generate
from tests.modes.events.engine_runs import arranged, evaluator_of, matches_of, runner_of
from tests.modes.events.equalities import generate_equalities
from tests.modes.rows.property.draws import RandomDraw
from tests.modes.segments.building import call

from sparkrex.columns.arrange import Arrangement
from sparkrex.errors import ExecutionError
from sparkrex.matching.event_order import order_columns
from sparkrex.matching.feed import Feed
from sparkrex.matching.slot_table import offsets_of
from sparkrex.matching.state import State
from sparkrex.modes.events.nfab import matcher
from sparkrex.modes.events.pattern import absences
from sparkrex.modes.events.plan import Strategy
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.events.engine_runs import Match

    from sparkrex.hosts.duckdb.host import RelationEvaluator
    from sparkrex.modes.events.runner import EventRunner

N_EXAMPLES = int(os.environ.get("REX_EVENT_EXAMPLES", "240")) // 4
SEED = int(os.environ.get("REX_SEED", "20080613"))
N_STREAMS = 4

Numbered = list[tuple[int, "Match"]]
"""Matches of a slot with their numbers."""


@dataclass
class Partition:
    """The rows of one partition: how many were fed so far, which slot it has (-1: none yet), what was found."""

    table: pa.Table
    times: list[Any]
    n_fed: int = 0
    slot: int = -1
    is_closed: bool = False
    found: Numbered = field(default_factory=list)

    @property
    def next_time(self) -> tuple[bool, Any] | None:
        """Of the next row, None if there is none."""
        return _time_order(self.times[self.n_fed]) if self.n_fed < len(self.times) else None


def _time_order(time: Any) -> tuple[bool, Any]:
    """NaN is above all numbers."""
    is_nan = isinstance(time, float) and time != time
    return is_nan, 0.0 if is_nan else time


def partitions_of(runner: EventRunner, streams: list[list[dict[str, Any]]]) -> list[Partition]:
    """The partitions of several streams, each row with a number of its own."""
    found = []
    for number, rows in enumerate(streams):
        table, arrangement = arranged(runner, rows)
        numbers = pa.array([1000 * number + row for row in table.column("rex_number").to_pylist()], pa.int64())
        table = table.set_column(table.column_names.index("rex_number"), "rex_number", numbers)
        for begin, end in zip(arrangement.offsets[:-1], arrangement.offsets[1:], strict=True):
            part = table.take(arrangement.input_rows(np.arange(begin, end)))
            found.append(Partition(part, part.column(order_columns(runner.query)[0]).to_pylist()))
    return found


def feed_of(
    draw: random.Random, parts: list[tuple[Partition, int]], opens: list[bool], closes: list[bool],
    horizon: pa.Scalar | None = None,
) -> Feed:
    """The next rows of some partitions, so many of each; in the table they are in any order."""
    lengths = np.array([n_rows for _, n_rows in parts], np.int64)
    table = pa.concat_tables([part.table.slice(part.n_fed, n_rows) for part, n_rows in parts])
    order = None
    if draw.random() < 0.5:
        order = np.array(draw.sample(range(table.num_rows), table.num_rows), np.int64)
        table = table.take(np.argsort(order))
    for part, n_rows in parts:
        part.n_fed += n_rows
    slots = np.array([part.slot for part, _ in parts], np.int64)
    arrangement = Arrangement(order, offsets_of(lengths), table.num_rows)
    return Feed(table, arrangement, slots, np.array(opens, np.bool_), np.array(closes, np.bool_), horizon)


def fed(runner: EventRunner, state: State, feed: Feed, parts: list[Partition]) -> None:
    """Feed, and note what was found in its partition."""
    owner = {number: part for part in parts for number in part.table.column("rex_number").to_pylist()}
    decided = runner.decide(state, feed)
    for number, match in zip(decided.numbers.tolist(), matches_of(runner, decided), strict=True):
        owner[match[0][0]].found.append((number, match))


def drawn_horizon(draw: random.Random, parts: list[Partition]) -> Any:
    """Some time of a row before all rows to come; None if there is none, and now and then."""
    to_come = min((part.next_time for part in parts if part.next_time is not None), default=(True, 1.0))
    times = {time for part in parts for time in part.times if _time_order(time) < to_come}
    if not times or draw.random() < 0.3:
        return None
    return sorted(times, key=_time_order)[-draw.choice([1, 1, 2, 3]) :][0]


def in_pieces(runner: EventRunner, partitions: list[Partition], draw: random.Random, counts: Counter[str]) -> None:
    """Feed all partitions, piece by piece, many of them open at once."""
    state, n_slots = runner.open(), 0
    time = order_columns(runner.query)[0]
    while True:
        left = [part for part in partitions if not part.is_closed]
        if not left:
            return
        chosen = draw.sample(left, draw.randint(0, len(left)))
        rows = [(part, min(draw.choice([0, 1, 1, 2, 4]), len(part.times) - part.n_fed)) for part in chosen]
        opens = [part.slot < 0 for part in chosen]
        for part in chosen:
            if part.slot < 0:
                part.slot, n_slots = n_slots, n_slots + 1
        if not chosen:
            continue
        closes = [part.n_fed + n_rows == len(part.times) and draw.random() < 0.5 for part, n_rows in rows]
        for part, n_rows in rows:
            part.n_fed += n_rows
        value = drawn_horizon(draw, partitions)
        for part, n_rows in rows:
            part.n_fed -= n_rows
        horizon = None if value is None else pa.scalar(value, partitions[0].table.schema.field(time).type)
        feed = feed_of(draw, rows, opens, closes, horizon)
        fed(runner, state, feed, partitions)
        counts.update(feeds=1, slots=len(chosen), horizons=horizon is not None, empty=not feed.table.num_rows)
        for part, is_closed in zip(chosen, closes, strict=True):
            part.is_closed = is_closed
        counts["most open"] = max(counts["most open"], sum(p.slot >= 0 and not p.is_closed for p in partitions))
        state, n_slots = moved(runner, state, n_slots, partitions, draw)


def moved(
    runner: EventRunner, state: State, n_slots: int, partitions: list[Partition], draw: random.Random
) -> tuple[State, int]:
    """The same state, saved and restored, or put together from two in another order."""
    what = draw.choice(["nothing", "nothing", "saved", "split"])
    if what == "saved":
        return runner.open().restore(state.snapshot("q"), "q"), n_slots
    if what == "split":
        is_open = [part for part in partitions if part.slot >= 0 and not part.is_closed]
        order = draw.sample(is_open, len(is_open))
        cut = draw.randint(0, len(order))
        halves = [np.array([part.slot for part in half], np.int64) for half in (order[:cut], order[cut:])]
        state = State.merge([state.select(half) for half in halves])
        for slot, part in enumerate(order):
            part.slot = slot
        return state, len(order)
    return state, n_slots


def whole(runner: EventRunner, partitions: list[Partition]) -> list[Numbered]:
    """What whole partitions give."""
    draw = random.Random(0)
    for slot, part in enumerate(partitions):
        part.slot = slot
    always = [True] * len(partitions)
    if partitions:
        fed(runner, runner.open(), feed_of(draw, [(p, len(p.times)) for p in partitions], always, always), partitions)
    found = [part.found for part in partitions]
    for part in partitions:
        part.n_fed, part.slot, part.found = 0, -1, []
    return found


@pytest.fixture(scope="module")
def evaluator() -> RelationEvaluator:
    """One host for all queries."""
    return evaluator_of(query(seq("A a"), Strategy.ANY))


MAKERS = {"any query": generate, "equalities": generate_equalities, "any order": generate_any_order}


@pytest.mark.parametrize("source", sorted(MAKERS))
def test_many_open_slots_are_whole_partitions(
    source: str, evaluator: RelationEvaluator, record_property: Callable[[str, object], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(matcher, "LEAST_ROWS", 1)  # so that these few rows are worth several threads
    counts: Counter[str] = Counter()
    make = MAKERS[source]
    for number in range(N_EXAMPLES):
        seed = SEED + number
        draw, choices = RandomDraw(random.Random(seed)), random.Random(seed)
        example = make(draw)
        asked = example.query
        has_ties = len(asked.order_by) > 1
        most = 6 if asked.strategy is Strategy.ANY else 9
        streams = [example.rows] + [
            events(draw, most, n_keys=3, has_ties=has_ties, parts=True) for _ in range(N_STREAMS - 1)
        ]
        settings = Settings(threads=choices.choice([1, 2]), matcher=choices.choice(["nfab", "basic"]))
        runner = runner_of(asked, evaluator, settings)
        partitions = partitions_of(runner, streams)
        expected = whole(runner, partitions)
        in_pieces(runner, partitions, choices, counts)
        found = [part.found for part in partitions]
        all_rows = [row for rows in streams for row in rows]
        assert found == expected, f"seed {seed}, {settings}\n{Example(asked, all_rows)}"
        for matches in found:
            assert [number for number, _ in matches] == list(range(1, len(matches) + 1))
        counts.update(examples=1, matches=sum(map(len, found)), negated=bool(absences(asked.pattern)))
    record_property("coverage", f"event queries over many slots, {source}: {dict(counts)}")
    if counts["examples"] >= 40:
        assert counts["most open"] >= 6
        assert min(counts[name] for name in ("matches", "horizons", "empty")) > counts["examples"]


@pytest.mark.parametrize(("kinds", "code"), [("AA", "REX409"), ("AC", "REX405")])
def test_an_error_has_its_slot(kinds: str, code: str, evaluator: RelationEvaluator) -> None:
    """Of slots 5 and 3 the second fails: by a row tied with the one that was fed before, and by a sum."""
    asked = query(seq("A a", "C c"), Strategy.ANY, begin={"c": call("gt", call("add", here("x"), last("a", "x")), 0)})
    runner = runner_of(asked, evaluator, Settings(threads=1))
    moves_on = code == "REX405"
    failing = [row | {"x": 2**63 - 1, "t": 1 + moves_on * place} for place, row in enumerate(stream(*kinds))]
    partitions = partitions_of(runner, [stream("A", "A"), failing])
    for part, slot in zip(partitions, (5, 3), strict=True):
        part.slot = slot
    state, draw = runner.open(), random.Random(1)
    runner.decide(state, feed_of(draw, [(part, 1) for part in partitions], [True, True], [False, False]))
    with pytest.raises(ExecutionError, match=code) as caught:
        runner.decide(state, feed_of(draw, [(part, 1) for part in partitions], [False, False], [True, False]))
    assert caught.value.slot == 3
