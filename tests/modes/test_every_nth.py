"""A mode and a language from a test folder, through the tables: in memory, inside a statement, in EXPLAIN."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from tests.matching.schedules import many_open

import sparkrex as rex
from sparkrex.modes.tables import ELSEWHERE, LANGUAGES, MODES

TABLE = pa.table({"k": list("aabbabbaab"), "ts": [5, 1, 4, 2, 3, 1, 3, 2, 4, 5], "x": range(10)})
QUERY = "SELECT * FROM t EVERY_NTH (2 PARTITION BY k ORDER BY ts)"
EXPECTED = [("a", 2, 7), ("a", 4, 8), ("b", 2, 3), ("b", 4, 2)]


@pytest.fixture(autouse=True)
def every_nth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two lines in two tables are all that the package is told."""
    monkeypatch.setitem(LANGUAGES, "EVERY_NTH", "tests.modes.every_nth.language")
    monkeypatch.setitem(MODES, "every_nth", "tests.modes.every_nth.mode")


def rows(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def test_in_memory() -> None:
    assert rows(rex.sql(QUERY, t=TABLE)) == EXPECTED


def test_inside_a_statement() -> None:
    query = f"WITH some AS ({QUERY} AS s) SELECT k, count(*) AS n FROM some WHERE x > 2 GROUP BY k"
    assert rows(rex.sql(query, t=TABLE)) == [("a", 2), ("b", 1)]
    chained = "SELECT * FROM t EVERY_NTH (2 ORDER BY x) MATCH_RECOGNIZE (ORDER BY x MEASURES x AS x PATTERN (A))"
    assert rows(rex.sql(chained, t=TABLE)) == [(1,), (3,), (5,), (7,), (9,)]


def test_explain() -> None:
    assert str(rex.explain(QUERY, t=TABLE)) == "EveryNth 2 of k, ts, x"
    assert str(rex.compile(QUERY)).endswith("EVERY 2")


def test_a_mistake_has_its_place() -> None:
    with pytest.raises(rex.AnalysisError, match=r"REX201(.|\n)*\^\^") as caught:
        rex.sql("SELECT * FROM t EVERY_NTH (2 ORDER BY tss)", t=TABLE)
    assert caught.value.position == (1, 39)
    with pytest.raises(rex.ParseError, match=r"REX102.*begins with a number"):
        rex.sql("SELECT * FROM t EVERY_NTH (ORDER BY ts)", t=TABLE)


@pytest.mark.parametrize("chunk_rows", [1, 3, 7])
def test_in_chunks(chunk_rows: int) -> None:
    assert rows(rex.sql(QUERY, t=TABLE, settings={"chunk_rows": chunk_rows})) == EXPECTED


@pytest.mark.parametrize("seed", range(20))
def test_many_slots_with_a_horizon_saved_and_restored(seed: int) -> None:
    """All partitions are open at once; between feeds the state is saved and restored, or taken apart and merged."""
    from tests.modes.every_nth import mode

    with many_open(mode, mode.NthRunner, random.Random(seed), order="ts" if seed % 2 else None):
        assert rows(rex.sql(QUERY, t=TABLE)) == EXPECTED


class TestAWholeQuery:
    """A second language, of the same mode, that claims a whole query wherever one can stand."""

    QUERY = "SELECT * FROM t SAMPLED 2 PARTITION BY k ORDER BY ts"

    @pytest.fixture(autouse=True)
    def sampled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(ELSEWHERE, "SAMPLED", "tests.modes.every_nth.query_language")

    def test_alone(self) -> None:
        assert rows(rex.sql(self.QUERY, t=TABLE)) == EXPECTED
        assert rows(rex.compile(self.QUERY).reader(t=TABLE).read_all()) == EXPECTED
        assert str(rex.explain(self.QUERY, t=TABLE)) == "EveryNth 2 of k, ts, x"

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("SELECT k, x FROM ({}) s WHERE x > 2", [("a", 7), ("a", 8), ("b", 3)]),
            ("WITH some AS ({}) SELECT count(*) AS n FROM some", [(4,)]),
            ("{} UNION ALL SELECT 'c', 1, 1", [*EXPECTED, ("c", 1, 1)]),
            ("SELECT * FROM ({}) SAMPLED 4 ORDER BY x", [("a", 4, 8)]),
            ("SELECT * FROM ({}) MATCH_RECOGNIZE (ORDER BY x MEASURES x AS x PATTERN (A))", [(2,), (3,), (7,), (8,)]),
            ("SELECT * FROM t EVERY_NTH (3 ORDER BY x) AS e SAMPLED 2 ORDER BY x", [("b", 1, 5)]),
            ("SELECT sampled FROM (SELECT 1 AS sampled) sampled", [(1,)]),
        ],
    )
    def test_inside_a_statement(self, query: str, expected: list[tuple[object, ...]]) -> None:
        assert rows(rex.sql(query.format(self.QUERY), t=TABLE)) == expected

    def test_a_mistake_has_its_place(self) -> None:
        with pytest.raises(rex.AnalysisError, match=r"REX201(.|\n)*\^\^") as caught:
            rex.sql("SELECT * FROM t SAMPLED 2 ORDER BY tss", t=TABLE)
        assert caught.value.position == (1, 36)
