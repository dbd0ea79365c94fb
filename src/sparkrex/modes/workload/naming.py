"""Which pattern an error is in. Patterns share expressions and one evaluator, but each has a text of its own."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from sparkrex.errors import RexError
from sparkrex.modes.workload.language import name_pattern
from sparkrex.scalar.expression import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.workload.plan import NamedQuery, WorkloadPlan
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Span


class NamingEvaluator:
    """The evaluator of a workload's expressions: an error says in which pattern the expression stands."""

    def __init__(self, evaluator: Evaluator, plan: WorkloadPlan) -> None:
        self._evaluator, self._plan = evaluator, plan

    def evaluate(
        self, expressions: Sequence[str], table: pa.Table, spans: Sequence[Span | None], *, reads_relation: bool = False
    ) -> list[pa.ChunkedArray]:
        """See `hosts.host.Evaluator`."""
        try:
            return self._evaluator.evaluate(expressions, table, spans, reads_relation=reads_relation)
        except RexError as error:
            if len(expressions) < 2:
                self._name(error, *spans)
                raise
            # One by one, to find the one that fails.
            for text, span in zip(expressions, spans, strict=True):
                self.evaluate([text], table, [span], reads_relation=reads_relation)
            raise

    def query(self, sql: str, table: pa.Table, span: Span | None) -> pa.Table:
        """See `hosts.host.Evaluator`."""
        try:
            return self._evaluator.query(sql, table, span)
        except RexError as error:
            self._name(error, span)
            raise

    def _name(self, error: RexError, span: Span | None) -> None:
        pattern = self._patterns.get(id(span))
        if pattern is not None:
            error.source, error.span = pattern.query.source, span
            name_pattern(error, pattern.name)

    @cached_property
    def _patterns(self) -> dict[int, NamedQuery]:
        """Patterns by the identity of the places of their expressions. Equal places are in many texts."""
        return {
            id(node.span): pattern for pattern in self._plan.patterns for expression in _expressions(pattern.query)
            for node in walk(expression) if node.span is not None
        }


@contextmanager
def inside(pattern: NamedQuery) -> Iterator[None]:
    """Inside, an error is of this pattern, whatever text it was thought to be in."""
    try:
        yield
    except RexError as error:
        error.source = pattern.query.source
        name_pattern(error, pattern.name)
        raise


def _expressions(query: EventQuery) -> Iterator[Expression]:
    yield from query.tested()
    yield from (definition.condition for definition in query.types)
    yield from (conjunct.expression for conjunct in query.conjuncts)
    yield from (measure.expression for measure in query.returned())
