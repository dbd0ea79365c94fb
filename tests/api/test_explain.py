"""What EXPLAIN says of conditions, matchers and refusals."""

from __future__ import annotations

import pyarrow as pa

import sparkrex as rex

TABLE = pa.table({"x": [1, 2], "s": ["a", "b"]})


def lines(define: str) -> list[str]:
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x MEASURES COUNT(*) AS n PATTERN (A B+) DEFINE {define})"
    return str(rex.explain(query, t=TABLE)).splitlines()


def test_a_condition_that_the_host_evaluates_says_why() -> None:
    [own, hosts] = [line for line in lines("A AS x > 0, B AS md5(concat(s, PREV(s))) = 'b'") if "define" in line]
    assert own.startswith("├─ define A: rows")
    assert "duckdb" not in own
    assert "; evaluated by duckdb: " in hosts


def test_the_matcher_and_every_other_has_a_reason() -> None:
    for define in ("A AS x > 0", "B AS B.x > AVG(B.x)"):
        text = lines(define)
        [chosen] = [line for line in text if "─ matcher " in line]
        name, reason = chosen.split("matcher ")[1].split(": ", 1)
        others = [line.split("not ")[1].split(": ", 1) for line in text if "─ not " in line]
        assert {name, *(other for other, _ in others)} == {"ops", "automaton", "backtrack", "interpreter"}
        assert all([reason, *(why for _, why in others)])
