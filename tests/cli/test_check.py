"""`rex check`: columns and mistakes of a query that is not run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import QUERY, TICKS, rex, write_inputs

import sparkrex
from sparkrex import pipeline
from sparkrex.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = [("symbol", "STRING"), ("fell_at", "BIGINT"), ("back_at", "BIGINT"), ("low", "DOUBLE")]


def test_columns_and_types_without_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    query, ticks = write_inputs(tmp_path)
    seen: list[int] = []
    run = pipeline.run_relation

    def counted(plan: object, table: pa.Table, *rest: object) -> pa.Table:
        seen.append(table.num_rows)
        return run(plan, table, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "run_relation", counted)
    assert main(["check", query, "-t", ticks]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [tuple(line.split()) for line in lines[:-1]] == COLUMNS
    assert lines[-1] == "4 columns, no error"
    assert seen == [0]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("SELECT max(low) AS lowest, count(*) AS n FROM ({q}) WHERE low > 1", ["lowest DOUBLE", "n BIGINT"]),
        ("SELECT 1 AS x, 'a' AS x", ["x INT", "x STRING"]),
        (
            "WITH w AS (SELECT *, price * 2 AS twice FROM ticks) SELECT * FROM w MATCH_RECOGNIZE (ORDER BY ts "
            "MEASURES LAST(twice) AS z, MATCH_NUMBER() AS m PATTERN (A+))", ["z DOUBLE", "m BIGINT"],
        ),
        ("SELECT * FROM ({q}) MATCH_RECOGNIZE (ORDER BY fell_at PATTERN (A))", []),
        ("SELECT 1 / x AS y FROM (SELECT explode(sequence(1, 1000000000000)) AS x)", ["y DOUBLE"]),
    ],
)
def test_what_is_around_a_pattern_is_analysed_and_not_run(text: str, columns: list[str]) -> None:
    found = sparkrex.compile(text.format(q=QUERY)).columns(ticks=TICKS)
    assert [" ".join(column) for column in found] == columns


def test_the_types_are_those_of_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    assert main(["check", query, "-t", ticks, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "ok": True, "columns": [{"name": name, "type": kind} for name, kind in COLUMNS], "warnings": [], "errors": [],
    }
    result = sparkrex.sql(QUERY, ticks=TICKS)
    assert result.column_names == [name for name, _ in COLUMNS]


def test_an_error_is_shown_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    (tmp_path / "q.sql").write_text(QUERY.replace("UP AS price", "UP AS prize"), encoding="utf-8")
    assert main(["check", query, "-t", ticks]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error[REX201]: column prize")
    assert "^^^^^\nhint: did you mean price?" in shown.err
    assert main(["check", query, "-t", ticks, "--json"]) == 1
    (error,) = json.loads(capsys.readouterr().out)["errors"]
    assert error == {
        "code": "REX201", "message": "column prize does not exist in the input", "line": 5, "column": 45, "length": 5,
        "notes": [], "hint": "did you mean price?",
    }


def test_a_mistake_in_the_sql_around(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    (tmp_path / "q.sql").write_text(f"SELECT lowest FROM ({QUERY}) AS found", encoding="utf-8")
    assert main(["check", query, "-t", ticks]) == 1
    assert "column lowest does not exist" in capsys.readouterr().err


def test_without_tables_the_text_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, _ = write_inputs(tmp_path)
    assert main(["check", query]) == 0
    assert "--table NAME=PATH" in capsys.readouterr().out
    assert main(["check", query, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] is None
    (tmp_path / "q.sql").write_text(QUERY.replace("PATTERN", "PATERN"), encoding="utf-8")
    assert main(["check", query]) == 1
    assert main(["check", query, "-t", f"tocks={tmp_path}/ticks.parquet"]) == 1
    assert main(["check", query, "-t", f"ticks={tmp_path}/none.parquet"]) == 1  # the text comes first


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, _ = write_inputs(tmp_path)
    assert main(["check", query, "-t", f"ticks={tmp_path}/none.parquet", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["errors"][0]["code"] == "REX407"


def test_warnings_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(pa.table({"ts": [1, 2], "kind": ["A", "B"]}), tmp_path / "s.parquet")
    query = tmp_path / "q.sql"
    query.write_text(
        "SELECT * FROM s MATCH_TRENDS (TIME ts TYPE kind RETURN COUNT(*) AS n PATTERN SEQ(A, B) "
        "SEMANTICS skip-till-any-match WITHIN 5 SLIDE 10)", encoding="utf-8",
    )
    assert main(["check", str(query), "-t", f"s={tmp_path}/s.parquet", "--json"]) == 0
    shown = capsys.readouterr()
    (warning,) = json.loads(shown.out)["warnings"]
    assert shown.err == f"warning: {warning}\n"


@pytest.mark.spark
@pytest.mark.slow
def test_on_spark(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    done = rex("check", query, "-t", ticks, "--json", "--master", "local[2]", scratch=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["columns"] == [{"name": name, "type": kind} for name, kind in COLUMNS]
