"""Row groups are left out only where no row of them is of interest, whatever the statistics lack."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot

from sparkrex.spark.files.row_language import Row, columns_in, evaluate
from sparkrex.spark.files.row_sql import read_row
from sparkrex.spark.files.statistics import Statistics, may_hold, statistics_of

if TYPE_CHECKING:
    from pathlib import Path

TYPES: dict[str, pa.DataType] = {
    "i": pa.int32(), "l": pa.int64(), "f": pa.float32(), "x": pa.float64(), "y": pa.float64(), "s": pa.string(),
    "d": pa.date32(), "t": pa.timestamp("us"), "u": pa.timestamp("us", "UTC"), "b": pa.bool_(),
}
NAN = float("nan")
VALUES: dict[str, list[Any]] = {
    "i": [-2, 0, 1, 5], "l": [-(1 << 63), 0, 3, (1 << 63) - 1], "f": [0.5, -1.0, NAN, 7.0],
    "x": [0.0, -0.0, 2.5, NAN, float("inf"), -3.0], "y": [0.0, 2.5, NAN, 9.0], "s": ["", "a", "ab", "b", "ü", "𝄞"],
    "d": [dt.date(1500, 1, 1), dt.date(2026, 1, 1), dt.date(2026, 1, 2)],
    "t": [dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1, 12)],
    "u": [dt.datetime(2026, 1, 1, tzinfo=dt.UTC), dt.datetime(2026, 1, 2, tzinfo=dt.UTC)], "b": [True, False],
}
LITERALS: dict[str, list[str]] = {
    "i": ["0", "-2", "4"], "l": ["0", "3", "-9223372036854775808"],
    "f": ["7", "0", "0.1", "-1.0"], "x": ["0.0", "2.5", "-3"],
    "y": ["2.5"], "s": ["'a'", "''", "'ac'", "'ü'"], "d": ["DATE '2026-01-01'", "'2026-01-02'"],
    "t": ["'2026-01-01 12:00:00'", "TIMESTAMP_NTZ '2026-01-01'"], "u": ["TIMESTAMP '2026-01-02'"],
    "b": ["true", "false"],
}


def condition(text: str) -> Row:
    return read_row(sqlglot.parse_one(text, read="spark"), TYPES)


def random_condition(draw: random.Random, depth: int = 2) -> str:
    kind = draw.randrange(8 if depth else 4)
    name = draw.choice(list(TYPES))
    if kind < 3:
        return f"{name} {draw.choice(['=', '<>', '<', '<=', '>', '>=', '<=>'])} {draw.choice(LITERALS[name])}"
    if kind == 3:
        return f"{name} IS {draw.choice(['', 'NOT '])}NULL"
    if kind == 4:
        return f"x {draw.choice(['=', '<', '<=', '>', '>='])} y"
    if kind == 5:
        return f"NOT ({random_condition(draw, depth - 1)})"
    joined = draw.choice([" AND ", " OR "])
    return joined.join(f"({random_condition(draw, depth - 1)})" for _ in range(2))


def random_rows(draw: random.Random) -> pa.Table:
    n_rows = draw.randrange(1, 5)
    columns = {}
    for name, kind in TYPES.items():
        share = draw.choice([0.0, 0.3, 1.0])
        values = draw.sample(VALUES[name], draw.randrange(1, len(VALUES[name])))
        columns[name] = pa.array([None if draw.random() < share else draw.choice(values) for _ in range(n_rows)], kind)
    return pa.table(columns)


@pytest.mark.parametrize("seed", range(30))
def test_a_row_group_that_is_left_out_has_no_row_of_interest(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    n_pruned = 0
    for _ in range(10):
        rows = random_rows(draw)
        pq.write_table(rows, tmp_path / "x.parquet", write_statistics=draw.random() < 0.9)
        group = pq.read_metadata(tmp_path / "x.parquet").row_group(0)
        known = {name: statistics_of(group.column(place), TYPES[name]) for place, name in enumerate(TYPES)}
        for _ in range(20):
            row = condition(random_condition(draw))
            holds = any(evaluate(row, rows).to_pylist())
            assert may_hold(row, known) or not holds, (row, rows.to_pylist())
            n_pruned += not may_hold(row, known)
    assert n_pruned > 10


def known(least: Any, most: Any, n_nulls: int | None = 0, n_rows: int = 9) -> dict[str, Statistics]:
    return dict.fromkeys(TYPES, Statistics(least, most, n_nulls, n_rows))


@pytest.mark.parametrize(
    ("text", "least", "most", "expected"),
    [
        ("x > 5", 1.0, 3.0, True),  # NaN is above every number and not in statistics
        ("x >= 5", 1.0, 3.0, True), ("x < 1", 1.0, 3.0, False), ("x = 5", 1.0, 3.0, False), ("5 < x", 1.0, 3.0, True),
        ("s > 'abz'", "aa", "ab", True), ("s = 'abz'", "aa", "ab", True),  # the greatest text may be cut off
        ("s >= 'ac'", "aa", "ab", False), ("s = 'ac'", "aa", "ab", False), ("s < 'aa'", "aa", "ab", False),
        ("i > 5", 1, 5, False), ("i >= 5", 1, 5, True), ("i = 0 OR i = 3", 1, 5, True), ("i IN (0, 9)", 1, 5, False),
        ("i BETWEEN 6 AND 8", 1, 5, False), ("i <> 1", 1, 1, True), ("NOT i = 1", 1, 1, True),
        ("i IS NULL", 1, 5, False), ("i > 5", None, None, True), ("i > 5 AND x < 0", 1, 9, True),
        ("false", 1, 1, False),
    ],
)
def test_single_conditions(text: str, least: Any, most: Any, expected: bool) -> None:
    assert may_hold(condition(text), known(least, most)) is expected


def test_where_everything_is_null_nothing_compares() -> None:
    nothing = known(None, None, 9)
    assert not may_hold(condition("i = 1"), nothing) and not may_hold(condition("i IS NOT NULL"), nothing)
    assert may_hold(condition("i IS NULL"), nothing) and may_hold(condition("i IS NULL"), known(1, 2, None))


def test_bytes_that_are_no_text_have_no_bounds(tmp_path: Path) -> None:
    broken = pa.array([b"\xff\xfe", b"a"]).view(pa.string())
    pq.write_table(pa.table({"s": broken}), tmp_path / "x.parquet")
    chunk = pq.read_metadata(tmp_path / "x.parquet").row_group(0).column(0)
    assert columns_in(condition("s > 'b'")) == {"s"}
    assert may_hold(condition("s > 'b'"), {"s": statistics_of(chunk, pa.string())})


def test_milliseconds_are_compared_as_microseconds(tmp_path: Path) -> None:
    pq.write_table(pa.table({"u": pa.array([VALUES["u"][1]], pa.timestamp("ms", "UTC"))}), tmp_path / "x.parquet")
    chunk = pq.read_metadata(tmp_path / "x.parquet").row_group(0).column(0)
    known = {"u": statistics_of(chunk, TYPES["u"])}
    assert may_hold(condition("u >= TIMESTAMP '2026-01-02'"), known)
    assert not may_hold(condition("u > TIMESTAMP '2026-01-02'"), known)
