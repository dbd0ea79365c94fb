"""Random event queries as text, through the public function: the answer is the oracle's."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest
from tests.modes.events.draws import generate
from tests.modes.events.engine_runs import matches_of_events, table_of
from tests.modes.events.oracle import find_matches
from tests.modes.events.texts import ANY_EVENT, can_be_said, text_of
from tests.modes.rows.property.draws import RandomDraw

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable

N_EXAMPLES = int(os.environ.get("REX_EVENT_EXAMPLES", "200"))
SEED = int(os.environ.get("REX_SEED", "20080610"))
N_SHARES = 2


@pytest.mark.filterwarnings("ignore:no event has type ")  # a few random rows need not have all types
@pytest.mark.parametrize("share", range(N_SHARES))
def test_text_to_answers(share: int, record_property: Callable[[str, object], None]) -> None:
    n_asked = n_matched = 0
    for number in range(share, N_EXAMPLES, N_SHARES):
        example = generate(RandomDraw(random.Random(SEED + number)))
        query = example.query
        if not can_be_said(query):
            continue
        text = text_of(query)
        time, *tie_break = (str(key.column) for key in query.order_by)
        answer = rex.events(
            text, table_of(example.rows), time=time, type="kind", types=ANY_EVENT, tie_break=tie_break,
            ties="strict" if query.has_strict_ties else "order", dialect="duckdb",
        )
        expected = find_matches(query, example.rows)
        assert sorted(matches_of_events(example.query, answer)) == sorted(expected), f"{text}\n{example}"
        n_asked += 1
        n_matched += bool(expected)
    record_property("coverage", f"event queries as text: {n_asked} asked, {n_matched} of them matched")
    assert n_asked > N_EXAMPLES / N_SHARES / 3
    assert n_matched > n_asked / 3
