"""The command line itself: what is refused with 2, what settings become, what is never loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.cli.commands import write_inputs

import sparkrex
from sparkrex.cli.failures import UsageError
from sparkrex.cli.files import output_format, table_argument
from sparkrex.cli.main import main
from sparkrex.cli.values import setting_argument

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["walk"],
        ["run", "{query}", "-t", "ticks", "-o", "{out}"],
        ["run", "{query}", "-t", "{ticks}", "--overwrite"],
        ["run", "{query}", "-t", "{ticks}", "--json", "-o", "{out}"],
        ["run", "{query}", "-t", "{ticks}", "--json", "--format", "csv"],
        ["run", "{query}", "-t", "{ticks}", "-o", "{out}", "--format", "text"],
        ["run", "{query}", "-t", "{ticks}", "-o", "{out}.odt"],
        ["check", "{query}.none", "-t", "{ticks}"],
        ["completion", "tcsh"],
        ["run", "{query}", "-t", "=x.parquet", "-o", "{out}"],
        ["run", "{query}", "-t", "ticks=ticks.txt", "-o", "{out}"],
        ["run", "{query}", "-t", "{ticks}", "-t", "TICKS=x.parquet", "-o", "{out}"],
        ["run", "{query}.none", "-t", "{ticks}", "-o", "{out}"],
        ["run", "{query}", "-t", "{ticks}", "-o", "{out}", "--format", "xml"],
        ["run", "{query}", "-t", "{ticks}", "-o", "{out}", "--set", "speed=11"],
        ["run", "{query}", "-t", "{ticks}", "-o", "{out}", "--set", "chunk_rows=many"],
        ["run", "{query}", "-t", "{ticks}", "-o", "{out}", "--dialect", "klingon"],
        ["run", "{query}", "-t", "{ticks}", "-o", "{out}", "--master", "local", "--remote", "sc://here"],
    ],
)
def test_a_wrong_command_is_2(tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    filled = [text.format(query=query, ticks=ticks, out=tmp_path / "out.parquet") for text in arguments]
    try:
        code = main(filled)
    except SystemExit as stopped:
        assert isinstance(stopped.code, int)
        code = stopped.code
    assert code == 2
    assert "error" in capsys.readouterr().err
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x=5", 5), ("x=1_000", 1000), ("x=64MB", 64 << 20), ("x=64 mib", 64 << 20), ("x=2GB", 2 << 30),
        ("x=none", None), ("x=True", True), ("x=false", False),
        ("x=Europe/Berlin", "Europe/Berlin"), ("x=a, b", ("a", "b")),
        ("x=", ""), ("x=a=b", "a=b"), ("x=-1", "-1"),
    ],
)
def test_settings(text: str, value: object) -> None:
    assert setting_argument(text) == ("x", value)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.parquet", "parquet"), ("a", "parquet"), ("dir/", "parquet"), ("a.CSV", "csv"), ("x/*.csv.gz", "csv"),
        ("a.tsv", "tsv"), ("a.jsonl", "json"), ("s3://b/*.json", "json"), ("a.csv/", "csv"),
    ],
)
def test_formats_by_name(path: str, expected: str) -> None:
    assert table_argument(f"t={path}").format == expected


def test_the_format_of_a_result_by_name() -> None:
    names = ("a.parquet", "a.csv", "a.JSON", "a.ndjson", "a", "there.d/a", "a.csv/")
    expected = ["parquet", "csv", "json", "json", "parquet", "parquet", "csv"]
    assert [output_format(name) for name in names] == expected


@pytest.mark.parametrize("name", ["a.tsv", "a.xlsx", "a.out", "a.csv.gz", "a.v2"])
def test_an_output_of_an_unknown_kind_names_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError, match=r"\.parquet, \.csv, \.json, \.jsonl, \.ndjson, or with none .* --format says"):
        output_format(name)


def test_explain_prints_the_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    assert main(["explain", query, "-t", ticks]) == 0
    shown = capsys.readouterr()
    assert "pattern STRT DOWN+ UP+" in shown.out
    assert shown.err == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["SparkRex", "Python", "PySpark"]
    assert main(["version", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"sparkrex", "python", "pyspark"}
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"rex {sparkrex.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"], ["run", "--help"], ["explain", "--help"], ["workload", "run", "--help"], ["version"],
        ["completion", "bash"],
    ],
)
def test_help_and_version_load_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom sparkrex.cli.main import main\n"
        f"try:\n    code = main({arguments!r})\nexcept SystemExit as stopped:\n    code = stopped.code\n"
        "heavy = {'pyspark', 'numba', 'duckdb', 'pyarrow', 'sqlglot', 'numpy'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "SparkRex" in done.stdout or "usage: rex" in done.stdout or "completion" in done.stdout
