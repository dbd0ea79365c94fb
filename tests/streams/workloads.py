"""Random workloads as streams: the draws of the mode's own tests, on a column of timestamps."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tests.modes.workload.draws import drawn_workload
from tests.streams.driving import EPOCH, TICK, TIME, Query

import sparkrex as rex

if TYPE_CHECKING:
    import random

TYPES = {
    "k": pa.string(), "b": pa.int64(), "kind": pa.string(), "x": pa.int64(), "y": pa.float64(), "s": pa.string(),
    TIME: pa.timestamp("us"),
}


@dataclass
class WorkloadQuery(Query):
    """Patterns with the same keys; `options` are those of the call."""

    texts: dict[str, str] = field(default_factory=dict)

    @cached_property
    def _parsed(self) -> Any:
        workload = rex.workload(self.texts, time=TIME, settings=self.settings, **self.options)
        (query,) = workload.groups().values()
        return query


def query_of(texts: dict[str, str], **options: Any) -> WorkloadQuery:
    """The patterns as a workload, whose plan is not searched for long."""
    written = "\n".join(f"{name}: {text}" for name, text in texts.items())
    if "types" not in options:
        options = {"type": "kind", "tie_break": "b", **options}
    return WorkloadQuery(written, "WORKLOAD", {"max_steps": 40, **options}, texts=texts)


def drawn_stream(draw: random.Random) -> tuple[dict[str, str], dict[str, Any], list[dict[str, Any]]]:
    """Patterns, options of the call, and events in no order."""
    drawn = drawn_workload(draw)
    texts = {name: in_seconds(text) for name, text in drawn.texts.items()}
    rows = []
    for row in drawn.rows:
        time = row.pop("t")
        rows.append({**row, TIME: pa.scalar((EPOCH + time) * TICK, pa.timestamp("us")).as_py()})
    options = {"ties": "strict" if drawn.has_strict_ties else "order", "max_kleene": drawn.max_kleene}
    return texts, options, rows


def in_seconds(text: str) -> str:
    """Windows of time have a unit where times are timestamps."""
    return re.sub(r"WITHIN (\d+)(?! EVENTS)\b", r"WITHIN \1 seconds", text)
