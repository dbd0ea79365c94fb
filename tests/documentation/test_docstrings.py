"""The examples in docstrings of public names run, and every public function and class has one."""

from __future__ import annotations

import doctest
import inspect

import pytest

import sparkrex
from sparkrex import api, explanation, query

WITHOUT = {"__version__", "Settings", "register_table_function", "ship", "drain", "progress", "state"}
"""No function, a table of names that has a page of its own, and what needs a Spark session."""


@pytest.mark.parametrize("module", [sparkrex, api, explanation, query], ids=lambda module: module.__name__)
def test_examples_of_docstrings(module: object) -> None:
    found = doctest.testmod(module, optionflags=doctest.ELLIPSIS)  # type: ignore[arg-type]  # a module
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("name", sorted(set(sparkrex.__all__) - WITHOUT))
def test_every_public_name_has_an_example(name: str) -> None:
    value = getattr(sparkrex, name)
    if not (inspect.isclass(value) and issubclass(value, sparkrex.RexError)):
        assert ">>>" in (inspect.getdoc(value) or ""), name
