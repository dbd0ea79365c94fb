"""The clauses of an event query."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sparkrex.languages.events.clauses import Clauses
from sparkrex.languages.events.options import HEADS

if TYPE_CHECKING:
    from collections.abc import Sequence

_EQUIVALENCE = "events of one match that agree in a column are asked for in WHERE: strategy(...) {{ [{column}] }}"


class EventClauses(Clauses):
    """OUTPUT may be left out in front of NON-OVERLAPPING; RETURN goes on to the end."""

    query = "an event query"
    order = (*HEADS, "PATTERN", "WHERE", "WITHIN", "OUTPUT", "RETURN")
    before_names = ("TIME", "TIE BREAK", "TYPE")
    instead_of_timeouts = "what does not come is negated at the end: PATTERN SEQ(A a, ~(B b)) ... WITHIN 5 minutes"
    elsewhere: ClassVar = {
        "GROUP BY": _EQUIVALENCE,
        "PARTITION BY": _EQUIVALENCE,
        "ORDER BY": "events are always in order of their time; results are ordered outside",
        "SELECT": "an event query is PATTERN SEQ(Alert a, Exit b) WHERE ... RETURN ...; inside SQL it stands in "
        "FROM t MATCH_EVENTS (...)",
    }

    def head_at(self, words: Sequence[str], before: str) -> tuple[str, int] | None:
        """See `Clauses`."""
        if words == ["NON", "-", "OVERLAPPING"] and before != "OUTPUT":
            return "OUTPUT", 0
        if words[0] == "OUTPUT" and words[1] not in ("ALL", "NON"):
            return None
        return super().head_at(words, before)

    def ends_clause(self, head: str, clause: str) -> bool:
        """RETURN is the last clause: what looks like a head after it is a word of an expression."""
        return clause != "RETURN" or head == "OUTPUT"


CLAUSES = EventClauses()
