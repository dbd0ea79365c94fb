"""The answer as text: the sum over all starts, then what stood in the way of one, with carets under the query."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from sparkrex.reasons.answer import Barrier, Status

if TYPE_CHECKING:
    from sparkrex.reasons.answer import Blocker, Compared, Share, Start, Why
    from sparkrex.source import Source


def told(why: Why) -> str:
    """The whole answer."""
    if why.parts:
        return "\n".join(_of_parts(why))
    lines = _head(why)
    lines += [f"  {_share(share, why)}" for share in why.shares]
    if why.n_blocked and not why.shares:
        lines.append("  an anchor, ^ or $, lets no row of any start pass")
    if why.n_blocked > 0 and sum(share.n_starts for share in why.shares) > why.n_blocked:
        lines.append("  (several variables may block one start, so shares may exceed 100% together)")
    if not why.is_exact:
        lines.append("  (the search was cut short: some starts may need fewer rows, and have more blockers)")
    for start in why.shown:
        lines += ["", *_start(start, why)]
    return "\n".join(lines)


def _of_parts(why: Why) -> list[str]:
    """A segment search: which parts of the pattern have segments, and which are the smallest that have none."""
    where = ", ".join(f"{name} = {value!r}" for name, value in why.key)
    found = "something" if why.n_matches else "nothing"
    lines = [
        f"Why ({why.pattern}) matched {found}" + (f" in {where}:" if where else ":"), f"  {_count(why.n_rows, 'row')}"
    ]
    for part in why.parts:
        if part.first is not None:
            lines.append(f"  {part.text} has segments, the first is {_rows(*part.first)}")
        elif part.is_missing:
            alone = "" if part.text.isidentifier() else ", and no smaller part lacks one"
            lines.append(f"  {part.text} has none{alone}")
            if part.span is not None:
                lines += [f"    {line}" for line in why.source.excerpt(part.span).split("\n")]
    return lines


def _head(why: Why) -> list[str]:
    where = ", ".join(f"{name} = {value!r}" for name, value in why.key)
    if not where and why.n_partitions != 1:
        where = f"{why.n_partitions:,} partitions"
    often = {0: "nothing", 1: "only once"}.get(why.n_matches, f"only {why.n_matches:,} times")
    return [
        f"Why ({why.pattern}) matched {often}" + (f" in {where}:" if where else ":"),
        f"  {_count(why.n_rows, 'row')}, {_count(why.n_matches, 'match', 'matches')}; "
        f"{_count(why.n_blocked, 'start')} without a match, {why.n_skipped:,} never tried",
    ]


def _share(share: Share, why: Why) -> str:
    percent = 100 * share.n_starts / why.n_blocked
    shown = f"{percent:.0f}%" if percent >= 1 else f"{percent:.2g}%"
    text = f"{share.variable} blocked {shown} of the starts"
    return text if share.missed_by is None else f"{text}; the closest missed by {_number(share.missed_by)}"


def _start(start: Start, why: Why) -> list[str]:
    row = _row(start)
    match start.status:
        case Status.MATCH:
            return [f"{row} starts match {start.match}, {_of_match(start)}."]
        case Status.SKIPPED:
            return [f"{row} was never tried: match {start.match}, {_of_match(start)}, skipped it."]
        case Status.BLOCKED:
            return _blocked(start, row, why.source)
        case _:
            assert_never(start.status)


def _row(start: Start) -> str:
    return f"Row {start.row:,}" + (f" ({start.time[0]} = {_value(start.time[1])})" if start.time else "")


def _of_match(start: Start) -> str:
    assert start.match_rows is not None  # it has a match
    first, last = start.match_rows
    return f"which is empty at row {first}" if last < first else _rows(first, last)


def _blocked(start: Start, row: str, source: Source) -> list[str]:
    if start.need is None or start.n_blockers is None:
        return [f"{row} starts no match: an anchor, ^ or $, stands where it cannot hold."]
    least, most = ("", "") if start.is_exact else ("at least ", "at most ")
    lines = [
        f"{row} starts no match: {most}{_count(start.need, 'more row')} needed, "
        f"{least}{_count(start.n_blockers, 'blocker')}."
    ]
    if start.last is not None:
        is_one = start.closest is None or start.closest == start.last
        lines += _blocker(start.last, source, "last and closest" if is_one and start.closest is not None else "last")
        if not is_one and start.closest is not None:
            lines += _blocker(start.closest, source, "closest")
    return lines


def _blocker(blocker: Blocker, source: Source, which: str) -> list[str]:
    before = ", ".join(f"{name} is {_rows(first, last)}" for name, first, last in blocker.prefix)
    lines = [f"  {which}: " + (f"{before}; " if before else "") + _why(blocker)]
    shown = ""
    for part in blocker.compared:
        for line in _carets(part, source):
            text = f"    {line}"
            if line == shown:
                continue
            if not line.lstrip().startswith("^"):
                shown = line
            lines.append(text)
    return lines


def _why(blocker: Blocker) -> str:
    row, name = blocker.row, blocker.variable
    match blocker.barrier:
        case Barrier.CONDITION:
            missed = "" if blocker.missed_by is None else f", missed by {_number(blocker.missed_by)}"
            return f"row {row:,} is not {name}{missed}"
        case Barrier.WITHIN:
            return f"row {row:,} would be {name}, and is beyond WITHIN"
        case Barrier.END:
            return f"{name} would be row {row:,}, and the partition has {row - 1:,}"
        case Barrier.FIRST_ROW:
            return f"row {row:,} would be {name}, and ^ asks for the partition's first row"
        case Barrier.LAST_ROW:
            return f"row {row:,} would be {name}, and $ asks for the partition's last row"
        case _:
            assert_never(blocker.barrier)


def _carets(part: Compared, source: Source) -> list[str]:
    """The line of the query, and under each value's place the value."""
    result = "NULL" if part.result is None else str(part.result).lower()
    lines: list[str] = []
    places = [(value.span, _value(value.value)) for value in part.values if value.span is not None]
    if not places and part.span is not None:
        places = [(part.span, result)]
    for span, shown in places:
        text, caret = source.excerpt(span).split("\n")
        if text not in lines:
            lines.append(text)
        lines.append(f"{caret} {shown}")
    if not places:
        lines.append(f"{part.text} is {result}")
    return lines


def _value(value: object) -> str:
    if isinstance(value, float):
        return _number(value)
    if value is None:
        return "NULL"
    return repr(value) if isinstance(value, str) else str(value)


def _number(number: float) -> str:
    """A double to six digits."""
    return f"{number:.6g}"


def _rows(first: int, last: int) -> str:
    return f"row {first:,}" if first == last else f"rows {first:,} to {last:,}"


def _count(number: int, what: str, several: str = "") -> str:
    return f"{number:,} {what if number == 1 else several or what + 's'}"
