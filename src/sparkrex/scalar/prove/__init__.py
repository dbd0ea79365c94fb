"""Proofs about conditions: whether one condition, where it holds or where it does not, decides another.

Conditions become formulas of two-valued literals (`truth`): which values are NULL, and how values are ordered
(`comparisons`, over the `points` of an order). `refute` looks for a contradiction in every branch of a formula, by the
closure of its inequalities (`inequalities`, with the laws of rounding in `monotone`); `prove` asks it the questions,
and `wording` writes the proof. Only contradictions are ever concluded from, so whatever is not understood is left out.
"""

from sparkrex.scalar.prove.facts import Facts, ValueKind
from sparkrex.scalar.prove.prove import prove, prove_from_failure
from sparkrex.scalar.prove.verdict import Answer, Verdict

__all__ = ["Answer", "Facts", "ValueKind", "Verdict", "prove", "prove_from_failure"]
