"""NON-OVERLAPPING: of the matches of a partition one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.modes.events.strategies import Candidate, Stream


def without_overlaps(stream: Stream, ranked: Sequence[Candidate]) -> Iterator[Candidate]:
    """The best-ranked match, then the best of those that start after its last event, and so on.

    With strict ties a match starts after an event only if it does so later in time.
    """
    last: int | None = None
    for match in ranked:
        start = match[0].row
        if last is None or (start > last and not _is_tied(stream, start, last)):
            last = match[-1].row
            yield match


def _is_tied(stream: Stream, one: int, other: int) -> bool:
    return stream.query.has_strict_ties and stream.is_tied(one, other)
