"""A random workload under several plans, fed in several ways, compared with the oracle.

Every way has chances of its own, so that what one does with its feeds changes nothing for the others.
"""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

from tests.matching.schedules import disturb, scattered
from tests.modes.workload import oracle
from tests.modes.workload.draws import drawn_workload
from tests.modes.workload.running import MisnumberedError, arranged, fed, new_runner, nonempty, shared_forms

from sparkrex.matching.feeding import feeds_of
from sparkrex.modes.workload import search, segment_search
from sparkrex.modes.workload.planner.optimizer import METHODS
from sparkrex.modes.workload.prepared import Prepared

if TYPE_CHECKING:
    from tests.modes.workload.draws import Workload
    from tests.modes.workload.running import Found, Shared

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.state import State
    from sparkrex.modes.workload.planner.multitree import Multitree
    from sparkrex.modes.workload.runner import GroupRunner

WAYS = ("whole", "chunks", "many slots", "segments")


@dataclass
class Example:
    """A workload, what it must find, and by way of feeding the method and the plan that it is run by."""

    seed: int
    workload: Workload
    shared: Shared
    expected: Found
    plans: dict[str, tuple[str, Multitree]]


def drawn_example(seed: int) -> Example:
    """An example by its number; one without patterns that share has no plans."""
    draw = random.Random(seed)
    workload = drawn_workload(draw)
    shared = shared_forms(workload.queries)
    plans = {}
    for way in WAYS if shared.forms else ():
        method = METHODS[draw.randrange(len(METHODS))]
        plans[way] = method, shared.multitree(method, draw)
    return Example(seed, workload, shared, expected_of(workload), plans)


def expected_of(workload: Workload) -> Found:
    return {
        name: nonempty(oracle.find_matches(query, workload.rows, workload.max_kleene))
        for name, query in workload.queries.items()
    }


def difference(example: Example, way: str, evaluator: Evaluator) -> str | None:
    """The first pattern whose matches, fed in a way, are others than the oracle's."""
    draw = random.Random(f"{example.seed} {way}")
    method, multitree = example.plans[way]
    at = f"seed {example.seed}, {method}, {way}"
    with _small(way, draw):
        prepared = Prepared(example.shared.forms, example.shared.symbols, multitree)
        runner = new_runner(
            prepared, evaluator, threads=draw.choice([1, 2]), max_kleene=example.workload.max_kleene
        )
        try:
            found = _run(way, runner, example.workload, draw)
        except MisnumberedError as error:
            return f"{at}, {error}\n{example.workload}"
    for pattern in prepared.patterns:
        given, expected = nonempty(found.get(pattern.name, [])), example.expected[pattern.name]
        if given != expected:
            return f"{at}, {pattern.name}: {given} instead of {expected}\n{example.workload}"
    return None


def _small(way: str, draw: random.Random) -> ExitStack:
    """Blocks, rooms and segments so small that the end of one is often met."""
    changed: dict[str, Any] = {
        "BLOCK_ROWS": draw.choice([1, 2, 5, 4096]), "ROOM": draw.choice([1, 100, 1 << 14]),
        "FEW": draw.choice([0, 3, 256]), "MOST_COMPLETE": draw.choice([1, 1 << 20]),
    }
    stack = ExitStack()
    stack.enter_context(mock.patch.multiple(search, **changed))
    if way == "segments" or draw.random() < 0.3:
        stack.enter_context(mock.patch.object(segment_search, "SEGMENT_ROWS", draw.choice([1, 2, 3])))
    return stack


def _run(way: str, runner: GroupRunner, workload: Workload, draw: random.Random) -> Found:
    """Feed a runner with all rows."""
    table, arrangement = arranged(runner.queries, workload.rows)
    if way == "many slots" and table.num_rows:
        order = "t" if draw.random() < 0.7 else None

        def between(state: State) -> State:
            disturb(state, draw)
            return state

        return fed(runner, scattered(table, arrangement, draw, order), between)
    chunk = draw.choice([1, 2, 3, 5]) if way == "chunks" else None
    return fed(
        runner, feeds_of(table, arrangement, chunk),
        lambda state: runner.open().restore(state.snapshot("plan"), "plan"),
    )
