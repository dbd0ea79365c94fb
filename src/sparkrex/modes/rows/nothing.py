"""The `nothing` matcher: of a pattern that is proven to have no match, whatever the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.matching.matches import Matches
from sparkrex.modes.rows.matcher import Matcher

if TYPE_CHECKING:
    from sparkrex.columns.ordered import Columns
    from sparkrex.modes.rows.matcher import Partitions


class NothingMatcher(Matcher):
    """Looks at no row."""

    name = "nothing"
    takes_asked = True

    @property
    def refusal(self) -> str | None:
        """None: it is only asked where the proof is there."""
        return None

    @property
    def reason(self) -> str:
        """Why it is chosen."""
        return "the conditions contradict each other"

    @property
    def uncut(self) -> None:
        """Nothing is searched."""
        return

    def find(self, frame: Columns, partitions: Partitions) -> Matches:
        """No match starts at any row that is known."""
        partitions.start[:] = partitions.offsets[1:]
        if partitions.asked is not None:
            partitions.asked[:] = 0
        return Matches.none()

    def describe(self) -> list[str]:
        """Nothing to tell."""
        return []
