"""The clauses of a trend query."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sparkrex.languages.events.clauses import Clauses
from sparkrex.languages.events.options import HEADS

if TYPE_CHECKING:
    from collections.abc import Sequence

GROUP_BY = "GROUP-BY"
_GROUP_BY = (["GROUP", "-", "BY"], ["GROUP", "BY"], ["GROUP BY"])


class TrendClauses(Clauses):
    """GROUP-BY has three spellings."""

    query = "a trend query"
    order = (*HEADS, "ORIGIN", "COUNTS", "RETURN", "PATTERN", "SEMANTICS", "WHERE", GROUP_BY, "WITHIN", "SLIDE")
    before_names = ("TIME", "TIE BREAK", "TYPE", GROUP_BY)
    instead_of_timeouts = "it belongs to row patterns: MATCH_RECOGNIZE (... ONE ROW PER MATCH SHOW TIMEOUT MATCHES ...)"
    elsewhere: ClassVar = {
        "PARTITION BY": "GROUP-BY {column} gives a row for each; [{column}] in WHERE keeps trends apart without",
        "ORDER BY": "events are always in order of their time; results are ordered outside",
        "SELECT": "a trend query is RETURN ... PATTERN ... SEMANTICS ...; inside SQL it stands in "
        "FROM t MATCH_TRENDS (...)",
    }

    def head_at(self, words: Sequence[str], before: str) -> tuple[str, int] | None:
        """See `Clauses`."""
        for spelling in _GROUP_BY:
            if list(words[: len(spelling)]) == spelling:
                return GROUP_BY, len(spelling)
        return super().head_at(words, before)


CLAUSES = TrendClauses()
