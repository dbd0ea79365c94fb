"""One Spark session for all tests of this folder, in one process also when pytest runs several.

Every test here is marked `spark` and belongs to one xdist group, so `--dist loadgroup` keeps them on one worker.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spark.sample import TICKS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_HERE = Path(__file__).parent
# Golden cases say for themselves which of them are slow.
_IN_MAKE_TEST = (
    "test_smoke.py", "test_cases.py", "test_streaming.py", "test_stream_refusals.py",
    "test_files.py", "test_footers.py", "test_statistics.py", "test_row_sql.py", "test_units.py", "test_recipes.py",
    "test_measured.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of this folder before `-m` looks at marks."""
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.spark)
            if item.path.name not in _IN_MAKE_TEST:
                item.add_marker(pytest.mark.slow)  # the whole folder takes longer than `make test` may
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def java() -> str:
    """The java command that Spark will use; without one, tests are skipped."""
    home = os.environ.get("JAVA_HOME")
    command = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if command is None:
        pytest.skip("no JVM: neither JAVA_HOME nor PATH has a java; `make setup` and `make test` provide one")
    return command


@pytest.fixture(scope="session")
def spark(java: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session that all tests share. Nothing a test leaves in it may matter to another."""
    del java
    from pyspark.sql import SparkSession

    # Workers must run this interpreter, not whatever `python3` is on PATH.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # PySpark reports every failed query as JSON on stderr; failing queries are half of what is tested here.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    folder = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2]")
        .appName("sparkrex tests")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.log.level", "OFF")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.default.parallelism", "2")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.ansi.enabled", "true")  # as Spark 4 has it; the cases are written for that
        .config("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
        .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.local.dir", str(folder / "local"))
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """A Python with nothing installed."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    return tmp_path / "bare" / "bin" / "python"


@pytest.fixture
def ticks(spark: SparkSession) -> DataFrame:
    """The sample as a DataFrame."""
    return spark.createDataFrame(TICKS)


@pytest.fixture
def jobs(spark: SparkSession) -> Iterator[Callable[[], int]]:
    """A function that gives the number of jobs that this test has started."""
    context = spark.sparkContext
    group = uuid.uuid4().hex
    context.setJobGroup(group, "counted")
    yield lambda: len(context.statusTracker().getJobIdsForGroup(group))
    context.setJobGroup("", "")
