"""The matches of a row pattern from one start row, best first.

`words` is the standard's definition read aloud: each pattern node turns a mapping into the mappings that it can extend
it to, in order of preferment. Alternation prefers the earlier option, a greedy quantifier one more iteration, a
reluctant one none more, a permutation the lexicographically first order of its items. A row is mapped to a variable
only if the variable's condition holds with that row tentatively mapped. The preferred match is the first word.

Words are lazy, and a mapping is not extended twice from the same place: two mappings with equal `future` keys have the
same extensions, so the later, less preferred one cannot succeed where the earlier failed. Without that, `((A+)+ B)`
would take exponential time; `Unpruned` leaves it out, for the test that shows that it changes no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import permutations
from typing import TYPE_CHECKING, Protocol, assert_never

from sparkrex.languages.match_recognize.row_pattern import (
    Alternation,
    Anchor,
    AnchorKind,
    Concatenation,
    Conjunction,
    Empty,
    Exclusion,
    Negation,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator


@dataclass(frozen=True, slots=True)
class Mapping:
    """The rows mapped so far, from the start row on: each one's variable, and whether it stands in an exclusion."""

    labels: tuple[str, ...] = ()
    excluded: tuple[bool, ...] = ()

    def extended(self, label: str) -> Mapping:
        """One more row."""
        return Mapping((*self.labels, label), (*self.excluded, False))

    def excluding_after(self, length: int) -> Mapping:
        """The same rows, all but the first `length` excluded."""
        return Mapping(self.labels, self.excluded[:length] + (True,) * (len(self.labels) - length))


class EmptyIterations(Enum):
    """What becomes of an iteration of a quantifier that maps no row, so that `()*` ends.

    The rules differ only where the body prefers to be empty although it could map a row: on rows that are A,
    `(A??)*` takes them all under FAIL and none under END. END is the rule of Perl, of Trino's program, and, as
    PostgreSQL's tests of row patterns read it, of ISO/IEC 19075-5 section 7.2.8.
    """

    FAIL = "beyond the minimum it is no iteration; within, it is one like any other"
    END = "once the minimum is reached it is the last iteration"


EMPTY_ITERATIONS = EmptyIterations.END


class Future(Protocol):
    """A key of a mapping; equal keys promise equal extensions."""

    def __call__(self, mapping: Mapping) -> Hashable: ...


def future_of_labels(mapping: Mapping) -> Hashable:
    """Always right: conditions read the labels, and exclusion is no matter of conditions."""
    return mapping.labels


def future_of_length(mapping: Mapping) -> Hashable:
    """Right if no condition reads how earlier rows are mapped."""
    return len(mapping.labels)


class Unpruned:
    """No two mappings are alike: every path is walked."""

    def __call__(self, mapping: Mapping) -> Hashable:
        return object()


class LacksRow(Exception):  # noqa: N818  # no error: an answer
    """All rows of a window are mapped to a beginning of the pattern that still lacks a row."""

    def __init__(self, mapping: Mapping) -> None:
        super().__init__()
        self.mapping = mapping


@dataclass(frozen=True, slots=True)
class Words:
    """The enumeration at one start row of a partition of `n_rows` rows.

    `holds(labels)` tells whether the last label's condition holds on the row it would be mapped to. With `window_end`
    no word is found: as soon as the rows up to there are mapped and the pattern needs another, `LacksRow` is raised,
    and since words are tried best first, with the preferred beginning. As more rows are needed, `$` never holds.
    """

    n_rows: int
    start: int
    holds: Callable[[tuple[str, ...]], bool]
    future: Future = future_of_labels
    empty_iterations: EmptyIterations = EMPTY_ITERATIONS
    window_end: int | None = None

    def of(self, pattern: RowPattern, mapping: Mapping) -> Iterator[Mapping]:
        """All mappings that the pattern can extend this one to, best first, each future once."""
        seen = set()
        for word in self._of(pattern, mapping):
            key = self.future(word)
            if key not in seen:
                seen.add(key)
                yield word

    def _of(self, pattern: RowPattern, mapping: Mapping) -> Iterator[Mapping]:
        match pattern:
            case Variable(name):
                if self.start + len(mapping.labels) == self.window_end:
                    raise LacksRow(mapping)
                if self.start + len(mapping.labels) < self.n_rows and self.holds((*mapping.labels, name)):
                    yield mapping.extended(name)
            case Concatenation(items):
                yield from self._in_order(items, mapping)
            case Alternation(options):
                for option in options:
                    yield from self.of(option, mapping)
            case Quantified():
                yield from self._repeated(pattern, mapping, 0, set())
            case Permutation(items):
                # The order is chosen first: a less preferred way of its first item comes before the next order.
                for order in permutations(items):
                    yield from self._in_order(order, mapping)
            case Exclusion(body):
                for word in self.of(body, mapping):
                    yield word.excluding_after(len(mapping.labels))
            case Anchor(kind):
                place = 0 if kind is AnchorKind.START else self.n_rows
                if kind is AnchorKind.END and self.window_end is not None:
                    return
                if self.start + len(mapping.labels) == place:
                    yield mapping
            case Empty():
                yield mapping
            case Conjunction() | Negation():
                raise ValueError("a segment pattern has no words")
            case _:
                assert_never(pattern)

    def _in_order(self, items: tuple[RowPattern, ...], mapping: Mapping) -> Iterator[Mapping]:
        if not items:
            yield mapping
            return
        for word in self.of(items[0], mapping):
            yield from self._in_order(items[1:], word)

    def _repeated(
        self, pattern: Quantified, mapping: Mapping, n_done: int, seen: set[Hashable]
    ) -> Iterator[Mapping]:
        # Without an upper bound, all counts from the minimum on allow the same.
        key = (self.future(mapping), n_done if pattern.maximum is not None else min(n_done, pattern.minimum))
        if key in seen:
            return
        seen.add(key)
        may_stop = n_done >= pattern.minimum
        if may_stop and not pattern.is_greedy:
            yield mapping
        if pattern.maximum is None or n_done < pattern.maximum:
            for word in self.of(pattern.body, mapping):
                is_empty = len(word.labels) == len(mapping.labels)
                if is_empty and self.empty_iterations is EmptyIterations.END and n_done + 1 >= pattern.minimum:
                    yield word
                elif not (is_empty and self.empty_iterations is EmptyIterations.FAIL and may_stop):
                    yield from self._repeated(pattern, word, n_done + 1, seen)
        if may_stop and pattern.is_greedy:
            yield mapping
