"""The stateful operator of Spark around `BucketOperator`: Spark's key is a bucket, its state the parts of a bucket.

Every bucket sets a timer just above the watermark, so that it is called with each watermark. What happens here costs a
round trip to Spark's state server for every part that is read or written.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext
from pyspark.sql import Row
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from sparkrex.columns.narrow import write_rows
from sparkrex.errors import InternalError, RexError
from sparkrex.spark.streaming.metrics import METRICS, metric_fields
from sparkrex.spark.streaming.nearby import LEAST_BYTES, NearbyFiles
from sparkrex.spark.streaming.packing import PAYLOAD
from sparkrex.spark.worker import check_version
from sparkrex.streams.head import reading
from sparkrex.streams.operator import BucketOperator
from sparkrex.streams.packing import BUCKET_IDS
from sparkrex.streams.store import HEAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessorHandle, TimerValues

    from sparkrex.spark.worker import WorkerTask
    from sparkrex.streams.task import Advanced, StreamTask

PARTS = "parts"
"""The state variable: the parts of a bucket by name."""
OUTPUT = StructType([StructField(PAYLOAD, BinaryType()), *metric_fields()])
"""What the operator gives: result rows in blobs, and numbers to be summed up."""
_PAYLOAD_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class StreamWork:
    """What is shipped: the task on the stream, and the one that batch would have, which knows what workers need."""

    task: StreamTask
    batch: WorkerTask

    def processor(self) -> BucketProcessor:
        """The stateful processor, in a worker."""
        return BucketProcessor(self)


class StateParts:
    """The parts of the bucket that Spark has set, as the operator's `Store`; large ones from nearby, if they are there.

    Behind the head stand the digests of the parts: only a file that has one is believed.
    """

    def __init__(self, state: MapState) -> None:
        self._state = state
        self._bucket = 0
        self._digests: dict[str, str] = {}
        self.nearby: NearbyFiles | None = None

    def begin(self, bucket: int) -> None:
        """From now on the parts are those of this bucket."""
        self._bucket = bucket
        self._digests = {}

    def get(self, name: str) -> bytes | None:
        if name in self._digests and self.nearby is not None:
            data = self.nearby.read(self._bucket, name, self._digests[name])
            if data is not None:
                return data
        found = self._state.getValue((name,))
        if found is None or name != HEAD:
            return None if found is None else bytes(found[0])
        head, self._digests = with_digests(bytes(found[0]))
        return head

    def put(self, name: str, data: bytes) -> None:
        if name == HEAD:
            data += b"\n" + json.dumps(self._digests).encode()
        elif self.nearby is not None and len(data) >= LEAST_BYTES:
            self._digests[name] = self.nearby.write(self._bucket, name, data)
        else:
            self._digests.pop(name, None)
        self._state.updateValue((name,), (data,))

    def delete(self, name: str) -> None:
        self._digests.pop(name, None)
        self._state.removeKey((name,))


def with_digests(data: bytes) -> tuple[bytes, dict[str, str]]:
    """A head as it is stored, and the digests of parts that stand behind it."""
    head, _, digests = data.partition(b"\n")
    with reading(HEAD):
        return head, json.loads(digests or b"{}")


class DictStore(dict[str, bytes]):
    """Parts that have been read, as the operator's `Store`."""

    def put(self, name: str, data: bytes) -> None:
        """See `streams.store.Store`."""
        self[name] = data

    def delete(self, name: str) -> None:
        """See `streams.store.Store`."""
        del self[name]


class BucketProcessor:
    """The calls of Spark's `StatefulProcessor`; see `spark.shipping` for the class that Spark sees."""

    def __init__(self, work: StreamWork) -> None:
        self.work = work
        self._opened: BucketOperator | None = None
        # Timers fire after the rows of a batch: what a bucket has been called with need not be said again.
        self._called: dict[int, int] = {}

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state variable. Spark calls this on the driver too, to learn its types."""
        self._handle = handle
        names = StructType([StructField("name", StringType())])
        self._parts = StateParts(handle.getMapState(PARTS, names, StructType([StructField("data", BinaryType())])))

    def handle_rows(self, bucket: int, blobs: Sequence[bytes], timers: TimerValues) -> Iterator[Row]:
        """The rows of a batch, perhaps none."""
        return self._advance(bucket, [blob for blob in blobs if blob], timers.getCurrentWatermarkInMs())

    def handle_timer(self, bucket: int, timers: TimerValues) -> Iterator[Row]:
        """The watermark has moved on."""
        watermark = timers.getCurrentWatermarkInMs()
        if self._called.get(bucket) == watermark:
            return iter(())
        return self._advance(bucket, [], watermark)

    def close(self) -> None:
        """The task is over."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _advance(self, bucket: int, blobs: Sequence[bytes], watermark: int) -> Iterator[Row]:
        self._called[bucket] = watermark
        self._parts.begin(bucket)
        self._handle.registerTimer(watermark + 1)
        try:
            advanced = self._operator().advance(_NUMBERS[bucket], self._parts, blobs, watermark * 1000)
        except InternalError:
            raise  # with the frames, which the report needs
        except RexError as error:
            error.notes += _batch_note()
            # The frames below are ours, not the user's: the message is what matters.
            raise error.with_traceback(None) from None
        return _rows_of(advanced)

    def _operator(self) -> BucketOperator:
        if self._opened is None:
            self._opened = open_operator(self.work)
            self._parts.nearby = NearbyFiles.of(f"{_property('sql.streaming.queryId')}/{self.work.task.fingerprint}")
        return self._opened


def _batch_note() -> tuple[str, ...]:
    """Which batch of the query this is."""
    number = _property("streaming.sql.batchId")
    return () if number is None else (f"in batch {number} of the stream",)


def _property(name: str) -> str | None:
    """What Spark tells its tasks of the query."""
    context = TaskContext.get()
    return None if context is None else context.getLocalProperty(name)


def open_operator(work: StreamWork) -> BucketOperator:
    """The operator in a worker, which has been told what it needs."""
    check_version(work.task.version)
    work.batch.prepare()
    return BucketOperator(work.task)


_NUMBERS = {identity: number for number, identity in enumerate(BUCKET_IDS)}


def _rows_of(advanced: Advanced) -> Iterator[Row]:
    """Result rows in blobs of some megabytes, the first of them with the numbers."""
    numbers: dict[str, Any] = {name: value for name, value in asdict(advanced.metrics).items() if name in METRICS}
    blobs = [write_rows(part) for part in _cut(advanced.rows)]
    yield Row(**{PAYLOAD: blobs[0] if blobs else None}, **{name: numbers[name] for name in METRICS})
    for blob in blobs[1:]:
        yield Row(**{PAYLOAD: blob}, **dict.fromkeys(METRICS))


def _cut(rows: pa.Table) -> Iterator[pa.Table]:
    n_parts = max(1, rows.nbytes // _PAYLOAD_BYTES)
    n_rows = -(-rows.num_rows // n_parts)
    for start in range(0, rows.num_rows, max(n_rows, 1)):
        yield rows.slice(start, n_rows)
