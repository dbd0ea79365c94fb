"""The public list is short and changes on purpose only."""

from __future__ import annotations

import inspect

import sparkrex

PUBLIC = {
    "AnalysisError",
    "CompiledQuery",
    "ExecutionError",
    "InternalError",
    "ParseError",
    "RexError",
    "Settings",
    "UnsupportedError",
    "__version__",
    "compile",
    "explain",
    "match",
    "sql",
}


def test_the_public_list() -> None:
    assert set(sparkrex.__all__) == PUBLIC
    assert len(sparkrex.__all__) == len(PUBLIC)


def test_every_public_name_exists_and_says_what_it_is() -> None:
    for name in PUBLIC:
        value = getattr(sparkrex, name)
        assert name == "__version__" or inspect.getdoc(value), name
