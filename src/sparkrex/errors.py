"""Every error a user can meet: who must act, a stable code, the place in the query, a hint.

`CODES` is the one list of codes; `docs/errors.md` has an entry with an example for each, and a test compares the two.
Errors cross process boundaries (Spark workers), so every class pickles by its fields.
"""

from __future__ import annotations

import difflib
import re
import traceback
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparkrex.source import Source, Span

CODES: dict[str, str] = {
    "REX101": "the statement cannot be read",
    "REX102": "a clause of MATCH_RECOGNIZE is missing, repeated or out of place",
    "REX103": "the row pattern cannot be read",
    "REX104": "an expression cannot be read",
    "REX105": "a quantifier has bounds that allow nothing",
    "REX106": "the pattern is too large",
    "REX107": "a clause of an event or trend query is missing, repeated or out of place",
    "REX108": "the pattern of an event or trend query cannot be read",
    "REX109": "a clause of an SQL-TS query is missing, repeated or out of place",
    "REX110": "a part of a window with a row pattern is missing, repeated or out of place",
    "REX201": "unknown column",
    "REX202": "ambiguous column",
    "REX203": "unknown table",
    "REX204": "a pattern variable is not used in PATTERN",
    "REX205": "a name is defined twice",
    "REX206": "unknown pattern variable",
    "REX207": "navigation is used wrongly",
    "REX208": "a navigation offset is not a constant",
    "REX209": "FINAL is not allowed in DEFINE",
    "REX210": "aggregates are nested or misused",
    "REX211": "an expression mixes rows of different variables",
    "REX212": "row modes that cannot be combined",
    "REX213": "a function is unknown or has the wrong arguments",
    "REX214": "a type does not fit",
    "REX215": "WITHIN needs one ascending time or numeric order key",
    "REX216": "an output column list does not fit",
    "REX217": "an unknown dialect, planner, matcher or setting",
    "REX218": "a window cannot be read or allows nothing",
    "REX219": "conditions refer to each other in a circle",
    "REX220": "a reference has no one segment to mean",
    "REX221": "segment queries do not have this clause or function",
    "REX222": "unknown type of events",
    "REX223": "the selection strategy, or the semantics of trends, is missing or does not fit",
    "REX224": "a reference to an event does not fit",
    "REX225": "a negated component is used wrongly",
    "REX226": "the window of an event or trend query does not fit",
    "REX227": "the event pattern requires no event",
    "REX228": "a condition or a column of an SQL-TS query names no element",
    "REX229": "the conditions of a pattern contradict each other",
    "REX230": "a stream has no watermark",
    "REX231": "rows of a stream are not ordered by its watermarked column",
    "REX232": "the frame of a row pattern",
    "REX233": "a function that cannot be called over a window with a row pattern",
    "REX234": "a measure that a window does not have",
    "REX235": "a window function or a measure where none may stand",
    "REX236": "a window is not defined, or cannot be extended so",
    "REX238": "a parameter has no value, or a value no parameter",
    "REX239": "a parameter's value has no literal in SQL",
    "REX240": "no partition or row is what `rex.why` is asked about",
    "REX301": "not supported yet",
    "REX302": "not supported on streams",
    "REX303": "a statement that cannot be run on matches",
    "REX401": "AFTER MATCH SKIP does not advance",
    "REX402": "AFTER MATCH SKIP goes to a variable that no row of the match is mapped to",
    "REX403": "the search took too many steps",
    "REX404": "the host could not run the query",
    "REX405": "a number is out of range",
    "REX406": "a partition is too large",
    "REX407": "an input table cannot be read",
    "REX408": "a part of the pattern has too many segments",
    "REX409": "events have no definite order",
    "REX410": "an event query needs more memory than it may have",
    "REX411": "an aggregate of your own failed",
    "REX413": "Spark's workers lack the package",
    "REX414": "a time is finer than what is computed with it",
    "REX415": "open partitions need more memory than they may have",
    "REX416": "a number of trends, or a sum over them, is too large for its type",
    "REX417": "a column that was said to be positive is not",
    "REX418": "a Kleene has too many events in a window",
    "REX419": "a stream's checkpoint belongs to another query or format, or is damaged",
    "REX420": "there is no state of the query in the checkpoint",
    "REX421": "Spark is not set to keep the state of a stream",
    "REX422": "the end of a frame is NULL or negative",
    "REX423": "a Python function of yours failed",
    "REX901": "internal error",
}

_OF_A_CELL = ("get_ipython().run_cell_magic(", "%%")
"""How the line begins that a cell with a magic comes to: it has the whole query, which the message shows."""
_NOT_THE_USERS = ("sparkrex", "pyspark", "py4j", "IPython", "ipykernel", "contextlib")


_OF_A_LIMIT = re.compile(r"raise (?:the setting )?(max_\w+)")
"""How a hint speaks of a limit that is a setting: an option of the command."""


class RexError(Exception):
    """Base of all errors: `code`, `message`, `position`, `notes` and `hint`; `str` shows the place with a caret.

    `partition` has the keys of the partition in which it happened, where they are known. `command_hint` is the hint for
    users of the command, where `hint` speaks of Python.
    """

    # An error is a value until it is shown: whoever knows more about it on its way up sets a field.

    kind: ClassVar[str] = "error"
    partition: tuple[tuple[str, Any], ...] = ()

    def __init__(
        self, code: str, message: str, source: Source | None, span: Span | None, *,
        hint: str | None = None, command_hint: str | None = None, notes: Iterable[str] = (),
    ) -> None:
        if code not in CODES:
            raise ValueError(f"unknown error code {code}")
        super().__init__(message)
        self.code = code
        self.message = message
        self.source = source
        self.span = span
        self.hint = hint
        self.command_hint = command_hint
        self.notes = tuple(notes)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (
            self.code, self.message, self.source, self.span, self.hint, self.command_hint, self.notes, self.partition
        )
        return _restore, (type(self), *fields)

    def __str__(self) -> str:
        return self._show_with(self.hint)

    def for_command(self) -> str:
        """The text that the command shows."""
        return self._show_with(self.hint_of_command)

    @property
    def hint_of_command(self) -> str | None:
        """The hint in the words of the command."""
        return self.command_hint or (self.hint and with_options(self.hint))

    def _show_with(self, hint: str | None) -> str:
        parts = [f"{self.kind}[{self.code}]: {self.message}"]
        if self.source is not None and self.span is not None:
            parts.append(self.source.excerpt(self.span))
        parts += [f"note: {note}" for note in self.notes]
        if self.partition:
            parts.append(f"note: in partition {', '.join(f'{name} = {key!r}' for name, key in self.partition)}")
        if hint:
            parts.append(f"hint: {hint}")
        return "\n".join(parts)

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows of the error if nobody catches it; IPython asks for it by this name.

        The user's own lines that led to it, and the message. The frames below are ours and the host's.
        """
        frames = [
            frame for frame, _ in traceback.walk_tb(self.__traceback__)
            if frame.f_globals.get("__name__", "").split(".")[0] not in _NOT_THE_USERS
        ]
        summary = [
            found for found in traceback.extract_tb(self.__traceback__)
            if any(found.filename == frame.f_code.co_filename for frame in frames)
        ]
        lines = [
            f"in {found.name}, line {found.lineno}: {found.line}".removesuffix(": ") for found in summary
            if not (found.line or "").startswith(_OF_A_CELL)
        ]
        return [*lines, *str(self).split("\n")]

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column in the query, both from 1."""
        if self.source is None or self.span is None:
            return None
        return self.source.position(self.span.start)


class ParseError(RexError):
    """The text is not a query."""


class AnalysisError(RexError):
    """The query is well-formed but has no meaning."""


class UnsupportedError(RexError):
    """The query has a meaning that SparkRex cannot compute yet."""


class ExecutionError(RexError):
    """The query met data that it cannot be applied to."""

    row: int | None = None
    """The position of the row in the ordered input, while the search that failed is still known."""
    slot: int | None = None
    """Its open partition (see `matching.feed`); who has the partition keys finds the `partition` by it."""


class InternalError(RexError):
    """A fault of SparkRex itself."""

    kind = "internal error"

    def _render_traceback_(self) -> list[str]:
        """All frames: the report of a fault needs them."""
        return [line for text in traceback.format_exception(self) for line in text.rstrip("\n").split("\n")]


def _restore(
    kind: type[RexError], code: str, message: str, source: Source | None, span: Span | None, hint: str | None,
    command_hint: str | None, notes: tuple[str, ...], partition: tuple[tuple[str, Any], ...],
) -> RexError:
    error = kind(code, message, source, span, hint=hint, command_hint=command_hint, notes=notes)
    error.partition = partition
    return error


def is_from_spark(error: BaseException) -> bool:
    """Whether Spark, or the way to it, raised this in its own words."""
    return any(kind.__module__.split(".")[0] in ("pyspark", "py4j", "grpc") for kind in type(error).__mro__)


def with_options(text: str) -> str:
    """A text of ours with the options of the command where it speaks of limits that are settings."""
    return _OF_A_LIMIT.sub(r"raise --set \1=N", text)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """A hint that suggests the known name closest to a misspelt one."""
    candidates = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(name.lower(), candidates, n=1, cutoff=0.6)
    return f"did you mean {candidates[found[0]]}?" if found else None
