"""Flink SQL beside us on the same rows, in an environment of its own (see `benchmarks.peers`)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from benchmarks.peers import install, last_words, python_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TIME_LIMIT = 900
_COLUMNS = [("k", "BIGINT"), ("ts", "TIMESTAMP(3)"), ("x", "DOUBLE"), ("kind", "BIGINT")]
_SCRIPT = Path(__file__).with_name("peer_flink.py")
_OPTIONS = {"parallelism.default": "2", "execution.checkpointing.interval": "1 s"}


def is_there() -> str | None:
    """Install Flink unless it is there; what went wrong, if anything did."""
    return install("flink")


def write_csv(rows: pa.Table, path: Path) -> None:
    """Rows as Flink reads them."""
    options = pa_csv.WriteOptions(include_header=False, quoting_style="none")
    shown = pc.strftime(rows.column("ts").cast(pa.timestamp("ms", "UTC")), "%Y-%m-%d %H:%M:%S")
    pa_csv.write_csv(rows.set_column(1, "ts", shown), path, options)


def start(
    sql: str, result_columns: Sequence[tuple[str, str]], folder: Path, *, bounded: bool, delay: int,
    options: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """A query over the files in FOLDER/flink, into files in FOLDER/found."""
    task: dict[str, Any] = {
        "sql": sql, "columns": _COLUMNS, "result_columns": result_columns, "bounded": bounded, "delay": delay,
        "table": str(folder / "flink"), "result": str(folder / "found"), "stop": str(folder / "stop"),
        "options": {**_OPTIONS, **(options or {})},
    }
    path = folder / "task.json"
    path.write_text(json.dumps(task), encoding="utf-8")
    # Flink's interpreter must find its own packages only.
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYSPARK_PYTHON")}
    return subprocess.Popen(
        [str(python_of("flink")), str(_SCRIPT), str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment,
    )


def run(sql: str, found: pa.Schema, rows: pa.Table, folder: Path) -> tuple[float, int] | str:
    """Seconds from start to end, and how many rows came; or what went wrong."""
    (folder / "flink").mkdir(parents=True)
    write_csv(rows, folder / "flink" / "rows.csv")  # one file: its readers do not wait for each other
    kinds = {"int64": "BIGINT", "double": "DOUBLE"}
    columns = [
        (field.name, "TIMESTAMP(3)" if pa.types.is_timestamp(field.type) else kinds[str(field.type)]) for field in found
    ]
    job = start(sql, columns, folder, bounded=True, delay=1)
    try:
        shown, problems = job.communicate(timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        job.kill()
        return f"more than {TIME_LIMIT} s"
    if job.returncode:
        return "failed: " + last_words(problems)
    seconds = json.loads(shown.splitlines()[-1])["seconds"]
    return seconds, sum(len(lines_of(path)) for path in results(folder))


def results(folder: Path) -> list[Path]:
    """The files that the query has committed."""
    return [path for path in (folder / "found").rglob("*") if path.is_file() and not path.name.startswith((".", "_"))]


def lines_of(path: Path) -> list[str]:
    """The rows of one."""
    return path.read_text(encoding="utf-8").splitlines()
