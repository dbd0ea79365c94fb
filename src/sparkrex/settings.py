"""Settings: one frozen value that travels with a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sparkrex.errors import AnalysisError, nearest
from sparkrex.threads import available_threads

MATCHERS = ("automaton", "backtrack", "interpreter", "nfab", "basic")
"""Of all modes; which of them a query has, its mode knows."""
PLANNERS = (
    "optimizer", "pr_left", "pr_right", "sm_left", "sm_right",
    "pr_left_pnot", "pr_right_pnot", "sm_left_pnot", "sm_right_pnot",
)
"""Both are here because settings are checked before any mode is loaded; a test compares them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set for a query. `docs/settings.md` has the table.

    Limits: `max_steps` of the search from one start row when a condition reads the match's context (others need no
    bound), and of an event query at one event; `max_segments` that a part of a segment pattern may have at a time;
    `max_open_rows` of one partition that are held back while a match is undecided; `max_state_memory` in bytes for all
    that is held back between two feeds; `max_event_memory` in bytes for the runs, buffer and matches of an event query.

    How: `matcher` names the algorithm; row patterns have `automaton`, `backtrack` and `interpreter`, event queries
    `nfab`, `basic` and `backtrack`; None means that the query decides. `planner` plans segment searches; None means
    `optimizer`, the others go by rules. `sample_series` is on how many series a segment search samples its conditions,
    `without_rules` names its rewrite rules that are turned off.
    `threads` are used in memory, one in a Spark worker; None means all cores. `chunk_rows`, if set, feeds the matcher
    that many rows at a time. On Spark, `sort_memory` is how many bytes a worker uses to order rows in memory; when its
    rows fill half of that, it sorts on disk.

    What: `tie_break` names columns that order rows whose order keys are equal, behind those that the query names.
    `time_zone` is the in-memory host's.
    """

    max_steps: int = 100_000_000
    chunk_rows: int | None = None
    max_open_rows: int = 100_000_000
    max_state_memory: int = 8 << 30
    time_zone: str = "UTC"
    matcher: str | None = None
    threads: int | None = None
    planner: str | None = None
    max_segments: int = 50_000_000
    sample_series: int = 5
    without_rules: tuple[str, ...] = ()
    max_event_memory: int = 1 << 30
    sort_memory: int = 192 << 20
    tie_break: tuple[str, ...] = ()

    def thread_count(self) -> int:
        """How many threads to use."""
        return self.threads or available_threads()


def make_settings(given: Settings | Mapping[str, Any] | None) -> Settings:
    """Settings from a mapping of names to values, or as given."""
    if given is None:
        return Settings()
    if isinstance(given, Settings):
        return given
    if not isinstance(given, Mapping):
        raise TypeError(f"settings= is a {type(given).__name__}, not settings or a mapping of names to values")
    known = [field.name for field in fields(Settings)]
    for name in given:
        if name not in known:
            hint = nearest(name, known) or f"one of {', '.join(known)}"
            raise AnalysisError("REX217", f"unknown setting {name!r}", None, None, hint=hint)
    settings = replace(Settings(), **given)
    settings = replace(
        settings, tie_break=_names(settings.tie_break), without_rules=_names(settings.without_rules)
    )
    for name in (
        "max_steps", "chunk_rows", "max_open_rows", "max_state_memory", "sort_memory", "threads", "max_segments",
        "sample_series", "max_event_memory",
    ):
        value = getattr(settings, name)
        if value is not None and (not isinstance(value, int) or value < 1):
            raise AnalysisError("REX217", f"setting {name} must be a positive whole number, not {value!r}", None, None)
    if settings.matcher not in (None, *MATCHERS):
        hint = f"one of {', '.join(MATCHERS)}"
        raise AnalysisError("REX217", f"unknown matcher {settings.matcher!r}", None, None, hint=hint)
    if settings.planner not in (None, *PLANNERS):
        hint = nearest(str(settings.planner), PLANNERS) or f"one of {', '.join(PLANNERS)}"
        raise AnalysisError("REX217", f"unknown planner {settings.planner!r}", None, None, hint=hint)
    return settings


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Several names; one may be given as it is."""
    return (given,) if isinstance(given, str) else tuple(given)
