"""Deliberate faults of streams: each is one line that says something else while its context is open.

`shown_by` says what finds it: "streams" and "finality" with the mode of their random queries, or a test by hand.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.faults.workload_faults import changed_code

from sparkrex.matching import waking
from sparkrex.modes.events.nfab import waiting
from sparkrex.modes.events.nfab.windows import Times
from sparkrex.modes.events.runner import EventRunner
from sparkrex.modes.rows import ahead, deadlines, overtaking, silence, unread
from sparkrex.modes.rows.runner import RowRunner
from sparkrex.modes.segments.runner import SegmentRunner
from sparkrex.modes.trends.runner import TrendRunner
from sparkrex.modes.workload import kept, state
from sparkrex.modes.workload.combined import WorkloadRunner
from sparkrex.streams import order, silent
from sparkrex.streams.groups import Group
from sparkrex.streams.head import Head
from sparkrex.streams.operator import BucketOperator
from sparkrex.streams.silent import Silent

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class StreamFault:
    """What is done wrong, in words; the function, what stands in it, and what stands there instead."""

    name: str
    function: Any
    right: str
    wrong: str
    shown_by: str = "streams rows"

    @contextmanager
    def inject(self) -> Iterator[None]:
        """Inside, the mistake is made."""
        code = self.function.__code__
        self.function.__code__ = changed_code(self.function, self.right, self.wrong)
        try:
            yield
        finally:
            self.function.__code__ = code


TIME_FAULTS = (
    StreamFault(
        "a row at the watermark is in time", BucketOperator._late, "ints_of(column) <= previous",
        "ints_of(column) < previous",
    ),
    StreamFault(
        "a batch's own watermark makes its rows late", BucketOperator.advance, "unpack(blobs, task.schema), previous",
        "unpack(blobs, task.schema), now",
    ),
    StreamFault(
        "a row without a time is not late", BucketOperator._late, "np.asarray(column.is_null())",
        "np.zeros(len(column), np.bool_)",
    ),
    StreamFault(
        "a row at the watermark waits", BucketOperator._release, "times <= now", "times < now", "finality rows"
    ),
    StreamFault(
        "a watermark goes back", BucketOperator.advance, "now = previous  #", "now = now  #", "a watermark goes back"
    ),
    StreamFault(
        "rows that wait are forgotten when others come", BucketOperator._release,
        "pa.concat_tables([self._pending(store), rows])", "rows",
    ),
    StreamFault(
        "nothing is due when it is due", BucketOperator.advance, "head.next_due <= now", "head.next_due < now",
        "finality rows",
    ),
    StreamFault(
        "a slot is fed after it is due", BucketOperator._feed, "due <= (now or 0)", "due < (now or 0)",
        "finality rows",
    ),
    StreamFault(
        "rows that wait are not due", BucketOperator._release,
        "due = min(due, int(times[~is_released].min(initial=NEVER)))", "due = min(due, NEVER)", "finality rows",
    ),
    StreamFault(
        "only the last slot is due", BucketOperator._advance_slots, "open_slots.due.min(initial=NEVER)",
        "(open_slots.due.max(initial=0) or NEVER)", "slots are due",
    ),
    StreamFault(
        "idle slots begin anew", BucketOperator._feed, "np.zeros(len(idle), np.bool_)", "np.ones(len(idle), np.bool_)"
    ),
    StreamFault("the end does not close", BucketOperator.drain, "closes=True", "closes=False"),
    StreamFault(
        "what waits is not drained", BucketOperator.drain, "[self._pending(store), ",
        "[self._pending(store).slice(0, 0), ",
    ),
)

NUMBER_FAULTS = (
    StreamFault(
        "matches are numbered from 0 after a restart", BucketOperator._advance_slots,
        "first_number + head.n_numbered", "first_number", "streams events",
    ),
    StreamFault(
        "the end numbers matches from 0", BucketOperator.drain,
        "bucket * _NUMBERS_OF_A_BUCKET + head.n_numbered", "bucket * _NUMBERS_OF_A_BUCKET", "streams events",
    ),
    StreamFault(
        "tied rows are in the order of their arrival", order.ordered_partitions,
        "order = _settle_ties(rows, order, words)", "order = order", "ties",
    ),
    StreamFault(
        "keys with one hash are one partition", order.ordered_partitions, "for word in of_keys:",
        "for word in of_keys[:1]:", "streams keys",
    ),
    StreamFault(
        "the state of another query is taken", Head.read, 'whose["fingerprint"] != fingerprint',
        'whose["fingerprint"] is None', "another query",
    ),
    StreamFault(
        "another format is read", Head.read,
        '(whose["format"], whose["slots"]) != (FORMAT, FORMAT_VERSION)', 'whose["format"] is None', "another format",
    ),
)

SHARD_FAULTS = (
    StreamFault(
        "a generation is forgotten", Silent.take, "in tuple(self.head.generations)", "in self.head.generations[:1]",
        "streams keys",
    ),
    StreamFault(
        "a slot that is taken stays", Silent.take, "rests[shard] = group.where(~is_taken)", "rests[shard] = group",
        "streams keys",
    ),
    StreamFault(
        "a shard is read for some of its keys", silent._shards_with, "_are_among(asked, words)",
        "_are_among(asked, words[:1])", "streams keys",
    ),
    StreamFault(
        "what is left of a generation is not in its index", Silent._keep, "self._put_index(generation, left)", "pass",
        "silent parts",
    ),
    StreamFault(
        "the index of what is left lacks other shards", Silent._keep, "words[~np.isin(", "words[np.isin(",
        "silent parts",
    ),
    StreamFault(
        "generations that are merged are not read", Silent.add, "for one in merged for part",
        "for one in merged[:0] for part", "streams keys",
    ),
    StreamFault(
        "generations stay when they have been merged", Silent.add, "self._forget(one)", "pass", "streams keys",
    ),
    StreamFault(
        "generations are never merged", Silent.add, "turn % _MERGED == 0", "False", "shards",
    ),
    StreamFault(
        "an empty index stays", Silent._keep, "self.store.delete(_index_name(generation))", "pass", "silent parts",
    ),
    StreamFault(
        "a drain reads the first shard only", Silent._all_of, "in shards.tolist()", "in shards[:1].tolist()",
        "streams keys",
    ),
    StreamFault(
        "the open part stays when it is empty", BucketOperator._advance_slots, "store.delete(OPEN)", "pass",
        "streams keys",
    ),
    StreamFault(
        "every shard is read", silent._shards_with, "asked[_are_among(asked, words)]", "words", "shards",
    ),
    StreamFault(
        "slots of other keys are found", Group.find, "is_same &= code[order[1:]] == code[order[:-1]]",
        "is_same &= code[order[1:]] >= code[order[:-1]]",
        "streams keys",
    ),
    StreamFault(
        "no slot is forgotten", BucketOperator._advance_slots, "~runner.forgets(group.state, going_on)", "True",
        "forgotten"
    ),
)

WAKING_FAULTS = (
    StreamFault(
        "a slot is due by its last row", waking.first_wakes, "np.minimum.reduceat", "np.maximum.reduceat",
        "finality rows",
    ),
    StreamFault(
        "a moment is a tick late", waking.first_wakes, "+ min(moment.distance, NEVER)",
        "+ min(moment.distance, NEVER) + 1", "finality rows",
    ),
    StreamFault(
        "a sum is its column", deadlines.moment_behind, "constant + (length if", "constant + 0 * (length if",
        "time alone",
    ),
    StreamFault(
        "silence lasts a tick longer", silence.barred_variables, "moment.distance <= horizon",
        "moment.distance < horizon", "finality rows",
    ),
    StreamFault(
        "silence is measured from the first row", silence.barred_variables, "last = high[places] - 1",
        "last = low[places]",
    ),
    StreamFault(
        "a deadline lasts a tick longer", deadlines.find_deadlines, "min(last, _LARGEST - 1) + 1",
        "min(last, _LARGEST - 1)", "finality rows",
    ),
    StreamFault(
        "an event's window wakes a tick late", EventRunner.wakes, "Moment(time, size)", "Moment(time, size + 1)",
        "finality events",
    ),
    StreamFault(
        "an event's window lasts a tick longer", Times._passed, "(bound - self.values >= self.size)",
        "(bound - self.values > self.size)", "finality events",
    ),
    StreamFault(
        "a trend's window wakes a tick late", TrendRunner.wakes, '.to_numpy()) - 1', '.to_numpy())',
        "finality trends",
    ),
    StreamFault(
        "a segment's window wakes a tick late", SegmentRunner.wakes, "floor(reach.growth)", "floor(reach.growth) + 1",
        "finality segments",
    ),
)

FORGETTING_FAULTS = (
    StreamFault(
        "numbers of matches are forgotten", RowRunner.forgets,
        'forgotten &= numbers["number"] == _FRESH["number"]', "pass", "streams keys",
    ),
    StreamFault(
        "that a partition has begun is forgotten", RowRunner.forgets, 'forgotten &= numbers["begins"]', "pass",
        "streams keys",
    ),
    StreamFault(
        "positions in the partition are forgotten", SegmentRunner.forgets, 'forgotten &= numbers["position"] == 0',
        "pass", "streams keys",
    ),
    StreamFault(
        "windows begin to count anew", TrendRunner.forgets, 'forgotten &= state.numbers["n_seen"][slots] == 0',
        "pass", "streams trends",
    ),
    StreamFault(
        "a slot with tables is forgotten", waking.holds_nothing, "empty &= table.lengths(slots) == 0",
        "empty |= table.lengths(slots) == 0", "streams rows",
    ),
    StreamFault(
        "the last row of a key is held for ever", Times.first_tied, "high[has_rows[is_past]]",
        "high[has_rows[is_past]] - 1", "forgotten events",
    ),
)

WORKLOAD_FAULTS = (
    StreamFault(
        "a match that waits wakes a tick late", kept.waiting_until, "np.where(ends, sizes[clause], 0)",
        "np.where(ends, sizes[clause] + 1, 0)", "finality workloads",
    ),
    StreamFault(
        "what waits names a root of its plan", kept.put_waiting, "np.repeat(clauses[own.root], length)",
        "np.repeat(own.root, length)", "streams workloads",
    ),
    StreamFault(
        "matches are numbered by key", WorkloadRunner.decide, "_numbered(state, every)", "every", "streams workloads",
    ),
    StreamFault(
        "partial matches of another plan are taken up", WorkloadRunner._follow_plan, "if len(others):", "if False:",
        "changing workloads",
    ),
    StreamFault(
        "a new pattern sees what came before", WorkloadRunner._since_birth, "times > born", "times > 0 * born",
        "changing workloads",
    ),
    StreamFault(
        "patterns that stay begin anew", state.taken_over, "if name in stays}", "if name in stays and not name}",
        "changing workloads",
    ),
    StreamFault(
        "patterns keep the numbers that they had", state._renumber,
        "column = known[numpy_of(plain(rows.column(name)))]",
        "column = numpy_of(plain(rows.column(name)))", "changing workloads",
    ),
    StreamFault(
        "rows that wait are lost when patterns change", BucketOperator._with_these_members,
        "write_rows(refitted(rows, task.schema))", "write_rows(refitted(rows, task.schema).slice(0, 1))",
        "changing workloads",
    ),
)

OVERTAKING_FAULTS = (
    StreamFault(
        "no start overtakes", overtaking.Marks.of, "marks is None and feed.horizon is None", "marks is None",
        "a start overtakes",
    ),
    StreamFault(
        "starts overtake that are numbered", overtaking.may_overtake, " and not problem.reads_number", "",
        "numbers keep the order",
    ),
    StreamFault(
        "a start that overtook is searched again", overtaking.Marks.keep, "is_told = (", "is_told = False & (",
        "a start overtakes",
    ),
    StreamFault(
        "rows of matches that overtook are unmatched", overtaking.Marks.cover, "= True", "= False", "unmatched",
    ),
    StreamFault(
        "a row that NEXT reads is not waited for", unread.unread_matches, "found + target.shift", "found", "NEXT"
    ),
    StreamFault(
        "every NEXT reads behind the match", unread.unread_matches, "found + target.shift",
        "matches.end - 1 + target.shift", "NEXT",
    ),
    StreamFault(
        "segments are given again with every feed", SegmentRunner._decide,
        'numbers["position"] + end_stop - frame.begin', '0 * numbers["position"] + 1', "finality segments",
    ),
    StreamFault(
        "a bound that rows to come may change is settled", deadlines.ReadAt.is_settled,
        "not self.variables & to_come", "self.variables", "has to come, changed",
    ),
    StreamFault(
        "a bound that is not there yet stays away", deadlines.ReadAt.is_settled, "return False if self.is_first",
        "return True if self.is_first", "has to come, first",
    ),
    StreamFault(
        "variables beyond a fork have to come", ahead.ahead_in_program, "operator.and_", "operator.or_",
        "has to come, fork",
    ),
    StreamFault(
        "matches of a stream wait for each other", waiting.set_aside, "if not in_order:", "if False:", "absence",
    ),
    StreamFault("months have no length", deadlines.moment_behind, "constant, limit)", "constant)", "months"),
)

STREAM_FAULTS = (
    *TIME_FAULTS, *NUMBER_FAULTS, *SHARD_FAULTS, *WAKING_FAULTS, *FORGETTING_FAULTS, *OVERTAKING_FAULTS,
    *WORKLOAD_FAULTS,
)
