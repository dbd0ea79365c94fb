"""How pattern variables are spelt: unquoted names fold to upper case, quoted ones keep theirs.

In dialect duckdb names are case-insensitive whether quoted or not, so both fold there.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NameRules:
    """Folding of variable names in one dialect."""

    quoted_fold: bool

    def fold(self, name: str, *, is_quoted: bool) -> str:
        """The canonical name."""
        return name.upper() if not is_quoted or self.quoted_fold else name


def name_rules(dialect: str) -> NameRules:
    """The rules of a dialect."""
    return NameRules(quoted_fold=dialect == "duckdb")
