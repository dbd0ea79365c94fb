"""A workload on the runner of shared plans: from texts to matches, however its rows are fed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sparkrex.columns.wrap import wrap
from sparkrex.modes.events.engine import arrange_events
from sparkrex.modes.events.pattern import positive_variables
from sparkrex.modes.events.taking_part import key_columns
from sparkrex.modes.workload.normal_form import normal_form
from sparkrex.modes.workload.planner.optimizer import optimize
from sparkrex.modes.workload.planner.statistics import Statistics
from sparkrex.modes.workload.prepared import Prepared
from sparkrex.modes.workload.runner import GroupRunner
from sparkrex.modes.workload.symbols import Symbols
from sparkrex.settings import Settings

if TYPE_CHECKING:
    import random
    from collections.abc import Hashable, Iterable

    from tests.modes.workload.oracle import Match

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed
    from sparkrex.matching.state import State
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.workload.normal_form import PatternForm
    from sparkrex.modes.workload.planner.multitree import Multitree
    from sparkrex.modes.workload.runner import Decided

TYPES = {
    "k": pa.string(), "t": pa.int64(), "b": pa.int64(), "kind": pa.string(), "x": pa.int64(), "y": pa.float64(),
    "s": pa.string(),
}

Found = dict[str, list[list["Match"]]]
"""By pattern and partition, in the order of their numbers."""


class MisnumberedError(AssertionError):
    """A match of a pattern does not have the number after that of the one before it in its partition."""


@dataclass
class Shared:
    """Patterns that share a plan, and why others do not."""

    forms: tuple[PatternForm, ...]
    symbols: Symbols
    refusals: dict[str, str]

    def prepared(self, method: str, draw: random.Random) -> Prepared:
        """A plan by a method, for statistics that chance gives, made ready."""
        return Prepared(self.forms, self.symbols, self.multitree(method, draw))

    def multitree(self, method: str, draw: random.Random) -> Multitree:
        """A plan by a method, for statistics that chance gives."""
        clauses = [form.clause for pattern in self.forms for form in pattern.clauses]
        rates: dict[Hashable, float] = {number: draw.uniform(0.1, 2.0) for number in range(len(self.symbols.leaves))}
        selectivities: dict[Hashable, float] = {
            number: draw.uniform(0.05, 1.0) for number in range(len(self.symbols.conditions))
        }
        statistics = Statistics(rates, selectivities, span=10.0)
        return optimize(clauses, statistics, method, seed=draw.randrange(100), max_steps=30).multitree


def shared_forms(queries: dict[str, EventQuery]) -> Shared:
    symbols, forms, refusals = Symbols(), [], {}
    for name, query in queries.items():
        form = normal_form(name, query, symbols)
        if isinstance(form, str):
            refusals[name] = form
        elif form.clauses:
            forms.append(form)
    return Shared(tuple(forms), symbols, refusals)


def arranged(queries: list[EventQuery], rows: list[dict[str, Any]]) -> tuple[pa.Table, Arrangement]:
    """The rows that have a partition, with their numbers, and their order."""
    columns = {name: pa.array([row[name] for row in rows], kind) for name, kind in TYPES.items()}
    table = pa.table(columns | {"rex_number": pa.array(range(len(rows)), pa.int64())})
    for name in key_columns(queries[0]):
        table = table.filter(table.column(name).is_valid())
    return table, arrange_events(queries[0], table, Settings())


def collect(runner: GroupRunner, decided: Iterable[Decided]) -> Found:
    """The matches of several feeds, by the partition that their first row is in; their numbers must be in order."""
    found: Found = {}
    owner: dict[int, int] = {}
    numbers: dict[tuple[str, int], int] = {}
    for part in decided:
        for place, pattern in enumerate(runner.prepared.patterns):
            names = positive_variables(pattern.query.pattern)
            matches = part.matches[place]
            rows = part.frame.table.column("rex_number").take(wrap(part.frame.arrangement.input_rows(matches.rows)))
            rows = rows.to_pylist()
            labels = [names[label] for label in matches.labels.tolist()]
            keys = _keys(runner, part, matches.rows)
            cuts = pairwise(matches.offsets.tolist())
            for number, (begin, end) in zip(part.numbers[place].tolist(), cuts, strict=True):
                key = keys[begin]
                lists = found.setdefault(pattern.name, [])
                slot = owner.setdefault(key, len(owner))
                while len(lists) <= slot:
                    lists.append([])
                lists[slot].append((tuple(rows[begin:end]), tuple(labels[begin:end])))
                numbers[pattern.name, slot] = numbers.get((pattern.name, slot), 0) + 1
                if number != numbers[pattern.name, slot]:
                    raise MisnumberedError(f"{pattern.name}: {number} instead of {numbers[pattern.name, slot]}")
    return found


def _keys(runner: GroupRunner, part: Decided, rows: Any) -> list[Any]:
    names = key_columns(runner.queries[0])
    if not names:
        return [None] * len(rows)
    values = part.frame.table.column(names[0]).take(wrap(part.frame.arrangement.input_rows(rows)))
    return list(values.to_pylist())


def fed(runner: GroupRunner, feeds: Iterable[Feed], between: Any = None) -> Found:
    """What a runner finds in feeds. `between` gives the state that goes on."""
    state: State = runner.open()
    decided = []
    for feed in feeds:
        decided.append(runner.decide(state, feed))
        if between is not None:
            state = between(state)
    return collect(runner, decided)


def by_partition(query: EventQuery, rows: list[dict[str, Any]], matches: list[Match]) -> list[list[Match]]:
    """The matches of each partition, in their order."""
    keys = key_columns(query)
    found: dict[tuple[Any, ...], list[Match]] = {}
    for match in matches:
        found.setdefault(tuple(rows[match[0][0]][key] for key in keys), []).append(match)
    return list(found.values())


def nonempty(found: list[list[Match]]) -> list[list[Match]]:
    """Partitions with matches, by their first rows."""
    return sorted(matches for matches in found if matches)


def new_runner(
    prepared: Prepared, evaluator: Evaluator, *, threads: int = 1, max_kleene: int = 20, **bounds: Any
) -> GroupRunner:
    return GroupRunner(prepared, evaluator, Settings(threads=threads), max_kleene=max_kleene, **bounds)

