"""The first and the second query of a fresh process; prints seconds as JSON. Making the data does not count.

    python -m benchmarks.first_query W1 1000
"""

from __future__ import annotations

import json
import sys
import time


def main(name: str, n_rows: int) -> None:
    start = time.perf_counter()
    import sparkrex as rex  # inside, because the import is measured

    imported = time.perf_counter()
    from benchmarks.queries import ALL

    query = ALL[name]
    table = query.make(n_rows)
    seconds = {"import": imported - start}
    for which in ("first", "second"):
        asked = time.perf_counter()
        rex.sql(query.sql, t=table)
        seconds[which] = time.perf_counter() - asked
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
