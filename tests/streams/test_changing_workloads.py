"""A stream that goes on with other patterns: those that stay miss nothing, others come and go."""

from __future__ import annotations

import os

import pytest
from tests.differential.relations import one_database
from tests.streams.changing import changing_of, problem_of

N_EXAMPLES = int(os.environ.get("REX_STREAM_EXAMPLES", "40"))
SEED = int(os.environ.get("REX_SEED", "20261119"))

pytestmark = pytest.mark.filterwarnings("ignore")  # a few random rows need not have all types


def test_patterns_come_and_go() -> None:
    with one_database():
        for number in range(N_EXAMPLES):
            example = changing_of(SEED, number)
            problem = problem_of(example)
            assert problem is None, f"seed {SEED}, example {number}\n{example}\n{problem}"
