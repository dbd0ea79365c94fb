"""How pattern variables are spelt: unquoted names fold to upper case, quoted ones keep theirs; in Flink all keep it.

In dialect duckdb names are case-insensitive whether quoted or not, so all spellings of a variable are one there; a
variable that PATTERN quotes is called as it is first quoted there, so that CLASSIFIER() shows it so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class NameRules:
    """Folding of variable names in one dialect."""

    quoted_fold: bool
    keeps_case: bool = False
    spellings: tuple[str, ...] = ()

    def fold(self, name: str, *, is_quoted: bool) -> str:
        """The canonical name."""
        if not self.quoted_fold:
            return name if is_quoted or self.keeps_case else name.upper()
        return next((known for known in self.spellings if known.upper() == name.upper()), name.upper())

    def spelling(self, names: Iterable[str]) -> NameRules:
        """The same rules where these names, if names fold, are spelt as they are here; the first spelling counts."""
        return replace(self, spellings=(*self.spellings, *names)) if self.quoted_fold else self


def name_rules(dialect: str) -> NameRules:
    """The rules of a dialect."""
    return NameRules(quoted_fold=dialect == "duckdb", keeps_case=dialect == "flink")


_PLAIN_NAME = re.compile(r"[A-Z_][A-Z0-9_]*\Z")


def quote_name(name: str) -> str:
    """A variable's name as it must be written to mean itself."""
    return name if _PLAIN_NAME.match(name) else '"' + name.replace('"', '""') + '"'
