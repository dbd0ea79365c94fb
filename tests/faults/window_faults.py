"""Deliberate faults of row patterns in windows: each changes one line of the engine while its context is open.

A fault names a function, a text that stands in it once, and what stands there instead. The function is compiled again
from its changed source; a kernel then runs as plain Python.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

from sparkrex.modes.windows import automaton, edges, engine, forest, found, frames, functions, interpreted
from sparkrex.modes.windows.kernels import search

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class WindowFault:
    """What is done wrong, in words: in a function of `owner`, `new` stands for `old`.

    `through` is the kernel that calls a part of kernels: it has to run as plain Python, too. Queries without `needs`, a
    regular expression, cannot show the fault.
    """

    name: str
    owner: Any
    function: str
    old: str
    new: str
    needs: str = ""
    through: str = ""

    @contextmanager
    def inject(self) -> Iterator[None]:
        """Inside, the function has the fault, under whatever name modules know it."""
        current = inspect.getattr_static(self.owner, self.function)
        changed = self._changed(getattr(current, "py_func", current))
        changed.interpreted = changed  # as kernels have it
        with ExitStack() as stack:
            if inspect.isclass(self.owner):
                stack.enter_context(mock.patch.object(self.owner, self.function, changed))
            else:
                for module in _modules_that_know(self.function, current):
                    stack.enter_context(mock.patch.object(module, self.function, changed))
            if self.through:
                plain = getattr(self.owner, self.through).py_func
                stack.enter_context(mock.patch.object(self.owner, self.through, plain))
            yield

    def _changed(self, function: Any) -> Any:
        source = textwrap.dedent(inspect.getsource(function))
        if source.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.old!r} stands {source.count(self.old)} times in {self.function}")
        source = source.replace(self.old, self.new)
        names: dict[str, Any] = dict(function.__globals__)
        text = f"from __future__ import annotations\n{source[source.index('def ') :]}"
        exec(compile(text, f"<{self.name}>", "exec"), names)
        return names[self.function]


def _modules_that_know(name: str, function: Any) -> list[Any]:
    return [
        module for path, module in sorted(sys.modules.items())
        if path.startswith("sparkrex.modes.windows") and vars(module).get(name) is function
    ]


WINDOW_FAULTS = (
    # Where a match is searched.
    WindowFault(
        "SEEK stays at the current row", search, "search_frames",
        "if outcome != _NOT_FOUND or not is_seek:", "if True:", "SEEK",
    ),
    WindowFault(
        "INITIAL seeks", search, "search_frames",
        "if outcome != _NOT_FOUND or not is_seek:", "if outcome != _NOT_FOUND:",
    ),
    WindowFault(
        "SEEK uses what it knows of the first rows of another frame", search, "search_frames",
        "if not is_bounded and start >= row + edges.reach:", "if not is_bounded:", r"SEEK.*PREV|PREV.*SEEK",
    ),
    WindowFault(
        "what SEEK knows is used although conditions look before the frame", search, "search_frames",
        "if is_seek and not is_bounded and edges.reach == 0:", "if is_seek and not is_bounded:", "SEEK",
    ),
    WindowFault(
        "a match ends one row before the frame's end", search, "search_frames",
        "high = ends[row] + 1 if is_bounded else partition_end",
        "high = max(row + 1, ends[row]) if is_bounded else partition_end", "FOLLOWING",
    ),
    WindowFault(
        "a match may end behind the frame", search, "search_frames",
        "high = ends[row] + 1 if is_bounded else partition_end",
        "high = min(ends[row] + 2, partition_end) if is_bounded else partition_end",
    ),
    # Where the search goes on.
    WindowFault(
        "SEEK without a match skips the frame", search, "search_frames",
        "following = row + 1", "following = max(row + 1, start)", "SEEK",
    ),
    WindowFault(
        "SKIP TO NEXT ROW counts from the match", search, "search_frames",
        "            if outcome == _FOUND:\n",
        "            if outcome == _FOUND:\n                following = start + 1\n", "SEEK",
    ),
    # What conditions see.
    WindowFault(
        "PREV in DEFINE sees the partition", edges, "find_edges",
        "back = max([0, *(-shift for shift in shifts)])", "back = 0", "PREV",
    ),
    WindowFault(
        "NEXT in DEFINE sees the partition", edges, "find_edges",
        "ahead = max([0, *shifts]) if is_bounded else 0", "ahead = 0", "NEXT",
    ),
    WindowFault(
        "PREV is NULL one row too long", edges, "_seen", "target.shift < -back", "target.shift <= -back", "PREV",
    ),
    WindowFault(
        "NEXT is NULL one row too early", edges, "_seen", "target.shift > ahead", "target.shift >= ahead", "NEXT",
    ),
    WindowFault(
        "an edge of several rows is one of one row", search, "_put_edges",
        "for i in range(row, min(row + back, high)):", "for i in range(row, min(row + min(back, 1), high)):",
        r"PREV\([^()]*, 2\)", "search_frames",
    ),
    WindowFault(
        "a condition keeps what it was in an earlier frame", search, "_take_edges",
        "bitmaps[b, i] = saved[n_saved]\n            n_saved += 1\n        for", "n_saved += 1\n        for", "PREV",
        "search_frames",
    ),
    # Where frames end.
    WindowFault(
        "the frame's end is of another row", frames, "frame_ends",
        "ahead if arrangement.order is None else ahead[arrangement.order]", "ahead",
        r"r % 3 FOLLOWING|x, 2\)\) FOLLOWING",
    ),
    WindowFault(
        "a frame runs over the partition's end", frames, "frame_ends",
        "behind = np.repeat(offsets[1:], np.diff(offsets)) - 1", "behind = np.full(n_rows, n_rows - 1)", "PARTITION BY",
    ),
    WindowFault(
        "a negative end is 0", frames, "_numbers", "pc.min(values).as_py() < 0", "pc.min(values).as_py() < -9",
        "AND x FOLLOWING",
    ),
    # What a row gets.
    WindowFault(
        "rows of a match have its values", engine.WindowSearch, "_read",
        "match[arrangement.input_rows(found.row)] = np.arange(len(found.row))",
        "for n, row in enumerate(found.row): match[arrangement.input_rows(np.arange(row, max(row + 1, "
        "found.matches.end[n])))] = n",
    ),
    WindowFault(
        "values go to rows by their order", engine.WindowSearch, "_read",
        "match[arrangement.input_rows(found.row)]", "match[found.row]",
    ),
    WindowFault(
        "a count of an unmatched row is NULL", engine.WindowSearch, "_read",
        "np.where(match < 0, none, match)", "match", "count",
    ),
    WindowFault(
        "PREV in MEASURES does not see rows between the current one and the match", engine.WindowSearch, "_read",
        "table, arrangement, found, ends,", "table, arrangement, replace(found, row=found.matches.start), ends,",
        "SEEK.*PREV|PREV.*SEEK",
    ),
    WindowFault(
        "PREV in MEASURES sees the partition", engine.WindowSearch, "_read", "table, arrangement, found, ends,",
        "table, arrangement, replace(found, row=arrangement.offsets[np.searchsorted(arrangement.offsets, found.row, "
        "side='right') - 1]), ends,", "PREV",
    ),
    WindowFault(
        "NEXT in MEASURES sees the partition", engine.WindowSearch, "_read",
        "table, arrangement, found, ends,", "table, arrangement, found, None,", "NEXT",
    ),
    # Functions that read a row of the match.
    WindowFault(
        "nth_value reads behind the match", functions, "row_of",
        "np.where((positions >= start) & (positions < end), positions, -1)",
        "np.where((positions >= start) & (positions < end.max(initial=0)), positions, -1)", "nth_value",
    ),
    WindowFault(
        "IGNORE NULLS is ignored", functions, "row_of",
        "if value.ignores_nulls and column.null_count:", "if False:", "IGNORE NULLS",
    ),
    WindowFault(
        "nth_value IGNORE NULLS counts from the partition", functions, "row_of",
        "before[start] + value.offset", "value.offset", "nth_value.*IGNORE",
    ),
    # The search by an automaton.
    WindowFault(
        "a walk takes rows for those of any frame", automaton, "walk_frames",
        "states[min(end - row, width), end]", "states[width, end]", "PREV",
    ),
    WindowFault(
        "a start is looked up among those of any frame", automaton, "walk_frames",
        "if start >= row + width and start < high:", "if start < high:", "SEEK.*PREV|PREV.*SEEK",
    ),
    WindowFault(
        "a condition that looks two rows back sees the second", automaton.AutomatonSearch, "_bitmaps",
        "min(distance, edge.back)", "min(distance + 1, edge.back)", "PREV",
    ),
    # Matches as paths of a forest.
    WindowFault(
        "the first rows of frames are shared", automaton, "plant",
        "is_shared = at - row >= width", "is_shared = True", "PREV",
    ),
    WindowFault(
        "a path ends where it meets another", automaton, "plant",
        "nodes[n_nodes - 1, 2] = tail", "nodes[n_nodes - 1, 2] = -1", "TO NEXT ROW",
    ),
    WindowFault(
        "LAST with an offset counts one too few", forest, "find_nodes",
        "if n_members == offset:", "if n_members <= offset:", "LAST",
    ),
    WindowFault(
        "a minimum begins with 0", forest, "total_integers",
        "if n_values == 1 or value < least[node]:", "if value < least[node]:", "min",
    ),
    WindowFault(
        "no rows are those of the first path", found.Found, "with_none",
        "np.append(forest.heads, -1)", "np.append(forest.heads, 0 if len(forest.nodes) else -1)", "count|sum",
    ),
    # The search that supports everything.
    WindowFault(
        "the interpreter keeps what it remembers of another frame", interpreted._FrameSearch, "_try",
        "self.known.clear()", "pass",
    ),
)
"""Every fault is caught by the random windows of `tests.modes.windows.property`."""
