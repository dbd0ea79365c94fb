"""The answer to `rex.why`: what stood in the way of every start, as a table, and of some starts in detail."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.source import Source, Span


class Status(Enum):
    """What became of a start."""

    MATCH = "match"
    BLOCKED = "blocked"
    SKIPPED = "skipped"


class Barrier(Enum):
    """Why a row cannot be mapped to a variable: its condition is not TRUE, it is beyond WITHIN or the partition's end,
    it is not the first row, as `^` asks, or not the last, as `$` does."""

    CONDITION = "condition"
    WITHIN = "within"
    END = "end"
    FIRST_ROW = "first row"
    LAST_ROW = "last row"


@dataclass(frozen=True, slots=True)
class Value:
    """What a part of a condition was: its place in the query, its text and its value there."""

    span: Span | None
    text: str
    value: Any


@dataclass(frozen=True, slots=True)
class Compared:
    """A part of a condition that is not TRUE, and the values that it reads.

    `missed_by` is how far the two sides of a comparison of numbers are apart.
    """

    span: Span | None
    text: str
    result: bool | None
    values: tuple[Value, ...]
    missed_by: float | None = None


@dataclass(frozen=True, slots=True)
class Blocker:
    """A row that the pattern needed as a variable, and that is not it. Rows are counted from 1 in their partition.

    `prefix` are the rows before it under the preferred viable prefix: variable, first and last row of each run.
    """

    row: int
    variable: str
    barrier: Barrier
    prefix: tuple[tuple[str, int, int], ...] = ()
    compared: tuple[Compared, ...] = ()
    missed_by: float | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """What became of one start. Rows are counted from 1 in their partition.

    `match` is the number of the match that starts here, or that skipped this start, `match_rows` its first and last
    row. `need` is the least number of rows that were still required, `n_blockers` how many blockers there are: without
    `is_exact` the first is at most, the second at least so many.
    """

    row: int
    time: tuple[str, Any] | None
    status: Status
    match: int | None = None
    match_rows: tuple[int, int] | None = None
    need: int | None = None
    n_blockers: int | None = None
    is_exact: bool = True
    last: Blocker | None = None
    closest: Blocker | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """How often one variable stood in the way, and by how little it was missed; `closest` is the row of that start."""

    variable: str
    n_starts: int
    missed_by: float | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A sub-pattern of a segment search, and its first segment: first and last row, counted from 1, None for none.

    `is_missing`: it is among the smallest without a segment, since all its parts have some.
    """

    span: Span | None
    text: str
    first: tuple[int, int] | None
    is_missing: bool


@dataclass(frozen=True, slots=True, eq=False)
class Why:
    """Why a pattern did not match. `str()` is the text.

    `starts` is a table with a line for every row: what became of the start there. `matches` are the matches that were
    found, and `rows` the rows in order, with the columns that the query reads. `shares` sums the starts up, and `shown`
    has some of them in detail: the one that was asked for, or else the one that came closest. Of a segment search there
    are `parts` instead, and both tables are empty.

    >>> import pyarrow as pa, sparkrex as rex
    >>> prices = pa.table({"ts": [1, 2, 3], "price": [5.0, 4.0, 4.5]})
    >>> rise = "ORDER BY ts PATTERN (A UP UP) DEFINE UP AS price > PREV(price)"
    >>> answer = rex.why(rex.match(rise), prices)
    >>> answer.shown[0].row, answer.shown[0].need, answer.shares[0].variable
    (2, 1, 'UP')
    """

    source: Source
    pattern: str
    key: tuple[tuple[str, Any], ...]
    n_partitions: int
    starts: pa.Table
    matches: pa.Table
    rows: pa.Table
    shares: tuple[Share, ...]
    shown: tuple[Start, ...]
    n_rows: int
    n_matches: int
    n_blocked: int
    n_skipped: int
    is_exact: bool
    parts: tuple[Part, ...] = ()

    def __str__(self) -> str:
        from sparkrex.reasons.wording import told

        return told(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """What a notebook shows; IPython asks for it by this name."""
        return f'<pre style="font-family: monospace; line-height: 1.2; white-space: pre">{escape(str(self))}</pre>'
