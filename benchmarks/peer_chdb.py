"""Run one query in chdb; its own environment calls this file. Prints JSON.

    python benchmarks/peer_chdb.py TASK.json

The task names a Parquet file of the table, the text, the number of runs and where to write the result. The table is in
chdb's memory before the clock starts.
"""

import json
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
from chdb import session  # type: ignore[import-not-found]

task = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
connection = session.Session()
connection.query("CREATE DATABASE IF NOT EXISTS bench")
connection.query(f"CREATE TABLE bench.t ENGINE = Memory AS SELECT * FROM file('{task['table']}', Parquet)")
connection.query("USE bench")
settings = " SETTINGS max_threads = " + str(task["threads"]) if task["threads"] else ""
seconds = []
for _ in range(task["repeat"] + 1):
    start = time.perf_counter()
    result = connection.query(task["sql"] + settings, "ArrowTable")
    seconds.append(time.perf_counter() - start)
pq.write_table(result, task["result"])
print(json.dumps({"seconds": seconds[1:], "version": str(connection.query("SELECT version()")).strip().strip('"')}))
