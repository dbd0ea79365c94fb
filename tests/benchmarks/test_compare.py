"""Two trees are measured in turn: ratios of neighbouring runs, and whether the answers are the same."""

from __future__ import annotations

import pytest
from benchmarks.compare import HERE, Compared, Run, main


def test_a_ratio_is_of_neighbouring_runs() -> None:
    # The machine is three times slower from the second pair on: neither tree is.
    there = [Run(1.0, 1.0), Run(3.0, 3.0), Run(3.0, 3.0)]
    here = [Run(1.1, 1.0), Run(3.3, 6.0), Run(3.3, 6.0)]
    compared = Compared("W1", True, there, here)
    assert compared.ratio == pytest.approx(1.1)
    assert compared.processor_ratio == 2.0


def test_a_tree_beside_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(HERE), "--rows", "2000", "--only", "two_row_scan", "--repeat", "2"]) == 0
    shown = capsys.readouterr().out
    assert "two_row_scan" in shown and "same" in shown and "median ratio" in shown
