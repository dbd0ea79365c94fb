"""One side of `benchmarks.compare`: answers queries when it is asked to, and says how long each took.

Runs as a script inside another checkout too, with that one's package and queries, so it knows nothing but their names.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from typing import Any

import pyarrow as pa

import sparkrex as rex
from benchmarks.queries import ALL


def digest(table: pa.Table) -> str:
    """The same for equal tables, however they are cut into pieces."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return hashlib.sha256(sink.getvalue()).hexdigest()


def main() -> None:
    """Read a name and a number of rows a line; write seconds by the clock and of the processor, and a digest."""
    made: dict[tuple[str, int], Any] = {}
    for line in sys.stdin:
        name, rows = json.loads(line)
        if (name, rows) not in made:
            made = {(name, rows): ALL[name].make(rows)}
        clock, processor = time.perf_counter(), time.process_time()
        answer = rex.sql(ALL[name].sql, t=made[name, rows])
        took = time.perf_counter() - clock, time.process_time() - processor
        print(json.dumps([*took, digest(answer)]), flush=True)


if __name__ == "__main__":
    main()
