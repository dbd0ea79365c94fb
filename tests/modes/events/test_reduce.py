"""States with the same future are one, and the matches stay the same."""

from __future__ import annotations

import pytest
from tests.modes.events.building import aggregate, here, query, repeat, seq, stream
from tests.modes.events.engine_runs import engine_matches, evaluator_of
from tests.modes.events.oracle import find_matches
from tests.modes.segments.building import call

from sparkrex.modes.events.nfab.automaton import compile_automaton
from sparkrex.modes.events.nfab.conditions import edge_conditions
from sparkrex.modes.events.nfab.reduce import reduce_states
from sparkrex.modes.events.plan import EventQuery, Strategy
from sparkrex.settings import Settings

NESTED = seq(repeat("A+ a"), "B b")


def states(asked: EventQuery) -> tuple[int, int, bool]:
    """How many states there are before and after, and whether the variables settle the run then."""
    written = compile_automaton(asked.pattern, asked.source)
    fewer, _ = reduce_states(written, edge_conditions(asked, written, []))
    return len(written.edges), len(fewer.edges), fewer.is_unambiguous


def test_a_kleene_has_one_state_if_its_first_event_has_the_same_future() -> None:
    assert states(query(seq("A+ a", "B b"), Strategy.NEXT)) == (4, 3, True)


def test_copies_that_are_counted_stay_apart() -> None:
    assert states(query(seq(repeat("A a", 2, 3), "B b"), Strategy.NEXT)) == (5, 5, True)


def test_what_a_state_must_still_test_keeps_it_apart() -> None:
    counted = query(seq("A* a", "B b"), Strategy.NEXT, leave={"a": call("gt", aggregate("count", "a"), 1)})
    assert states(counted)[1] > 2


def test_a_repetition_of_a_repetition_is_read_in_one_way() -> None:
    before, after, is_unambiguous = states(query(NESTED, Strategy.ANY))
    assert (after, is_unambiguous) == (3, True)
    assert before > after


@pytest.mark.parametrize("strategy", [Strategy.NEXT, Strategy.ANY, Strategy.STRICT])
@pytest.mark.parametrize("algorithm", ["nfab", "basic", "backtrack"])
def test_the_matches_stay_the_same(strategy: Strategy, algorithm: str) -> None:
    rising = {"a": call("ge", here("x"), aggregate("max", "a", "x"))}
    asked = query(NESTED, strategy, take=rising)
    rows = stream(("A", 1), ("A", 3), ("A", 2), ("B", 0), ("A", 4), ("B", 1))
    settings = Settings(matcher=algorithm)
    found = engine_matches(asked, rows, evaluator=evaluator_of(asked), settings=settings)
    assert sorted(found) == sorted(find_matches(asked, rows))
