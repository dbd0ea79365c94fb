"""Beginnings cut off by their window, over letters: found where, and only where, a set of program states says so."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from tests.differential.relations import one_database
from tests.kernels.forms import in_both_forms, in_form

import sparkrex as rex
from sparkrex.modes.rows import timeouts
from sparkrex.modes.rows.kernels.timeouts import search_timeouts
from sparkrex.modes.rows.program import Op, compile_pattern
from sparkrex.pipeline import parse_query
from sparkrex.source import Source

if TYPE_CHECKING:
    from sparkrex.languages.match_recognize.row_pattern import RowPattern
    from sparkrex.modes.rows.program import Program

PATTERNS = ["A B C", "A (A | B)* C", "(A B?)+ C", "A+? B+ C{2}", "^ A B | B (A? B)* C", "PERMUTE(A, B, C) | A B* $"]
WITHIN = 4


def steps(program: Program, states: set[int], at_first: bool, at_end: bool) -> set[int]:
    """The tests and the end that states lead to without a row."""
    seen: set[int] = set()
    pending = list(states)
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        operation = program.operation[at]
        if operation == Op.SPLIT:
            pending += [int(program.first[at]), int(program.second[at])]
        elif (operation == Op.START and at_first) or (operation == Op.END and at_end):
            pending.append(int(program.first[at]))
    return {at for at in seen if program.operation[at] in (Op.MATCH, Op.ACCEPT)}


def expected(pattern: RowPattern, text: str) -> list[tuple[int, int]]:
    """First and last row of what has timed out, each row a start. Which mapping is preferred makes no difference."""
    program = compile_pattern(pattern, Source(""))
    found = []
    for start in range(len(text)):
        end = min(start + WITHIN, len(text))
        states, is_matched = {program.entry}, False
        for row in range(start, end + 1):
            reached = steps(program, states, row == 0, row == len(text))
            is_matched = is_matched or any(program.operation[at] == Op.ACCEPT for at in reached)
            # In a beginning `$` does not hold: a row is lacking.
            waiting = steps(program, states, row == 0, at_end=False)
            tests = [at for at in waiting if program.operation[at] == Op.MATCH]
            if row == end:
                if tests and not is_matched:
                    found.append((start, end - 1))
                break
            names = [program.variables[program.variable[at]] for at in tests]
            states = {int(program.first[at]) for at, name in zip(tests, names, strict=True) if name == text[row]}
    return found


@in_both_forms
def test_found_where_a_set_of_states_says(form: str) -> None:
    draw = random.Random(1)

    def search(bounds: Any, starts: Any, numbers: Any, program: Any, window: Any, memo: Any, *rest: Any) -> Any:
        if draw.random() < 0.5:  # memory changes no answer
            memo = memo._replace(slot=np.full_like(memo.slot, -1))
        return in_form(search_timeouts, form)(bounds, starts, numbers, program, window, memo, *rest)

    with one_database(), patch.object(timeouts, "search_timeouts", search):
        for pattern in PATTERNS:
            query = rex.match(f"""ORDER BY t MEASURES FIRST(t) AS f, LAST(t) AS l, MATCH_STATUS() AS s
                ONE ROW PER MATCH SHOW TIMEOUT MATCHES AFTER MATCH SKIP TO NEXT ROW PATTERN ({pattern}) WITHIN {WITHIN}
                DEFINE A AS x = 'A', B AS x = 'B', C AS x = 'C'""")
            for _ in range(6):
                text = "".join(draw.choices("ABC", k=draw.randint(1, 12)))
                table = pa.table({"t": range(len(text)), "x": list(text)})
                rows = query(table).to_pylist()
                given = [(row["f"], row["l"]) for row in rows if row["s"] == "TIMEOUT"]
                assert given == expected(parsed(pattern), text), (pattern, text)


def parsed(pattern: str) -> RowPattern:
    """The pattern as the query reads it."""
    clause = parse_query(f"SELECT * FROM t MATCH_RECOGNIZE (PATTERN ({pattern}))", "spark").clauses[0]
    return clause.pattern  # type: ignore[no-any-return]  # a row pattern's clause
