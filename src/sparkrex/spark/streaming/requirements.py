"""What Spark must be set to before it can keep our state, checked before a query starts.

Spark itself would say it at the start of the query, in words about its own classes, or as a worker that exited.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from sparkrex.errors import UnsupportedError
from sparkrex.spark.versions import need_version
from sparkrex.warn import warn_user

if TYPE_CHECKING:
    from sparkrex.source import Source, Span

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
_MESSAGES = "pyspark.sql.streaming.proto.StateMessage_pb2"


def check_requirements(spark: SparkSession) -> None:
    """Raise REX421 with the line to add, REX301 for a Spark that is too old."""
    need_version((4, 1), "a search on a stream")  # before, Spark reads large states only in part (SPARK-53870)
    check_protobuf()
    if not str(spark.conf.get(_PROVIDER)).endswith("RocksDBStateStoreProvider"):
        raise provider_error()
    if str(spark.conf.get(_CHANGELOG, "false")).lower() != "true":
        warn_user(
            "every batch of this stream uploads all of its state: Spark writes no changelogs\n"
            f'hint: spark.conf.set("{_CHANGELOG}", "true")'
        )


def check_classic(spark: SparkSession, source: Source, span: Span) -> None:
    """Raise REX301 in a session of Spark Connect, where plans and checkpoints cannot be looked into."""
    if ".connect." in type(spark).__module__:
        raise UnsupportedError(
            "REX301", "a search on a stream needs a classic session, and this is one of Spark Connect", source, span,
            hint="build the session with master(...) rather than remote(...); tables are searched by both",
        )


def check_protobuf() -> None:
    """Raise REX421 unless Spark's messages about states can be imported, as workers do it."""
    try:
        import_module(_MESSAGES)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "google":
            raise _no_protobuf("is not installed") from error
    except Exception as error:  # protobuf's own VersionError; older versions lack what the messages import
        raise _no_protobuf("has a version that does not fit Spark's", str(error).partition("\n")[0]) from error


def _no_protobuf(what: str, *notes: str) -> UnsupportedError:
    return UnsupportedError(
        "REX421", f"Spark keeps the state of a stream by the package protobuf, which {what}", None, None, notes=notes,
        hint='pip install "sparkrex[spark]", or "protobuf>=6.33.5,<8", here and on the workers',
    )


def provider_error() -> UnsupportedError:
    """The error of a session that keeps state elsewhere than in RocksDB."""
    return UnsupportedError(
        "REX421", "Spark can keep the state of a pattern in RocksDB only, and this session does not", None, None,
        hint=f'spark.conf.set("{_PROVIDER}", "{_ROCKSDB}")', command_hint=f"--conf {_PROVIDER}={_ROCKSDB}",
    )


def active_session() -> SparkSession:
    """The session of this thread, or the one that its builder would give: after Ctrl-C PySpark is on another thread of
    the JVM, where none is active."""
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        raise TypeError("there is no Spark session yet: spark= says which one is to read the checkpoint") from None
