"""A result on standard output: a table that fits a terminal, all of it in a pipe, and what programs read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv
from tests.cli.commands import ANSWER, write_inputs

from sparkrex.cli import standard_output
from sparkrex.cli.cells import cell_text, shortened, visible, width_of
from sparkrex.cli.main import main
from sparkrex.cli.table_text import fitted_text, whole_text

if TYPE_CHECKING:
    from pathlib import Path

LINES = ["symbol  fell_at  back_at  low", "a             2        4  7.5", "b             2        3  2.0"]


def test_a_pipe_gets_all_rows_under_the_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    for output in ([], ["-o", "-"], ["--format", "text"]):
        assert main(["run", query, "-t", ticks, *output]) == 0
        shown = capsys.readouterr()
        assert shown.out.splitlines() == LINES
        assert shown.err.splitlines()[1].split() == ["result", "2", "rows", "printed"]


def test_a_terminal_gets_a_table_with_its_number_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    query, ticks = write_inputs(tmp_path)
    monkeypatch.setattr(standard_output, "is_terminal", lambda: True)
    assert main(["run", query, "-t", ticks]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [LINES[0], "------  -------  -------  ---", *LINES[1:], "2 rows"]
    assert main(["run", query, "-t", ticks, "--format", "parquet"]) == 2
    assert "Parquet is not for terminals" in capsys.readouterr().err


def test_what_programs_read(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    query, ticks = write_inputs(tmp_path)
    command = ["run", query, "-t", ticks]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsysbinary.readouterr().out) == ANSWER
    assert main([*command, "-o", "-", "--format", "json"]) == 0
    assert [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()] == ANSWER
    assert main([*command, "--format", "csv"]) == 0
    assert csv.read_csv(pa.py_buffer(capsysbinary.readouterr().out)).to_pylist() == ANSWER
    assert main([*command, "--format", "parquet"]) == 0
    assert pq.read_table(pa.py_buffer(capsysbinary.readouterr().out)).to_pylist() == ANSWER


def test_json_arrays_say_null_and_may_be_empty(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    query = tmp_path / "q.sql"
    query.write_text("SELECT CAST(NULL AS INT) AS a, 1 AS b", encoding="utf-8")
    assert main(["run", str(query), "--json"]) == 0
    assert json.loads(capsysbinary.readouterr().out) == [{"a": None, "b": 1}]
    query.write_text("SELECT 1 AS a WHERE 1 = 2", encoding="utf-8")
    assert main(["run", str(query), "--json"]) == 0
    assert json.loads(capsysbinary.readouterr().out) == []


@pytest.mark.parametrize(("kind", "code"), [("text", 0), ("json", 0), ("csv", 3), ("parquet", 0)])
def test_lists_are_not_for_csv(tmp_path: Path, kind: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    query = tmp_path / "q.sql"
    query.write_text("SELECT array(1, 2) AS x", encoding="utf-8")
    out = ["-o", str(tmp_path / "out")] if kind == "parquet" else []
    assert main(["run", str(query), "--format", kind, *out]) == code
    if code:
        assert "column x is of type" in capsys.readouterr().err


def test_cells_are_one_line_that_moves_nothing() -> None:
    assert cell_text("a\x1b[31m\nb\\") == "a\\x1b[31m\\nb\\\\"
    assert cell_text("\u202e") == "\\u202e"  # would turn the line around
    assert cell_text(b"\x00\xff") == "X'00FF'"
    assert cell_text(None) == "NULL"
    assert cell_text("") == ""
    assert cell_text([1, None, "é"]) == '[1, null, "é"]'
    assert visible("C:\\tmp") == "C:\\tmp"


def test_widths_of_characters() -> None:
    assert [width_of(text) for text in ("abc", "日本", "e\u0301", "ｱ")] == [3, 4, 1, 1]
    assert shortened("日本語", 4) == "日…"
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "ab…"


def test_wide_columns_are_cut_first_and_middle_ones_left_out() -> None:
    table = pa.table({"id": [1], "text": ["x" * 300], "word": ["four"]})
    lines = fitted_text(table, 30).splitlines()
    assert lines[0] == "id  text                  word"
    assert lines[2] == " 1  " + "x" * 19 + "…  four"
    assert lines[3] == "1 row"
    many = pa.table({f"column_{number}": ["value"] for number in range(30)})
    lines = fitted_text(many, 40).splitlines()
    assert lines[0].startswith("column_0  column_1  …  colum")
    assert lines[-1] == "1 row, 4 of 30 columns shown; --output PATH or a pipe gets all"
    assert max(map(width_of, lines[:-1])) <= 40


def test_long_results_show_their_ends() -> None:
    lines = fitted_text(pa.table({"n": range(1000)}), 80).splitlines()
    assert lines[2:4] == ["  0", "  1"]
    assert lines[21:24] == [" 19", "  …", "980"]
    assert lines[-1] == "1,000 rows, the first and last 20 shown; --output PATH or a pipe gets all"
    whole = list(whole_text(pa.table({"n": range(25_000)})))
    assert [part.count("\n") for part in whole] == [10_001, 10_000, 5_000]
    assert whole[0].startswith("   n\n   0\n   1\n")
    assert whole[2].endswith("\n24999\n")  # one digit more


def test_results_without_rows_or_columns() -> None:
    assert fitted_text(pa.table({"n": pa.array([], pa.int64())}), 80).splitlines() == ["n", "-", "0 rows"]
    assert fitted_text(pa.table({"n": [1, 2]}).select([]), 80) in ("0 rows\n", "2 rows\n")  # as Arrow counts them
    assert list(whole_text(pa.table({"n": [1]}).select([]))) == []
    assert list(whole_text(pa.table({"n": pa.array([], pa.int64())}))) == ["n\n"]


@given(
    st.lists(st.lists(st.text(max_size=40), min_size=2, max_size=2), min_size=1, max_size=12), st.integers(20, 100)
)
def test_no_line_of_a_table_is_wider_than_the_terminal(columns: list[list[str]], n_columns: int) -> None:
    names = [f"column {number}" for number in range(len(columns))]
    *lines, _ = fitted_text(pa.table(columns, names=names), n_columns).split("\n")[:-1]
    assert all(width_of(line) <= n_columns for line in lines)
    assert len({line.count("\n") for line in lines}) == 1
