"""Tables by path: Hive-partitioned folders, URIs, globs, and what to install for a file system that is not there."""

from __future__ import annotations

import io
import sys
from datetime import date
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import sparkrex as rex
from sparkrex.columns.inputs import to_arrow

if TYPE_CHECKING:
    from pathlib import Path

QUERY = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY k ORDER BY x MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS x > 0)"""
ROWS = pa.table({"x": [1, 2]})


def _write(folder: Path, *parts: str) -> None:
    place = folder.joinpath(*parts)
    place.mkdir(parents=True, exist_ok=True)
    pq.write_table(ROWS, place / "1.parquet")


def _read(path: Path | str) -> pa.Table:
    opened: Any = to_arrow("t", path)
    return opened if isinstance(opened, pa.Table) else opened.to_table()


def test_a_hive_partitioned_folder_keeps_its_columns(tmp_path: Path) -> None:
    for value in ("a", "b"):
        _write(tmp_path, f"k={value}")
    assert rex.sql(QUERY, t=tmp_path).to_pylist() == [{"k": "a", "n": 2}, {"k": "b", "n": 2}]
    assert rex.sql(QUERY, t=f"{tmp_path}/").num_rows == 2


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "02"], pa.array([1, 2], pa.int32())),
        (["1", "3000000000"], pa.array([1, 3_000_000_000], pa.int64())),
        (["1.5", "2"], pa.array([1.5, 2.0])),
        (["2026-01-31", "2026-02-01"], pa.array([date(2026, 1, 31), date(2026, 2, 1)])),
        (["2026-01-31", "2026-02-31"], pa.array(["2026-01-31", "2026-02-31"])),
        (["1", "__HIVE_DEFAULT_PARTITION__"], pa.array([1, None], pa.int32())),
        (["a b", "c%2Fd"], pa.array(["a b", "c/d"])),
    ],
)
def test_types_of_partition_columns(tmp_path: Path, values: list[str], expected: pa.Array) -> None:
    for value in values:
        _write(tmp_path, "year=2026", f"k={value}")
    table = _read(tmp_path)
    assert table.schema.field("year").type == pa.int32()
    found = table.column("k").combine_chunks().unique()
    assert found.type == expected.type
    assert set(found.to_pylist()) == set(expected.to_pylist())


def test_a_folder_above_the_table_is_no_partition(tmp_path: Path) -> None:
    _write(tmp_path, "run=7", "data", "k=1")
    assert _read(tmp_path / "run=7" / "data").column_names == ["x", "k"]
    assert _read(tmp_path / "run=7" / "data" / "k=1").column_names == ["x"]


def test_a_file_uri(tmp_path: Path) -> None:
    _write(tmp_path, "a b", "k=1")
    folder = f"file://{tmp_path}/a%20b"
    assert _read(folder).column_names == ["x", "k"]
    assert _read(f"{folder}/k=1/1.parquet").num_rows == 2
    assert _read(f"{folder}/*/*.parquet").num_rows == 2


def test_globs(tmp_path: Path) -> None:
    for parts in (("a",), ("b",), ("c", "d"), (".hidden",)):
        _write(tmp_path, *parts)
    assert _read(f"{tmp_path}/*/*.parquet").num_rows == 4
    assert _read(f"{tmp_path}/[ab]/?.parquet").num_rows == 4
    assert _read(f"{tmp_path}/**/*.parquet").num_rows == 6
    with pytest.raises(rex.ExecutionError, match=r"REX407.*there is no file"):
        _read(f"{tmp_path}/none/*.parquet")


def test_csv_files_and_folders(tmp_path: Path) -> None:
    folder = tmp_path / "out.csv"
    for value in (1, 2):
        (folder / f"k={value}").mkdir(parents=True)
        csv.write_csv(ROWS, folder / f"k={value}" / "part.csv")
    assert _read(folder).column_names == ["x", "k"]
    (tmp_path / "1.csv").write_text("x\n1\n", encoding="utf-8")
    (tmp_path / "2.csv").write_text("x\n1.5\n", encoding="utf-8")
    assert _read(f"{tmp_path}/*.csv").column("x").to_pylist() == [1.0, 1.5]


@pytest.mark.parametrize(("scheme", "needed"), [("https", "aiohttp"), ("nowhere", "pass it as Arrow")])
def test_a_scheme_that_nobody_knows_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, scheme: str, needed: str
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(rex.ExecutionError, match="REX407") as caught:
        rex.sql(QUERY, t=f"{scheme}://example.org/x.parquet")
    assert f"{scheme}:// paths" in str(caught.value)
    assert needed in str(caught.value)
    assert "fsspec" in str(caught.value)


def test_fsspec_opens_what_arrow_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for fsspec whose one file system has a file under `/x.parquet`."""
    pq.write_table(ROWS, tmp_path / "x.parquet")

    class OneFile:
        protocol = "https"

        def info(self, path: str) -> dict[str, Any]:
            if path != "https://example.org/x.parquet":
                raise FileNotFoundError(path)
            return {"name": path, "type": "file", "size": (tmp_path / "x.parquet").stat().st_size}

        def isfile(self, path: str) -> bool:
            return path.endswith("/x.parquet")

        def open(self, path: str, mode: str = "rb") -> Any:
            assert mode == "rb"
            return io.BytesIO((tmp_path / "x.parquet").read_bytes())

    module = ModuleType("fsspec")
    vars(module)["core"] = SimpleNamespace(url_to_fs=lambda path: (OneFile(), path))
    monkeypatch.setitem(sys.modules, "fsspec", module)
    assert _read("https://example.org/x.parquet").to_pydict() == {"x": [1, 2]}
    with pytest.raises(rex.ExecutionError, match="there is no file"):
        _read("https://example.org/y.parquet")
