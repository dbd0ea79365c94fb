"""Blockers where conditions read the match: all viable prefixes, row by row, of many starts at once, within a bound.

Prefixes of one length are lines of arrays, those of one start together and in order of preference, so that a condition
is evaluated for all of them by one query. Prefixes that nobody can tell apart from here on are one: they stand at the
same place, and map the same rows to each variable whose rows a condition reads. The preferred one is kept.

What the bound leaves out is said: a start of which prefixes were dropped needs at most the rows that were found, and
has at least the blockers that were found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.modes.rows.why.blocked import Blocked
from sparkrex.modes.rows.why.places import NEVER
from sparkrex.reasons.conditions import missed_by, truth_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from sparkrex.modes.rows.why.case import Case
    from sparkrex.modes.rows.why.places import Ways

    OnBlocked: TypeAlias = Callable[["Level", NDArray[np.bool_]], None]

MOST_PREFIXES = 1_000
"""Of one start and length; the least preferred ones beyond are dropped."""
MOST_TESTS = 1_000_000
"""Of conditions, for all starts together."""
_COST_OF_A_LEVEL = 500
"""A query takes as long as so many tests."""
_STARTS_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False, slots=True)
class Level:
    """Prefixes of one length, each standing before a row at a place. `start` is a position, `labels` have variables."""

    start: NDArray[np.int64]
    place: NDArray[np.int64]
    labels: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.start)

    @property
    def row(self) -> NDArray[np.int64]:
        """The row that each stands before."""
        row: NDArray[np.int64] = self.start + self.labels.shape[1]
        return row

    def take(self, chosen: NDArray[Any]) -> Level:
        """Some of them."""
        return Level(self.start[chosen], self.place[chosen], self.labels[chosen])


def blocked_by_prefixes(case: Case, tried: NDArray[np.bool_], on_blocked: OnBlocked | None = None) -> Blocked:
    """What is known of every start that was tried. `on_blocked` is shown the prefixes of every length, and which block.

    Until the search is over a start's need may fall, and what was shown of it before then blocks nothing.
    """
    found = Blocked.empty(case.n_rows, len(case.variables))
    starts = np.flatnonzero(tried)
    n_left = MOST_TESTS
    for begin in range(0, len(starts), _STARTS_AT_ONCE):
        n_left = _Search(case, found, on_blocked).run(starts[begin : begin + _STARTS_AT_ONCE], n_left)
    return found


class _Search:
    def __init__(self, case: Case, found: Blocked, on_blocked: OnBlocked | None) -> None:
        self.case = case
        self.found = found
        self.on_blocked = on_blocked
        self.high = np.repeat(case.offsets[1:], np.diff(case.offsets))
        """By row, where its partition ends."""
        self.low = np.repeat(case.offsets[:-1], np.diff(case.offsets))
        places = case.places
        self.behind = _Following(list(places.ways))
        self.is_first = _Following([places.entry, places.first])

    def run(self, starts: NDArray[np.int64], n_left: int) -> int:
        """Look into these starts; what is left of the bound."""
        case, found = self.case, self.found
        n_variables = len(case.variables)
        self.of_start = np.full(case.n_rows, -1, np.int64)
        self.of_start[starts] = np.arange(len(starts))
        self.bits = np.zeros((len(starts), n_variables), np.bool_)
        self.close = np.full((len(starts), n_variables), np.nan)
        found.need[starts] = NEVER
        level = self._begin(starts)
        while len(level):
            cost = max(len(level), _COST_OF_A_LEVEL)
            if cost > n_left:
                found.is_exact[level.start] = False
                n_left = 0
                break
            n_left -= cost
            level = self._bounded(self._step(level))
        found.starts_of_variable[:] += self.bits.sum(axis=0)
        found.apart_of_variable[:] = np.fmin(found.apart_of_variable, np.fmin.reduce(self.close, axis=0))
        return n_left

    def _begin(self, starts: NDArray[np.int64]) -> Level:
        """The empty prefixes; what `^` bars is in the way of all starts but the first."""
        places = self.case.places
        is_first = starts == self.low[starts]
        line, place = self.is_first.expand(is_first.astype(np.int64))
        level = Level(starts[line], place, np.empty((len(line), 0), np.int16))
        if places.barred:
            others = starts[~is_first]
            barred = Level(
                np.repeat(others, len(places.barred)), np.tile(np.array(places.barred, np.int64), len(others)),
                np.empty((len(others) * len(places.barred), 0), np.int16),
            )
            self._note(barred, np.full(len(barred), np.nan), np.ones(len(barred), np.bool_))
        return level

    def _step(self, level: Level) -> Level:
        """Note what blocks before this row, and go on behind it."""
        case, places = self.case, self.case.places
        row = level.row
        inside = row < self.high[level.start]
        holds, missed = np.zeros(len(level), np.bool_), np.full(len(level), np.nan)
        variable = places.variable[level.place]
        at = np.flatnonzero(inside)
        holds[at] = case.row_holds[variable[at], row[at]]
        needs = places.needs[level.place]
        wanted = needs <= np.minimum(self.found.need[level.start], _least(level, needs))
        for number in np.unique(variable[at]).tolist():
            own = np.flatnonzero(inside & (variable == number))
            labels = np.hstack([level.labels[own], np.full((len(own), 1), number, np.int16)])
            context = case.contexts.get(number)
            if context is not None:
                reached = holds[own]
                evaluate = case.evaluate_at(level.start[own[reached]], labels[reached])
                if reached.any():
                    (truth,) = evaluate([context])
                    holds[own[reached]] = truth_of(truth)
            missing = own[~holds[own] & wanted[own]]
            if number in case.parts and len(missing):
                chosen = np.isin(own, missing)
                missed[missing] = missed_by(case.parts[number], case.evaluate_at(level.start[missing], labels[chosen]))
        is_last = row + 1 == self.high[level.start]
        went = np.flatnonzero(holds)
        line, place = self.behind.expand(level.place[went])
        ended = np.where(is_last[went], self.behind.ends_at_end[level.place[went]], self.behind.ends[level.place[went]])
        behind = Level(
            level.start[went][line], place,
            np.hstack([level.labels[went][line], variable[went][line].astype(np.int16)[:, None]]),
        )
        # What holds is in the way all the same if an anchor lets nothing pass that needs less.
        less = np.zeros(len(level), np.bool_)
        np.logical_or.at(less, went[line], places.needs[place] < needs[went][line])
        less[went] |= ended
        self._note(level, missed, ~less)
        self.found.need[level.start[went[ended]]] = 0
        return behind.take(self.found.need[behind.start] > 0)

    def _note(self, level: Level, missed: NDArray[np.float64], is_blocked: NDArray[np.bool_]) -> None:
        """Take the blockers before one row into account."""
        found, places = self.found, self.case.places
        needs = places.needs[level.place]
        least = np.full(self.case.n_rows, NEVER, np.int64)
        np.minimum.at(least, level.start, needs)
        fallen = np.unique(level.start[least[level.start] < found.need[level.start]])
        found.need[fallen] = least[fallen]
        found.count[fallen] = 0
        found.close[fallen], found.close_row[fallen], found.close_variable[fallen] = np.nan, -1, -1
        found.last_row[fallen], found.last_variable[fallen] = -1, -1
        self.bits[self.of_start[fallen]] = False
        self.close[self.of_start[fallen]] = np.nan
        chosen = is_blocked & (needs == found.need[level.start])
        if self.on_blocked is not None:
            self.on_blocked(level, chosen)
        variable = places.variable[level.place]
        # Once each row and variable, under the preferred prefix that it blocks.
        at = np.flatnonzero(chosen)
        _, first = np.unique(level.start[at] * len(self.case.variables) + variable[at], return_index=True)
        at = at[first]
        start, number, distance = level.start[at], variable[at], missed[at]
        np.add.at(found.count, start, 1)
        line = self.of_start[start]
        self.bits[line, number] = True
        self.close[line, number] = np.fmin(self.close[line, number], distance)
        is_first = np.ones(len(at), np.bool_)
        is_first[1:] = start[1:] != start[:-1]
        found.last_row[start[is_first]] = level.row[at[is_first]]
        found.last_variable[start[is_first]] = number[is_first]
        # The later row wins among equal distances, the variable that PATTERN names first in one row.
        order = np.lexsort((number, np.where(np.isnan(distance), np.inf, distance), start))
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = start[order[1:]] != start[order[:-1]]
        best = order[is_first]
        closer = ~np.isnan(distance[best]) & ~(found.close[start[best]] < distance[best])
        best = best[closer]
        found.close[start[best]] = distance[best]
        found.close_row[start[best]] = level.row[at[best]]
        found.close_variable[start[best]] = number[best]

    def _bounded(self, level: Level) -> Level:
        """Without prefixes that are as others, and without those beyond the bound."""
        if not len(level):
            return level
        read = self.case.read_variables
        if read is None:
            told = level.labels
        elif read:
            told = np.where(np.isin(level.labels, list(read)), level.labels, np.int16(-1))
        else:
            told = np.empty((len(level), 0), np.int16)
        lines = np.hstack([level.start[:, None], level.place[:, None], told.astype(np.int64)])
        _, kept = np.unique(lines, axis=0, return_index=True)
        level = level.take(np.sort(kept))
        is_begin = np.ones(len(level), np.bool_)
        is_begin[1:] = level.start[1:] != level.start[:-1]
        begin = np.flatnonzero(is_begin)
        rank = np.arange(len(level)) - np.repeat(begin, np.diff(np.append(begin, len(level))))
        too_many = rank >= MOST_PREFIXES
        if too_many.any():
            self.found.is_exact[level.start[too_many]] = False
            level = level.take(~too_many)
        return level


class _Following:
    """Ways as arrays: `places[offsets[number] : offsets[number + 1]]` come without a row, or the end does."""

    def __init__(self, ways: list[Ways]) -> None:
        self.offsets = np.cumsum([0, *(len(one.places) for one in ways)], dtype=np.int64)
        self.places = np.array([place for one in ways for place in one.places], np.int64)
        self.ends = np.array([one.accepts for one in ways], np.bool_)
        self.ends_at_end = np.array([one.accepts_at_end for one in ways], np.bool_)

    def expand(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each number its places, in order: which line of `numbers`, and the place."""
        begin = self.offsets[numbers]
        lengths = self.offsets[numbers + 1] - begin
        line = np.repeat(np.arange(len(numbers)), lengths)
        ends = np.cumsum(lengths)
        within = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
        return line, self.places[begin[line] + within]


def _least(level: Level, needs: NDArray[np.int64]) -> NDArray[np.int64]:
    """By prefix, the least need of its start's prefixes."""
    is_begin = np.ones(len(level), np.bool_)
    is_begin[1:] = level.start[1:] != level.start[:-1]
    begin = np.flatnonzero(is_begin)
    return np.repeat(np.minimum.reduceat(needs, begin), np.diff(np.append(begin, len(level))))
