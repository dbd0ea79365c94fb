"""Statements share one DuckDB instance and see nothing of each other; those that could change it get their own."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref

import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.hosts.duckdb import instance as duckdb_instance
from sparkrex.hosts.duckdb.host import DuckDbHost
from sparkrex.settings import Settings
from sparkrex.source import Source
from sparkrex.syntax.tokens import find_dialect


def host(text: str = "SELECT 1", dialect: str = "spark", **settings: object) -> DuckDbHost:
    return DuckDbHost(Source(text), find_dialect(dialect), dialect, Settings(**settings))  # type: ignore[arg-type]


def tables_seen(asked: DuckDbHost) -> set[str]:
    names = asked.query("SELECT table_name FROM information_schema.tables", None).column(0).to_pylist()
    return {str(name) for name in names}


def test_tables_of_one_statement_are_unknown_to_another() -> None:
    first, second = host(), host(dialect="oracle")
    first.register("t", pa.table({"x": [1]}))
    assert first.query("SELECT x FROM t", None).to_pylist() == [{"x": 1}]
    assert "t" not in tables_seen(second)
    assert "dual" in tables_seen(second)
    assert "dual" not in tables_seen(first)
    first.close()
    assert tables_seen(host()) == set()


def test_settings_of_one_statement_do_not_reach_another() -> None:
    paris, other, typed = host(time_zone="Europe/Paris"), host(dialect="duckdb"), host(dialect="trino")
    asked = "SELECT current_setting('TimeZone') AS zone, 7 / 2 AS half"
    assert paris.query(asked, None).to_pylist() == [{"zone": "Europe/Paris", "half": 3.5}]
    assert typed.query(asked, None).to_pylist() == [{"zone": "UTC", "half": 3}]
    assert other.query(asked, None).to_pylist() == [{"zone": "UTC", "half": 3.5}]


@pytest.mark.parametrize(
    "text",
    ["CREATE TABLE kept AS SELECT 1 AS x", "SELECT 1; CREATE TABLE kept AS SELECT 1 AS x", "SELECT 1 AS x INTO kept"],
)
def test_a_statement_that_may_write_has_an_instance_of_its_own(text: str) -> None:
    writer = host(text, "duckdb")
    writer.connection.execute("CREATE TABLE kept AS SELECT 1 AS x")
    assert "kept" in tables_seen(writer)
    assert "kept" not in tables_seen(host())


@pytest.mark.parametrize("text", ["select 1", " (SELECT 1)", "WITH t AS (SELECT 1) SELECT * FROM t;\n", "VALUES (1)"])
def test_reading_statements_share(text: str) -> None:
    shared = host("SELECT 1").query("SELECT current_setting('threads')", None)
    asked = host(text)
    asked.connection.execute("CREATE TABLE marker AS SELECT 1 AS x")
    try:
        assert "marker" in tables_seen(host())
    finally:
        asked.connection.execute("DROP TABLE marker")
    assert shared.num_rows == 1


def test_variables_of_the_caller_are_not_looked_up() -> None:
    secret = pa.table({"x": [1]})
    with pytest.raises(rex.AnalysisError, match="REX203"):
        rex.sql("SELECT * FROM secret")
    assert secret.num_rows == 1


def test_a_closed_statement_keeps_no_table() -> None:
    asked = host()
    table = pa.table({"x": [1, 2, 3]})
    asked.register("t", table)
    asked.query("SELECT sum(x) FROM t", None)
    gone = weakref.ref(table)
    asked.close()
    del table, asked
    gc.collect()
    assert gone() is None


def test_threads_are_those_of_the_settings() -> None:
    assert host(threads=1).query("SELECT current_setting('threads') AS n", None).to_pylist() == [{"n": 1}]


def test_many_threads_run_statements_at_once() -> None:
    results: dict[int, object] = {}

    def run(number: int) -> None:
        table = pa.table({"x": [number] * 3})
        results[number] = rex.sql("SELECT sum(x) AS s FROM t", t=table).to_pylist()

    workers = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == {number: [{"s": 3 * number}] for number in range(8)}


def test_after_an_error_of_duckdbs_own_a_new_instance_is_used() -> None:
    host().query("SELECT 1", None)
    before = duckdb_instance.shared_connection(None)
    before.execute("CREATE TABLE old AS SELECT 1 AS x")
    duckdb_instance.forget_instances()
    assert "old" not in tables_seen(host())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_starts_its_own_instance() -> None:
    """In a process of its own, because pytest's may hold threads."""
    code = """
import os, sys, pyarrow as pa, sparkrex as rex
table = pa.table({"x": [1, 2]})
query = "SELECT sum(x) AS s FROM t"
assert rex.sql(query, t=table).to_pylist() == [{"s": 3}]
child = os.fork()
if child == 0:
    os._exit(0 if rex.sql(query, t=table).to_pylist() == [{"s": 3}] else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60, check=False).returncode == 0


def test_ctrl_c_ends_a_statement_of_the_host() -> None:
    program = """
import os, signal, threading
import pyarrow as pa, sparkrex as rex
signal.signal(signal.SIGINT, signal.default_int_handler)
rex.sql("SELECT count(*) FROM range(10) a", dialect="duckdb")
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
rex.sql("SELECT count(*) FROM range(1000000000000) a, t WHERE a.range % 7 = t.x + 98", t=pa.table({"x": [1]}),
        dialect="duckdb")
"""
    # Without an answer it would run for hours.
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode != 0
    assert "KeyboardInterrupt" in ended.stderr
    assert "REX901" not in ended.stderr
