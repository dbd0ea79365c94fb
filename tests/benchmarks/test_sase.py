"""The event benchmark runs; its answers are those of the oracle, and what is wrong it says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from benchmarks.events import tables
from benchmarks.events.chains import chains_by_hand
from benchmarks.events.contamination import OPTIONS, QUERY, answer_of
from benchmarks.events.data import ONWARD, shipments, stocks
from benchmarks.events.measuring import Bench
from benchmarks.events.running import match_sums, prepare
from benchmarks.events.workload import PREDICATES, STRATEGIES, Workload
from benchmarks.sase import main
from tests.modes.events.oracle import find_matches

import sparkrex as rex
from sparkrex.modes.events.nfab.contract import EventMatches

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

TITLES = ["Table 2", "Table 3", "Throughput", "Query 2", "Equalities", *(f"Figure 8{letter}" for letter in "abcdefg")]


def test_a_quick_run_prints_all_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    code = main(["--quick", "--windows-long", "8", "--shipments", "2000", "--parts", "figures", "throughput",
                 "contamination", "equalities", "--json", str(file)])
    printed = capsys.readouterr().out
    assert code == 0, printed
    for title in TITLES:
        assert f"\n{title}" in printed
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert not figures["problems"]
    assert {one["algorithm"] for one in figures["figures"]} == {"nfab", "basic", "backtrack"}


def test_matches_are_as_long_as_in_the_paper() -> None:
    assert tables.wrong_lengths(Bench(50, 1, lambda text: None)) == []


def test_another_length_of_matches_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(tables.LENGTHS, "p1s2", 300)
    assert main(["--quick", "--windows-long", "50"]) == 1
    printed = capsys.readouterr().out
    assert "PROBLEM: p1s2: matches have 25" in printed
    assert "Figure" not in printed


def test_another_answer_is_a_problem(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("benchmarks.events.contamination.chains_by_hand", lambda stream: ({}, (0, 0, 0, 0)))
    assert main(["--quick", "--shipments", "500", "--parts", "contamination"]) == 1
    assert "PROBLEM: Query 2" in capsys.readouterr().out


def tiny_stocks() -> pa.Table:
    """Symbol after symbol, so that rows are in the matcher's order; one price in five can start a match."""
    stream = stocks(40, 0.55).sort_by([("symbol", "ascending"), ("ts", "ascending")])
    stream = stream.set_column(2, "price", pc.multiply(stream.column("price"), 100))
    return stream.set_column(3, "volume", pc.divide(stream.column("volume"), 4))


@pytest.mark.parametrize("is_non_overlapping", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("predicate", PREDICATES)
def test_the_oracle_finds_the_same(predicate: str, strategy: str, is_non_overlapping: bool) -> None:
    stream = tiny_stocks()
    prepared = prepare(Workload(predicate + strategy, 9, is_non_overlapping).text(), stream)
    try:
        found = find_matches(prepared.query, stream.to_pylist())
        assert found
        runs = [prepared.fed(algorithm, sums=True) for algorithm in ("nfab", "basic", "backtrack")]
        runs.append(prepared.fed("nfab", chunk_rows=7, sums=True))
    finally:
        prepared.host.close()
    names = sorted({name for _, variables in found for name in variables})
    expected = EventMatches(
        np.array([row for rows, _ in found for row in rows], np.int64),
        np.array([names.index(name) for _, variables in found for name in variables], np.int16),
        np.cumsum([0, *(len(rows) for rows, _ in found)]),
    )
    for fed in runs:
        assert fed.n_matches == len(expected)
        assert fed.checksum == tuple(match_sums(expected, 0).tolist())


def test_the_loop_of_query_2_counts_what_the_oracle_finds() -> None:
    stream = shipments(300, 250)
    options = OPTIONS | {"tie_break": (OPTIONS["tie_break"],)}
    prepared = prepare(QUERY, stream, **options)
    prepared.host.close()
    found = find_matches(prepared.query, stream.to_pylist())
    lengths, sums = chains_by_hand(stream)
    n_shipped = [len(rows) - 1 for rows, _ in found]
    assert lengths == {hops: n_shipped.count(hops) for hops in sorted(set(n_shipped))}
    assert sums[:3] == (
        sum(rows[0] for rows, _ in found), sum(n_shipped), sum(sum(rows[1:]) for rows, _ in found)
    )
    assert answer_of(rex.events(QUERY, stream, **OPTIONS)) == (lengths, sums)


def test_alerts_have_the_chains_that_the_generator_promises() -> None:
    lengths, _ = chains_by_hand(shipments(100_000, 90_000))
    assert lengths[1] == pytest.approx(90_000 * ONWARD, rel=0.02)
    assert sum(lengths.values()) == pytest.approx(90_000 * (np.exp(ONWARD) - 1), rel=0.02)


def test_prices_walk_in_steps_of_one() -> None:
    stream = stocks(2_000, 0.55)
    for symbol in (1, 2):
        steps = np.diff(stream.filter(pc.equal(stream.column("symbol"), symbol)).column("price").to_numpy())
        assert np.mean(steps == 1) == pytest.approx(0.55, abs=0.04)
        assert np.mean(steps == 0) == pytest.approx(0.225, abs=0.04)
        assert set(steps.tolist()) == {-1, 0, 1}
