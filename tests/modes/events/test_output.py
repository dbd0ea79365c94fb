"""The table of an event query's matches."""

from __future__ import annotations

from tests.modes.events.building import query, seq
from tests.modes.events.engine_runs import evaluator_of, table_of

from sparkrex.matching.output import NO_COLUMNS
from sparkrex.modes.events.plan import Strategy
from sparkrex.pipeline import run_relation
from sparkrex.settings import Settings


def test_matches_without_columns_are_counted() -> None:
    """What a Spark worker is asked for where RETURN has constants only."""
    asked = query(seq("A a", "B b"), Strategy.ANY, measures=())
    rows = [{"k": "k", "t": number, "b": 0, "kind": kind, "x": 0} for number, kind in enumerate("AABB")]
    answer = run_relation(asked, table_of(rows), evaluator_of(asked), Settings())
    assert (answer.num_rows, answer.column_names) == (4, [NO_COLUMNS])
