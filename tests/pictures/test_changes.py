"""What came, went and moved, against the definition tried out on random matches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.pictures.samples import V_SHAPES, clicks, random_ticks

import sparkrex as rex
from sparkrex.columns.arrange import Arrangement
from sparkrex.matching.located import Located, Pieces
from sparkrex.pictures.changes import find_changes

OFFSETS = np.array([0, 12, 20])


def random_matches(random: np.random.Generator) -> Located:
    """Matches of two partitions, some of them empty, with one or two pieces and variables under changing numbers."""
    found: set[tuple[int, int, tuple[tuple[str, int, int], ...]]] = set()
    for _ in range(int(random.integers(0, 7))):
        partition = int(random.integers(0, 2))
        low, high = sorted(random.integers(OFFSETS[partition], OFFSETS[partition + 1], 2).tolist())
        cut = int(random.integers(low, high + 1))
        pieces = [("A", low, cut), ("B", cut + 1, high)] if cut < high else [("A", low, high)]
        found.add((low, high + 1, tuple(pieces)) if random.random() < 0.9 else (low, low, ()))
    names = ("A", "B") if random.random() < 0.5 else ("B", "A")
    matches = sorted(found)
    listed = [
        (number, names.index(name), low, high) for number, (*_, own) in enumerate(matches) for name, low, high in own
    ]
    pieces_of_all = Pieces(*(np.array([one[place] for one in listed], np.int64) for place in range(4)))
    nothing = pa.table({"x": range(20)})
    first, behind = (np.array([match[place] for match in matches], np.int64) for place in range(2))
    return Located(
        nothing, Arrangement(None, OFFSETS, 20), (), names, first, behind, np.arange(1, len(matches) + 1), pieces_of_all
    )


def described(found: Located) -> list[Any]:
    """Matches as values, written anew."""
    result = []
    for number in range(len(found)):
        pieces = frozenset(
            (found.variables[variable], low, high)
            for match, variable, low, high in zip(
                found.pieces.match.tolist(), found.pieces.variable.tolist(), found.pieces.first.tolist(),
                found.pieces.last.tolist(), strict=True,
            )
            if match == number
        )
        result.append((int(found.first[number]), int(found.behind[number]), pieces))
    return result


def by_definition(before: list[Any], after: list[Any]) -> tuple[set[Any], set[Any], set[Any], set[Any]]:
    """Same, moved, went, came: the best pair is taken until there is none."""
    same = {one for one in before if one in after}
    left, right = [one for one in before if one not in same], [one for one in after if one not in same]
    moved: set[Any] = set()
    while True:
        pairs = []
        for one in left:
            for other in right:
                shared = len(set(range(*one[:2])) & set(range(*other[:2])))
                if shared:
                    pairs.append((-shared, one[0], one[1], other[0], other[1], before.index(one), after.index(other)))
        if not pairs:
            return same, moved, set(left), set(right)
        *_, one_place, other_place = min(pairs)
        moved.add((before[one_place], after[other_place]))
        left.remove(before[one_place])
        right.remove(after[other_place])


def test_changes_are_those_of_the_definition() -> None:
    random = np.random.default_rng(11)
    seen = np.zeros(4, np.int64)
    for _ in range(1_500):
        before, after = random_matches(random), random_matches(random)
        one, two = described(before), described(after)
        changes = find_changes(before, after)
        found = (
            {one[pair[0]] for pair in changes.same.tolist()},
            {(one[pair[0]], two[pair[1]]) for pair in changes.moved.tolist()},
            {one[number] for number in changes.went.tolist()}, {two[number] for number in changes.came.tolist()},
        )
        assert found == by_definition(one, two)
        assert all(one[pair[0]] == two[pair[1]] for pair in changes.same.tolist())
        seen += [len(part) for part in found]
    assert (seen > 30).all()


def test_the_table_says_where_matches_were_and_are() -> None:
    table = pa.table({"k": ["a"] * 6, "x": range(6), "y": [5, 4, 3, 4, 3, 2]})
    text = "PARTITION BY k ORDER BY x PATTERN (S DOWN{}) DEFINE DOWN AS y < PREV(y)"
    changed = rex.diff(rex.match(text.format("{2}")), rex.match(text.format("{1}")), table)
    assert changed.counts == {"same": 0, "came": 0, "went": 0, "moved": 2}
    assert changed.table.to_pylist() == [
        {"k": "a", "change": "moved", "before_start": 0, "before_end": 2, "after_start": 0, "after_end": 1},
        {"k": "a", "change": "moved", "before_start": 3, "before_end": 5, "after_start": 3, "after_end": 4},
    ]


def test_values_of_parameters_are_those_of_both() -> None:
    text = "ORDER BY x PATTERN (S DOWN{{{},}}) DEFINE DOWN AS y < PREV(y) AND y > :least"
    table = pa.table({"x": range(5), "y": [5, 4, 3, 2, 1]})
    one, two = (rex.match(text.format(least)) for least in (1, 4))
    assert rex.diff(one, two, table, args={"least": 1}).counts == {"same": 0, "came": 0, "went": 1, "moved": 0}
    first, second = (f"SELECT * FROM t MATCH_RECOGNIZE ({text.format(least)})" for least in (1, 3))
    assert rex.diff(first, second, table, args={"least": 1}).counts == {"same": 1, "came": 0, "went": 0, "moved": 0}
    assert rex.regions(first, table, args={"least": 1}).column("end").to_pylist() == [3]


def test_a_query_and_itself_are_the_same() -> None:
    changed = rex.diff(V_SHAPES, V_SHAPES, ticks=random_ticks())
    assert changed.table.num_rows == changed.counts["moved"] == changed.counts["came"] == 0
    assert changed.counts["same"] > 5
    assert "No match changed." in changed._repr_mimebundle_()["text/html"]


def test_a_match_that_came_has_no_place_before() -> None:
    changed = rex.diff(V_SHAPES.replace("UP{2,}", "UP{9}"), V_SHAPES, ticks=random_ticks())
    came = changed.table.filter(pa.compute.equal(changed.table["change"], "came"))
    assert came.num_rows == changed.counts["came"] > 5
    assert came["before_start"].null_count == came["before_end"].null_count == came.num_rows
    assert came["after_start"].null_count == came["after_end"].null_count == 0
    assert {"came", "same"} <= set(changed._picture.kinds)


def test_queries_over_other_partitions_cannot_be_compared() -> None:
    with pytest.raises(rex.AnalysisError, match="do not search the same rows in the same order"):
        rex.diff(V_SHAPES, V_SHAPES.replace("PARTITION BY symbol", ""), ticks=random_ticks())


def test_trend_queries_have_nothing_to_compare() -> None:
    query = rex.trends("RETURN COUNT(*) PATTERN view v+ SEMANTICS skip-till-any-match", time="ts", type="kind")
    with pytest.raises(rex.UnsupportedError, match="trend queries have no matches"):
        rex.diff(query, query, clicks())
