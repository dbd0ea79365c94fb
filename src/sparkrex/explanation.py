"""EXPLAIN: what was understood, which matcher was chosen, why, and why not the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.ir.scalar import Call, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.ir.plan import MatchRecognize
    from sparkrex.planner.choose_matcher import Choice


@dataclass(frozen=True, slots=True)
class Explanation:
    """The plan as a tree. `str()` is the text."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def explain_plans(
    plans: Sequence[tuple[MatchRecognize, Choice, Mapping[str, str]]], host: str, host_sql: str, *, is_bare: bool,
    host_plan: str | None = None,
) -> Explanation:
    """The explanation of a statement. With each plan: why the host evaluates the conditions of some variables."""
    lines: list[str] = []
    if not is_bare:
        lines.append(f"Host {host}: " + " ".join(host_sql.split()))
    for number, (plan, choice, host_reasons) in enumerate(plans):
        if number:
            lines.append("")
        lines += _relation(plan, choice, host, host_reasons)
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
