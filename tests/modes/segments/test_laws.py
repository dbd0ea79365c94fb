"""Laws that the definitions imply, asked of the oracle on random patterns: a second opinion on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.modes.segments import building as b
from tests.modes.segments.draws import Example, examples
from tests.modes.segments.oracle import find_segments

from sparkrex.modes.segments.pattern import Concatenation

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import SegmentPattern

Spans = set[tuple[object, int, int]]
SEARCHES = examples(depth=2, n_leaves=3, n_rows=5, with_skip=False)
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def spans(example: Example, pattern: SegmentPattern) -> Spans:
    """Where a pattern matches, with the example's definitions and rows."""
    asked = replace(example.search, pattern=pattern, measured=(), measures=())
    return {(found.partition, found.start, found.end) for found in find_segments(asked, example.rows)}


def everything(example: Example) -> Spans:
    """All segments of all partitions."""
    return spans(example, b.segment("W"))


@few
@given(SEARCHES)
def test_not(example: Example) -> None:
    found = spans(example, example.search.pattern)
    assert spans(example, b.absent(example.search.pattern)) == everything(example) - found
    assert spans(example, b.absent(b.absent(example.search.pattern))) == found


@few
@given(SEARCHES, st.integers(1, 4))
def test_and_or_with_any_segments_of_some_length(example: Example, n_rows: int) -> None:
    short = b.define("SHORT", None, b.rows_window(None, n_rows))
    search = replace(example.search, definitions=(*example.search.definitions, short))
    example = replace(example, search=search)
    found, shorts = spans(example, search.pattern), spans(example, b.segment("SHORT"))
    assert shorts == {span for span in everything(example) if span[2] - span[1] < n_rows}
    assert spans(example, b.both(search.pattern, b.segment("SHORT"))) == found & shorts
    assert spans(example, b.either(search.pattern, b.segment("SHORT"))) == found | shorts


@few
@given(SEARCHES)
def test_repetition_is_concatenation_with_itself(example: Example) -> None:
    # Variables of different iterations do not meet in the spelled-out form only if nobody refers to them.
    body = example.search.pattern
    definitions = tuple(
        replace(one, condition=None) if "V" in str(one.condition).replace(one.variable, "") else one
        for one in example.search.definitions
    )
    example = replace(example, search=replace(example.search, definitions=definitions))
    shares = not b.holds_only_points(body)
    once, twice, thrice = (
        body if n == 1 else Concatenation((body,) * n, (shares,) * (n - 1)) for n in (1, 2, 3)
    )
    assert spans(example, b.repeat(body, 2, 3)) == spans(example, twice) | spans(example, thrice)
    assert spans(example, b.repeat(body, 1, 1)) == spans(example, once)
    # In five rows nothing new comes after five iterations on rows of their own, or four that advance and repeats.
    unbounded = spans(example, b.repeat(body))
    assert unbounded == spans(example, b.repeat(body, 1, 12))
    assert unbounded >= spans(example, once) | spans(example, twice)


@few
@given(SEARCHES)
def test_any_segment_before_and_after(example: Example) -> None:
    w = b.segment("W")
    found = spans(example, example.search.pattern)
    expected = {
        (key, i, j) for key, i, j in everything(example)
        if any(other == key and i <= first and last <= j for other, first, last in found)
    }
    # W shares its row with whatever it meets, points included.
    assert spans(example, b.concat(w, example.search.pattern, w)) == expected
