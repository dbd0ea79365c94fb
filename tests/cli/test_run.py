"""`rex run` in memory: what it reads, writes, says and returns."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv
from tests.cli.commands import ANSWER, QUERY, TICKS, write_inputs

import sparkrex
from sparkrex.cli import run as run_module
from sparkrex.cli.main import main


def test_parquet_in_and_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    out = tmp_path / "deep" / "out.parquet"
    assert main(["run", query, "--table", ticks, "--output", str(out)]) == 0
    assert pq.read_table(out).to_pylist() == ANSWER
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert lines[0] == f"ticks   7 rows  {tmp_path / 'ticks.parquet'}"
    assert lines[1] == f"result  2 rows  {out}"
    assert [part.split()[0] for part in lines[2].split(", ")] == ["plan", "read", "run", "write"]
    assert lines[2].endswith("s in all")
    assert [path.name for path in out.parent.iterdir()] == ["out.parquet"]


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "json", "ndjson"])
def test_other_inputs(tmp_path: Path, suffix: str) -> None:
    query, _ = write_inputs(tmp_path)
    path = tmp_path / f"ticks.{suffix}"
    if "json" in suffix:
        path.write_text("".join(json.dumps(row) + "\n" for row in TICKS.to_pylist()), encoding="utf-8")
    else:
        options = csv.WriteOptions(delimiter="\t" if suffix == "tsv" else ",")
        with pa.output_stream(path) as stream:  # compresses by the name
            csv.write_csv(TICKS, stream, options)
    out = tmp_path / "out.parquet"
    assert main(["run", query, "-t", f"ticks={path}", "-o", str(out)]) == 0
    assert pq.read_table(out).to_pylist() == ANSWER


@pytest.mark.parametrize("path", ["parts/*.parquet", "parts", "parts/"])
def test_many_files(tmp_path: Path, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    query, _ = write_inputs(tmp_path)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "_SUCCESS").touch()
    pq.write_table(TICKS.slice(0, 3), tmp_path / "parts" / "1.parquet")
    pq.write_table(TICKS.slice(3), tmp_path / "parts" / "2.parquet")
    out = tmp_path / "out.parquet"
    assert main(["run", query, "-t", f"ticks={tmp_path}/{path}", "-o", str(out)]) == 0
    assert pq.read_table(out).to_pylist() == ANSWER
    assert "7 rows" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "given"), [("out.csv", None), ("out.x", "csv"), ("out.json", None), ("out", "json")])
def test_other_outputs(tmp_path: Path, name: str, given: str | None) -> None:
    query, ticks = write_inputs(tmp_path)
    out = tmp_path / name
    assert main(["run", query, "-t", ticks, "-o", str(out), *(["--format", given] if given else [])]) == 0
    if given == "json" or name.endswith("json"):
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    else:
        rows = csv.read_csv(out).to_pylist()
    assert rows == ANSWER


def test_json_keeps_what_json_has_no_word_for(tmp_path: Path) -> None:
    query = tmp_path / "q.sql"
    query.write_text(
        "SELECT CAST('NaN' AS DOUBLE) AS a, CAST('1.10' AS DECIMAL(5, 2)) AS b, DATE '2026-11-15' AS c, "
        "TIMESTAMP '2026-11-15 10:00:00' AS d, CAST(NULL AS INT) AS e, 'é' AS f, array(1, 2) AS g",
        encoding="utf-8",
    )
    out = tmp_path / "out.json"
    assert main(["run", str(query), "-o", str(out)]) == 0
    assert json.loads(out.read_text(encoding="utf-8")) == {
        "a": "NaN", "b": "1.10", "c": "2026-11-15", "d": "2026-11-15T10:00:00+00:00", "f": "é", "g": [1, 2],
    }


def test_the_query_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, ticks = write_inputs(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(QUERY.encode())))
    out = tmp_path / "out.parquet"
    assert main(["run", "-", "-t", ticks, "-o", str(out)]) == 0
    assert pq.read_table(out).to_pylist() == ANSWER


def test_dialect_and_settings_reach_the_query(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    out = tmp_path / "out.parquet"
    options = ["--dialect", "trino", "--set", "matcher=interpreter", "--set", "chunk_rows=2"]
    assert main(["run", query, "-t", ticks, "-o", str(out), *options]) == 0
    assert pq.read_table(out).to_pylist() == ANSWER


def test_an_output_is_not_replaced_unless_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    out = tmp_path / "out.parquet"
    out.write_text("precious", encoding="utf-8")
    assert main(["run", query, "-t", ticks, "-o", str(out)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "precious"
    assert main(["run", query, "-t", ticks, "-o", str(out), "--overwrite"]) == 0
    assert pq.read_table(out).to_pylist() == ANSWER


def test_a_folder_is_never_replaced_in_memory(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    (tmp_path / "out.parquet").mkdir()
    assert main(["run", query, "-t", ticks, "-o", str(tmp_path / "out.parquet"), "--overwrite"]) == 2
    assert (tmp_path / "out.parquet").is_dir()


def test_a_wrong_query_is_1_and_shown_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    Path(query).write_text(QUERY.replace("UP AS price", "UP AS prize"), encoding="utf-8")
    assert main(["run", query, "-t", ticks, "-o", str(tmp_path / "out.parquet")]) == 1
    shown = capsys.readouterr().err
    assert "error[REX201]" in shown
    assert "^^^^^" in shown
    assert "Traceback" not in shown
    assert not (tmp_path / "out.parquet").exists()


def test_a_query_that_cannot_be_parsed_is_1_before_files_are_looked_for(tmp_path: Path) -> None:
    query = tmp_path / "q.sql"
    query.write_text("SELECT * FROM ticks MATCH_RECOGNIZE (PATTERN (A", encoding="utf-8")
    assert main(["run", str(query), "-t", f"ticks={tmp_path}/none.parquet", "-o", str(tmp_path / "out.csv")]) == 1


@pytest.mark.parametrize("name", ["none.parquet", "none/*.csv", "text.parquet", "text.json"])
def test_an_input_that_cannot_be_read_is_3(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    query, _ = write_inputs(tmp_path)
    for text in ("text.parquet", "text.json"):
        (tmp_path / text).write_text("hello", encoding="utf-8")
    assert main(["run", query, "-t", f"ticks={tmp_path / name}", "-o", str(tmp_path / "out.parquet")]) == 3
    assert capsys.readouterr().err.startswith("error[REX407]: table ticks: ")


def test_a_failing_query_is_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    Path(query).write_text(QUERY.replace("PATTERN", "AFTER MATCH SKIP TO FIRST STRT PATTERN"), encoding="utf-8")
    assert main(["run", query, "-t", ticks, "-o", str(tmp_path / "out.parquet")]) == 3
    assert capsys.readouterr().err.startswith("error[REX401]")


def test_a_result_that_the_format_cannot_hold_is_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = tmp_path / "q.sql"
    for text in ("SELECT array(1, 2) AS x", "SELECT 1 AS x, 2 AS x"):
        query.write_text(text, encoding="utf-8")
        assert main(["run", str(query), "-o", str(tmp_path / "out.csv")]) == 3
        assert "Traceback" not in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["q.sql"]


def test_a_fault_of_ours_is_70(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    query, ticks = write_inputs(tmp_path)
    monkeypatch.setattr(run_module, "run_in_memory", broken)
    assert main(["run", query, "-t", ticks, "-o", str(tmp_path / "out.parquet")]) == 70
    assert "ZeroDivisionError: oops" in capsys.readouterr().err

    def internal(*_: object) -> None:
        raise sparkrex.InternalError("REX901", "odd", None, None)

    monkeypatch.setattr(run_module, "run_in_memory", internal)
    assert main(["run", query, "-t", ticks, "-o", str(tmp_path / "out.parquet")]) == 70
    assert capsys.readouterr().err == "internal error[REX901]: odd\n"


def test_an_interval_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    took = "TIMESTAMP '2024-01-02' - TIMESTAMP '2024-01-01' AS took"
    Path(query).write_text(QUERY.replace("MIN(DOWN.price) AS low", took), encoding="utf-8")
    for kind in ("parquet", "csv"):
        assert main(["run", query, "-t", ticks, "-o", str(tmp_path / f"out.{kind}")]) == 3
        assert "column took is an interval" in capsys.readouterr().err
    assert main(["run", query, "-t", ticks, "-o", str(tmp_path / "out.json")]) == 0


def test_an_output_that_is_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    assert main(["run", query, "-t", ticks, "-o", str(tmp_path / "pipe.csv"), "--overwrite"]) == 2
    assert "neither a file nor a folder" in capsys.readouterr().err


def test_what_a_link_points_to_is_replaced(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    (tmp_path / "real.csv").write_text("old", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    assert main(["run", query, "-t", ticks, "-o", str(tmp_path / "link.csv"), "--overwrite"]) == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text(encoding="utf-8").startswith('"symbol"')


def test_a_folder_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system", str(path))

    query, ticks = write_inputs(tmp_path)
    for name in ("open", "unlink"):  # tests may run as root, whom no folder refuses
        monkeypatch.setattr(Path, name, refuse)
    monkeypatch.setattr(Path, "read_bytes", lambda _: QUERY.encode())
    assert main(["run", query, "-t", ticks, "-o", str(tmp_path / "out.csv")]) == 3
    shown = capsys.readouterr().err
    assert "out.csv cannot be written as csv: [Errno 30] Read-only file system" in shown
    assert "Traceback" not in shown


def test_a_query_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    Path(query).write_bytes(b"SELECT \xff FROM ticks")
    assert main(["run", query, "-t", ticks]) == 2
    assert "is not UTF-8 at byte 8" in capsys.readouterr().err
    Path(query).write_bytes(b"\xef\xbb\xbf" + QUERY.encode())  # as editors on Windows begin a file
    assert main(["run", query, "-t", ticks]) == 0
    assert main(["run", str(tmp_path), "-t", ticks]) == 2
