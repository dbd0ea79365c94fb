"""States of streams as test data: what a release has written, later ones read right or refuse.

Write them anew, with `FORMAT` in `sparkrex.streams.head` raised before, by

    python -m tests.streams.saved_states

A file holds the parts of all buckets of some queries in the middle of a stream, `query/bucket/part`. Files of earlier
formats stay: they are refused, or upgraded.
"""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pyarrow as pa
from tests.differential.relations import one_database
from tests.streams.driving import N_BUCKETS, DictStore, Query, Stream
from tests.streams.test_partition_gap import with_gap
from tests.streams.test_stream_equals_batch import QUERIES, rows_of

from sparkrex.streams.head import FORMAT

FOLDER = Path(__file__).parent / "states"
N_ROWS, N_BEFORE = 60, 40
SAVED = {
    name.replace(" ", "-"): QUERIES[name]
    for name in ("v shape", "timeouts", "all rows", "skip till any", "trends", "segments")
} | {
    "trends-of-a-group": with_gap(QUERIES["trends of a group"], 2), "session-gap": with_gap(QUERIES["session"], 2),
    "merged-trends": with_gap(QUERIES["trends without windows"], 1),
}


def rows() -> pa.Table:
    """The stream of all of them, in which no row is late."""
    found = rows_of(random.Random(7), N_ROWS, nulls=False)
    return found.sort_by([("ts", "ascending"), ("id", "ascending")])


def moment() -> int:
    """The watermark at which states are saved: some rows have been released, and some wait."""
    times = rows().column("ts").cast(pa.int64()).to_pylist()
    found: int = times[N_BEFORE - 6]
    return found


def begun(query: Query) -> tuple[Stream, list[pa.Table]]:
    """A stream that has had its first rows, and what each batch gave."""
    stream = Stream(query, rows())
    given = [stream.batch(rows().slice(0, N_BEFORE), 0), stream.batch(rows().slice(0, 0), moment())]
    return stream, [stream.cut.merged(pa.concat_tables([one.rows for one in batch])) for batch in given]


def write(path: Path) -> None:
    """All states into a file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, query in SAVED.items():
            for bucket, store in enumerate(begun(query)[0].stores):
                for part, data in sorted(store.items()):
                    file.writestr(zipfile.ZipInfo(f"{name}/{bucket}/{part}"), data)


def read(path: Path, name: str) -> list[DictStore]:
    """The buckets of a query."""
    stores = [DictStore() for _ in range(N_BUCKETS)]
    with zipfile.ZipFile(path) as file:
        for info in file.infolist():
            query, bucket, part = info.filename.split("/", 2)
            if query == name:
                stores[int(bucket)][part] = file.read(info)
    return stores


if __name__ == "__main__":
    with one_database():
        write(FOLDER / f"format-{FORMAT}.zip")
