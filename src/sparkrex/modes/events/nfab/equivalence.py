"""What two runs in a state must agree in to have the same future (paper, 5.2.2): the masks over the vector V.

All that a condition on any edge reachable from the state reads of the run: the values themselves, not the events they
come from. An accumulator that only tells whether it holds anything is compared by that: two minima are equal whatever
the number of events behind them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.kernels import machine as m
from sparkrex.kernels import path as p
from sparkrex.modes.events.kernels import merge as kernel
from sparkrex.modes.events.kernels.arguments import Reads

if TYPE_CHECKING:
    from sparkrex.evaluate.bytecode import Bytecode
    from sparkrex.modes.events.nfab.absences import AbsencePlan
    from sparkrex.modes.events.nfab.automaton import Automaton
    from sparkrex.modes.events.nfab.conditions import Conditions

Read = tuple[int, int, int]
"""Kind, slot of the record, column (see `kernels.merge`)."""


def merge_reads(
    automaton: Automaton, conditions: Conditions, plan: AbsencePlan, code: Bytecode, ranges: list[tuple[int, int]]
) -> Reads:
    """Offsets by state, and the reads. `ranges` are the instructions of every condition."""
    of_condition = [_reads(code, *bounds) for bounds in ranges]
    n_states = len(automaton.edges)
    own: list[set[Read]] = []
    for state in range(n_states):
        absent = plan.read_in(state, accepts=automaton.accepts[state])
        numbers = [*conditions.edges[state], conditions.accepts[state], *(conditions.absent[k] for k in absent)]
        own.append({read for number in numbers if number >= 0 for read in of_condition[number]})
    # What is read behind an edge is read here: to a fixed point.
    changed = True
    while changed:
        changed = False
        for state in range(n_states):
            reached = own[state].union(*(own[edge.target] for edge in automaton.edges[state]))
            changed = changed or reached != own[state]
            own[state] = reached
    lines = [read for reads in own for read in sorted(reads)]
    offsets = np.concatenate(([0], np.cumsum([len(reads) for reads in own])))
    return Reads(offsets.astype(np.int64), np.array(lines, np.int64).reshape(-1, 3))


def _reads(code: Bytecode, begin: int, end: int) -> set[Read]:
    targets, aggregates = list(code.targets), list(code.records.reads)
    found: set[Read] = set()
    for operation, _, *operands, _ in code.code[begin:end]:
        if operation >= m.JUMP:
            continue
        at = kernel.INT_AT if operation < m.MOVE_F else kernel.FLOAT_AT
        for mode, number, target in (operands[:3], operands[3:6]):
            if mode == m.TARGET:
                kind, _, _, slot = targets[target]
                assert kind in (p.FIRST_OF_SET, p.LAST_OF_SET)  # event conditions name variables
                found.add((at, slot, number))
            elif mode == m.AGGREGATE:
                found |= _aggregate(*aggregates[number])
    return found


def _aggregate(what: int, slot: int, place: int) -> set[Read]:
    count, is_empty = (kernel.INT_SLOT, slot, 0), (kernel.IS_ZERO, slot, 0)
    match what:
        case m.READ_COUNT:
            return {count}
        case m.READ_INT:
            return {is_empty, (kernel.INT_SLOT, slot + 1, 0)}
        case m.READ_FLOAT:
            return {is_empty, (kernel.FLOAT_SLOT, place, 0)}
        case m.READ_INT_AVERAGE:
            return {count, (kernel.INT_SLOT, slot + 1, 0)}
        case m.READ_AVERAGE:
            return {count, (kernel.FLOAT_SLOT, place, 0)}
        case _:
            return {count, (kernel.FLOAT_SLOT, place, 0), (kernel.FLOAT_SLOT, place + 1, 0)}
