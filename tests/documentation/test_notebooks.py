"""The notebooks of `examples/` show what comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.documentation import notebooks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_IN_MAKE_TEST = ("prices", "fraud")


def _marked() -> Iterator[Any]:
    for path in notebooks.paths():
        yield pytest.param(path, id=path.stem, marks=() if path.stem in _IN_MAKE_TEST else pytest.mark.slow)


def test_all_six_are_there() -> None:
    named = [path.stem for path in notebooks.paths()]
    assert named == ["contamination", "fraud", "funnel", "prices", "sessions", "weather"]


@pytest.mark.parametrize("path", list(_marked()))
def test_a_notebook_shows_what_comes_out(path: Path) -> None:
    notebook = notebooks.read(path)
    assert notebooks.run(notebook, path.name) == notebook


@pytest.mark.parametrize("path", notebooks.paths(), ids=lambda path: path.stem)
def test_a_notebook_has_words_outputs_and_one_form(path: Path) -> None:
    notebook = notebooks.read(path)
    kinds = [cell["cell_type"] for cell in notebook["cells"]]
    assert kinds[0] == "markdown"
    assert kinds.count("markdown") >= kinds.count("code") / 2
    assert any(cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code")
    assert path.read_text(encoding="utf-8") == notebooks.text_of(notebook)


def test_a_cell_shows_what_it_prints_and_its_last_expression() -> None:
    cell = {"cell_type": "code", "source": ["print('a')\n", "1 + 1"]}
    (ran,) = notebooks.run({"cells": [cell], "metadata": {}}, "test")["cells"]
    assert [output.get("text", output.get("data")) for output in ran["outputs"]] == [["a\n"], {"text/plain": ["2"]}]
