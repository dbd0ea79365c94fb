"""The nfab matcher where it must remember: merged runs, saved states, long streams. Events are named by their time."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.modes.events.building import aggregate, here, last, query, seq, stream
from tests.modes.events.draws import Example, events, generate
from tests.modes.events.engine_runs import OnePartition, engine_matches, evaluator_of, runner_of, table_of
from tests.modes.events.oracle import find_matches
from tests.modes.rows.property.draws import RandomDraw
from tests.modes.segments.building import call

from sparkrex.errors import ExecutionError
from sparkrex.modes.events.kernels.codes import MERGES, RUN_STEPS
from sparkrex.modes.events.mode import EventsMode
from sparkrex.modes.events.nfab.automaton import compile_automaton
from sparkrex.modes.events.plan import EventQuery, Strategy
from sparkrex.pipeline import run_relation
from sparkrex.settings import Settings
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from sparkrex.hosts.duckdb.host import RelationEvaluator

PAIR = query(seq("A a", "B b"), Strategy.NEXT)
FED = ("nfab", "basic")
"""The algorithms that take a partition in parts."""


@pytest.fixture(scope="module")
def evaluator() -> RelationEvaluator:
    """One host for all queries."""
    return evaluator_of(PAIR)


def partition_of(asked: EventQuery, evaluator: RelationEvaluator, algorithm: str = "nfab") -> OnePartition:
    """One partition, in one thread."""
    return OnePartition(runner_of(asked, evaluator, Settings(threads=1, matcher=algorithm)))


def at(*moments: tuple[int, str]) -> list[dict[str, Any]]:
    """Events of these types at these times."""
    return [row | {"t": t} for row, (t, _) in zip(stream(*(kind for _, kind in moments)), moments, strict=True)]


@pytest.mark.parametrize("algorithm", EventsMode.matchers)
def test_of_two_merged_runs_only_the_younger_is_inside_the_window(
    algorithm: str, evaluator: RelationEvaluator
) -> None:
    # The runs from 1 and 2 both take 3, and nothing that is asked later tells them apart. At 4 one is too old.
    asked = query(seq("A a", "B+ b", "C c"), Strategy.NEXT, within=2)
    partition = partition_of(asked, evaluator, algorithm)
    assert partition.feed(stream("A", "A", "B", "C"), closes=True) == [((2, 3, 4), ("a", "b", "c"))]
    assert (partition.statistics[MERGES] > 0) == (algorithm == "nfab")


def test_runs_are_merged_when_their_maximum_is_the_same(evaluator: RelationEvaluator) -> None:
    # Figure 6 of the paper: Query 3 with max() for avg(). After e4 the runs from e1 and e3 have one maximum (121) and
    # one last volume (999), so that they take, ignore and end alike from there on.
    pairs = [(100, 1010), (120, 990), (120, 1005), (121, 999), (120, 999), (125, 750), (120, 950), (120, 700)]
    rows = [{"symbol": "S", "t": t, "price": price, "volume": volume} for t, (price, volume) in enumerate(pairs, 1)]
    asked = query(
        seq("Any+ a", "Any b"), Strategy.NEXT, partition=("symbol",), within=3600,
        begin={
            "a": call("gt", here("volume"), 1000),
            "b": call("lt", here("volume"), call("multiply", 0.8, last("a", "volume"))),
        },
        take={"a": call("gt", here("price"), aggregate("max", "a", "price"))},
    )
    # e1 takes e2 (120), not e3, takes e4; e5 is not above 121, e6 is b and could be taken: the same for e3.
    expected = [((1, 2, 4, 6), ("a", "a", "a", "b")), ((3, 4, 6), ("a", "a", "b"))]
    merging, basic = partition_of(asked, evaluator), partition_of(asked, evaluator, "basic")
    for partition in (merging, basic):
        found = partition.feed(rows, closes=True)
        assert sorted(found) == expected
        assert expected == [(tuple(row + 1 for row in of), names) for of, names in sorted(find_matches(asked, rows))]
    assert merging.statistics[MERGES] == 1
    assert merging.statistics[RUN_STEPS] < basic.statistics[RUN_STEPS]


@pytest.mark.parametrize(("late", "expected"), [(6, []), (7, [((1, 2), ("a", "b"))])])
@pytest.mark.parametrize("algorithm", FED)
def test_a_state_saved_in_the_middle_of_an_end_negation(
    algorithm: str, late: int, expected: list[Any], evaluator: RelationEvaluator
) -> None:
    # The match of 1 and 2 waits until 6 = 1 + 5 has passed. An R at 6 disqualifies it, one at 7 comes too late.
    asked = query(seq("A a", "B b", "~R r"), Strategy.NEXT, within=5)
    partition = partition_of(asked, evaluator, algorithm)
    assert partition.feed(at((1, "A"), (2, "B"))) == []
    assert partition.feed(at((3, "C"))) == []
    restored = OnePartition(partition_of(asked, evaluator, algorithm).runner, partition.saved())
    found = restored.feed(at((late, "R")))
    found += restored.feed(at((8, "C")), closes=True)
    assert found == expected


def test_backtracking_says_that_it_needs_whole_partitions(evaluator: RelationEvaluator) -> None:
    assert partition_of(PAIR, evaluator, "backtrack").runner.refusal == (
        "the matcher backtrack runs one run at a time, over whole partitions"
    )
    assert [partition_of(PAIR, evaluator, algorithm).runner.refusal for algorithm in FED] == [None, None]


def test_a_match_is_given_once_its_window_has_passed(evaluator: RelationEvaluator) -> None:
    asked = query(seq("A a", "B b", "~R r"), Strategy.NEXT, within=5)
    partition = partition_of(asked, evaluator)
    assert partition.feed(at((1, "A"), (2, "B"), (6, "C"))) == []
    assert partition.feed(at((7, "C"))) == [((1, 2), ("a", "b"))]
    assert partition.feed(at((8, "R")), closes=True) == []


@pytest.mark.parametrize("non_overlapping", [False, True])
def test_a_match_is_given_once_the_horizon_is_at_the_end_of_its_window(
    non_overlapping: bool, evaluator: RelationEvaluator
) -> None:
    """Nothing at 6 or before it will come: an R that the window of 1 to 6 takes would be among that."""
    asked = query(seq("A a", "B b", "~R r"), Strategy.NEXT, within=5, non_overlapping=non_overlapping)
    partition = partition_of(asked, evaluator)
    assert partition.feed(at((1, "A"), (2, "B")), horizon=2) == []
    assert partition.feed([], horizon=5) == []
    assert partition.feed([], horizon=6) == [((1, 2), ("a", "b"))]
    assert partition.feed(at((7, "R")), closes=True) == []


def test_the_horizon_ends_runs(evaluator: RelationEvaluator) -> None:
    asked = query(seq("A a", "B b"), Strategy.NEXT, within=5)
    partition = partition_of(asked, evaluator, "basic")
    assert partition.feed(at((1, "A"), (3, "A")), horizon=3) == []
    for horizon, n_runs in ((5, 2), (6, 1), (7, 1), (8, 0)):
        assert partition.feed([], horizon=horizon) == []
        assert partition.n_kept("runs") == n_runs
    assert partition.n_kept("rows") == 0  # no row to come can be tied with the last one


def test_a_match_does_not_overtake_one_that_waits(evaluator: RelationEvaluator) -> None:
    """1 and 4 end after 2 and 3 and their window passes before: the order is that of the whole stream."""
    asked = query(
        seq("A a", "B b", "~R r"), Strategy.ANY, within=5, begin={"b": call("eq", here("x"), last("a", "x"))}
    )
    rows = [row | {"x": x} for row, x in zip(at((1, "A"), (2, "A"), (3, "B"), (4, "B")), [1, 2, 2, 1], strict=True)]
    expected = [((2, 3), ("a", "b")), ((1, 4), ("a", "b"))]
    assert partition_of(asked, evaluator).feed(rows, closes=True) == expected
    partition = partition_of(asked, evaluator)
    assert partition.feed(rows, horizon=6) == []  # (1, 4) is decided
    saved = partition.saved()
    assert partition.feed([], horizon=7) == expected
    refused = OnePartition(partition.runner, saved)
    assert refused.feed(at((7, "R")), closes=True) == expected[1:]


@pytest.mark.parametrize("chunk", [None, 1, 2, 3])
def test_a_run_that_began_at_the_time_of_the_last_match_overlaps_it(
    chunk: int | None, evaluator: RelationEvaluator
) -> None:
    # Event 0 is a match: no C is at most two events later. Behind it a match starts at 2 or later in time: 3 alone has
    # the C behind it, 3 and 4 have nothing. The run that began with event 2 is under way while 3 comes.
    asked = query(
        seq("Any* a", "Any+ b", "~C n"), Strategy.PARTITION, partition=("k",), within=2, unit=WindowUnit.EVENTS,
        tie_break=("x",), strict_ties=True, non_overlapping=True,
    )
    rows = [row | {"x": number} for number, row in enumerate(at((1, "A"), (1, "A"), (1, "A"), (2, "A"), (3, "C")))]
    found = engine_matches(asked, rows, chunk=chunk, evaluator=evaluator)
    assert found == [((0,), ("b",)), ((3, 4), ("a", "b"))] == find_matches(asked, rows)


def test_one_saved_state_has_many_futures(evaluator: RelationEvaluator) -> None:
    asked = query(seq("A+ a", "B b"), Strategy.ANY, within=10, take={"a": call("gt", here("x"), last("a", "x"))})
    partition = partition_of(asked, evaluator)
    assert partition.feed([row | {"x": row["t"]} for row in at((1, "A"), (2, "A"))]) == []
    saved = partition.saved()
    for kind, n_found in (("B", 3), ("C", 0)):
        assert len(OnePartition(partition.runner, saved).feed(at((3, kind)), closes=True)) == n_found


@pytest.mark.parametrize("unit", [WindowUnit.NUMBER, WindowUnit.EVENTS])
@pytest.mark.parametrize(
    "asked",
    [
        query(seq("A a", "B+ b", "C c"), Strategy.NEXT, within=6),
        query(seq("A a", "B+ b", "C c"), Strategy.ANY, within=6),
        query(seq("~R r", "A a", "B b", "~R s"), Strategy.NEXT, within=6),
        query(seq("A a", "B b", "~R r"), Strategy.NEXT, within=6, non_overlapping=True),
    ],
    ids=["next", "any", "negation", "non-overlapping"],
)
def test_a_long_stream_in_chunks_is_held_back_by_the_window_only(
    asked: EventQuery, unit: WindowUnit, evaluator: RelationEvaluator
) -> None:
    assert asked.window is not None
    asked = replace(asked, window=replace(asked.window, unit=unit), relevant=None)
    source = random.Random(6)
    rows = [row | {"t": t} for t, row in enumerate(stream(*source.choices("ABCR", [4, 4, 4, 1], k=1500)))]
    partition = partition_of(asked, evaluator)
    found: list[Any] = []
    most_rows, most_bytes = 0, 0
    for first in range(0, len(rows), 50):
        found += partition.feed(rows[first : first + 50], closes=first + 50 == len(rows))
        most_rows, most_bytes = max(most_rows, partition.n_kept("rows")), max(most_bytes, partition.state.nbytes)
    assert found == partition_of(asked, evaluator).feed(rows, closes=True)
    assert len(found) > 100
    # Twice the window: what an undecided match and a negation in front of it may read.
    assert most_rows <= 13
    assert most_bytes < 50_000


def test_longer_streams_by_every_algorithm(evaluator: RelationEvaluator) -> None:
    """Too long for the oracle under skip till any match; but all ways agree."""
    n_matches = 0
    for number in range(60):
        draw = RandomDraw(random.Random(number))
        asked = generate(draw).query
        if not compile_automaton(asked.pattern, asked.source).is_unambiguous:
            continue  # both follow every way to read a match, and there may be exponentially many
        most = 14 if asked.strategy is Strategy.ANY else 40
        rows = events(draw, most, n_keys=3, has_ties=len(asked.order_by) > 1, parts=True)
        found = sorted(engine_matches(asked, rows, evaluator=evaluator))
        for algorithm, chunk in (("basic", None), ("backtrack", None), ("nfab", 7)):
            settings = Settings(threads=1, matcher=algorithm)
            again = engine_matches(asked, rows, chunk=chunk, evaluator=evaluator, settings=settings)
            assert sorted(again) == found, f"{algorithm} {chunk}\n{Example(asked, rows)}"
        if asked.strategy is not Strategy.ANY:
            assert sorted(find_matches(asked, rows)) == found, str(Example(asked, rows))
        n_matches += len(found)
    assert n_matches > 500


def test_too_many_runs_are_an_error(evaluator: RelationEvaluator) -> None:
    # 2 ** 40 subsequences.
    asked = query(seq("A+ a", "B b"), Strategy.ANY)
    rows = stream(*"A" * 40, "B")
    with pytest.raises(ExecutionError) as caught:
        engine_matches(
            asked, rows, evaluator=evaluator,
            settings=Settings(threads=1, max_event_memory=1 << 20),
        )
    assert caught.value.code == "REX410"


@pytest.mark.parametrize("strict_ties", [False, True])
@pytest.mark.parametrize("chunk", [None, 1])
def test_events_that_nothing_tells_apart_are_an_error(
    strict_ties: bool, chunk: int | None, evaluator: RelationEvaluator
) -> None:
    asked = replace(PAIR, has_strict_ties=strict_ties)
    table = table_of(at((1, "A"), (2, "A"), (2, "B")))
    with pytest.raises(ExecutionError) as caught:
        run_relation(asked, table, evaluator, Settings(threads=1, chunk_rows=chunk))
    assert caught.value.code == "REX409"
