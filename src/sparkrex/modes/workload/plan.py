"""A workload after analysis: event queries over one stream, with the same partitions and the same order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sparkrex.errors import AnalysisError, nearest
from sparkrex.modes.events.plan import MATCH_ID, VARIABLE
from sparkrex.modes.plan import Plan, columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.workload.planner.tree import Tree
    from sparkrex.scalar.expression import Expression

PATTERN = "pattern"
"""The column of the result that has a pattern's name; the others are those of an event query."""
STOP, ERROR = "stop", "error"
"""What to do with a pattern that has too many events under a Kleene."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """How the shared plan is found: the method by name, its seed, and how long it may search.

    `max_kleene` is how many events of a Kleene's type a window may have, `on_overflow` what happens above it.
    """

    method: str = "sa-edge"
    seed: int = 0
    max_steps: int | None = 20_000
    seconds: float | None = None
    max_kleene: int = 20
    on_overflow: str = STOP


def check_method(method: object) -> None:
    """Fail unless a plan can be found by a method of that name."""
    from sparkrex.modes.workload.planner.optimizer import METHODS

    if method not in METHODS:
        hint = nearest(str(method), METHODS) or f"one of {', '.join(METHODS)}"
        raise AnalysisError("REX217", f"unknown method {method!r}", None, None, hint=hint)


def make_options(
    method: object, seed: object, max_steps: object, seconds: object, max_kleene: object, on_overflow: object
) -> PlanOptions:
    """Options as a call gives them, checked."""
    check_method(method)
    if on_overflow not in (STOP, ERROR):
        raise AnalysisError("REX217", f"unknown on_overflow {on_overflow!r}", None, None, hint=f"{STOP} or {ERROR}")
    if not _is_count(seed):
        raise AnalysisError("REX217", f"seed is {seed!r}, not a whole number", None, None)
    if not _is_count(max_kleene) or not max_kleene:
        raise AnalysisError("REX217", f"max_kleene is {max_kleene!r}, not a whole number above 0", None, None)
    if max_steps is not None and not _is_count(max_steps):
        raise AnalysisError("REX217", f"max_steps is {max_steps!r}, not a number of steps", None, None)
    is_time = seconds is None or (isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds >= 0)
    if not is_time:
        raise AnalysisError("REX217", f"seconds is {seconds!r}, not a number of seconds", None, None)
    if max_steps is None and seconds is None:
        raise AnalysisError(
            "REX217", "a search without max_steps and without seconds has no end", None, None, hint="give one of them"
        )
    return PlanOptions(method, seed, max_steps, seconds, max_kleene, on_overflow)  # type: ignore[arg-type]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A pattern of a workload. `own` is set in the plan of Spark's workers: why it is answered for itself."""

    name: str
    query: EventQuery
    own: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPlan(Plan):
    """Patterns that are answered together. `measures` is None: the events of matches are returned.

    `trees` are local plans, one for each clause of the patterns that share (`compiled`); None: they are found by the
    first rows.
    """

    mode: ClassVar[str] = "workload"
    keyword: ClassVar[str] = "rex.workload"
    returns_keys: ClassVar[bool] = False
    needs_order: ClassVar[bool] = True

    patterns: tuple[NamedQuery, ...]
    options: PlanOptions
    trees: tuple[Tree, ...] | None = None

    @property
    def queries(self) -> tuple[EventQuery, ...]:
        """The patterns without their names."""
        return tuple(pattern.query for pattern in self.patterns)

    def output_columns(self) -> tuple[str, ...]:
        """Pattern, match, variable, and the event's own columns."""
        return (PATTERN, MATCH_ID, VARIABLE, *self.input_columns)

    def tested(self) -> tuple[Expression, ...]:
        """What any of the patterns tests."""
        found: dict[Expression, None] = {}
        for query in self.queries:
            found.update(dict.fromkeys(query.tested()))
            found.update(dict.fromkeys(definition.condition for definition in query.types))
            found.update(dict.fromkeys(conjunct.expression for conjunct in query.conjuncts))
        return tuple(found)

    def passed_columns(self) -> tuple[str, ...]:
        """All of them: events are returned."""
        return self.input_columns

    def searched_columns(self) -> set[str]:
        """What any of the patterns reads, and what is returned."""
        read = columns_of(self.tested()) | set(self.input_columns)
        return read.union(*(query.searched_columns() for query in self.queries))

    def members(self) -> dict[str, Plan]:
        """The patterns."""
        return {pattern.name: pattern.query for pattern in self.patterns}

    def without_members(self) -> WorkloadPlan:
        """How the plan is found does not change any answer."""
        options = PlanOptions(max_kleene=self.options.max_kleene, on_overflow=self.options.on_overflow)
        return replace(self, patterns=(), options=options)

    def title(self) -> str:
        """The keys and some names."""
        keys = ", ".join(key.name for key in self.partition_by)
        few = ", ".join(pattern.name for pattern in self.patterns[:10])
        more = f" and {len(self.patterns) - 10} more" if len(self.patterns) > 10 else ""
        return f"the patterns {f'by {keys}' if keys else 'without an equivalence test'}: {few}{more}"

    def with_tie_break(self, names: Sequence[str]) -> WorkloadPlan:
        """Every pattern has these columns behind its order."""
        return self._changed(tuple(query.with_tie_break(names) for query in self.queries))

    def with_partition_gap(self, microseconds: int) -> WorkloadPlan:
        """Every pattern has the same partitions."""
        changed = self._changed(tuple(replace(query, partition_gap=microseconds) for query in self.queries))
        return replace(changed, partition_gap=microseconds)

    def ranked(self, rank: str) -> WorkloadPlan:
        """Every pattern has the rank in the place of its tie-break columns."""
        return self._changed(tuple(query.ranked(rank) for query in self.queries))

    def one_task_advice(self) -> str:
        """What to say of patterns that give all events to one task of Spark's."""
        few = ", ".join(pattern.name for pattern in self.patterns[:5])
        more = f" and {len(self.patterns) - 5} more" if len(self.patterns) > 5 else ""
        return (
            f"patterns without an equivalence test ({few}{more}): all events go through one task; "
            "add [attribute] to WHERE if possible"
        )

    def _changed(self, queries: tuple[EventQuery, ...]) -> WorkloadPlan:
        patterns = tuple(
            replace(pattern, query=query) for pattern, query in zip(self.patterns, queries, strict=True)
        )
        return replace(self, patterns=patterns, order_by=queries[0].order_by)
