"""The public list is short and changes on purpose only."""

from __future__ import annotations

import inspect

import sparkrex

PUBLIC = {
    "AnalysisError",
    "ExecutionError",
    "Explanation",
    "InternalError",
    "ParseError",
    "Query",
    "RexError",
    "Settings",
    "UnsupportedError",
    "__version__",
    "aggregate",
    "compile",
    "decompress",
    "diff",
    "drain",
    "events",
    "explain",
    "failed",
    "late",
    "match",
    "matches",
    "plot",
    "progress",
    "regions",
    "register_table_function",
    "ship",
    "sql",
    "state",
    "trends",
    "why",
    "workload",
}


def test_the_public_list() -> None:
    assert set(sparkrex.__all__) == PUBLIC
    assert len(sparkrex.__all__) == len(PUBLIC)


def test_every_public_name_exists_and_says_what_it_is() -> None:
    for name in PUBLIC:
        value = getattr(sparkrex, name)
        assert name == "__version__" or inspect.getdoc(value), name


def test_public_functions_stay_functions_when_the_engine_is_loaded() -> None:
    """A module of the package with a public function's name would take its place once it is imported."""
    query = "SELECT * FROM (VALUES (1)) AS t(x) MATCH_RECOGNIZE (MEASURES x AS x PATTERN (A))"
    for _ in range(2):
        assert sparkrex.sql(query).num_rows == 1
        assert "PATTERN" in str(sparkrex.explain(query)).upper()
        assert sparkrex.workload({"a": "PATTERN SEQ(A a)"}, time="t").names == ("a",)
    for name in ("compile", "diff", "explain", "match", "plot", "regions", "sql", "workload"):
        assert inspect.isfunction(getattr(sparkrex, name)), name
