"""Plans that say their elements: random ones whose conditions read the match, against the naive search."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.differential.relations import one_database
from tests.modes.rows.ops.contexts import as_plan, draw_elements, elements_hold
from tests.modes.rows.ops.naive import naive_search

from sparkrex.hosts.duckdb.host import DuckDbHost
from sparkrex.kernels.lazy import Kernel
from sparkrex.modes.rows.engine import explain_pattern, run_pattern
from sparkrex.modes.rows.plan import MatchRecognize
from sparkrex.pipeline import parse_query, prepare_relation
from sparkrex.settings import Settings
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.modes.rows.ops.contexts import ContextElement

VARIABLES = [(f"F{number}", f"L{number}") for number in range(5)]


def _expected(elements: Sequence[ContextElement], text: str, values: Sequence[int]) -> list[tuple[int, int, str]]:
    """Number of the match, row and variable of all matched rows."""
    found = naive_search([e.is_star for e in elements], len(text), elements_hold(elements, text, values))
    rows = []
    for number, begins in enumerate(found.matches, 1):
        for (first, later), (begin, end) in zip(VARIABLES, pairwise(begins), strict=False):
            rows += [(number, row, first if row == begin else later) for row in range(begin, end)]
    return rows


def _found(elements: Sequence[ContextElement], text: str, values: Sequence[int], **settings: Any) -> Any:
    """The same by the engine; what EXPLAIN ANALYZE says."""
    pattern = " ".join(
        f"{first} {later}*" if element.is_star else first
        for (first, later), element in zip(VARIABLES, elements, strict=False)
    )
    query = ("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY r MEASURES MATCH_NUMBER() AS m, CLASSIFIER() AS c "
             f"ALL ROWS PER MATCH PATTERN ({pattern}) DEFINE F0 AS e = 'x' AND v > 0)")
    table = pa.table({
        "r": pa.array(range(len(text)), pa.int64()), "e": pa.array(list(text), pa.string()),
        "v": pa.array(values, pa.int64()),
    })
    parsed = parse_query(query, "duckdb")
    with one_database():
        host = DuckDbHost(parsed.statement.source, parsed.statement.dialect, "duckdb", Settings())
        try:
            host.register("t", table)
            plan, _, evaluator = prepare_relation(parsed, parsed.statement.relations[0], parsed.clauses[0], host)
            assert isinstance(plan, MatchRecognize)
            variables = [
                (first, later if element.is_star else first)
                for (first, later), element in zip(VARIABLES, elements, strict=False)
            ]
            plan = replace(plan, possessive=tuple(as_plan(elements, variables)))
            asked = Settings(matcher="ops", **settings)
            given = run_pattern(plan, table, evaluator, asked, Stopwatch())
            explained = explain_pattern(plan, table, evaluator, asked, analyze=False)
        finally:
            host.close()
    assert any("matcher ops: the stars of the pattern give nothing back" in line for line in explained.lines("host"))
    return [(row["m"], row["r"], row["c"]) for row in given.to_pylist()]


def _draw(draw: Random) -> tuple[list[ContextElement], str, list[int]]:
    elements = draw_elements(draw, "abc", 4)
    pieces = [element for _ in range(6) for element in elements[: draw.randint(1, len(elements))]]
    text = "".join(draw.choice(sorted(piece.letters)) for piece in pieces for _ in range(draw.randint(1, 3)))[:30]
    return elements, text, [draw.randint(0, 5) for _ in text]


@pytest.mark.parametrize("seed", range(3))
def test_random_plans_have_the_matches_of_the_naive_search(seed: int) -> None:
    draw = Random(seed)
    n_rows = 0
    for _ in range(40):
        given = _draw(draw)
        expected = _expected(*given)
        assert _found(*given) == expected, given
        assert _found(*given, chunk_rows=draw.choice((1, 2, 3, 7))) == expected, given
        n_rows += len(expected)
    assert n_rows > 50


def test_the_kernel_gives_the_same_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Random(8)
    given = [_draw(draw) for _ in range(40)]
    compiled = [_found(*one) for one in given]
    assert sum(map(len, compiled)) > 20
    monkeypatch.setattr(Kernel, "__call__", Kernel.interpreted)
    assert [_found(*one) for one in given] == compiled
