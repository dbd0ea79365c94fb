"""How a task reaches the workers, and what is said where they lack the package or what it needs.

Workers run a Python of their own: on another machine, or the `python3` of the path where a script was started by its
environment's Python. A task pickled as usual names our modules, and such a worker would fail while reading it, with
frames of PySpark only. So what is shipped is a function by value that looks for the packages first. Where workers run
on this machine their Python is asked once per session, before any job. `spark.package` sends the package itself.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pyspark import cloudpickle

from sparkrex.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession

    from sparkrex.spark.streaming.processor import StreamWork

NEEDED = ("sparkrex", "pyarrow", "numpy", "numba", "duckdb", "sqlglot")
_LIST_MISSING = (
    "import importlib.util as u; "
    f"print(' '.join(name for name in {NEEDED!r} if u.find_spec(name) is None))"
)
_HINT = (
    "set PYSPARK_PYTHON (or spark.pyspark.python for spark-submit) to a Python that has sparkrex, before the session "
    "starts; if only sparkrex is missing, rex.ship(spark) sends it, as does --py-files with its wheel"
)
_checked: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def workers_lack(python: str, missing: str) -> ExecutionError:
    """The error of workers whose Python lacks packages."""
    return ExecutionError(
        "REX413", f"Spark's workers run {python}, which lacks {missing}", None, None, hint=_HINT,
        command_hint="--conf spark.pyspark.python=PATH names a Python of theirs that has sparkrex; if only sparkrex is "
        "missing, --conf spark.submit.pyFiles=PATH sends its wheel",
    )


def check_local_workers(spark: SparkSession) -> None:
    """Raise REX413 if workers on this machine cannot import the package; asked once for each classic session."""
    context = getattr(spark, "_sc", None)  # Connect sessions have none, and raise if asked for it by its public name
    if context is None or context in _checked:
        return
    _checked[context] = True
    # What was sent along (--py-files, addPyFile) or set for workers alone is on their path only once a job runs.
    conf = context.getConf()
    is_sent = any(conf.get(name, "") for name in ("spark.submit.pyFiles", "spark.executorEnv.PYTHONPATH"))
    is_sent = is_sent or bool(getattr(context, "_python_includes", None))
    if context.pythonExec == sys.executable or not context.master.startswith("local") or is_sent:
        return
    try:
        asked = subprocess.run(
            [context.pythonExec, "-c", _LIST_MISSING], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return  # Spark itself says best what is wrong with such a Python
    if missing := asked.stdout.split():
        del _checked[context]
        raise workers_lack(context.pythonExec, ", ".join(missing))


def shipped_task(
    task: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The task as a function that workers can read without the package, if only to say that they lack it."""
    load = _shipped(task)

    # Nothing here may name a global of this module: it would be read in the worker before the first line runs.
    def run(batches: Any) -> Any:
        yield from load()(batches)

    run.__module__ = "__main__"  # cloudpickle sends functions of this module by value
    run.__name__ = run.__qualname__ = type(task).__name__
    return run


def shipped_processor(work: StreamWork) -> Any:
    """The work on a stream as a stateful processor that workers can read without the package."""
    load = _shipped(work)

    # As above. Spark asks for these methods, for no class.
    class Processor:
        def init(self, handle: Any) -> None:
            self.processor = load().processor()
            self.processor.init(handle)

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: N802, N803  Spark's names
            return self.processor.handle_rows(key[0], [row[1] for row in rows], timerValues)

        def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Any:  # noqa: N802, N803
            return self.processor.handle_timer(key[0], timerValues)

        def close(self) -> None:
            self.processor.close()

    Processor.__module__ = "__main__"
    Processor.__qualname__ = Processor.__name__
    return Processor()


def _shipped(task: object) -> Callable[[], Any]:
    """A function that gives the task in a worker, once the package is found there."""
    pickled: bytes = cloudpickle.dumps(task)  # type: ignore[no-untyped-call]
    hint, needed = _HINT, NEEDED

    def load() -> Any:
        import importlib.util
        import pickle
        import sys
        from pathlib import Path

        if importlib.util.find_spec("sparkrex") is None:
            # Of what is sent with --py-files Spark puts zips on the path of workers, but no wheels.
            from pyspark import SparkFiles

            sys.path += map(str, Path(SparkFiles.getRootDirectory()).glob("sparkrex-*.whl"))
            importlib.invalidate_caches()
        # A package that is loaded late would otherwise fail late, in the middle of a search.
        missing = ", ".join(name for name in needed if name not in sys.modules and not importlib.util.find_spec(name))
        if missing:
            lacking = f"error[REX413]: Spark's workers run {sys.executable}, which lacks {missing}"
            raise ImportError(f"{lacking}\nhint: {hint}")
        return pickle.loads(pickled)

    load.__module__ = "__main__"
    load.__qualname__ = load.__name__
    return load
