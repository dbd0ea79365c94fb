"""One case to look into: the ordered rows, the places of the pattern and its conditions, as the user wrote them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.ordered import Columns
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.languages.match_recognize import traverse
from sparkrex.matching.matches import Matches
from sparkrex.matching.reading import MatchReader, Viewpoints
from sparkrex.modes.rows.conditions import split_conditions
from sparkrex.modes.rows.program import compile_pattern
from sparkrex.modes.rows.why.places import Places
from sparkrex.reasons.conditions import take_apart
from sparkrex.scalar.expression import Call, ColumnAt, End, walk
from sparkrex.scalar.split import conjuncts, context_level, mapped_variables

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.reasons.conditions import Evaluate, Part
    from sparkrex.scalar.expression import Expression
    from sparkrex.scalar.split import Condition
    from sparkrex.settings import Settings


@dataclass(frozen=True)
class Case:
    """`rows` has the rows in order, which `offsets` cuts into partitions.

    Nothing is proven away here: what stands in the way must be what the user wrote. `row_number` is, by row, the number
    that a match starting there would have.
    """

    plan: MatchRecognize
    rows: pa.Table
    offsets: NDArray[np.int64]
    row_number: NDArray[np.int64]
    evaluator: Evaluator
    settings: Settings

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.rows.num_rows)

    @cached_property
    def places(self) -> Places:
        """The places of the pattern."""
        names = traverse.variables(self.plan.pattern)
        return Places.of(compile_pattern(self.plan.pattern, self.plan.source, names))

    @property
    def variables(self) -> tuple[str, ...]:
        """The pattern's variables by number."""
        return self.places.variables

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of defined variables, cut into what rows decide and what the match does."""
        return split_conditions(self.plan)

    @cached_property
    def contexts(self) -> dict[int, Expression]:
        """By variable, what of its condition reads the match."""
        return {
            self.variables.index(one.variable): one.context for one in self.conditions
            if one.context is not None and one.variable in self.variables
        }

    @property
    def reads_mapping(self) -> bool:
        """Whether a condition reads more of the match than WITHIN does."""
        return any(context != self.window_of(variable) for variable, context in self.contexts.items())

    @cached_property
    def parts(self) -> dict[int, Part]:
        """By variable, its condition taken apart."""
        return {
            number: take_apart(condition) for number, name in enumerate(self.variables)
            if (condition := self.plan.definition(name)) is not None
        }

    @cached_property
    def row_holds(self) -> NDArray[np.bool_]:
        """By variable and row, whether what rows alone decide of the condition is TRUE."""
        columns = Columns(self.rows, self.offsets)
        numbers, bitmaps = evaluate_bitmaps(
            self.conditions, columns, self.evaluator, self.plan.source, self.settings.thread_count()
        )
        holds = np.ones((len(self.variables), self.n_rows), np.bool_)
        for number, name in enumerate(self.variables):
            if name in numbers:
                holds[number] = bitmaps[numbers[name]]
        return holds

    @cached_property
    def read_variables(self) -> frozenset[int] | None:
        """The variables whose rows some condition reads; None if one reads how any row is mapped."""
        found: set[str] = set()
        for context in self.contexts.values():
            if context_level(context) < 2:
                continue
            mapped = mapped_variables(context)
            if mapped is None:
                return None
            found |= mapped
        return frozenset(number for number, name in enumerate(self.variables) if name in found)

    def evaluate_at(self, starts: NDArray[np.int64], labels: NDArray[np.int16]) -> Evaluate:
        """What reads prefixes of one length as if they were matches, seen from their last rows.

        `starts` ascend; `labels` has a line of variables for each.
        """
        n_prefixes, length = labels.shape
        mapped = Matches(
            starts, starts + length, self.row_number[starts], (labels * 2).astype(np.int16).reshape(-1),
            np.arange(n_prefixes + 1) * length,
        )
        reader = MatchReader(
            self.rows, Arrangement(None, self.offsets, self.n_rows), mapped, self.variables, self.plan.dialect,
            self.evaluator, self.settings.thread_count(),
        )
        every = np.arange(n_prefixes)
        views = Viewpoints(every, every * length + length - 1, at_end=True, is_each=True)
        return lambda expressions: reader.evaluate(expressions, views, [one.span for one in expressions])

    def window_of(self, variable: int) -> Expression | None:
        """What WITHIN asks of a row, as a part of the variable's condition; None without WITHIN."""
        condition = self.plan.definition(self.variables[variable])
        parts = [] if condition is None else conjuncts(condition)
        return next((part for part in parts[-1:] if _is_window(part)), None)


def _is_window(part: Expression) -> bool:
    """Whether analysis made this of WITHIN: then the reference to the first row stands where the whole does."""
    return isinstance(part, Call) and part.function == "lt" and any(
        isinstance(node, ColumnAt) and node.target.end is End.FIRST and node.span == part.span for node in walk(part)
    )
