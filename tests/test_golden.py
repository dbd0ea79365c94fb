"""The reader of golden cases: what it accepts, what it refuses and where, what it calls equal, what it may rewrite."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from tests.answers import Cell, differences, parse_value, render_table, row_differences, same_value, show
from tests.golden import CaseError, ExpectedError, case_files, fill, parse, read

if TYPE_CHECKING:
    from pathlib import Path

    from tests.golden import Case

TEXT = """\
title: a title: with a colon
tags: one, two
dialect: trino
order: any
oracle: no, because it asks the host
spark: no, because it has no such function
ties: yes
settings: max_steps=10, planner=backtrack

-- table ticks
id:bigint | sym:string | price:double | day:date | at:timestamp | d:decimal(5,2) | l:bigint[]
# a comment
1 | a b | 10.5 | 2024-01-31 | 2024-01-31 10:00:00 | 1.25 | [1, null]
2 | "x|\\"y" | NaN | NULL | NULL | NULL | NULL
3 | "NULL" | NULL | NULL | NULL | NULL | []

-- query
SELECT *
-- a comment of the query
FROM ticks

-- result
c | n:bigint
A | 1
"""


def test_reads_every_part() -> None:
    case = parse(TEXT)
    assert (case.title, case.tags, case.dialect) == ("a title: with a colon", ("one", "two"), "trino")
    assert not case.is_ordered
    assert case.has_ties
    assert not case.is_derived
    assert case.no_oracle_because == "because it asks the host"
    assert case.no_spark_because == "because it has no such function"
    assert parse("title: a\ntags: b\n-- query\nSELECT 1").no_spark_because is None
    assert case.settings == (("max_steps", 10), ("planner", "backtrack"))
    assert case.query == "SELECT *\n-- a comment of the query\nFROM ticks"
    assert case.result is not None
    assert (case.result.columns, case.result.types) == (("c", "n"), (None, "bigint"))


def test_tables_have_their_declared_types_and_values() -> None:
    table = parse(TEXT).arrow_tables()["ticks"]
    assert table.schema.types == [
        pa.int64(), pa.string(), pa.float64(), pa.date32(), pa.timestamp("us"), pa.decimal128(5, 2),
        pa.list_(pa.int64()),
    ]
    rows = table.to_pylist()
    assert rows[0] == {
        "id": 1, "sym": "a b", "price": 10.5, "day": datetime.date(2024, 1, 31),
        "at": datetime.datetime(2024, 1, 31, 10), "d": Decimal("1.25"), "l": [1, None],
    }
    assert rows[1]["sym"] == 'x|"y'
    assert math.isnan(rows[1]["price"])
    assert (rows[2]["sym"], rows[2]["price"], rows[2]["l"]) == ("NULL", None, [])


def test_an_indented_header_line_goes_on() -> None:
    case = parse("title: a\nderivation: first\n  second: part\ntags: x\n-- query\nSELECT 1\n")
    assert case.derivation == "first second: part"
    assert case.tags == ("x",)


def test_errors_have_code_place_and_texts() -> None:
    case = parse("title: a\ntags: b\n-- query\nSELECT 1\n-- error\nREX204 at 5:8\nhint: did you mean B?\n")
    assert case.error == ExpectedError("REX204", (5, 8), ("hint: did you mean B?",))
    assert parse("title: a\ntags: b\n-- query\nSELECT 1\n-- error\nREX401\n").error == ExpectedError("REX401", None, ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tags: b\n-- query\nSELECT 1", "title is missing"),
        ("title: a\ntags: b", "-- query is missing"),
        ("title: a\ntitle: b", "given twice"),
        ("title: a\nname: b", "not a header line"),
        ("title: a\ntags: b\norder: some\n-- query\nSELECT 1", "order is one of"),
        ("title: a\ntags: b\noracle: no\n-- query\nSELECT 1", "oracle reads"),
        ("title: a\ntags: b\nspark: no\n-- query\nSELECT 1", "spark reads"),
        ("title: a\ntags: b\nspark: yes\n-- query\nSELECT 1", "spark reads"),
        ("title: a\ntags: b\nspark: slow, because it is large\n-- query\nSELECT 1", "spark reads"),
        ("title: a\ntags: b\nsettings: x\n-- query\nSELECT 1", "a setting reads"),
        ("title: a\ntags: b\n-- querry\nSELECT 1", "unknown section"),
        ("title: a\ntags: b\n-- query\n", "the query is empty"),
        ("title: a\ntags: b\n-- query\nSELECT 1\n-- result\na\n-- error\nREX101", "not both"),
        ("title: a\ntags: b\n-- query\nSELECT 1\n-- error\nREX9", "an error reads"),
        ("title: a\ntags: b\n-- table t\na\n1\n-- query\nSELECT 1", "has no type"),
        ("title: a\ntags: b\n-- table t\na:text\n1\n-- query\nSELECT 1", "unknown type"),
        ("title: a\ntags: b\n-- table t\na:int\n1 | 2\n-- query\nSELECT 1", "2 values for 1 columns"),
        ("title: a\ntags: b\n-- table t\na:int\nx\n-- query\nSELECT 1", "not a value of type int"),
        ("title: a\ntags: b\n-- table t\na:boolean\n1\n-- query\nSELECT 1", "not a value of type boolean"),
        ("title: a\ntags: b\n-- table t\na:int | b:int\n1 |\n-- query\nSELECT 1", "a value is missing"),
        ('title: a\ntags: b\n-- table t\na:string\n"x\n-- query\nSELECT 1', "not closed"),
        ("title: a\ntags: b\n-- table t\na:int\n-- table t\na:int\n-- query\nSELECT 1", "given twice"),
    ],
)
def test_refuses_what_is_not_a_case(text: str, problem: str) -> None:
    with pytest.raises(CaseError, match=problem):
        parse(text)


def test_a_refusal_names_the_line() -> None:
    with pytest.raises(CaseError, match=r"text\.case:5: not a value"):
        parse("title: a\ntags: b\n-- table t\na:int\nx\n-- query\nSELECT 1")


@pytest.mark.parametrize(
    ("left", "right", "is_same"),
    [
        (None, None, True),
        (None, 0, False),
        (1, 1.0, True),
        (True, 1, False),
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
        (0.0, -0.0, True),
        (0.1 + 0.2, 0.3, True),
        (1.0, 1.0 + 1e-7, False),
        (Decimal("1.50"), Decimal("1.5"), True),
        (Decimal(3), 3, True),
        ("a", "A", False),
        ([1, None], [1, None], True),
        ([1], [1, 2], False),
        ({"a": 1.0}, {"a": 1}, True),
        (math.inf, math.inf, True),
        (math.inf, 1e308, False),
    ],
)
def test_equality_is_that_of_sql_values(left: object, right: object, is_same: bool) -> None:
    assert same_value(left, right) is is_same
    assert same_value(right, left) is is_same


def test_differences_are_in_words() -> None:
    case = parse("title: a\ntags: b\n-- query\nSELECT 1\n-- result\na:bigint | b\n1 | x\n2 | NULL\n3 | z\n")
    assert case.result is not None
    agreeing = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})
    assert differences(case.result, agreeing) == []
    assert differences(case.result, agreeing.rename_columns(["a", "c"])) == [
        "columns: expected ['a', 'b'], got ['a', 'c']"
    ]
    assert differences(case.result, pa.table({"a": [1, 2], "b": ["x", "y"]})) == [
        "expected 3 rows, got 2",
        "row 2: b: expected NULL, got y in 2 | y",
        "row 3: missing 3 | z",
    ]
    assert differences(case.result, pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": ["x", None, "z"]})) == [
        "type of a: expected bigint, got int"
    ]
    # A result whose type cannot hold the expected values is a difference, not a crash.
    assert differences(case.result, pa.table({"a": [1, 2, 3], "b": [1, 2, 3]})) != []


def test_order_counts_only_where_the_case_says_so() -> None:
    rows = [(1, "a"), (2, "b"), (2, "b")]
    assert row_differences(("n", "s"), rows, rows[::-1], is_ordered=False) == []
    assert row_differences(("n", "s"), rows, rows[::-1]) != []
    assert row_differences(("n", "s"), rows, [(1, "a"), (1, "a"), (2, "b")], is_ordered=False) == [
        "missing 2 | b", "not expected 1 | a"
    ]


def test_untyped_columns_read_cells_by_the_answers_type() -> None:
    map_type = pa.map_(pa.string(), pa.int64())
    assert parse_value(Cell('{"a": 1}'), map_type) == {"a": 1}
    assert parse_value(Cell('["2024-01-31"]'), pa.list_(pa.date32())) == [datetime.date(2024, 1, 31)]
    assert parse_value(Cell("1.50"), pa.decimal128(38, 2)) == Decimal("1.5")
    assert parse_value(Cell("NULL"), pa.string()) is None
    assert parse_value(Cell("NULL", is_quoted=True), pa.string()) == "NULL"


def test_what_is_rendered_reads_back() -> None:
    table = pa.table(
        {
            "a": pa.array([1, None, 3], pa.int64()),
            "odd:name": ["", 'x|"', "NULL"],
            "l": [["a", None], [], None],
            "d": [datetime.date(2024, 1, 31), None, None],
            "f": [1.5, math.nan, -0.0],
            "b": [True, False, None],
        }
    )
    text = f"title: a\ntags: b\n-- query\nSELECT 1\n-- result\n{render_table(table)}\n"
    case = parse(text)
    assert case.result is not None
    assert differences(case.result, table) == []
    assert show([1, None]) == "[1, null]"


UNFILLED = "title: a\ntags: b\n\n-- query\nSELECT 1 AS n  \n-- no section\n"
ANSWER = pa.table({"n": [1]})


def _answer(case: Case) -> pa.Table:
    del case
    return ANSWER


def test_fill_writes_the_answer_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "one.case"
    path.write_text(UNFILLED)
    assert fill(path, _answer) is None
    assert path.read_text() == UNFILLED.rstrip() + "\n\n-- result\nn:bigint\n1\n"


def test_fill_can_write_an_error(tmp_path: Path) -> None:
    path = tmp_path / "one.case"
    path.write_text(UNFILLED)
    assert fill(path, lambda _: ExpectedError("REX201", (1, 8), ())) is None
    assert read(path).error == ExpectedError("REX201", (1, 8), ())


def test_fill_replaces_an_answer_only_when_forced(tmp_path: Path) -> None:
    path = tmp_path / "one.case"
    path.write_text(UNFILLED + "-- error\nREX101\n")
    assert fill(path, _answer) == "has an answer already"
    assert read(path).error is not None
    assert fill(path, _answer, is_forced=True) is None
    assert read(path).error is None
    assert read(path).result is not None


@pytest.mark.parametrize("key", ["source", "derivation"])
def test_fill_never_touches_a_derived_case(tmp_path: Path, key: str) -> None:
    path = tmp_path / "one.case"
    path.write_text(f"{key}: by hand\n{UNFILLED}-- result\nn\n2\n")
    before = path.read_text()
    assert fill(path, _answer, is_forced=True) is not None
    assert path.read_text() == before


def test_there_are_enough_cases() -> None:
    cases = [read(path) for path in case_files()]
    assert len(cases) >= 300
    assert sum(case.is_derived for case in cases) >= 150
    without_answer = [case.name for case in cases if case.result is None and case.error is None]
    assert without_answer == []


def test_no_question_is_asked_twice() -> None:
    asked: dict[object, str] = {}
    twice = []
    for case in map(read, case_files()):
        question = (case.tables, case.query, case.dialect, case.settings)
        if question in asked:
            twice.append(f"{case.name} asks what {asked[question]} asks")
        asked[question] = case.name
    assert twice == []
