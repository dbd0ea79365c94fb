"""A stream that goes on with other patterns: those that stay miss nothing, others come and go."""

from __future__ import annotations

import os
import random

import pyarrow as pa
import pytest
from tests.differential.relations import one_database
from tests.streams.changing import changing_of, problem_of
from tests.streams.driving import EPOCH, TICK, TIME, DictStore, Stream
from tests.streams.workloads import TYPES, WorkloadQuery, query_of

from sparkrex.errors import ExecutionError

N_EXAMPLES = int(os.environ.get("REX_STREAM_EXAMPLES", "40"))
SEED = int(os.environ.get("REX_SEED", "20261119"))

pytestmark = pytest.mark.filterwarnings("ignore")  # a few random rows need not have all types


def test_patterns_come_and_go() -> None:
    with one_database():
        for number in range(N_EXAMPLES):
            example = changing_of(SEED, number)
            problem = problem_of(example)
            assert problem is None, f"seed {SEED}, example {number}\n{example}\n{problem}"


PAIR = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 9 seconds"
LONELY = "PATTERN SEQ(B b, NOT(C c)) WHERE [k] WITHIN 3 seconds"


def rows_at(*events: tuple[int, str]) -> pa.Table:
    """Events of one key: time and type."""
    rows = [
        {"k": "u", "b": time, "kind": kind, "x": 0, "y": 0.0, "s": "", TIME: (EPOCH + time) * TICK}
        for time, kind in events
    ]
    return pa.Table.from_pylist(rows, pa.schema([*list(TYPES.items())[:-1], (TIME, pa.int64())])).cast(
        pa.schema(list(TYPES.items()))
    )


def started(query: WorkloadQuery, stores: list[DictStore] | None = None) -> Stream:
    """A stream from its beginning, or from a state."""
    stream = Stream(query, rows_at(), random.Random(3))
    stream.stores = stores or stream.stores
    return stream


def given(stream: Stream, rows: pa.Table, watermark: int) -> list[tuple[str, int]]:
    """Patterns and last events of the matches that a batch gives."""
    found = pa.concat_tables([one.rows for one in stream.batch(rows, (EPOCH + watermark) * TICK)])
    lines = stream.cut.result(found).to_pylist()
    last = {(line["pattern"], line["match_id"]): line["b"] for line in lines}
    return [(name, event) for (name, _), event in last.items()]


def test_a_new_pattern_begins_behind_what_has_come() -> None:
    with one_database():
        before = started(query_of({"pair": PAIR}))
        # B at 2 and A at 6 have come; the watermark has passed neither 4 nor 6.
        assert given(before, rows_at((1, "A"), (2, "B"), (6, "A")), 3) == [("pair", 2)]
        after = started(query_of({"lonely": LONELY, "pair": PAIR, "again": PAIR}), before.stores)
        assert given(after, rows_at((5, "B"), (7, "B"), (8, "A"), (9, "B")), 8) == [
            ("pair", 5), ("pair", 7), ("pair", 7),
        ]
        assert given(after, rows_at(), 9) == [("pair", 9), ("pair", 9), ("pair", 9), ("again", 9)]
        assert given(after, rows_at(), 12) == [("lonely", 7), ("lonely", 9)]


def test_a_pattern_that_goes_and_comes_again_is_another() -> None:
    with one_database():
        stream = started(query_of({"pair": PAIR, "lonely": LONELY}))
        assert given(stream, rows_at((1, "A"), (2, "B")), 2) == [("pair", 2)]
        stream = started(query_of({"pair": PAIR}), stream.stores)
        assert given(stream, rows_at(), 3) == []
        stream = started(query_of({"lonely": LONELY, "pair": PAIR}), stream.stores)
        assert given(stream, rows_at((6, "B")), 6) == [("pair", 6)]
        assert given(stream, rows_at(), 9) == [("lonely", 6)]


def test_other_options_are_another_query() -> None:
    with one_database():
        stream = started(query_of({"pair": PAIR}))
        given(stream, rows_at((1, "A")), 1)
        other = started(query_of({"pair": PAIR}, max_kleene=3), stream.stores)
        with pytest.raises(ExecutionError, match="REX419"):
            given(other, rows_at((2, "B")), 2)
