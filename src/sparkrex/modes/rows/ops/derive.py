"""The elements of an ordinary row pattern, if it is one whose quantifiers never give a row back.

Such a pattern is a concatenation of variables, some of them under a greedy `+`. Where a star's condition excludes that
of the element behind it, no row that the star has taken can be that element's: giving rows back only fails later. So
the star may be possessive. A star at the end of the pattern gives nothing back because the longest match is preferred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.languages.match_recognize.row_pattern import Concatenation, Quantified, Variable
from sparkrex.modes.rows.plan import PossessiveElement

if TYPE_CHECKING:
    from sparkrex.languages.match_recognize.row_pattern import RowPattern
    from sparkrex.modes.rows.plan import MatchRecognize

MOST_ELEMENTS = 100
"""Tables take time that grows with the cube of this."""


class NotPossessiveError(Exception):
    """The pattern has no such elements; says why."""


_TOO_MANY = NotPossessiveError(f"the pattern has more than {MOST_ELEMENTS} elements")


def derive_elements(plan: MatchRecognize) -> tuple[PossessiveElement, ...]:
    """The elements of a pattern; stars are yet to be proven exclusive with what follows them."""
    elements: list[PossessiveElement] = []
    for name, is_star in _flatten(plan.pattern):
        elements.append(PossessiveElement((name, name), is_star, plan.definition(name)))
    return tuple(elements)


def _flatten(pattern: RowPattern) -> list[tuple[str, bool]]:
    """Variables in order, each with whether it is a star."""
    match pattern:
        case Variable(name):
            found = [(name, False)]
        case Concatenation(items):
            found = [element for item in items for element in _flatten(item)]
        case Quantified(minimum=minimum) if minimum > MOST_ELEMENTS:
            raise _TOO_MANY
        case Quantified(Variable(name), minimum, None, is_greedy=True) if minimum > 0:
            found = [(name, False)] * (minimum - 1) + [(name, True)]
        case Quantified(body, minimum, int(maximum)) if 0 < minimum == maximum:
            found = _flatten(body) * minimum
        case _:
            raise NotPossessiveError(f"{pattern} is neither a variable nor one or more rows of it")
    if len(found) > MOST_ELEMENTS:
        raise _TOO_MANY
    return found
