"""What Spark keeps state for beside our operators, as far as a drain is concerned.

A drain gives what our own states hold. In front of a pattern Spark may keep what only leaves rows out: duplicates, and
rows that an inner join has put together already. Anything else there, and whatever stands behind a pattern, has rows or
sums of its own that it would give at the end of the stream: it is refused by name.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sparkrex.errors import UnsupportedError
from sparkrex.spark.streaming.packing import PAYLOAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame

    from sparkrex.source import Source, Span

_LEAVING_OUT = {
    "Deduplicate": "dedupe", "DeduplicateWithinWatermark": "dedupeWithinWatermark", "Join": "symmetricHashJoin",
}
"""Nodes of plans that hold nothing back, with the names that their states have in a checkpoint."""
_HOLDING = {
    "Aggregate": "an aggregation", "Distinct": "SELECT DISTINCT", "Join": "an outer join of streams",
    "FlatMapGroupsWithState": "flatMapGroupsWithState", "FlatMapGroupsInPandasWithState": "applyInPandasWithState",
    "TransformWithState": "transformWithState", "TransformWithStateInPySpark": "transformWithState",
}
_NAMES = {
    "stateStoreSave": "an aggregation", "sessionWindowStateStoreSaveExec": "an aggregation by session_window",
    "dedupe": "dropDuplicates", "dedupeWithinWatermark": "dropDuplicatesWithinWatermark",
    "symmetricHashJoin": "a join of streams", "flatMapGroupsWithState": "flatMapGroupsWithState",
    "applyInPandasWithState": "applyInPandasWithState", "transformWithStateExec": "transformWithState",
    "transformWithStateInPySparkExec": "transformWithState", "transformWithStateInPandasExec": "transformWithState",
}


def inputs_of(source: DataFrame, text: Source, span: Span) -> Counter[str]:
    """What Spark keeps state for in front of a pattern, by name in a checkpoint; REX302 if it holds rows back."""
    found: Counter[str] = Counter()
    for node in _nodes(source._jdf.queryExecution().analyzed()):  # classic sessions have it
        name = str(node.nodeName())
        if name == "Join" and not all(child.isStreaming() for child in _children(node)):
            continue
        if name == "TransformWithStateInPySpark" and PAYLOAD in str(node.output()):
            raise UnsupportedError(
                "REX302", "the stream has the results of another pattern, and what is open there is not in it", text,
                span, hint="drain that pattern first, with the same checkpoint, and give what it gives as the table",
            )
        if name in _LEAVING_OUT and not (name == "Join" and str(node.joinType().sql()) != "INNER"):
            found[_LEAVING_OUT[name]] += 1
        elif name in _HOLDING:
            raise UnsupportedError(
                "REX302", f"{_HOLDING[name]} in front of the pattern cannot be drained: Spark holds back what it "
                "gives at the end", text, span, hint="ask for the answer over all rows, with spark.read",
            )
    return found


def refuse_behind(others: Mapping[str, int], text: Source) -> None:
    """Raise REX302 if the query has something behind its patterns for which Spark keeps state."""
    if others:
        name = min(others)
        raise UnsupportedError(
            "REX302", f"{_NAMES.get(name, name)} behind the pattern cannot be drained: its state is Spark's", text,
            None, notes=(f"the checkpoint has {name}",),
            hint="write the matches first, and let a query of its own go on from there",
        )


def _nodes(plan: Any) -> Iterator[Any]:
    """The streaming nodes of a logical plan of Spark's, which may be several times in it."""
    if plan.isStreaming():
        yield plan
        for child in _children(plan):
            yield from _nodes(child)


def _children(plan: Any) -> list[Any]:
    children = plan.children()
    return [children.apply(place) for place in range(children.size())]
