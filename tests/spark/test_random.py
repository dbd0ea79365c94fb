"""Random queries: Spark answers as the engine does in memory, which the property suite compares with the oracle.

A column that numbers the input rows breaks ties on Spark, where rows have no order of their own.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from tests.answers import row_differences, rows_of
from tests.property.draws import RandomDraw
from tests.property.examples import generate

import sparkrex as rex
from sparkrex.errors import RexError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.property.examples import Example

_N_SHARES = 10
_N_PER_SHARE = 30


def _answer(example: Example, spark: SparkSession | None, **settings: object) -> pa.Table | str:
    """Rows, or the code of the error that ends the query."""
    table = example.table.append_column("seq", pa.array(range(example.table.num_rows), pa.int64()))
    try:
        found = rex.sql(
            example.query, {"data": table}, dialect=example.dialect, spark=spark,
            settings={"tie_break": ("seq",), **settings},
        )
        return found if isinstance(found, pa.Table) else found.toArrow()
    except RexError as error:
        return error.code
    except PySparkException as error:
        code = re.search(r"error\[(REX\d+)\]", str(error))
        if code is None:
            raise
        return code[1]


@pytest.mark.filterwarnings("ignore:MATCH_RECOGNIZE without PARTITION BY")
@pytest.mark.parametrize(
    "share", [0, *(pytest.param(share, marks=pytest.mark.slow) for share in range(1, _N_SHARES))]
)
def test_spark_answers_as_in_memory(share: int, spark: SparkSession) -> None:
    n_answers = 0
    for number in range(_N_PER_SHARE):
        example = generate(RandomDraw(random.Random(f"{share}/{number}")))
        expected = _answer(example, None)
        # Every third through the external sort, in chunks.
        settings = {"sort_memory": 1, "chunk_rows": example.chunk_rows} if number % 3 == 0 else {}
        found = _answer(example, spark, **settings)
        if isinstance(expected, str) or isinstance(found, str):
            assert found == expected, f"example {share}/{number}, {settings}\n{example}"
            continue
        assert found.column_names == expected.column_names, example
        wrong = row_differences(expected.column_names, rows_of(expected), rows_of(found), is_ordered=False)
        assert not wrong, "\n".join([f"example {share}/{number}, {settings}", *wrong, repr(example)])
        n_answers += expected.num_rows > 0
    # Agreement about nothing would mean nothing.
    assert n_answers > _N_PER_SHARE // 2
