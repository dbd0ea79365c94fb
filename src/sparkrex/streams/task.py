"""What a bucket is asked to do, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkrex.streams.columns import WrittenColumns

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.modes.plan import Plan
    from sparkrex.modes.protocol import Answering
    from sparkrex.settings import Settings
    from sparkrex.streams.members import Members


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTask:
    """A relation's work on a stream, shipped to the workers.

    `schema` is that of the rows that travel, and `hashed` are the columns whose values say which bucket a row is in:
    those of its keys, and of equalities between events. `time` is the first ORDER BY column, which the watermark is of,
    and `known` are all columns as the user knows them; `output` is the schema of the result, with the columns of side
    rows if the input row travels. `key_names` are the key columns with the names that the user knows them by.
    `fingerprint` and `text` say whose a state is, and `members`, if the query has some, with which others it may go on.
    """

    mode: Answering[Any]
    plan: Plan
    settings: Settings
    schema: pa.Schema
    hashed: tuple[str, ...]
    time: str
    output: pa.Schema
    key_names: tuple[tuple[str, str], ...]
    fingerprint: str
    text: str
    version: str
    members: Members | None = None
    known: tuple[str, ...] = ()

    def columns(self) -> WrittenColumns:
        """The columns of the rows that travel, for whoever looks at the state."""
        return WrittenColumns(self.schema, self.time, self.key_names, self.known)


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a call did, and what is kept after it. `errors` rows were given up (the setting `on_error`), and `rows_out`
    are of matches. `oldest` is the time of the oldest row that is held back."""

    rows_in: int = 0
    late: int = 0
    errors: int = 0
    released: int = 0
    rows_out: int = 0
    open_keys: int = 0
    rows_held: int = 0
    state_bytes: int = 0
    oldest: int | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Advanced:
    """The result rows that a call decides, the rows that were late, and the watermark at which to call again.

    With side rows, `rows` has them too.
    """

    rows: pa.Table
    late: pa.Table
    metrics: Metrics
    next_due: int | None = None
