"""Random queries on random streams: a stream and its drain give the batch, whatever is restarted or done again.

`REX_STREAM_EXAMPLES` sets how many streams each mode has and `REX_SEED` the seed. The summary at the end of the test
run shows what happened in them; too little of it is a failure.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.differential.relations import one_database
from tests.streams.comparing import compare
from tests.streams.examples import MODES, example_of

if TYPE_CHECKING:
    from collections.abc import Callable

N_EXAMPLES = int(os.environ.get("REX_STREAM_EXAMPLES", "40"))
SEED = int(os.environ.get("REX_SEED", "20261118"))
LEAST_PERCENT = {"rows": 40, "late": 12, "before the end": 14, "at the end": 20}

pytestmark = pytest.mark.filterwarnings("ignore")  # a few random rows need not have all types


@pytest.mark.parametrize("mode", MODES)
def test_stream_and_drain_are_the_batch(mode: str, record_property: Callable[[str, object], None]) -> None:
    happened: Counter[str] = Counter()
    with one_database():
        for number in range(N_EXAMPLES):
            example = example_of(mode, SEED, number)
            found = compare(example)
            assert found.problem is None, f"seed {SEED}, example {number}\n{example}\n{found.problem}"
            happened.update(found.happened)
    lines = [f"{name:34} {happened[name]:7} {100 * happened[name] / N_EXAMPLES:6.1f}%" for name in LEAST_PERCENT]
    record_property("coverage", "\n".join([f"{mode} on streams, seed {SEED}: {N_EXAMPLES} examples", *lines]))
    if N_EXAMPLES >= 200:
        assert [name for name, least in LEAST_PERCENT.items() if 100 * happened[name] / N_EXAMPLES < least] == []
