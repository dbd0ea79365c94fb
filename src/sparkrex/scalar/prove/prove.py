"""What a condition, where it is TRUE or where it is not, says of another.

Both questions are answered by refutation: p implies q if p is never TRUE where q is not TRUE, and excludes it if they
are never TRUE together. A proof says nothing of evaluations that fail with an error.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, ColumnAt, Expression, Literal, walk
from sparkrex.scalar.prove.formulas import all_of
from sparkrex.scalar.prove.refute import is_refuted
from sparkrex.scalar.prove.truth import Truth, truth
from sparkrex.scalar.prove.verdict import Answer, Verdict
from sparkrex.scalar.prove.wording import write_all
from sparkrex.scalar.split import conjuncts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sparkrex.scalar.prove.facts import Facts

_UNKNOWN = Verdict(Answer.UNKNOWN)

_MOST_NODES = 120
"""Of both conditions together; a proof takes time that grows with the square of the comparisons, and worse."""


def prove(p: Expression | None, q: Expression | None, facts: Facts) -> Verdict:
    """What follows for q where p is TRUE; None is a condition that always is."""
    if not _are_small(p, q):
        return _UNKNOWN
    premise, conclusion = _conjuncts(p), _conjuncts(q)
    given = _Given(facts)
    if given.exclude(premise):
        premise = _needed(premise, given.exclude)
        why = f"{write_all(premise)} never holds"
        return Verdict(Answer.UNSATISFIABLE, why + _facts_used(lambda less: less.exclude(premise), facts, p))
    if given.imply(premise, conclusion):
        premise = _needed(premise, lambda kept: given.imply(kept, conclusion))
        why = f"{write_all(premise)} implies {write_all(conclusion)}" if premise else _always(conclusion)
        return Verdict(Answer.TRUE, why + _facts_used(lambda less: less.imply(premise, conclusion), facts, p, q))
    if given.exclude([*premise, *conclusion]):
        premise = _needed(premise, lambda kept: given.exclude([*kept, *conclusion]))
        conclusion = _needed(conclusion, lambda kept: given.exclude([*premise, *kept]))
        why = f"{write_all(premise)} excludes {write_all(conclusion)}" if premise else _never(conclusion)
        return Verdict(
            Answer.FALSE, why + _facts_used(lambda less: less.exclude([*premise, *conclusion]), facts, p, q)
        )
    return _UNKNOWN


def prove_from_failure(p: Expression | None, q: Expression | None, facts: Facts) -> Verdict:
    """What follows for q where p is not TRUE: FALSE or NULL."""
    if p is None:
        return Verdict(Answer.UNSATISFIABLE, _always([]))
    if not _are_small(p, q):
        return _UNKNOWN
    # "p is not TRUE" is a condition like any other, and so is the proof; only its wording is its own.
    text = write_all(_conjuncts(p))
    failure = Call("not", (Call("is_true", (p,)),))
    verdict = prove(failure, q, facts)
    if verdict.answer is Answer.UNSATISFIABLE:
        used = _facts_used(lambda less: less.exclude([failure]), facts, p)
        return Verdict(Answer.UNSATISFIABLE, f"{text} always holds{used}")
    return replace(verdict, why=verdict.why.replace(write_all([failure]), f"not ({text})"))


class _Given:
    """Proofs from the same facts: every condition is read once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._truths: dict[int, Truth] = {}

    def exclude(self, conditions: Sequence[Expression]) -> bool:
        """Whether these conditions are never all TRUE."""
        return is_refuted(all_of(*(self._truth(part).true for part in conditions)), self._facts)

    def imply(self, premise: Sequence[Expression], conclusion: Sequence[Expression]) -> bool:
        """Whether the conclusion is TRUE wherever the premise is."""
        held = [self._truth(part).true for part in premise]
        return all(is_refuted(all_of(*held, self._truth(part).not_true), self._facts) for part in conclusion)

    def _truth(self, condition: Expression) -> Truth:
        # By identity: callers hold the conditions as long as this lives, and equality would compare trees.
        found = self._truths.get(id(condition))
        if found is None:
            found = self._truths[id(condition)] = truth(condition, self._facts)
        return found


def _are_small(*conditions: Expression | None) -> bool:
    """Whether a proof about the conditions is worth its time."""
    nodes = chain.from_iterable(walk(condition) for condition in conditions if condition is not None)
    return next(islice(nodes, _MOST_NODES, None), None) is None


def _conjuncts(condition: Expression | None) -> list[Expression]:
    return [] if condition is None else [part for part in conjuncts(condition) if part != Literal(True)]


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


def _facts_used(is_proven: Callable[[_Given], bool], facts: Facts, *conditions: Expression | None) -> str:
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
            if less != facts and not is_proven(_Given(less)):
                words.append(f"{column} is {what}")
    return f" ({', '.join(words)})" if words else ""
