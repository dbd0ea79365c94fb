"""A fault inside the engine reaches the user as an internal error with its cause; the user's own mistakes do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparkrex as rex
from sparkrex import pipeline
from sparkrex.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

QUERY = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS x > 0)"
TABLE = pa.table({"x": [1, 2]})


def fail_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(pipeline, "prepare_relation", failing)


@pytest.mark.parametrize("fault", [KeyError("labels"), TypeError("no"), IndexError(3), pa.ArrowInvalid("bad")])
def test_a_fault_is_an_internal_error(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(fault, monkeypatch)
    for call in (rex.sql, rex.explain):
        with pytest.raises(rex.InternalError) as caught:
            call(QUERY, t=TABLE)
        assert caught.value.code == "REX901"
        assert caught.value.__cause__ is fault
        assert type(fault).__name__ in str(caught.value)
        assert "fault of SparkRex" in str(caught.value)


def test_a_fault_while_parsing_is_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object) -> None:
        raise AttributeError("parent")

    monkeypatch.setattr(pipeline, "cut", failing)
    with pytest.raises(rex.InternalError, match="AttributeError"):
        rex.compile("SELECT 'a text that was not parsed before'")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), SystemExit(3)])
def test_what_is_no_fault_passes(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(error, monkeypatch)
    with pytest.raises(type(error)) as caught:
        rex.sql(QUERY, t=TABLE)
    assert caught.value is error


def test_a_wrong_argument_stays_a_type_error() -> None:
    for call in (rex.sql, rex.explain):
        with pytest.raises(TypeError, match="t= is a int, not a table"):
            call(QUERY, t=3)
        with pytest.raises(TypeError, match="given twice"):
            call(QUERY, {"T": TABLE}, t=TABLE)


def test_a_broken_file_is_no_fault_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": list(range(10_000))}), path, compression="none")
    content = bytearray(path.read_bytes())
    content[4:4000] = bytes(3996)  # the data; the schema stands at the end
    path.write_bytes(content)
    with pytest.raises(rex.ExecutionError, match="REX407"):
        rex.sql(QUERY, t=path)


def test_the_command_shows_the_traceback_and_the_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(KeyError("labels"), monkeypatch)
    query, table = tmp_path / "q.sql", tmp_path / "t.parquet"
    query.write_text(QUERY, encoding="utf-8")
    pq.write_table(TABLE, table)
    assert main(["run", str(query), "-t", f"t={table}", "-o", str(tmp_path / "out.parquet")]) == 70
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert shown.index("Traceback") < shown.index("internal error[REX901]: KeyError: 'labels'")


@pytest.mark.parametrize("expression", [
    "(" * 300 + "x" + ")" * 300 + " > 0", "NOT " * 300 + "x > 0", " + ".join(["x"] * 600) + " > 0",
    "CASE WHEN x > 0 THEN " * 200 + "true" + " END" * 200,
], ids=["parentheses", "NOT", "sum", "CASE"])
def test_what_is_nested_too_deeply_is_said_to_be(expression: str) -> None:
    table = pa.table({"x": [1], "kind": ["A"]})
    queries = (
        f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x PATTERN (A) DEFINE A AS {expression})",
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x PATTERN (A) "
        f"DEFINE SEGMENT A AS {expression.replace('x', 'max(x)')})",
        f"SELECT * FROM t MATCH_EVENTS (TIME x TYPE kind PATTERN SEQ(A a) WHERE skip_till_any_match(a) "
        f"{{ {expression.replace('x', 'a.x')} }})",
    )
    for query in queries:
        with pytest.raises(rex.RexError) as caught:
            rex.sql(query, t=table)
        assert caught.value.code == "REX106"
        assert "^" in str(caught.value)


def test_choices_inside_of_choices_are_looked_at_once() -> None:
    case = "CASE WHEN x > 0 THEN " * 40 + "1" + " END" * 40
    clause = f"ORDER BY x MEASURES {case.replace('x', 'LAST(x)')} AS c PATTERN (A) DEFINE A AS {case} = 1"
    assert rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", t=TABLE).to_pydict() == {"c": [1, 1]}
