"""A trend query made ready for columns of some types: what stays the same from feed to feed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError
from sparkrex.matching.event_order import order_columns
from sparkrex.modes.trends.automaton import make_automaton
from sparkrex.modes.trends.choose import ALGORITHMS, choose, refusals
from sparkrex.modes.trends.comparisons import Comparisons
from sparkrex.modes.trends.layout import make_layout
from sparkrex.modes.trends.symbols import Labels, make_machine
from sparkrex.modes.trends.windows import make_windows

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.trends.automaton import Automaton
    from sparkrex.modes.trends.kernels.machine import Machine
    from sparkrex.modes.trends.layout import Layout
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.modes.trends.windows import Windows
    from sparkrex.settings import Settings


@dataclass(frozen=True, eq=False)
class Prepared:
    """`sample` has the columns of the rows to come, and no rows."""

    query: TrendQuery
    sample: pa.Table
    evaluator: Evaluator
    settings: Settings
    threads: int = 1
    layout: Layout = field(init=False)
    _machine: tuple[tuple[int, ...], Machine] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", make_layout(self.query, self.sample, self.evaluator))

    @cached_property
    def labels(self) -> Labels:
        """Which variables events may be bound to."""
        return Labels(self.query, self.evaluator, self.threads)

    @cached_property
    def automaton(self) -> Automaton:
        """The patterns, and their negated parts."""
        return make_automaton(self.query)

    @cached_property
    def comparisons(self) -> Comparisons:
        """Of adjacent events."""
        return Comparisons.of(self.query)

    @cached_property
    def algorithm(self) -> str:
        """How trends are counted."""
        asked = self.settings.matcher
        if asked is None or asked not in ALGORITHMS:
            return choose(self.query, self.automaton, self.comparisons)
        reason = refusals(self.query, self.automaton, self.comparisons).get(asked)
        if reason is not None:
            raise AnalysisError(
                "REX217", f"the matcher {asked} cannot count these trends: {reason}", None, None,
                hint=f"leave it out; {choose(self.query, self.automaton, self.comparisons)} would be chosen",
            )
        return asked

    def machine(self, symbols: tuple[int, ...]) -> Machine:
        """The automaton as arrays over symbols, which are mostly the same in every feed."""
        if self._machine is None or self._machine[0] != symbols:
            made = make_machine(
                self.automaton, self.labels.variables, self.query.semantics, self.comparisons.numbers, symbols
            )
            object.__setattr__(self, "_machine", (symbols, made))
        assert self._machine is not None
        return self._machine[1]

    @property
    def time_type(self) -> pa.DataType:
        """The type of the time column."""
        return self.sample.column(order_columns(self.query)[0]).type

    @cached_property
    def windows(self) -> Windows | None:
        """The query's windows, None without WITHIN."""
        return make_windows(self.query, self.time_type)
