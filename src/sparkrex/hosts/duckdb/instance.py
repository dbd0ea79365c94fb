"""One DuckDB instance per process and number of threads, of which every statement gets a connection of its own.

Starting an instance takes longer than a small query. Connections share nothing that a reading statement can change:
views, temporary tables and settings belong to the connection.
"""

from __future__ import annotations

import os
from threading import Lock

import duckdb

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "python_enable_replacements": False,
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
}
_instances: dict[int | None, duckdb.DuckDBPyConnection] = {}
# An instance whose threads a fork left behind cannot be shut down: it is kept, untouched, until the process ends.
_abandoned: list[duckdb.DuckDBPyConnection] = []
_lock = Lock()


def shared_connection(threads: int | None) -> duckdb.DuckDBPyConnection:
    """A new connection to this process's instance."""
    with _lock:
        if threads not in _instances:
            _instances[threads] = private_connection(threads)
        return _instances[threads].cursor()


def private_connection(threads: int | None) -> duckdb.DuckDBPyConnection:
    """A new connection to an instance of its own, for a statement that may change what others see."""
    config = _CONFIG if threads is None else {**_CONFIG, "threads": threads}
    return duckdb.connect(":memory:", config=config)


def forbid_files() -> None:
    """From now on no statement of this process opens a file by itself: tables are what it is given."""
    _CONFIG["enable_external_access"] = False
    forget_instances()


def forget_instances() -> None:
    """Start again with the next statement: DuckDB refuses all work after an error of its own."""
    with _lock:
        _instances.clear()


def _after_fork() -> None:
    global _lock
    _lock = Lock()
    _abandoned.extend(_instances.values())
    _instances.clear()


os.register_at_fork(after_in_child=_after_fork)
