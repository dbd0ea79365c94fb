"""Random event queries: `rex.why` says what the definition says, of every start that begins no match."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import hypothesis
from hypothesis import HealthCheck, Phase, given
from tests.modes.events.any_order_draws import generate_any_order
from tests.modes.events.building import query, seq, type_test
from tests.modes.events.draws import Example, generate
from tests.modes.events.engine_runs import evaluator_of, table_of
from tests.modes.events.oracle import partitions
from tests.modes.events.why import blocked, has_match, starts
from tests.modes.rows.property.draws import strategy

from sparkrex.modes.events.pattern import events, has_any_order
from sparkrex.modes.events.plan import Strategy
from sparkrex.modes.events.why.answer import case_of, why_not
from sparkrex.modes.events.why.runs import RunSearch
from sparkrex.modes.plan import Definition
from sparkrex.reasons.asked import Asked
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from tests.modes.rows.property.draws import Draw

    from sparkrex.hosts.duckdb.host import RelationEvaluator

N_EXAMPLES = int(os.environ.get("REX_EVENT_WHY_EXAMPLES", "140"))
SETTINGS = Settings(threads=1)


def with_types(example: Example) -> Example:
    """The query with what analysis knows of its types."""
    asked = example.query
    if has_any_order(asked.pattern):
        return example  # it was analyzed
    tests = {event.variable: type_test(event.type) for event in events(asked.pattern)}
    types = tuple(Definition(name, test) for name, test in tests.items() if test is not None)
    return Example(replace(asked, types=types), example.rows)


def check(example: Example, evaluator: RelationEvaluator, happened: Counter[str]) -> None:
    """Compare needs, blockers and preferred runs of every start."""
    asked = example.query
    case = case_of(asked, table_of(example.rows), evaluator, SETTINGS)
    answer = why_not(asked, table_of(example.rows), evaluator, SETTINGS, Asked())
    numbers = case.rows.column("rex_number").to_pylist()
    lines = iter(answer.starts.to_pylist())
    for partition in sorted(partitions(asked, example.rows), key=lambda one: numbers.index(one.rows[0])):
        low = numbers.index(partition.rows[0])
        assert tuple(numbers[low : low + len(partition.rows)]) == partition.rows
        for start in starts(partition.stream):
            line, said = next(lines), f"start {start} of {partition.rows}\n{example}"
            assert line["start_row"] == start + 1, said
            if has_match(partition.stream, start):
                assert line["status"] in ("match", *(["skipped"] if asked.is_non_overlapping else [])), said
                happened[line["status"]] += 1
                continue
            expected = blocked(partition.stream, start)
            found = RunSearch(case).search([low + start])[low + start]
            assert (line["status"], line["is_exact"]) == ("blocked", True), said
            assert line["need"] == found.need == expected.need, said
            runs = {
                (row - low, case.variables[variable], barrier.value): tuple(one - low for one in blocking.run.rows)
                for (row, variable, barrier), blocking in found.blockers.items()
            }
            assert runs == expected.runs, said
            assert line["blockers"] == len(expected.runs), said
            assert runs, said
            assert line["last_row"] == max(row for row, _, _ in runs) + 1, said
            happened.update(barrier for _, _, barrier in runs)
            happened["and"] += has_any_order(asked.pattern)
    assert next(lines, None) is None, str(example)


def test_equals_oracle() -> None:
    happened: Counter[str] = Counter()
    evaluator = evaluator_of(query(seq("A a"), Strategy.ANY))

    def drawn(draw: Draw) -> Example:
        return with_types(generate_any_order(draw) if draw.chance(20) else generate(draw))

    @hypothesis.seed(20080609)
    @hypothesis.settings(
        max_examples=N_EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(strategy(drawn))
    def run(example: Example) -> None:
        check(example, evaluator, happened)

    run()
    wanted = ("match", "skipped", "condition", "end", "expired", "contiguity", "negated", "ending", "and")
    assert all(happened[what] > 0 for what in wanted), happened
