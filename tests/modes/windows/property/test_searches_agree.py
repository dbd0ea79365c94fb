"""Random windows over many rows: all searches, and threads, give the same answer.

The oracle is too slow for these; what it holds the searches to over few rows, they hold each other to over many, where
arrays grow and partitions are shared by threads.
"""

from __future__ import annotations

import random
import re
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from tests.answers import row_differences, rows_of
from tests.modes.windows.property.examples import SCHEMA
from tests.modes.windows.property.test_engine_equals_oracle import example_of

import sparkrex as rex
from sparkrex.errors import ExecutionError
from sparkrex.modes.windows import backtrack

WAYS: tuple[dict[str, Any], ...] = ({"matcher": "backtrack"}, {"threads": 3}, {"threads": 3, "matcher": "backtrack"})


@pytest.mark.parametrize(
    ("seed", "n_rows", "n_examples"),
    [(1, 300, 12), *(pytest.param(seed, 3000, 40, marks=pytest.mark.slow) for seed in range(2, 5))],
)
def test_searches_agree(seed: int, n_rows: int, n_examples: int) -> None:
    table = many_rows(random.Random(seed), n_rows)
    for number in range(n_examples):
        example = example_of(seed, 5000 + number)
        # Quadratic by definition: lists of overlapping matches.
        query = re.sub(r"array_agg\([^()]*(\(\))?\)", "count(*)", example.query)
        whole = _answer(query, table, example.dialect, {"threads": 1})
        for way in WAYS:
            with patch.object(backtrack, "LEAST_ROWS", 1):
                other = _answer(query, table, example.dialect, way)
            assert _problems(whole, other) == [], f"{way}\n{query}"


def many_rows(source: random.Random, n_rows: int) -> pa.Table:
    """Rows like those of the examples, in partitions of very different sizes."""
    rows = [
        (
            number, source.choice((1, 1, 1, 1, 2, 2, 3, None)), source.choice((number, number, number, None)),
            source.choice("aaabbcd"), source.choice((0, 1, 2, 3, -1, None)),
            source.choice((0.0, 1.0, 0.5, 2.5, -1.5, None)),
        )
        for number in range(n_rows)
    ]
    columns = list(zip(*rows, strict=True))
    return pa.Table.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )


def _answer(query: str, table: pa.Table, dialect: str, settings: dict[str, Any]) -> pa.Table | str:
    try:
        return rex.sql(query, {"data": table}, dialect=dialect, settings=settings)
    except ExecutionError as error:
        return error.code


def _problems(left: pa.Table | str, right: pa.Table | str) -> list[str]:
    if isinstance(left, str) or isinstance(right, str):
        return [] if left is right or left == right else [f"{left} and {right}"]
    return row_differences(left.column_names, rows_of(left), rows_of(right))
