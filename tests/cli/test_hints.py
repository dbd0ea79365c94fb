"""What the command says when something is wrong: in the words of the command, and soon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.commands import rex, write_inputs

from sparkrex.cli import session
from sparkrex.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

MATCH = "ticks MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS price > {})"


@pytest.mark.parametrize(
    ("text", "options", "hint"),
    [
        ("SELECT * FROM tocks", [], "did you mean ticks?"),
        ("SELECT * FROM trades", [], "name its files: --table trades=PATH"),
        ("SELECT * FROM " + MATCH.format(":low"), [], "--arg low=VALUE"),
        ("SELECT * FROM " + MATCH.format("?"), [], "write :name instead, and give --arg name=VALUE"),
        ("SELECT * FROM " + MATCH.format("1"), ["--arg", "low=1"], "or leave --arg out"),
        ("EXPLAIN SELECT * FROM " + MATCH.format("1"), [], "rex explain QUERY shows the plan"),
        ("CREATE TABLE u AS SELECT * FROM " + MATCH.format("1"), [], "rex run writes its result to --output"),
        ("MATCH_RECOGNIZE (PATTERN (A))", [], "write SELECT * FROM t MATCH_RECOGNIZE (...)"),
        (
            "SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts PATTERN (A+ B) DEFINE A AS price > AVG(A.price) - 9, "
            "B AS price > SUM(A.price) * 9)", ["--set", "max_steps=3"],
            "bound the quantifiers, add WITHIN, or raise --set max_steps=N",
        ),
        (
            "SELECT * FROM ticks MATCH_TRENDS (COUNTS LOG RETURN COUNT(*) AS n PATTERN A+ SEMANTICS "
            "skip-till-any-match)", [], "TIME comes first: TIME ts",
        ),
        (
            "SELECT * FROM " + MATCH.format("1"), ["--set", "matcher=nfab"],
            "of rows: automaton, ops, ops_forward, ops_reverse, backtrack, interpreter",
        ),
    ],
)
def test_hints_speak_the_command(
    tmp_path: Path, text: str, options: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    query, ticks = write_inputs(tmp_path)
    (tmp_path / "q.sql").write_text(text, encoding="utf-8")
    assert main(["run", query, "-t", ticks, "-o", str(tmp_path / "out.parquet"), *options]) in (1, 2, 3)
    shown = capsys.readouterr().err
    assert shown.splitlines()[-1] == f"hint: {hint}" or shown.rstrip().endswith(hint), shown
    for python in ("rex.", "args=", "spark=", "tables=", "settings="):
        assert python not in shown, shown


@pytest.mark.parametrize("command", ["run", "explain"])
@pytest.mark.parametrize("path", ["none.parquet", "none/*.csv", "file:///none/there.json"])
def test_files_are_looked_for_before_spark_is_started(
    tmp_path: Path, path: str, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def started(*_: object) -> None:
        raise AssertionError("Spark is started")

    monkeypatch.setattr(session, "spark_session", started)
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    query, _ = write_inputs(tmp_path)
    place = path if path.startswith("file:") else f"{tmp_path}/{path}"
    output = ["-o", str(tmp_path / "out")] if command == "run" else []
    assert main([command, query, "-t", f"ticks={place}", "--master", "local[2]", *output]) == 3
    assert f"error[REX407]: table ticks: there is no file {place}" in capsys.readouterr().err
    # Where a path may mean another file system, Spark is asked.
    for options in (["--master", "yarn"], ["--master", "local", "--conf", "spark.hadoop.fs.defaultFS=hdfs://here"]):
        assert main([command, query, "-t", f"ticks={place}", *options, *output]) == 70
        assert "Spark is started" in capsys.readouterr().err


def test_warnings_without_lines_of_python(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    clause = "TIME ts TYPE symbol PATTERN SEQ(a x, c y) WHERE skip_till_next_match(x, y)"
    (tmp_path / "q.sql").write_text(f"SELECT * FROM ticks MATCH_EVENTS ({clause})", encoding="utf-8")
    done = rex("run", query, "-t", ticks, "-o", str(tmp_path / "out.parquet"))
    assert done.returncode == 0
    assert done.stderr.startswith("warning: no event has type c (symbol = 'c')")


def test_a_value_may_stand_where_only_a_constant_can(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    clause = "PARTITION BY symbol ORDER BY ts PATTERN (A+) WITHIN :window"
    (tmp_path / "q.sql").write_text(f"SELECT * FROM ticks MATCH_RECOGNIZE ({clause})", encoding="utf-8")
    assert main(["run", query, "-t", ticks, "-o", str(tmp_path / "out.parquet"), "--arg", "window=1"]) == 0


def test_an_error_of_a_worker_names_options_too() -> None:
    text = "sparkrex.errors.ExecutionError: error[REX403]: too many\nhint: add WITHIN, or raise the setting max_steps\n"
    assert session.readable(RuntimeError(text)).endswith("hint: add WITHIN, or raise --set max_steps=N")
