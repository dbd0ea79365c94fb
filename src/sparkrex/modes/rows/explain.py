"""EXPLAIN of a row pattern: what was understood, which matcher was chosen, why, and why not the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, Literal
from sparkrex.tree_text import stages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.modes.rows.choose import Choice
    from sparkrex.modes.rows.plan import MatchRecognize


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
    lines += (f"├─ proof: {why}" for why in choice.problem.proofs)
    for measure in plan.measures:
        is_computed = isinstance(measure.expression, Call | Literal)
        where = "read from the match" + (", combined by the host" if is_computed else "")
        lines.append(f"├─ measure {measure.name} = {measure.expression} ({where})")
    lines.append(f"└─ matcher {choice.matcher.name}: {choice.reason}")
    details = [*choice.matcher.describe(), *(f"not {name}: {why}" for name, why in choice.refusals)]
    lines += [f"   {'└─' if text is details[-1] else '├─'} {text}" for text in details]
    return lines
