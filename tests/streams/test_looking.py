"""What a state shows of itself to people: its open keys, and how the columns of another query differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from tests.differential.relations import one_database
from tests.streams.driving import EPOCH, TICK, TIME, Query, Stream

from sparkrex.errors import ExecutionError
from sparkrex.streams.columns import COLUMNS
from sparkrex.streams.looking import open_keys, together

if TYPE_CHECKING:
    from typing import Any

QUERY = Query("PARTITION BY k ORDER BY ts MEASURES LAST(x) AS x PATTERN (A B) WITHIN INTERVAL '9' SECOND "
              "DEFINE A AS x = 1, B AS x = 2")


def rows(*given: tuple[str | None, int, int]) -> pa.Table:
    """Rows of keys, with a number and a second."""
    keys, numbers, seconds = zip(*given, strict=True) if given else ((), (), ())
    times = pa.array([(EPOCH + second) * TICK for second in seconds], pa.timestamp("us"))
    return pa.table({"k": pa.array(keys, pa.string()), "x": pa.array(numbers, pa.int64()), TIME: times})


def shown(stream: Stream) -> list[dict[str, Any]]:
    """The lines of all buckets by key, times as seconds."""
    found = [line for store in stream.stores for line in open_keys(store).to_pylist()]
    for line in found:
        line["due"] = line["due"].timestamp() - EPOCH
    return sorted(found, key=lambda line: str(line["k"]))


def test_rows_that_wait_for_the_watermark_are_shown() -> None:
    """One key has an open beginning and two rows that wait, one has a beginning, of two there is only a row."""
    given = rows(("a", 1, 1), ("a", 0, 7), ("a", 0, 8), ("b", 1, 2), ("c", 2, 9), (None, 1, 6))
    with one_database():
        stream = Stream(QUERY, given)
        stream.batch(given, 0)
        before = shown(stream)
        stream.batch(given.slice(0, 0), (EPOCH + 5) * TICK)
        after = shown(stream)
    assert before == [
        {"k": None, "rows_held": 0, "rows_waiting": 1, "due": 6},
        {"k": "a", "rows_held": 0, "rows_waiting": 3, "due": 1},
        {"k": "b", "rows_held": 0, "rows_waiting": 1, "due": 2},
        {"k": "c", "rows_held": 0, "rows_waiting": 1, "due": 9},
    ]
    # The window of 9 seconds ends, exclusively, just before second 11, and the next row of `a` is released at 7.
    assert after == [
        {"k": None, "rows_held": 0, "rows_waiting": 1, "due": 6},
        {"k": "a", "rows_held": 1, "rows_waiting": 2, "due": 7},
        {"k": "b", "rows_held": 1, "rows_waiting": 0, "due": pytest.approx(11 - 1e-6, abs=1e-7)},
        {"k": "c", "rows_held": 0, "rows_waiting": 1, "due": 9},
    ]


def test_a_state_without_names_of_columns_shows_its_slots() -> None:
    given = rows(("a", 1, 1), ("b", 1, 7))
    with one_database():
        stream = Stream(QUERY, given)
        stream.batch(given, 0)
        stream.batch(given.slice(0, 0), (EPOCH + 5) * TICK)
        for store in stream.stores:
            del store[COLUMNS]
        assert sum(open_keys(store).num_rows for store in stream.stores) == 1


def test_keys_of_one_name_and_other_types_are_shown_together() -> None:
    numbers, texts = pa.table({"k": [1, None], "n": [1, 1]}), pa.table({"k": ["a"], "n": [2]})
    assert together([numbers, texts]).to_pylist() == [{"k": "1", "n": 1}, {"k": None, "n": 1}, {"k": "a", "n": 2}]
    assert together([numbers, pa.table({"j": ["a"], "n": [2]})]).to_pylist()[2] == {"k": None, "n": 2, "j": "a"}
    assert together([]).column_names == ["rows_held", "rows_waiting", "due"]


@pytest.mark.parametrize(
    ("before", "now", "notes"),
    [
        (("k string", "x int"), ("k string", "x bigint"), ["checkpoint's query reads x int", "this query reads x big"]),
        (("k string",), ("k string", "y int"), ["this query reads y int"]),
        (("k string", "x int"), ("x int", "k string"), ["in another order"]),
        (("k string",), ("k string",), ["their types, or ANSI mode are not the same"]),
        ((), ("k string",), ["their types, or ANSI mode are not the same"]),
    ],
)
def test_the_state_of_the_same_text_over_other_columns(
    before: tuple[str, ...], now: tuple[str, ...], notes: list[str]
) -> None:
    given = rows(("a", 1, 1), ("b", 1, 7))
    with one_database():
        stream = Stream(QUERY, given)
        stream.task = replace(stream.task, known=before)
        stream._restart()
        stream.batch(given, (EPOCH + 5) * TICK)
        stream.task = replace(stream.task, known=now, fingerprint="other.3")
        stream._restart()
        for again in (lambda: stream.batch(given, (EPOCH + 5) * TICK), stream.drain):
            with pytest.raises(ExecutionError, match="belongs to another query") as raised:
                again()
            text = " | ".join(raised.value.notes)
            assert all(note in text for note in notes)
            assert len(raised.value.notes) == 2 + len(notes)
