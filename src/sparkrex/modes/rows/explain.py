"""EXPLAIN of a row pattern: what was understood, which matcher was chosen, why, and why not the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, Literal
from sparkrex.tree_text import stages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.modes.rows.choose import Choice
    from sparkrex.modes.rows.matcher import Matcher
    from sparkrex.modes.rows.plan import MatchRecognize


@dataclass(frozen=True, slots=True)
class RowsExplained:
    """A row pattern and its matcher.

    Why the host evaluates the conditions of some variables; stages, if it was run; how timeouts are
    searched, if they are. `sharing` says which tasks of Spark's have the rows, None in memory; `regrouped` are
    aggregates that Spark computes behind its workers.
    """

    plan: MatchRecognize
    choice: Choice
    host_reasons: Mapping[str, str] = field(default_factory=dict)
    laps: Sequence[tuple[str, float, str]] = ()
    timeouts: str | None = None
    sharing: str | None = None
    regrouped: tuple[str, ...] = ()

    def lines(self, host: str) -> list[str]:
        """The text, as a tree."""
        found = _relation(self.plan, self.choice, host, self.host_reasons, self.timeouts, self.sharing)
        if self.regrouped:
            listed = ", ".join(self.regrouped)
            found.append(f"then Spark aggregates {listed} over what was gathered: one more shuffle")
        return found + stages(self.laps).lines() if self.laps else found


def _relation(
    plan: MatchRecognize, choice: Choice, host: str, host_reasons: Mapping[str, str], timeouts: str | None,
    sharing: str | None,
) -> list[str]:
    keys = ", ".join(key.name for key in plan.partition_by) or "none: one partition"
    order = ", ".join(f"{key.expression}{' desc' if key.is_descending else ''}" for key in plan.order_by)
    shown = "" if timeouts is None else " SHOW TIMEOUT MATCHES"
    lines = [
        f"MatchRecognize {plan.rows_per_match.value}{shown}, {plan.skip}",
        f"├─ partition by {keys}",
        *(f"├─ {line}" for line in plan.gap_lines()),
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
    lines += (f"├─ proof: {why}" for why in choice.problem.proofs)
    for measure in plan.measures:
        is_computed = isinstance(measure.expression, Call | Literal)
        where = "read from the match" + (", combined by the host" if is_computed else "")
        lines.append(f"├─ measure {measure.name} = {measure.expression} ({where})")
    if timeouts is not None:
        lines.append(f"├─ timeouts: {timeouts}")
    lines.append(f"└─ matcher {choice.matcher.name}: {choice.reason}")
    details = [*choice.matcher.describe(), sharing or _threads(choice.matcher)]
    details += [f"not {name}: {why}" for name, why in choice.refusals]
    lines += [f"   {'└─' if text is details[-1] else '├─'} {text}" for text in details]
    return lines


def _threads(matcher: Matcher) -> str:
    """Who searches the rows of one partition."""
    if matcher.cut is not None:
        return f"one partition by all threads: {matcher.cut}"
    return "one partition by all threads" if matcher.uncut is None else f"one partition by one thread: {matcher.uncut}"
