"""The judge of proofs evaluates as the engine does: random conditions over all hostile values, through the engine."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluate.test_vectorised import analysed
from tests.scalar.prove.conditions import FAMILIES, VALUES, Conditions, assignments, at
from tests.scalar.prove.plain import evaluated

from sparkrex.columns.ordered import Columns
from sparkrex.errors import RexError
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.scalar.expression import Call, Expression
from sparkrex.scalar.prove import Facts
from sparkrex.scalar.prove.wording import write
from sparkrex.scalar.split import Condition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.hosts.duckdb.host import RelationEvaluator
    from sparkrex.source import Source

TYPES = {
    "d": pa.float64(), "e": pa.float64(), "i": pa.int64(), "j": pa.int64(), "m": pa.decimal128(9, 2), "s": pa.string(),
    "b": pa.bool_(),
}
EMPTY = pa.table({name: pa.array([], type_) for name, type_ in TYPES.items()})


@pytest.fixture(scope="module")
def engine() -> Iterator[tuple[RelationEvaluator, Source]]:
    with analysed(["d > 1"], "spark", EMPTY) as (_, evaluator, source):
        yield evaluator, source


def rows_of(columns: tuple[str, ...], chance: random.Random, *, are_small: bool) -> list[dict[Any, Any]]:
    """Values of the row under test and of the row before it."""
    names = [(column, shift) for column in columns for shift in (0, -1)]
    rows = list(assignments(names, Facts(), chance, 150))
    for row in rows if are_small else ():
        for (column, shift), value in row.items():
            if column in "ij" and value is not None and abs(value) > 100:
                row[column, shift] = chance.choice(VALUES["i"][:9])
    return rows


def truths(
    expressions: list[Expression], rows: list[dict[Any, Any]], engine: tuple[RelationEvaluator, Source]
) -> list[list[bool]]:
    """For every expression, the rows where the engine finds it TRUE; every row is a partition of two."""
    columns = {column for column, _ in rows[0]}
    table = pa.table({
        name: pa.array(
            [row[name, shift] if name in columns else None for row in rows for shift in (-1, 0)], type_
        )
        for name, type_ in TYPES.items()
    })
    frame = Columns(table, np.arange(len(rows) + 1, dtype=np.int64) * 2, None)
    conditions = [Condition(f"V{number}", expression, None) for number, expression in enumerate(expressions)]
    numbers, bitmaps = evaluate_bitmaps(conditions, frame, *engine)
    return [bitmaps[numbers[condition.variable]][1::2].astype(bool).tolist() for condition in conditions]


@pytest.mark.parametrize("columns", FAMILIES)
def test_plain_evaluation_is_the_engines(columns: tuple[str, ...], engine: tuple[RelationEvaluator, Source]) -> None:
    chance = random.Random(f"engine {columns}")
    n_compared = 0
    for _ in range(25):
        condition = Conditions(chance, columns).condition(chance.choice((0, 0, 1, 2)))
        for are_small in (False, True):
            rows = rows_of(columns, chance, are_small=are_small)
            try:
                true, false = truths([condition, Call("not", (condition,))], rows, engine)
            except RexError as error:
                assert error.code in ("REX405", "REX403"), error  # a number is out of range; small ones are tried next
                continue
            plain = evaluated(condition)
            for row, is_true, is_false in zip(rows, true, false, strict=True):
                value = plain(row)
                assert (value is True, value is False) == (is_true, is_false), (write(condition), row, value)
            n_compared += 1
            break
    assert n_compared > 18


def test_the_comparison_can_fail(engine: tuple[RelationEvaluator, Source]) -> None:
    """A row before the first of a partition is NULL, and NaN is above infinity."""
    rows: list[dict[Any, Any]] = [
        {("d", 0): float("nan"), ("d", -1): float("inf")}, {("d", 0): 1.0, ("d", -1): None},
    ]
    greater = Call("gt", (at("d"), at("d", -1)))
    assert truths([greater, Call("not", (greater,))], rows, engine) == [[True, False], [False, False]]
