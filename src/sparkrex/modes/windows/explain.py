"""EXPLAIN of a window: its frame, what is called, which search was chosen and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.tree_text import stages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.windows.choose import Choice
    from sparkrex.modes.windows.plan import PatternWindow, WindowCall


@dataclass(frozen=True, slots=True)
class WindowExplained:
    """A window and its search; stages, if it was run."""

    plan: PatternWindow
    choice: Choice
    laps: Sequence[tuple[str, float, str]] = ()

    def lines(self, host: str) -> list[str]:
        """The text, as a tree."""
        plan, choice = self.plan, self.choice
        keys = ", ".join(key.name for key in plan.partition_by) or "none: one partition"
        order = ", ".join(f"{key.expression}{' desc' if key.is_descending else ''}" for key in plan.order_by)
        end = "UNBOUNDED FOLLOWING" if plan.frame_end is None else f"{plan.frame_end} FOLLOWING"
        lines = [
            f"Window {'SEEK' if plan.is_seek else 'INITIAL'}, {plan.search.skip}",
            f"├─ partition by {keys}",
            *(f"├─ {line}" for line in plan.gap_lines()),
            f"├─ order by {order or 'none: input order'}",
            f"├─ frame ROWS BETWEEN CURRENT ROW AND {end}",
            f"├─ pattern {plan.search.pattern}",
        ]
        for condition in choice.problem.conditions:
            parts = [] if condition.row is None else [f"rows {condition.row}"]
            parts += [] if condition.context is None else [f"match so far {condition.context}"]
            lines.append(f"├─ define {condition.variable}: {'; '.join(parts)}")
        lines += (f"├─ proof: {why}" for why in choice.problem.proofs)
        lines += (f"├─ call {self._call(call)}" for call in plan.calls)
        lines.append(f"└─ matcher {choice.search.name}: {choice.search.reason}")
        details = [*choice.search.describe(), *(f"not {name}: {why}" for name, why in choice.refusals)]
        lines += [f"   {'└─' if text is details[-1] else '├─'} {text}" for text in details]
        return lines + stages(self.laps).lines() if self.laps else lines

    def _call(self, call: WindowCall) -> str:
        plan = self.plan
        written = " ".join(plan.source.text[call.span.start : call.span.end].split())
        if call.measure is not None:
            return f"{written} = {plan.measures[call.measure].expression} (read from the match)"
        if call.value is not None:
            return f"{written} = {call.value} (a row of the match)"
        assert call.aggregate is not None  # one of the three
        return f"{written} = {plan.functions[call.aggregate].expression} (over the rows of the match)"
