"""Random trend queries: the engine counts what the oracle counts, from text to table, however its rows are fed.

`REX_TREND_EXAMPLES` sets how many examples are run and `REX_SEED` the seed. The summary at the end of the test run
shows what they covered; too little coverage is a failure.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given
from tests.modes.rows.property.draws import strategy
from tests.modes.trends.draws import Example, generate
from tests.modes.trends.engine_runs import Way, difference, draw_way
from tests.modes.trends.oracle import evaluate
from tests.modes.trends.reports import told
from tests.modes.trends.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.rows.property.draws import Draw

N_EXAMPLES = int(os.environ.get("REX_TREND_EXAMPLES", "160"))
SEED = int(os.environ.get("REX_SEED", "20190630"))
# Several tests, so that parallel test workers share the work.
N_SHARES = 4


@pytest.mark.parametrize("share", range(N_SHARES))
def test_engine_equals_oracle(share: int, record_property: Callable[[str, object], None]) -> None:
    tally = Tally()
    seed = SEED + share

    def with_way(draw: Draw) -> tuple[Example, Way]:
        return generate(draw), draw_way(draw)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=max(1, N_EXAMPLES // N_SHARES), deadline=None, database=None,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink),
    )
    @given(strategy(with_way))
    def run(drawn: tuple[Example, Way]) -> None:
        example, way = drawn
        expected = evaluate(example.query, example.rows)
        # Everything at once is the plainest way: it is asked about every query, and one more way about each.
        for asked in dict.fromkeys([Way(), way]):
            problem = difference(example, expected, asked)
            assert problem is None, told(example, expected, problem)
        tally.add(example, expected, way.names())

    run()
    record_property("coverage", f"trend queries, seed {seed}: {tally.table()}")
    # The share of a kind in a handful of examples says nothing.
    if tally.examples >= 400:
        assert tally.shortfalls() == []
