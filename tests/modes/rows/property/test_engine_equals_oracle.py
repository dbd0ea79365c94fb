"""Random queries: the engine answers as the oracle does, and in chunks as whole.

`REX_EXAMPLES` sets how many examples are run (default 240) and `REX_SEED` the seed. The summary at the end of the
test run shows what they covered; too little coverage is a failure, for then the agreement would mean little.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given
from tests.differential.relations import one_database
from tests.modes.rows.property.compare import check, told
from tests.modes.rows.property.draws import strategy
from tests.modes.rows.property.examples import generate
from tests.modes.rows.property.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.rows.property.examples import Example

N_EXAMPLES = int(os.environ.get("REX_EXAMPLES", "240"))
SEED = int(os.environ.get("REX_SEED", "20161215"))
# Several tests, so that parallel test workers share the work.
N_SHARES = 4


@pytest.mark.parametrize("share", range(N_SHARES))
def test_engine_equals_oracle(share: int, record_property: Callable[[str, object], None]) -> None:
    tally = Tally()
    seed = SEED + share

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=max(1, N_EXAMPLES // N_SHARES),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(strategy(generate))
    def run(example: Example) -> None:
        outcome = check(example)
        tally.add(example, outcome)
        if outcome.differences:
            raise AssertionError(told(example, outcome))

    with one_database():
        run()
    record_property("coverage", f"seed {seed}: {tally.table()}")
    # The share of a mode in a handful of examples says nothing.
    if tally.examples >= 200:
        assert tally.shortfalls() == []
