"""The head of a bucket's state: whose it is, how far time has come, and when the bucket must be looked at again.

It is small and read at every call, so that a call in vain reads nothing else. A state of another query, or of another
format, is refused: read as if it were this one's, it would give wrong rows without a word.
"""

from __future__ import annotations

import json
import struct
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sparkrex.errors import ExecutionError
from sparkrex.matching.state import FORMAT_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

FORMAT = 4
"""Of all parts of a state, as the head says it for them; slots have `matching.state.FORMAT_VERSION` too. A state that
another format wrote is refused. Raise it whenever `tests/streams/test_saved_states.py` says that something changed."""


@dataclass(frozen=True, slots=True)
class Generation:
    """Slots that have become silent at once, or generations that were merged `rank` times; see `silent`."""

    number: int
    n_slots: int
    n_shards: int
    rank: int


@dataclass(slots=True)
class Head:
    """`released`: rows up to this time were released, and rows that come now up to it are late; None: no row was.

    `next_due` is the least watermark that may decide something without rows, None if none does. `n_numbered` matches
    have got a number. Slots have become silent `n_silenced` times, and those that still are so are in `generations`;
    `n_open` are in the part of slots that time decides. `n_pending` rows wait for the watermark, `n_held` are held
    back, and `n_partial` partial results wait for others. `oldest` is the time of the oldest row that is held back for
    a slot that time decides. `n_bytes` is the size of all other parts. `born` are members that came later than the
    stream began, with the time behind which their matches begin.
    """

    released: int | None = None
    next_due: int | None = None
    n_numbered: int = 0
    n_silenced: int = 0
    generations: list[Generation] = field(default_factory=list)
    n_open: int = 0
    n_pending: int = 0
    n_held: int = 0
    n_partial: int = 0
    oldest: int | None = None
    n_bytes: int = 0
    born: dict[str, int] = field(default_factory=dict)

    @property
    def n_silent(self) -> int:
        """How many slots are silent."""
        return sum(one.n_slots for one in self.generations)

    def write(self, fingerprint: str, text: str, version: str) -> bytes:
        """The head as bytes, with whose it is."""
        formats = {"format": FORMAT, "slots": FORMAT_VERSION}
        whose = {"fingerprint": fingerprint, "version": version, "text": text}
        return json.dumps({**formats, **whose, **asdict(self)}).encode()

    @staticmethod
    def owner(data: bytes) -> dict[str, Any]:
        """Whose head it is: `format`, `slots`, `fingerprint`, `version` and `text`."""
        with reading("head"):
            found = json.loads(data)
            return {name: found[name] for name in _WHOSE}

    @staticmethod
    def read(
        data: bytes | None, fingerprint: str, text: str, changes: Callable[[], Sequence[str]] = tuple
    ) -> Head:
        """The head that was written for the query; a new one without data. `changes` are notes on how the columns of
        the query that wrote it differ."""
        if data is None:
            return Head()
        whose = Head.owner(data)
        if (whose["format"], whose["slots"]) != (FORMAT, FORMAT_VERSION):
            raise ExecutionError(
                "REX419", f"the checkpoint was written in another format, by SparkRex {whose['version']}", None, None,
                hint="begin with a new checkpoint, or go on with that version",
            )
        if whose["fingerprint"] != fingerprint:
            raise not_this_query(whose, fingerprint, text, changes())
        with reading("head"):
            found = {name: value for name, value in json.loads(data).items() if name not in _WHOSE}
            return Head(**{**found, "generations": [Generation(**one) for one in found["generations"]]})


_WHOSE = ("format", "slots", "fingerprint", "version", "text")


@contextmanager
def reading(part: str) -> Iterator[None]:
    """Inside, a part of a state is made out of its bytes; what cannot be is damaged, whatever fails over it."""
    try:
        yield
    except (pa.ArrowException, ArithmeticError, LookupError, OSError, TypeError, ValueError, struct.error) as error:
        raise ExecutionError(
            "REX419", f"the checkpoint is damaged: its part {part} cannot be read", None, None,
            notes=(f"{type(error).__name__}: {error}",), hint="go back to a copy, or begin with a new checkpoint",
        ) from error


def buckets_of(fingerprint: str) -> int | None:
    """How many buckets a query has, as its fingerprint says behind a point; None if it says nothing."""
    number = fingerprint.partition(".")[2].partition("/")[0]
    return int(number) if number.isdecimal() else None


def not_this_query(
    whose: Mapping[str, Any], fingerprint: str, text: str, changes: Sequence[str] = ()
) -> ExecutionError:
    """The error of a query that meets a state which it did not write: another's, or that of other buckets."""
    (query, _, rest), (own, _, own_rest) = whose["fingerprint"].partition("."), fingerprint.partition(".")
    (n_buckets, _, number), (n_own, _, own_number) = rest.partition("/"), own_rest.partition("/")
    if (query, number) != (own, own_number):
        return other_query(whose["text"], text, changes)
    return ExecutionError(
        "REX419", f"the checkpoint has {n_buckets} buckets, and the query {n_own}", None, None,
        notes=("without the setting, their number follows spark.sql.shuffle.partitions",),
        hint=f'settings={{"buckets": {n_buckets}}}', command_hint=f"--set buckets={n_buckets}",
    )


def other_query(written_by: str, text: str, changes: Sequence[str] = ()) -> ExecutionError:
    """The error of a query that meets the state of another. `changes` say how their columns differ."""
    if written_by == text and not changes:
        changes = ("the columns that it reads, their types, or ANSI mode are not the same",)
    return ExecutionError(
        "REX419", "the checkpoint belongs to another query", None, None,
        notes=(f"it was written by: {written_by}", f"this query is: {text}", *changes),
        hint="begin with a new checkpoint, or run the query that it belongs to",
    )
