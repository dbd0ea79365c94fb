"""`make bench-peers`: Flink and chdb beside us, on the queries that they can express.

    python -m benchmarks.peers [--rows 1000000] [--flink-rows 200000] [--only W1 ...] [--peers chdb flink] [--json FILE]

Each peer has an environment of its own under `.peers`, made on the first run. SparkRex and DuckDB run over the same
table right before the peer. chdb has the table in its memory; Flink reads a CSV file and writes one, and gets fewer
rows because it is slow. A peer's answer is compared with the expected one: Flink loses the matches at the end of a
partition, so it may have less, but never other rows. Exit code 1 if SparkRex fails or is wrong.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from benchmarks.check import by_value, differences
from benchmarks.data import SEED
from benchmarks.expected import ordered
from benchmarks.machine import describe_machine
from benchmarks.measure import measure
from benchmarks.queries import ALL
from benchmarks.tables import peer_lines, show

if TYPE_CHECKING:
    from benchmarks.query import Answer, Query

FOLDER = Path(".peers")
PACKAGES = {"chdb": ["chdb", "pyarrow"], "flink": ["apache-flink"]}
FLINK_TYPES = {"int64": "BIGINT", "double": "DOUBLE", "string": "STRING", "timestamp[us]": "TIMESTAMP(3)"}
TIME_LIMIT = {"chdb": 600, "flink": 300}


def main() -> int:
    arguments = parse_arguments()
    report: dict[str, Any] = {
        "date": datetime.date.today().isoformat(), "machine": describe_machine(), "seed": SEED, "peers": [],
    }
    print(report["machine"], flush=True)
    is_right = True
    for peer in arguments.peers:
        problem = install(peer)
        if problem:
            print(f"{peer} cannot be installed here: {problem}")
            continue
        for name in arguments.only or ALL:
            query = ALL[name]
            text = query.chdb if peer == "chdb" else query.flink
            if text is None:
                continue
            n_rows = arguments.rows if peer == "chdb" else arguments.flink_rows
            print(f"{peer} {name} ... ", end="", flush=True)
            ours = measure(query, n_rows, arguments.repeat, arguments.threads)
            is_right &= not ours["wrong"]
            theirs = run_peer(peer, query, text, n_rows, arguments)
            report["peers"].append({"peer": peer, "ours": ours} | theirs)
            times = f"{ours['rate'] / theirs['rate']:.1f}x as fast; {theirs['answer']}" if "rate" in theirs else ""
            print(times or theirs["problem"], flush=True)
            if arguments.json:  # after each: a run that is stopped keeps what it has
                arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print()
    show(peer_lines(report))
    return 0 if is_right else 1


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows for chdb (default 1,000,000)")
    parser.add_argument("--flink-rows", type=int, default=200_000, help="rows for Flink (default 200,000)")
    parser.add_argument("--only", nargs="+", choices=ALL, metavar="NAME", help="some queries only")
    parser.add_argument("--peers", nargs="+", choices=PACKAGES, default=list(PACKAGES), help="some peers only")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the median counts (default 3)")
    parser.add_argument("--threads", type=int, help="threads of everybody (default all cores)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    return parser.parse_args()


def python_of(peer: str) -> Path:
    """The interpreter of a peer's environment."""
    return FOLDER / peer / "bin" / "python"


def install(peer: str) -> str | None:
    """Make a peer's environment unless it is there; what went wrong, if anything did."""
    stamp = FOLDER / peer / ".installed"
    if stamp.exists():
        return None
    print(f"installing {peer} into {FOLDER / peer} ...", flush=True)
    venv.create(FOLDER / peer, with_pip=True)
    command = [str(python_of(peer)), "-m", "pip", "install", "--quiet", *PACKAGES[peer]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["pip failed"])[-1]
    stamp.touch()
    return None


def run_peer(peer: str, query: Query, text: str, n_rows: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Speed and answer of a peer, or why it has none."""
    table = query.make(n_rows)
    expected = query.expected(table)
    with tempfile.TemporaryDirectory() as folder:
        task = write_task(peer, table, expected, text, Path(folder), arguments)
        command = [str(python_of(peer)), f"benchmarks/peer_{peer}.py", str(task)]
        # The peer's interpreter must find its own packages only.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        try:
            shown = subprocess.run(
                command, capture_output=True, text=True, check=True, timeout=TIME_LIMIT[peer], env=environment
            )
        except subprocess.TimeoutExpired:
            return {"rows": n_rows, "problem": f"more than {TIME_LIMIT[peer]} s"}
        except subprocess.CalledProcessError as error:
            return {"rows": n_rows, "problem": "failed: " + last_words(error.stderr)}
        measured: dict[str, Any] = json.loads(shown.stdout.splitlines()[-1])
        result = read_result(peer, Path(folder), expected)
    rate = n_rows / statistics.median(measured["seconds"])
    return measured | {"rows": n_rows, "rate": rate, "answer": judge(result, expected)}


def write_task(
    peer: str, table: pa.Table, expected: Answer, text: str, folder: Path, arguments: argparse.Namespace
) -> Path:
    """The files that a peer's script reads."""
    task: dict[str, Any] = {"sql": text, "repeat": arguments.repeat, "threads": arguments.threads}
    task["result"] = str(folder / "result")
    if peer == "chdb":
        # chdb is faster when it knows that no value is NULL.
        required = pa.schema([pa.field(field.name, field.type, nullable=False) for field in table.schema])
        pq.write_table(table.cast(required), folder / "t.parquet")
        task["table"] = str(folder / "t.parquet")
    else:
        if "price" in table.column_names:
            rows = ordered(table, "symbol")
            before = pa.array(rows.previous("price"), from_pandas=True)
            table = rows.table.append_column("price_1", before).sort_by("ts")
        wanted = pa.table({name: pa.array(column) for name, column in expected.items()})
        task["columns"], task["result_columns"] = flink_columns(table), flink_columns(wanted)
        shown = [
            pc.strftime(column.cast(pa.timestamp("ms")), "%Y-%m-%d %H:%M:%S") if pa.types.is_timestamp(column.type)
            else column for column in table.columns
        ]
        options = pa_csv.WriteOptions(include_header=False, quoting_style="none")
        pa_csv.write_csv(pa.table(shown, table.column_names), folder / "t.csv", options)
        task["table"] = str(folder / "t.csv")
    path = folder / "task.json"
    path.write_text(json.dumps(task), encoding="utf-8")
    return path


def flink_columns(table: pa.Table) -> list[tuple[str, str]]:
    """Names and Flink's types."""
    return [(field.name, FLINK_TYPES[str(field.type)]) for field in table.schema]


def read_result(peer: str, folder: Path, expected: Answer) -> pa.Table:
    """What the peer wrote, with the types of the expected answer."""
    wanted = pa.table({name: pa.array(column) for name, column in expected.items()})
    if peer == "chdb":
        return pq.read_table(folder / "result")
    files = sorted(path for path in (folder / "result" / "0").glob("*") if path.stat().st_size)
    kinds = {field.name: field.type for field in wanted.schema}
    read = pa_csv.ReadOptions(column_names=list(kinds))
    parts = [
        pa_csv.read_csv(file, read, convert_options=pa_csv.ConvertOptions(column_types=kinds)) for file in files
    ]
    return pa.concat_tables([wanted.slice(0, 0), *parts])


def judge(result: pa.Table, expected: Answer) -> str:
    """Whether a peer's answer is the expected one, lacks some of it, or is another."""
    problem = differences(result, expected, any_order=True)
    if problem is None:
        return "same answer"
    wanted = by_value(pa.table({name: pa.array(column) for name, column in expected.items()}))
    if result.column_names == wanted.column_names:
        rows = set(map(tuple, wanted.to_pandas().to_numpy().tolist()))
        if all(row in rows for row in map(tuple, result.cast(wanted.schema).to_pandas().to_numpy().tolist())):
            return f"lacks {wanted.num_rows - result.num_rows:,} of {wanted.num_rows:,} rows"
    return f"another answer: {problem}"


def last_words(text: str) -> str:
    """The line of an error output that says what happened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by") or "Exception:" in line]
    return (causes or lines or ["no message"])[-1][:200]


if __name__ == "__main__":
    sys.exit(main())
