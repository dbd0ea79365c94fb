"""Every recipe on Spark: its query, its DataFrame call and the plain PySpark that it replaces give one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.documentation import recipes
from tests.spark.sample import arrow_rows

import sparkrex as rex
from sparkrex.spark.versions import to_frame

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

_IN_MAKE_TEST = ("v-shapes",)


def _pages() -> Iterator[Any]:
    for page in recipes.pages():
        yield pytest.param(page, id=page.stem, marks=() if page.stem in _IN_MAKE_TEST else pytest.mark.slow)


# Two recipes have no key to partition by, and say so.
@pytest.mark.filterwarnings("ignore:event query without partitions")
@pytest.mark.parametrize("page", list(_pages()))
def test_all_three_give_the_same_on_spark(page: Path, spark: SparkSession) -> None:
    recipe = recipes.read(page)
    frames = {name: to_frame(spark, table) for name, table in recipe.case.arrow_tables().items()}
    answers = {
        "SQL": rex.sql(recipe.case.query, frames),
        "DataFrame": recipes.run_block(recipe.dataframe, recipe.name, frames),
        "plain PySpark": recipes.run_block(recipe.pyspark, recipe.name, frames),
    }
    wrong = {kind: recipes.wrong_rows(recipe, arrow_rows(answer)) for kind, answer in answers.items()}
    assert wrong == {kind: [] for kind in answers}
