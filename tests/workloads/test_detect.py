"""What `Workload.detect` gives: one table, what each pattern returns, and patterns that stop."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.workloads.streams import DOORS, INTRUDER, PAIR, events_of

import sparkrex as rex


def test_one_table_for_all_patterns() -> None:
    found = rex.workload({"intruder": INTRUDER, "pair": PAIR}, time="ts", type="sensor").detect(DOORS)
    # Of the pairs with a smaller diff, D at 5 is between A and C for those that end at 6.
    assert events_of(found.table) == [
        ("intruder", 1, "a", 1), ("intruder", 1, "b", 2), ("intruder", 1, "c", 3), ("intruder", 2, "a", 1),
        ("intruder", 2, "b", 2), ("intruder", 2, "c", 6), ("pair", 1, "a", 1), ("pair", 1, "c", 3),
        ("pair", 2, "c", 3), ("pair", 2, "a", 4),
    ]
    assert found.table.column_names == ["pattern", "match_id", "variable", *DOORS.column_names]
    assert list(found) == ["intruder", "pair"]
    assert found.stopped == ()


def test_a_pattern_gives_what_its_event_query_gives() -> None:
    texts = {
        "returned": "PATTERN SEQ(A a, C c) WITHIN 3 RETURN a.ts AS first, c.ts - a.ts AS took", "events": INTRUDER,
    }
    found = rex.workload(texts, time="ts", type="sensor").detect(DOORS)
    for name, text in texts.items():
        assert found[name].equals(rex.events(text, DOORS, time="ts", type="sensor"))
    assert found["returned"].to_pylist() == [{"first": 1, "took": 2}, {"first": 4, "took": 2}]
    assert found.num_rows == 6 + 4


def _matches(table: pa.Table, *, is_by_floor: bool) -> Counter[frozenset[tuple[str, int]]]:
    """The events of matches; floors may number theirs apart."""
    found: dict[tuple[int, int], set[tuple[str, int]]] = {}
    for row in table.to_pylist():
        found.setdefault((row["match_id"], row["floor"] if is_by_floor else 0), set()).add((row["variable"], row["ts"]))
    return Counter(map(frozenset, found.values()))


def test_an_unknown_pattern_is_named() -> None:
    found = rex.workload({"intruder": INTRUDER}, time="ts", type="sensor").detect(DOORS)
    with pytest.raises(KeyError, match="did you mean intruder"):
        found["intrude"]


def test_a_pattern_under_two_names_reports_twice() -> None:
    found = rex.workload({"one": INTRUDER, "two": INTRUDER}, time="ts", type="sensor").detect(DOORS)
    assert [name for name, number, variable, _ in events_of(found.table) if variable == "a" and number == 1] == [
        "one", "two",
    ]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_result_is_of_the_library_of_the_stream(library: str) -> None:
    stream = {"pandas": DOORS.to_pandas(), "polars": pl.from_arrow(DOORS), "pyarrow": DOORS}[library]
    text = "PATTERN SEQ(A a, B b) WITHIN 2 RETURN a.ts AS t"
    found = rex.workload({"r": text}, time="ts", type="sensor").detect(stream)
    kind = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}[library]
    assert isinstance(found.table, kind) and isinstance(found["r"], kind)


def test_patterns_with_different_keys_and_patterns_of_their_own() -> None:
    texts = {
        "chain": "PATTERN SEQ(A a, C+ c[]) WHERE skip_till_next_match(a, c[]) { [floor] AND c[i].diff > c[i-1].diff } "
                 "WITHIN 5",
        "floor": "PATTERN SEQ(A a, C c) WHERE [floor] WITHIN 5",
        "all": "PATTERN SEQ(A a, C c) WITHIN 5",
        "average": "PATTERN SEQ(A a, C+ c[], C d) WHERE avg(c[].diff) < d.diff WITHIN 10",
    }
    found = rex.workload(texts, time="ts", type="sensor").detect(DOORS)
    assert list(dict.fromkeys(found.table.column("pattern").to_pylist())) == list(texts)
    for name, text in texts.items():
        # Of matches with the same last event neither says which comes first.
        expected = rex.events(text, DOORS, time="ts", type="sensor")
        is_by_floor = "[floor]" in text
        assert _matches(found[name], is_by_floor=is_by_floor) == _matches(expected, is_by_floor=is_by_floor), name


def test_chunks_give_the_same() -> None:
    texts = {"intruder": INTRUDER, "pair": PAIR, "late": "PATTERN SEQ(A a, NOT(B b)) WITHIN 2"}
    whole = rex.workload(texts, time="ts", type="sensor").detect(DOORS)
    cut = rex.workload(texts, time="ts", type="sensor", settings={"chunk_rows": 2}).detect(DOORS)
    assert sorted(events_of(cut.table)) == sorted(events_of(whole.table))


def _many(n_events: int) -> pa.Table:
    return pa.table({"ts": list(range(n_events + 1)), "kind": ["K"] * n_events + ["E"]})


def test_a_kleene_with_too_many_events_stops_its_pattern_only() -> None:
    texts = {"kleene": "PATTERN SEQ(KL(K k), E e) WITHIN 100", "single": "PATTERN SEQ(K k, E e) WITHIN 100"}
    workload = rex.workload(texts, time="ts", type="kind", max_kleene=4)
    assert workload.detect(_many(4))["kleene"].column("match_id").to_pylist()[-1] == 15
    with pytest.warns(UserWarning, match="the pattern kleene has stopped: more than max_kleene = 4 events"):
        found = workload.detect(_many(5))
    assert found["kleene"].num_rows == 0
    assert found["single"].num_rows == 10
    assert [(stop.pattern, stop.event) for stop in found.stopped] == [("kleene", {"ts": 4, "kind": "K"})]


def test_too_many_events_may_be_an_error() -> None:
    workload = rex.workload(
        {"kleene": "PATTERN SEQ(KL(K k), E e) WITHIN 100"}, time="ts", type="kind", max_kleene=4, on_overflow="error"
    )
    with pytest.raises(rex.ExecutionError, match=r"REX418.*the pattern kleene has more than max_kleene = 4"):
        workload.detect(_many(5))


@pytest.mark.parametrize("method", ["none", "re", "sh", "sh-rr", "sh-mdt", "sa-edge", "ts-vertex8", "sa-edge-prefix"])
def test_every_method_gives_the_same(method: str) -> None:
    texts = {"intruder": INTRUDER, "pair": PAIR, "both": "PATTERN SEQ(A a, B b) WHERE a.floor = b.floor WITHIN 3"}
    found = rex.workload(texts, time="ts", type="sensor", method=method, max_steps=50).detect(DOORS)
    assert found.table.equals(rex.workload(texts, time="ts", type="sensor").detect(DOORS).table)


def test_an_empty_stream() -> None:
    assert rex.workload({"intruder": INTRUDER}, time="ts", type="sensor").detect(DOORS.slice(0, 0)).num_rows == 0


def test_events_of_one_time_need_an_order_only_within_a_pattern() -> None:
    stream = pa.table({"ts": [1, 1, 2], "kind": ["A", "B", "A"]})
    found = rex.workload(
        {"a": "PATTERN SEQ(A a) WITHIN 3", "b": "PATTERN SEQ(B b) WITHIN 3"}, time="ts", type="kind"
    ).detect(stream)
    assert events_of(found.table) == [("a", 1, "a", 1), ("a", 2, "a", 2), ("b", 1, "b", 1)]
    with pytest.raises(rex.ExecutionError, match="REX409"):
        rex.workload({"ab": "PATTERN SEQ(A a, B b) WITHIN 3"}, time="ts", type="kind").detect(stream)


@pytest.mark.parametrize("stream", [None, 5, [1]])
def test_what_is_no_stream(stream: object) -> None:
    workload = rex.workload({"intruder": INTRUDER}, time="ts", type="sensor")
    with pytest.raises(TypeError, match="not a table"):
        workload.detect(stream)
    with pytest.raises(TypeError, match="not a table"):
        workload.plan(stream)


@pytest.mark.parametrize("kind", [
    pa.binary(), pa.large_binary(), pa.binary(1), pa.binary_view(), pa.dictionary(pa.int32(), pa.binary()),
])
def test_types_may_be_bytes(kind: pa.DataType) -> None:
    values = pa.array([b"A", b"\xff", b"B"])
    values = values.dictionary_encode() if pa.types.is_dictionary(kind) else values.cast(kind)
    stream = pa.table({"ts": [1, 2, 3], "kind": values})
    pairs = rex.workload({"p": "PATTERN SEQ(A a, B b)"}, time="ts", type="kind")
    for found in (pairs.detect(stream), pairs.open().feed(stream)):
        assert [row["ts"] for row in found.to_pylist()] == [1, 3]
        assert found["p"].num_rows == 2
