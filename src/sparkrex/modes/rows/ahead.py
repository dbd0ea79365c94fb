"""What stands ahead of every place of a pattern: variables that some way to its end maps, or that every way does.

A match that needs a C is lost once no row to come can be C, even while it could still map rows to B. So a bound in time
counts at every place from which there is no way round its variable (`deadlines`).
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.modes.rows.program import Op

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    if len(program) > _LARGEST_PROGRAM:
        return Ahead((0,) * len(program), (0,) * len(program))
    every = (1 << len(program.variables)) - 1
    inevitable = _from_the_end(program, every, lambda variable, rest: rest | 1 << variable, operator.and_)
    possible = _from_the_end(program, 0, lambda variable, rest: rest | 1 << variable, operator.or_)
    return Ahead(
        tuple(
            inevitable[following] if operation == Op.MATCH else 0
            for operation, following in zip(program.operation.tolist(), program.first.tolist(), strict=True)
        ),
        tuple(possible),
    )


def least_rows(program: Program) -> list[int]:
    """For every instruction, how many rows at least a match still maps there and behind it."""
    if len(program) > _LARGEST_PROGRAM:
        return [0] * len(program)
    return _from_the_end(program, len(program), lambda _, rest: rest + 1, min)


def _from_the_end(
    program: Program, most: int, mapped: Callable[[int, int], int], either: Callable[[int, int], int]
) -> list[int]:
    """By instruction a number that follows from those that it leads to: 0 at the end, `mapped` by variable where a row
    is mapped, `either` where two ways lead on. Found from `most` on, step by step, until nothing changes any more.
    """
    operations, variable = program.operation.tolist(), program.variable.tolist()
    first, second = program.first.tolist(), program.second.tolist()
    found = [most] * len(program)
    is_settled = False
    while not is_settled:
        is_settled = True
        # Instructions were emitted from the pattern's end on, so most stand behind those that they lead to.
        for at, operation in enumerate(operations):
            match operation:
                case Op.ACCEPT:
                    number = 0
                case Op.MATCH:
                    number = mapped(variable[at], found[first[at]])
                case Op.SPLIT:
                    number = either(found[first[at]], found[second[at]])
                case _:
                    number = found[first[at]]
            if number != found[at]:
                found[at] = number
                is_settled = False
    return found


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
