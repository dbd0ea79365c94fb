"""Settings: one frozen value that travels with a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from numbers import Integral
from typing import TYPE_CHECKING, Any

from sparkrex.errors import AnalysisError, nearest
from sparkrex.threads import available_threads

if TYPE_CHECKING:
    from sparkrex.functions import Function

MATCHERS = (
    "automaton", "ops", "ops_forward", "ops_reverse", "backtrack", "interpreter", "nfab", "basic", "by_state", "by_gap",
    "by_rank", "by_open", "by_event",
)
"""Of all modes; which of them a query has, its mode knows."""
PLANNERS = (
    "optimizer", "pr_left", "pr_right", "sm_left", "sm_right",
    "pr_left_pnot", "pr_right_pnot", "sm_left_pnot", "sm_right_pnot",
)
"""Both are here because settings are checked before any mode is loaded; a test compares them."""
RAISE, REPORT = "raise", "report"
"""What `on_error` may be."""
FILES = ("auto", "arrow", "spark")
"""What `files` may be."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set for a query. `docs/settings.md` has the table.

    Limits: `max_steps` of the search from one start row when a condition reads the match's context (others need no
    bound), and of an event query at one event; `max_segments` that a part of a segment pattern may have at a time;
    `max_open_rows` of one partition that are held back while a match is undecided; `max_state_memory` in bytes for all
    that is held back between two feeds; `max_event_memory` in bytes for the runs, buffer and matches of an event query.

    How: `matcher` names the algorithm; row patterns have `automaton`, `ops` (`ops_forward`, `ops_reverse`),
    `backtrack` and `interpreter`, event queries `nfab`, `basic` and `backtrack`; None means that the query decides.
    `planner` plans segment searches; None means `optimizer`, the others go by rules. `sample_series` is on how many
    series a segment search samples its conditions, `without_rules` names its rewrite rules that are turned off.
    `threads` are used in memory, one in a Spark worker; None means all cores. `chunk_rows`, if set, feeds the matcher
    that many rows at a time. On Spark, `sort_memory` is how many bytes a worker uses to order rows in memory; when its
    rows fill half of that, it sorts on disk. `files` says who reads Parquet files named by path: with `auto` the
    workers, by Arrow, where that is proven to give what Spark gives and the files are on this machine (`file:`); with
    `arrow` also where they are elsewhere; with `spark` always Spark. With `slices` tasks share one series in such
    files, of a bounded pattern.

    What: `tie_break` names columns that order rows whose order keys are equal, behind those that the query names.
    `time_zone` is the in-memory host's. `positive` names columns whose values are above zero, which proofs need for
    comparisons such as `price < 0.98 * PREV(price)`; `proofs` False plans row patterns without any. A row more than
    `partition_gap` after its key's previous row begins a new partition: a `timedelta`, or a text such as `30 minutes`.

    On streams: into how many `buckets` keys are put, at most 256; None asks Spark how many tasks there are. It belongs
    to a query's checkpoint. `side_rows` adds late rows, and rows at which a search failed, to the result. `on_error`
    says what a search does there: `raise`, or `report` the row and go on without it.

    `functions` are the Python functions of a call, not a setting that can be given by name.
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
    proofs: bool = True
    positive: tuple[str, ...] = ()
    buckets: int | None = None
    partition_gap: timedelta | str | None = None
    side_rows: bool = False
    on_error: str = RAISE
    files: str = "auto"
    slices: bool = False
    functions: tuple[Function, ...] = ()

    @property
    def reports(self) -> bool:
        """Whether a search goes on where it fails."""
        return self.on_error == REPORT

    def thread_count(self) -> int:
        """How many threads to use."""
        return self.threads or available_threads()

    def gap_microseconds(self) -> int | None:
        """The setting `partition_gap` as a whole number; None without it."""
        gap = _interval(self.partition_gap)
        return None if gap is None else gap // timedelta(microseconds=1)


_COUNTS = (
    "max_steps", "max_open_rows", "max_state_memory", "max_segments", "max_event_memory", "sort_memory",
    "sample_series",
)
_MOST_BUCKETS = 256
_COUNTS_OR_NONE = ("chunk_rows", "threads", "buckets")


def make_settings(given: Settings | Mapping[str, Any] | None) -> Settings:
    """Settings from a mapping of names to values, or as given; checked."""
    if given is None:
        return Settings()
    if isinstance(given, Settings):
        return _check_settings(given)
    if not isinstance(given, Mapping):
        raise TypeError(f"settings= is a {type(given).__name__}, not settings or a mapping of names to values")
    known = [field.name for field in fields(Settings) if field.name != "functions"]
    for name in given:
        if name not in known:
            hint = nearest(str(name), known) or f"one of {', '.join(known)}"
            raise AnalysisError("REX217", f"unknown setting {name!r}", None, None, hint=hint)
    return _check_settings(replace(Settings(), **given))


def _check_settings(settings: Settings) -> Settings:
    counts: dict[str, Any] = {}
    for name in _COUNTS + _COUNTS_OR_NONE:
        value = getattr(settings, name)
        if value is None and name in _COUNTS_OR_NONE:
            continue
        most = _MOST_BUCKETS if name == "buckets" else (1 << 63) - 1  # kernels count in 64 bits
        if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= int(value) <= most:
            up_to = f"up to {most}" if name == "buckets" else "below 2 to the power of 63"
            raise _unfit(name, value, f"a positive whole number {up_to}")
        counts[name] = int(value)  # of NumPy's types too
    if not isinstance(settings.time_zone, str):
        raise _unfit("time_zone", settings.time_zone, "a name")
    if settings.matcher not in (None, *MATCHERS):
        hint = f"one of {', '.join(MATCHERS)}"
        raise AnalysisError("REX217", f"unknown matcher {settings.matcher!r}", None, None, hint=hint)
    if settings.planner not in (None, *PLANNERS):
        hint = nearest(str(settings.planner), PLANNERS) or f"one of {', '.join(PLANNERS)}"
        raise AnalysisError("REX217", f"unknown planner {settings.planner!r}", None, None, hint=hint)
    for name in ("proofs", "side_rows", "slices"):
        if not isinstance(getattr(settings, name), bool):
            raise _unfit(name, getattr(settings, name), "True or False")
    if settings.on_error not in (RAISE, REPORT):
        raise _unfit("on_error", settings.on_error, f"{RAISE!r} or {REPORT!r}")
    if settings.files not in FILES:
        raise _unfit("files", settings.files, "'auto', 'arrow' or 'spark'")
    return replace(
        settings, positive=_names("positive", settings.positive), tie_break=_names("tie_break", settings.tie_break),
        without_rules=_names("without_rules", settings.without_rules), partition_gap=_interval(settings.partition_gap),
        **counts,
    )


_LENGTHS = ("microseconds", "milliseconds", "seconds", "minutes", "hours", "days", "weeks")


def _interval(given: object) -> timedelta | None:
    """A length of time: as it is, or in words, such as `1 hour 30 minutes` or `INTERVAL '30' MINUTE`."""
    if given is None:
        return None
    found = _in_words(given) if isinstance(given, str) else given
    if not isinstance(found, timedelta) or not 0 < found // timedelta(microseconds=1) < 1 << 63:
        raise _unfit("partition_gap", given, "a timedelta above zero or a text such as '30 minutes'")
    return found


def _in_words(text: str) -> timedelta | None:
    words = text.replace("'", " ").lower().removeprefix("interval ").split()
    if len(words) % 2:
        return None
    total = timedelta()
    for number, word in zip(words[::2], words[1::2], strict=True):
        unit = word if word.endswith("s") else f"{word}s"
        if unit not in _LENGTHS or not number.isdecimal():
            return None
        try:
            total += timedelta(**{unit: int(number)})
        except OverflowError:
            return None
    return total


def _names(setting: str, given: object) -> tuple[str, ...]:
    """Several names; one may be given as it is."""
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise _unfit(setting, given, "a name or several")
    return names


def _unfit(setting: str, value: object, wanted: str) -> AnalysisError:
    return AnalysisError("REX217", f"setting {setting} must be {wanted}, not {value!r}", None, None)
