"""The head of a bucket's state: whose it is, how far time has come, and when the bucket must be looked at again.

It is small and read at every call, so that a call in vain reads nothing else. A state of another query, or of another
format, is refused: read as if it were this one's, it would give wrong rows without a word.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from sparkrex.errors import ExecutionError

FORMAT = 1
"""Of all that is saved. A state that another format wrote is refused."""


@dataclass(slots=True)
class Head:
    """`released`: rows up to this time were released, and rows that come now up to it are late; None: no row was.

    `next_due` is the least watermark that may decide something without rows, None if none does. `n_numbered` matches
    have got a number, `n_silent` slots are in `n_shards` shards, `n_open` in the part of slots that time decides, and
    `n_pending` rows wait for the watermark and `n_held` are held back. `oldest` is the time of the oldest row that is
    held back for a slot that time decides. `n_bytes` is the size of all other parts. `born` are members that came later
    than the stream began, with the time behind which their matches begin.
    """

    released: int | None = None
    next_due: int | None = None
    n_numbered: int = 0
    n_silent: int = 0
    n_shards: int = 1
    n_open: int = 0
    n_pending: int = 0
    n_held: int = 0
    oldest: int | None = None
    n_bytes: int = 0
    born: dict[str, int] = field(default_factory=dict)

    def write(self, fingerprint: str, text: str, version: str) -> bytes:
        """The head as bytes, with whose it is."""
        whose = {"format": FORMAT, "fingerprint": fingerprint, "version": version, "text": text}
        return json.dumps({**whose, **asdict(self)}).encode()

    @staticmethod
    def owner(data: bytes) -> dict[str, Any]:
        """Whose head it is: `format`, `fingerprint`, `version` and `text`."""
        found: dict[str, Any] = json.loads(data)
        return {name: found[name] for name in ("format", "fingerprint", "version", "text")}

    @staticmethod
    def read(data: bytes | None, fingerprint: str, text: str) -> Head:
        """The head that was written for the query; a new one without data."""
        if data is None:
            return Head()
        found: dict[str, Any] = json.loads(data)
        if found.pop("format") != FORMAT:
            raise ExecutionError(
                "REX419", f"the checkpoint was written in another format, by SparkRex {found['version']}", None, None,
                hint="begin with a new checkpoint, or go on with that version",
            )
        if found.pop("fingerprint") != fingerprint:
            raise other_query(found["text"], text)
        return Head(**{name: value for name, value in found.items() if name not in ("version", "text")})


def other_query(written_by: str, text: str) -> ExecutionError:
    """The error of a query that meets the state of another."""
    return ExecutionError(
        "REX419", "the checkpoint belongs to another query", None, None,
        notes=(f"it was written by: {written_by}", f"this query is: {text}"),
        hint="begin with a new checkpoint, or run the query that it belongs to",
    )
