"""Recipes show what `rex.plot` draws of them: the same parts, whatever a digit of a coordinate is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.documentation import recipe_pictures, recipes
from tests.documentation.test_picture_files import parts

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [page for page in recipes.pages() if recipe_pictures.shown(page)]


def test_recipes_have_one_picture_but_for_those_that_only_count() -> None:
    assert {page.stem for page in recipes.pages()} - {page.stem for page in PAGES} == {"count-all-funnels"}
    for page in PAGES:
        ((words, path),) = recipe_pictures.shown(page)
        assert path == recipe_pictures.PICTURES / f"{page.stem}.svg"
        assert len(words.split()) >= 8


def test_every_file_is_shown() -> None:
    assert {path.stem for path in recipe_pictures.PICTURES.iterdir()} == {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_picture_is_what_the_recipe_draws(page: Path) -> None:
    ((_, path),) = recipe_pictures.shown(page)
    svg = path.read_text(encoding="utf-8")
    assert parts(svg) == parts(recipe_pictures.drawn(recipes.read(page)))
    assert len(svg) < 40_000
