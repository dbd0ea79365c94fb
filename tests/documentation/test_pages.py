"""The documentation is true: its examples run, its links lead somewhere, the tests it names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.documentation.anchors import anchors_of
from tests.documentation.page_examples import PAGES, Example, examples, problems

from sparkrex.modes.segments.aggregates import registry

ROOT = Path(__file__).parents[2]

ALL_PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

EXAMPLES = [example for page in PAGES if page.exists() for example in examples(page)]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_what_the_page_shows(example: Example) -> None:
    try:
        assert problems(example) == []
    finally:
        for name in registry.user_defined():  # an example may register one, and other tests run in this process
            registry.forget(name)


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert missing == []


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_anchors_that_are_linked_exist(page: Path) -> None:
    linked = re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8"))
    inside = [(target, anchor) for target, anchor in linked if "://" not in target]
    targets = [(page.parent / target if target else page, anchor) for target, anchor in inside]
    missing = [f"{target.name}#{anchor}" for target, anchor in targets if anchor not in anchors_of(target)]
    assert missing == []


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page: Path) -> None:
    named = re.findall(r"`((?:src|tests|docs|benchmarks|examples)/[\w./-]+)`", page.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_claim_of_the_feature_table_names_a_test() -> None:
    compared = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8").split("| | SparkRex |")[1]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|", compared, re.MULTILINE)
    claimed = [feature for feature, ours in rows if ours != "no"]
    semantics = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8").split("## The feature table")[1]
    shown = re.findall(r"^\| ([^|]+) \| `[^`]+`", semantics.split("## Dialects")[0], re.MULTILINE)
    assert claimed == shown


def test_the_readme_is_short_and_in_order() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", readme, re.MULTILINE) == [
        "Install", "In memory", "On Spark", "Five modes", "Speed", "Limits", "Read on",
    ]
    assert len(readme.split()) < 1_500
