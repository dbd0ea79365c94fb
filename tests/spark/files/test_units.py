"""Row groups are shared out evenly, each once; values of folders are those that nobody can doubt."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from sparkrex.columns.blobs import spark_hash, spread_ids
from sparkrex.spark.files.folders import folder_value, folder_values
from sparkrex.spark.files.footers import NotProvenError, Wanted
from sparkrex.spark.files.units import FileState, Piece, share_out


@pytest.mark.parametrize("seed", range(10))
def test_every_row_group_is_in_one_unit(seed: int) -> None:
    draw = random.Random(seed)
    pieces = [
        Piece(FileState(f"{file}", 1, 1), (group,), {}, {}, draw.randrange(1, 100), 1)
        for file in range(draw.randrange(1, 9)) for group in range(draw.randrange(1, 9))
    ]
    n_units = draw.randrange(1, 12)
    units = share_out(pieces, n_units)
    found = [(piece.file.path, group) for unit in units for piece in unit for group in piece.groups]
    assert sorted(found) == [(piece.file.path, *piece.groups) for piece in pieces]
    assert len(units) == min(n_units, len(pieces)) and all(units)
    sizes = [sum(piece.n_bytes for piece in unit) for unit in units]
    best = max(sum(piece.n_bytes for piece in pieces) / n_units, max(piece.n_bytes for piece in pieces))
    assert max(sizes) <= 2 * best


def test_no_row_groups_are_one_empty_unit() -> None:
    assert share_out([], 8) == ((),)


def test_partition_folders() -> None:
    assert folder_values("/d/a=1/b=x%2Fy/f.parquet", "/d") == {"a": "1", "b": "x/y"}
    assert folder_values("/d/f.parquet", "/d") == {} == folder_values("/other/a=1/f.parquet", "/d")
    with pytest.raises(NotProvenError, match="ASCII"):
        folder_values("/d/a=%FF/f.parquet", "/d")


@pytest.mark.parametrize(
    ("text", "spark_type", "expected"),
    [
        ("1", "int", 1), ("-07", "bigint", -7), ("x", "string", "x"), ("__HIVE_DEFAULT_PARTITION__", "int", None),
        ("2026-01-31", "date", 20484), ("1970-01-01", "date", 0),
    ],
)
def test_values_of_folders(text: str, spark_type: str, expected: object) -> None:
    assert folder_value(text, Wanted("p", spark_type, pa.null())) == expected


@pytest.mark.parametrize(
    ("text", "spark_type"),
    [
        ("1.5", "double"), ("2147483648", "int"), ("1_0", "int"), ("2026-02-30", "date"),
        ("2026-01-01 00:00:00", "timestamp"),
    ],
)
def test_values_of_folders_that_are_left_to_spark(text: str, spark_type: str) -> None:
    with pytest.raises(NotProvenError, match="column p, of partition folders"):
        folder_value(text, Wanted("p", spark_type, pa.null()))


@pytest.mark.parametrize("n_buckets", [1, 3, 8, 100])
def test_ids_of_buckets_fill_all_of_sparks_partitions(n_buckets: int) -> None:
    signed = [spark_hash(number) - (spark_hash(number) >> 31 << 32) for number in spread_ids(n_buckets)]
    assert [hashed % n_buckets for hashed in signed] == list(range(n_buckets))
