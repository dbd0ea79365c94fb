"""Why a segment search found nothing: which parts have segments is what the oracle finds of each part alone."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import hypothesis
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from tests.differential.relations import one_database
from tests.modes.segments.analysis import analyzed
from tests.modes.segments.oracle import find_segments
from tests.modes.segments.texts import SCHEMA, TYPES, clauses, containing_clauses, tables
from tests.modes.segments.values import variables_read

import sparkrex as rex
from sparkrex.modes.segments.pattern import (
    And,
    Concatenation,
    Not,
    PointVariable,
    SegmentPattern,
    SegmentVariable,
    children,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.modes.segments.plan import SegmentSearch

N_EXAMPLES = int(os.environ.get("REX_SEGMENT_EXAMPLES", "25"))


def variables(pattern: SegmentPattern) -> set[str]:
    if isinstance(pattern, PointVariable | SegmentVariable):
        return {pattern.name}
    return set[str]().union(*map(variables, children(pattern)))


def smaller(pattern: SegmentPattern) -> list[SegmentPattern]:
    """The next smaller sub-patterns: shorter runs of items, fewer items of And, else parts; none inside a Not."""
    if isinstance(pattern, Concatenation) and len(pattern.items) > 2:
        return [
            Concatenation(pattern.items[:-1], pattern.shares[:-1]), Concatenation(pattern.items[1:], pattern.shares[1:])
        ]
    if isinstance(pattern, And) and len(pattern.items) > 2:
        return [And(items) for items in combinations(pattern.items, len(pattern.items) - 1)]
    return [] if isinstance(pattern, Not) else list(children(pattern))


def means_something(pattern: SegmentPattern, search: SegmentSearch) -> bool:
    """Whether its conditions read nothing but its own variables."""
    own = variables(pattern)
    conditions = [search.definition(name).condition for name in own]
    return all(variables_read(condition) <= own for condition in conditions if condition is not None)


def has_segment(pattern: SegmentPattern, search: SegmentSearch, rows: Sequence[Mapping[str, Any]]) -> bool:
    return bool(find_segments(replace(search, pattern=pattern, skip=None, measured=(), measures=()), rows))


def missing(pattern: SegmentPattern, search: SegmentSearch, rows: Sequence[Mapping[str, Any]]) -> set[SegmentPattern]:
    """The smallest without a segment, that are in none with one."""
    is_asked = pattern is search.pattern or means_something(pattern, search)
    if is_asked and has_segment(pattern, search, rows):
        return set()
    inside = set[SegmentPattern]().union(*(missing(one, search, rows) for one in smaller(pattern)))
    return inside or ({pattern} if is_asked else set())


def test_parts_are_those_of_the_oracle() -> None:
    happened: Counter[str] = Counter()

    @hypothesis.seed(20230619)
    @hypothesis.settings(
        max_examples=N_EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(st.one_of(clauses(), clauses(n_leaves=5), containing_clauses()), tables(n_rows=5))
    def run(clause: str, data: list[dict[str, Any]]) -> None:
        search = analyzed(clause, columns=TYPES)
        answer = rex.why(rex.match(clause), pa.Table.from_pylist(data, schema=SCHEMA))
        expected = missing(search.pattern, search, data)
        said = f"{clause}\n{data}\n{answer}"
        assert {part.text for part in answer.parts if part.is_missing} == {str(one) for one in expected}, said
        assert answer.parts[-1].text == str(search.pattern), said
        assert bool(answer.n_matches) == has_segment(search.pattern, search, data), said
        happened["found" if answer.n_matches else "nothing"] += 1
        happened["smaller"] += bool(expected) and search.pattern not in expected
        happened["whole"] += search.pattern in expected and bool(smaller(search.pattern))

    with one_database():
        run()
    assert all(happened[what] > 0 for what in ("found", "nothing", "smaller")), happened


TICKS = pa.table({"k": ["a"] * 6 + ["b"], "ts": [1, 2, 3, 4, 5, 6, 1], "price": [5.0, 6.0, 7.0, 3.0, 2.0, 4.0, 1.0]})
CLAUSE = """PARTITION BY k ORDER BY ts ALL MATCHES
PATTERN ((UP & LONG) DOWN)
DEFINE SEGMENT UP AS last(price) > first(price) + 1, SEGMENT DOWN AS last(price) < first(price) - 2,
       SEGMENT LONG AS window(5, 6)"""


def test_the_text_shown() -> None:
    assert str(rex.why(rex.match(CLAUSE), TICKS, key={"k": "a"})) == """\
Why ((UP & LONG) DOWN) matched nothing in k = 'a':
  6 rows
  UP has segments, the first is rows 1 to 3
  LONG has segments, the first is rows 1 to 6
  UP & LONG has none, and no smaller part lacks one
    2 | PATTERN ((UP & LONG) DOWN)
                  ^^^^^^^^^
  DOWN has segments, the first is rows 1 to 5"""


def test_a_row_is_not_asked_about() -> None:
    with pytest.raises(rex.UnsupportedError, match="at= is a start of a row pattern, and this is a segment search"):
        rex.why(rex.match(CLAUSE), TICKS, key={"k": "a"}, at=2)
