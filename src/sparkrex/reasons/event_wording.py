"""The answer about an event query as text: the sum over all starts, then the runs that came furthest from one."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from sparkrex.reasons.answer import Barrier, Status
from sparkrex.reasons.texts import compared_lines, count_text, number_text, share_text, value_text

if TYPE_CHECKING:
    from sparkrex.reasons.answer import Blocker, Start, Why
    from sparkrex.source import Source


def event_lines(why: Why) -> list[str]:
    """The whole answer."""
    where = ", ".join(f"{name} = {value!r}" for name, value in why.key)
    if not where and why.n_partitions != 1:
        where = f"{why.n_partitions:,} partitions"
    often = {0: "nothing", 1: "no more than once"}.get(why.n_matches, f"no more than {why.n_matches:,} times")
    overlapping = f", {why.n_skipped:,} with matches that overlap earlier ones" if why.n_skipped else ""
    lines = [
        f"Why {why.pattern} matched {often}" + (f" in {where}:" if where else ":"),
        f"  {count_text(why.n_rows, 'event')}, {count_text(why.n_matches, 'match', 'matches')}; "
        f"{count_text(why.n_blocked, 'start')} without a match{overlapping}",
    ]
    lines += [f"  {share_text(share, why)}" for share in why.shares]
    if why.n_blocked and sum(share.n_starts for share in why.shares) > why.n_blocked:
        lines.append("  (several variables may block one start, so shares may exceed 100% together)")
    if not why.n_blocked and not why.n_matches:
        lines.append("  no event has a type that the pattern begins with")
    if not why.is_exact:
        lines.append("  (the search was cut short: some starts may need fewer events, and have more blockers)")
    for start in why.shown:
        lines += ["", *_start(start, why)]
    return lines


def _start(start: Start, why: Why) -> list[str]:
    event = f"Event {start.row:,}" + (f" ({start.time[0]} = {value_text(start.time[1])})" if start.time else "")
    match start.status:
        case Status.MATCH:
            assert start.match_rows is not None  # it has a match
            _, last = start.match_rows
            return [f"{event} begins match {start.match}, which ends with event {last:,}."]
        case Status.SKIPPED:
            return [f"{event} begins matches, but each overlaps an earlier one: OUTPUT NON-OVERLAPPING."]
        case Status.NO_START:
            return [f"{event} begins nothing: it has none of the types that the pattern begins with."]
        case Status.BLOCKED:
            return _blocked(start, event, why.source)
        case _:
            assert_never(start.status)


def _blocked(start: Start, event: str, source: Source) -> list[str]:
    assert start.need is not None and start.n_blockers is not None  # it was looked into
    least, most = ("", "") if start.is_exact else ("at least ", "at most ")
    needed = f"{most}{count_text(start.need, 'more event')} needed" if start.need else "no more event needed"
    lines = [f"{event} begins no match: {needed}, {least}{count_text(start.n_blockers, 'blocker')}."]
    if start.last is not None:
        is_one = start.closest == start.last
        lines += _blocker(start.last, source, "last and closest" if is_one else "last")
        if not is_one and start.closest is not None:
            lines += _blocker(start.closest, source, "closest")
    return lines


def _blocker(blocker: Blocker, source: Source, which: str) -> list[str]:
    before = ", ".join(f"{name} is {_events(first, last)}" for name, first, last in blocker.prefix)
    return [f"  {which}: " + (f"{before}; " if before else "") + _reason(blocker), *compared_lines(blocker, source)]


def _reason(blocker: Blocker) -> str:
    row = f"event {blocker.row:,}"
    awaited = f"{blocker.event_type} {blocker.variable}"
    missed = "" if blocker.missed_by is None else f", missed by {number_text(blocker.missed_by)}"
    came = f"no {awaited} came"
    if blocker.n_refused:
        came = f"{count_text(blocker.n_refused, 'event')} of type {blocker.event_type} came, but no {blocker.variable},"
    match blocker.barrier:
        case Barrier.CONDITION:
            return f"{row} is not {awaited}{missed}"
        case Barrier.END:
            return f"{came} before the stream ended"
        case Barrier.EXPIRED:
            return f"expired: {came} before the window passed, {row} is beyond WITHIN"
        case Barrier.CONTIGUITY:
            return f"contiguity broken by {row}, which is not {awaited}{missed}"
        case Barrier.NEGATED:
            return f"complete, but rejected by {row}, which is {awaited}"
        case Barrier.ENDING:
            return f"complete, but what must hold of {blocker.variable} does not{missed}"
        case Barrier.WITHIN | Barrier.FIRST_ROW | Barrier.LAST_ROW:
            raise AssertionError("of row patterns")
        case _:
            assert_never(blocker.barrier)


def _events(first: int, last: int) -> str:
    return f"event {first:,}" if first == last else f"events {first:,} to {last:,}"
