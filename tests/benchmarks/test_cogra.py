"""The trend benchmark runs; the approaches it compares with count what the definition says, or die."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from benchmarks.cogra import main
from benchmarks.trends import approaches, figures
from benchmarks.trends.answers import answer_of, answer_of_engine, difference
from benchmarks.trends.approaches import (
    ALL_TRENDS,
    APPROACHES,
    EVENT_GRAINED,
    FLATTENED,
    ONE_TREND,
    DiesError,
    Limits,
    Outcome,
    refusal,
    run,
)
from benchmarks.trends.data import events, load, selective_factor
from benchmarks.trends.goals import count_by_hand, measure_rates
from benchmarks.trends.prepare import prepare
from benchmarks.trends.queries import QUERIES
from benchmarks.trends.workload import ANY, SEMANTICS, Aggregate, Comparison, Step, Window, Workload

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.trends.prepare import Prepared

pytestmark = pytest.mark.slow

ENOUGH = Limits(60.0, 1 << 26)
TITLES = ["q1 to q4", "Goal: events", "Goal: state", "Goal: q3", "Where two-step"]
TITLES += [f"Figure {number}" for number in range(5, 14)]
CHAIN = Workload(
    steps=(
        Step("A", "a"), Step("B", "b", is_repeated=True, condition="{0}x < 8"), Step("A", "c", condition="{0}x > 1"),
    ),
    semantics=ANY, partition_by=("k", "j"), group_by=("k",), type="kind",
)
WORKLOADS = {
    "chain": CHAIN,
    "compared": replace(CHAIN, comparison=Comparison("b", "{0}x", "<", "{0}y + 1")),
    "sum": replace(CHAIN, aggregate=Aggregate("SUM", "b", "{0}y")),
    "windows": replace(CHAIN, aggregate=Aggregate("AVG", "b", "{0}y"), window=Window(30, 7)),
    "falling": replace(
        CHAIN, steps=(Step("A", "a", is_repeated=True),), type=None, comparison=Comparison("a", "{0}x", ">", "{0}x")
    ),
}


def small_stream(seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    n = 40
    seconds = np.sort(random.choice(80, n, replace=False))
    return pa.table({
        "tstamp": pa.array(seconds * 1_000_000, pa.timestamp("us")), "kind": random.choice(list("AABBC"), n),
        "k": random.integers(0, 2, n), "j": random.integers(0, 2, n), "x": random.integers(0, 10, n),
        "y": pa.array(random.integers(0, 10, n), mask=random.random(n) < 0.2),
    })


def trends_of(prepared: Prepared, first: int, end: int) -> Iterator[list[tuple[int, int]]]:
    """All trends of a unit, as events and variables, by their definitions."""
    stream, machine = prepared.events, prepared.machine
    n_variables = prepared.n_variables
    places = [(row, v) for row in range(first, end) for v in range(n_variables) if stream.codes[row] >> v & 1]

    def is_adjacent(one: tuple[int, int], other: tuple[int, int]) -> bool:
        compares = machine.is_compared[one[1], other[1]]
        return bool(
            one[0] < other[0] and machine.follows[one[1], other[1]]
            and (not compares or stream.left[one[0]] < stream.right[other[0]])
        )

    def follows(one: tuple[int, int], other: tuple[int, int]) -> bool:
        if not is_adjacent(one, other):
            return False
        if SEMANTICS[machine.semantics] == "contiguous":
            return one[0] + 1 == other[0]
        skipped = (place for place in places if one[0] < place[0] < other[0])
        return SEMANTICS[machine.semantics] == ANY or not any(is_adjacent(one, place) for place in skipped)

    def grow(trend: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        if machine.ends[trend[-1][1]]:
            yield trend
        for place in places:
            if follows(trend[-1], place):
                yield from grow([*trend, place])

    for place in places:
        if machine.starts[place[1]]:
            yield from grow([place])


def test_a_quick_run_on_generated_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page, plot = tmp_path / "figures.json", tmp_path / "figures.md", tmp_path / "cogra.png"
    code = main([
        "--quick", "--data", str(tmp_path), "--json", str(file), "--markdown", str(page), "--plot", str(plot),
    ])
    printed = capsys.readouterr().out
    assert code == 0, printed
    for title in TITLES:
        assert f"\n{title}" in printed
        assert f"**{title}" in page.read_text(encoding="utf-8")
    assert "DIFFER" not in printed
    assert "dies: more than" in printed
    found = json.loads(file.read_text(encoding="utf-8"))
    assert not found["problems"]
    assert {point["algorithm"] for figure in found["figures"] for point in figure["points"]} == {
        "by_state", "by_rank", "by_open", "by_event"
    }
    assert plot.stat().st_size > 10_000


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("seed", range(3))
def test_approaches_count_the_trends_of_the_definition(name: str, semantics: str, seed: int) -> None:
    workload = WORKLOADS[name].under(semantics)
    stream = small_stream(seed)
    prepared = prepare(workload, stream)
    found = [
        list(trends_of(prepared, first, end))
        for first, end in zip(prepared.units.first.tolist(), prepared.units.end.tolist(), strict=True)
    ]
    assert any(found)
    weights = np.where(prepared.events.is_weighted, prepared.events.weights, np.nan)
    aggregated = [
        [weights[row] for trend in trends for row, variable in trend if prepared.machine.has_weight[variable]]
        for trends in found
    ]
    asked = rex.trends(workload.text(), stream, time="tstamp", type=workload.type)
    for approach in APPROACHES:
        if refusal(approach, workload):
            assert approach == FLATTENED
            continue
        tally = run(approach, prepared, ENOUGH).tally
        assert tally.n_trends.tolist() == [len(trends) for trends in found]
        if workload.aggregate is not None:
            assert tally.total.tolist() == pytest.approx([np.nansum(values) for values in aggregated])
            assert tally.number.tolist() == [np.count_nonzero(~np.isnan(values)) for values in aggregated]
        engine = answer_of_engine(workload, asked, "exact")
        assert difference(engine, answer_of(prepared, tally)) is None


@pytest.mark.parametrize("approach", [EVENT_GRAINED, FLATTENED])
def test_counts_beyond_doubles_are_scaled(approach: str) -> None:
    n = 3_000
    workload = Workload(steps=(Step("A", "a", is_repeated=True),), semantics=ANY, time="ts")
    prepared = prepare(workload, pa.table({"ts": np.arange(n)}))
    answer = answer_of(prepared, run(approach, prepared, ENOUGH).tally)
    assert answer[(None,)].logarithm == pytest.approx(n * math.log10(2), rel=1e-12)


@pytest.mark.parametrize(("approach", "limits", "reason"), [
    (ONE_TREND, Limits(0.05, 1 << 26), "0.05 s"), (ALL_TRENDS, Limits(60.0, 1 << 20), "1 MiB"),
])
def test_two_step_approaches_die(approach: str, limits: Limits, reason: str) -> None:
    workload = Workload(steps=(Step("A", "a", is_repeated=True),), semantics=ANY, time="ts")
    prepared = prepare(workload, pa.table({"ts": np.arange(60)}))
    with pytest.raises(DiesError, match=reason):
        run(approach, prepared, limits)


def test_another_answer_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = approaches.run

    def wrong(approach: str, prepared: Prepared, limits: Limits) -> Outcome:
        outcome = right(approach, prepared, limits)
        outcome.tally.n_trends[outcome.tally.n_trends > 0] += 1
        return outcome

    monkeypatch.setattr(figures, "run", wrong)
    options = ["--quick", "--data", str(tmp_path), "--parts", "figures", "--figures", "7", "--plot"]
    assert main([*options, str(tmp_path / "cogra.png")]) == 1
    printed = capsys.readouterr().out
    assert "PROBLEM: Figure 7 at 1000: event-grained differs" in printed
    assert "DIFFER" in printed


def test_a_wrong_count_of_the_goals_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any(rate.wrong for rate in measure_rates(3_000, 1))
    monkeypatch.setattr("benchmarks.trends.goals.count_by_hand", lambda *given: (count_by_hand(*given)[0] + 1, 0))
    assert all(rate.wrong for rate in measure_rates(30, 1))


@pytest.mark.parametrize("name", QUERIES)
def test_generated_data_has_the_columns_that_queries_read(name: str, tmp_path: Path) -> None:
    workload, data = QUERIES[name]
    table = load(data, tmp_path, 40)
    assert set(workload.read_columns()) <= set(table.column_names)
    assert pc.all(pc.greater_equal(table.column("tstamp")[1:], table.column("tstamp")[:-1])).as_py()


def test_events_are_drawn_or_repeated(tmp_path: Path) -> None:
    whole = load("flights", tmp_path)
    few, many = events("flights", tmp_path, 1_000), events("flights", tmp_path, whole.num_rows + 1_000)
    assert few.column("tstamp")[-1].as_py() > whole.column("tstamp")[whole.num_rows // 2].as_py()
    assert many.column("tstamp")[whole.num_rows].as_py() > whole.column("tstamp")[-1].as_py()
    assert many.slice(whole.num_rows).column("tailnum").to_pylist() == whole.column("tailnum")[:1_000].to_pylist()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_factor_makes_the_comparison_as_selective_as_asked(share: float, tmp_path: Path) -> None:
    bars = events("nasdaq", tmp_path, 20_000)
    factor = selective_factor(bars, share)
    company, close = bars.column("ticker").combine_chunks().indices.to_numpy(), bars.column("close").to_numpy()
    n_pairs = n_held = 0
    for one in range(0, int(company.max()), 40):
        own = close[company == one]
        earlier, later = np.triu_indices(len(own), 1)
        n_pairs += len(earlier)
        n_held += int((own[earlier] > own[later] * factor).sum())
    assert n_held / n_pairs == pytest.approx(share, abs=0.1)
