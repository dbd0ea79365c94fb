"""Spark for one command: a session, tables from files, how far a job is, and what went wrong in a few lines.

Of this folder only this file, `spark_output.py` and those that run streams import pyspark. Spark's log goes to a file,
because Spark says a lot also when all is well; the file is kept, and named, when something failed.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sparkrex.cli.cancelling import Cancelling
from sparkrex.cli.failures import Failed, SparkLost, UsageError
from sparkrex.errors import is_from_spark, with_options

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from sparkrex.cli.files import TableFile
    from sparkrex.cli.progress import Progress
    from sparkrex.spark.files.opening import SparkFiles

# Our error inside the text of another one: up to a blank line or the next stack trace.
_OUR_ERROR = re.compile(r"(?:internal )?error\[REX\d{3}\]: .*?(?=\n\s*(?:at |Traceback|SQLSTATE|\n)|\Z)", re.DOTALL)
_STACK_LINE = re.compile(r"\s+at |\s*\.\.\. \d+ more|Caused by:|JVM stacktrace")
_LONGEST_MESSAGE = 12


class Scratch:
    """A folder for what Spark leaves behind, above all its log; `keep()` makes it outlive the command."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rex-spark-"))
        self.log = self.folder / "spark.log"
        self.is_kept = False

    def keep(self) -> str:
        """A line that says where the log is; empty if nothing was logged."""
        self.is_kept = self.log.exists() and self.log.stat().st_size > 0
        return f"Spark's log: {self.log}" if self.is_kept else ""

    def remove(self) -> None:
        """Delete the folder, unless it is to be kept."""
        if not self.is_kept:
            shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def takes_stderr(self) -> Iterator[None]:
        """Processes started inside write their standard error to the log, for as long as they live."""
        sys.stderr.flush()
        own = os.dup(2)
        with self.log.open("ab") as log:
            os.dup2(log.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(own, 2)
            os.close(own)


@contextmanager
def spark_session(arguments: argparse.Namespace, time_zone: str, progress: Progress) -> Iterator[SparkSession]:
    """A session for the time of the command; whatever Spark raises inside comes out as `Failed`.

    Its time zone is that of our settings, so that a query gives one answer in memory and on Spark.
    """
    try:
        from pyspark.sql import SparkSession

        from sparkrex.spark.versions import BYTES_PER_BATCH, NO_LIMIT, error_loggers, need_version
    except ImportError as error:
        raise UsageError("--master and --remote need pyspark: pip install 'sparkrex[spark]'") from error
    if arguments.remote:
        need_version((4, 0), "Spark Connect")
    url = arguments.remote or arguments.master
    for logger in error_loggers():
        # They print every error of Spark's, with its Java stack, also those that are shown as ours.
        logger.disabled = True
    scratch = Scratch()
    builder = SparkSession.builder.appName("rex").config("spark.sql.session.timeZone", time_zone)
    builder = builder.remote(url) if arguments.remote else builder.master(url)
    if url.startswith("local"):
        # Workers on this machine would otherwise use whatever `python3` is.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.config("spark.sql.warehouse.dir", str(scratch.folder / "warehouse"))
        builder = builder.config("spark.ui.showConsoleProgress", "false")
    # Spark 4 weighs a batch for Python after every row, which takes longer than to write the row (docs/deploy.md).
    builder = builder.config(BYTES_PER_BATCH, NO_LIMIT)
    for name, value in arguments.conf:
        builder = builder.config(name, value)
    try:
        with progress.stage("start Spark"), scratch.takes_stderr():
            spark = builder.getOrCreate()
        try:
            with Cancelling(lambda: _cancel_jobs(spark)):
                yield spark
        finally:
            _stop(spark)
    except Exception as error:
        if _is_loss(error):
            raise SparkLost(f"Spark's process has ended\n{scratch.keep()}".rstrip()) from error
        if not is_from_spark(error):
            raise
        message = readable(error)
        raise Failed(f"{message}\n{scratch.keep()}".rstrip(), is_internal=message.startswith("internal")) from error
    finally:
        scratch.remove()


def _cancel_jobs(spark: SparkSession) -> None:
    """End whatever the session runs."""
    from pyspark.sql.utils import is_remote

    if is_remote():
        spark.interruptAll()
    else:
        spark.sparkContext.cancelAllJobs()


def _stop(spark: SparkSession) -> None:
    """Whatever still runs: a signal may have ended Spark's process with ours."""
    try:
        spark.stop()
    except Exception as error:
        if not _is_loss(error):
            raise


def read_table(spark: SparkSession, table: TableFile) -> SparkFiles:
    """The table's files, as Spark reads them."""
    from sparkrex.spark.files.opening import read_files

    return read_files(spark, table.path, table.format)


def is_ending(spark: SparkSession) -> bool:
    """Whether Spark's process has been told to end, and ends what it runs."""
    return bool(spark.sparkContext._jsc.sc().isStopped())


def job_progress(spark: SparkSession) -> Callable[[], str]:
    """How far the running stages are; Spark Connect does not say, so nothing there."""
    try:
        tracker = spark.sparkContext.statusTracker()
    except Exception:  # the Connect session refuses the attribute with an error of its own
        return lambda: ""

    def stages() -> str:
        try:
            running = [info for number in tracker.getActiveStageIds() if (info := tracker.getStageInfo(number))]
        except Exception:  # the session is ending
            return ""
        return "; ".join(f"stage {s.stageId}: {s.numCompletedTasks} of {s.numTasks} tasks" for s in running)

    return stages


def readable(error: BaseException) -> str:
    """Our error if a worker raised one; else what Spark says, without stack traces."""
    text = str(error)
    ours = _OUR_ERROR.search(text)
    if ours is not None:
        return with_options(ours[0].rstrip())
    told = list(itertools.takewhile(lambda line: not _STACK_LINE.match(line), filter(str.strip, text.splitlines())))
    return "\n".join(["Spark failed:", *told[:_LONGEST_MESSAGE]])


def _is_loss(error: BaseException) -> bool:
    """Whether nobody answers where Spark's process was."""
    return isinstance(error, ConnectionError) or type(error).__name__ == "Py4JNetworkError"
