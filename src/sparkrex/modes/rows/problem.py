"""What row pattern matchers are made from: the pattern as a program, and its conditions sorted by what decides them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.errors import ExecutionError
from sparkrex.evaluate.facts import facts_of
from sparkrex.languages.match_recognize import traverse
from sparkrex.modes.plan import SkipTo
from sparkrex.modes.rows.conditions import least_positions, measured_reach, reach, split_conditions
from sparkrex.modes.rows.kernels import backtrack as kernel
from sparkrex.modes.rows.program import Op, compile_pattern
from sparkrex.modes.rows.proven import Proven, apply_proofs
from sparkrex.scalar.expression import Call, MatchNumber, walk

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.modes.rows.program import Program
    from sparkrex.scalar.prove import Facts
    from sparkrex.scalar.split import Condition
    from sparkrex.settings import Settings
    from sparkrex.source import Span

SKIP_MODES = {
    SkipTo.PAST_LAST_ROW: kernel.PAST_LAST_ROW, SkipTo.NEXT_ROW: kernel.NEXT_ROW, SkipTo.FIRST: kernel.TO_FIRST,
    SkipTo.LAST: kernel.TO_LAST,
}
"""AFTER MATCH SKIP as kernels take it."""


@dataclass(frozen=True, eq=False, slots=True)
class Problem:
    """`sample` has the columns that conditions read, and no rows.

    `plan` is what proofs have left of the query's, and `proofs` says why; `is_impossible`: there is no match.
    A condition or a measure reads at most `reach_back` rows before a match's rows; conditions read at most `lookahead`
    rows behind the row that they are tested on.
    """

    plan: MatchRecognize
    program: Program
    conditions: tuple[Condition, ...]
    reach_back: int
    lookahead: int
    sample: pa.Table
    evaluator: Evaluator
    settings: Settings
    facts: Facts
    proofs: tuple[str, ...] = ()
    is_impossible: bool = False

    @staticmethod
    def of(
        plan: MatchRecognize, sample: pa.Table, evaluator: Evaluator, settings: Settings, facts: Facts | None = None
    ) -> Problem:
        """The problem of a plan over columns of the sample's types; `facts` are what is known of them beside."""
        if facts is None:
            facts = facts_of(sample.schema)
        proven = apply_proofs(plan, facts) if settings.proofs else Proven(plan)
        variables, plan = traverse.variables(plan.pattern), proven.plan
        program = compile_pattern(plan.pattern, plan.source, variables)
        least = least_positions(program)
        (before, behind), measured_before = reach(plan, least), measured_reach(plan, least)
        return Problem(
            plan, program, split_conditions(plan),
            max(before, measured_before), behind, sample, evaluator, settings, facts,
            proven.proofs, proven.is_impossible,
        )

    @property
    def reads_number(self) -> bool:
        """Whether the number of a match is asked for."""
        expressions = [*self.plan.tested(), *(measure.expression for measure in self.plan.measures)]
        return any(isinstance(node, MatchNumber) for expression in expressions for node in walk(expression))

    @property
    def tests_number(self) -> bool:
        """Whether a condition reads the number of the match."""
        return any(isinstance(node, MatchNumber) for expression in self.plan.tested() for node in walk(expression))

    @property
    def reads_begin(self) -> bool:
        """Whether it matters that a row is the first of its partition."""
        return bool((self.program.operation == Op.START).any())

    @property
    def skip_mode(self) -> int:
        """AFTER MATCH SKIP as kernels know it."""
        return SKIP_MODES[self.plan.skip.to]

    @property
    def skip_member(self) -> NDArray[np.bool_]:
        """By variable, whether AFTER MATCH SKIP may go to its rows."""
        skip = self.plan.skip
        return np.array([name in skip.variables for name in self.program.variables] or [False], np.bool_)

    def failure(self, status: int, row: int) -> ExecutionError:
        """The error of a search that could not go on, from the start row `row` of the frame."""
        error = self._error(status)
        error.row = row
        return error

    def _error(self, status: int) -> ExecutionError:
        plan, skip = self.plan, self.plan.skip
        match status:
            case kernel.SKIP_TO_FIRST_ROW:
                return ExecutionError(
                    "REX401", f"AFTER MATCH SKIP {skip.to.value} {skip.name} goes to the first row of the match",
                    plan.source, skip.span,
                    hint="the same match would be found for ever; skip to a later variable, or to the next row",
                )
            case kernel.SKIP_TO_ABSENT:
                return ExecutionError(
                    "REX402",
                    f"AFTER MATCH SKIP {skip.to.value} {skip.name}: no row of the match is mapped to {skip.name}",
                    plan.source, skip.span,
                    hint=f"make {skip.name} mandatory in the pattern, or skip past the last row",
                )
            case kernel.BUDGET:
                return ExecutionError(
                    "REX403", f"the search from one row took more than {self.settings.max_steps:,} steps", plan.source,
                    plan.span, hint="bound the quantifiers, add WITHIN, or raise the setting max_steps",
                )
            case kernel.OVERFLOW:
                return ExecutionError(
                    "REX405", "a number in DEFINE is out of the range of 64 bits", plan.source, plan.span,
                    hint="cast to double or to a wider decimal",
                )
            case _:
                return ExecutionError(
                    "REX404", "division by zero in DEFINE", plan.source, self._division(),
                    hint="guard it with CASE or NULLIF",
                )

    def _division(self) -> Span:
        """Where the first division in a context condition stands."""
        for condition in self.conditions:
            for node in () if condition.context is None else walk(condition.context):
                if isinstance(node, Call) and node.function in ("divide", "integer_divide", "modulo") and node.span:
                    return node.span
        return self.plan.span
