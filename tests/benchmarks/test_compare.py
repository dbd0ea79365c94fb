"""Two trees are measured in turn: ratios of neighbouring runs, and whether the answers are the same."""

from __future__ import annotations

import pyarrow as pa
import pytest
from benchmarks.compare import HERE, Compared, Run, main
from benchmarks.taking_turns import digest


def test_a_ratio_is_of_neighbouring_runs() -> None:
    # The machine is three times slower from the second pair on: neither tree is.
    there = [Run(1.0, 1.0, "a"), Run(3.0, 3.0, "a"), Run(3.0, 3.0, "a")]
    here = [Run(1.1, 1.0, "a"), Run(3.3, 6.0, "a"), Run(3.3, 6.0, "a")]
    compared = Compared("W1", there, here)
    assert compared.ratio == pytest.approx(1.1)
    assert compared.processor_ratio == 2.0
    assert compared.is_same


def test_another_answer_is_seen() -> None:
    assert not Compared("W1", [Run(1.0, 1.0, "a")], [Run(1.0, 1.0, "b")]).is_same
    assert digest(pa.table({"x": [1, 2]})) != digest(pa.table({"x": [2, 1]}))


def test_pieces_are_not_part_of_an_answer() -> None:
    whole = pa.table({"x": [1, 2, 3]})
    assert digest(pa.concat_tables([whole.slice(0, 1), whole.slice(1)])) == digest(whole)


def test_a_tree_beside_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(HERE), "--rows", "2000", "--only", "two_row_scan", "--repeat", "2"]) == 0
    shown = capsys.readouterr().out
    assert "two_row_scan" in shown and "same" in shown and "median ratio" in shown
