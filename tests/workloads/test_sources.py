"""Where the patterns of a workload come from, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.workloads.streams import DOORS, INTRUDER, PAIR

import sparkrex as rex

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {"intruder": INTRUDER, "pair": PAIR}


def _workload(patterns: Any, **options: Any) -> Any:
    return rex.workload(patterns, time="ts", type="sensor", **options)


def test_a_folder_of_files(tmp_path: Path) -> None:
    (tmp_path / "intruder.rex").write_text(INTRUDER, encoding="utf-8")
    (tmp_path / "pair.sql").write_text(PAIR, encoding="utf-8")
    (tmp_path / "notes.md").write_text("not a pattern", encoding="utf-8")
    workload = _workload(tmp_path)
    assert workload.names == ("intruder", "pair")
    assert workload.detect(DOORS).table.equals(_workload(TEXTS).detect(DOORS).table)


@pytest.mark.parametrize("text", ["text", "pattern", "Query"])
def test_a_table_of_names_and_texts(text: str, tmp_path: Path) -> None:
    table = pa.table({"name": list(TEXTS), text: list(TEXTS.values())})
    pq.write_table(table, tmp_path / "patterns.parquet")
    for given in (table, table.to_pandas(), pd.DataFrame(table.to_pydict()), str(tmp_path / "patterns.parquet")):
        assert _workload(given).names == ("intruder", "pair")


def test_pairs() -> None:
    assert _workload(list(TEXTS.items())).names == ("intruder", "pair")


def test_two_patterns_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "pair.rex").write_text(PAIR, encoding="utf-8")
    (tmp_path / "pair.sql").write_text(PAIR, encoding="utf-8")
    for given in (tmp_path, [("pair", PAIR), ("pair", INTRUDER)]):
        with pytest.raises(rex.AnalysisError, match=r"REX205.*two patterns have the name pair"):
            _workload(given)


def test_a_pattern_that_cannot_be_read_is_left_out_with_its_place() -> None:
    with pytest.warns(UserWarning, match="the pattern broken is left out") as warned:
        workload = _workload({**TEXTS, "broken": "PATTERN SEQ(A a B b) WITHIN 5"})
    assert workload.names == ("intruder", "pair")
    assert workload.rejected["broken"].code == "REX108"
    assert "                    ^" in str(warned[0].message)  # under the B
    assert workload.detect(DOORS).num_rows > 0


def test_a_pattern_that_cannot_be_read_may_be_an_error() -> None:
    broken = {**TEXTS, "broken": "PATTERN SEQ(A a B b) WITHIN 5"}
    with pytest.raises(rex.ParseError, match="in the pattern broken"):
        _workload(broken, strict=True)
    with pytest.raises(rex.ParseError, match="in the pattern broken"):
        _workload({"broken": broken["broken"]})


def test_a_type_that_no_event_has() -> None:
    with pytest.warns(UserWarning, match="no event has type Z"):
        _workload({**TEXTS, "never": "PATTERN SEQ(A a, Z z) WITHIN 5"}).detect(DOORS)


def test_contradictory_conditions_are_an_error_with_the_proof() -> None:
    text = "PATTERN SEQ(A a, B b, C c) WHERE a.diff < b.diff AND b.diff < c.diff AND c.diff <= a.diff WITHIN 5"
    with pytest.raises(rex.AnalysisError) as caught:
        _workload({**TEXTS, "never": text}).detect(DOORS)
    assert caught.value.code == "REX229"
    assert "a.diff < b.diff AND b.diff < c.diff AND c.diff <= a.diff never holds" in str(caught.value)
    assert "in the pattern never" in str(caught.value)
    assert caught.value.position == (1, 34)


@pytest.mark.parametrize("where", [
    "(a.diff < b.diff OR a.diff > b.diff)", "a.diff < b.diff AND k[i].diff < 1 AND k[i].diff > 2",
])
def test_what_may_hold_is_no_contradiction(where: str) -> None:
    kleene = ", KL(C k)" if "k[i]" in where else ""
    _workload({"may": f"PATTERN SEQ(A a, B b{kleene}) WHERE {where} WITHIN 5"}).detect(DOORS)


def test_contradictions_of_an_alternative_or_of_negation_are_none() -> None:
    _workload({
        "either": "PATTERN SEQ(A a, (B b | C c)) WHERE b.diff < 1 AND b.diff > 2 WITHIN 5",
        "absent": "PATTERN SEQ(A a, NOT(B b), C c) WHERE b.diff < 1 AND b.diff > 2 WITHIN 5",
    }).detect(DOORS)


@pytest.mark.parametrize(("text", "code", "position"), [
    ("PATTERN SEQ(A a, B b) WITHIN 0", "REX226", (1, 30)),
    ("PATTERN SEQ(A a, B b) WHERE a.nothing < b.diff WITHIN 5", "REX201", (1, 31)),
    ("PATTERN SEQ(A a, KL(B b)) WHERE a.diff < b.diff WITHIN 5", "REX224", (1, 42)),
])
def test_mistakes_are_shown_with_pattern_and_place(text: str, code: str, position: tuple[int, int]) -> None:
    with pytest.raises(rex.RexError) as caught:
        _workload({**TEXTS, "wrong": text}).detect(DOORS)
    assert (caught.value.code, caught.value.position) == (code, position)
    assert "in the pattern wrong" in str(caught.value)


@pytest.mark.parametrize(("given", "message"), [
    ({}, "REX107"), ("nowhere", "REX407"), ("PATTERN SEQ(A a, B b)", "patterns have names"), ([1], "is none"),
    ({"a": 1}, "is a int"), (pa.table({"x": [1]}), "REX201"), (5, "not a table"),
])
def test_what_is_no_source_of_patterns(given: Any, message: str) -> None:
    with pytest.raises((rex.RexError, TypeError), match=message):
        _workload(given)


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(rex.ExecutionError, match="has no patterns"):
        _workload(tmp_path)


@pytest.mark.parametrize("options", [
    {"method": "best"}, {"on_overflow": "skip"}, {"max_kleene": 0}, {"seed": 1.5}, {"max_steps": -1},
    {"seconds": -1.0}, {"max_steps": None},
])
def test_options_that_are_none(options: dict[str, Any]) -> None:
    with pytest.raises(rex.AnalysisError, match="REX217"):
        _workload(TEXTS, **options)


def test_values_of_parameters_are_given_to_all() -> None:
    """Each pattern takes those that it reads."""
    texts = {"near": "PATTERN SEQ(A a, C c) WITHIN :near", "high": "PATTERN SEQ(A a, C c) WHERE c.diff > :LOW WITHIN 5"}
    workload = _workload({**texts, **TEXTS}, args={"near": 2, "low": 4}, strict=True)
    assert workload.detect(DOORS)["near"].num_rows == 4
    run = workload.open()
    run.add("low", texts["high"].replace(">", "<="))
    assert run.feed(DOORS)["low"].column("ts").to_pylist() == [1, 3]
    for args in (None, {"low": 4}):
        with pytest.raises(rex.AnalysisError, match=r"REX238.*parameter :near has no value"):
            _workload({"near": texts["near"]}, args=args)


def test_a_column_that_the_result_has_too() -> None:
    stream = DOORS.append_column("pattern", pa.array([""] * 6))
    with pytest.raises(rex.AnalysisError, match=r"REX205.*column pattern"):
        _workload(TEXTS).detect(stream)


def test_a_file_that_is_no_text_is_left_out_by_name(tmp_path: Path) -> None:
    (tmp_path / "good.rex").write_bytes(b"\xef\xbb\xbf" + b"PATTERN SEQ(A a, B b) WITHIN 10")  # a mark of Windows'
    (tmp_path / "bad.rex").write_bytes(b"PATTERN SEQ(\xff a, B b) WITHIN 10")
    with pytest.warns(UserWarning, match=r"the pattern bad is left out:\n.*REX407.*bad\.rex"):
        workload = rex.workload(str(tmp_path), time="ts", type="kind")
    assert workload.names == ("good",)
    assert "bad.rex" in workload.rejected["bad"].message
    with pytest.raises(rex.ExecutionError, match=r"REX407.*bad\.rex"):
        rex.workload(str(tmp_path), time="ts", type="kind", strict=True)
