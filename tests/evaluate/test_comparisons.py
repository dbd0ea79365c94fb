"""Conditions that one kernel evaluates hold where blocks say that they hold."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluate.test_vectorised import NoHost, analysed

from sparkrex import threads as thread_pool
from sparkrex.columns.ordered import Columns
from sparkrex.evaluate import comparisons
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.evaluate.run_blocks import run_conditions

ROWS = 300
FLOATS = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, 1.5, 2.0, -3.25, 1e300, 5e-324]
INTEGERS = [-(2**63), 2**63 - 1, 0, 1, 2, -1, 2**53 + 1]
SIDES = {
    "f": ["f", "PREV(f)", "PREV(f, 2)", "NEXT(f)", "g", "PREV(g)", "1.5", "0", "1e300", "0.5 * PREV(f)", "g * 1.1",
          "2 * f", "-2", "CAST('NaN' AS DOUBLE) * f"],
    "i": ["i", "PREV(i)", "NEXT(i, 3)", "j", "1", "-1", "9007199254740993"],
    "ts": ["ts", "PREV(ts)", "later", "TIMESTAMP '2024-01-01 00:00:10'"],
}


def table_of(seed: int) -> pa.Table:
    """Numbers near each other, and the ends of their types."""
    draw = random.Random(seed)
    start = datetime(2024, 1, 1)
    return pa.table({
        "f": pa.array(draw.choices(FLOATS, k=ROWS)), "g": pa.array(draw.choices([1.0, 2.0, -1.0], k=ROWS)),
        "i": pa.array(draw.choices(INTEGERS, k=ROWS), pa.int64()),
        "j": pa.array(draw.choices([0, 1], k=ROWS), pa.int64()),
        "ts": pa.array([start + timedelta(seconds=draw.randrange(20)) for _ in range(ROWS)], pa.timestamp("us")),
        "later": pa.array([start + timedelta(seconds=draw.randrange(20)) for _ in range(ROWS)], pa.timestamp("us")),
        "few": pa.array(draw.choices([None, 1.0, 2.0], k=ROWS), pa.float64()),
        "small": pa.array([1] * ROWS, pa.int32()),
    })


def condition(draw: random.Random) -> str:
    """A conjunction of one to three comparisons."""
    parts = []
    for _ in range(draw.randint(1, 3)):
        sides = SIDES[draw.choice(list(SIDES))]
        if draw.random() < 0.2:
            parts.append("{} BETWEEN {} AND {}".format(*draw.choices(sides, k=3)))
        else:
            parts.append(f"{draw.choice(sides)} {draw.choice(['<', '<=', '>', '>=', '=', '<>'])} {draw.choice(sides)}")
    return " AND ".join(parts)


def evaluated(
    texts: list[str], table: pa.Table, dialect: str, offsets: list[int], order: Any, threads: int, few: int
) -> list[list[int]]:
    """The bitmaps, where more rows than `few` are many."""
    with (
        analysed(texts, dialect, table) as (conditions, evaluator, source),
        mock.patch.object(comparisons, "FEW_ROWS", few), mock.patch.object(thread_pool.ranges, "__defaults__", (2,)),
    ):
        columns = Columns(table, np.array(offsets), order)
        numbers, bitmaps = evaluate_bitmaps(conditions, columns, evaluator, source, threads)
        return [bitmaps[numbers[each.variable]].tolist() for each in conditions]


@pytest.mark.parametrize("seed", range(60))
def test_the_kernel_agrees_with_blocks(seed: int) -> None:
    draw = random.Random(seed)
    table = table_of(seed)
    texts = list(dict.fromkeys(condition(draw) for _ in range(draw.randint(1, 5))))
    cuts = sorted(draw.sample(range(1, ROWS), draw.randint(0, 6)))
    order = np.random.default_rng(seed).permutation(ROWS) if draw.random() < 0.5 else None
    layout = texts, table, draw.choice(["spark", "duckdb"]), [0, *cuts, ROWS], order, draw.choice([1, 3])
    assert evaluated(*layout, few=0) == evaluated(*layout, few=ROWS), texts


@pytest.mark.parametrize(
    "text",
    [
        "f < PREV(f)", "f >= 0.9999 * PREV(f)", "f BETWEEN 0.9 * PREV(f) AND PREV(f) * 1.1 AND g > 0", "i > 900",
        "i = PREV(i) AND j <> 1", "ts > PREV(ts)", "ts <= later", "f > 1",
    ],
)
def test_the_kernel_does_it(text: str) -> None:
    def refuse(nodes: Any, *arguments: Any) -> Any:
        assert not nodes
        return run_conditions(nodes, *arguments)

    table = table_of(1)
    with (
        analysed([text], "spark", table) as (conditions, _, source), mock.patch.object(comparisons, "FEW_ROWS", 0),
        mock.patch("sparkrex.evaluate.vectorised_batch.run_conditions", refuse),
    ):
        evaluate_bitmaps(conditions, Columns(table, np.array([0, ROWS])), NoHost(), source)


@pytest.mark.parametrize(
    "text",
    [
        "few > 1", "small > 1", "f > i", "f > 1 OR g > 1", "NOT f > 1", "f + g > 1", "COALESCE(PREV(f), 0) < 1",
        "f IS NOT NULL AND f > 1", "f > 1 AND small > 0",
    ],
)
def test_the_rest_is_left_to_blocks(text: str) -> None:
    table = table_of(1)
    with (
        analysed([text], "spark", table) as (conditions, evaluator, source),
        mock.patch.object(comparisons, "FEW_ROWS", 0),
        mock.patch("sparkrex.evaluate.vectorised_batch.run_conditions", wraps=run_conditions) as run,
    ):
        evaluate_bitmaps(conditions, Columns(table, np.array([0, ROWS])), evaluator, source)
        assert len(run.call_args.args[0]) == 1


def test_columns_beyond_those_of_one_call_are_left_to_blocks() -> None:
    names = [f"c{number}" for number in range(6)]
    table = pa.table({name: pa.array(np.random.default_rng(1).random(ROWS)) for name in names})
    texts = [f"{name} > 0.5" for name in names]
    assert evaluated(texts, table, "spark", [0, ROWS], None, 1, few=0) == [
        (table[name].to_numpy() > 0.5).astype(int).tolist() for name in names
    ]
