"""Trend queries cut between Spark and its workers, with DuckDB for Spark: what is projected, left out, merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.modes.trends.analysis import analyzed

import sparkrex
from sparkrex.errors import ExecutionError
from sparkrex.modes.trends.lower import lower_trends
from sparkrex.modes.trends.mode import MODE
from sparkrex.modes.trends.partials import MergedGroups, PartialTask
from sparkrex.pipeline import run_relation
from sparkrex.settings import Settings
from sparkrex.spark.worker import Carried, WorkerEvaluator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.spark.lowering import Lowered

_RANDOM = np.random.default_rng(11)
STREAM = pa.table({
    "n": np.arange(120) // 4,
    "id": np.arange(120),
    "kind": _RANDOM.choice(list("ABCX"), 120),
    "company": pa.array([None if one == 4 else f"c{one}" for one in _RANDOM.integers(0, 5, 120)]),
    "sector": pa.array([None if one == 2 else f"s{one}" for one in _RANDOM.integers(0, 3, 120)]),
    "price": np.round(_RANDOM.random(120) * 50),
    "volume": _RANDOM.integers(0, 9, 120),
    "exact": pa.array([10**25] * 120, pa.decimal128(38, 2)),
})
MERGED = """RETURN sector, COUNT(*), COUNT(B), AVG(B.price), MIN(A.volume), SUM(B.volume), MAX(A.price)
    PATTERN SEQ(A, B+) SEMANTICS {} WHERE [company] GROUP-BY sector WITHIN 16 SLIDE 4"""
PLAIN = """RETURN COUNT(*), company, SUM(A.volume + 1) PATTERN A+ SEMANTICS skip-till-any-match
    WHERE A.price > NEXT(A).price - 5 GROUP-BY company"""


def _columns(lowered: Lowered) -> dict[str, str]:
    return {name: text.replace("`", '"') for name, text in lowered.projections.items()}


def _projected(lowered: Lowered) -> pa.Table:
    listed = ", ".join(f'{text} AS "{name}"' for name, text in _columns(lowered).items())
    where = (lowered.where or "TRUE").replace("`", '"')
    with duckdb.connect() as connection:
        connection.register("t", STREAM)
        table: pa.Table = connection.sql(f"SELECT {listed} FROM t WHERE {where}").to_arrow_table()
    return table


def _lowered(query: TrendQuery) -> Lowered:
    def types(lowered: Lowered, names: Sequence[str]) -> pa.Schema:
        return _projected(lowered).select(names).schema

    return MODE.lower(query, "t", Settings(), None, types)


def _through_workers(rows: pa.Table, lowered: Lowered, query: TrendQuery, n_tasks: int, **settings: Any) -> pa.Table:
    """The rows spread over tasks by their keys, and what these give."""
    given = Settings(threads=1, **settings)
    fields = [
        pa.field(name, rows.schema.field(origin).type if isinstance(origin, str) else origin)
        for name, origin in lowered.sources.items()
    ]
    carried = Carried(pa.schema(fields), False, None, sparkrex.__version__)
    evaluator = WorkerEvaluator(lowered.worker, given)
    task = MODE.task(lowered, query, rows.slice(0, 0), carried, evaluator, given, repr)
    keys = list(zip(*(rows.column(name).to_pylist() for name in lowered.keys), strict=True)) or [()] * rows.num_rows
    place = np.array([hash(key) % n_tasks for key in keys], np.int64)
    batches = [
        batch for number in range(n_tasks)
        for batch in task(iter(rows.filter(pa.array(place == number)).to_batches(max_chunksize=7)))
    ]
    return pa.Table.from_batches(batches, pa.schema(fields))


def _on_workers(query: TrendQuery, n_tasks: int = 3, **settings: Any) -> pa.Table:
    lowered = _lowered(query)
    found = _through_workers(_projected(lowered), lowered, query, n_tasks, **settings)
    if lowered.following is not None:
        found = _through_workers(found, lowered.following, query, n_tasks, **settings)
    return found.select(list(lowered.outputs.values())).rename_columns(list(lowered.outputs))


def _sorted(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def _in_memory(query: TrendQuery) -> pa.Table:
    return run_relation(query, STREAM, WorkerEvaluator(query, Settings()), Settings(threads=1))


@pytest.mark.parametrize("settings", [{}, {"sort_memory": 1, "chunk_rows": 5}], ids=["whole", "chunked"])
@pytest.mark.parametrize("counts", ["EXACT", "LOG", "TEXT"])
@pytest.mark.parametrize("text", [*(MERGED.format(f"skip-till-{one}-match") for one in ("any", "next")),
                                  MERGED.format("contiguous"), PLAIN])
def test_workers_give_what_memory_gives(text: str, counts: str, settings: dict[str, Any]) -> None:
    query = analyzed(f"TIME n TYPE kind COUNTS {counts} {text}", time=None)
    expected = _in_memory(query)
    assert expected.num_rows
    assert _sorted(_on_workers(query, **settings)) == _sorted(expected)


def test_partial_results_are_one_row_per_group_and_window() -> None:
    query = analyzed(MERGED.format("skip-till-any-match").replace("WITHIN 16 SLIDE 4", ""), time="n")
    lowered = _lowered(query)
    partials = _through_workers(_projected(lowered), lowered, query, 1)
    assert partials.column_names == ["group0", "window_start", "window_end", "places"]
    assert sorted(map(str, partials.column("group0").to_pylist())) == ["None", "s0", "s1"]
    assert isinstance(_task(lowered, query), PartialTask)


def _task(lowered: Lowered, query: TrendQuery) -> Any:
    rows = _projected(lowered).slice(0, 0)
    carried = Carried(pa.schema([]), False, None, sparkrex.__version__)
    return MODE.task(lowered, query, rows, carried, WorkerEvaluator(lowered.worker, Settings()), Settings(), repr)


def test_one_step_where_partitions_are_groups() -> None:
    lowered = _lowered(analyzed(PLAIN, time="n"))
    assert lowered.following is None
    assert {name: str(kind) for name, kind in lowered.sources.items()} == {
        "r0": "int64", "r1": "int64", "r2": "decimal128(38, 0)", "r3": "rex_key0", "r4": "decimal128(38, 0)",
    }
    following = _lowered(analyzed(MERGED.format("contiguous"), time="n")).following
    assert following is not None
    assert isinstance(following.worker, MergedGroups)
    assert following.keys == ("group0", "window_start", "window_end")


_FITS = "WHERE [company] AND B.price > 3"


@pytest.mark.parametrize(
    ("text", "options", "where"),
    [
        ("SEQ(A, B) SEMANTICS skip-till-any-match WHERE A.price > 3", {},
         "((((t.`kind` = 'A') AND (t.`price` > 3))) OR ((t.`kind` = 'B')))"),
        (f"SEQ(A, ~C, B) SEMANTICS skip-till-next-match {_FITS}", {},
         "(t.`company` IS NOT NULL) AND "
         "(((t.`kind` = 'A')) OR ((t.`kind` = 'C')) OR (((t.`kind` = 'B') AND (t.`price` > 3))))"),
        # Events of other types break contiguity; without types there are none.
        (f"SEQ(A, B) SEMANTICS contiguous {_FITS}", {},
         "(t.`company` IS NOT NULL) AND (((t.`kind` = 'A')) OR (((t.`kind` = 'B') AND (t.`price` > 3))) OR "
         "(((t.`kind` = 'A') OR (t.`kind` = 'B'))) IS NOT TRUE)"),
        ("A+ SEMANTICS contiguous WHERE A.price > 3", {"type": None}, "(((t.`price` > 3)))"),
        # Some variable fits every event.
        ("SEQ(A a, A b) SEMANTICS skip-till-any-match WHERE a.price > 3", {"type": None}, None),
        # Windows of events count all of them, but for those in no partition.
        (f"SEQ(A, B) SEMANTICS skip-till-any-match {_FITS} WITHIN 9 EVENTS", {"ties": "order"},
         "(t.`company` IS NOT NULL)"),
        ("SEQ(A, B) SEMANTICS skip-till-any-match WHERE A.price > rand()", {}, None),
        ("SEQ(A, B) SEMANTICS skip-till-any-match WHERE [company] GROUP-BY sector, company", {},
         "(t.`company` IS NOT NULL) AND (((t.`kind` = 'A')) OR ((t.`kind` = 'B')))"),
    ],
)
def test_which_events_are_sent(text: str, options: dict[str, Any], where: str | None) -> None:
    query = analyzed(f"RETURN COUNT(*) PATTERN {text}", **{"time": "n", **options})
    assert lower_trends(query, "t").where == where


def test_names_of_errors_are_the_user_s() -> None:
    query = analyzed(MERGED.format("contiguous"), time="n", ties="order")
    for settings in ({}, {"sort_memory": 1, "chunk_rows": 5}):
        with pytest.raises(ExecutionError, match="REX409") as caught:
            _on_workers(query, **settings)
        assert [name for name, _ in caught.value.partition] == ["sector", "company"]
        assert caught.value.position is not None
    with pytest.raises(ExecutionError, match=r"REX405\]: a value of A\.exact has more than 18 digits"):
        _on_workers(analyzed(PLAIN.replace("A.volume + 1", "A.exact"), time="n"))
