"""One workload in a fresh process: prints the seconds of `import sparkrex` plus those of the first query.

    python -m benchmarks.first_query W1 1000000
"""

from __future__ import annotations

import sys
import time


def main(name: str, n_rows: int) -> None:
    start = time.perf_counter()
    import sparkrex as rex  # inside, because the import is part of what is measured

    imported = time.perf_counter()
    from benchmarks.workloads import WORKLOADS, ticks

    table = ticks(n_rows)
    asked = time.perf_counter()
    rex.sql(WORKLOADS[name].query, ticks=table)
    print(imported - start + time.perf_counter() - asked)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
