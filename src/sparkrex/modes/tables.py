"""All languages and all modes. A new one is a folder and a line here.

Modules are named, not imported: a query loads what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparkrex.modes.protocol import Claiming, Language, Mode

LANGUAGES: dict[str, str] = {
    "MATCH_RECOGNIZE": "sparkrex.languages.match_recognize.language",
    "MATCH_EVENTS": "sparkrex.modes.events.language.language",
    "MATCH_TRENDS": "sparkrex.modes.trends.language.language",
}
"""By keyword, the module that has a language as `LANGUAGE`: `input KEYWORD (...)` in FROM."""

ELSEWHERE: dict[str, str] = {
    "SEQUENCE": "sparkrex.languages.sqlts.language",
    "CLUSTER BY": "sparkrex.languages.sqlts.language",
    **dict.fromkeys(
        ("MEASURES", "AFTER", "INITIAL", "SEEK", "PATTERN", "SUBSET", "DEFINE", "OVER"),
        "sparkrex.languages.windows.language",
    ),
}
"""The same for languages that stand elsewhere, by a word that may be a sign of them: see `modes.protocol.Claiming`."""

WITHOUT_TEXT: dict[str, str] = {
    "WORKLOAD": "sparkrex.modes.workload.language",
}
"""The same for languages that no statement is written in: the package makes their clauses of other texts."""

MODES: dict[str, str] = {
    "rows": "sparkrex.modes.rows.mode",
    "windows": "sparkrex.modes.windows.mode",
    "segments": "sparkrex.modes.segments.mode",
    "events": "sparkrex.modes.events.mode",
    "trends": "sparkrex.modes.trends.mode",
    "workload": "sparkrex.modes.workload.mode",
}
"""By the name that plans have in `mode`, the module that has a mode as `MODE`."""


def language_of(keyword: str) -> Language[Any]:
    """The language of a keyword, or of a word that is a sign of it."""
    found: Language[Any] = import_module({**LANGUAGES, **ELSEWHERE, **WITHOUT_TEXT}[keyword]).LANGUAGE
    return found


def claiming_language(sign: str) -> Claiming:
    """The language that a word is a sign of."""
    found: Claiming = import_module(ELSEWHERE[sign]).LANGUAGE
    return found


def mode_of(name: str) -> Mode[Any]:
    """The mode of a name."""
    found: Mode[Any] = import_module(MODES[name]).MODE
    return found
