"""The files of a table as Spark lists them, with their footers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from sparkrex.columns.paths import find_file_system
from sparkrex.errors import RexError
from sparkrex.spark.files.footers import NotProvenError
from sparkrex.spark.files.reading import state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from sparkrex.spark.files.units import FileState

_READERS = 8
_SIGNATURE = 28
"""Bytes after a footer that is signed: the file has encrypted columns."""


def listed_files(frame: DataFrame, *, is_local_only: bool) -> list[str]:
    """The paths of the files that Spark would read, those of this machine without their scheme."""
    found = []
    for uri in frame.inputFiles():
        parts = urlsplit(uri)
        if parts.scheme == "file":
            found.append(unquote(parts.path))
        elif is_local_only:
            raise NotProvenError(f'the files are in {parts.scheme}:, which workers read only under files="arrow"')
        else:
            found.append(uri)
    return found


def read_footers(paths: Sequence[str]) -> list[tuple[FileState, Any]]:
    """Each file as it is, with its footer."""
    if len(paths) < 2 * _READERS:
        return [_footer(path) for path in paths]
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(_footer, paths))


def _footer(path: str) -> tuple[FileState, Any]:
    import pyarrow.parquet as pq

    try:
        state = state_of(path)
        if state is None:
            raise NotProvenError(f"the file {path} is not on this machine")
        system, place = find_file_system("", path)
        with system.open_input_file(place) as stream:
            stream.seek(max(0, state.size - 8))
            tail = stream.read(8)
            if tail[4:] == b"PARE":
                raise NotProvenError(f"the file {path} is encrypted")
            stream.seek(0)
            footer = pq.read_metadata(stream)
            if int.from_bytes(tail[:4], "little") != footer.serialized_size:
                raise NotProvenError(f"the file {path} is encrypted in part")
    except (pa.ArrowException, OSError, RexError) as error:
        raise NotProvenError(f"the footer of {path} cannot be read here: {str(error).splitlines()[0]}") from error
    return state, footer
