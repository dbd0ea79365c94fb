"""A Kafka broker for tests, and Spark's connector to it: a Java process on a free port of this machine.

The Ivy that comes with Spark fetches their jars from the Maven registry into `.kafka`. Nothing else is needed.
"""

from __future__ import annotations

import base64
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_FOLDER = Path(__file__).parents[2] / ".kafka"
_N_PARTITIONS = 3
_PATIENCE = 60
"""Seconds that a broker may take to start."""
_UNREACHABLE = ("Server access error", "Host ")
"""How Ivy begins a line about a registry that does not answer."""


class _Module(NamedTuple):
    """A module of the registry; `alone` without what it depends on."""

    group: str
    name: str
    version: str
    alone: bool = False


_BROKER = [_Module("org.apache.kafka", "kafka_2.13", "3.9.2")]
_CONNECTOR = "spark-sql-kafka-0-10_2.13"
_NEAREST = [
    # A mirror may lack the connector of our Spark, and what it depends on. That of 4.2 works on 4.3, too.
    _Module("org.apache.spark", _CONNECTOR, "4.2.0", alone=True),
    _Module("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.0.0", alone=True),
    _Module("org.apache.kafka", "kafka-clients", "3.9.2", alone=True),
    _Module("org.apache.commons", "commons-pool2", "2.13.1", alone=True),
]


def connector_jars(java: str) -> list[Path]:
    """Spark's connector, of its own version if the registry has that."""
    of_spark = version("pyspark")
    return _jars(java, f"connector-{of_spark}", [_Module("org.apache.spark", _CONNECTOR, of_spark)], _NEAREST)


def _jars(java: str, name: str, *choices: list[_Module]) -> list[Path]:
    """The jars of the first choice that can be had; without a registry, the test is skipped."""
    folder = _FOLDER / name
    told = ""
    for modules in choices:
        if folder.exists():
            break
        told = _fetch(java, modules, folder)
        if any(line.strip().startswith(_UNREACHABLE) for line in told.splitlines()):
            pytest.skip(f"no Kafka: the Maven registry cannot be reached, so {modules[0].name} cannot be had")
    assert folder.exists(), told
    return sorted(folder.glob("*.jar"))


def _fetch(java: str, modules: list[_Module], folder: Path) -> str:
    """Make the folder of the modules' jars. If that does not work, what Ivy says."""
    _FOLDER.mkdir(exist_ok=True)
    wanted, unfinished = (folder.with_name(f"{folder.name}.{kind}") for kind in ("xml", "unfinished"))
    lines = [
        f'<dependency org="{module.group}" name="{module.name}" rev="{module.version}" conf="default->default"'
        f' transitive="{str(not module.alone).lower()}"/>'
        for module in modules
    ]
    wanted.write_text(
        '<ivy-module version="2.0"><info organisation="sparkrex" module="tests"/><configurations><conf name="default"/>'
        f'</configurations><dependencies>{"".join(lines)}</dependencies></ivy-module>', encoding="utf-8",
    )
    shutil.rmtree(unfinished, ignore_errors=True)
    ivy = [next((Path(pyspark.__file__).parent / "jars").glob(f"{jar}-[0-9]*.jar")) for jar in ("ivy", "commons-cli")]
    done = subprocess.run(
        [
            java, "-cp", ":".join(map(str, ivy)), "org.apache.ivy.Main", "-ivy", wanted, "-cache", _FOLDER / "cache",
            "-confs", "default", "-types", "jar", "bundle",
            "-retrieve", unfinished / "[artifact]-[revision](-[classifier]).[ext]",
        ],
        capture_output=True, text=True, check=False,
    )
    if done.returncode:
        return done.stdout + done.stderr
    unfinished.rename(folder)
    return ""


@contextmanager
def broker(java: str, folder: Path) -> Iterator[str]:
    """The address of a broker that makes a topic, of three partitions, when it is first written to."""
    jars = _jars(java, f"broker-{_BROKER[0].version}", _BROKER)
    port, controller = _free_ports()
    settings, log = folder / "server.properties", folder / "broker.log"
    address = f"127.0.0.1:{port}"
    settings.write_text(
        f"""process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://{address},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
log.dirs={folder / "topics"}
num.partitions={_N_PARTITIONS}
offsets.topic.replication.factor=1
""", encoding="utf-8",
    )
    command = [java, "-Xmx256m", "-cp", ":".join(map(str, jars))]
    cluster = base64.urlsafe_b64encode(b"sparkrex-testing").decode().rstrip("=")
    subprocess.run(
        [*command, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", settings], check=True, capture_output=True
    )
    with log.open("wb") as written:
        process = subprocess.Popen([*command, "kafka.Kafka", str(settings)], stdout=written, stderr=written)
    try:
        ends = time.monotonic() + _PATIENCE
        while not _listens(port):
            assert process.poll() is None and time.monotonic() < ends, log.read_text(encoding="utf-8")
            time.sleep(0.1)
        yield address
    finally:
        process.kill()
        process.wait()


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def with_connector(spark: SparkSession, java: str) -> SparkSession:
    """A session beside another one, and only this one knows Kafka."""
    session = spark.newSession()
    for jar in connector_jars(java):
        session.sql(f"ADD JAR '{jar}'")
    return session


def produce(spark: SparkSession, address: str, topic: str, table: pa.Table) -> None:
    """Write rows as JSON, to each partition in turn."""
    turns = pa.array(np.arange(table.num_rows) % _N_PARTITIONS, pa.int32())
    rows = spark.createDataFrame(table.append_column("partition", turns)).coalesce(1)
    write(rows.select(F.to_json(F.struct(*table.column_names)).alias("value"), "partition"), address, topic)


def write(values: DataFrame, address: str, topic: str) -> None:
    """Write a table to a topic."""
    values.write.format("kafka").option("kafka.bootstrap.servers", address).option("topic", topic).save()


def from_beginning(address: str, topic: str) -> dict[str, str]:
    """Options for reading all of a topic, as a table or as a stream."""
    return {"kafka.bootstrap.servers": address, "subscribe": topic, "startingOffsets": "earliest"}


def rows_of(values: DataFrame, schema: StructType | str) -> DataFrame:
    """The rows that a topic has as JSON."""
    return values.select(F.from_json(F.col("value").cast("string"), schema).alias("row")).select("row.*")
