"""Edges by whose equality runs are looked up (`kernels.lookup`): found in the code of their conditions.

The code of a condition tests its conjuncts one after the other. An equality between a value of the event under test and
one of an event that the run has selected may be looked at first, if nothing in front of it can fail or jump over it.
All edges of a state share what its runs await; an edge that does not compare with it asks all of them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.kernels import machine as m
from sparkrex.kernels import path as p
from sparkrex.modes.events.kernels import lookup as kernel
from sparkrex.modes.events.plan import Strategy
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, walk
from sparkrex.scalar.split import CURRENT, conjuncts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.evaluate.bytecode import Bytecode
    from sparkrex.modes.events.nfab.conditions import Conditions
    from sparkrex.scalar.expression import Expression

STRATEGIES = (Strategy.NEXT, Strategy.ANY)
"""Those under which an event that a run does not select leaves it as it is."""

_Awaited = tuple[int, int, int]
"""Kind of key, slot of the record, column."""
_MAY_FAIL = {m.ADD_I, m.SUB_I, m.MUL_I, m.DIV_I, m.MOD_I, m.NEG_I, m.ABS_I, m.DIV_F, m.MOD_F}


def lookup_tables(
    conditions: Conditions, code: Bytecode, ranges: list[tuple[int, int]]
) -> tuple[NDArray[np.int64], ...] | None:
    """Kind, slot and column by state, the column of the event under test by edge; None if no edge has an equality.

    `ranges` are the instructions of every condition.
    """
    of_condition = [dict(_equalities(code, *bounds)) for bounds in ranges]
    states = np.zeros((3, len(conditions.edges)), np.int64)
    columns: list[int] = []
    for state, numbers in enumerate(conditions.edges):
        equalities = [of_condition[number] if number >= 0 else {} for number in numbers]
        shared = Counter(awaited for own in equalities for awaited in own)
        if not state or not shared:
            columns += [-1] * len(numbers)
            continue
        awaited = shared.most_common(1)[0][0]
        states[:, state] = awaited
        columns += [own.get(awaited, -1) for own in equalities]
    if not states[0].any():
        return None
    return (*states, np.array(columns, np.int64))


def equality_of(condition: Expression) -> Expression | None:
    """The first conjunct by which runs may be looked up, as it is written."""
    for conjunct in conjuncts(condition):
        if isinstance(conjunct, Call) and conjunct.function == "eq" and len(conjunct.operands) == 2:
            rows = [_rows_of(side) for side in conjunct.operands]
            if all(len(targets) == 1 for targets in rows) and (rows[0] == {CURRENT}) != (rows[1] == {CURRENT}):
                return conjunct
    return None


def _rows_of(side: Expression) -> set[object]:
    """The rows that a side reads; an aggregate reads one of its own."""
    return {node.target if isinstance(node, ColumnAt) else node for node in walk(side)
            if isinstance(node, ColumnAt | Aggregate)}


def _equalities(code: Bytecode, begin: int, end: int) -> Iterator[tuple[_Awaited, int]]:
    """What equalities compare with, each with the column of the event under test."""
    targets = list(code.targets)
    for operation, to, *operands, _ in code.code[begin:end]:
        if operation >= m.JUMP or operation in _MAY_FAIL:
            return
        if operation not in (m.EQ_I, m.EQ_F) or to != m.TEST:
            continue
        sides = {mode: (number, target) for mode, number, target in (operands[:3], operands[3:6])}
        if sides.keys() != {m.COLUMN, m.TARGET}:
            continue
        column, target = sides[m.TARGET]
        kind, offset, shift, slot = targets[target]
        if kind in (p.FIRST_OF_SET, p.LAST_OF_SET) and offset == shift == 0:
            key = kernel.INT_KEY if operation == m.EQ_I else kernel.FLOAT_KEY
            yield (key, slot, column), sides[m.COLUMN][0]
