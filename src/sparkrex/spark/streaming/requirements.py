"""What Spark must be set to before it can keep our state, checked before a query starts.

Spark itself would say it at the start of the query, in words about its own classes, or as a worker that exited.
"""

from __future__ import annotations

from importlib.util import find_spec

from pyspark.sql import SparkSession

from sparkrex.errors import UnsupportedError
from sparkrex.spark.versions import need_version

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def check_requirements(spark: SparkSession) -> None:
    """Raise REX421 with the line to add, REX301 for a Spark that is too old."""
    need_version((4, 1), "a search on a stream")  # before, Spark reads large states only in part (SPARK-53870)
    if find_spec("google.protobuf") is None:
        raise UnsupportedError(
            "REX421", "Spark keeps the state of a stream by the package protobuf, which is not installed", None, None,
            hint="pip install protobuf, here and on the workers",
        )
    if not str(spark.conf.get(_PROVIDER)).endswith("RocksDBStateStoreProvider"):
        raise provider_error()


def provider_error() -> UnsupportedError:
    """The error of a session that keeps state elsewhere than in RocksDB."""
    return UnsupportedError(
        "REX421", "Spark can keep the state of a pattern in RocksDB only, and this session does not", None, None,
        hint=f'spark.conf.set("{_PROVIDER}", "{_ROCKSDB}")', command_hint=f"--conf {_PROVIDER}={_ROCKSDB}",
    )


def active_session() -> SparkSession:
    """The session of this thread."""
    found = SparkSession.getActiveSession()
    if found is None:
        raise TypeError("there is no Spark session yet: spark= says which one is to read the checkpoint")
    return found
