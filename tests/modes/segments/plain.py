"""Plain queries under ALL MATCHES by brute force: every labelling of every stretch of rows, then the conditions.

Here references are the standard's, to all rows mapped to a variable so far, so the evaluator of the standard's oracle
reads them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from tests.modes.rows.oracle.expressions import View
from tests.modes.rows.oracle.expressions import value as standard_value
from tests.modes.segments import definitions
from tests.modes.segments.values import Scene, value

from sparkrex.modes.segments.pattern import (
    Alternation,
    And,
    Concatenation,
    Kleene,
    Not,
    PointVariable,
    SegmentPattern,
    SegmentVariable,
)
from sparkrex.scalar.expression import Aggregate, Call, Expression, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sparkrex.modes.segments.plan import SegmentSearch

Labels = tuple[str, ...]
"""The variable that each row of a match is mapped to."""


def labelled_matches(search: SegmentSearch, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int, Labels]]:
    """Start, end and labels of every match in a partition."""
    for start in range(len(rows)):
        for end in range(start, len(rows)):
            for labels in labellings(search.pattern, end - start + 1):
                if _holds(search, rows, start, labels):
                    yield start, end, labels


def labellings(pattern: SegmentPattern, n_rows: int) -> set[Labels]:
    """The words of so many letters that the pattern, as a regular expression, has."""
    if n_rows == 0:
        return set()
    match pattern:
        case PointVariable(name=name):
            return {(name,)} if n_rows == 1 else set()
        case Alternation(options=options):
            return {labels for option in options for labels in labellings(option, n_rows)}
        case Concatenation(items=items):
            if len(items) == 1:
                return labellings(items[0], n_rows)
            return {
                first + others
                for length in range(1, n_rows)
                for first in labellings(items[0], length)
                for others in labellings(replace(pattern, items=items[1:]), n_rows - length)
            }
        case Kleene(body=body, minimum=minimum, maximum=maximum):
            found = labellings(body, n_rows) if minimum <= 1 else set()
            if maximum is None or maximum > 1:
                rest = replace(pattern, minimum=max(1, minimum - 1), maximum=None if maximum is None else maximum - 1)
                found |= {
                    first + others
                    for length in range(1, n_rows)
                    for first in labellings(body, length)
                    for others in labellings(rest, n_rows - length)
                }
            return found
        case SegmentVariable() | And() | Not():
            raise AssertionError("not in a plain query")
        case _:
            assert_never(pattern)


def mapped_rows(search: SegmentSearch, variable: str, start: int, labels: Labels) -> tuple[int, ...] | None:
    """The rows mapped to a variable or union variable; None if there are none."""
    parts = next((subset.variables for subset in search.subsets if subset.name == variable), {variable})
    return tuple(start + k for k, label in enumerate(labels) if label in parts) or None


def measure(
    search: SegmentSearch, expression: Expression, rows: Sequence[Mapping[str, Any]], start: int, labels: Labels,
    match_number: int,
) -> Any:
    """The value of a measure."""
    placed = _aggregated(_placed(expression, start, start + len(labels) - 1), rows, start, labels)
    return standard_value(placed, View(rows, start, labels, labels, match_number, search.dialect))


def _holds(search: SegmentSearch, rows: Sequence[Mapping[str, Any]], start: int, labels: Labels) -> bool:
    for length, label in enumerate(labels, 1):
        definition = search.definition(label)
        if any(window.low is not None and window.low > (window.column is None) for window in definition.windows):
            return False  # one row is never longer
        so_far = labels[:length]
        view = View(rows, start, so_far, so_far, 1, search.dialect)
        if definition.condition is None:
            continue
        if standard_value(_aggregated(definition.condition, rows, start, so_far), view) is not True:
            return False
    return True


def _aggregated(
    expression: Expression, rows: Sequence[Mapping[str, Any]], start: int, labels: Labels
) -> Expression:
    """With the values of T-ReX's aggregates over the rows mapped to their variables: the standard has none."""
    match expression:
        case Call(operands=operands):
            return replace(expression, operands=tuple(_aggregated(one, rows, start, labels) for one in operands))
        case Aggregate(function, arguments, variables) if function in _OF_SEGMENTS:
            mapped = [start + k for k, label in enumerate(labels) if variables is None or label in variables]
            inputs = [tuple(value(argument, Scene(rows, {}, row=row)) for argument in arguments) for row in mapped]
            return Literal(definitions.aggregate(function, inputs))
        case _:
            return expression


_OF_SEGMENTS = ("mann_kendall_test", "linear_reg_r2", "linear_reg_r2_signed", "linear_reg_slope", "equal_up_down_ticks")


def _placed(expression: Expression, start: int, end: int) -> Expression:
    """With the match's place written out for START_INDEX() and END_INDEX()."""
    if not isinstance(expression, Call):
        return expression
    if expression.function in ("start_index", "end_index"):
        return Literal(start if expression.function == "start_index" else end)
    return replace(expression, operands=tuple(_placed(operand, start, end) for operand in expression.operands))
