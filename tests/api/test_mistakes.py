"""What a new user is told about common mistakes, in memory."""

from __future__ import annotations

from typing import Any

import pytest
from tests.api.mistakes import MISTAKES, TABLE, Mistake

import sparkrex as rex


def ask(mistake: Mistake, table: Any) -> None:
    """Run the query of a mistake over a table or DataFrame."""
    if mistake.is_events:
        rex.events(mistake.text, table, time="id", type="kind")
    else:
        rex.sql(mistake.text, t=table)


def check(mistake: Mistake, error: rex.RexError) -> None:
    """The error is the one that the mistake deserves."""
    shown = str(error)
    assert error.code == mistake.code, shown
    assert error.span is not None, shown
    assert (error.span.start, error.span.end) == mistake.place, shown
    for word in mistake.words:
        assert word in shown, shown


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_mistake(mistake: Mistake) -> None:
    with pytest.raises(rex.RexError) as raised:
        ask(mistake, TABLE)
    check(mistake, raised.value)
