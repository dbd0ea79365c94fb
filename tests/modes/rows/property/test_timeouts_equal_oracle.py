"""Random queries with SHOW TIMEOUT MATCHES: whole, in chunks and many open with a horizon, as the oracle answers."""

from __future__ import annotations

import random
from unittest.mock import patch

import pytest
from tests.differential.relations import one_database
from tests.modes.rows.property.compare import check, told
from tests.modes.rows.property.draws import RandomDraw
from tests.modes.rows.property.examples import generate_timeouts
from tests.modes.rows.property.test_engine_equals_oracle import N_EXAMPLES, SEED

from sparkrex.modes.rows import timeouts

N_SHARES = 2


@pytest.mark.filterwarnings("ignore:SHOW TIMEOUT MATCHES")
@pytest.mark.parametrize("share", range(N_SHARES))
def test_timeouts_equal_oracle(share: int) -> None:
    draw = RandomDraw(random.Random(SEED + share))
    n_examples = max(1, N_EXAMPLES // N_SHARES // 3)  # others test what queries without the clause share with these
    n_known = n_with_both = 0
    # Partitions are shared by threads, however few rows they have.
    with one_database(), patch.object(timeouts, "LEAST_ROWS", 1):
        for _ in range(n_examples):
            example = generate_timeouts(draw)
            outcome = check(example)
            assert not outcome.differences, told(example, outcome)
            n_known += not outcome.is_unknown
            n_with_both += outcome.n_timeouts > 0 and outcome.n_matches > 0
    if n_examples >= 50:
        assert n_known >= 0.9 * n_examples
        assert n_with_both >= 0.15 * n_examples
