"""What is said to be proven equal on DuckDB is equal there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from tests.scalar.proving import FALLIBLE, call_of, compare, entries, operands

from sparkrex.scalar.expression import ColumnAt
from sparkrex.scalar.forms import PLAIN
from sparkrex.scalar.proven import PROVEN_EQUAL, is_proven_equal
from sparkrex.scalar.render.duckdb import DUCKDB

if TYPE_CHECKING:
    from sparkrex.scalar.render.renderer import Leaf


def column(leaf: Leaf) -> str:
    assert isinstance(leaf, ColumnAt)
    return leaf.column


def answered(function: str, table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows with DuckDB's answer `h`, and those in which it fails."""
    text = DUCKDB.render(call_of(function), column)
    with duckdb.connect() as connection:
        connection.register("t", table)
        if function not in FALLIBLE:
            found = connection.sql(f"SELECT *, {text} AS h FROM t").to_arrow_table()
            return found, found.slice(0, 0)
        nulls = " OR ".join(f"{part.column} IS NULL" for part in call_of(function).operands)  # type: ignore[union-attr]
        tried = f"SELECT *, TRY({text}) AS h, TRY({text}) IS NULL AND NOT ({nulls}) AS fails FROM t"
        found = connection.sql(f"SELECT * EXCLUDE (fails) FROM ({tried}) WHERE NOT fails").to_arrow_table()
        failed = connection.sql(f"SELECT * EXCLUDE (fails) FROM ({tried}) WHERE fails").to_arrow_table()
        return found, failed


@pytest.mark.parametrize(("function", "kind"), [*entries("duckdb")])
def test_ours_is_duckdb_s(function: str, kind: str) -> None:
    table, failed = answered(function, operands(kind, seed=len(function)))
    assert table.num_rows > 0
    assert compare(function, "duckdb", table) == ([], [])
    assert compare(function, "duckdb", failed) == ([], failed.to_pylist())


def test_a_wrong_answer_is_seen() -> None:
    table, _ = answered("add", operands("BIGINT", seed=1))
    wrong = table.append_column("one", pa.array([1] * table.num_rows)).drop_columns("h")
    wrong = wrong.rename_columns(["x", "y", "z", "h"])
    different, left = compare("add", "duckdb", wrong)
    assert len(different) > 100
    assert left == []


def test_the_table_speaks_of_functions_that_all_hosts_write_alike() -> None:
    assert set(PROVEN_EQUAL) <= set(PLAIN)


def test_operands_of_several_types_are_not_proven() -> None:
    assert is_proven_equal("eq", "spark", ("DATE", "DATE"))
    assert not is_proven_equal("eq", "spark", ("DATE", "TIMESTAMP"))
    assert not is_proven_equal("eq", "spark", ("DECIMAL",))
    assert not is_proven_equal("divide", "duckdb", ("DOUBLE", "DOUBLE"))
    assert not is_proven_equal("eq", "flink", ("DATE",))
    assert not is_proven_equal("is_null", "duckdb", ())
