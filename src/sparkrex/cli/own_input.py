"""Whether an output would replace what the command reads.

Two paths clash when they are one, or when one lies inside the other: an output folder that holds an input goes with it,
and an output inside an input folder would be read as input by the next run. Local paths are compared after links are
followed, and as they are written too: replacing a link loses the input's name. Others are compared by name.
"""

from __future__ import annotations

import glob
import posixpath
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from sparkrex.cli.failures import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparkrex.cli.files import TableFile

_SAME_SCHEME = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}


def refuse_own_input(output: str, tables: Iterable[TableFile], query: str) -> None:
    """An error if the output is a table's path or file, inside one, around one, or the file of the query."""
    if query != "-" and overlap(query, output):
        raise UsageError(f"the command reads its query from {query}, so the output cannot be {output}: {_WAY_OUT}")
    for table in tables:
        refuse_files_of(output, table, _local_files(table.path))


def refuse_files_of(output: str, table: TableFile, files: Iterable[str]) -> None:
    """The same for a table whose files are known."""
    if any(overlap(path, output) for path in {table.path, *files}):
        raise UsageError(f"table {table.name} reads {table.path}, so the output cannot be {output}: {_WAY_OUT}")


_WAY_OUT = "write to another place, then move the result"


def overlap(left: str, right: str) -> bool:
    """Whether two paths or URIs are one place, or one lies inside the other."""
    return any(
        here[: len(there)] == there or there[: len(here)] == here for here in _places(left) for there in _places(right)
    )


def _places(path: str) -> set[tuple[str, ...]]:
    """The parts of a path from the root of its file system: as written, and with links followed."""
    parts = urlsplit(path)
    if "://" in path and parts.scheme != "file":
        scheme = _SAME_SCHEME.get(parts.scheme, parts.scheme)
        return {(scheme, parts.netloc, *filter(None, posixpath.normpath(parts.path).split("/")))}
    local = Path(local_path(path))
    # Not `resolve` for the first: the link itself is what a rename would replace.
    written = posixpath.normpath(local.absolute().as_posix())
    return {tuple(Path(written).parts), local.resolve().parts}


def local_path(path: str) -> str:
    """A path without `file:`; Spark and Hadoop write `file:/a` for `file:///a`."""
    return unquote(urlsplit(path).path) if path.startswith("file:") else path


def _local_files(path: str) -> list[str]:
    """Local files and folders that a table's path means; of a folder also what the links inside it lead to."""
    if "://" in path and not path.startswith("file:"):
        return []
    path = local_path(path)
    named = glob.glob(path, recursive=True) if glob.has_magic(path) else [path]  # noqa: PTH207  it may be absolute
    inside = [str(file) for name in named for file in Path(name).rglob("*") if file.is_symlink()]
    return named + inside
