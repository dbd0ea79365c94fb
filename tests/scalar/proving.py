"""Functions of ours compared with a host's: the calls, random operands, and our answers."""

from __future__ import annotations

import math
import random
from datetime import date, datetime
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from tests.evaluate.test_vectorised import analysed

from sparkrex.columns.ordered import Columns
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.scalar.expression import Call, ColumnAt, Target
from sparkrex.scalar.forms import written
from sparkrex.scalar.proven import PROVEN_EQUAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ONE_OPERAND = ("negate", "abs", "is_null", "not", "is_true", "is_false")
THREE_OPERANDS = ("between", "in", "greatest", "least")
FALLIBLE = ("add", "subtract", "multiply", "negate", "abs")

LOW, HIGH = -(2**63), 2**63 - 1
TYPES: dict[str, tuple[pa.DataType, Sequence[Any]]] = {
    "BIGINT": (pa.int64(), (LOW, LOW + 1, -7, -1, 0, 1, 2, 3_037_000_500, 2**53 + 1, 2**62, HIGH)),
    "DOUBLE": (pa.float64(), (-math.inf, -1e308, -2.5, -0.0, 0.0, 5e-324, 0.1, 1.0, 1e308, math.inf, math.nan)),
    "VARCHAR": (pa.string(), ("", "A", "Z", "a", "ab", "z", "zz", "10", "9", "é", "\U0001f600", "a'b", " ")),
    "DATE": (pa.date32(), (date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29), date(9999, 12, 31))),
    "TIMESTAMP": (pa.timestamp("us"), (
        datetime(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(1970, 1, 1), datetime(2024, 2, 29, 12),
        datetime(9999, 12, 31, 23, 59, 59, 999_999),
    )),
    "BOOLEAN": (pa.bool_(), (False, True)),
}
"""Every type with values at its ends, and between them."""


def entries(host: str) -> Iterator[tuple[str, str]]:
    """Function and type of everything that is said to be proven on a host."""
    for function, proofs in PROVEN_EQUAL.items():
        for kind in sorted(proofs.get(host, ())):
            yield function, kind


def call_of(function: str) -> Call:
    """The call over columns x, y, z."""
    n = 1 if function in ONE_OPERAND else 3 if function in THREE_OPERANDS else 2
    return Call(function, tuple(ColumnAt(Target(), name) for name in "xyz"[:n]))


def operands(kind: str, seed: int, n_random: int = 200) -> pa.Table:
    """All pairs of values and NULL, and random rows; numbers also of other sizes."""
    type_, values = TYPES[kind]
    chosen = random.Random(seed)
    known = [None, *values]

    def one() -> Any:
        if kind == "BIGINT" and chosen.random() < 0.5:
            return chosen.getrandbits(chosen.choice([4, 31, 62])) * chosen.choice([-1, 1])
        if kind == "DOUBLE" and chosen.random() < 0.5:
            return chosen.uniform(-1, 1) * 10.0 ** chosen.randrange(-20, 20)
        return chosen.choice(known)

    rows = [(x, y, chosen.choice(known)) for x, y in product(known, repeat=2)]
    rows += [(one(), one(), one()) for _ in range(n_random)]
    return pa.table({name: pa.array([row[k] for row in rows], type_) for k, name in enumerate("xyz")})


class LeftToHostError(Exception):
    """We have no answer of our own."""


class NoHost:
    """An evaluator that says that it was asked."""

    def evaluate(self, *_: Any, **__: Any) -> Any:
        raise LeftToHostError

    query = evaluate


def compare(function: str, host: str, table: pa.Table) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows in which our answer is not the column `h`, and rows that we leave to the host, as those that may fail."""
    call = call_of(function)
    text = f"{written(call, [part.column for part in call.operands])} IS NOT DISTINCT FROM h"  # type: ignore[union-attr]
    # Near the ends of a type whole blocks are left to the host, for what one row of them may do: so one at a time.
    size = 1 if function in FALLIBLE else table.num_rows
    different, left = [], []
    with analysed([text], host, table.slice(0, 0)) as (conditions, _, source):
        compared = conditions[0].row
        assert isinstance(compared, Call)
        ours = compared.operands[0]
        assert isinstance(ours, Call)
        assert ours.function == function, "the text must mean the function that is proven"
        for first in range(0, table.num_rows, max(size, 1)):
            part = table.slice(first, size)
            columns = Columns(part, np.array([0, part.num_rows]))
            try:
                _, bitmaps = evaluate_bitmaps(conditions, columns, NoHost(), source)
            except LeftToHostError:
                left += part.to_pylist()
            else:
                different += part.filter(pa.array(np.asarray(bitmaps[0]) == 0)).to_pylist()
    return different, left
