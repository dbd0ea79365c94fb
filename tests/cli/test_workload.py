"""`rex workload run` in memory: where patterns come from, what is written, said and returned."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv
from tests.cli.commands import rex as command
from tests.workloads.streams import DOORS, INTRUDER, PAIR, events_of

import sparkrex as rex
from sparkrex.cli import workload as workload_module
from sparkrex.cli.main import main
from sparkrex.cli.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TEXTS = {"intruder": INTRUDER, "pair": PAIR}
BROKEN = "PATTERN SEQ(A a B b) WITHIN 5"


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """The command up to its output: a folder of patterns, and the signals in a file."""
    (tmp_path / "patterns").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "patterns" / f"{name}.rex").write_text(text, encoding="utf-8")
    pq.write_table(DOORS, tmp_path / "doors.parquet")
    stream = ["--table", str(tmp_path / "doors.parquet"), "--time", "ts", "--type", "sensor"]
    return ["workload", "run", str(tmp_path / "patterns"), *stream]


def _expected() -> pa.Table:
    return rex.workload(TEXTS, time="ts", type="sensor").detect(DOORS).table


def test_a_folder_of_patterns(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "deep" / "out.parquet"
    assert main([*arguments, "--output", str(out)]) == 0
    assert pq.read_table(out).equals(_expected())
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert lines[0] == "2 patterns"
    assert lines[1] == f"stream   6 rows  {tmp_path / 'doors.parquet'}"
    assert lines[2] == f"result  10 rows  {out}"
    assert [part.split()[0] for part in lines[3].split(", ")] == ["plan", "read", "run", "write"]
    assert len(lines) == 4


@pytest.mark.parametrize("suffix", ["parquet", "csv", "json"])
def test_a_table_of_patterns(arguments: list[str], tmp_path: Path, suffix: str) -> None:
    table, path = pa.table({"name": list(TEXTS), "text": list(TEXTS.values())}), tmp_path / f"patterns.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path)
    elif suffix == "csv":
        csv.write_csv(table, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")
    out = tmp_path / "out.parquet"
    assert main([*arguments[:2], str(path), *arguments[3:], "-o", str(out)]) == 0
    assert pq.read_table(out).equals(_expected())


@pytest.mark.parametrize(("name", "given"), [("out.csv", None), ("out.x", "csv"), ("out.json", None)])
def test_other_outputs(arguments: list[str], tmp_path: Path, name: str, given: str | None) -> None:
    out = tmp_path / name
    assert main([*arguments, "-o", str(out), *(["--format", given] if given else [])]) == 0
    if name.endswith("json"):
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    else:
        rows = csv.read_csv(out).to_pylist()
    assert rows == _expected().to_pylist()


def test_the_table_may_have_a_name(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = [f"doors={text}" if text.endswith("doors.parquet") else text for text in arguments]
    assert main([*named, "-o", str(tmp_path / "out.parquet")]) == 0
    assert "doors    6 rows" in capsys.readouterr().err


def test_options_reach_the_workload(arguments: list[str], tmp_path: Path) -> None:
    """Ties, arguments of patterns, and how the plan is found."""
    (tmp_path / "patterns" / "near.rex").write_text("PATTERN SEQ(A a, C c) WITHIN :near", encoding="utf-8")
    pq.write_table(
        DOORS.set_column(0, "ts", pa.array([1, 1, 1, 4, 5, 5])).append_column("id", pa.array([3, 2, 1, 6, 4, 5])),
        tmp_path / "doors.parquet",
    )
    options = ["--tie-break", "id", "--arg", "near=1", "--method", "ts-vertex4", "--seed", "7", "--max-steps", "5",
               "--seconds", "9", "--max-kleene", "3", "--set", "chunk_rows=2"]
    out = tmp_path / "out.parquet"
    assert main([*arguments, *options, "-o", str(out)]) == 0
    # By id, C is before A at 1, and behind D at 5.
    assert [event for event in events_of(pq.read_table(out)) if event[0] == "near"] == [
        ("near", 1, "a", 4), ("near", 1, "c", 5),
    ]
    assert main([*arguments, *options, "-o", str(out), "--overwrite", "--ties", "strict"]) == 0


def test_an_output_is_not_replaced_unless_asked(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.parquet"
    out.write_text("precious", encoding="utf-8")
    assert main([*arguments, "-o", str(out)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "precious"
    assert main([*arguments, "-o", str(out), "--overwrite"]) == 0
    assert pq.read_table(out).equals(_expected())


def test_an_output_is_none_of_the_inputs(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("doors.parquet", "patterns/pair.rex"):
        assert main([*arguments, "-o", str(tmp_path / name), "--format", "csv", "--overwrite"]) == 2
        assert "the output cannot be" in capsys.readouterr().err
    assert (tmp_path / "patterns" / "pair.rex").read_text(encoding="utf-8") == PAIR


def test_a_pattern_that_does_not_parse_is_left_out_with_a_warning(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "patterns" / "broken.rex").write_text(BROKEN, encoding="utf-8")
    out = tmp_path / "out.parquet"
    done = command(*arguments, "-o", str(out))
    assert (done.returncode, done.stdout) == (0, "")
    lines = done.stderr.splitlines()
    assert lines[0] == "warning: the pattern broken is left out:"
    assert lines[1].startswith("error[REX108]")
    assert lines[2:4] == [f"1 | {BROKEN}", " " * 20 + "^"]  # under the B
    assert "2 patterns" in lines
    assert ".py" not in done.stderr
    assert pq.read_table(out).equals(_expected())


def test_a_pattern_that_does_not_parse_may_be_an_error(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "patterns" / "broken.rex").write_text(BROKEN, encoding="utf-8")
    assert main([*arguments, "-o", str(tmp_path / "out.parquet"), "--strict"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("error[REX108]")
    assert "note: in the pattern broken" in shown
    assert not (tmp_path / "out.parquet").exists()


def test_a_pattern_that_is_wrong_is_1(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "PATTERN SEQ(A a, B b) WHERE a.diff < b.diff AND b.diff < a.diff WITHIN 5"
    (tmp_path / "patterns" / "never.rex").write_text(text, encoding="utf-8")
    assert main([*arguments, "-o", str(tmp_path / "out.parquet")]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("error[REX229]")
    assert "note: in the pattern never" in shown


@pytest.mark.filterwarnings("ignore:the pattern many has stopped")
def test_a_kleene_with_too_many_events(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "patterns" / "many.rex").write_text("PATTERN SEQ(KL(A a), C c) WITHIN 10", encoding="utf-8")
    options = ["--max-kleene", "1", "-o", str(tmp_path / "out.parquet")]
    assert main([*arguments, *options, "--on-overflow", "error"]) == 3
    assert capsys.readouterr().err.startswith("error[REX418]: the pattern many has more than max_kleene = 1 events")
    assert main([*arguments, *options]) == 0
    given = pq.read_table(tmp_path / "out.parquet").column("pattern").to_pylist()
    assert given.count("intruder") + given.count("pair") == 10


@pytest.mark.parametrize(("change", "said"), [
    (["--method", "best"], "unknown method 'best'"), (["--max-kleene", "0"], "max_kleene is 0"),
    (["--max-steps", "-1"], "max_steps is -1"), (["--ties", "loose"], "--ties"), (["--seed", "x"], "--seed"),
    (["--table", "other.parquet"], "a workload reads one table or stream"), (["--set", "speed=11"], "speed"),
    (["--table", "doors.txt"], "does not end like what is read"), (["--output", "out.xlsx"], "written as .xlsx"),
])
def test_a_wrong_command_is_2(
    arguments: list[str], tmp_path: Path, change: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _code([*arguments, "-o", str(tmp_path / "out.parquet"), *change]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert "=" not in shown.splitlines()[-1], "no words of Python"
    assert not (tmp_path / "out.parquet").exists()


def test_events_are_printed_without_an_output(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, "--format", "json"]) == 0
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert shown == _expected().to_pylist()


def test_what_is_needed(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["-o", str(tmp_path / "out.parquet")]
    assert _code([*arguments[:3], *arguments[5:], *out]) == 2
    assert capsys.readouterr().err.startswith("rex workload run: error: a workload reads one table or stream: ")
    assert _code([*arguments[:5], *out]) == 2
    assert "--time" in capsys.readouterr().err
    assert _code(["workload", "run", str(tmp_path / "none"), *arguments[3:], *out]) == 2
    assert "there is no folder or file" in capsys.readouterr().err
    assert _code(["workload"]) == 2


def _code(arguments: list[str]) -> int:
    """The exit code, also where argparse itself exits."""
    try:
        return main(arguments)
    except SystemExit as stopped:
        assert isinstance(stopped.code, int)
        return stopped.code


def test_a_stream_that_is_not_there_is_3(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "doors.parquet").unlink()
    assert main([*arguments, "-o", str(tmp_path / "out.parquet")]) == 3
    assert capsys.readouterr().err.startswith("error[REX407]: table stream: there is no file")


def test_a_column_that_the_stream_has_not(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--time", "tz", "-o", str(tmp_path / "out.parquet")]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("error[REX201]")
    assert "hint: the input has ts, sensor, floor, diff" in shown
    assert "in the pattern" not in shown  # it is the command's mistake


def test_the_search_shows_how_far_it_is(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Watched(Progress):
        """Asks for the details of every stage when it is over."""

        details: dict[str, str] = {}  # noqa: RUF012  of the one command

        @contextmanager
        def stage(self, name: str, detail: Callable[[], str] = lambda: "") -> Iterator[None]:
            with super().stage(name, detail):
                yield
            self.details[name] = detail()

    monkeypatch.setattr(workload_module, "Progress", Watched)
    assert main([*arguments, "--max-steps", "450", "-o", str(tmp_path / "out.parquet")]) == 0
    assert Watched.details.pop("run").startswith("400 plans tried, the best costs ")
    assert set(Watched.details.values()) == {""}


@pytest.mark.parametrize("arguments", [["workload", "--help"], ["workload", "run", "--help"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert _code(arguments) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: rex workload")
    assert "matches" in shown
