"""Choose the search of a window: the first in rank that supports the query over columns of these types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sparkrex.modes.rows.problem import Problem
from sparkrex.modes.windows.automaton import AutomatonSearch
from sparkrex.modes.windows.backtrack import BacktrackSearch
from sparkrex.modes.windows.interpreted import InterpretedSearch

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.windows.plan import PatternWindow
    from sparkrex.scalar.prove import Facts
    from sparkrex.settings import Settings

Search: TypeAlias = AutomatonSearch | BacktrackSearch | InterpretedSearch

SEARCHES: tuple[type[Search], ...] = (AutomatonSearch, BacktrackSearch, InterpretedSearch)
"""By rank: what costs least a row first. The last one supports everything."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The search, and why those before and behind it in rank were not chosen."""

    problem: Problem
    search: Search
    refusals: tuple[tuple[str, str], ...]


def choose_search(
    plan: PatternWindow, sample: pa.Table, evaluator: Evaluator, settings: Settings, facts: Facts | None = None
) -> Choice:
    """The search for a plan over columns of the sample's types; the sample has no rows."""
    problem = Problem.of(plan.search, sample, evaluator, settings, facts)
    return _choose_from(problem, settings.matcher, is_bounded=plan.frame_end is not None)


def next_choice(choice: Choice, *, is_bounded: bool) -> Choice:
    """The search behind the one that gave up."""
    names = [kind.name for kind in SEARCHES]
    return _choose_from(choice.problem, names[names.index(choice.search.name) + 1], is_bounded=is_bounded)


def _choose_from(problem: Problem, wanted: str | None, *, is_bounded: bool) -> Choice:
    first = next((n for n, kind in enumerate(SEARCHES) if kind.name == wanted), 0)
    refusals: list[tuple[str, str]] = []
    for place, kind in enumerate(SEARCHES):
        search = kind(problem)
        refusal = search.refusal
        if refusal is None and is_bounded and kind is AutomatonSearch:
            refusal = "the frame may end before the partition does"
        if refusal is None and place < first:
            refusal = f"the setting matcher asks for {wanted}"
        if refusal is None:
            search.check()
            others = [(other.name, other.slower) for other in SEARCHES[place + 1 :]]
            return Choice(problem, search, (*refusals, *others))
        refusals.append((kind.name, refusal))
    raise AssertionError("the last one supports everything")
