"""Random event queries: the engine finds what the oracle finds, by every algorithm, whole and in chunks.

`REX_EVENT_EXAMPLES` sets how many examples are run and `REX_SEED` the seed. The summary at the end of the test run
shows what they covered; too little coverage is a failure.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given
from tests.modes.events.any_order_draws import generate_any_order
from tests.modes.events.building import query, seq
from tests.modes.events.draws import Example, generate
from tests.modes.events.engine_runs import compressed_matches, engine_matches, evaluator_of, returned_matches
from tests.modes.events.oracle import find_matches
from tests.modes.events.tally import Tally
from tests.modes.rows.property.draws import strategy

from sparkrex.modes.events.mode import EventsMode
from sparkrex.modes.events.nfab import matcher
from sparkrex.modes.events.nfab.automaton import compile_automaton
from sparkrex.modes.events.pattern import absences, has_any_order
from sparkrex.modes.events.plan import Strategy
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.events.oracle import Match
    from tests.modes.rows.property.draws import Draw

    from sparkrex.hosts.duckdb.host import RelationEvaluator
    from sparkrex.modes.events.plan import EventQuery

N_EXAMPLES = int(os.environ.get("REX_EVENT_EXAMPLES", "240"))
SEED = int(os.environ.get("REX_SEED", "20080609"))
# Several tests, so that parallel test workers share the work.
N_SHARES = 4


@dataclass(frozen=True, slots=True)
class Way:
    """How the engine is asked: the matcher alone, through RETURN EVENTS, or through the compressed buffer."""

    through: str = "the matcher"
    algorithm: str = "nfab"
    chunk: int | None = None
    threads: int = 1

    def __str__(self) -> str:
        chunk = "whole" if self.chunk is None else f"in chunks of {self.chunk}"
        return f"{self.through}, {self.algorithm}, {chunk}, {self.threads} threads"

    def ask(self, example: Example, evaluator: RelationEvaluator) -> list[Match]:
        """The engine's matches."""
        settings = Settings(threads=self.threads, matcher=self.algorithm, chunk_rows=self.chunk)
        if self.through == "RETURN":
            return returned_matches(example.query, example.rows, evaluator=evaluator, settings=settings)
        if self.through == "the buffer":
            return compressed_matches(example.query, example.rows, evaluator=evaluator, settings=settings)
        return engine_matches(example.query, example.rows, chunk=self.chunk, evaluator=evaluator, settings=settings)


def draw_way(draw: Draw, example: Example) -> Way:
    """Some way that the query allows."""
    algorithm, chunk = draw.choice(EventsMode.matchers), draw.choice((None, 3, 2, 1))
    through = draw.choice(("the matcher", "the matcher", "RETURN", "the buffer"))
    asked = example.query
    if through == "the buffer" and (
        asked.is_non_overlapping or absences(asked.pattern)
        # The buffer holds runs, not matches: where two runs are one match, it is refused.
        or is_ambiguous(asked)
    ):
        through = "RETURN"
    if through == "the buffer":
        return Way(through, algorithm if algorithm != "backtrack" else "basic")
    return Way(through, algorithm, chunk, 1 if chunk is not None else draw.choice((1, 3)))


def is_ambiguous(asked: EventQuery) -> bool:
    """Whether two runs may be one match. With AND never: a run is told by the variables of its events."""
    return not has_any_order(asked.pattern) and not compile_automaton(asked.pattern, asked.source).is_unambiguous


@pytest.fixture(scope="module")
def evaluator() -> RelationEvaluator:
    """One host for all queries."""
    return evaluator_of(query(seq("A a"), Strategy.ANY))


def difference(example: Example, expected: list[Match], evaluator: RelationEvaluator, way: Way) -> str | None:
    """What is wrong with the engine's answer; None if nothing is."""
    found = way.ask(example, evaluator)
    if sorted(found) == sorted(expected):
        return None
    missing = [match for match in expected if match not in found]
    wrong = [match for match in found if match not in expected]
    repeated = len(found) - len(set(found))
    return f"{way}: missing {missing}, wrong {wrong}, {repeated} more than once\n{example}"


@pytest.mark.parametrize("share", range(N_SHARES))
def test_engine_equals_oracle(
    share: int, evaluator: RelationEvaluator, record_property: Callable[[str, object], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # So that these few rows are worth several threads.
    monkeypatch.setattr(matcher, "LEAST_ROWS", 1)
    tally = Tally()
    seed = SEED + share

    def with_way(draw: Draw) -> tuple[Example, Way]:
        example = generate_any_order(draw) if draw.chance(20) else generate(draw)
        return example, draw_way(draw, example)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=max(1, N_EXAMPLES // N_SHARES), deadline=None, database=None,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink),
    )
    @given(strategy(with_way))
    def run(drawn: tuple[Example, Way]) -> None:
        example, way = drawn
        expected = find_matches(example.query, example.rows)
        # Merging runs is the default: it is asked about every query, and one more way about each.
        for asked in dict.fromkeys([Way(), way]):
            problem = difference(example, expected, evaluator, asked)
            assert problem is None, problem
        tally.add(example, expected, [way.through, way.algorithm, "whole" if way.chunk is None else "in chunks"])

    run()
    record_property("coverage", f"event queries, seed {seed}: {tally.table()}")
    # The share of a kind in a handful of examples says nothing.
    if tally.examples >= 200:
        assert tally.shortfalls() == []
