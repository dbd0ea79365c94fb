"""What stands ahead of the places of a pattern: against all ways through random patterns, followed one by one."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.modes.rows.kernels.letters import program_of

from sparkrex.modes.rows.ahead import ahead_in_elements, ahead_in_program, behind_in_program, least_rows
from sparkrex.modes.rows.program import Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.rows.program import Program

_MOST_ROWS = 9
"""More than any pattern here needs to go through all of its variables, and once through a loop."""


def pattern(draw: random.Random, depth: int) -> str:
    """A pattern of few variables."""
    kind = draw.choice(["variable", "both", "either", "repeated"]) if depth else "variable"
    if kind == "variable":
        return draw.choice("ABC")
    first = pattern(draw, depth - 1)
    if kind == "repeated":
        return f"({first}){draw.choice(['*', '+', '?', '{2}', '*?'])}"
    return f"({first}{' | ' if kind == 'either' else ' '}{pattern(draw, depth - 1)})"


def ways(program: Program, at: int, n_rows: int) -> Iterator[list[int]]:
    """The instructions that map a row on every way from one to the end, with few rows."""
    operation = program.operation[at]
    if operation == Op.ACCEPT:
        yield []
    elif operation == Op.MATCH:
        if n_rows:
            yield from ([at, *rest] for rest in ways(program, int(program.first[at]), n_rows - 1))
    else:
        for following in (program.first[at], program.second[at])[: 2 if operation == Op.SPLIT else 1]:
            yield from ways(program, int(following), n_rows)


@pytest.mark.parametrize("seed", range(100))
def test_it_is_what_all_ways_have(seed: int) -> None:
    program = program_of(pattern(random.Random(seed), 2))
    ahead, behind, least = ahead_in_program(program), behind_in_program(program), least_rows(program)
    found = list(ways(program, program.entry, _MOST_ROWS))
    assert least[program.entry] == min(len(way) for way in found)
    bit = [1 << int(variable) for variable in program.variable]
    for at in {one for way in found for one in way}:
        rests = [way[place + 1 :] for way in found for place, one in enumerate(way) if one == at]
        before = [way[:place] for way in found for place, one in enumerate(way) if one == at]
        inevitable, mapped, possible = -1, -1, bit[at]
        for rest, start in zip(rests, before, strict=True):
            inevitable &= sum({bit[one] for one in rest})
            mapped &= sum({bit[one] for one in start})
            possible |= sum({bit[one] for one in rest})
        assert (ahead.all[at], ahead.some[at], behind[at]) == (inevitable, possible, mapped)
        assert least[int(program.first[at])] == min(len(rest) for rest in rests)


def test_elements_are_a_way_without_forks() -> None:
    # X has variables of its own for its later rows.
    ahead = ahead_in_elements([0, 1, 2], [0, 3, 2])
    assert ahead.all == (0, 0b110, 0b100, 0)
    assert ahead.some == (0, 0b1111, 0b1110, 0b100)
