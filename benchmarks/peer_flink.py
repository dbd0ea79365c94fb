"""Run one query in Flink SQL, batch mode; its own environment calls this file. Prints JSON.

    python benchmarks/peer_flink.py TASK.json

From a CSV file into a CSV file, because reading rows back into Python would be slower than any of it. The task also
names the columns with Flink's types.
"""

import json
import sys
import time
from pathlib import Path

import pyflink.version  # type: ignore[import-not-found]
from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]

task = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
environment.get_config().set("parallelism.default", str(task["threads"] or 2))
columns = ", ".join(f"`{name}` {kind}" for name, kind in task["columns"])
connector = "'connector' = 'filesystem', 'format' = 'csv', 'csv.null-literal' = ''"
environment.execute_sql(
    f"CREATE TABLE t ({columns}, WATERMARK FOR ts AS ts) WITH ({connector}, 'path' = '{task['table']}')"
)
seconds = []
for number in range(task["repeat"]):
    found = environment.sql_query(task["sql"])
    kinds = ", ".join(f"`{name}` {kind}" for name, kind in task["result_columns"])
    path = f"{task['result']}/{number}"
    environment.execute_sql(f"CREATE TABLE out_{number} ({kinds}) WITH ({connector}, 'path' = '{path}')")
    start = time.perf_counter()
    found.execute_insert(f"out_{number}").wait()
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": seconds, "version": pyflink.version.__version__}))
