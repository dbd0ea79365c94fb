"""What can be proven of the elements of a pattern, as entries of theta and phi."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.modes.rows.ops.matrices import U, make_matrices
from sparkrex.scalar.expression import Call
from sparkrex.scalar.prove import Answer, Facts, Verdict, prove, prove_from_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sparkrex.modes.rows.ops.elements import Element
    from sparkrex.modes.rows.ops.matrices import Matrices
    from sparkrex.scalar.expression import Expression

_Question = tuple["Callable[..., Verdict]", "Expression | None", "Expression | None"]

MOST_QUESTIONS = 1_000
"""Of one pattern, each a millisecond or so: patterns of about thirty different conditions have as many."""


@dataclass(slots=True)
class Proofs:
    """Proofs from what is known of columns, None for no proofs at all; each question is asked once."""

    facts: Facts | None
    asked: dict[_Question, Verdict] = field(default_factory=dict)

    def exclude(self, star: Element, following: Element) -> Verdict | None:
        """The proof that no row of the first element can be one of the second; None if there is none."""
        verdict = self._ask(prove, star.known, following.known)
        return verdict if verdict.answer in (Answer.FALSE, Answer.UNSATISFIABLE) else None

    def matrices(self, elements: Sequence[Element]) -> Matrices:
        """theta and phi. What reads the match is in neither: it says nothing, and nothing implies it.

        phi knows more than the paper's where element j - 1 is a star: the row on which p_j failed is the one at which
        that star ended, so p_{j-1} failed on it as well. A star that was taken over without a test ended there too:
        `shifts` follows a diagonal past it only if the first row after it is known to fail it.
        """

        def after_success(j: int, k: int) -> int:
            answer = self._ask(prove, elements[j - 1].known, elements[k - 1].known).answer
            if answer in (Answer.FALSE, Answer.UNSATISFIABLE):
                return 0  # if p_j never holds, so does p_j with anything else
            return 1 if answer is Answer.TRUE and elements[k - 1].is_whole else U

        def after_failure(j: int, k: int) -> int:
            if not elements[j - 1].is_whole:
                return U
            failed = elements[j - 1].known
            if j > 1 and elements[j - 2].is_star and elements[j - 2].is_whole:
                failed = _either(elements[j - 2].known, failed)
            answer = self._ask(prove_from_failure, failed, elements[k - 1].known).answer
            if answer is Answer.FALSE:
                return 0
            holds = answer in (Answer.TRUE, Answer.UNSATISFIABLE)  # if p_j never fails, this is never used
            return 1 if holds and elements[k - 1].is_whole else U

        return make_matrices(len(elements), after_success, after_failure)

    def _ask(
        self, question: Callable[..., Verdict], premise: Expression | None, conclusion: Expression | None
    ) -> Verdict:
        if self.facts is None:
            return Verdict(Answer.UNKNOWN, "")
        key = (question, premise, conclusion)
        if key not in self.asked:
            if len(self.asked) >= MOST_QUESTIONS:
                return Verdict(Answer.UNKNOWN, "")
            self.asked[key] = question(premise, conclusion, self.facts)
        return self.asked[key]


def _either(one: Expression | None, other: Expression | None) -> Expression | None:
    """What is TRUE where one of two conditions is; None, which always holds, if one of them is that."""
    return None if one is None or other is None else Call("or", (one, other))
