"""Parts of a state kept as files beside the worker, because Spark hands large values to Python slowly.

A value of a megabyte takes Spark's state server some 30 milliseconds to read, a file less than one. So whatever is put
into the state is also written to Spark's scratch folder of this executor, and its digest stands in the state. A file is
believed only if its bytes have that digest. After a failure, on another machine, or without a scratch folder the part
is read from the state, which has everything. A part has one file, which the next put replaces, and Spark deletes its
folder when the executor ends.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LEAST_BYTES = 1 << 14
"""Smaller parts are read from the state as fast."""


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

    def write(self, bucket: int, name: str, data: bytes) -> str:
        """Keep a part; its digest."""
        path, digest = self._path(bucket, name), _digest(data)
        unfinished = path.with_suffix(f".{uuid.uuid4().hex}")
        try:
            unfinished.write_bytes(data)
            unfinished.replace(path)
        except OSError:  # the disk is full, or Spark is going away: the state has it
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
        return digest

    def read(self, bucket: int, name: str, digest: str) -> bytes | None:
        """The part with this digest, if its file is here."""
        try:
            data = self._path(bucket, name).read_bytes()
        except OSError:
            return None
        return data if _digest(data) == digest else None

    def _path(self, bucket: int, name: str) -> Path:
        return self.folder / hashlib.blake2b(f"{self.owner}/{bucket}/{name}".encode(), digest_size=16).hexdigest()


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
