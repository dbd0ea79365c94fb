"""Paths of tables and their files: a file, a glob, a folder (Hive-partitioned or not), here or behind a URI.

`file:` is this machine. For other schemes Arrow's own file systems are asked first (s3, gs, hdfs, abfs), then fsspec,
which knows https and whatever else is installed for it; who knows neither is told what is missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from sparkrex.errors import ExecutionError

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset
    from pyarrow.fs import FileSystem

_MAGIC = re.compile(r"[*?\[]")
_NEEDS = {"http": "fsspec aiohttp", "https": "fsspec aiohttp", "s3": "s3fs", "gs": "gcsfs", "hdfs": "fsspec"}
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
_FORMATS = {
    ".parquet": "parquet", ".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "json", ".ndjson": "json",
}
_COMPRESSED = (".gz", ".bz2", ".zst")
FORMATS_READ = "Parquet, .csv, .tsv, .json, .jsonl and .ndjson (one object per line), texts also as .gz, .bz2 or .zst"


def format_of(path: str) -> str | None:
    """The format that the end of a path means, `parquet` if it has no extension, None for one that means none."""
    place = Path(path.rstrip("/"))
    if place.suffix.lower() in _COMPRESSED:
        place = place.with_suffix("")
    return _FORMATS.get(place.suffix.lower()) if place.suffix else "parquet"


def table_label(name: str) -> str:
    """What messages call a table; one without a name is the input."""
    return f"table {name}" if name else "the input"


@dataclass(frozen=True)
class Files:
    """The files of a path, and the partition columns that folders called `name=value` stand for, None if none do."""

    system: FileSystem
    paths: list[str]
    partitioning: Any = None
    base: str = ""

    def dataset(self, kind: Any) -> Dataset:
        """All files as one dataset. Arrow's errors pass."""
        import pyarrow.dataset as ds

        if self.partitioning is None:
            return ds.dataset(self.paths, format=kind, filesystem=self.system)
        return ds.dataset(
            self.base, format=kind, filesystem=self.system, partitioning=self.partitioning,
            partition_base_dir=self.base,
        )


def find_files(name: str, path: str) -> Files:
    """The files that a path means; it is an error if there are none."""
    from pyarrow import fs

    system, place = find_file_system(name, path)
    if _MAGIC.search(place):
        found = _glob(system, place)
        if not found:
            raise _missing_path_error(name, path)
        return Files(system, found)
    kind = system.get_file_info(place).type
    if kind is fs.FileType.NotFound:
        raise _missing_path_error(name, path)
    if kind is fs.FileType.File:
        return Files(system, [place])
    found = _visible_files(system, place)
    if not found:
        raise ExecutionError("REX407", f"{table_label(name)}: there are no files in {path}", None, None)
    return Files(system, found, _find_partitioning(system, place), place)


def _visible_files(system: FileSystem, folder: str) -> list[str]:
    """Files of a folder and those below it, without what tools keep beside their data: `_SUCCESS`, `.part.crc`."""
    from pyarrow import fs

    inside = PurePosixPath(folder)
    return sorted(
        info.path for info in system.get_file_info(fs.FileSelector(folder, recursive=True))
        if info.type is fs.FileType.File
        and not any(part.startswith(("_", ".")) for part in PurePosixPath(info.path).relative_to(inside).parts)
    )


def check_local_path(name: str, path: str) -> None:
    """Fail if a path of this machine has no files. Others, and globs that only Spark reads, pass."""
    if "{" in path or ("://" in path and not path.startswith("file:")):
        return
    from pyarrow import fs

    system, place = find_file_system(name, path)
    is_glob = _MAGIC.search(place) is not None
    if not _glob(system, place) if is_glob else system.get_file_info(place).type is fs.FileType.NotFound:
        raise _missing_path_error(name, path)


def find_file_system(name: str, path: str) -> tuple[FileSystem, str]:
    """The file system that a path belongs to, and the path there."""
    from pyarrow import fs

    if path.startswith("file:"):
        return fs.LocalFileSystem(), unquote(urlsplit(path).path)
    if "://" not in path:
        return fs.LocalFileSystem(), str(Path(path).absolute()) if path else path
    magic = _MAGIC.search(path)
    # A URI has no place for a glob, so only what is before it is asked about.
    known = path if magic is None else path[: magic.start()].rpartition("/")[0]
    try:
        system, place = fs.FileSystem.from_uri(known)
    except (pa.ArrowException, OSError, ValueError) as error:
        system, place = _by_fsspec(name, known, error)
    return system, place + path[len(known) :]


def _by_fsspec(name: str, path: str, refusal: Exception) -> tuple[FileSystem, str]:
    from pyarrow import fs

    scheme = urlsplit(path).scheme
    reason = f"Arrow: {str(refusal).splitlines()[0]}"
    try:
        import fsspec  # type: ignore[import-not-found]  # only if the user has it

        system, place = fsspec.core.url_to_fs(path)
    except (ImportError, ValueError, OSError) as error:
        needed = _NEEDS.get(scheme)
        raise ExecutionError(
            "REX407", f"{table_label(name)}: {scheme}:// paths cannot be opened here", None, None,
            notes=(reason, f"fsspec: {error}"),
            hint=(f"pip install {needed}, or " if needed else "") + "read the table yourself and pass it as Arrow",
            command_hint=(f"pip install {needed}, or " if needed else "") + "copy the files to this machine",
        ) from error
    return fs.PyFileSystem(fs.FSSpecHandler(system)), place


def _missing_path_error(name: str, path: str) -> ExecutionError:
    return ExecutionError("REX407", f"{table_label(name)}: there is no file {path}", None, None)


def _glob(system: FileSystem, pattern: str) -> list[str]:
    """Files that a pattern means, sorted; `**` stands for any folders, and hidden names are not meant by `*`."""
    from pyarrow import fs

    parts = PurePosixPath(pattern).parts
    n_fixed = next(number for number, part in enumerate(parts) if _MAGIC.search(part))
    base = str(PurePosixPath(*parts[:n_fixed])) if n_fixed else "."
    is_deep = len(parts) - n_fixed > 1
    selector = fs.FileSelector(base, allow_not_found=True, recursive=is_deep)
    found = [info.path for info in system.get_file_info(selector) if info.type is fs.FileType.File]
    return sorted(path for path in found if _fits(PurePosixPath(path).parts, parts))


def _fits(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern or not path:
        return not pattern and not path
    if pattern[0] == "**":
        return _fits(path, pattern[1:]) or (not path[0].startswith(".") and _fits(path[1:], pattern))
    is_hidden = path[0].startswith(".") and not pattern[0].startswith(".")
    return not is_hidden and fnmatchcase(path[0], pattern[0]) and _fits(path[1:], pattern[1:])


def _find_partitioning(system: FileSystem, folder: str) -> Any:
    """Hive partitioning with the types that Spark would infer for names; None if no folder is called `name=value`."""
    import pyarrow.dataset as ds
    from pyarrow import fs

    values: dict[str, list[str]] = {}
    for info in system.get_file_info(fs.FileSelector(folder, recursive=True)):
        if info.type is not fs.FileType.Directory:
            continue
        name, equals, value = info.base_name.partition("=")
        if equals and not name.startswith(("_", ".")):
            values.setdefault(unquote(name), []).append(unquote(value))
    if not values:
        return None
    types = pa.schema([pa.field(name, _value_type(found)) for name, found in values.items()])
    return ds.partitioning(types, flavor="hive")


def _value_type(values: list[str]) -> pa.DataType:
    known = [value for value in values if value != _HIVE_NULL]
    if all(re.fullmatch(r"[+-]?\d{1,18}", value) for value in known):
        is_wide = any(not -(2**31) <= int(value) < 2**31 for value in known)
        return pa.int64() if is_wide else pa.int32()
    if all(re.fullmatch(r"\d{4}-\d{2}-\d{2}", value) for value in known):
        try:
            pa.array(known).cast(pa.date32())
            return pa.date32()
        except pa.ArrowInvalid:
            return pa.string()
    if all(re.fullmatch(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?", value) for value in known):
        return pa.float64()
    return pa.string()
