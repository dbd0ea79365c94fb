"""Results are of the library that all inputs are of, with the types that they have in Arrow."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TABLE = pa.table({
    "ts": [1, 2, 3], "kind": ["A", "B", "B"], "n": pa.array([5, None, 7], pa.int32()),
    "day": pa.array([date(2026, 1, 1), None, date(2026, 1, 3)]), "price": [Decimal("1.50"), None, Decimal("2.25")],
    "flag": [True, None, False],
})
EVENTS = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b)"
CLAUSE = "ORDER BY ts ALL ROWS PER MATCH PATTERN (A+)"
QUERIES: dict[str, Callable[[Any], Any]] = {
    "sql": lambda table: rex.sql("SELECT * FROM t WHERE ts > 0", t=table),
    "sql without a name": lambda table: rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({CLAUSE})", table),
    "tables": lambda table: rex.sql("SELECT t.* FROM t JOIN u USING (ts)", {"t": table, "u": table}),
    "compile": lambda table: rex.compile(f"SELECT * FROM t MATCH_RECOGNIZE ({CLAUSE})")(t=table),
    "match": lambda table: rex.match(CLAUSE, table),
    "match, later": lambda table: rex.match(CLAUSE)(table),
    "events": lambda table: rex.events(EVENTS, table, time="ts", type="kind"),
    "events, later": lambda table: rex.events(EVENTS, time="ts", type="kind")(table),
}


@pytest.mark.parametrize("name", QUERIES)
def test_pandas_gives_pandas(name: str) -> None:
    run = QUERIES[name]
    found = run(TABLE.to_pandas(types_mapper=pd.ArrowDtype))
    assert isinstance(found, pd.DataFrame)
    assert all(isinstance(kind, pd.ArrowDtype) for kind in found.dtypes)
    assert pa.Table.from_pandas(found, preserve_index=False).replace_schema_metadata(None).equals(run(TABLE))
    assert isinstance(run(TABLE.to_pandas()), pd.DataFrame)


@pytest.mark.parametrize("name", QUERIES)
def test_polars_gives_polars(name: str) -> None:
    run = QUERIES[name]
    frame = pl.DataFrame(TABLE)
    for given in (frame, frame.lazy()):
        found = run(given)
        assert isinstance(found, pl.DataFrame)
        assert found.equals(pl.DataFrame(run(TABLE)))


@pytest.mark.parametrize("name", QUERIES)
def test_the_rest_gives_pyarrow(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(TABLE, path)
    for given in (TABLE, TABLE.to_batches()[0], str(path), path):
        assert isinstance(QUERIES[name](given), pa.Table)


def test_several_libraries_give_pyarrow() -> None:
    query = "SELECT * FROM t JOIN u USING (ts)"
    frame = TABLE.to_pandas()
    assert isinstance(rex.sql(query, t=frame, u=TABLE), pa.Table)
    assert isinstance(rex.sql(query, t=frame, u=pl.from_arrow(TABLE)), pa.Table)
    assert isinstance(rex.sql("SELECT 1 AS x"), pa.Table)


def test_no_columns_and_no_rows() -> None:
    clause = "ORDER BY ts PATTERN (A) DEFINE A AS ts > {}"
    frame, polars = TABLE.to_pandas(), pl.from_arrow(TABLE)
    for low, n_rows in ((0, 3), (9, 0)):
        assert len(rex.match(clause.format(low), frame)) == n_rows
        assert rex.match(clause.format(low), TABLE).num_rows == n_rows
        assert len(rex.match(clause.format(low), polars)) == n_rows
    empty = rex.match("ORDER BY ts MEASURES A.n AS n PATTERN (A) DEFINE A AS ts > 9", frame.astype({"n": "Int32"}))
    assert str(empty.dtypes["n"]) == "int32[pyarrow]"


def test_what_polars_cannot_hold() -> None:
    frame = pl.from_arrow(TABLE)
    with pytest.raises(rex.AnalysisError, match=r"REX205.*two columns called ts"):
        rex.sql("SELECT t.ts, t.ts FROM t", t=frame)
    with pytest.raises(rex.UnsupportedError, match=r"REX301.*column i .* polars does not have"):
        rex.sql("SELECT INTERVAL '1' MONTH AS i FROM t", t=frame, dialect="duckdb")


def test_reader_gives_arrow_batches() -> None:
    for given in (TABLE, TABLE.to_pandas(), pl.from_arrow(TABLE)):
        reader = rex.match(CLAUSE).reader(given)
        assert isinstance(reader, pa.RecordBatchReader)
        assert sum(batch.num_rows for batch in reader) == 3


def test_libraries_that_no_input_is_of_need_not_be_there() -> None:
    """Importing one fails here, as if it were not installed."""
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('pandas', 'polars', 'pyspark'): raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import pyarrow as pa, sparkrex as rex\n"
        "print(rex.match('ORDER BY x MEASURES COUNT(*) AS n PATTERN (A+)', pa.table({'x': [1]})).to_pylist())\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert shown.stdout.strip() == "[{'n': 1}]"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_difference_of_times_is_a_duration(library: str) -> None:
    """Neither library has intervals."""
    times = pa.table({"ts": pa.array([datetime(2024, 1, 1), datetime(2024, 2, 5, 6)])})
    frame = times.to_pandas() if library == "pandas" else pl.from_arrow(times)
    clause = "ORDER BY ts MEASURES LAST(ts) - FIRST(ts) AS long, FIRST(ts) - PREV(FIRST(ts)) AS none PATTERN (A+) {}"
    found = rex.match(clause.format(""), frame)
    assert found["long"][0] == timedelta(days=35, hours=6)
    assert "35 days" in str(found) or "35d" in str(found)
    assert found["none"].isnull().all() if library == "pandas" else found["none"][0] is None
    empty = rex.match(clause.format("DEFINE A AS ts IS NULL"), frame)
    assert len(empty) == 0
    assert [str(kind) for kind in empty.dtypes] == [str(kind) for kind in found.dtypes]


def test_intervals_of_months() -> None:
    clause = "ORDER BY x MEASURES INTERVAL '1' MONTH AS month PATTERN (A)"
    assert "months=1" in str(rex.match(clause, pd.DataFrame({"x": [1]})))
    with pytest.raises(rex.UnsupportedError, match=r"REX301.*polars does not have"):
        rex.match(clause, pl.DataFrame({"x": [1]}))
