"""Deliberate faults of the runtime of workloads: each is one line that says something else while its context is open.

A line is changed where it stands, in the code of its function: kernels are long, and a copy of one with a mistake in it
would not follow them. Kernels run interpreted then, which streams of tests are short enough for; nothing is compiled
from a changed line, so that no cache keeps it.
"""

from __future__ import annotations
import __future__

import inspect
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from unittest import mock

from sparkrex.kernels.lazy import Kernel
from sparkrex.modes.workload import (
    arrays,
    counts,
    decide,
    formulas,
    joining,
    kept,
    live,
    normal_form,
    overflow,
    prepared,
    reach,
    runner,
    search,
    segment_search,
    segments,
    waiting,
)
from sparkrex.modes.workload.kernels import arenas, index, join, kleene, links, matches
from sparkrex.modes.workload.kernels import search as search_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FunctionType


@dataclass(frozen=True, slots=True)
class WorkloadFault:
    """What is done wrong, in words; the function, what stands in it, and what stands there instead.

    `is_of_runs`: it is shown by runs whose patterns and plans change, not by one plan. `example` is the example or run
    by hand that is tried first, if random ones seldom show it.
    """

    name: str
    function: Any
    right: str
    wrong: str
    example: str = ""
    is_of_runs: bool = False

    @contextmanager
    def inject(self) -> Iterator[None]:
        """Inside, the mistake is made."""
        function = _plain(self.function)
        code = function.__code__
        function.__code__ = changed_code(function, self.right, self.wrong)
        try:
            with interpreted():
                yield
        finally:
            function.__code__ = code


@contextmanager
def interpreted() -> Iterator[None]:
    """Inside, the kernels of workloads run as the Python that they are written in."""
    with (
        mock.patch.object(search, "run", search_kernel.run.interpreted),
        mock.patch.object(matches, "reject", matches.reject.interpreted),
        mock.patch.object(matches, "write_matches", matches.write_matches.interpreted),
    ):
        yield


def _plain(function: Any) -> FunctionType:
    """The function of a kernel, or the function itself."""
    found: Any = function.py_func if isinstance(function, Kernel) else function
    return cast("FunctionType", found)


def changed_code(function: FunctionType, right: str, wrong: str) -> CodeType:
    """The code of a function in which something else stands; there must be one such place."""
    source = textwrap.dedent(inspect.getsource(function))
    source = source[source.index("def ") :]  # without decorators
    assert source.count(right) == 1, f"{function.__qualname__} has {source.count(right)} times: {right}"
    flags = __future__.annotations.compiler_flag
    found: dict[str, FunctionType] = {}
    exec(compile(source.replace(right, wrong), function.__code__.co_filename, "exec", flags), {}, found)
    return found[function.__name__].__code__


JOIN_FAULTS = (
    WorkloadFault(
        "a partial match that fills the window is too long for a join", join.join, "own_low >= bound",
        "own_low > bound",
        example="three windows, one after the other",
    ),
    WorkloadFault(
        "what begins with the window is outside it", join.join, "pool[other_low + here] < bound",
        "pool[other_low + here] <= bound",
    ),
    WorkloadFault(
        "a root does not test its own window", search_kernel.copy_complete,
        "rows.gives[last] and pool[low + place] >= rows.window_first[window, last]", "rows.gives[last]",
    ),
    WorkloadFault(
        "tied events follow each other in a join", join.join, "else ordinal[own_low]", "else own_low",
        example="two are tied",
    ),
    WorkloadFault(
        "an event is before what is tied with it", links.holds,
        "return last < ordinal[row_read(right, right_reads and FIRST, cell_row, cell_first)]",
        "return last < row_read(right, right_reads and FIRST, cell_row, cell_first)",
        example="two of three are tied",
    ),
    WorkloadFault(
        "an array comes after what its last event comes after", links.holds, "right_reads and FIRST", "right_reads"
    ),
    WorkloadFault(
        "only the last event of an array may not be elsewhere", links._has_event, "cell = cell_before[cell]",
        "cell = -1",
        example="an array and one of its events",
    ),
    WorkloadFault(
        "only the last of the later events of an array is compared", links.holds,
        "if not compares(operator, pool[left_keys + rank[left_rank, cell_row[cell]]], other):\n"
        "                return False\n            cell = cell_before[cell]",
        "return compares(operator, pool[left_keys + rank[left_rank, cell_row[cell]]], other)",
        example="an array fails in the middle",
    ),
    WorkloadFault(
        "a join looks up the key of the other side", join.join, "(left_key if is_left else right_key) + new",
        "(right_key if is_left else left_key) + new",
    ),
    WorkloadFault(
        "what is in a bucket is equal", join.join, "(there >= end or pool[scanned + there] != least_key)",
        "there >= end",
    ),
    WorkloadFault(
        "less is less or equal", index.key_range, "low = own + 1", "low = own",
        example="the same value is not less",
    ),
    WorkloadFault("a comparison is not turned round", index.key_range, "operator = GREATER - operator", "pass"),
    WorkloadFault(
        "NULL equals NULL", index.key_range, "if own == NULL_KEY:", "if own == NULL_KEY and operator != EQUAL:",
        example="NULL on both sides",
    ),
    WorkloadFault(
        "an instance expires one event too early", index.pass_over, "pool[highs + head] < bound",
        "pool[highs + head] <= bound",
    ),
    WorkloadFault(
        "one instance is not put into the index", index.fill_index, "sides[node, side, N_IN] = end\n",
        "sides[node, side, N_IN] = end + 1\n",
        example="one value after the other",
    ),
    WorkloadFault(
        "what has moved is passed over as before", index.enter_side,
        "sides[node, side, HEAD] = sides[node, side, N_IN] = 0", "sides[node, side, N_IN] = 0",
        example="three windows, one after the other",
    ),
    WorkloadFault(
        "the second comparison of a join is lost", joining.join_lines, "in compared[1:]", "in compared[2:]",
        example="two comparisons of a pair",
    ),
    WorkloadFault(
        "an order that another could imply is not tested", joining._ordered, "if not tested.intersection(nearer):",
        "if not nearer:",
    ),
    WorkloadFault(
        "a comparison from right to left is read from left to right", joining._comparison_line,
        "else link_codes.GREATER - operator", "else operator",
        example="the greater one first",
    ),
    WorkloadFault(
        "the slots of a root are in the order of its node", prepared.Prepared._make_roots, "node, root.slots,",
        "node, tuple(sorted(root.slots)),",
    ),
)

EVENT_FAULTS = (
    WorkloadFault(
        "later events of an array meet the conditions of the first", arrays.SegmentArrays.kleene_rows,
        "self._truth(leaf.later, rows)", "self._truth(leaf.own, rows)",
    ),
    WorkloadFault(
        "a formula that is unknown holds", formulas.where_holds, "fill_null(False)", "fill_null(True)",
        example="NULL in a formula",
    ),
    WorkloadFault(
        "the variables of a formula are swapped", joining.join_lines, "slots if link.is_forward else slots[::-1]",
        "slots",
    ),
    WorkloadFault(
        "an array has tied events", kleene.extend, "pool[high + earlier] < ordinal[row]", "pool[high + earlier] < row",
        example="an array of tied events",
    ),
    WorkloadFault(
        "an array is continued behind the last one only", kleene.extend, "range(head, n_before)",
        "range(max(head, n_before - 1), n_before)",
        example="an array of three events",
    ),
    WorkloadFault(
        "an array begins with its last event", kleene.extend, "= row, first, pool[value + earlier]",
        "= row, row, pool[value + earlier]",
    ),
    WorkloadFault(
        "an array begins with any event", kleene.extend, "if flags & BEGINS and row >= bound:", "if row >= bound:"
    ),
    WorkloadFault(
        "a pattern stops with as many events as it may have", overflow.Overflow._find, "n_inside > self.max_kleene",
        "n_inside >= self.max_kleene",
        example="as many as an array may have",
    ),
    WorkloadFault(
        "arrays have one event less than they may", overflow.Overflow.first_rows, "rows[np.maximum(place, 0)]",
        "rows[np.maximum(place, 0)] + 1",
        example="as many as an array may have",
    ),
    WorkloadFault(
        "the match at which a pattern stops is given", decide.Decider._inside, "complete.high < stop[place]",
        "complete.high <= stop[place]",
        example="one too many ends a match",
    ),
    WorkloadFault(
        "a pattern that has stopped goes on with the next feed", counts.Counts.stop_rows, "-1, NEVER", "NEVER, NEVER",
        example="fewer again after one too many",
    ),
    WorkloadFault(
        "alternatives that are alike are given each", normal_form._normal_form,
        "in {way.variables: way for way in _ways(query.pattern, kleenes)}.values():",
        "in _ways(query.pattern, kleenes):",
        example="two options, neither taken",
    ),
)

ABSENCE_FAULTS = (
    WorkloadFault(
        "a leading NOT misses the first event of the window", decide._gap,
        "arrays.window_first[window, complete.high] - 1", "arrays.window_first[window, complete.high]",
        example="absent at the start of the window",
    ),
    WorkloadFault(
        "a leading NOT looks through the window of the first event", decide._gap,
        "arrays.window_first[window, complete.high] - 1", "arrays.window_first[window, complete.low] - 1",
        example="absent before the window of the last",
    ),
    WorkloadFault(
        "an event that is tied with its neighbours is between them", decide._gap,
        "return arrays.last_of_time[first], arrays.ordinal[last]", "return first, last",
    ),
    WorkloadFault(
        "a NOT looks behind the first event of an array", decide._gap, "rows(item, LAST)", "rows(item, FIRST)",
        example="absent inside an array",
    ),
    WorkloadFault(
        "a NOT looks until the last event of what follows", decide._gap, "last = np.min(", "last = np.max("
    ),
    WorkloadFault(
        "a NOT in AND ends with the first component", decide._gap, "first, last = complete.low, complete.high",
        "first, last = complete.low, rows(0, LAST)",
    ),
    WorkloadFault(
        "the event in front of a NOT rejects", matches.reject, "after[match] + 1", "after[match]"
    ),
    WorkloadFault(
        "one condition of a NOT is enough", matches.reject, "is_there = is_there and compares", "is_there = compares",
        example="absent by two comparisons",
    ),
    WorkloadFault(
        "a trailing NOT misses the last event of the window", waiting.settle, "[low[own]] + 1", "[low[own]]",
        example="absent at the end of the window",
    ),
    WorkloadFault(
        "a trailing NOT begins with tied events", waiting.settle, "search.arrays.last_of_time[high[own]]", "high[own]",
        example="absent, but tied with the last",
    ),
    WorkloadFault(
        "a match is decided while its window is open", waiting.settle, "low[own] < open_from[window, place[own]]",
        "low[own] <= open_from[window, place[own]]",
    ),
    WorkloadFault(
        "a match overtakes one that waits", runner.GroupRunner._numbered,
        "own.is_decided if at_once else own.given(frame.end)", "own.is_decided",
    ),
)

KEPT_FAULTS = (
    WorkloadFault(
        "what fills the window is thrown away", arenas.tidy, "pool[lows + place] >= bound",
        "pool[lows + place] > bound",
    ),
    WorkloadFault(
        "what ends in an earlier partition is thrown away", arenas.tidy, "bound = open_from[window, partition]",
        "bound = offsets[partition + 1]",
    ),
    WorkloadFault(
        "segments overlap too little", segments.cut_segments, "int(first[begin - 1])",
        "min(begin, int(first[begin]) + 1)",
    ),
    WorkloadFault(
        "segments overlap by the smallest window", segments.cut_segments, "max(sizes)", "min(sizes)",
        example="windows of two sizes over a cut",
    ),
    WorkloadFault(
        "a match is given by both segments that it lies in", segment_search._Part.__init__,
        "gives = is_new & (row >= segment.begin)", "gives = is_new",
    ),
    WorkloadFault(
        "a match is given by the next feed too", segment_search._Part.__init__,
        "gives = is_new & (row >= segment.begin)", "gives = row >= segment.begin",
    ),
    WorkloadFault(
        "arrays of several segments have the same cells", kept.Kept._with_cells_from,
        "instances[_VALUES:] += begin * ~_are_rows(instances)", "pass",
        example="arrays under way in three slots",
    ),
    WorkloadFault(
        "arrays of several slots have the same cells", kept.take_out, "np.where(is_row, begin, first_cell[place])",
        "np.where(is_row, begin, 0)",
    ),
    WorkloadFault(
        "matches that wait in two slots are one", kept._take_waiting,
        "(own[2, 1:] != own[2, :-1]) | (own_place[1:] != own_place[:-1])", "own[2, 1:] != own[2, :-1]",
        example="two slots wait",
    ),
    WorkloadFault("matches that wait are forgotten", kept._take_waiting, "if table is None:", "if True:"),
    WorkloadFault(
        "a partial match is kept only inside its window", kept.kept_of, "own.low >= open_from[window, partition]",
        "own.low > open_from[window, partition]",
    ),
    WorkloadFault(
        "matches are numbered by the last feed", counts.Counts.add, "[:] += np.bincount", "[:] = np.bincount"
    ),
    WorkloadFault(
        "longer matches come first", waiting.order_of, "np.lexsort((length, low, high))",
        "np.lexsort((-length, low, high))",
    ),
)

RUN_FAULTS = (
    WorkloadFault(
        "a new plan knows nothing of what was", live.LiveGroup._see_history, "if table is None:",
        "if True:", is_of_runs=True,
    ),
    WorkloadFault(
        "what is a window old is history no more", reach._in_windows, "is_past = distance > times.size",
        "is_past = distance >= times.size", is_of_runs=True,
        example="the end of a window after a new plan",
    ),
    WorkloadFault(
        "history is that of the smallest window", reach.still_needed, "query.window.size > widest",
        "query.window.size < widest", is_of_runs=True,
    ),
    WorkloadFault(
        "what the old plan has decided is decided again", live.LiveGroup._see_history, "replace(feed, opens=opens)",
        "replace(feed, opens=opens, horizon=None)", is_of_runs=True,
        example="another key lets time pass",
    ),
    WorkloadFault(
        "an added pattern has matches that begin with the event before", live.LiveGroup._own_matches,
        "> self.born[name]", ">= self.born[name]", is_of_runs=True,
    ),
    WorkloadFault(
        "an added pattern has matches that began long before", live.LiveGroup._own_matches,
        "> self.born[name]", "> 0", is_of_runs=True,
    ),
    WorkloadFault(
        "a pattern that comes again has the numbers of before", live.LiveGroup.change,
        "in self._n_matches.items() if name in stays}", "in self._n_matches.items() if name in self.born}",
        is_of_runs=True, example="a pattern comes again at once",
    ),
    WorkloadFault(
        "time does not pass where no event comes", live.LiveGroup._feed_of, "idle = idle[self._holds(idle)]",
        "idle = idle[:0]", is_of_runs=True,
        example="another key lets time pass",
    ),
    WorkloadFault(
        "no event comes at the time of the last", live.LiveGroup.feed, "else before(last)", "else last",
        is_of_runs=True, example="a chunk begins at the time of the last",
    ),
    WorkloadFault(
        "a run numbers matches by the last chunk", live.LiveGroup._own_matches, "counts[slots] += np.bincount",
        "counts[slots] = np.bincount", is_of_runs=True,
    ),
    WorkloadFault(
        "a pattern that has stopped goes on under a new plan", live.LiveGroup._begin,
        "in self._stopped.items()}", "in ()}", is_of_runs=True,
        example="a pattern stops before a new plan",
    ),
)

WORKLOAD_FAULTS = (*JOIN_FAULTS, *EVENT_FAULTS, *ABSENCE_FAULTS, *KEPT_FAULTS, *RUN_FAULTS)
