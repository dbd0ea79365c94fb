"""What a streaming query did, batch by batch, as people read it; what Spark reports is made up here."""

from __future__ import annotations

from typing import Any

import sparkrex as rex
from sparkrex.spark.streaming.metrics import COUNTED


class Reported:
    """A query as far as its progress is concerned: a batch with two patterns, and one before any row."""

    def __init__(self) -> None:
        counted = dict.fromkeys(COUNTED, 2)
        metrics = {"rex_7": {**counted, "oldest": 1777629600000000}, "rex_9": {**counted, "oldest": 1777629600500000}}
        self.recentProgress: list[dict[str, Any]] = [
            {"batchId": 0, "eventTime": {}, "durationMs": {}, "observedMetrics": {}},
            {
                "batchId": 1, "eventTime": {"watermark": "2026-05-01T10:00:10.000Z"},
                "durationMs": {"triggerExecution": 2500}, "observedMetrics": {**metrics, "other": {}},
            },
        ]


def test_times_are_written_alike() -> None:
    progress = rex.progress(Reported())  # type: ignore[arg-type]
    first, second = progress.batches
    assert (first["watermark"], first["oldest"]) == (None, None)
    assert second["oldest"] == "2026-05-01T10:00:00.000Z"
    assert second["rows_in"] == 4
    assert str(progress).splitlines()[2].split() == [
        "1", "2026-05-01T10:00:10", "2.5", *["4"] * 7, "0.00", "2026-05-01T10:00:00",
    ]
