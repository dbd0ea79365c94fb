"""Results written by Spark, so that an output appears whole or not at all, and replaces an older one only then.

The job writes to a folder beside the output, which is renamed when it is complete. Who renames depends on who sees the
files: Hadoop's file system in the driver's JVM; this process if the Connect server is on this machine. A Connect server
elsewhere offers neither, so there the rows are computed and kept by the cluster first; they are written, over the older
output if there is one, when nothing but the writing itself can fail any more.
"""

from __future__ import annotations

import shutil
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sparkrex.cli.failures import Failed, UsageError
from sparkrex.cli.own_input import local_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


class Folders(Protocol):
    """What is needed of a file system."""

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""

    def rename(self, old: str, new: str) -> None:
        """Give a file or folder a name that is free."""

    def delete(self, path: str) -> None:
        """Remove a file or folder with all that is in it, if it is there."""


class LocalFolders:
    """The file system of this process."""

    def exists(self, path: str) -> bool:
        return Path(local_path(path)).exists()

    def rename(self, old: str, new: str) -> None:
        Path(local_path(old)).rename(local_path(new))

    def delete(self, path: str) -> None:
        place = Path(local_path(path))
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)


class HadoopFolders:
    """Whatever file system a path belongs to, by the classes that Spark itself uses."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        self._configuration: Any = spark._jsc.hadoopConfiguration()

    def exists(self, path: str) -> bool:
        system, place = self._at(path)
        return bool(system.exists(place))

    def rename(self, old: str, new: str) -> None:
        system, place = self._at(old)
        if not system.rename(place, self._at(new)[1]):
            raise Failed(f"{old} cannot be renamed to {new}")

    def delete(self, path: str) -> None:
        system, place = self._at(path)
        system.delete(place, True)

    def _at(self, path: str) -> tuple[Any, Any]:
        place = self._jvm.org.apache.hadoop.fs.Path(path)
        return place.getFileSystem(self._configuration), place


def find_folders(spark: SparkSession, url: str) -> Folders | None:
    """Who can rename a session's outputs; None if nobody can from here."""
    from pyspark.sql.utils import is_remote

    if not is_remote():
        return HadoopFolders(spark)
    return LocalFolders() if url.startswith("local") else None


def write_counted(frame: DataFrame, path: str, kind: str, folders: Folders | None, *, overwrite: bool) -> int:
    """Write a result and return its number of rows, counted on the way."""
    from pyspark import StorageLevel
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    if folders is not None:
        if folders.exists(path) and not overwrite:
            raise UsageError(f"{path} exists; --overwrite replaces it")
        counted = Observation("rex rows out")
        with written_aside(path, folders, overwrite=overwrite) as aside:
            _save(frame.observe(counted, f.count(f.lit(1)).alias("n")), aside, kind, "error")
        return int(counted.get["n"])
    kept = frame.persist(StorageLevel.DISK_ONLY)
    try:
        n_rows = kept.count()
        _save(kept, path, kind, "overwrite" if overwrite else "error")
    finally:
        kept.unpersist()
    return n_rows


def collected(frame: DataFrame) -> pa.Table:
    """All rows of a result, in this process."""
    from sparkrex.spark.versions import to_arrow

    return to_arrow(frame)


@contextmanager
def written_aside(path: str, folders: Folders, *, overwrite: bool) -> Iterator[str]:
    """A place to write to, which takes the output's name if all goes well; an older output is back if it does not."""
    parent, slash, name = path.rstrip("/").rpartition("/")
    token = uuid.uuid4().hex
    aside, older = (f"{parent}{slash}.{name}.{token}.{kind}" for kind in ("new", "old"))
    try:
        yield aside
        if not folders.exists(path):
            folders.rename(aside, path)
            return
        if not overwrite:
            raise Failed(f"{path} was written by somebody else in the meantime")
        folders.rename(path, older)
        try:
            folders.rename(aside, path)
        except BaseException:
            folders.rename(older, path)
            raise
        folders.delete(older)
    finally:
        folders.delete(aside)


def _save(frame: DataFrame, path: str, kind: str, mode: str) -> None:
    writer = frame.write.format(kind).mode(mode)
    if kind == "csv":
        writer = writer.option("header", "true")
    writer.save(path)
