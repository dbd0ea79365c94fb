"""EXPLAIN: what was understood, which matcher was chosen, why, and why not the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sparkrex.modes.rows.choose import Choice
from sparkrex.modes.rows.plan import MatchRecognize
from sparkrex.modes.segments.plan import SegmentSearch
from sparkrex.scalar.expression import Call, Literal
from sparkrex.tree_text import stages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.modes.events.explain import EventsExplained
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.segments.engine import Rewritten


@dataclass(frozen=True, slots=True)
class Explanation:
    """The plan as a tree. `str()` is the text."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


class Explained(Protocol):
    """One relation of a statement, ready to be shown."""

    def lines(self, host: str) -> list[str]:
        """The text, as a tree. `host` is who evaluates SQL."""
        ...


@dataclass(frozen=True, slots=True)
class RowsExplained:
    """A row pattern and its matcher; why the host evaluates the conditions of some variables; stages, if it was run."""

    plan: MatchRecognize
    choice: Choice
    host_reasons: Mapping[str, str] = field(default_factory=dict)
    laps: Sequence[tuple[str, float, str]] = ()

    def lines(self, host: str) -> list[str]:
        """The text, as a tree."""
        found = _relation(self.plan, self.choice, host, self.host_reasons)
        return found + stages(self.laps).lines() if self.laps else found


def explained_for_workers(
    plan: MatchRecognize | SegmentSearch | EventQuery, how: Choice | Rewritten | EventsExplained
) -> Explained:
    """A relation that workers answer: matchers are chosen here, physical plans of segment searches there."""
    if isinstance(plan, MatchRecognize):
        assert isinstance(how, Choice)  # every row pattern has a matcher
        return RowsExplained(plan, how)
    from sparkrex.modes.events.explain import EventsExplained
    from sparkrex.modes.segments.explain import SearchExplained

    if isinstance(how, EventsExplained):
        return how
    assert isinstance(plan, SegmentSearch) and not isinstance(how, Choice)
    return SearchExplained(plan, how.steps, how.logical)


def explain_relations(
    relations: Sequence[Explained], host: str, host_sql: str, *, is_bare: bool, host_plan: str | None = None
) -> Explanation:
    """The explanation of a statement."""
    lines: list[str] = []
    if not is_bare:
        lines.append(f"Host {host}: " + " ".join(host_sql.split()))
    for number, relation in enumerate(relations):
        if number:
            lines.append("")
        lines += relation.lines(host)
    if host_plan is not None:
        lines += ["", host_plan.rstrip()]
    return Explanation("\n".join(lines))


def _relation(plan: MatchRecognize, choice: Choice, host: str, host_reasons: Mapping[str, str]) -> list[str]:
    keys = ", ".join(key.name for key in plan.partition_by) or "none: one partition"
    order = ", ".join(f"{key.expression}{' desc' if key.is_descending else ''}" for key in plan.order_by)
    lines = [
        f"MatchRecognize {plan.rows_per_match.value}, {plan.skip}",
        f"├─ partition by {keys}",
        f"├─ order by {order or 'none: input order'}",
        f"├─ pattern {plan.pattern}",
    ]
    for condition in choice.conditions:
        parts = []
        if condition.row is not None:
            parts.append(f"rows {condition.row}")
        if condition.context is not None:
            parts.append(f"match so far {condition.context}")
        if (why := host_reasons.get(condition.variable)) is not None:
            parts.append(f"evaluated by {host}: {why}")
        lines.append(f"├─ define {condition.variable}: {'; '.join(parts)}")
    for measure in plan.measures:
        is_computed = isinstance(measure.expression, Call | Literal)
        where = "read from the match" + (", combined by the host" if is_computed else "")
        lines.append(f"├─ measure {measure.name} = {measure.expression} ({where})")
    lines.append(f"└─ matcher {choice.matcher.name}: {choice.reason}")
    details = [*choice.matcher.describe(), *(f"not {name}: {why}" for name, why in choice.refusals)]
    lines += [f"   {'└─' if text is details[-1] else '├─'} {text}" for text in details]
    return lines
