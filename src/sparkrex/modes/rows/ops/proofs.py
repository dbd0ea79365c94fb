"""What can be proven of the elements of a pattern, as entries of theta and phi."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.modes.rows.ops.matrices import U, make_matrices
from sparkrex.scalar.prove import Answer, Facts, Verdict, prove, prove_from_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sparkrex.modes.rows.ops.elements import Element
    from sparkrex.modes.rows.ops.matrices import Matrices
    from sparkrex.scalar.expression import Expression

_Question = tuple["Callable[..., Verdict]", "Expression | None", "Expression | None"]


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
        """theta and phi. What reads the match is in neither: it says nothing, and nothing implies it."""

        def after_success(j: int, k: int) -> int:
            answer = self._ask(prove, elements[j - 1].known, elements[k - 1].known).answer
            if answer in (Answer.FALSE, Answer.UNSATISFIABLE):
                return 0  # if p_j never holds, so does p_j with anything else
            return 1 if answer is Answer.TRUE and elements[k - 1].is_whole else U

        def after_failure(j: int, k: int) -> int:
            if not elements[j - 1].is_whole:
                return U
            answer = self._ask(prove_from_failure, elements[j - 1].known, elements[k - 1].known).answer
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
            self.asked[key] = question(premise, conclusion, self.facts)
        return self.asked[key]

