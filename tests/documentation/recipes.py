"""The recipes of `docs/cookbook/`: a page is data, a query in SQL, the same as a DataFrame call, and plain PySpark.

Data and query are written as on every other page. The other two are blocks that begin with ```python dataframe and
```python pyspark; each ends with an assignment, whose value is its answer. In a block every table of the page is a
DataFrame under its name.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.answers import Table, differences
from tests.documentation.page_examples import case_of, examples

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from tests.golden import Case

COOKBOOK = Path(__file__).parents[2] / "docs" / "cookbook"
INDEX = COOKBOOK / "index.md"

HEADINGS = ["In SQL", "As a DataFrame", "In plain PySpark"]
"""Every recipe has these, in this order."""

_PYTHON = re.compile(r"^```python (?P<kind>dataframe|pyspark)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Recipe:
    """One page: its tables, query and answer as a golden case, and its two blocks of Python."""

    page: Path
    case: Case
    dataframe: str
    pyspark: str

    @property
    def name(self) -> str:
        """The page's name, as test reports show it."""
        return self.page.stem

    @property
    def result(self) -> Table:
        """What all three give."""
        assert self.case.result is not None, f"{self.name}: the query has no result"
        return self.case.result


def pages() -> list[Path]:
    """Every page with a recipe."""
    return sorted(page for page in COOKBOOK.glob("*.md") if page != INDEX)


def read(page: Path) -> Recipe:
    """The recipe of a page."""
    (query,) = (example for example in examples(page) if example.language == "sql")
    blocks = {found["kind"]: found["body"] for found in _PYTHON.finditer(page.read_text(encoding="utf-8"))}
    return Recipe(page, case_of(query, query.shown), blocks["dataframe"], blocks["pyspark"])


def wrong_rows(recipe: Recipe, answer: pa.Table) -> list[str]:
    """How an answer differs from the page's; rows come in any order from Spark."""
    return differences(recipe.result, answer, is_ordered=False)


def run_in_memory(recipe: Recipe) -> pa.Table:
    """The answer of the DataFrame block without Spark."""
    tables = {name: stand_in(table) for name, table in recipe.case.arrow_tables().items()}
    answer: pa.Table = run_block(recipe.dataframe, recipe.name, tables)
    return answer


def stand_in(table: pa.Table) -> SimpleNamespace:
    """A DataFrame that knows `transform` only, and gives the function the Arrow table."""
    return SimpleNamespace(transform=lambda query: query(table))


def run_block(block: str, name: str, tables: Mapping[str, Any]) -> Any:
    """What the last statement of a block assigns."""
    tree = ast.parse(block)
    last = tree.body[-1]
    assert isinstance(last, ast.Assign), f"{name}: a block ends with an assignment"
    (target,) = last.targets
    assert isinstance(target, ast.Name)
    names: dict[str, Any] = {"__name__": "recipe", **tables}
    exec(compile(tree, name, "exec"), names)  # the project's own pages
    return names[target.id]
