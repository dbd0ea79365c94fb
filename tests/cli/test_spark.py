"""`rex run` and `rex explain` on Spark, each in a process of its own: a session of theirs must not meet another."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import csv
from tests.cli.commands import ANSWER, rex, started, write_inputs
from tests.workloads.streams import DOORS, PAIR

from sparkrex.cli.session import readable

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.spark
def test_a_run_on_a_local_spark(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    out = tmp_path / "out.parquet"
    options = ["--master", "local[2]", "--conf", "spark.sql.shuffle.partitions=2", "--conf", "spark.ui.enabled=false"]
    done = rex("run", query, "-t", ticks, "-o", str(out), *options, scratch=tmp_path)
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout, lines[0].split()[:3]) == (0, "", ["ticks", "7", "rows"]), done.stderr
    assert lines[1].split()[:3] == ["result", "2", "rows"]
    assert [part.rsplit(" ", 2)[0] for part in lines[2].split("; ")[0].split(", ")] == [
        "plan", "start Spark", "read", "run and write",
    ]
    assert len(lines) == 3, "Spark's own messages stay away"
    assert list(tmp_path.glob("rex-spark-*")) == []
    assert sorted(pq.read_table(out).to_pylist(), key=lambda row: row["symbol"]) == ANSWER


@pytest.mark.spark
@pytest.mark.slow
def test_a_table_that_is_not_there_is_a_wrong_query_also_on_spark(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    ticks = ticks.replace("ticks=", "tick=")
    done = rex("run", query, "-t", ticks, "-o", str(tmp_path / "out"), "--master", "local[2]", scratch=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("error[REX203]")


@pytest.mark.spark
@pytest.mark.slow
def test_a_failure_of_spark_is_3_and_the_log_is_kept(tmp_path: Path) -> None:
    query, _ = write_inputs(tmp_path)
    ticks = f"ticks={tmp_path}/{{none,nothing}}.csv"  # a glob that only Spark reads
    done = rex("run", query, "-t", ticks, "-o", str(tmp_path / "out"), "--master", "local[2]", scratch=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "PATH_NOT_FOUND" in done.stderr
    assert "Traceback" not in done.stderr
    logs = list(tmp_path.glob("rex-spark-*/spark.log"))
    assert len(logs) == 1
    assert f"Spark's log: {logs[0]}" in done.stderr


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("spark")  # a server of Connect has one port: not beside those of tests/spark
def test_a_run_on_spark_connect(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    out = tmp_path / "out.json"
    done = rex("run", query, "-t", ticks, "-o", str(out), "--remote", "local[2]", scratch=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[1].split()[:3] == ["result", "2", "rows"]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in out.glob("part-*")) == 2


@pytest.mark.spark
@pytest.mark.slow
def test_a_workload(tmp_path: Path) -> None:
    pq.write_table(DOORS, tmp_path / "doors.parquet")
    csv.write_csv(pa.table({"name": ["pair"], "text": [f"{PAIR.split(' WITHIN')[0]} WITHIN 5"]}), tmp_path / "p.csv")
    stream = ["-t", str(tmp_path / "doors.parquet"), "--time", "ts", "--type", "sensor"]
    options = ["-o", str(tmp_path / "out.csv"), "--master", "local[2]"]
    done = rex("workload", "run", str(tmp_path / "p.csv"), *stream, *options, scratch=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith("warning: patterns without an equivalence test (pair)")
    assert lines[1] == "1 pattern"
    assert lines[3].split()[:3] == ["result", "4", "rows"]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("what", ["run", "workload run"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_nothing_behind(tmp_path: Path, what: str, number: signal.Signals) -> None:
    if what == "run":
        text = "SELECT * FROM range(1000000000000) WHERE id % 1000000007 = 5"
        (tmp_path / "q.sql").write_text(text, encoding="utf-8")
        given = [str(tmp_path / "q.sql")]
    else:
        many = pa.concat_tables([DOORS.set_column(0, "ts", pc.add(DOORS["ts"], 10 * n)) for n in range(50_000)])
        pq.write_table(many, tmp_path / "doors.parquet")
        (tmp_path / "patterns").mkdir()
        (tmp_path / "patterns" / "pair.rex").write_text(f"{PAIR.split(' WITHIN')[0]} WITHIN 500", encoding="utf-8")
        table = str(tmp_path / "doors.parquet")
        given = [str(tmp_path / "patterns"), "-t", table, "--time", "ts", "--type", "sensor"]
    before = sorted(path.name for path in tmp_path.iterdir())
    (tmp_path / "scratch").mkdir()
    options = ["-o", str(tmp_path / "out"), "--master", "local[2]"]
    with started(*what.split(), *given, *options, scratch=tmp_path / "scratch") as run:
        limit = time.monotonic() + 120
        while not list(tmp_path.glob(".out.*.new/_temporary/*")):  # the job has begun
            assert run.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.05)
        if number == signal.SIGINT:
            os.killpg(run.pid, number)  # a terminal sends it to all processes
        else:
            run.send_signal(number)
        printed, said = run.communicate(timeout=120)
    assert run.returncode == 128 + number, said
    assert printed == ""
    lines = [line for line in said.splitlines() if not line.startswith("warning: ")]
    assert lines == [{signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[number]]
    shutil.rmtree(tmp_path / "scratch")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.spark
@pytest.mark.slow
def test_results_are_printed(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    done = rex("run", query, "-t", ticks, "--json", "--master", "local[2]", scratch=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(json.loads(done.stdout), key=lambda row: row["symbol"]) == ANSWER
    assert done.stderr.splitlines()[1].split() == ["result", "2", "rows", "printed"]


@pytest.mark.spark
@pytest.mark.slow
def test_explain_shows_both_plans(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    done = rex("explain", query, "-t", ticks, "--master", "local[2]", scratch=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "pattern STRT DOWN+ UP+" in done.stdout
    assert "Exchange" in done.stdout
    done = rex("explain", query, "-t", ticks, "--analyze", "--master", "local[2]", scratch=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "by 1 task: 2 rows given" in done.stdout or "tasks: 2 rows given" in done.stdout
    assert "Advice: " not in done.stdout, "the command sets what the advice is about"


def test_a_worker_s_error_is_shown_without_its_surroundings() -> None:
    text = (
        "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n  File \"x.py\", line 1\n"
        "sparkrex.errors.ExecutionError: error[REX401]: it does not advance\n3 | PATTERN (A)\n    ^^^\nhint: try\n\n"
        "\tat org.apache.spark.Task.run(Task.scala:1)\n"
    )
    assert readable(RuntimeError(text)) == "error[REX401]: it does not advance\n3 | PATTERN (A)\n    ^^^\nhint: try"


def test_what_spark_says_is_shown_without_stacks() -> None:
    text = "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n\n\tat org.apache.spark.X(X.scala:1)\nCaused by: y\n"
    assert readable(RuntimeError(text)) == "Spark failed:\n[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012"


