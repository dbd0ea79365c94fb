"""What a notebook shows of an error that nobody catches, and what plain Python does."""

from __future__ import annotations

import tomllib
import traceback
from pathlib import Path

import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex import pipeline

ROOT = Path(rex.__file__).parent
TABLE = pa.table({"x": [1, 2]})


def ask() -> object:
    """A function of the user's."""
    return rex.sql("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY y PATTERN (A))", t=TABLE)


def test_a_notebook_shows_the_message() -> None:
    with pytest.raises(rex.AnalysisError) as raised:
        ask()
    shown = raised.value._render_traceback_()
    message = str(raised.value).split("\n")
    assert shown[-len(message) :] == message
    assert any("rex.sql(" in line and line.startswith("in ask, line ") for line in shown)
    assert len(shown) < 12
    assert not any("pipeline" in line for line in shown)


def test_plain_python_still_shows_the_frames() -> None:
    with pytest.raises(rex.AnalysisError) as raised:
        ask()
    whole = "".join(traceback.format_exception(raised.value))
    assert "in ask" in whole
    assert "pipeline.py" in whole
    assert str(raised.value) in whole


def test_a_fault_shows_its_frames_in_a_notebook_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object) -> None:
        raise KeyError("labels")

    monkeypatch.setattr(pipeline, "prepare_relation", failing)
    with pytest.raises(rex.InternalError) as raised:
        ask()
    shown = "\n".join(raised.value._render_traceback_())
    assert "KeyError: 'labels'" in shown
    assert "in failing" in shown
    assert shown.endswith("please report it with the query and the traceback")


def test_an_error_that_was_not_raised_shows_its_message() -> None:
    assert rex.ParseError("REX101", "no", None, None)._render_traceback_() == ["error[REX101]: no"]


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "py.typed").is_file()
    project = ROOT.parents[1] / "pyproject.toml"
    metadata = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    assert "Typing :: Typed" in metadata["classifiers"]
    assert metadata["authors"] and metadata["keywords"]
