"""The rules of event queries on cases whose answers are derived by hand: asked of the oracle and of the engine.

Events count from 1, and a match is written as its variables with their events: `a1 a2 b4`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given
from tests.modes.events.building import (
    aggregate,
    either,
    final,
    first,
    first_of_all,
    here,
    last,
    query,
    repeat,
    seq,
    stream,
)
from tests.modes.events.draws import Example, generate
from tests.modes.events.engine_runs import engine_matches, evaluator_of
from tests.modes.events.oracle import TiedEvents, evaluate, find_matches, partitions
from tests.modes.events.sentences import matches_by_sentences
from tests.modes.rows.property.draws import strategy
from tests.modes.segments.building import call

from sparkrex.modes.events.mode import EventsMode
from sparkrex.modes.events.plan import EventQuery, Strategy
from sparkrex.modes.plan import Measure
from sparkrex.settings import Settings
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from sparkrex.hosts.duckdb.host import RelationEvaluator

STRICT, PARTITION, NEXT, ANY = Strategy.STRICT, Strategy.PARTITION, Strategy.NEXT, Strategy.ANY


@cache
def evaluator() -> RelationEvaluator:
    """One host for all queries."""
    return evaluator_of(query(seq("A a"), ANY))


def found(asked: EventQuery, rows: list[dict[str, Any]]) -> list[str]:
    """The matches in the oracle's order; the engine must find the same by every algorithm."""
    matches = find_matches(asked, rows)
    for algorithm in EventsMode.matchers:
        settings = Settings(threads=1, matcher=algorithm)
        by_engine = engine_matches(asked, rows, evaluator=evaluator(), settings=settings)
        assert sorted(by_engine) == sorted(matches), algorithm
    return [" ".join(f"{variable}{row + 1}" for row, variable in zip(*match, strict=True)) for match in matches]


# The queries of the paper.


def test_query_1_shoplifting() -> None:
    # Tag 1: from the shelf (1, 3) to the exit (6) with no register between. Tag 2: the register (4) is between 2 and 7.
    # Tag 3: the register comes first. Skip till next: the first exit after a shelf reading, so not 8 for tag 1.
    kinds = ["Shelf", "Shelf", "Shelf", "Register", "Register", "Exit", "Exit", "Exit", "Shelf", "Exit"]
    tags = [1, 2, 1, 2, 3, 1, 2, 1, 3, 3]
    rows = [
        {"tag": tag, "ts": datetime(2024, 1, 1, hour), "kind": kind}
        for hour, (kind, tag) in enumerate(zip(kinds, tags, strict=True))
    ]
    twelve_hours = 12 * 3_600_000_000
    asked = query(
        seq("Shelf a", "~Register b", "Exit c"), NEXT, partition=("tag",), time="ts", within=twelve_hours,
        unit=WindowUnit.TIME, columns=("tag", "ts", "kind"),
    )
    assert found(asked, rows) == ["a1 c6", "a3 c6", "a9 c10"]
    # Event 6 is five hours after event 1, two after event 3, and an hour passes from 9 to 10.
    four_hours = asked.window and replace(asked.window, size=twelve_hours // 3)
    assert found(replace(asked, window=four_hours), rows) == ["a3 c6", "a9 c10"]


def test_query_2_contamination() -> None:
    # Shipments: 2 X->Y, 3 X->Z, 4 Y->W, 5 Z->W, 6 W->V; 7 is from U, where nothing is contaminated. All ways from X.
    ways = [("Alert", "X", ""), ("Shipment", "X", "Y"), ("Shipment", "X", "Z"), ("Shipment", "Y", "W"),
            ("Shipment", "Z", "W"), ("Shipment", "W", "V"), ("Shipment", "U", "V")]
    rows = [
        {"t": 30 * t, "kind": kind, "type": "contaminated", "site": source, "from": source, "to": to}
        for t, (kind, source, to) in enumerate(ways)
    ]
    asked = query(
        seq("Alert a", "Shipment+ b"), ANY, within=180,
        begin={"a": call("eq", here("type"), "contaminated"), "b": call("eq", here("from"), last("a", "site"))},
        take={"b": call("eq", here("from"), last("b", "to"))},
        measures=[Measure("reached", final(last("b", "to"))), Measure("hops", final(aggregate("count", "b")))],
    )
    assert found(asked, rows) == ["a1 b2", "a1 b3", "a1 b2 b4", "a1 b3 b5", "a1 b2 b4 b6", "a1 b3 b5 b6"]
    assert evaluate(asked, rows) == [("Y", 1), ("Z", 1), ("W", 2), ("W", 2), ("V", 3), ("V", 3)]
    # Under skip till next match a run does not look further once a shipment fits: event 2 hides 3.
    assert found(replace(asked, strategy=NEXT), rows) == ["a1 b2", "a1 b2 b4", "a1 b2 b4 b6"]


def test_query_3_stock_trend() -> None:
    # Starts: e1 and e3 (volume above 1000).
    # From e1 every later price is above the average so far (100, 110, 113.3, 115.25, 116.2, 117.7, 118), so each event
    # is taken, and b can only be the event next to the last a: e6 (750 < 80% of 999) and e8 (700 < 80% of 950).
    # From e3 (120): e4 (121) is taken, then the average is 120.5: e5 (120) is not, e6 (125) is, and e6 is also b, for
    # 750 < 80% of 999. With e6 the average is 122: e7 and e8 are not taken, and 950, 700 are not below 80% of 750.
    # So there is nothing beside R1, R2 and R3.
    pairs = [(100, 1010), (120, 990), (120, 1005), (121, 999), (120, 999), (125, 750), (120, 950), (120, 700)]
    rows = [
        {"symbol": "S", "t": t, "price": price, "volume": volume} for t, (price, volume) in enumerate(pairs, 1)
    ]
    asked = query(
        seq("Any+ a", "Any b"), NEXT, partition=("symbol",), within=3600,
        begin={
            "a": call("gt", here("volume"), 1000),
            "b": call("lt", here("volume"), call("multiply", 0.8, last("a", "volume"))),
        },
        take={"a": call("gt", here("price"), aggregate("avg", "a", "price"))},
    )
    assert found(asked, rows) == [
        "a1 a2 a3 a4 a5 b6",
        "a3 a4 b6",
        "a1 a2 a3 a4 a5 a6 a7 b8",
    ]
    # R1 completes with e6 as R2 does, and starts earlier; R3 overlaps it.
    assert found(replace(asked, is_non_overlapping=True), rows) == ["a1 a2 a3 a4 a5 b6"]


# Strategies: one query, one stream.

RISE = {"a": call("gt", here("x"), last("a", "x"))}


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        # e2 is not above e1, so nothing goes on from e1; e2 e3 rise, and e4 (B) is next to e3.
        (STRICT, ["a2 a3 b4", "a3 b4"]),
        (PARTITION, ["a2 a3 b4", "a3 b4"]),
        # From e1: e2 is ignored, e3 taken. b is any B with no rise before it: e4, and with e5 (x = 4) being taken from
        # e3 (x = 3), not e6. From e5 e6 follows. Prefixes: e1 alone cannot have b4, for e3 rises over it in between.
        (NEXT, ["a1 a3 b4", "a2 a3 b4", "a3 b4", "a1 a3 a5 b6", "a2 a3 a5 b6", "a3 a5 b6", "a5 b6"]),
        # Every rising subsequence of the As 2, 1, 3, 4, then a later B.
        (ANY, [
            "a1 b4", "a1 a3 b4", "a2 b4", "a2 a3 b4", "a3 b4",
            "a1 b6", "a1 a3 b6", "a1 a5 b6", "a1 a3 a5 b6",
            "a2 b6", "a2 a3 b6", "a2 a5 b6", "a2 a3 a5 b6", "a3 b6", "a3 a5 b6", "a5 b6",
        ]),
    ],
)
def test_each_strategy_on_the_same_stream(strategy: Strategy, expected: list[str]) -> None:
    rows = stream(("A", 2), ("A", 1), ("A", 3), ("B", 0), ("A", 4), ("B", 0))
    partition = () if strategy is STRICT else ("k",)
    asked = query(seq("A+ a", "B b"), strategy, take=RISE, partition=partition)
    if strategy in (STRICT, PARTITION):
        expected = [*expected, "a5 b6"]
    assert found(asked, rows) == expected


def test_contiguity_in_the_stream_and_in_a_partition() -> None:
    rows = stream("A", "A", "B", "B")
    for row, key in zip(rows, "pqpq", strict=True):
        row["k"] = key
    # In the stream neighbours are of different keys, or of one kind; in each partition A and B are neighbours.
    pattern = seq("A a", "B b")
    same_key = {"b": call("eq", here("k"), first_of_all(pattern, "k"))}
    assert found(query(pattern, STRICT, begin=same_key), rows) == []
    assert found(query(pattern, STRICT), rows) == ["a2 b3"]
    assert found(query(pattern, PARTITION, partition=("k",)), rows) == ["a1 b3", "a2 b4"]


def test_events_of_other_types_break_contiguity() -> None:
    rows = stream("A", "C", "B")
    assert found(query(seq("A a", "B b"), PARTITION, partition=("k",)), rows) == []
    assert found(query(seq("A a", "B b"), NEXT, partition=("k",)), rows) == ["a1 b3"]


def test_a_null_in_an_equivalence_test_is_in_no_match() -> None:
    rows = stream("A", "A", "B", "B")
    rows[0]["k"] = rows[2]["k"] = None
    assert found(query(seq("A a", "B b"), NEXT, partition=("k",)), rows) == ["a2 b4"]
    # It is not in the partition, so that it does not break contiguity there; it does in the stream.
    assert found(query(seq("A a", "B b"), PARTITION, partition=("k",)), rows) == ["a2 b4"]
    pattern = seq("A a", "B b")
    same_key = {"b": call("eq", here("k"), first_of_all(pattern, "k"))}
    assert found(query(pattern, STRICT, begin=same_key), rows) == []


def test_a_single_component_is_the_first_that_fits() -> None:
    rows = stream("A", ("B", 1), ("B", 2), ("B", 3))
    asked = query(seq("A a", "B b"), NEXT, begin={"b": call("ge", here("x"), 2)})
    assert found(asked, rows) == ["a1 b3"]
    assert found(replace(asked, strategy=ANY), rows) == ["a1 b3", "a1 b4"]


def test_a_condition_that_is_null_does_not_hold() -> None:
    rows = stream("A", ("B", None), ("B", 2))
    positive = {"b": call("gt", here("x"), 1)}
    assert found(query(seq("A a", "B b"), NEXT, begin=positive), rows) == ["a1 b3"]
    # Nor does its negation.
    negative = {"b": call("not", call("gt", here("x"), 5))}
    assert found(query(seq("A a", "B b"), NEXT, begin=negative), rows) == ["a1 b3"]


def test_take_and_proceed_with_one_event() -> None:
    # Every event may be taken, and every event but the first may be b: b is always next to the last a.
    asked = query(seq("Any+ a", "Any b"), NEXT, begin={"a": call("eq", here("x"), 0)})
    assert found(asked, stream(("A", 0), ("A", 1), ("A", 2))) == ["a1 b2", "a1 a2 b3"]


def test_ignore_and_proceed_with_one_event() -> None:
    # e2 (x = 1) is not above e1 (x = 2): the run that ends with it goes on waiting for more, and takes e3.
    asked = query(seq("Any+ a", "Any b"), NEXT, begin={"a": call("eq", here("kind"), "A")}, take=RISE)
    assert found(asked, stream(("A", 2), ("B", 1), ("B", 3), ("B", 4))) == ["a1 b2", "a1 b3", "a1 a3 b4"]


def test_b_may_not_come_behind_an_event_that_could_be_taken() -> None:
    # e2 rises over e1, so it is between e1 and any later b: only a1 a2 b3, not a1 b3.
    assert found(query(seq("A+ a", "B b"), NEXT, take=RISE), stream(("A", 1), ("A", 2), "B")) == ["a1 a2 b3", "a2 b3"]


# Kleene.


def test_a_trailing_kleene_gives_a_match_after_every_event() -> None:
    asked = query(seq("A a", "B+ b"), NEXT)
    assert found(asked, stream("A", "B", "C", "B")) == ["a1 b2", "a1 b2 b4"]


def test_star_and_question_mark_may_select_nothing() -> None:
    rows = stream("A", "B", "B", "C")
    # A state without take edges waits for the first event that fits any of its edges: behind e1 that is e2.
    assert found(query(seq("A a", "B? b", "C c"), NEXT), rows) == ["a1 b2 c4"]
    assert found(query(seq("A a", "B? b", "C c"), ANY), rows) == ["a1 c4", "a1 b2 c4", "a1 b3 c4"]
    # Behind b the star has take edges, so c may not come behind an event that could be taken.
    assert found(query(seq("A a", "B* b", "C c"), NEXT), rows) == ["a1 b2 b3 c4"]
    assert found(query(seq("A a", "B* b", "C c"), NEXT), stream("A", "C")) == ["a1 c2"]


def test_an_optional_end_gives_the_match_without_it_too() -> None:
    assert found(query(seq("A a", "B? b"), NEXT), stream("A", "B", "B")) == ["a1", "a1 b2"]


def test_an_optional_beginning() -> None:
    assert found(query(seq("A? a", "B b"), NEXT), stream("A", "B")) == ["a1 b2", "b2"]


def test_bounds() -> None:
    rows = stream("A", "A", "A", "A", "B")
    # Two are required; below the maximum nothing takeable may lie before b.
    assert found(query(seq(repeat("A a", 2, 3), "B b"), NEXT), rows) == ["a1 a2 a3 b5", "a2 a3 a4 b5", "a3 a4 b5"]
    # At the maximum (e1 e2 e3) the run no longer takes, and waits for b past e4.
    assert found(query(seq(repeat("A a", 1, 2), "B b"), NEXT), rows) == ["a1 a2 b5", "a2 a3 b5", "a3 a4 b5", "a4 b5"]
    assert found(query(seq(repeat("A a", 3), "B b"), NEXT), rows) == ["a1 a2 a3 a4 b5", "a2 a3 a4 b5"]
    assert found(query(seq(repeat("A a", 2, 2)), PARTITION, partition=("k",)), rows) == ["a1 a2", "a2 a3", "a3 a4"]


def test_a_required_copy_is_a_begin_edge() -> None:
    # After one a of two the run has no take edge: it waits for the first event that fits, and ignores e2.
    asked = query(seq(repeat("A a", 2, 2), "B b"), NEXT, take=RISE)
    assert found(asked, stream(("A", 2), ("A", 1), ("A", 3), "B")) == ["a1 a3 b4", "a2 a3 b4"]


def test_iterations_that_select_nothing_do_not_count() -> None:
    # (A? B?){2,2}: one iteration, two, or none.
    asked = query(seq(repeat(seq("A? a", "B? b"), 2, 2), "C c"), PARTITION, partition=("k",))
    assert found(asked, stream("A", "B", "B", "C")) == ["a1 b2 b3 c4", "b2 b3 c4", "b3 c4", "c4"]
    # e1, e3 and e4 each need an iteration.
    assert found(asked, stream("A", "B", "A", "A", "C")) == ["a3 a4 c5", "a4 c5", "c5"]


def test_a_nested_sequence() -> None:
    # b of the second iteration must be above b of the first; b[i-1] is the one selected before.
    asked = query(seq(repeat(seq("A a", "B b")), "C c"), NEXT, take={"b": call("gt", here("x"), last("b", "x"))})
    rows = stream("A", ("B", 2), "A", ("B", 1), ("B", 3), "C")
    # From e1: b2, then A3 is taken; its B must be above 2, so e4 is passed over. From e3: b4 is a first b.
    # c6 behind b2 is not possible, for e3 could be taken in between; behind a3 there is no end.
    assert found(asked, rows) == ["a1 b2 a3 b5 c6", "a3 b4 c6"]


def test_v1_is_the_first_and_vlen_the_last() -> None:
    rows = stream(("A", 1), ("A", 2), ("B", 1), ("B", 2))
    assert found(query(seq("A+ a", "B b"), ANY, begin={"b": call("eq", here("x"), first("a", "x"))}), rows) == [
        "a1 b3", "a1 a2 b3", "a2 b4",
    ]
    assert found(query(seq("A+ a", "B b"), ANY, begin={"b": call("eq", here("x"), last("a", "x"))}), rows) == [
        "a1 b3", "a1 a2 b4", "a2 b4",
    ]


def test_what_is_said_of_a_whole_array_is_asked_when_it_is_left() -> None:
    rows = stream(("A", 1), ("A", 2), ("A", 3), "B")
    two = {"a": call("eq", aggregate("count", "a"), 2)}
    assert found(query(seq("A+ a", "B b"), ANY, leave=two), rows) == ["a1 a2 b4", "a1 a3 b4", "a2 a3 b4"]
    # Or when the match ends.
    assert found(query(seq("A+ a"), ANY, leave=two), rows) == ["a1 a2", "a1 a3", "a2 a3"]
    # It is not asked of an array that has no event.
    assert found(query(seq("A* a", "B b"), ANY, leave=two), stream("B")) == ["b1"]


@pytest.mark.parametrize(
    ("function", "longest"),
    [
        ("min", "a1 a3 a4 a5 a6 a7"),  # above 4
        ("avg", "a1 a3 a5 a6 a7"),  # above 4, then 5 (not e4), 16/3, 23/4
        ("max", "a1 a3 a6 a7"),  # above 4, then 6
        ("sum", "a1 a3 a7"),  # above 4, then 10
        ("count", "a1 a2 a3 a4 a5 a6 a7"),  # above 1, 2, 3, ...
    ],
)
def test_aggregates_over_the_events_so_far(function: str, longest: str) -> None:
    rows = stream(*(("A", x) for x in (4, 3, 6, 5, 6, 7, 20)))
    above = call("gt", here("x"), aggregate(function, "a", "x"))
    asked = query(seq("Any+ a"), NEXT, begin={"a": call("eq", here("x"), 4)}, take={"a": above})
    events = longest.split()
    assert found(asked, rows) == [" ".join(events[: length + 1]) for length in range(len(events))]


# Alternation.


def test_alternation_is_a_union() -> None:
    rows = stream("A", "C", "B", "D")
    asked = query(seq("A a", either("B b", "C c"), "D d"), NEXT)
    # Behind e1 the run waits for B or C, whichever comes first.
    assert found(asked, rows) == ["a1 c2 d4"]
    assert found(replace(asked, strategy=ANY), rows) == ["a1 c2 d4", "a1 b3 d4"]


def test_an_event_that_fits_both_options_makes_two_matches() -> None:
    assert found(query(seq("A a", either("B b", "Any c")), NEXT), stream("A", "B")) == ["a1 b2", "a1 c2"]


def test_the_same_events_with_the_same_variables_are_one_match() -> None:
    # e1 e2 are one iteration of two, or two of one.
    assert found(query(seq(repeat(repeat("A a"))), NEXT), stream("A", "A")) == ["a1", "a1 a2", "a2"]


def test_the_first_event_of_a_variable_begins_it_in_whatever_iteration() -> None:
    # (A | B)+: the first B is the second event, and must meet begin of b (x = 0), later ones take (x above the last).
    asked = query(
        seq(repeat(either("A a", "B b"))), PARTITION, partition=("k",),
        begin={"b": call("eq", here("x"), 0)}, take={"b": call("gt", here("x"), last("b", "x"))},
    )
    rows = stream("A", ("B", 0), ("B", 5), ("B", 5))
    assert found(asked, rows) == ["a1", "a1 b2", "b2", "a1 b2 b3", "b2 b3"]


# WITHIN.


def test_the_window_is_inclusive() -> None:
    rows = stream("A", "B", "B", "B")
    asked = query(seq("A a", "B b"), ANY, within=2)
    assert found(asked, rows) == ["a1 b2", "a1 b3"]
    assert found(replace(asked, window=asked.window and replace(asked.window, size=1.5)), rows) == ["a1 b2"]


def test_a_window_in_microseconds() -> None:
    rows = stream("A", "B", "B")
    for row, seconds in zip(rows, (0, 3, 3.000001), strict=True):
        row["ts"] = datetime(2024, 2, 28, 23, 59, 58) + timedelta(seconds=seconds)
    asked = query(seq("A a", "B b"), ANY, time="ts", within=3_000_000, unit=WindowUnit.TIME)
    assert found(asked, rows) == ["a1 b2"]


def test_a_window_that_counts_events_of_the_partition() -> None:
    rows = stream("A", "C", "C", "B", "C", "B")
    rows[1]["k"] = "another"
    asked = query(seq("A a", "B b"), ANY, partition=("k",), within=2, unit=WindowUnit.EVENTS)
    # In the partition e4 is two events after e1 (e3 and itself), e6 four. Events of no named type count.
    assert found(asked, rows) == ["a1 b4"]


def test_of_two_runs_with_different_starts_only_the_younger_is_inside_the_window() -> None:
    # Both take e3 and are alike from there on; e4 is 3 after e1 and 2 after e2.
    asked = query(seq("A a", "B+ b", "C c"), NEXT, within=2)
    assert found(asked, stream("A", "A", "B", "C")) == ["a2 b3 c4"]


# Ties.


def tied(*kinds: str) -> list[dict[str, Any]]:
    """Events at times 1, 1, 2, 2, ..., told apart by b."""
    return [row | {"t": 1 + place // 2, "b": place} for place, row in enumerate(stream(*kinds))]


def test_tied_events_follow_each_other_in_the_order_of_the_tie_break() -> None:
    rows = tied("A", "B", "A", "B")
    asked = query(seq("A a", "B b"), ANY, tie_break=("b",))
    assert found(asked, rows) == ["a1 b2", "a1 b4", "a3 b4"]
    # Under ties="strict" e2 is not after e1, and skip till next match passes over it.
    assert found(replace(asked, has_strict_ties=True), rows) == ["a1 b4"]
    assert found(replace(asked, strategy=NEXT), rows) == ["a1 b2", "a3 b4"]
    assert found(replace(asked, strategy=NEXT, has_strict_ties=True), rows) == ["a1 b4"]


def test_strict_ties_break_contiguity() -> None:
    rows = tied("C", "A", "B", "B")
    asked = query(seq("A a", "B b"), PARTITION, partition=("k",), tie_break=("b",))
    assert found(asked, rows) == ["a2 b3"]
    assert found(replace(asked, has_strict_ties=True), rows) == ["a2 b3"]
    # e1 and e2 are tied: e2 is the neighbour, and does not follow.
    rows = tied("A", "B", "B", "C")
    assert found(asked, rows) == ["a1 b2"]
    assert found(replace(asked, has_strict_ties=True), rows) == []


def test_the_same_rows_in_another_order_of_input() -> None:
    rows = tied("A", "B", "A", "B")
    asked = query(seq("A a", "B b"), ANY, tie_break=("b",))
    assert sorted(found(asked, rows[::-1])) == ["a2 b1", "a4 b1", "a4 b3"]


@pytest.mark.parametrize("strict_ties", [False, True])
def test_events_that_nothing_tells_apart_are_an_error(strict_ties: bool) -> None:
    rows = stream("A", "B")
    rows[1]["t"] = rows[0]["t"]
    with pytest.raises(TiedEvents):
        find_matches(query(seq("A a", "B b"), NEXT, strict_ties=strict_ties), rows)
    # In different partitions they do not meet.
    rows[1]["k"] = "another"
    assert find_matches(query(seq("A a", "B b"), NEXT, partition=("k",), strict_ties=strict_ties), rows) == []


# Negation.


def test_negation_in_the_middle() -> None:
    asked = query(seq("A a", "~R r", "B b"), ANY)
    assert found(asked, stream("R", "A", "B", "R", "B")) == ["a2 b3"]


def test_negation_between_arrays_looks_between_the_last_before_and_the_first_after() -> None:
    asked = query(seq("A+ a", "~R r", "B+ b"), NEXT)
    # e2 is inside a, e5 inside b: neither lies between the two.
    assert found(asked, stream("A", "R", "A", "B", "R", "B")) == [
        "a1 a3 b4", "a3 b4", "a1 a3 b4 b6", "a3 b4 b6",
    ]
    assert found(asked, stream("A", "R", "B")) == []


def test_negation_with_predicates_on_the_match() -> None:
    # r must be of the same x as a, or as b, which comes behind it.
    rows = stream(("A", 1), ("R", 2), ("B", 2))
    assert found(query(seq("A a", "~R r", "B b"), ANY, absent={"r": call("eq", here("x"), last("a", "x"))}), rows) == [
        "a1 b3",
    ]
    assert found(query(seq("A a", "~R r", "B b"), ANY, absent={"r": call("eq", here("x"), last("b", "x"))}), rows) == []


def test_negation_never_influences_what_is_taken() -> None:
    # Skip till next match pairs e1 with e3, which e2 forbids; it does not go on to e4 instead.
    assert found(query(seq("A a", "~R r", "B b"), NEXT), stream("A", "R", "B", "B")) == []


def test_negation_stays_in_its_partition() -> None:
    rows = stream("A", "R", "B")
    rows[1]["k"] = "another"
    assert found(query(seq("A a", "~R r", "B b"), NEXT, partition=("k",)), rows) == ["a1 b3"]


@pytest.mark.parametrize(("within", "expected"), [(2, []), (1, ["a2 b3"])])
def test_negation_at_the_start_reaches_back_a_window_from_the_last_event(within: int, expected: list[str]) -> None:
    # R at 1, the match's last event at 3: inside the window of 2 (inclusive), outside that of 1.
    assert found(query(seq("~R r", "A a", "B b"), NEXT, within=within), stream("R", "A", "B")) == expected


@pytest.mark.parametrize(("within", "expected"), [(2, []), (1, ["a1 b2"])])
def test_negation_at_the_end_reaches_a_window_from_the_first_event(within: int, expected: list[str]) -> None:
    # The match starts at 1; R at 3 is inside (1 + 2, inclusive), or outside.
    assert found(query(seq("A a", "B b", "~R r"), NEXT, within=within), stream("A", "B", "R")) == expected


def test_a_negation_at_the_end_that_comes_late_for_one_start_only() -> None:
    # R at 5: inside the window of 3 from e2, not from e1.
    asked = query(seq("A a", "B b", "~R r"), NEXT, within=3)
    assert found(asked, stream("A", "A", "B", "C", "R")) == ["a1 b3"]


def test_negation_at_start_and_end_counts_events() -> None:
    asked = query(seq("~R r", "A a", "B b", "~S s"), NEXT, within=2, unit=WindowUnit.EVENTS)
    assert found(asked, stream("C", "R", "A", "B", "C", "S")) == []
    assert found(asked, stream("R", "C", "A", "B", "C", "S")) == ["a3 b4"]
    assert found(asked, stream("R", "C", "A", "B", "S", "C")) == []


def test_a_middle_negation_with_nothing_before_or_after_it() -> None:
    asked = query(seq("A? a", "~R r", "B b"), NEXT, within=5)
    # With a: nothing between. Without: back to the window's begin, where R is.
    assert found(asked, stream("R", "A", "B")) == ["a2 b3"]
    asked = query(seq("A a", "~R r", "B? b"), NEXT, within=5)
    assert found(asked, stream("A", "B", "R")) == ["a1 b2"]


def test_strict_ties_and_negation() -> None:
    # a at 1, R at 1 (after a in the tie-break's order), b at 2: R is not later than a.
    rows = tied("A", "R", "B", "C")
    asked = query(seq("A a", "~R r", "B b"), NEXT, tie_break=("b",))
    assert found(asked, rows) == []
    assert found(replace(asked, has_strict_ties=True), rows) == ["a1 b3"]
    # At the start and at the end too.
    asked = query(seq("~R r", "A a", "B b"), NEXT, tie_break=("b",), within=5)
    assert found(asked, tied("R", "A", "B", "C")) == []
    assert found(replace(asked, has_strict_ties=True), tied("R", "A", "B", "C")) == ["a2 b3"]
    asked = query(seq("A a", "B b", "~R r"), NEXT, tie_break=("b",), within=5)
    assert found(asked, tied("A", "C", "B", "R")) == []
    assert found(replace(asked, has_strict_ties=True), tied("A", "C", "B", "R")) == ["a1 b3"]


# NON-OVERLAPPING.


def test_non_overlapping_takes_what_completes_first() -> None:
    # a1 b3 and a2 b3 complete with e3; the earlier start wins. Then the search goes on after e3.
    asked = query(seq("A a", "B b"), ANY, non_overlapping=True)
    assert found(asked, stream("A", "A", "B", "B", "A", "B")) == ["a1 b3", "a5 b6"]


def test_non_overlapping_prefers_fewer_events_then_smaller_rows() -> None:
    asked = query(seq("A+ a", "B b"), ANY, non_overlapping=True)
    assert found(asked, stream("A", "A", "B")) == ["a1 b3"]
    asked = query(seq("A a", "A b", "B c"), ANY, non_overlapping=True)
    assert found(asked, stream("A", "A", "A", "B")) == ["a1 b2 c4"]


def test_non_overlapping_prefers_variables_that_stand_earlier() -> None:
    asked = query(seq(either("Any a", "A b")), ANY, non_overlapping=True)
    assert found(asked, stream("A", "C")) == ["a1", "a2"]
    asked = query(seq(either("A b", "Any a")), ANY, non_overlapping=True)
    assert found(asked, stream("A", "C")) == ["b1", "a2"]


def test_non_overlapping_is_among_the_matches_that_negation_leaves() -> None:
    # a1 b3 would complete first, but R is between; a4 b5 is left.
    asked = query(seq("A a", "~R r", "B b"), ANY, non_overlapping=True)
    assert found(asked, stream("A", "R", "B", "A", "B")) == ["a4 b5"]


def test_non_overlapping_by_partition() -> None:
    rows = stream("A", "A", "B", "B")
    for row, key in zip(rows, "pqpq", strict=True):
        row["k"] = key
    assert found(query(seq("A a", "B b"), NEXT, partition=("k",), non_overlapping=True), rows) == ["a1 b3", "a2 b4"]


def test_non_overlapping_under_strict_ties_starts_later_in_time() -> None:
    # Times 1 1 2 2 3 3: a1 b3 ends at time 2, where e4 is too.
    asked = query(seq("A a", "B b"), ANY, tie_break=("b",), non_overlapping=True)
    rows = tied("A", "C", "B", "A", "A", "B")
    assert found(asked, rows) == ["a1 b3", "a4 b6"]
    assert found(replace(asked, has_strict_ties=True), rows) == ["a1 b3"]
    rows = [*rows, rows[-1] | {"t": 4, "b": 9}]
    assert found(replace(asked, has_strict_ties=True), rows) == ["a1 b3", "a5 b7"]


# The definition with places and edges says what the sentences of the issue say.


def test_the_oracle_agrees_with_the_sentences() -> None:
    seen = {"matched": 0, "asked": 0}

    def simple(draw: Any) -> Example:
        return generate(draw, simple=True)

    @hypothesis.seed(20081)
    @hypothesis.settings(
        max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(strategy(simple))
    def run(example: Example) -> None:
        asked, expected = set(find_matches(example.query, example.rows)), set()
        for partition in partitions(example.query, example.rows):
            for rows, labels in matches_by_sentences(example.query, partition.stream.rows):
                expected.add((tuple(partition.rows[row] for row in rows), labels))
        seen["asked"] += 1
        seen["matched"] += bool(expected)
        assert asked == expected, str(example)

    run()
    assert seen["matched"] > seen["asked"] / 2
