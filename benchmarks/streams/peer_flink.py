"""Run a query in Flink SQL as a stream; Flink's own environment calls this file. Prints JSON.

    python benchmarks/streams/peer_flink.py TASK.json

From CSV files into CSV files. With `bounded` the stream ends with the files that are there, and the seconds from start
to end are printed; otherwise it goes on with files that come until there is a file named `stop`.
"""

import json
import sys
import time
from pathlib import Path

import pyflink.version  # type: ignore[import-not-found]
from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]

task = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
for name, value in task["options"].items():
    environment.get_config().set(name, value)
columns = ", ".join(f"`{name}` {kind}" for name, kind in task["columns"])
connector = "'connector' = 'filesystem', 'format' = 'csv'"
watching = "" if task["bounded"] else ", 'source.monitor-interval' = '100 ms'"
environment.execute_sql(
    f"CREATE TABLE t ({columns}, WATERMARK FOR ts AS ts - INTERVAL '{task['delay']}' SECOND) "
    f"WITH ({connector}, 'path' = '{task['table']}'{watching})"
)
kinds = ", ".join(f"`{name}` {kind}" for name, kind in task["result_columns"])
environment.execute_sql(f"CREATE TABLE found ({kinds}) WITH ({connector}, 'path' = '{task['result']}')")
start = time.perf_counter()
job = environment.sql_query(task["sql"]).execute_insert("found")
if task["bounded"]:
    job.wait()
else:
    while not Path(task["stop"]).exists():
        time.sleep(0.1)
    job.get_job_client().cancel()
print(json.dumps({"seconds": time.perf_counter() - start, "version": pyflink.version.__version__}))
