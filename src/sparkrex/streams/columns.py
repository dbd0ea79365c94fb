"""What the columns of a bucket's rows are to the user: for people who look at a state, and for errors over it.

Rows travel in columns named by us, without a schema. So it stands in a part of its own, written when the bucket begins.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

import pyarrow as pa

from sparkrex.streams.head import reading

COLUMNS = "columns"
"""The part's name."""


@dataclass(frozen=True, slots=True)
class WrittenColumns:
    """`schema` is that of the rows that travel, `time` the column that the watermark is of, `keys` are those with the
    keys and the names that the user knows them by. `known` are all columns as the user knows them, with their types.
    """

    schema: pa.Schema
    time: str
    keys: tuple[tuple[str, str], ...]
    known: tuple[str, ...]

    def write(self) -> bytes:
        """As bytes."""
        schema = base64.b64encode(self.schema.serialize().to_pybytes()).decode()
        return json.dumps({"schema": schema, "time": self.time, "keys": self.keys, "known": self.known}).encode()

    @staticmethod
    def read(data: bytes) -> WrittenColumns:
        """What was written."""
        with reading(COLUMNS):
            found = json.loads(data)
            schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(found["schema"])))
            keys = tuple((column, name) for column, name in found["keys"])
            return WrittenColumns(schema, found["time"], keys, tuple(found["known"]))

    def changes(self, now: WrittenColumns) -> list[str]:
        """How the columns of another query differ, in notes of an error; nothing where that is not known."""
        if not self.known or not now.known:
            return []
        gone = [one for one in self.known if one not in now.known]
        new = [one for one in now.known if one not in self.known]
        notes = [f"{whose} reads {', '.join(listed)}" for whose, listed in (
            ("the checkpoint's query", gone), ("this query", new),
        ) if listed]
        if not notes and self.known != now.known:
            return ["the columns that it reads are in another order"]
        return notes
