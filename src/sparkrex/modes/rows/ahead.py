"""What stands ahead of every place of a pattern: variables that some way to its end maps, or that every way does.

A match that needs a C is lost once no row to come can be C, even while it could still map rows to B. So a bound in time
counts at every place from which there is no way round its variable (`deadlines`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.modes.rows.program import Op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.rows.program import Program

_LARGEST_PROGRAM = 10_000
"""Of larger ones nothing is said: matches then wait for the bound of the variable that comes next."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """By place, variables as bits: `all` has those that every way on maps behind it, `some` those that one does there
    or behind it. A place without bits in `all` is of no interest."""

    all: tuple[int, ...]
    some: tuple[int, ...]


def ahead_in_program(program: Program) -> Ahead:
    """For every instruction; `all` only for those that map a row."""
    n_instructions = len(program)
    if n_instructions > _LARGEST_PROGRAM:
        return Ahead((0,) * n_instructions, (0,) * n_instructions)
    operation, variable = program.operation.tolist(), program.variable.tolist()
    first, second = program.first.tolist(), program.second.tolist()
    every = (1 << len(program.variables)) - 1
    inevitable, possible = [every] * n_instructions, [0] * n_instructions
    # Instructions were emitted from the pattern's end on, so most stand behind those that they lead to.
    is_settled = False
    while not is_settled:
        is_settled = True
        for at in range(n_instructions):
            match operation[at]:
                case Op.ACCEPT:
                    both = (0, 0)
                case Op.MATCH:
                    own = 1 << variable[at]
                    both = (inevitable[first[at]] | own, possible[first[at]] | own)
                case Op.SPLIT:
                    both = (
                        inevitable[first[at]] & inevitable[second[at]], possible[first[at]] | possible[second[at]]
                    )
                case _:
                    both = (inevitable[first[at]], possible[first[at]])
            if both != (inevitable[at], possible[at]):
                inevitable[at], possible[at] = both
                is_settled = False
    return Ahead(
        tuple(inevitable[first[at]] if operation[at] == Op.MATCH else 0 for at in range(n_instructions)),
        tuple(possible),
    )


def behind_in_program(program: Program) -> tuple[int, ...]:
    """For every instruction, as bits, the variables that every way to it has mapped."""
    n_instructions = len(program)
    if n_instructions > _LARGEST_PROGRAM:
        return (0,) * n_instructions
    every = (1 << len(program.variables)) - 1
    found = [every] * n_instructions
    found[program.entry] = 0
    pending, met = [program.entry], {program.entry}
    while pending:
        at = pending.pop()
        operation = program.operation[at]
        if operation == Op.ACCEPT:
            continue
        mapped = found[at] | (1 << int(program.variable[at]) if operation == Op.MATCH else 0)
        ways = (program.first[at], program.second[at]) if operation == Op.SPLIT else (program.first[at],)
        for following in map(int, ways):
            if following not in met or found[following] & ~mapped:
                met.add(following)
                found[following] &= mapped
                pending.append(following)
    return tuple(found)


def least_rows(program: Program) -> list[int]:
    """For every instruction, how many rows at least a match still maps there and behind it."""
    n_instructions = len(program)
    if n_instructions > _LARGEST_PROGRAM:
        return [0] * n_instructions
    operation, first, second = program.operation.tolist(), program.first.tolist(), program.second.tolist()
    found = [n_instructions] * n_instructions
    is_settled = False
    while not is_settled:
        is_settled = True
        for at in range(n_instructions):
            match operation[at]:
                case Op.ACCEPT:
                    least = 0
                case Op.MATCH:
                    least = found[first[at]] + 1
                case Op.SPLIT:
                    least = min(found[first[at]], found[second[at]])
                case _:
                    least = found[first[at]]
            if least < found[at]:
                found[at] = least
                is_settled = False
    return found


def ahead_in_elements(first: Sequence[int], later: Sequence[int]) -> Ahead:
    """For a sequence of elements, all of which have rows: by element its first row's variable and that of the others.

    There is a place in front of them that nothing stands ahead of, since elements are counted from 1.
    """
    inevitable, possible = [0] * (len(first) + 1), [0] * (len(first) + 1)
    needed = met = 0
    for place in range(len(first), 0, -1):
        inevitable[place] = needed
        needed |= 1 << first[place - 1]
        met |= 1 << first[place - 1] | 1 << later[place - 1]
        possible[place] = met
    return Ahead(tuple(inevitable), tuple(possible))
