"""Rewritings of logical trees: where each rule fires, where it does not, and that the answer stays the same."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.modes.segments import building as b
from tests.modes.segments.analysis import analyzed
from tests.modes.segments.draws import Example, examples
from tests.modes.segments.logical_trees import as_search, segments_of, with_all_definitions
from tests.modes.segments.oracle import find_segments
from tests.modes.segments.templates import TEMPLATES

from sparkrex.modes.segments.pattern import Window
from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Neither, Repeat, parts
from sparkrex.modes.segments.planner.make_logical import make_logical, order_column
from sparkrex.modes.segments.planner.references import annotated
from sparkrex.modes.segments.planner.validate import Order, evaluation_order, has_order, tangled
from sparkrex.modes.segments.rewrite.common_subpatterns import share_common_subpatterns
from sparkrex.modes.segments.rewrite.driver import rewrite_logical
from sparkrex.modes.segments.rewrite.embed_windows import embed_windows
from sparkrex.modes.segments.rewrite.flatten import flatten
from sparkrex.modes.segments.rewrite.lift_conditions import lift_conditions
from sparkrex.modes.segments.rewrite.push_down_windows import push_down_windows
from sparkrex.modes.segments.rewrite.text import logical_text
from sparkrex.modes.segments.rewrite.wildcards import simplify_wildcards
from sparkrex.scalar.expression import Difference

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.planner.logical import Logical

RULES: dict[str, Callable[[Logical], Logical | None]] = {
    "flatten": flatten, "wildcards": simplify_wildcards, "embed": embed_windows, "push": push_down_windows,
    "share": share_common_subpatterns, "lift": lift_conditions,
}
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def rows_between(low: float | None, high: float | None) -> Window:
    return Window(None, low, high)


def any_segment(*windows: Window) -> Leaf:
    return Leaf((), None, False, windows=windows)


def leaf(name: str, *windows: Window) -> Leaf:
    """A variable that asks for something."""
    return Leaf((name,), b.call("gt", b.last(name, "x"), 0), False, windows=windows)


A, B, C, W = leaf("A"), leaf("B"), leaf("C"), any_segment()
POINT = Leaf((), None, True, windows=(rows_between(None, 1),))


def text(tree: Logical | None) -> str | None:
    return None if tree is None else logical_text(tree)


# Flattening.


def test_flattening_keeps_the_kinds_of_junctions() -> None:
    tree = Concat((A, Concat((B, C), (False,)), W), (True, False))
    assert flatten(tree) == Concat((A, B, C, W), (True, False, False))


def test_flattening_of_and_takes_the_windows_along() -> None:
    inner = Both((A, B), windows=(rows_between(2, 5),))
    assert flatten(Both((inner, C), windows=(rows_between(None, 4),))) == Both(
        (A, B, C), windows=(rows_between(2, 4),)
    )


def test_flattening_of_or_gives_the_windows_to_the_options() -> None:
    inner = Either((A, B), windows=(rows_between(2, 5),))
    assert text(flatten(Either((inner, C)))) == "(A[2..5 rows] | B[2..5 rows] | C)"


def test_of_equal_options_one_is_kept() -> None:
    assert text(flatten(Either((A, B, A)))) == "(A | B)"
    assert flatten(Either((A, leaf("D")))) is None


def test_a_chain_with_a_window_stays_a_part() -> None:
    assert flatten(Concat((A, Concat((B, C), (True,), windows=(rows_between(None, 3),))), (True,))) is None


def test_flat_trees_stay() -> None:
    assert flatten(Concat((A, Both((B, C))), (True,))) is None


# Wildcards.


def test_a_wildcard_in_an_and_leaves_its_window() -> None:
    assert text(simplify_wildcards(Both((A, any_segment(rows_between(2, 3)))))) == "A[2..3 rows]"


def test_a_wildcard_that_is_measured_becomes_another_name() -> None:
    tree = annotated(Both((A, Leaf(("S",), None, False))), frozenset(("S",)))
    assert text(simplify_wildcards(tree)) == "A=S"


def test_a_measured_wildcard_beside_a_chain_stays() -> None:
    tree = annotated(Both((Concat((A, B), (True,)), Leaf(("S",), None, False))), frozenset(("S",)))
    assert simplify_wildcards(tree) is None


@pytest.mark.parametrize(
    ("part", "minimum", "maximum", "shares", "expected"),
    [
        (W, 1, None, True, "*"),
        (W, 3, 3, True, "*"),
        (any_segment(rows_between(None, 1)), 1, None, True, "*[..1 rows]"),
        (any_segment(rows_between(None, 2)), 1, None, True, "*"),
        (any_segment(rows_between(3, 4)), 2, 2, True, "*[5..7 rows]"),
        (any_segment(rows_between(2, 3)), 1, None, True, "*[2.. rows]"),
        (POINT, 1, None, False, "*"),
        (POINT, 2, 3, False, "*[2..3 rows]"),
        # Steps of 3 rows: 4, 7, 10 rows and nothing between.
        (any_segment(rows_between(4, 4)), 1, None, True, None),
        (any_segment(Window("t", None, 3)), 1, None, True, None),
        (A, 1, None, True, None),
    ],
)
def test_repeated_wildcards(
    part: Logical, minimum: int, maximum: int | None, shares: bool, expected: str | None
) -> None:
    assert text(simplify_wildcards(Repeat(part, minimum, maximum, shares))) == expected


def test_a_repeated_wildcard_that_is_measured_stays() -> None:
    tree = annotated(Repeat(Leaf(("S",), None, False), 1, None, True), frozenset(("S",)))
    assert simplify_wildcards(tree) is None


def test_wildcards_side_by_side() -> None:
    tree = Concat((A, any_segment(rows_between(2, 3)), any_segment(rows_between(None, 4)), B), (True, True, False))
    assert text(simplify_wildcards(tree)) == "(A = *[2..6 rows] > B)"


# Embedding.


def test_windows_of_one_part_of_an_and_are_those_of_all() -> None:
    tree = Both((A, leaf("B", rows_between(2, None)), leaf("C", Window("t", None, 9))))
    each = "[2.. rows, t ..9]"
    assert text(embed_windows(tree)) == f"(A{each} & B{each} & C{each}){each}"


def test_a_chain_is_as_long_as_its_parts_together() -> None:
    tree = Concat((leaf("A", rows_between(2, 3)), leaf("B", rows_between(None, 4))), (True,))
    assert text(embed_windows(tree)) == "(A[2..3 rows] = B[..4 rows])[2..6 rows]"


def test_a_window_inside_not_never_moves_out() -> None:
    assert embed_windows(Both((A, Neither(leaf("B", rows_between(2, 3)))))) is None


# Pushing down.


def test_and_or_and_not_push_windows_to_all_parts() -> None:
    window = rows_between(2, 3)
    each = "[2..3 rows]"
    assert text(push_down_windows(Both((A, B), windows=(window,)))) == f"(A{each} & B{each}){each}"
    assert text(push_down_windows(Either((A, B), windows=(window,)))) == f"(A{each} | B{each}){each}"
    assert text(push_down_windows(Neither(A, windows=(window,)))) == f"~A{each}{each}"


def test_a_part_is_no_longer_than_the_whole_and_may_be_shorter_by_the_others() -> None:
    short = leaf("B", rows_between(None, 4))
    tree = Concat((A, short), (True,), windows=(rows_between(10, 20),))
    # A has 10 rows at least with B, which adds 3 at most.
    assert text(push_down_windows(tree)) == "(A[7..20 rows] = B[..4 rows])[10..20 rows]"
    assert text(push_down_windows(replace(tree, shares=(False,)))) == "(A[6..19 rows] > B[..4 rows])[10..20 rows]"


def test_without_shared_rows_a_window_on_a_column_has_no_lower_bound_for_parts() -> None:
    short = leaf("B", Window("t", None, 4))
    tree = Concat((A, short), (False,), windows=(Window("t", 10, 20),))
    assert text(push_down_windows(tree)) == "(A[t ..20] > B[t ..4])[t 10..20]"


def test_rounding_never_narrows_too_much() -> None:
    # 0.3 - 0.1 is less than 0.2: exact sums of bounds would lose segments of floating-point columns.
    times = [step * 0.1 for step in range(25)]
    for start, middle, end in combinations(times, 3):
        short = any_segment(Window("t", None, end - middle))
        tree = push_down_windows(Concat((W, short), (True,), windows=(Window("t", end - start, None),)))
        low = 0 if tree is None else next((one.low for one in parts(tree)[0].windows), None)
        assert (low or 0) <= middle - start


def test_an_iteration_is_no_longer_than_all() -> None:
    assert text(push_down_windows(Repeat(A, 1, None, True, windows=(rows_between(5, 9),)))) == (
        "A[..9 rows]{1,}=[5..9 rows]"
    )
    assert text(push_down_windows(Repeat(A, 3, 3, False, windows=(rows_between(5, 9),)))) == (
        "A[..7 rows]{3,3}>[5..9 rows]"
    )


def test_a_tree_without_windows_stays() -> None:
    tree = Both((Concat((A, B), (True,)), Neither(C)))
    assert embed_windows(tree) is None
    assert push_down_windows(tree) is None


# Common sub-patterns.


def test_equal_sub_patterns_become_one_object() -> None:
    tree = share_common_subpatterns(Concat((Both((A, B)), W, Both((leaf("D"), leaf("E")))), (True, True)))
    assert isinstance(tree, Concat)
    assert tree.parts[0] is tree.parts[2]
    assert share_common_subpatterns(tree) is None


def test_sub_patterns_that_differ_stay_two() -> None:
    assert share_common_subpatterns(Concat((A, leaf("D", rows_between(2, None))), (True,))) is None
    # Somebody refers to one of them.
    measured = annotated(Concat((A, leaf("D")), (True,)), frozenset(("A",)))
    assert share_common_subpatterns(measured) is None
    refers = replace(leaf("D"), condition=b.call("gt", b.last("D", "x"), b.last("B", "x")))
    other = replace(leaf("E"), condition=b.call("gt", b.last("E", "x"), b.last("B", "x")))
    assert share_common_subpatterns(annotated(Concat((refers, other, B), (True, True)), frozenset())) is None


# The order of evaluation.


def refers(name: str, *others: str) -> Leaf:
    conditions = [b.call("ge", b.last(name, "x"), b.last(other, "x")) for other in others]
    return Leaf((name,), b.call("and", *conditions) if len(conditions) > 1 else conditions[0], False)


def test_who_refers_is_evaluated_later() -> None:
    tree = annotated(Concat((refers("A", "B"), B, refers("C", "B")), (True, True)), frozenset())
    first, second, third = parts(tree)
    assert evaluation_order([first], [second, third]) is Order.RIGHT_FIRST
    assert evaluation_order([first, second], [third]) is Order.LEFT_FIRST
    assert evaluation_order([first], [third]) is Order.ANY


def test_a_chain_may_have_no_order_though_there_is_no_circle() -> None:
    # C refers to A, A to D, D to B: whatever the split, each side waits for the other.
    chain = (refers("A", "D"), B, refers("C", "A"), refers("D", "B"))
    tree = annotated(Concat(chain, (True, True, True)), frozenset())
    assert not has_order(tree)
    assert has_order(annotated(Both(chain), frozenset()))
    lifted = lift_conditions(tree)
    assert lifted is not None
    assert tangled(annotated(lifted, frozenset())) is None


def test_parts_that_wait_for_each_other_are_lifted() -> None:
    left = Both((refers("A", "C"), leaf("B")))
    right = Both((leaf("C"), refers("D", "B")))
    tree = annotated(Concat((left, right), (True,)), frozenset())
    assert evaluation_order([tree.parts[0]], [tree.parts[1]]) is Order.IMPOSSIBLE  # type: ignore[union-attr]
    lifted = lift_conditions(tree)
    assert lifted is not None
    assert tangled(annotated(lifted, frozenset())) is None


def test_a_condition_inside_a_repetition_is_not_lifted() -> None:
    left = Both((Repeat(refers("A", "C"), 1, None, True), leaf("B")))
    right = Both((leaf("C"), Repeat(refers("D", "B"), 1, None, True)))
    tree = annotated(Concat((left, right), (True,)), frozenset())
    assert lift_conditions(tree) is None
    assert tangled(tree) is tree


# From searches to trees.


def test_needs_and_gives() -> None:
    search = b.search(
        b.both(b.concat(b.segment("A"), b.repeat(b.segment("B"))), b.segment("C")),
        b.define("A"), b.define("B", b.call("gt", b.last("B", "x"), b.first("A", "x"))),
        b.define("C", b.call("gt", b.last("C", "x"), b.last("B", "x"))), measured=["A"],
    )
    tree = make_logical(search, "t")
    chain, last = parts(tree)
    first, repeat = parts(chain)
    found = [("".join(sorted(one.needs)), "".join(sorted(one.gives))) for one in (tree, chain, last, first, repeat)]
    assert found == [("", "A"), ("", "AB"), ("B", ""), ("", "A"), ("A", "B")]


def test_a_variable_of_another_option_is_null() -> None:
    search = b.search(
        b.either(b.segment("A"), b.segment("B")), b.define("A"),
        b.define("B", b.call("is_null", b.last("A", "x"))),
    )
    option = parts(make_logical(search, "t"))[1]
    assert option.needs == frozenset()
    assert isinstance(option, Leaf)
    assert str(option.condition) == "(NULL IS NULL)"


def test_a_window_on_another_column_is_a_condition() -> None:
    search = b.search(b.segment("A"), b.define("A", None, Window("x", 1, 2), Window("t", None, 5)))
    tree = make_logical(search, "t")
    assert isinstance(tree, Leaf)
    assert tree.windows == (Window("t", None, 5),)
    length = replace(b.call("subtract", b.last("A", "x"), b.first("A", "x")), difference=Difference.NUMBER)
    assert tree.condition == b.call("and", b.call("ge", length, 1), b.call("le", length, 2))
    without = make_logical(search, None)
    assert without.windows == ()


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_have_an_order_of_evaluation_and_end(name: str) -> None:
    search = analyzed(TEMPLATES[name])
    tree, steps = rewrite_logical(make_logical(search, order_column(search)))
    assert tangled(tree) is None
    assert steps


def test_the_cold_wave_has_its_windows_where_figure_4_has_them() -> None:
    search = analyzed(TEMPLATES["cld_wave"])
    tree, steps = rewrite_logical(make_logical(search, order_column(search)))
    assert logical_text(tree) == (
        "((*[..30 rows] = (DOWN[..5 rows] & FALL[..5 rows])[..5 rows] = *[..30 rows])[25..30 rows]"
        " & UP_MK[25..30 rows])[25..30 rows]"
    )
    assert [step.rule for step in steps] == ["simplify wildcards", "embed windows", "push down windows"]


# Random trees of windows: the same segments before and after, by brute force.


@st.composite
def windows(draw: st.DrawFn, scale: float, is_dense: bool) -> tuple[Window, ...]:
    dense: list[list[str | None]] = [[], [None], ["t"], ["t"], [None, "t"]]
    sparse: list[list[str | None]] = [[], [], [], [None], ["t"]]
    columns = draw(st.sampled_from(dense if is_dense else sparse))
    found = []
    for column in columns:
        low = draw(st.sampled_from([None, None, 1, 2, 3, 4]))
        high = draw(st.sampled_from([None, *range(low or 1, 7)]))
        unit = 1 if column is None else scale
        found.append(Window(column, low and low * unit, high and high * unit))
    return tuple(found)


@st.composite
def trees(draw: st.DrawFn, scale: float, depth: int, is_dense: bool) -> Logical:
    kinds = ["leaf", *["concat", "concat", "concat", "both", "either", "repeat", "repeat", "not"] * (depth > 0)]
    inside = draw(windows(scale, is_dense))
    part = trees(scale, depth - 1, is_dense)
    match draw(st.sampled_from(kinds)):
        case "leaf":
            kind = draw(st.sampled_from(["any", "any", "point", "condition"]))
            if kind == "condition":
                return leaf("A", *inside)
            if kind == "point":
                return Leaf((), None, True, windows=(rows_between(None, 1), *inside))
            return any_segment(*inside)
        case "concat":
            n = draw(st.integers(2, 3))
            shares = tuple(draw(st.booleans()) for _ in range(n - 1))
            return Concat(tuple(draw(part) for _ in range(n)), shares, windows=inside)
        case "both":
            return Both((draw(part), draw(part)), windows=inside)
        case "either":
            return Either((draw(part), draw(part)), windows=inside)
        case "repeat":
            minimum = draw(st.sampled_from([1, 1, 2, 3]))
            maximum = draw(st.sampled_from([None, minimum, minimum + 1]))
            return Repeat(draw(part), minimum, maximum, draw(st.booleans()), windows=inside)
        case _:
            return Neither(draw(part), windows=inside)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Logical, list[dict[str, Any]]]:
    scale = draw(st.sampled_from([1, 1, 0.1, 0.3]))
    is_dense = draw(st.booleans())
    tree = annotated(draw(trees(scale, 2 if is_dense else 3, is_dense)), frozenset())
    t = draw(st.integers(-3, 3))
    rows = []
    for _ in range(draw(st.integers(1, 8))):
        rows.append({"t": t * scale, "x": draw(st.sampled_from([1, 1, -1]))})
        t += draw(st.sampled_from([0, 1, 1, 1, 2, 3]))
    return tree, rows


@given(cases(), st.sampled_from(["flatten", "wildcards", "embed", "push", "share"]))
@settings(max_examples=250, deadline=None, suppress_health_check=SLOW)
def test_a_rule_keeps_the_segments(case: tuple[Logical, list[dict[str, Any]]], name: str) -> None:
    tree, rows = case
    changed = RULES[name](tree)
    assume(changed is not None)
    assert changed is not None
    assert segments_of(changed, rows) == segments_of(tree, rows), f"{logical_text(tree)}\n{logical_text(changed)}"


@st.composite
def chains(draw: st.DrawFn) -> tuple[Logical, list[dict[str, Any]]]:
    """Chains and repetitions of bounded parts inside a window: what relaxing is about."""
    bounds = st.sampled_from([
        (), (), (Window("t", None, 1),), (Window("t", None, 3),), (Window("t", 2, None),), (rows_between(None, 2),),
        (rows_between(2, 3),), (rows_between(None, 1),),
    ])
    leaves = [leaf("A", *draw(bounds)) if draw(st.booleans()) else any_segment(*draw(bounds)) for _ in range(3)]
    low, size = draw(st.integers(1, 6)), draw(st.integers(0, 3))
    whole = (Window(draw(st.sampled_from([None, "t"])), low, draw(st.sampled_from([None, low + size]))),)
    tree: Logical
    if draw(st.integers(0, 2)):
        n_parts = draw(st.integers(2, 3))
        shares = tuple(draw(st.booleans()) for _ in range(n_parts - 1))
        tree = Concat(tuple(leaves[:n_parts]), shares, windows=whole)
    else:
        minimum = draw(st.integers(1, 3))
        maximum = draw(st.sampled_from([None, minimum, minimum + 1]))
        tree = Repeat(leaves[0], minimum, maximum, draw(st.booleans()), windows=whole)
    t, rows = 0, []
    for _ in range(draw(st.integers(4, 7))):
        rows.append({"t": t, "x": draw(st.sampled_from([1, 1, 1, -1]))})
        t += draw(st.sampled_from([0, 1, 1, 2, 4]))
    return annotated(tree, frozenset()), rows


@given(chains())
@settings(max_examples=300, deadline=None, suppress_health_check=SLOW)
def test_windows_of_chains_are_relaxed_enough(case: tuple[Logical, list[dict[str, Any]]]) -> None:
    tree, rows = case
    expected = segments_of(tree, rows)
    for rule in (push_down_windows, embed_windows, simplify_wildcards, lambda tree: rewrite_logical(tree)[0]):
        changed = rule(tree)
        assert changed is None or segments_of(changed, rows) == expected, text(changed)


@given(cases())
@settings(max_examples=250, deadline=None, suppress_health_check=SLOW)
def test_all_rules_keep_the_segments(case: tuple[Logical, list[dict[str, Any]]]) -> None:
    tree, rows = case
    changed, steps = rewrite_logical(tree)
    assert segments_of(changed, rows) == segments_of(tree, rows), "\n".join(map(str, steps))


# Random searches with references and bindings, by the oracle.


def found(search: SegmentSearch, example: Example) -> list[Any]:
    return find_segments(search, example.rows)


@given(examples(depth=3, n_leaves=5, n_rows=6, with_skip=False), st.sampled_from(["t", None]))
@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
def test_a_tree_means_what_the_search_does(example: Example, pruning_column: str | None) -> None:
    search = with_all_definitions(example.search)
    tree = make_logical(search, pruning_column)
    expected = found(search, example)
    assert found(as_search(tree, search), example) == expected
    for name, rule in RULES.items():
        changed = rule(tree)
        if changed is not None:
            changed = annotated(changed, tree.gives) if name != "share" else changed
            assert found(as_search(changed, search), example) == expected, name
    changed, steps = rewrite_logical(tree)
    assert found(as_search(changed, search), example) == expected, "\n".join(map(str, steps))


@st.composite
def tangles(draw: st.DrawFn) -> tuple[Logical, list[dict[str, Any]]]:
    """Chains whose variables refer to each other without a circle."""
    names = ["A", "B", "C", "D"]
    order = draw(st.permutations(names))
    leaves = {order[0]: leaf(order[0])}
    for place, name in enumerate(order[1:], 1):
        others = draw(st.lists(st.sampled_from(order[:place]), unique=True, max_size=2))
        leaves[name] = refers(name, *others) if others else leaf(name)
    a, b_, c, d = (leaves[name] for name in names)
    shapes: list[Logical] = [
        Concat((a, b_, c, d), (True, True, True)), Concat((Both((a, b_)), Both((c, d))), (True,)),
        Concat((Both((a, c)), Either((b_, d))), (False,)), Both((Concat((a, b_), (True,)), Concat((c, d), (True,)))),
    ]
    whole = draw(st.sampled_from(shapes))
    rows = [
        {"k": "a", "t": t, "x": draw(st.sampled_from([-1, 1, 2, 3]))} for t in range(draw(st.integers(1, 5)))
    ]
    return annotated(whole, draw(st.sampled_from([frozenset(), frozenset("A"), frozenset("BD")]))), rows


@given(tangles())
@settings(max_examples=100, deadline=None, suppress_health_check=SLOW)
def test_lifting_keeps_the_answer(case: tuple[Logical, list[dict[str, Any]]]) -> None:
    tree, rows = case
    assume(tangled(tree) is not None)
    search = b.search(b.segment("A"), measured=sorted(tree.gives))
    changed, steps = rewrite_logical(tree)
    assert any(step.rule == "lift conditions" for step in steps)
    assert tangled(changed) is None
    assert find_segments(as_search(changed, search), rows) == find_segments(as_search(tree, search), rows)
