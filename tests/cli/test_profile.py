"""`rex profile` writes weights where it is told, and prints both tables; `rex explain --analyze` runs the query."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sparkrex.cli.main import main
from sparkrex.modes.segments.planner import profile
from sparkrex.modes.segments.planner.weights import read_weights, shipped_weights

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_profile_writes_weights_and_prints_both_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(profile, "profile_all", shipped_weights)
    path = tmp_path / "weights.json"
    assert main(["profile", "--output", str(path)]) == 0
    assert read_weights(path) == shipped_weights()
    printed = capsys.readouterr().out
    for text in ("Table 5", "SegGenIndexing", "MaterializeKleene", "Table 6", "mann_kendall_test"):
        assert text in printed


def test_profile_says_when_it_cannot_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(profile, "profile_all", shipped_weights)
    assert main(["profile", "--output", str(tmp_path / "nowhere" / "weights.json")]) == 3
    assert "the weights cannot be written" in capsys.readouterr().err


def test_explain_analyze_runs_the_query(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("t,x\n1,5\n2,7\n3,6\n", encoding="utf-8")
    query = tmp_path / "q.sql"
    query.write_text(
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES END_INDEX() AS j PATTERN (S)"
        " DEFINE SEGMENT S AS last(x) > first(x))", encoding="utf-8",
    )
    assert main(["explain", str(query), "-t", f"t={tmp_path / 't.csv'}", "--analyze", "--set", "planner=sm_left"]) == 0
    printed = capsys.readouterr().out
    assert "physical plan by sm_left" in printed
    assert re.search(r"real 2 segments of 1 spaces, \d+ evaluations", printed), printed
