"""Parts of a state kept as files beside the worker, because Spark hands large values to Python slowly.

A value of a megabyte takes Spark's state server some 30 milliseconds to read, a file less than one. So whatever is put
into the state is also written to Spark's scratch folder of this executor, with a token that is drawn for this put and
stored in the state too. A file is believed only if its token is the one in the state: then the bytes are those that
were put there. After a failure, on another machine, or without a scratch folder the part is read from the state, which
has everything. A part has one file, which the next put replaces, and Spark deletes its folder when the executor ends.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TOKEN_BYTES, _LENGTH_BYTES = 16, 8
LEAST_BYTES = 1 << 14
"""Smaller parts are read from the state as fast."""


def new_token() -> bytes:
    """A token that no put has had."""
    return uuid.uuid4().bytes


@dataclass(frozen=True, slots=True)
class NearbyFiles:
    """The files of a query's state; `owner` tells queries apart."""

    folder: Path
    owner: str

    @staticmethod
    def of(owner: str) -> NearbyFiles | None:
        """Those in the scratch folder that Spark gives its Python workers; None if it gives none."""
        scratch = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
        if not scratch:
            return None
        folder = Path(scratch) / "python" / "rex-state"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return NearbyFiles(folder, owner)

    def write(self, bucket: int, name: str, data: bytes, token: bytes) -> None:
        """Keep a part that is put with this token."""
        if len(data) < LEAST_BYTES:
            return
        path = self._path(bucket, name)
        unfinished = path.with_suffix(f".{token.hex()}")
        try:
            with unfinished.open("wb") as file:
                file.write(token + len(data).to_bytes(_LENGTH_BYTES, "little"))
                file.write(data)
            unfinished.replace(path)
        except OSError:  # the disk is full, or Spark is going away: the state has it
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)

    def is_there(self, bucket: int, name: str) -> bool:
        """Whether it is worth asking the state for the token."""
        return self._path(bucket, name).exists()

    def read(self, bucket: int, name: str, token: bytes) -> bytes | None:
        """The part that was put with this token, if its file is here."""
        try:
            with self._path(bucket, name).open("rb") as file:
                if file.read(_TOKEN_BYTES) != token:
                    return None
                length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
                data = file.read()
                return data if length == len(data) > 0 else None
        except OSError:
            return None

    def _path(self, bucket: int, name: str) -> Path:
        return self.folder / hashlib.blake2b(f"{self.owner}/{bucket}/{name}".encode(), digest_size=16).hexdigest()
