"""The generator itself: it can be replayed, it reaches everything it has, and it says when a run covered too little."""

from __future__ import annotations

import random
import re

from tests.modes.rows.property.draws import BytesDraw, RandomDraw
from tests.modes.rows.property.examples import generate
from tests.modes.rows.property.expressions import CONDITION_KINDS, GRAMMAR, MEASURE_KINDS
from tests.modes.rows.property.tally import OPERATORS, Tally


def test_the_same_choices_give_the_same_example() -> None:
    choices = random.Random(1).randbytes(512)
    assert generate(BytesDraw(choices)) == generate(BytesDraw(choices))
    assert generate(RandomDraw(random.Random(1))) == generate(RandomDraw(random.Random(1)))


def test_no_choices_give_the_simplest_example() -> None:
    example = generate(BytesDraw(b""))
    assert "PATTERN (A)" in example.query
    assert example.rows == ()


def test_smaller_bytes_are_simpler_choices() -> None:
    drawn = [BytesDraw(bytes([byte])).integer(3, 40) for byte in range(256)]
    assert drawn == sorted(drawn)
    assert set(drawn) == set(range(3, 41))


def test_every_symbol_of_the_grammar_is_defined_and_used() -> None:
    texts = [text for productions in GRAMMAR.values() for _, text in productions]
    named = {symbol for text in texts for symbol in re.findall(r"<([a-z ]+)(?:#\d)?>", text)}
    starts = {f"{kind} condition" for kind in CONDITION_KINDS} | {f"{kind} measure" for kind in MEASURE_KINDS}
    assert named - {"variable", "name"} <= set(GRAMMAR)
    assert set(GRAMMAR) - starts <= named


def test_everything_is_reached() -> None:
    examples = [generate(RandomDraw(random.Random(number))) for number in range(2000)]
    assert {name for example in examples for name in example.operators} == set(OPERATORS)
    assert {name for example in examples for name in example.conditions} == set(CONDITION_KINDS)
    assert {name for example in examples for name in example.measures} == set(MEASURE_KINDS)
    # Random queries that repeat themselves would test less than their number says.
    assert len({example.query for example in examples}) > 1950


def test_a_run_that_covered_nothing_is_told_so() -> None:
    shortfalls = Tally(examples=100).shortfalls()
    assert any(text.startswith("matched: 0.0%") for text in shortfalls)
    assert any(text.startswith("TO FIRST v: 0.0%") for text in shortfalls)
