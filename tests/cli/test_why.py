"""`rex why`: the same text as `rex.why`, on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.commands import QUERY, TICKS, write_inputs

import sparkrex as rex
from sparkrex.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_it_prints_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    assert main(["why", query, "-t", ticks]) == 0
    assert capsys.readouterr().out == f"{rex.why(QUERY, ticks=TICKS)}\n"


def test_of_a_key_and_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    assert main(["why", query, "-t", ticks, "--key", "symbol=a", "--at", "3"]) == 0
    shown = capsys.readouterr().out
    assert shown == f"{rex.why(QUERY, ticks=TICKS, key={'symbol': 'a'}, at=3)}\n"
    assert "Row 3 (ts = 3) was never tried: match 1, rows 1 to 4, skipped it." in shown


def test_what_there_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    assert main(["why", query, "-t", ticks, "--key", "symbol=c"]) == 1
    assert "error[REX240]: no row has symbol = 'c'" in capsys.readouterr().err
    assert main(["why", query, "-t", ticks, "--key", "symbol=a", "--at", "9"]) == 1
    assert "at=9, and the partition has 4 rows" in capsys.readouterr().err
