"""A query in other words gives the same answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.answers import row_differences, rows_of
from tests.differential.relations import one_database
from tests.modes.rows.property.long import example_of
from tests.modes.rows.property.rewordings import REWORDINGS

import sparkrex as rex
from sparkrex.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from tests.modes.rows.property.examples import Example

SEED = 19075
N_EXAMPLES = 20


@pytest.mark.parametrize("reword", REWORDINGS, ids=lambda reword: reword.__name__)
def test_same_meaning_same_answer(reword: Callable[[str], str]) -> None:
    n_checked = 0
    number = 0
    with one_database():
        while n_checked < N_EXAMPLES:
            example = example_of(SEED, number)
            number += 1
            assert number < 5000, "the rewording applies to too few queries"
            reworded = reword(example.query)
            if reworded != example.query:
                n_checked += 1
                _compare(example, reworded)


def _compare(example: Example, reworded: str) -> None:
    expected, actual = _answer(example, example.query), _answer(example, reworded)
    message = f"{example.as_case()}\nreworded:\n{reworded}"
    if isinstance(expected, str) or isinstance(actual, str):
        assert expected == actual, message
        return
    # Names come back as they were written, in whatever case.
    assert [name.lower() for name in expected.column_names] == [name.lower() for name in actual.column_names], message
    found = row_differences(expected.column_names, rows_of(expected), rows_of(actual))
    assert not found, "\n".join([*found, message])


def _answer(example: Example, query: str) -> pa.Table | str:
    """The rows, or the code of a run-time error."""
    try:
        answer: pa.Table = rex.sql(query, tables={"data": example.table}, dialect=example.dialect)
    except ExecutionError as error:
        return error.code
    return answer
