"""Implications that must be found, and conclusions that must not be drawn, each from the text of a query."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from tests.evaluate.test_vectorised import analysed

from sparkrex.scalar.expression import Call, Expression, Literal
from sparkrex.scalar.prove import Answer, Facts, ValueKind, prove, prove_from_failure
from sparkrex.scalar.prove.wording import write_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.scalar.prove import Verdict

SCHEMA = pa.schema({
    "price": pa.float64(), "x": pa.float64(), "y": pa.float64(), "z": pa.float64(), "i": pa.int64(), "j": pa.int64(),
    "k": pa.int64(), "m": pa.decimal128(9, 2), "f": pa.float32(), "name": pa.string(), "flag": pa.bool_(),
    "day": pa.date32(), "moment": pa.timestamp("us"), "parts": pa.list_(pa.int64()),
})
KINDS = {
    **dict.fromkeys(("price", "x", "y", "z"), ValueKind.DOUBLE), **dict.fromkeys("ijk", ValueKind.INTEGER),
    "m": ValueKind.DECIMAL, "f": ValueKind.NUMBER, "name": ValueKind.TEXT, "flag": ValueKind.BOOLEAN,
    "day": ValueKind.TIME, "moment": ValueKind.TIME, "parts": ValueKind.OTHER,
}
NULLABLE = Facts(KINDS)
FULL = Facts(KINDS, frozenset(KINDS))
POSITIVE = Facts(KINDS, frozenset(), frozenset({"price", "x", "y", "i", "j", "m"}))


@cache
def read(text: str) -> Expression:
    """The condition that is written there, after analysis."""
    return _many_read().get(text) or _read([text])[text]


@cache
def _many_read() -> dict[str, Expression]:
    """The conditions of the long lists below, analysed at once."""
    return _read(sorted({text for _, p, q, _ in (*FROM_TRUTH, *FROM_FAILURE) for text in (p, q)}))


def _read(texts: list[str]) -> dict[str, Expression]:
    with analysed(texts, "spark", pa.table([[]] * len(SCHEMA), SCHEMA)) as (conditions, _, _):
        found = {}
        for text, condition in zip(texts, conditions, strict=True):
            assert condition.row is not None
            assert condition.context is None
            found[text] = condition.row
        return found


def ask(way: Callable[..., Verdict], p: str, q: str, facts: Facts) -> Answer:
    return way(read(p), read(q), facts).answer


T, F, U, N = Answer.TRUE, Answer.FALSE, Answer.UNKNOWN, Answer.UNSATISFIABLE

FALLS, RISES = "price < PREV(price)", "price > PREV(price)"
EXAMPLE_4 = [FALLS, f"{FALLS} AND 40 < price AND price < 50", f"{RISES} AND price < 52", RISES]
THETA_4 = [[T], [T, T], [F, F, T], [F, F, U, T]]
PHI_4 = [[F], [U, F], [U, U, F], [U, U, F, F]]
EXAMPLE_9 = [
    RISES, "30 < price AND price < 40", FALLS, RISES, "35 < price AND price < 40", FALLS, "price < 30",
]
THETA_9 = [
    [T], [U, T], [F, U, T], [T, U, F, T], [U, T, U, U, T], [F, U, T, F, U, T], [U, F, U, U, F, U, T],
]
PHI_9 = [
    [F], [U, F], [U, U, F], [F, U, U, F], [U, U, U, U, F], [U, U, F, U, U, F], [U, U, U, U, U, U, F],
]
DROP, RISE = "price < 0.98 * PREV(price)", "price > 1.02 * PREV(price)"
FLAT = "0.98 * PREV(price) < price AND price < 1.02 * PREV(price)"
EXAMPLE_10 = ["price >= 0.98 * PREV(price)", DROP, FLAT, RISE, "price <= 1.02 * PREV(price)"]
THETA_10 = [[T], [F, T], [T, F, T], [T, F, F, T], [U, U, U, F, T]]


@pytest.mark.parametrize(
    ("elements", "way", "matrix", "facts"),
    [
        (EXAMPLE_4, prove, THETA_4, NULLABLE), (EXAMPLE_4, prove_from_failure, PHI_4, NULLABLE),
        (EXAMPLE_9, prove, THETA_9, NULLABLE), (EXAMPLE_9, prove_from_failure, PHI_9, NULLABLE),
        (EXAMPLE_10, prove, THETA_10, POSITIVE),
    ],
)
def test_matrices_of_the_paper(
    elements: list[str], way: Callable[..., Verdict], matrix: list[list[Answer]], facts: Facts
) -> None:
    found = [[ask(way, elements[j], elements[k], facts) for k in range(j + 1)] for j in range(len(elements))]
    assert found == matrix


FROM_TRUTH: list[tuple[Facts, str, str, Answer]] = [
    # A variable and constants.
    (NULLABLE, "x < 10", "x < 20", T),
    (NULLABLE, "x < 10", "x < 10.0", T),
    (NULLABLE, "x < 10", "x > 20", F),
    (NULLABLE, "x < 10", "x > 5", U),
    (NULLABLE, "x = 3", "x <> 4", T),
    (NULLABLE, "x = 3", "x IN (1, 3)", T),
    (NULLABLE, "x IN (1, 3)", "x BETWEEN 1 AND 3", T),
    (NULLABLE, "x IN (1, 3)", "x IN (2, 4)", F),
    (NULLABLE, "x NOT IN (1, NULL)", "x > 5", N),
    (NULLABLE, "x NOT BETWEEN 1 AND 3", "x < 1 OR x > 3", T),
    (NULLABLE, "x NOT BETWEEN 1 AND 3", "x = 2", F),
    (NULLABLE, "x < 1 OR x > 3", "x <> 2", T),
    (NULLABLE, "x BETWEEN 1 AND 2 OR x BETWEEN 2 AND 3", "x BETWEEN 1 AND 3", T),
    (NULLABLE, "x BETWEEN 1 AND 3", "x BETWEEN 1 AND 2 OR x BETWEEN 2 AND 3", T),
    (NULLABLE, "x BETWEEN 1 AND 3", "x BETWEEN 1 AND 2 OR x > 2.5", U),
    (NULLABLE, "x BETWEEN 3 AND 1", "y > 1", N),
    (NULLABLE, "x <= 3 AND x >= 3", "x = 3", T),
    (NULLABLE, "x <= 3 AND x <> 3", "x < 3", T),
    (NULLABLE, "x < 3 AND x <> 3", "x < 2", U),
    # References to other rows, and other columns.
    (NULLABLE, "x > PREV(x)", "x < PREV(x)", F),
    (NULLABLE, "x > PREV(x)", "PREV(x) < x", T),
    (NULLABLE, "x > PREV(x)", "x > PREV(x, 2)", U),
    (NULLABLE, "x > y AND y > z", "x > z", T),
    (NULLABLE, "x >= y AND y >= z AND z >= x", "x = z", T),
    (NULLABLE, "x >= y AND y > z AND z >= x", "y = z", N),
    (NULLABLE, "x > PREV(x) AND PREV(x) > 5", "x > 4", T),
    (NULLABLE, "x > NEXT(x, 2)", "x <> NEXT(x, 2)", T),
    # NULL.
    (NULLABLE, "x < 10", "x IS NOT NULL", T),
    (NULLABLE, "x < PREV(x) + 1", "PREV(x) IS NOT NULL", T),
    (NULLABLE, "x IS NULL", "x < 10", F),
    (NULLABLE, "x IS NULL", "NOT x < 10", F),
    (NULLABLE, "x IS NULL", "(x < 10) IS NULL", T),
    (NULLABLE, "NOT x < 10", "x >= 10", T),
    (NULLABLE, "(x < 10) IS NOT TRUE", "x >= 10", U),
    (FULL, "(x < 10) IS NOT TRUE", "x >= 10", T),
    (FULL, "(PREV(x) < 10) IS NOT TRUE", "PREV(x) >= 10", U),
    (NULLABLE, "(x < 10) IS FALSE", "x >= 10", T),
    (NULLABLE, "x = NULL", "y > 1", N),
    (NULLABLE, "x IS NOT DISTINCT FROM y AND x > 3", "y > 3", T),
    (NULLABLE, "x IS DISTINCT FROM y AND x IS NULL", "y IS NOT NULL", T),
    (NULLABLE, "TRUE", "x = x", U),
    (FULL, "TRUE", "x = x", T),
    # Integers, and gaps between them.
    (NULLABLE, "i > 3 AND i < 5", "i = 4", T),
    (NULLABLE, "x > 3 AND x < 5", "x = 4", U),
    (NULLABLE, "m > 3 AND m < 5", "m = 4", U),
    (NULLABLE, "i > 3 AND i < 4", "i = 3", N),
    (NULLABLE, "i > 2.5", "i >= 3", T),
    (NULLABLE, "i = 2.5", "i > 1", N),
    (NULLABLE, "i > 2e0", "i >= 3", T),
    (NULLABLE, "i >= 3 AND i <> 3", "i > 3", T),
    (NULLABLE, "i BETWEEN 1 AND 3 AND i NOT IN (1, 3)", "i = 2", T),
    (NULLABLE, "i > j AND j > k", "i > k + 1", T),
    (NULLABLE, "x > y AND y > z", "x > z + 1", U),
    (NULLABLE, "i > 9007199254740993", "i > 9007199254740992", T),
    (NULLABLE, "i >= 9007199254740993", "i > 9007199254740992e0", U),
    (NULLABLE, "i > 9223372036854775806", "i >= 9223372036854775807", T),
    # Sums.
    (NULLABLE, "i >= j + 1 AND j >= k + 1", "i >= k + 2", T),
    (NULLABLE, "x >= y + 1 AND y >= z + 1", "x >= z + 2", U),
    (NULLABLE, "x >= y + 1 AND y >= z + 1", "x >= z", T),
    (NULLABLE, "x > y + 1", "x > y", T),
    (NULLABLE, "x >= y + 1", "x > y", U),
    (NULLABLE, "x > y + 1", "x > y - 1", T),
    (NULLABLE, "x > y + 1", "x <= y + 1", F),
    (NULLABLE, "x > y + 1", "x >= y + 2", U),
    (NULLABLE, "x > y + 1 AND y >= z", "x > z + 1", T),
    (NULLABLE, "i > j + 1", "i < j - 3", F),
    (NULLABLE, "i - j > 3", "i > j + 2", T),
    (NULLABLE, "i + 1 > j + 3", "i >= j + 3", T),
    (NULLABLE, "i > j + 1 AND j > 5", "i > 7", T),
    (NULLABLE, "m > PREV(m) + 0.5", "m > PREV(m) + 0.25", T),
    (NULLABLE, "i + j > 3", "i + j > 2", T),
    (NULLABLE, "x + y > 3", "x + y > 2", T),
    (NULLABLE, "2 * i > 7", "i >= 4", T),
    # Products.
    (POSITIVE, DROP, RISE, F),
    (NULLABLE, DROP, RISE, U),
    (POSITIVE, "price < 0.98 * PREV(price)", "price < PREV(price)", T),
    (NULLABLE, "price < 0.98 * PREV(price)", "price < PREV(price)", U),
    (POSITIVE, "price <= 0.98 * PREV(price)", "price < 1.02 * PREV(price)", U),
    (POSITIVE, "price <= 0.98 * PREV(price)", "price <= 1.02 * PREV(price)", T),
    (POSITIVE, "price <= 0.98 * PREV(price)", "price < PREV(price)", U),
    (POSITIVE, "m <= 0.98 * PREV(m)", "m < 1.02 * PREV(m)", T),
    (POSITIVE, "i <= 0.98 * PREV(i)", "i < 1.02 * PREV(i)", T),
    (POSITIVE, "i > 2 * j", "2 * j < i", T),
    (POSITIVE, "i > 2 * j", "j < 0.5 * i", T),
    (NULLABLE, "i > 2 * j AND i < 2 * j + 2", "i = 2 * j + 1", T),
    (POSITIVE, "x > y * 2", "x > y / 2", T),
    (POSITIVE, "x > y / 2", "x >= 0.5 * y", T),
    (NULLABLE, "x > y / 2", "x > 0.5 * y", T),
    (NULLABLE, "y > 0 AND x > 2 * y", "x > y", T),
    (NULLABLE, "y > 0 AND x > 2 * y", "x > 0", T),
    (NULLABLE, "y >= z AND x > 2 * y", "x > 2 * z", T),
    (POSITIVE, "x < -1 * y", "x < y", T),
    (POSITIVE, "z < -1 * y", "z < 0", U),  # if y is NaN, so is the product, above zero
    (POSITIVE, "x > 0 * y", "x >= 0", T),
    (NULLABLE, "y >= z AND x > -2 * y", "x > -2 * z", U),
    (POSITIVE, "z > 0.5 * y", "z > 0", T),
    (POSITIVE, "z >= 0.5 * y", "z > 0", U),  # half of the least double is zero
    (POSITIVE, "k >= 0.5 * j", "k > 0.25 * j", T),
    (NULLABLE, "i > 0.5 * j AND i - 1 < 0.5 * j", "i = 1", U),
    (POSITIVE, "m > 1.02 * i", "m > 0.98 * i", U),  # hosts may round the product before they compare
    (NULLABLE, "0.5 * m > 1", "m > 2", U),
    (NULLABLE, "0.5 * m > 1", "0.5 * m > 0", T),
    # Other kinds.
    (NULLABLE, "name = 'IBM'", "name <> 'INTC'", T),
    (NULLABLE, "name < 'B'", "name < 'a'", T),
    (NULLABLE, "name >= 'a' AND name < 'b'", "name = 'B'", F),
    (NULLABLE, "name = PREV(name) AND name = 'IBM'", "PREV(name) = 'IBM'", T),
    (NULLABLE, "flag", "flag = TRUE", T),
    (NULLABLE, "flag", "NOT flag", F),
    (NULLABLE, "flag <> TRUE", "NOT flag", T),
    (NULLABLE, "flag IS NOT TRUE", "NOT flag", U),
    (NULLABLE, "day > DATE '2020-01-02'", "day > DATE '2020-01-01'", T),
    (NULLABLE, "day > PREV(day)", "day <= PREV(day)", F),
    (NULLABLE, "f > 0.5", "f > 0.25", T),
    (NULLABLE, "f >= 0.2", "f > 0.1", U),
    (NULLABLE, "f > PREV(f)", "f <= PREV(f)", F),
    (NULLABLE, "f = x AND x = y", "f = y", U),
    (NULLABLE, "parts = PREV(parts)", "parts <> PREV(parts)", F),
    (NULLABLE, "parts < PREV(parts)", "parts > PREV(parts)", U),
    # Opaque terms.
    (NULLABLE, "sqrt(x) > 3", "sqrt(x) > 2", T),
    (NULLABLE, "sqrt(x) > 3", "sqrt(y) > 2", U),
    (NULLABLE, "length(name) > 3", "length(name) = 2", F),
    (NULLABLE, "upper(name) = 'A'", "upper(name) = 'B'", F),
    (NULLABLE, "name LIKE 'a%'", "name LIKE 'a%' OR x > 3", T),
    (NULLABLE, "name LIKE 'a%'", "NOT name LIKE 'a%'", F),
    (NULLABLE, "rand() < 0.5", "rand() < 0.5", U),
    (NULLABLE, "rand() < 0.5 AND x > 3", "x > 2", T),
    (NULLABLE, "i % 2 = 0", "i % 2 = 1", F),
    (NULLABLE, "(x < 10) = FALSE", "x >= 10", T),
    (NULLABLE, "(x < 10) <> FALSE", "x < 10", T),
    # Mixed kinds.
    (NULLABLE, "x >= 9007199254740992", "x >= 9007199254740993", T),  # one double
    (NULLABLE, "x = 0.1", "x = 1e-1", T),
    (NULLABLE, "i BETWEEN 9007199254740993 AND 1e17", "i >= 9007199254740993", U),  # compared as doubles
    (NULLABLE, "i >= 9007199254740993", "i BETWEEN 9007199254740992 AND 9223372036854775807", U),
    (NULLABLE, "i > x AND x > j", "i > j", U),
    (NULLABLE, "i > x", "x < i", T),
    (NULLABLE, "i > m AND m >= 3", "i >= 4", T),
    (NULLABLE, "x > '5'", "x > '5'", T),
    (NULLABLE, "x > '5'", "x > '10'", U),
]


@pytest.mark.parametrize(("facts", "p", "q", "answer"), FROM_TRUTH)
def test_from_truth(facts: Facts, p: str, q: str, answer: Answer) -> None:
    assert ask(prove, p, q, facts) is answer


FROM_FAILURE: list[tuple[Facts, str, str, Answer]] = [
    (NULLABLE, "x < 10", "x >= 10", U),
    (FULL, "x < 10", "x >= 10", T),
    (NULLABLE, "x < 10", "x < 5", F),
    (NULLABLE, "PREV(x) < 10", "PREV(x) >= 10", U),
    (FULL, "PREV(x) < 10", "PREV(x) >= 10", U),
    (NULLABLE, "x IS NULL OR x < 10", "x >= 10", T),
    (NULLABLE, "x IS NULL", "x IS NOT NULL", T),
    (FULL, "x < 10 OR x >= 10", "x > 3", N),
    (FULL, "x < 10 AND y < 10", "x >= 10", U),
    (FULL, "x < 10 OR y < 10", "x >= 10 AND y >= 10", T),
    (FULL, "i < 10 AND i > 7", "i < 8 OR i > 9", T),
    (FULL, "x > 10", "x <= 10", T),  # NaN is above 10
    (NULLABLE, "rand() < 0.5", "rand() >= 0.5", U),
]


@pytest.mark.parametrize(("facts", "p", "q", "answer"), FROM_FAILURE)
def test_from_failure(facts: Facts, p: str, q: str, answer: Answer) -> None:
    assert ask(prove_from_failure, p, q, facts) is answer


def test_no_condition_always_holds() -> None:
    condition = read("x < 10")
    assert prove(condition, None, NULLABLE).answer is T
    assert prove(None, None, NULLABLE).answer is T
    assert prove(None, condition, NULLABLE).answer is U
    assert prove(None, read("x < 1 AND x > 2"), NULLABLE).answer is F
    assert prove_from_failure(None, condition, NULLABLE).answer is N
    assert prove_from_failure(condition, None, NULLABLE).answer is T


@pytest.mark.parametrize(
    ("facts", "way", "p", "q", "why"),
    [
        (NULLABLE, prove, "x < 10 AND y > 3", "x < 20", "x < 10 implies x < 20"),
        (NULLABLE, prove, f"{RISES} AND price < 52", f"{FALLS} AND 40 < price",
         "price > PREV(price) excludes price < PREV(price)"),
        (NULLABLE, prove, "x < 1 AND y > 3 AND x > NEXT(y, 2) AND NEXT(y, 2) > 1", "z > 1",
         "x < 1 AND x > NEXT(y, 2) AND NEXT(y, 2) > 1 never holds"),
        (POSITIVE, prove, DROP, FALLS,
         "price < (0.98 * PREV(price)) implies price < PREV(price) (price is positive)"),
        (FULL, prove_from_failure, "x < 10", "x > 5", "not (x < 10) implies x > 5 (x is never NULL)"),
        (NULLABLE, prove_from_failure, "x < 10", "x < 5", "not (x < 10) excludes x < 5"),
        (FULL, prove_from_failure, "x < 10 OR x >= 10", "x < 5",
         "(x < 10) OR (x >= 10) always holds (x is never NULL)"),
        (NULLABLE, prove, "x < 10", "name IS NOT NULL OR name IS NULL",
         "(name IS NOT NULL) OR (name IS NULL) always holds"),
        (NULLABLE, prove, "x < 10", "y < 10", ""),
        (NULLABLE, prove, "flag AND name = 'it''s'", "name <> 'a'", "name = 'it''s' implies name <> 'a'"),
    ],
)
def test_the_proof_in_one_line(facts: Facts, way: Callable[..., Verdict], p: str, q: str, why: str) -> None:
    assert way(read(p), read(q), facts).why == why


def test_many_disjunctions_end_soon() -> None:
    """Beyond the bound on branches nothing is concluded."""
    refused = " AND ".join(f"(x < {number} OR y > {number} OR z = {number})" for number in range(40))
    assert ask(prove, refused, "x > 7", NULLABLE) is U
    listed = read(f"i NOT IN ({', '.join(map(str, range(60)))}) AND i >= 0")
    assert prove(listed, read("i >= 60"), NULLABLE).answer is T


def test_conditions_are_written_as_in_the_query() -> None:
    assert write_all([Literal(True), Call("or", (read("flag"), read("x > 1")))]) == "TRUE AND (flag OR (x > 1))"
