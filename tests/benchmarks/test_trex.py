"""The segment benchmark runs, and all its answers agree: planners, random plans, automata."""

from __future__ import annotations

import json
from itertools import permutations
from time import sleep
from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmarks.segments.automata import NESTED, Automaton
from benchmarks.segments.data import load
from benchmarks.segments.instance import ndcg, random_ndcg
from benchmarks.segments.prepare import Found, prepare
from benchmarks.segments.templates import TEMPLATES
from benchmarks.segments.timing import TimeOutError, time_limit
from benchmarks.trex import main
from numba.core.compiler_lock import global_compiler_lock

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def test_a_quick_run_on_generated_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = tmp_path / "figures.json", tmp_path / "figures.md"
    code = main([
        "--quick", "--data", str(tmp_path), "--series", "3", "--templates", "outlier", "limit_sell",
        "--parts", "plans", "executors", "--json", str(file),
        "--markdown", str(page),
    ])
    printed = capsys.readouterr().out
    assert code == 0, printed
    for title in ("Table 4", "Table 7", "Regret", "Figure 22a", "Figure 22b"):
        assert title in printed
        assert f"**{title}" in page.read_text(encoding="utf-8")
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert {instance["template"] for instance in figures["instances"]} == {"outlier", "limit_sell"}
    assert not figures["problems"]


@pytest.mark.parametrize("name", TEMPLATES)
def test_automata_find_what_plans_find(name: str) -> None:
    template = TEMPLATES[name]
    parameters = template.instances[0]
    prepared = prepare(template.clause(parameters), load(template.data, None, 3))
    try:
        found = prepared.run(prepared.optimized()).pairs()
        for is_nested in (False, True) if name in NESTED else (False,):
            for shares in (True, False):
                other = Automaton(name, parameters, prepared, is_nested, shares).run()
                assert np.array_equal(found, other.pairs())
                assert other.n_tested > 0
        assert len(found) > 0
    finally:
        prepared.host.close()


def test_a_wrong_answer_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Automaton.run

    def wrong(self: Automaton) -> Found:
        found = right(self)
        return found._replace(start=found.start[1:], end=found.end[1:])

    monkeypatch.setattr(Automaton, "run", wrong)
    options = ["--quick", "--data", str(tmp_path), "--series", "2", "--templates", "outlier", "--parts", "executors"]
    assert main(options) == 1


def test_ndcg_of_a_random_order_is_the_average_over_all_orders() -> None:
    gains = [1.0, 0.5, 0.2, 0.0]
    assert ndcg(sorted(gains, reverse=True)) == 1.0
    assert random_ndcg(gains) == pytest.approx(np.mean([ndcg(list(order)) for order in permutations(gains)]))


def test_a_time_limit_waits_until_nothing_is_compiled() -> None:
    reached = []
    with pytest.raises(TimeOutError), time_limit(0.01):
        with global_compiler_lock:
            sleep(0.1)
            reached.append("compiled")
        sleep(10)
    assert reached == ["compiled"]
