"""One side of `benchmarks.compare`: answers queries when it is asked to, and says how long each took.

Runs as a script inside another checkout too, with that one's package and queries, so it knows nothing but their names.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pyarrow as pa

import sparkrex as rex
from benchmarks.queries import ALL


def main() -> None:
    """Read a name, a number of rows and perhaps a file for the answer a line; write seconds by the clock and of the
    processor."""
    made: dict[tuple[str, int], Any] = {}
    for line in sys.stdin:
        name, rows, file = json.loads(line)
        if (name, rows) not in made:
            made = {(name, rows): ALL[name].make(rows)}
        clock, processor = time.perf_counter(), time.process_time()
        answer = rex.sql(ALL[name].sql, t=made[name, rows])
        took = time.perf_counter() - clock, time.process_time() - processor
        if file:
            with pa.ipc.new_file(file, answer.schema) as writer:
                writer.write_table(answer)
        print(json.dumps(took), flush=True)


if __name__ == "__main__":
    main()
