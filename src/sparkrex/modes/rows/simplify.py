"""What proofs say of the conditions of DEFINE: parts that say nothing new, and conditions that no row meets.

Each comes with its proof in one line. Which variables exclude each other is asked by `ops`, of its elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, is_volatile
from sparkrex.scalar.guards import can_fail
from sparkrex.scalar.prove import Answer, prove
from sparkrex.scalar.split import conjunction, conjuncts, is_row_condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.plan import Definition
    from sparkrex.scalar.expression import Expression
    from sparkrex.scalar.prove import Facts


MOST_CONJUNCTS = 20
"""Each is compared with all others."""


@dataclass(frozen=True, slots=True)
class Simplified:
    """A condition without its implied parts, None if none is left, and why each of them was dropped."""

    condition: Expression | None
    proofs: tuple[str, ...] = ()


def drop_implied(condition: Expression, facts: Facts) -> Simplified:
    """Drop conjuncts that the others imply.

    The condition is TRUE on the same rows as before. A conjunct that can fail or is volatile stays, and so does one
    that may keep a later one that can fail from being reached. What rows decide goes only if other such parts imply
    it: it is tested once for all rows, and saves tests of the rest.
    """
    kept = conjuncts(condition)
    proofs: list[str] = []
    if len(kept) > MOST_CONJUNCTS:
        return Simplified(condition)
    for part in reversed(list(kept)):
        if can_fail(part) or is_volatile(part):
            continue
        place = next(number for number, other in enumerate(kept) if other is part)
        before, after = kept[:place], kept[place + 1 :]
        others = [other for other in before + after if is_row_condition(other) or not is_row_condition(part)]
        verdict = prove(conjunction(others), part, facts)
        if verdict.answer is Answer.TRUE and not (any(map(can_fail, after)) and _may_guard(part, before, facts)):
            kept = before + after
            proofs.append(verdict.why)
    return Simplified(conjunction(kept), tuple(reversed(proofs))) if proofs else Simplified(condition)


def _may_guard(part: Expression, before: Sequence[Expression], facts: Facts) -> bool:
    """Whether a conjunct may end an evaluation that the ones before it let pass: each of these is TRUE or NULL."""
    passed = conjunction([_is_not_false(other) for other in before])
    return prove(passed, _is_not_false(part), facts).answer is not Answer.TRUE


def _is_not_false(condition: Expression) -> Expression:
    return Call("not", (Call("is_false", (condition,)),))


def find_unsatisfiable(definitions: Sequence[Definition], facts: Facts) -> dict[str, str]:
    """The variables that no row can be mapped to, with the proof."""
    found: dict[str, str] = {}
    for definition in definitions:
        verdict = prove(definition.condition, None, facts)
        if verdict.answer is Answer.UNSATISFIABLE:
            found[definition.variable] = verdict.why
    return found
