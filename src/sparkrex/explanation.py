"""EXPLAIN of a statement: its relations, each as its mode shows it, and what the host does around them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.protocol import Explained


WITH_MATCH_RECOGNIZE = "The same with MATCH_RECOGNIZE:"
"""The line before the statement in which that takes the place of another language; an empty line follows it."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The plan as a tree. `str()` is the text; a notebook draws it as it is.

    >>> import sparkrex as rex
    >>> plan = rex.explain("SELECT * FROM (VALUES (1)) AS t(x) MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS x < 2)")
    >>> "automaton" in str(plan), plan._repr_html_().startswith("<pre")
    (True, True)
    """

    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """What a notebook shows; IPython asks for it by this name."""
        return f'<pre style="font-family: monospace; line-height: 1.2; white-space: pre">{escape(self.text)}</pre>'


def explain_relations(
    relations: Sequence[Explained], host: str, host_sql: str, *, is_bare: bool, host_plan: str | None = None,
    rewritten: str | None = None,
) -> Explanation:
    """The explanation of a statement; `rewritten` is the same statement in another language, if it has one."""
    lines: list[str] = []
    if not is_bare:
        lines.append(f"Host {host}: " + " ".join(host_sql.split()))
    for number, relation in enumerate(relations):
        if number:
            lines.append("")
        lines += relation.lines(host)
    if rewritten is not None:
        lines += ["", WITH_MATCH_RECOGNIZE, rewritten]
    if host_plan is not None:
        lines += ["", host_plan.rstrip()]
    return Explanation("\n".join(lines))
