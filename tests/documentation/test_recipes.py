"""Every recipe has all its parts, and its DataFrame call gives what its query gives, in memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.documentation import recipes

if TYPE_CHECKING:
    from pathlib import Path

PAGES = recipes.pages()


def test_there_are_enough() -> None:
    assert len(PAGES) >= 25


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_recipe_has_its_parts_in_order(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == recipes.HEADINGS
    before, sql, dataframe, pyspark = re.split(r"^## .+$", text, flags=re.MULTILINE)
    assert "-- table " in before
    assert "-- result\n" in sql
    assert dataframe.count("```python dataframe") == 1
    assert pyspark.count("```python pyspark") == 1
    assert pyspark.rstrip()[-1] == ".", "it ends with words about which to choose"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_call_gives_what_the_query_gives(page: Path) -> None:
    recipe = recipes.read(page)
    assert recipes.wrong_rows(recipe, recipes.run_in_memory(recipe)) == []


def test_the_index_lists_every_recipe_once() -> None:
    listed = re.findall(r"\]\(([\w-]+)\.md\)", recipes.INDEX.read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(page.stem for page in PAGES)
