"""`rex run` never replaces what it reads, and an output that exists stays as it is until the new one is complete."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.cli.commands import ANSWER, QUERY, TICKS, rex, write_inputs

from sparkrex.cli.main import main
from sparkrex.cli.own_input import overlap


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _layout(folder: Path) -> None:
    """A file, links to it, a folder of files, a Hive-partitioned folder and a link to that."""
    write_inputs(folder)
    pq.write_table(TICKS, folder / "x.parquet")
    (folder / "link.parquet").symlink_to("x.parquet")
    (folder / "parts").mkdir()
    pq.write_table(TICKS, folder / "parts" / "1.parquet")
    (folder / "linked_part").mkdir()
    (folder / "linked_part" / "1.parquet").symlink_to("../x.parquet")
    hive = folder / "hive" / "day=1"
    hive.mkdir(parents=True)
    pq.write_table(TICKS, hive / "1.parquet")
    (folder / "hive_link").symlink_to("hive")


CLASHES = [
    ("x.parquet", "x.parquet"),
    ("x.parquet", "./parts/../x.parquet"),
    ("x.parquet", "link.parquet"),
    ("link.parquet", "x.parquet"),
    ("link.parquet", "link.parquet"),
    ("*.parquet", "x.parquet"),
    ("parts", "parts/1.parquet"),
    ("parts/", "parts/new.parquet"),
    ("parts/*.parquet", "parts/1.parquet"),
    ("linked_part", "x.parquet"),
    ("hive", "hive/day=1/1.parquet"),
    ("hive", "hive/day=2/new.parquet"),
    ("hive_link", "hive/day=1/1.parquet"),
    ("hive/*/*.parquet", "hive_link/day=1/1.parquet"),
    ("x.parquet", "q.sql"),
]


@pytest.mark.parametrize(("table", "output"), CLASHES)
@pytest.mark.parametrize("is_absolute", [False, True])
def test_an_input_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], table: str, output: str,
    is_absolute: bool,
) -> None:
    _layout(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = _tree(tmp_path)
    table = str(tmp_path / table) if is_absolute else table
    assert main(["run", "q.sql", "-t", f"ticks={table}", "-o", output, "--overwrite"]) == 2
    shown = capsys.readouterr().err
    assert "reads" in shown
    assert "another place" in shown
    assert _tree(tmp_path) == before


def test_a_uri_of_a_local_file_is_the_same_file(tmp_path: Path) -> None:
    _layout(tmp_path)
    assert overlap(f"file://{tmp_path}/x.parquet", str(tmp_path / "link.parquet"))
    assert overlap(f"file:{tmp_path}/x.parquet", str(tmp_path / "x.parquet"))
    (tmp_path / "a b").mkdir()
    assert overlap(str(tmp_path / "a b"), f"file://{tmp_path}/a%20b")


def test_paths_of_other_file_systems_are_compared_by_their_names() -> None:
    assert overlap("s3://bucket/a/x.parquet", "s3a://bucket/a/b/../x.parquet")
    assert overlap("hdfs://host/a", "hdfs://host/a/part-0.parquet")
    assert overlap("hdfs://host/a/part-0.parquet", "hdfs://host/a")
    assert not overlap("hdfs://host/a", "hdfs://host/ab")
    assert not overlap("hdfs://host/a", "hdfs://other/a")
    assert not overlap("s3://bucket/a", "/a")


def test_a_neighbour_of_the_input_is_a_good_output(tmp_path: Path) -> None:
    _layout(tmp_path)
    out = tmp_path / "x.parquet.out"
    for table in ("x.parquet", "parts", "[lx]*k.parquet"):
        arguments = ["run", str(tmp_path / "q.sql"), "-t", f"ticks={tmp_path / table}", "-o", str(out), "--overwrite"]
        arguments += ["--format", "parquet"]
        assert main(arguments) == 0
        assert pq.read_table(out).to_pylist() == ANSWER


@pytest.mark.slow
@pytest.mark.spark
def test_spark_refuses_too_and_a_failed_job_leaves_the_output_as_it_was(tmp_path: Path) -> None:
    _layout(tmp_path)
    options = ["--overwrite", "--master", "local[1]", "--conf", "spark.ui.enabled=false"]
    query = str(tmp_path / "q.sql")
    before = _tree(tmp_path)
    for table, output in [("parts/1.parquet", "parts"), ("{x,parts/1}.parquet", "x.parquet"), ("hive_link", "hive")]:
        arguments = ["-t", f"ticks={tmp_path / table}", "-o", str(tmp_path / output)]
        done = rex("run", query, *arguments, *options, scratch=tmp_path)
        assert done.returncode == 2, done.stderr
        assert "another place" in done.stderr
        assert _tree(tmp_path) == before
    out = tmp_path / "out"
    out.mkdir()
    (out / "old.txt").write_text("precious", encoding="utf-8")
    Path(query).write_text(QUERY.replace("PATTERN", "AFTER MATCH SKIP TO FIRST STRT PATTERN"), encoding="utf-8")
    ticks = ["-t", f"ticks={tmp_path / 'x.parquet'}"]
    done = rex("run", query, *ticks, "-o", str(out), *options, scratch=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "REX401" in done.stderr
    assert [path.name for path in out.iterdir()] == ["old.txt"]
    Path(query).write_text(QUERY, encoding="utf-8")
    done = rex("run", query, *ticks, "-o", str(out), *options, scratch=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(pq.read_table(out).to_pylist(), key=lambda row: row["symbol"]) == ANSWER
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".", "_"))]
    assert not (out / "old.txt").exists()


@pytest.mark.spark
@pytest.mark.slow
def test_the_same_on_connect(tmp_path: Path) -> None:
    _layout(tmp_path)
    query, out = str(tmp_path / "q.sql"), tmp_path / "out"
    options = ["--overwrite", "--remote", "local[1]"]
    before = _tree(tmp_path)
    done = rex("run", query, "-t", f"ticks={tmp_path / 'parts'}", "-o", str(tmp_path / "parts"), *options,
               scratch=tmp_path)
    assert done.returncode == 2, done.stderr
    assert _tree(tmp_path) == before
    out.mkdir()
    (out / "old.txt").write_text("precious", encoding="utf-8")
    ticks = ["-t", f"ticks={tmp_path / 'x.parquet'}"]
    Path(query).write_text(QUERY.replace("PATTERN", "AFTER MATCH SKIP TO FIRST STRT PATTERN"), encoding="utf-8")
    assert rex("run", query, *ticks, "-o", str(out), *options, scratch=tmp_path).returncode == 3
    assert [path.name for path in out.iterdir()] == ["old.txt"]
    Path(query).write_text(QUERY, encoding="utf-8")
    done = rex("run", query, *ticks, "-o", str(out), *options, scratch=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(pq.read_table(out).to_pylist(), key=lambda row: row["symbol"]) == ANSWER
    assert not (out / "old.txt").exists()
