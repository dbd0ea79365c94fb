"""Errors cross processes, and the page of errors tells the truth about which codes there are."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from tests.documentation import errors_page

from sparkrex import errors
from sparkrex.errors import CODES, RexError
from sparkrex.source import Source, Span

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"

CLASSES = sorted(
    (value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, RexError)),
    key=lambda kind: kind.__name__,
)


def test_the_classes_are_those_of_the_public_list() -> None:
    assert [kind.__name__ for kind in CLASSES] == [
        "AnalysisError", "ExecutionError", "InternalError", "ParseError", "RexError", "UnsupportedError",
    ]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_class_survives_pickling(kind: type[RexError]) -> None:
    source = Source("SELECT *\nFROM t")
    error = kind("REX201", "no column x", source, Span(9, 13), hint="did you mean y?", command_hint="y", notes=("a",))
    error.partition = (("key", "a"), ("day", None))
    assert "note: in partition key = 'a', day = None\n" in str(error)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    for name in ("code", "message", "source", "span", "hint", "command_hint", "notes", "partition", "args", "position"):
        assert getattr(copy, name) == getattr(error, name), name
    assert str(copy) == str(error)
    assert (str(copy).splitlines()[-1], copy.for_command().splitlines()[-1]) == ("hint: did you mean y?", "hint: y")


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_an_error_without_a_place_survives_too(kind: type[RexError]) -> None:
    error = kind("REX901", "odd", None, None)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.position) == (kind, str(error), None)


def test_a_code_must_be_in_the_list() -> None:
    with pytest.raises(ValueError, match="REX999"):
        RexError("REX999", "x", None, None)


def test_the_page_has_every_code_and_no_other() -> None:
    headings = re.findall(r"^## (REX\d{3})\b.*$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings == sorted(headings), "entries stand in the order of their codes"
    assert headings == sorted(CODES)


def test_the_page_gives_each_code_its_meaning() -> None:
    text = PAGE.read_text(encoding="utf-8")
    wrong = [code for code, meaning in CODES.items() if f"## {code}: {meaning}\n" not in text]
    assert wrong == []


def test_the_page_shows_the_errors_as_they_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == errors_page.page(), "run `make docs`"
