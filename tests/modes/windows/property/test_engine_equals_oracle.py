"""Random windows with row patterns: the engine answers as the oracle does.

`REX_EXAMPLES` sets how many examples each slow share has, `REX_SEED` the seed. Too little coverage is a failure, for
then the agreement would mean little.
"""

from __future__ import annotations

import os
import random

import pytest
from tests.modes.rows.property.draws import RandomDraw
from tests.modes.windows.property.compare import check, told
from tests.modes.windows.property.examples import ENDS, SKIPS, Example, generate
from tests.modes.windows.property.tally import FEATURES, Tally

N_QUICK = 60
N_SLOW = int(os.environ.get("REX_EXAMPLES", "500"))
SEED = int(os.environ.get("REX_SEED", "20161216"))


def example_of(seed: int, number: int) -> Example:
    """Example `number` of a seed, always the same one."""
    return generate(RandomDraw(random.Random(f"{seed}:{number}")))


@pytest.mark.parametrize(
    ("share", "n_examples"),
    [(0, N_QUICK), (1, N_QUICK), *(pytest.param(share, N_SLOW, marks=pytest.mark.slow) for share in range(2, 6))],
)
def test_engine_equals_oracle(share: int, n_examples: int) -> None:
    tally = Tally()
    for number in range(n_examples):
        example = example_of(SEED + share, number)
        outcome = check(example)
        tally.add(example, outcome)
        assert not outcome.differences, told(example, outcome)
    assert tally.shortfalls() == []


def test_the_generator_reaches_everything() -> None:
    examples = [example_of(1, number) for number in range(1500)]
    assert {skip for example in examples for skip in example.skips} == {skip for _, skip in SKIPS}
    assert {end for example in examples for end in example.ends} == {end for _, end in ENDS}
    assert {feature for example in examples for feature in example.features} == set(FEATURES)
    assert len({example.query for example in examples}) > 1450
