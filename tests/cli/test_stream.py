"""`rex run --stream` in processes of its own: files, rates, Kafka's absence, signals, and what comes out."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import rex as command

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

pytestmark = pytest.mark.spark

PAGE = Path(__file__).parents[2] / "docs" / "streaming.md"
_SECTION = re.compile(r"^## From the shell\n(.*?)^## ", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```sh\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```)?", re.MULTILINE | re.DOTALL)
_PATIENCE = 240
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_SMALL = ["--master", "local[2]", "--conf", "spark.ui.enabled=false", "--set", "buckets=4"]

PAYMENTS = """SELECT p.user, p.status, p.paid_at FROM payments MATCH_RECOGNIZE (
  PARTITION BY user ORDER BY ts
  MEASURES MATCH_STATUS() AS status, FIRST(P.ts) AS paid_at
  ONE ROW PER MATCH SHOW TIMEOUT MATCHES
  PATTERN (P C) WITHIN INTERVAL '1' MINUTE
  DEFINE P AS kind = 'pay', C AS kind = 'confirm') p"""
TRIPLES = """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY timestamp MEASURES FIRST(A.value) AS first, LAST(B.value) AS last
  PATTERN (A B B) DEFINE A AS value % 5 = 0)"""


@pytest.mark.slow
def test_the_page_shows_what_comes_out(tmp_path: Path) -> None:
    """Rows of a batch come in no order, and their batches are told on standard error."""
    section = _SECTION.search(PAGE.read_text(encoding="utf-8"))
    assert section is not None
    found = list(_BLOCK.finditer(section[1]))
    assert found
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for block in found:
        done = subprocess.run(
            ["bash", "-e", "-c", block["code"]], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True,
            text=True, timeout=_PATIENCE, check=False,
        )
        assert done.returncode == 0, done.stderr
        assert sorted(done.stdout.splitlines()) == sorted((block["shown"] or "").splitlines()), done.stderr


@dataclass
class Running:
    """A command that runs, its output in files."""

    process: subprocess.Popen[bytes]
    out: Path
    err: Path

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Look again and again; the command must not end meanwhile."""
        ends = time.monotonic() + _PATIENCE
        while not is_so():
            assert self.process.poll() is None, self.err.read_text()
            assert time.monotonic() < ends, self.err.read_text()
            time.sleep(0.1)

    def end(self) -> tuple[int, str]:
        """The exit code and what was said, once it has ended."""
        code = self.process.wait(_PATIENCE)
        return code, self.err.read_text()


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[Running]:
    """The command, in a group of processes as a shell would start it."""
    code = "import sys; from sparkrex.cli.main import main; sys.exit(main())"
    out, err = folder / "stdout", folder / "stderr"
    with out.open("wb") as to, err.open("wb") as told:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdout=to, stderr=told, start_new_session=True,
            env={**os.environ, "TMPDIR": str(folder)},
        )
    try:
        yield Running(process, out, err)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def payments(folder: Path, first: int, n_rows: int = 30) -> pa.Table:
    """A file more: payments of three users, a row each 10 seconds, and about a third of them confirmed."""
    numbers = range(first, first + n_rows)
    table = pa.table({
        "user": [f"u{number % 3}" for number in numbers],
        "kind": ["confirm" if number % 7 in (3, 5) else "pay" for number in numbers],
        "ts": pa.array(
            [datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=10 * number) for number in numbers],
            pa.timestamp("us", "UTC"),
        ),
    })
    write(folder, table, f"{first:05}")
    return table


def write(folder: Path, table: pa.Table, name: str) -> None:
    """A file that appears at once, behind those that are there."""
    (folder / "in").mkdir(exist_ok=True)
    hidden = folder / "in" / f"_{name}"
    pq.write_table(table, hidden)
    os.utime(hidden, (1_000_000_000 + len(list((folder / "in").iterdir())),) * 2)
    hidden.rename(folder / "in" / f"{name}.parquet")


def written(out: Path) -> list[dict[str, Any]]:
    """The rows of the files that the sink has committed."""
    paths = set()
    for log in (out / "_spark_metadata").glob("[0-9]*"):
        for line in log.read_text(encoding="utf-8").splitlines()[1:]:
            paths.add(json.loads(line)["path"].removeprefix("file://"))
    return by_time(row for path in paths for row in pq.read_table(path).to_pylist())


def by_time(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in their order; Spark's files have times in UTC without saying so."""
    plain = [row | {"paid_at": row["paid_at"].replace(tzinfo=None)} for row in rows]
    return sorted(plain, key=lambda row: (row["paid_at"], row["user"]))


@pytest.mark.slow
def test_ctrl_c_and_again(tmp_path: Path) -> None:
    """What two runs have written, the first of them interrupted, is the answer over the table."""
    (tmp_path / "q.sql").write_text(PAYMENTS, encoding="utf-8")
    tables = [payments(tmp_path, 30 * number) for number in range(8)]
    arguments = [
        "run", str(tmp_path / "q.sql"), "--stream", f"payments={tmp_path}/in", "--watermark", "ts 5 seconds",
        "--files-per-batch", "1", "-o", str(tmp_path / "out"), "--checkpoint", str(tmp_path / "cp"), *_SMALL,
    ]
    with running(tmp_path, *arguments) as run:
        run.wait_until((tmp_path / "cp" / "commits" / "1").exists)
        run.process.send_signal(signal.SIGINT)
        code, told = run.end()
    assert code == 128 + signal.SIGINT, told
    assert "Traceback" not in told
    assert told.splitlines()[-1] == f"stopped; the same command goes on from {tmp_path}/cp"
    assert re.search(r"^\d+ batch(es)?: \d+ rows in, 0 late, \d+ out to ", told, re.MULTILINE)
    n_first = len(written(tmp_path / "out"))
    # The last row ends all windows, and begins nothing.
    last = {"user": ["u0"], "kind": ["confirm"], "ts": [datetime(2026, 3, 2, tzinfo=UTC)]}
    tables.append(pa.table(last, schema=tables[0].schema))
    write(tmp_path, tables[-1], "99999")
    with running(tmp_path, *arguments, "--available-now") as run:
        code, told = run.end()
    assert code == 0, told
    found = written(tmp_path / "out")
    expected = rex.sql(PAYMENTS, payments=pa.concat_tables(tables)).to_pylist()
    assert found == by_time(expected)
    assert 0 < n_first < len(found)
    # A new checkpoint for an old output would leave out batches that the output believes to have.
    other = [text.replace(f"{tmp_path}/cp", f"{tmp_path}/other") for text in arguments]
    done = command(*other, scratch=tmp_path)
    assert (done.returncode, f"{tmp_path}/other is no checkpoint of a query that wrote it" in done.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("is_whole_group", [False, True])
def test_a_rate_until_it_is_terminated(tmp_path: Path, is_whole_group: bool) -> None:
    """A service manager may end all processes at once, Spark's too."""
    (tmp_path / "q.sql").write_text(TRIPLES, encoding="utf-8")
    stream = ["--stream", "ticks=rate://50?numPartitions=2", "--watermark", "timestamp 0 seconds", "--format", "json"]
    with running(tmp_path, "run", str(tmp_path / "q.sql"), *stream, *_SMALL) as run:
        run.wait_until(lambda: run.out.stat().st_size > 0)
        if is_whole_group:
            os.killpg(run.process.pid, signal.SIGTERM)
        else:
            run.process.terminate()
        code, told = run.end()
        rows = [json.loads(line) for line in run.out.read_text(encoding="utf-8").splitlines()]
    assert code == 128 + signal.SIGTERM, told
    assert told.splitlines()[-1] == "stopped"
    assert is_whole_group or "Traceback" not in told  # of py4j, which calls from Spark's process reach no more
    assert rows
    assert all(row["first"] % 5 == 0 and row["last"] == row["first"] + 2 for row in rows)


@pytest.mark.slow
def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    """`rex run ... | head -1` ends, and says nothing of it."""
    (tmp_path / "q.sql").write_text(TRIPLES, encoding="utf-8")
    stream = ["--stream", "ticks=rate://50", "--watermark", "timestamp 0 seconds", "--format", "csv", *_SMALL]
    text = " ".join(f"'{part}'" for part in [
        sys.executable, "-c", "import sys; from sparkrex.cli.main import main; sys.exit(main())", "run",
        str(tmp_path / "q.sql"), *stream,
    ])
    done = subprocess.run(
        ["bash", "-c", f"{text} | head -1; exit ${{PIPESTATUS[0]}}"], capture_output=True, text=True, timeout=_PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, '"first","last"\n'), done.stderr
    assert "Broken" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_table_beside_and_text_columns(tmp_path: Path) -> None:
    """Of JSON the time is a string, which the watermark makes a timestamp; Parquet may have one without a zone."""
    (tmp_path / "q.sql").write_text(PAYMENTS.replace(") p", ") p JOIN people USING (user) WHERE people.is_known"))
    pq.write_table(pa.table({"user": ["u0", "u1"], "is_known": [True, False]}), tmp_path / "people.parquet")
    table = payments(tmp_path, 0)
    (tmp_path / "json").mkdir()
    lines = [json.dumps({**row, "ts": row["ts"].isoformat()}) for row in table.to_pylist()]
    (tmp_path / "json" / "a.json").write_text("\n".join(lines), encoding="utf-8")
    done = command(
        "run", str(tmp_path / "q.sql"), "--stream", f"payments={tmp_path}/json", "--watermark", "payments=ts 0 seconds",
        "-t", f"people={tmp_path}/people.parquet", "--available-now", "--format", "json", *_SMALL, scratch=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows
    assert {row["user"] for row in rows} == {"u0"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ([], 1, "--watermark 'ts 10 seconds'"),
        (["--watermark", "at 5 seconds"], 2, "has no column at for --watermark"),
        (["--watermark", "kind 5 parsecs"], 2, "is no delay such as '10 seconds'"),
        (["--watermark", "ts 5 seconds", "--schema", "a b c"], 2, "--schema 'a b c' cannot be read"),
        (["--watermark", "ts 5 seconds", "--trigger", "soon"], 2, "'soon' is no time such as '5 seconds'"),
        (["--stream", "u=kafka://127.0.0.1:9/t", "--watermark", "ts 5 seconds"], 2, "spark-sql-kafka-0-10_2.13:"),
        (
            ["--watermark", "ts 5 seconds", "-o", "kafka://127.0.0.1:9/t", "--checkpoint", "{cp}"], 2,
            "add --conf spark.jars.packages=org.apache.spark:spark-sql-kafka-0-10_2.13:",
        ),
        (["--stream", "u=pulsar://here/t", "--watermark", "ts 5 seconds"], 2, "nothing reads pulsar://"),
        (["--watermark", "ts 5 seconds", "--conf", f"{_PROVIDER}=Other"], 1, f"hint: --conf {_PROVIDER}="),
    ],
)
def test_what_only_spark_knows_to_be_wrong(tmp_path: Path, options: list[str], code: int, words: str) -> None:
    (tmp_path / "q.sql").write_text(PAYMENTS, encoding="utf-8")
    payments(tmp_path, 0)
    stream = ["--stream", f"payments={tmp_path}/in", *(text.format(cp=tmp_path / "cp") for text in options)]
    done = command("run", str(tmp_path / "q.sql"), *stream, *_SMALL, scratch=tmp_path)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_query_that_fails_says_where(tmp_path: Path) -> None:
    text = PAYMENTS.replace("SHOW TIMEOUT MATCHES", "AFTER MATCH SKIP TO LAST C").replace("(P C)", "(P C?)")
    (tmp_path / "q.sql").write_text(text, encoding="utf-8")
    payments(tmp_path, 0)
    stream = ["--stream", f"payments={tmp_path}/in", "--watermark", "ts 5 seconds"]
    done = command("run", str(tmp_path / "q.sql"), *stream, *_SMALL, scratch=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "error[REX402]" in done.stderr
    assert "^" in done.stderr
    assert "in batch" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_workload(tmp_path: Path) -> None:
    (tmp_path / "patterns").mkdir()
    (tmp_path / "patterns" / "paid.rex").write_text("PATTERN SEQ(pay a, confirm b) WHERE [user] WITHIN 1 minute")
    table = payments(tmp_path, 0)
    done = command(
        "workload", "run", str(tmp_path / "patterns"), "--time", "ts", "--type", "kind", "--stream", f"{tmp_path}/in",
        "--watermark", "ts 0 seconds", "--available-now", "--format", "json", *_SMALL, scratch=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("1 pattern\n")
    found = sorted((row["user"], row["ts"][:19], row["variable"]) for row in map(json.loads, done.stdout.splitlines()))
    whole = rex.workload({"paid": (tmp_path / "patterns" / "paid.rex").read_text()}, time="ts", type="kind")
    rows = whole.detect(table).table.to_pylist()
    assert found
    assert set(found) <= {(row["user"], row["ts"].isoformat()[:19], row["variable"]) for row in rows}


@pytest.mark.slow
def test_explain(tmp_path: Path) -> None:
    text = PAYMENTS.replace("WITHIN INTERVAL '1' MINUTE", "").replace("SHOW TIMEOUT MATCHES", "")
    (tmp_path / "q.sql").write_text(text, encoding="utf-8")
    payments(tmp_path, 0)
    stream = ["--stream", f"payments={tmp_path}/in", "--watermark", "ts 5 seconds"]
    done = command("explain", str(tmp_path / "q.sql"), *stream, "--master", "local[2]", scratch=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "State of silent keys" in done.stdout
