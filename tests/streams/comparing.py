"""Whether a stream and its drain give the rows of the batch over the same rows without the late ones."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest import mock

import pyarrow.compute as pc
from tests.streams.driving import drive

from sparkrex.errors import ExecutionError
from sparkrex.matching.side_rows import KIND, LATE
from sparkrex.streams import operator, silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from tests.streams.examples import Example


@dataclass(frozen=True, slots=True)
class Found:
    """What an example was like, and what is wrong, if something is."""

    happened: frozenset[str]
    problem: str | None = None


def compare(example: Example) -> Found:
    """A stream of the example against its batch. Shards are small, so that a few keys have several.

    The time of a match that is decided late depends on batches (`BucketOperator._raised`), so it stays what it is.
    """
    draw = random.Random(example.seed)
    with (
        mock.patch.object(silent, "SLOTS_OF_A_SHARD", draw.choice([1, 2, 512])),
        mock.patch.object(silent, "ENOUGH_SLOTS", draw.choice([1, 3, 4096])),
        mock.patch.object(silent, "MOST_SLOTS", draw.choice([2, 4096])),
        mock.patch.object(operator.BucketOperator, "_raised", lambda _, result, previous: result),
    ):
        driven = drive(example.query, example.table, draw)
    happened = {
        name for name, is_so in {
            "late": driven.n_late > 0, "error": driven.error is not None, "before the end": driven.n_given > 0,
            "at the end": driven.n_drained > 0, "rows": driven.n_given + driven.n_drained > 0,
        }.items() if is_so
    }
    kept = example.table.slice(0, driven.n_read).filter(pc.invert(driven.is_late))
    try:
        wanted = rows_of(example.query.batch(kept), example.groups)
    except ExecutionError as error:
        problem = None if driven.error else f"batch ends in {error.code}, the stream does not"
        return Found(frozenset(happened), problem)
    if driven.error is not None:
        return Found(frozenset(happened), f"the stream ends in {driven.error}, batch does not")
    found = rows_of(without_late(driven.result), example.groups)
    missing, wrong = Counter(wanted), Counter(found)
    missing.subtract(found)
    wrong.subtract(wanted)
    lines = [f"  missing {row}" for row in (+missing).elements()] + [f"  wrong   {row}" for row in (+wrong).elements()]
    return Found(frozenset(happened), "\n".join(lines) or None)


def without_late(result: pa.Table) -> pa.Table:
    """The result without the late rows that the setting `side_rows` adds: a table has none."""
    if KIND not in result.column_names:
        return result
    return result.filter(pc.not_equal(result.column(KIND), LATE))


def rows_of(table: pa.Table, groups: Sequence[str]) -> list[str]:
    """The rows as text; those that agree in some columns as one, the last of which is a name that may be any."""
    if not groups:
        return [repr(row) for row in table.to_pylist()]
    together: defaultdict[str, list[str]] = defaultdict(list)
    for row in table.to_pylist():
        group = repr([row[name] for name in groups])
        del row[groups[-1]]
        together[group].append(repr(row))
    return ["; ".join(rows) for rows in together.values()]
