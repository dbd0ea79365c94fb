"""Which splits of a program may remember that they failed, by what the conditions reachable from them read.

See `kernels.backtrack` for why that is sound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.rows.kernels.arguments import Memo
from sparkrex.modes.rows.program import Op
from sparkrex.scalar.split import context_level, mapped_variables

if TYPE_CHECKING:
    from sparkrex.modes.rows.program import Program
    from sparkrex.scalar.split import Condition


def find_memo(program: Program, conditions: tuple[Condition, ...]) -> Memo:
    """What the splits of a program may remember."""
    fixed = _fixed_variables(program)
    levels: dict[str, int] = {}
    for condition in conditions:
        level_of = context_level(condition.context) if condition.context is not None else 0
        if level_of == 2 and condition.context is not None:
            read = mapped_variables(condition.context)
            level_of = 1 if read is not None and read <= fixed else 2
        levels[condition.variable] = level_of
    level = np.zeros(len(program), np.int8)
    is_match = program.operation == Op.MATCH
    level[is_match] = [levels.get(program.variables[v], 0) for v in program.variable[is_match]]
    # What an instruction can still test: the highest level of anything reachable from it.
    while True:
        reached = np.maximum(level, np.where(program.operation == Op.ACCEPT, 0, level[program.first]))
        reached = np.maximum(reached, np.where(program.operation == Op.SPLIT, level[program.second], 0))
        if (reached == level).all():
            break
        level = reached.astype(np.int8)
    slot = np.full(len(program), -1, np.int32)
    is_split = program.operation == Op.SPLIT
    of_partition, of_start = is_split & (level == 0), is_split & (level == 1)
    slot[of_partition] = np.arange(of_partition.sum())
    slot[of_start] = np.arange(of_start.sum())
    return Memo(slot, of_start, int(of_partition.sum()), int(of_start.sum()))


def _fixed_variables(program: Program) -> frozenset[str]:
    """Variables that only occur before the first choice of the pattern: the start row alone decides their rows."""
    inside = np.zeros(len(program), np.bool_)
    at = program.entry
    while program.operation[at] == Op.MATCH:
        inside[at] = True
        at = int(program.first[at])
    is_match = program.operation == Op.MATCH
    elsewhere = set(program.variable[is_match & ~inside].tolist())
    return frozenset(program.variables[v] for v in program.variable[inside].tolist() if v not in elsewhere)
