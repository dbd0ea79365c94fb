"""The benchmark of workloads runs; its generator keeps what it promises, and a wrong answer is a problem."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.workload import figures, gains, parts, real
from benchmarks.workload.answers import answers_of, difference, share_matched, total
from benchmarks.workload.domain import LEAST, MOST, selectivity
from benchmarks.workload.drawing import SELECTIVE, draw, draw_sharing
from benchmarks.workload.engine import Search, plan, run
from benchmarks.workload.generate import COMMONEST, RAREST, WINDOW, make_generator
from benchmarks.workload.pattern import KLEENE, NEGATED, Component, Condition, Pattern, Window, density
from benchmarks.workload.scale import RULES, measure_scale, most_in_window
from benchmarks.workloads import main

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.workload.engine import Pass, Planned
    from benchmarks.workload.stream import Stream

pytestmark = pytest.mark.slow

TINY = figures.Scale(
    n_workloads=1, seconds=0.2, repeat=1, budget=3e5, n_patterns=8, workload_sizes=(3, 8), pattern_sizes=(4,),
    search_seconds=(0.1,), windows=(0.5, 1.0), shares=(0.0, 1.0), differences=(1.0,),
)
TITLES = [
    "Data and workloads", "Goals: 8 patterns", "Figures 10 and 12 a, e", "Figures 11 a", "Figure 11 b", "Figures 11 c",
    "Figures 11 d", "Figure 13", "Figure 14 a, b", "Figure 14 c, d", "Unselective patterns", "Goal: a short search",
    "Goal: a change of plan", "Many patterns over many events",
]
GENERATOR = make_generator()
PER_WINDOW = GENERATOR.domain.per_window(WINDOW, "minutes")


def options(folder: Path, *more: str) -> list[str]:
    given = ["--quick", "--data", str(folder), "--windows", "20", "--events", "5000"]
    return [*given, "--plot", str(folder / "plot.png"), *more]


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "QUICK", TINY)
    monkeypatch.setattr(parts, "N_SCALED", 100)


@pytest.fixture
def look_alikes(tmp_path: Path) -> Path:
    """A session of minute bars of 50 tickers, and a day of 45 sensors."""
    random = np.random.default_rng(16)
    begin, minute = 1_640_000_000_000_000, 60_000_000
    bars = [(f"A{chr(65 + n // 26)}{chr(65 + n % 26)}", at) for n in range(50) for at in range(0, 390, 1 + n // 3)]
    pq.write_table(pa.table({
        "ticker": [ticker for ticker, _ in bars],
        "tstamp": pa.array([begin + at * minute for _, at in bars], pa.timestamp("us")),
        "close": 10 + np.round(np.cumsum(random.normal(0, 0.01, len(bars))), 2),
    }), tmp_path / real.FILES["stocks"])
    sensor, at = (column.ravel() for column in np.meshgrid(np.arange(45), np.arange(288), indexing="ij"))
    pq.write_table(pa.table({
        "sensor": 158_000 + sensor, "tstamp": pa.array(begin + at * 5 * minute, pa.timestamp("us")),
        "avg_speed": (30 + 2 * sensor + random.integers(-9, 10, len(at))).astype(np.int32),
        "vehicle_count": random.poisson(1 + sensor % 9).astype(np.int32),
    }), tmp_path / real.FILES["traffic"])
    return tmp_path


# The generator.


def test_rates_are_those_of_every_window() -> None:
    stream = GENERATOR.stream(60)
    counts = {name: number / 60 for name, number in stream.counts().items()}
    assert 20 <= len(counts) <= 40
    assert min(counts.values()) == RAREST
    assert max(counts.values()) == COMMONEST
    assert counts == pytest.approx(PER_WINDOW, abs=0.02)
    for name, number in PER_WINDOW.items():
        times = stream.events(name, "x").times
        first = np.searchsorted(times, times - WINDOW * 60_000_000)
        assert (np.arange(len(times)) - first + 1).max() <= number + 2
    assert np.all(np.diff(stream.times) > 0)


def test_selectivities_are_those_of_the_pool() -> None:
    stream = GENERATOR.stream(400)
    pool = GENERATOR.domain.pool
    promised = [one.selectivity for one in pool]
    assert min(promised) == pytest.approx(LEAST, rel=0.05)
    assert max(promised) == pytest.approx(MOST, rel=0.05)
    assert np.diff(np.log(sorted(promised))).max() < 0.5
    for one in pool:
        left, right = stream.events(one.left, one.attribute).values, stream.events(one.right, one.attribute).values
        n_held = len(right) * len(left) - np.searchsorted(np.sort(right), left, side="right").sum()
        assert n_held / (len(left) * len(right)) == pytest.approx(one.selectivity, rel=0.5, abs=0.02)
        near = selectivity(stream, one.left, one.right, one.attribute, WINDOW, stream.n_events)
        assert near == pytest.approx(one.selectivity, rel=0.6, abs=0.02)


def test_selectivity_counts_pairs_in_the_window() -> None:
    # Of pairs at most a minute apart: 5 < 7 and 8 < 9 hold, 8 < 7 does not.
    table = pa.table({
        "ts": pa.array([0, 60_000_000, 120_000_000, 180_000_001], pa.timestamp("us")),
        "kind": pa.array(["A", "B", "A", "B"]).dictionary_encode(), "x": [5, 7, 8, 9],
    })
    assert selectivity(_stream(table), "A", "B", "x", 1.0) == pytest.approx(0.5)
    assert selectivity(_stream(table), "A", "B", "x", 2.0) == pytest.approx(2 / 3)


def _stream(table: pa.Table) -> Stream:
    from benchmarks.workload.stream import Stream

    return Stream(table)


@pytest.mark.parametrize("seed", range(3))
def test_workloads_are_on_the_rules(seed: int) -> None:
    drawn = draw(GENERATOR.domain, 200, seed=seed)
    assert drawn == draw(GENERATOR.domain, 200, seed=seed)
    patterns = list(drawn.values())
    forms = Counter(pattern.form for pattern in patterns)
    assert 70 <= forms["SEQ"] <= 130
    assert np.mean([len(pattern.components) for pattern in patterns]) == pytest.approx(5, abs=0.15)
    special = [one for pattern in patterns for one in pattern.components if one.kind]
    assert 20 <= len(special) <= 60
    assert {one.kind for one in special} == {KLEENE, NEGATED}
    assert all(PER_WINDOW[one.type] <= SELECTIVE.rare for one in special if one.kind == KLEENE)
    for pattern in patterns:
        size = len(pattern.components)
        assert len({one.type for one in pattern.components}) == size
        assert len(pattern.conditions) in (size // 2, (size + 1) // 2)
        assert set(pattern.conditions) <= set(GENERATOR.domain.pool)
        assert pattern.window == Window(15)
        assert 0.02 <= pattern.expected_matches(PER_WINDOW) <= 1


def test_as_many_matches_come_as_are_expected() -> None:
    stream = GENERATOR.stream(400)
    patterns = draw(GENERATOR.domain, 100, replace(SELECTIVE, special=0.0))
    answers = answers_of(run(plan(patterns, stream, "sa-edge", Search(0.5)), stream).found, patterns)
    expected = 400 * sum(pattern.expected_matches(PER_WINDOW) for pattern in patterns.values())
    assert total(answers) == pytest.approx(expected, rel=0.25)
    assert share_matched(answers) > 0.9


def test_expected_matches_by_hand() -> None:
    per_window = {"A": 2.0, "B": 3.0, "K": 2.0, "N": 9.0}
    components = (Component("A"), Component("B"))
    both = Pattern("AND", components, (Condition("A", "B", "x", 0.5),), Window(15))
    # For each A, the B before it and behind it: 2 * 3 * 2 pairs, half of which the condition leaves.
    assert both.expected_matches(per_window) == pytest.approx(6)
    assert replace(both, form="SEQ").expected_matches(per_window) == pytest.approx(3)
    assert both.expected_matches(per_window, n_keys=4) == pytest.approx(6 / 4)
    negated = replace(both, components=(*components, Component("N", NEGATED)), conditions=(
        Condition("A", "B", "x", 0.5), Condition("A", "N", "x", 0.1)))
    assert negated.expected_matches(per_window) == pytest.approx(6)
    repeated = Pattern("SEQ", (Component("A"), Component("K", KLEENE)), (), Window(15))
    # n of K behind an A in its window: 2 * 2^n / n! for every n.
    assert repeated.expected_matches(per_window) == pytest.approx(2 * (np.e**2 - 1), rel=1e-6)


def test_patterns_as_text() -> None:
    pattern = Pattern(
        "SEQ", (Component("A"), Component("B", NEGATED), Component("C", KLEENE), Component("D")),
        (Condition("D", "A", "x", 0.1), Condition("A", "B", "y", 0.1)), Window(15), "site",
    )
    assert pattern.text() == (
        "PATTERN SEQ(A e1, NOT(B e2), KL(C e3), D e4) WHERE [site] AND e4.x < e1.x AND e1.y < e2.y WITHIN 15 minutes"
    )
    assert Pattern("AND", (Component("A"), Component("B")), (), Window(9, "events")).text() == (
        "PATTERN AND(A e1, B e2) WITHIN 9 events"
    )


def test_density_is_the_share_of_patterns_with_something_in_common() -> None:
    condition = Condition("A", "B", "x", 0.1)
    first = Pattern("SEQ", (Component("A"), Component("B"), Component("C")), (condition,), Window(15))
    same_pair = Pattern("SEQ", (Component("A"), Component("D"), Component("B")), (condition,), Window(15))
    other_order = Pattern("SEQ", (Component("B"), Component("A")), (condition,), Window(15))
    other_form = Pattern("AND", (Component("A"), Component("B")), (condition,), Window(15))
    assert density([first, same_pair]) == 1
    assert density([first, same_pair, other_order, other_form]) == pytest.approx(2 / 12)
    sparse, dense = (draw_sharing(GENERATOR.domain, 20, SELECTIVE, 0, share) for share in (0.0, 1.0))
    assert density(list(sparse.values())) < density(list(dense.values()))
    assert Counter(pattern.form for pattern in dense.values()) == {"SEQ": 10, "AND": 10}


def test_types_change_their_rates_and_stay() -> None:
    plain, changed = GENERATOR.stream(20), GENERATOR.stream(20, n_between=1_000)
    one, other = (np.array(stream.table.column("kind").to_pylist()) for stream in (plain, changed))
    assert np.array_equal(one[:1_000], other[:1_000])
    for number, first in enumerate(range(1_000, len(one), 1_000), 1):
        renamed = dict(zip(one[first : first + 1_000], other[first : first + 1_000], strict=True))
        n_changed = sum(before != after for before, after in renamed.items())
        assert 0 < n_changed <= 5 * number
        assert len(set(renamed.values())) == len(renamed)
        assert np.array_equal([renamed[name] for name in one[first : first + 1_000]], other[first : first + 1_000])
    # Values lie where those of the new type do.
    middle = {name: np.median(plain.events(name, "x").values) for name in ("T01", "T02")}
    for name, expected in middle.items():
        assert np.median(changed.events(name, "x").values) == pytest.approx(expected, abs=1_000)
    again = plain.reshuffled(1_000)
    assert again.table.column("x").equals(plain.table.column("x"))
    assert not again.table.column("kind").equals(plain.table.column("kind"))


# Answers.


def test_answers_know_events_and_variables_but_no_order() -> None:
    found = pa.table({
        "pattern": ["p", "p", "p", "p", "q"], "match_id": [1, 1, 2, 2, 1], "variable": ["a", "b", "a", "b", "a"],
        "id": [1, 2, 1, 3, 7],
    })
    answers = answers_of(found, ("p", "q", "none"))
    assert [answer.n_matches for answer in answers.values()] == [2, 1, 0]
    assert share_matched(answers) == pytest.approx(2 / 3)
    shuffled = found.take([4, 3, 0, 1, 2]).set_column(1, "match_id", pa.array([9, 5, 6, 6, 5]))
    assert answers_of(shuffled, ("p", "q", "none")) == answers
    for column, values in (("id", [1, 2, 1, 4, 7]), ("variable", ["a", "b", "b", "a", "a"])):
        place = found.column_names.index(column)
        other = answers_of(found.set_column(place, column, pa.array(values)), answers)
        assert difference(answers, other) == "p has 2 and 2 matches, or others"


def test_answers_by_partition() -> None:
    found = pa.table({
        "pattern": ["p", "p"], "match_id": [1, 1], "variable": ["a", "a"], "id": [1, 2], "site": [1, 2],
    })
    assert answers_of(found, ["p"], ("site",))["p"].n_matches == 2


# Runs.


@pytest.mark.usefixtures("_tiny")
def test_a_tiny_run_of_every_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = tmp_path / "figures.json", tmp_path / "figures.md"
    code = main(options(tmp_path, "--json", str(file), "--markdown", str(page)))
    printed = capsys.readouterr().out
    assert code == 0, printed
    assert "not there: stocks, traffic" in printed
    for title in TITLES:
        assert f"\n{title}" in printed
        assert f"**{title}" in page.read_text(encoding="utf-8")
    found = json.loads(file.read_text(encoding="utf-8"))
    assert not found["problems"]
    assert [figure["name"] for figure in found["figures"]] == list(figures.NAMES)
    assert found["scaled"]["most_in_window"] <= 50
    assert (tmp_path / "plot.png").stat().st_size > 10_000


@pytest.mark.usefixtures("_tiny")
def test_a_tiny_run_on_real_data(look_alikes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = options(look_alikes, "--parts", "generator", "figures", "--figures", "10", "11c", "13")
    code = main([*given, "--on", "stocks", "traffic"])
    printed = capsys.readouterr().out
    assert code == 0, printed
    assert "not there" not in printed
    for name in real.FILES:
        assert f"workload size, {name}: gain in throughput" in printed
        assert f"window, {name}: gain in plan cost" in printed
    assert "Figure 13: rates that change, stocks" in printed


def test_real_events_are_as_the_files_say(look_alikes: Path) -> None:
    domain, stream = real.load("stocks", look_alikes)
    assert len(domain.rates) == real.N_TYPES
    bars = pq.read_table(look_alikes / real.FILES["stocks"]).to_pylist()
    before: dict[str, float] = {}
    diffs = {}
    for bar in bars:
        if bar["ticker"] in before:
            diffs[bar["ticker"], bar["tstamp"]] = round(bar["close"] - before[bar["ticker"]], 4)
        before[bar["ticker"]] = bar["close"]
    rows = stream.table.to_pylist()
    assert [row["id"] for row in rows] == list(range(len(rows)))
    assert all(row["diff"] == pytest.approx(diffs[row["kind"], row["ts"]]) for row in rows)
    assert max(domain.rates.values()) > 5 * min(domain.rates.values())
    domain, stream = real.load("traffic", look_alikes, days=1)
    assert len(domain.rates) == real.N_TYPES
    assert stream.n_events == 288 * real.N_TYPES
    assert {one.attribute for one in domain.pool} == {"avg_speed", "vehicle_count"}


@pytest.mark.usefixtures("_tiny")
def test_another_answer_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(planned: Planned, stream: Stream) -> Pass:
        one = run(planned, stream)
        return replace(one, found=one.found.slice(1)) if planned.optimized.method == "sa-edge" else one

    monkeypatch.setattr(gains, "run", wrong)
    assert main(options(tmp_path, "--parts", "goals", "--on", "generated", "--windows", "60")) == 1
    assert "PROBLEM: Goals, workload 1: none and sa-edge: p0" in capsys.readouterr().out


@pytest.mark.usefixtures("_tiny")
def test_an_interrupt_prints_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(parts.MEASURES, "goals", interrupted)
    file = tmp_path / "figures.json"
    assert main(options(tmp_path, "--parts", "generator", "goals", "--on", "generated", "--json", str(file))) == 1
    assert "PROBLEM: interrupted" in capsys.readouterr().out
    assert json.loads(file.read_text(encoding="utf-8"))["promises"]


def test_many_patterns_keep_within_the_bound() -> None:
    generator = make_generator(40)
    stream = generator.stream(50, n_keys=4)
    assert most_in_window(stream, WINDOW) <= 50
    patterns = draw(generator.domain, 50, RULES)
    per_window = generator.domain.per_window(WINDOW, "minutes")
    assert all(pattern.expected_matches(per_window, 4) <= 1 for pattern in patterns.values())
    assert all("[site]" in pattern.text() for pattern in patterns.values())


@pytest.mark.spark
def test_spark_finds_the_same() -> None:
    found = measure_scale(100, 30_000, 0.2, 25_000)
    assert found.wrong is None
    assert found.spark is not None
    assert found.n_matches
