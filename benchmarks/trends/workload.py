"""A trend query, once for the engine as text and once for the approaches it is compared with, as plain data.

Patterns are chains of components, of which any may be repeated: all that the paper's q1 to q4 need. Expressions are SQL
of one event with `{0}` where the engine's text has the event's name; the others have them computed by DuckDB.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

ANY, NEXT, CONTIGUOUS = "skip-till-any-match", "skip-till-next-match", "contiguous"
SEMANTICS = (ANY, NEXT, CONTIGUOUS)
SHORT = {ANY: "any", NEXT: "next", CONTIGUOUS: "contiguous"}
HowCounted: TypeAlias = Literal["exact", "log"]
SECOND = 1_000_000
"""In microseconds, as all times are."""


@dataclass(frozen=True, slots=True)
class Step:
    """A component of the pattern: `type` is the value of the type column, or any name if there is no such column."""

    type: str
    variable: str
    is_repeated: bool = False
    condition: str | None = None

    def __str__(self) -> str:
        return f"{self.type} {self.variable}{'+' if self.is_repeated else ''}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What holds between two adjacent events of a repeated component: `left < right`, or `left > right`."""

    variable: str
    left: str
    operator: str
    right: str

    def __str__(self) -> str:
        later = f"NEXT({self.variable})."
        return f"{self.left.format(self.variable + '.')} {self.operator} {self.right.format(later)}"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """SUM or AVG of an expression over the events of a variable."""

    function: str
    variable: str
    argument: str

    def __str__(self) -> str:
        return f"{self.function}({self.argument.format(self.variable + '.')})"


@dataclass(frozen=True, slots=True)
class Window:
    """WITHIN and SLIDE in seconds."""

    size: int
    slide: int


@dataclass(frozen=True, slots=True)
class Workload:
    """One query. `group_by` are the first of the attributes by which events are partitioned."""

    steps: tuple[Step, ...]
    semantics: str
    partition_by: tuple[str, ...] = ()
    group_by: tuple[str, ...] = ()
    comparison: Comparison | None = None
    aggregate: Aggregate | None = None
    window: Window | None = None
    time: str = "tstamp"
    type: str | None = None

    def under(self, semantics: str) -> Workload:
        """The same under other semantics."""
        return replace(self, semantics=semantics)

    def text(self) -> str:
        """The engine's query."""
        returned = [*self.group_by, "COUNT(*) AS n", *([f"{self.aggregate} AS value"] if self.aggregate else [])]
        conditions = [f"[{', '.join(self.partition_by)}]"] if self.partition_by else []
        conditions += [step.condition.format(step.variable + ".") for step in self.steps if step.condition]
        conditions += [str(self.comparison)] if self.comparison else []
        chain = ", ".join(map(str, self.steps))
        lines = [
            f"RETURN {', '.join(returned)}", f"PATTERN {f'SEQ({chain})' if len(self.steps) > 1 else chain}",
            f"SEMANTICS {self.semantics}",
        ]
        if conditions:
            lines.append(f"WHERE {' AND '.join(conditions)}")
        if self.group_by:
            lines.append(f"GROUP-BY {', '.join(self.group_by)}")
        if self.window is not None:
            lines.append(f"WITHIN {self.window.size} seconds SLIDE {self.window.slide} seconds")
        return "\n".join(lines)

    def read_columns(self) -> list[str]:
        """Names of columns that keys, times and types are read from."""
        found = [*self.partition_by, *self.group_by, self.time, *([self.type] if self.type else [])]
        return list(dict.fromkeys(found))
