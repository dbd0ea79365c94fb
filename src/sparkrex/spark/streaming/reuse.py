"""Patterns that read one stream side by side, and what Spark would share between them.

Where two parts of a plan shuffle the same rows in the same way, Spark does it once and reads it twice. It looks for the
watermark in each part, and does not look into the rows that are read again: the second pattern would never be told that
time goes on, hold all rows back, and give nothing. So no two patterns pack their rows alike (`Packing.marker`), and a
shuffle that the streams of several patterns have before that is refused while Spark may share it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparkrex.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from sparkrex.source import Source, Span

REUSE = "spark.sql.exchange.reuse"
_SHUFFLING = frozenset({"Repartition", "RepartitionByExpression", "RebalancePartitions", "Join"})
_APART = frozenset({"EventTimeWatermark", "TransformWithStateInPySpark"})
"""Behind the first Spark finds the watermark all the same; the second has a state, and is never shared."""


def may_be_shared(stream: DataFrame) -> bool:
    """Whether a stream has been shuffled since it got its watermark."""
    analyzed = stream._jdf.queryExecution().analyzed()  # streams have classic sessions
    return any(node in _SHUFFLING for node in _nodes(analyzed))


def refuse_shared(stream: DataFrame, source: Source, span: Span) -> None:
    """Raise REX421 if Spark may share what several patterns of the statement read."""
    if str(stream.sparkSession.conf.get(REUSE)).lower() == "true":
        raise UnsupportedError(
            "REX421", "several patterns read a stream that is shuffled or joined before them, and of what Spark "
            "shuffles once for several of them only one gets the watermark", source, span,
            hint=f'spark.conf.set("{REUSE}", "false")',
        )


def _nodes(plan: Any) -> Iterator[str]:
    """The streaming nodes of a logical plan above those that are never shared."""
    name = str(plan.nodeName())
    if plan.isStreaming() and name not in _APART:
        yield name
        children = plan.children()
        for place in range(children.size()):
            yield from _nodes(children.apply(place))
