"""What Spark tells of a stream's batches: kept for the summary, and shown as a line for each."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TextIO

from pyspark.sql.streaming.listener import StreamingQueryListener

from sparkrex.cli.progress import ERASED
from sparkrex.spark.streaming.metrics import HEADINGS, batch_line, numbers_of

if TYPE_CHECKING:
    from typing import Any

    from pyspark.sql.streaming.listener import QueryProgressEvent, QueryStartedEvent, QueryTerminatedEvent

_WIDTHS = (5, 19, 7, 7, 5, 6, 8, 8, 9, 9, 8, 19)
_LINES_UNDER_HEADINGS = 40


class Batches(StreamingQueryListener):
    """The batches of the one query of a session. `stream` gets a line for each, None if nobody wants them.

    A terminal may have the line of a stage that runs: each line erases it, and is written in one piece.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.n_batches = 0
        self.totals = dict.fromkeys(("rows_in", "late", "errors", "rows_out"), 0)
        self.last: dict[str, Any] = {}
        self.ended = threading.Event()
        self._stream = stream
        self._widths = [max(len(name), width) for name, width in zip(HEADINGS, _WIDTHS, strict=True)]

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802  as Spark calls it
        """Nothing to say: no batch has run."""

    def onQueryIdle(self, event: object) -> None:  # noqa: N802  as Spark calls it
        """Nothing has come."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802  as Spark calls it
        """No more batches."""
        self.ended.set()

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802  as Spark calls it
        """A batch is done."""
        if "addBatch" not in event.progress["durationMs"]:
            return  # nothing has run
        batch = numbers_of(event.progress)
        if self._stream is not None:
            heading = [HEADINGS] if self.n_batches % _LINES_UNDER_HEADINGS == 0 else []
            lines = "".join(f"{self._aligned(line)}\n" for line in [*heading, batch_line(batch)])
            self._stream.write(ERASED + lines if self._stream.isatty() else lines)
            self._stream.flush()
        for name in self.totals:
            self.totals[name] += batch[name]
        self.last = batch
        self.n_batches += 1

    def newest(self) -> str:
        """The last batch in words."""
        if not self.last:
            return ""
        batch = self.last
        return (
            f"batch {batch['batch']}: {batch['rows_in']:,} in, {batch['late']:,} late, {batch['released']:,} released, "
            f"{batch['rows_out']:,} out, {batch['open_keys']:,} keys open, {batch['rows_held']:,} rows held, "
            f"{batch['state_bytes'] / 1e6:.2f} MB"
        )

    def _aligned(self, line: tuple[str, ...]) -> str:
        self._widths = [max(width, len(text)) for width, text in zip(self._widths, line, strict=True)]
        return "  ".join(text.rjust(width) for text, width in zip(line, self._widths, strict=True))
