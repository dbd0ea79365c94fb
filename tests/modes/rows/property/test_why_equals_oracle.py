"""Random queries: what `rex.why` says of every start is what all its viable prefixes say, one by one."""

from __future__ import annotations

import math
import os
import random
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from tests.differential.relations import one_database
from tests.modes.rows.oracle import CannotEvaluate, OracleError, find_matches
from tests.modes.rows.oracle.evaluate import _next_start
from tests.modes.rows.oracle.expressions import View, value
from tests.modes.rows.oracle.ordering import partitions
from tests.modes.rows.oracle.why import NEVER, OracleWhy, why
from tests.modes.rows.property.draws import RandomDraw
from tests.modes.rows.property.examples import generate

from sparkrex.errors import ExecutionError
from sparkrex.kernels import lazy
from sparkrex.modes.rows.plan import MatchRecognize
from sparkrex.modes.rows.why import answer as rows_why
from sparkrex.modes.rows.why.by_rows import blocked_by_rows
from sparkrex.modes.rows.why.states import TooManyStatesError
from sparkrex.pipeline import open_relation, parse_query
from sparkrex.reasons.answer import Barrier, Blocker, Status
from sparkrex.reasons.asked import Asked
from sparkrex.scalar.expression import Call, walk
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.reasons.answer import Why

N_EXAMPLES = int(os.environ.get("REX_EXAMPLES", "120"))
SEED = int(os.environ.get("REX_SEED", "20190619"))


@dataclass(frozen=True)
class Partition:
    """An ordered partition, its matches, and the oracle's answers by start."""

    plan: MatchRecognize
    rows: Sequence[Mapping[str, Any]]
    matches: Mapping[int, int]
    skipped: frozenset[int]
    dialect: str

    def why(self, start: int) -> OracleWhy:
        number = 1 + sum(one < start for one in self.matches)
        return why(self.plan, self.rows, start, number, self.dialect)


@pytest.mark.parametrize("share", range(2))
def test_why_equals_oracle(share: int) -> None:
    draw = random.Random(SEED + share)
    tally: Counter[str] = Counter()
    with one_database():
        for _ in range(N_EXAMPLES // 2):
            check_example(draw, tally)
    if N_EXAMPLES >= 120:
        assert tally["starts"] > 100
        assert tally["reads the match"] > 15
        assert tally["by states"] > 15
        assert tally["several blockers"] > 3
        assert tally["missed"] > 10
        assert tally["values"] > 1
        assert all(tally[one.value] > 0 for one in (Barrier.CONDITION, Barrier.END)), tally


def check_example(draw: random.Random, tally: Counter[str]) -> None:
    example = generate(RandomDraw(draw))
    settings = Settings(threads=1)
    without_states = draw.random() < 0.3
    few_rows = draw.choice((0, lazy.FEW_ROWS))
    with (
        open_relation(parse_query(example.query, example.dialect), {"data": example.table}, settings) as opened,
        patch.object(lazy, "FEW_ROWS", few_rows),
        patch.object(rows_why, "blocked_by_rows", _too_many if without_states else blocked_by_rows),
    ):
        plan, table, evaluator = opened
        assert isinstance(plan, MatchRecognize)
        rows = table.to_pylist()
        dialect = example.dialect
        try:
            found = find_matches(plan, rows, dialect=dialect)
            answer = rows_why.why_not(plan, table, evaluator, settings, Asked())
        except (CannotEvaluate, OracleError, ExecutionError):
            return
        tally["reads the match" if rows_reads_match(answer, plan) else "by states"] += 1
        begin = 0
        for number, order in enumerate(partitions(plan, rows, dialect)):
            ordered = [rows[place] for place in order]
            matches = {one.start: one.number for one in found if one.partition == number}
            skipped = frozenset(
                row for one in found if one.partition == number for row in range(one.start + 1, _next_start(plan, one))
            )
            partition = Partition(plan, ordered, matches, skipped, dialect)
            lines = answer.starts.slice(begin, len(ordered)).to_pylist()
            for start, line in enumerate(lines):
                check_start(partition, start, line, tally, example.query)
            if len(list(partitions(plan, rows, dialect))) == 1 and ordered:
                at = draw.randrange(len(ordered)) + 1
                shown = rows_why.why_not(plan, table, evaluator, settings, Asked(None, at)).shown[0]
                assert str(answer)
                if shown.status is Status.BLOCKED:
                    for blocker in (shown.last, shown.closest):
                        if blocker is not None:
                            check_blocker(partition, at - 1, blocker, tally, example.query)
            begin += len(ordered)


def _too_many(*_: object) -> None:
    raise TooManyStatesError


def rows_reads_match(answer: Why, plan: MatchRecognize) -> bool:
    from sparkrex.modes.rows.conditions import split_conditions

    return any(one.context is not None for one in split_conditions(plan))


def check_start(
    partition: Partition, start: int, line: Mapping[str, Any], tally: Counter[str], query: str
) -> None:
    if start in partition.matches:
        assert (line["status"], line["match"]) == ("match", partition.matches[start]), query
        return
    assert (line["status"] == "skipped") == (start in partition.skipped), query
    if line["status"] == "skipped":
        tally["skipped"] += 1
        return
    try:
        expected = partition.why(start)
    except CannotEvaluate:
        return
    tally["starts"] += 1
    said = f"{query}\n{partition.rows}\nstart {start}: {expected}\n{line}"
    assert line["is_exact"], said
    assert expected.need > 0, said
    assert line["need"] == (None if expected.need >= NEVER else expected.need), said
    assert line["blockers"] == len(expected.blockers), said
    if not expected.blockers:
        return
    tally["several blockers"] += len(expected.blockers) > 1
    last = max(row for row, _ in expected.blockers)
    assert line["last_row"] == last + 1, said
    assert (last, line["last_variable"]) in expected.blockers, said
    apart = {pair: one.missed_by for pair, one in expected.blockers.items() if one.missed_by is not None
             and math.isfinite(one.missed_by)}
    if not apart:
        assert line["missed_by"] is None, said
        return
    tally["missed"] += 1
    least = min(apart.values())
    assert line["missed_by"] == pytest.approx(least), said
    assert apart[line["closest_row"] - 1, line["closest_variable"]] == pytest.approx(least), said


def check_blocker(partition: Partition, start: int, blocker: Blocker, tally: Counter[str], query: str) -> None:
    try:
        expected = partition.why(start)
    except CannotEvaluate:
        return
    tally[blocker.barrier.value] += 1
    said = f"{query}\n{partition.rows}\nstart {start}: {expected}\n{blocker}"
    known = expected.blockers[blocker.row - 1, blocker.variable]
    labels = tuple(name for name, first, last in blocker.prefix for _ in range(last - first + 1))
    assert labels == known.labels, said
    is_condition = blocker.barrier in (Barrier.CONDITION, Barrier.WITHIN)
    if blocker.barrier is not Barrier.FIRST_ROW:
        assert is_condition == known.is_condition, said
    assert (blocker.barrier is Barrier.END) == (blocker.row - 1 == len(partition.rows)), said
    if blocker.barrier is Barrier.CONDITION:
        assert blocker.missed_by == (None if known.missed_by is None else pytest.approx(known.missed_by)), said
        check_values(partition, start, (*labels, blocker.variable), blocker, tally, said)


def is_reference(text: str) -> bool:
    """Whether a text is a column, or navigation from one, and nothing is computed of it."""
    return re.fullmatch(r"(?:(?:PREV|NEXT|FIRST|LAST)\()*[\w.]+(?:, \d+)?\)*", text, re.IGNORECASE) is not None


def check_values(
    partition: Partition, start: int, labels: tuple[str, ...], blocker: Blocker, tally: Counter[str], said: str
) -> None:
    condition = partition.plan.definition(labels[-1])
    assert condition is not None
    number = 1 + sum(one < start for one in partition.matches)
    view = View(partition.rows, start, labels, labels, number, partition.dialect)
    assert blocker.compared, said
    # The place of a column in PREV(...) is that of the call; the column's own begins behind it.
    nodes = [node for node in walk(condition) if node.span is not None and not isinstance(node, Call)]
    for part in blocker.compared:
        assert part.result is not True, said
        for one in part.values:
            inside = [node for node in nodes if one.span is not None and node.span is not None
                      and one.span.start <= node.span.start and node.span.end <= one.span.end]
            if len(inside) == 1 and is_reference(one.text):
                tally["values"] += 1
                assert is_alike(one.value, value(inside[0], view)), said


def is_alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, int | float):
        return one == pytest.approx(float(other), nan_ok=True)
    return bool(one == other)
