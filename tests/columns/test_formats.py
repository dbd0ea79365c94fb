"""Tables by path: the ending says the format; what cannot be read says which formats there are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import sparkrex as rex

if TYPE_CHECKING:
    from pathlib import Path

TABLE = pa.table({"x": [1, 2, 3], "word": ["a", None, "c"]})


def _write(path: Path, table: pa.Table) -> None:
    """Written in the format of its name; `output_stream` compresses by the name."""
    with pa.output_stream(path) as stream:
        if ".json" in path.name or ".ndjson" in path.name:
            stream.write("".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode())
        elif ".csv" in path.name or ".tsv" in path.name:
            csv.write_csv(table, stream, csv.WriteOptions(delimiter="\t" if ".tsv" in path.name else ","))
        else:
            pq.write_table(table, stream)


@pytest.mark.parametrize(
    "name",
    [
        "t.parquet", "t", "t.pq", "t.csv", "t.tsv", "t.CSV.gz", "t.tsv.bz2", "t.csv.zst", "t.json", "t.jsonl",
        "t.ndjson", "t.json.gz", "t.jsonl.zst",
    ],
)
def test_by_ending(tmp_path: Path, name: str) -> None:
    path = tmp_path / name.replace("CSV", "csv")
    _write(path, TABLE)
    found = rex.sql("SELECT x, nullif(word, '') AS word FROM t ORDER BY x", t=path)
    assert found.to_pylist() == TABLE.to_pylist()


@pytest.mark.parametrize("kind", ["json", "json.gz", "csv.gz"])
def test_several_files_whose_types_differ(tmp_path: Path, kind: str) -> None:
    _write(tmp_path / f"1.{kind}", pa.table({"x": [1]}))
    _write(tmp_path / f"2.{kind}", pa.table({"x": [1.5], "y": ["b"]}))
    found = rex.sql("SELECT x, y FROM t ORDER BY x", t=str(tmp_path / f"*.{kind}"))
    assert found.to_pylist() == [{"x": 1.0, "y": None}, {"x": 1.5, "y": "b"}]


def test_a_folder_without_files(tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(rex.ExecutionError, match=r"REX407.*there are no files in"):
        rex.sql("SELECT * FROM t", t=tmp_path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("t.xlsx", ("cannot be read as Parquet", "files that are read: Parquet, .csv, .tsv, .json")),
        ("t.json", ("cannot be read as JSON lines", "one object per line")),
        ("t.csv.gz", ("cannot be read as CSV", ".gz")),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, words: tuple[str, ...]) -> None:
    (tmp_path / name).write_bytes(b"[nothing that\n is read")
    with pytest.raises(rex.ExecutionError, match="REX407") as raised:
        rex.sql("SELECT * FROM t", t=tmp_path / name)
    for text in words:
        assert text in str(raised.value)
