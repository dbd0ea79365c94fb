"""What a condition, where it is TRUE or where it is not, says of another.

Both questions are answered by refutation: p implies q if p is never TRUE where q is not TRUE, and excludes it if they
are never TRUE together. A proof says nothing of evaluations that fail with an error.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, ColumnAt, Expression, Literal, walk
from sparkrex.scalar.prove.formulas import all_of
from sparkrex.scalar.prove.refute import is_refuted
from sparkrex.scalar.prove.truth import truth
from sparkrex.scalar.prove.verdict import Answer, Verdict
from sparkrex.scalar.prove.wording import write_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sparkrex.scalar.prove.facts import Facts

_UNKNOWN = Verdict(Answer.UNKNOWN)


def prove(p: Expression | None, q: Expression | None, facts: Facts) -> Verdict:
    """What follows for q where p is TRUE; None is a condition that always is."""
    premise = _conjuncts(p)
    if _never_hold(premise, [], facts):
        premise = _needed(premise, lambda kept: _never_hold(kept, [], facts))
        why = f"{write_all(premise)} never holds"
        return Verdict(Answer.UNSATISFIABLE, why + _facts_used(lambda less: _never_hold(premise, [], less), facts, p))
    conclusion = _conjuncts(q)
    if _implies(premise, conclusion, facts):
        premise = _needed(premise, lambda kept: _implies(kept, conclusion, facts))
        why = f"{write_all(premise)} implies {write_all(conclusion)}" if premise else _always(conclusion)
        return Verdict(Answer.TRUE, why + _facts_used(lambda less: _implies(premise, conclusion, less), facts, p, q))
    if _never_hold(premise, conclusion, facts):
        premise = _needed(premise, lambda kept: _never_hold(kept, conclusion, facts))
        conclusion = _needed(conclusion, lambda kept: _never_hold(premise, kept, facts))
        why = f"{write_all(premise)} excludes {write_all(conclusion)}" if premise else _never(conclusion)
        return Verdict(
            Answer.FALSE, why + _facts_used(lambda less: _never_hold(premise, conclusion, less), facts, p, q)
        )
    return _UNKNOWN


def prove_from_failure(p: Expression | None, q: Expression | None, facts: Facts) -> Verdict:
    """What follows for q where p is not TRUE: FALSE or NULL."""
    if p is None:
        return Verdict(Answer.UNSATISFIABLE, "no condition, so it always holds")
    # "p is not TRUE" is a condition like any other, and so is the proof; only its wording is its own.
    text = write_all(_conjuncts(p))
    failure = Call("not", (Call("is_true", (p,)),))
    verdict = prove(failure, q, facts)
    if verdict.answer is Answer.UNSATISFIABLE:
        used = _facts_used(lambda less: _never_hold([failure], [], less), facts, p)
        return Verdict(Answer.UNSATISFIABLE, f"{text} always holds{used}")
    return replace(verdict, why=verdict.why.replace(write_all([failure]), f"not ({text})"))


def _conjuncts(condition: Expression | None) -> list[Expression]:
    match condition:
        case None | Literal(True):
            return []
        case Call("and", operands, None):
            return list(operands)
        case _:
            return [condition]


def _never_hold(premise: Sequence[Expression], conclusion: Sequence[Expression], facts: Facts) -> bool:
    """Whether these conditions are never all TRUE."""
    return is_refuted(all_of(*(truth(part, facts).true for part in (*premise, *conclusion))), facts)


def _implies(premise: Sequence[Expression], conclusion: Sequence[Expression], facts: Facts) -> bool:
    """Whether the conclusion is TRUE wherever the premise is."""
    held = [truth(part, facts).true for part in premise]
    return all(is_refuted(all_of(*held, truth(part, facts).not_true), facts) for part in conclusion)


# -- the proof in words -----------------------------------------------------------------------------------------------


def _needed(parts: Sequence[Expression], is_enough: Callable[[list[Expression]], bool]) -> list[Expression]:
    """The parts without those that the proof can do without."""
    kept = list(parts)
    for part in parts:
        fewer = [other for other in kept if other is not part]
        if is_enough(fewer):
            kept = fewer
    return kept


def _always(conclusion: Sequence[Expression]) -> str:
    return f"{write_all(conclusion)} always holds" if conclusion else "no condition, so it always holds"


def _never(conclusion: Sequence[Expression]) -> str:
    return f"{write_all(conclusion)} never holds"


def _facts_used(is_proven: Callable[[Facts], bool], facts: Facts, *conditions: Expression | None) -> str:
    """The facts of columns without which there would be no proof."""
    named = {
        node.column: None
        for condition in conditions if condition is not None
        for node in walk(condition) if isinstance(node, ColumnAt)
    }
    words = []
    for column in named:
        for what, less in (
            ("never NULL", replace(facts, never_null=facts.never_null - {column})),
            ("positive", replace(facts, positive=facts.positive - {column})),
        ):
            if less != facts and not is_proven(less):
                words.append(f"{column} is {what}")
    return f" ({', '.join(words)})" if words else ""
