"""A run of a workload: fed chunk by chunk, while patterns come and go."""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.inputs import is_spark, to_arrow
from sparkrex.columns.results import result_library
from sparkrex.columns.wrap import wrap
from sparkrex.errors import AnalysisError, ExecutionError, UnsupportedError, nearest
from sparkrex.matching.event_order import order_columns
from sparkrex.modes.workload.history import History
from sparkrex.modes.workload.live import ARRIVAL, LiveGroup
from sparkrex.modes.workload.plan import check_method
from sparkrex.pipeline import INPUT, open_relation
from sparkrex.workloads.detecting import Collected, empty_result, found_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from sparkrex.modes.workload.combined import Detected
    from sparkrex.modes.workload.language import PatternSource
    from sparkrex.modes.workload.live import Switch
    from sparkrex.workloads.found import Found
    from sparkrex.workloads.workload import Workload


class Run:
    """A workload over events that come chunk by chunk. `Workload.open` makes one.

    Every chunk has the same columns, and no event of it is before one of an earlier chunk. `switches` are the changes
    of plans so far. What fails, a feed too, leaves the run as it was before.

    >>> import pyarrow as pa, sparkrex as rex
    >>> run = rex.workload({"pair": "PATTERN SEQ(A a, B b) WITHIN 5"}, time="ts", type="kind").open()
    >>> run.feed(pa.table({"ts": [1], "kind": ["A"]})).num_rows
    0
    >>> run.feed(pa.table({"ts": [2], "kind": ["B"]})).to_pylist()[1]
    {'pattern': 'pair', 'match_id': 1, 'variable': 'b', 'ts': 2, 'kind': 'B'}
    >>> run.finish().num_rows
    0
    """

    def __init__(self, workload: Workload, *, adaptive: bool, drift: float) -> None:
        self.workload = workload
        self.patterns: dict[str, PatternSource] = dict(workload.patterns)
        self._adaptive, self._drift = adaptive, drift
        self._born = dict.fromkeys(self.patterns, 0)
        self._groups: dict[tuple[str, ...], LiveGroup] = {}
        self._hosts: dict[tuple[str, ...], AbstractContextManager[Any]] = {}
        self._schema: pa.Schema | None = None
        self._library = "pyarrow"
        self._history = History()
        self._n_events = 0
        self._last: pa.Scalar | None = None
        self._is_changed = True
        self._is_finished = False
        self._ended: list[Switch] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The patterns that are watched now."""
        return tuple(self.patterns)

    @property
    def switches(self) -> list[Switch]:
        """The changes of plans so far, with the reason of each."""
        return [*self._ended, *(switch for group in self._groups.values() for switch in group.switches)]

    @property
    def nbytes(self) -> int:
        """Bytes of all that is kept of events and matches under way."""
        return self._history.nbytes + sum(group.nbytes for group in self._groups.values())

    def add(self, name: str, text: str) -> None:
        """Watch one more pattern: it gives the matches that begin with the next chunk, or later."""
        self._check_open()
        if name in self.patterns:
            raise AnalysisError(
                "REX205", f"two patterns have the name {name}", None, None,
                hint=f"run.remove({name!r}) first, or give it another name",
            )
        pattern = self.workload.parse(name, text)
        if self._schema is not None:
            self._check_pattern(name, pattern)
        self.patterns[name] = pattern
        self._born[name] = self._n_events
        self._is_changed = True

    def remove(self, name: str) -> None:
        """Watch a pattern no more: it gives nothing from now on, not even what only waits for a window to end."""
        self._check_open()
        if not isinstance(name, str):
            raise TypeError(f"a pattern has a name, and {name!r} is a {type(name).__name__}")
        if name not in self.patterns:
            raise AnalysisError(
                "REX206", f"there is no pattern {name}", None, None,
                hint=nearest(name, self.patterns) or f"there are {', '.join(self.patterns) or 'none'}",
            )
        del self.patterns[name], self._born[name]
        self._is_changed = True

    def replan(self, method: str | None = None) -> None:
        """Find the plan anew by the events of the last window, and use it from the next chunk on."""
        self._check_open()
        if method is not None:
            check_method(method)
        with self.workload.reported(), self._all_or_nothing():
            for group in self._groups.values():
                group.replan(method)

    def feed(self, chunk: Any, /) -> Found:
        """The matches that the events of one more chunk decide."""
        self._check_open()
        if is_spark(chunk):
            raise UnsupportedError(
                "REX301", "a run takes tables in memory, not DataFrames of Spark's", None, None,
                hint="workload.detect(frame) runs on Spark",
            )
        with self._all_or_nothing():
            table = self._read(chunk)
            return self._feed(table)

    def _feed(self, table: pa.Table) -> Found:
        with self.workload.reported():
            self._follow_changes(table)
            groups = list(self._groups.values())
            found = self._found([(group, group.feed(table, self._last)) for group in groups])
            queries = [query for group in groups for query in group.plan.queries]
            self._history.add(table, queries, self.workload.settings)
            for group in groups:
                group.adapt()
            return found

    def finish(self) -> Found:
        """The matches that only the end decides. The run is over then."""
        self._check_open()
        with self.workload.reported(), self._all_or_nothing():
            self._follow_changes(None)
            empty = self._empty()
            found = self._found([(group, group.finish(empty)) for group in self._groups.values()])
        self.close()
        return found

    def close(self) -> None:
        """End the run without asking what the end would decide."""
        self._is_finished = True
        for host in self._hosts.values():
            host.__exit__(None, None, None)
        self._hosts.clear()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """What fails inside leaves the run as it was. Hosts that are needed no more close when it has not failed."""
        groups = list(self._groups.values())
        before = self.__dict__ | {"_groups": dict(self._groups), "_hosts": dict(self._hosts)}
        history = {
            name: copy(value) if isinstance(value, list) else value for name, value in vars(self._history).items()
        }
        for group in groups:
            group.mark()
        hosts = self._hosts
        try:
            yield
        except BaseException:
            _close(hosts, before["_hosts"])
            self.__dict__.update(before)
            self._history.__dict__.update(history)
            for group in groups:
                group.undo()
            raise
        _close(before["_hosts"], hosts)
        for group in groups:
            group.forget_mark()

    def _read(self, chunk: Any) -> pa.Table:
        source = to_arrow("", chunk)
        table = source if isinstance(source, pa.Table) else source.to_table()
        if self._schema is None:
            self._library = result_library([chunk])
            self._schema = table.schema
        if sorted(table.schema.names) == sorted(self._schema.names):
            table = table.select(self._schema.names)
        else:
            raise ExecutionError(
                "REX407", "the chunk has other columns than those before", None, None,
                hint=f"{', '.join(self._schema.names)}, not {', '.join(table.schema.names)}",
            )
        if not table.schema.equals(self._schema):
            try:
                table = table.cast(self._schema)
            except (pa.ArrowException, ValueError) as error:
                raise ExecutionError(
                    "REX407", f"the chunk's columns have other types than those before: {error}", None, None
                ) from error
        first, self._n_events = self._n_events + 1, self._n_events + table.num_rows
        return table.append_column(ARRIVAL, wrap(np.arange(first, self._n_events + 1)))

    def _follow_changes(self, table: pa.Table | None) -> None:
        """Give every group its patterns; groups whose last pattern went end."""
        if self._is_changed and self._schema is not None:
            queries = self.workload.groups(self.patterns) if self.patterns else {}
            for keys in [keys for keys in self._groups if keys not in queries]:
                self._ended = [*self._ended, *self._groups.pop(keys).switches]
                del self._hosts[keys]
            for keys, query in queries.items():
                host = open_relation(query, {INPUT: self._schema.empty_table()}, self.workload.settings)
                plan, _, evaluator = host.__enter__()
                self._hosts[keys] = host
                if keys in self._groups:
                    self._groups[keys].change(plan, evaluator, self._born)  # type: ignore[arg-type]
                else:
                    self._groups[keys] = LiveGroup(
                        plan, evaluator, self.workload.settings, self._born,  # type: ignore[arg-type]
                        history=self._history, is_adaptive=self._adaptive, drift=self._drift,
                        on_progress=self.workload.on_progress,
                    )
            self._is_changed = False
        if table is not None and table.num_rows:
            self._check_order(table)

    def _check_order(self, table: pa.Table) -> None:
        """No event may be before one that has been fed."""
        if not self._groups:
            return
        plan = next(iter(self._groups.values())).plan
        time = order_columns(plan)[0]
        bounds = pc.min_max(table.column(time))
        first, last = bounds["min"], bounds["max"]
        if self._last is not None and first.is_valid and pc.less(first, self._last).as_py():
            raise ExecutionError(
                "REX409", f"an event is before one that has been fed: {time} = {first.as_py()} after "
                f"{self._last.as_py()}", None, None, hint="feed chunks in the order of time",
            )
        if last.is_valid:
            self._last = last

    def _check_pattern(self, name: str, pattern: PatternSource) -> None:
        """Errors of an added pattern are those of `add`, not of the next feed."""
        from sparkrex.modes.workload.engine import check_workload

        assert self._schema is not None  # who asks has looked
        (query,) = self.workload.groups({name: pattern}).values()
        empty = self._schema.empty_table()
        with self.workload.reported(), open_relation(
            query, {INPUT: empty}, self.workload.settings
        ) as (plan, rows, evaluator):
            check_workload(plan, rows, evaluator, self.workload.settings)  # type: ignore[arg-type]

    def _found(self, decided: list[tuple[LiveGroup, Detected]]) -> Found:
        tables, returned, stops = [empty_result(self._schema or pa.schema([]))], {}, []
        for group, detected in decided:
            collected = Collected(group.plan, group.runner.evaluator)
            collected.add(detected)
            tables += collected.tables
            returned.update(collected.returned)
            stops += collected.stops
        return found_of(self.names, tables, returned, stops, self._library)

    def _empty(self) -> pa.Table:
        """A chunk without rows."""
        schema = pa.schema([]) if self._schema is None else self._schema
        return schema.append(pa.field(ARRIVAL, pa.int64())).empty_table()

    def _check_open(self) -> None:
        if self._is_finished:
            raise AnalysisError("REX217", "the run is finished", None, None, hint="workload.open() begins another")


def _close(
    hosts: Mapping[tuple[str, ...], AbstractContextManager[Any]],
    but: Mapping[tuple[str, ...], AbstractContextManager[Any]],
) -> None:
    """Close hosts, but not those that are also in another mapping."""
    for keys, host in hosts.items():
        if but.get(keys) is not host:
            host.__exit__(None, None, None)
