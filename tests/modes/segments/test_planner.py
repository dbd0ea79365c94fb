"""The planners of segment search: estimates against counting, the optimizer against all plans, answers."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.modes.segments import building as b
from tests.modes.segments.arrays import columns_of, series_of
from tests.modes.segments.draws import Example, examples
from tests.modes.segments.oracle import find_segments
from tests.modes.segments.test_plans import evaluator, found_by

from sparkrex.modes.segments.aggregates.registry import names
from sparkrex.modes.segments.operators.conditions import SegmentConditions
from sparkrex.modes.segments.operators.series import Column, Series
from sparkrex.modes.segments.pattern import Window
from sparkrex.modes.segments.planner.cardinality import Cardinalities, expected_distinct
from sparkrex.modes.segments.planner.cost import CostModel
from sparkrex.modes.segments.planner.joint_selectivity import JointSelectivity
from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Logical, Neither, Repeat
from sparkrex.modes.segments.planner.make_logical import make_logical
from sparkrex.modes.segments.planner.optimizer import NoPlanError, optimize
from sparkrex.modes.segments.planner.physical_plan import Op, Physical
from sparkrex.modes.segments.planner.planners import PLANNERS, make_plan
from sparkrex.modes.segments.planner.profile import Profiler, tables
from sparkrex.modes.segments.planner.references import annotated
from sparkrex.modes.segments.planner.rule_planners import RULE_PLANNERS, every_plan, plan_by_rule, random_plan
from sparkrex.modes.segments.planner.statistics import Sampled, Statistics, collect, leaves_of
from sparkrex.modes.segments.planner.validate import tangled
from sparkrex.modes.segments.planner.weights import (
    OperatorWeights,
    Weights,
    read_weights,
    shipped_weights,
    write_weights,
)
from sparkrex.modes.segments.planner.windows_selectivity import (
    Lengths,
    Ranges,
    candidates,
    lengths_of,
    mean_length,
    selectivity,
    selectivity_of_concatenation,
    selectivity_of_part,
)
from sparkrex.modes.segments.rewrite.driver import rewrite_logical

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

N_ROWS = 60


# Windows against enumeration

WINDOWS = [Lengths(1, 60), Lengths(1, 5), Lengths(4, 9), Lengths(30, 60), Lengths(58, 60), Lengths(7, 7), Lengths(9, 8)]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("starts", "ends"), [(60, 60), (20, 20), (1, 60), (60, 1), (1, 12), (12, 30), (30, 12)])
def test_candidates_are_those_of_an_enumeration(window: Lengths, starts: int, ends: int) -> None:
    def fits(start: int, end: int) -> bool:
        return window.low <= end - start + 1 <= window.high

    if starts > 1 and ends > 1:
        # A stretch of rows at whose edges both ranges are: starts from the first row on, ends up to the last.
        longest = max(starts, ends)
        pairs = product(range(starts), range(longest - ends, longest))
        expected: float = sum(fits(start, end) for start, end in pairs)
    elif starts == 1:
        ranges = [(start, range(start, min(N_ROWS, start + ends))) for start in range(N_ROWS)]
        expected = sum(fits(start, end) for start, last in ranges for end in last) / N_ROWS
    else:
        backwards = [(range(max(0, end - starts + 1), end + 1), end) for end in range(N_ROWS)]
        expected = sum(fits(start, end) for first, end in backwards for start in first) / N_ROWS
    assert candidates(window, Ranges(starts, ends), N_ROWS) == pytest.approx(expected)
    assert selectivity(window, Ranges(starts, ends), N_ROWS) == pytest.approx(expected / starts / ends)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("known", WINDOWS[:-1])
def test_one_segment_of_known_length(window: Lengths, known: Lengths) -> None:
    lengths = [end - start + 1 for start in range(N_ROWS) for end in range(start, N_ROWS)]
    possible = [length for length in lengths if known.low <= length <= known.high]
    expected = sum(window.low <= length <= window.high for length in possible) / len(possible)
    assert candidates(window, Ranges(1, 1, known), N_ROWS) == pytest.approx(expected)
    assert selectivity_of_part(window, known, N_ROWS) == pytest.approx(expected)
    if known != WINDOWS[0]:
        assert mean_length(known, N_ROWS) == pytest.approx(sum(possible) / len(possible))


def test_mean_length_without_a_window_is_a_third() -> None:
    assert mean_length(Lengths(1, 300), 300) == 100


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("overlap", [0, 1])
@pytest.mark.parametrize(("left", "right"), [((1, 5), (1, 5)), ((3, 20), (1, 1)), ((1, 60), (1, 60)), ((2, 9), (4, 6))])
def test_concatenations_that_fit(window: Lengths, overlap: int, left: tuple[int, int], right: tuple[int, int]) -> None:
    sums = [x + y - overlap for x in range(left[0], left[1] + 1) for y in range(right[0], right[1] + 1)]
    expected = sum(window.low <= length <= window.high for length in sums) / len(sums)
    found = selectivity_of_concatenation(window, Lengths(*left), Lengths(*right), overlap)
    assert found == pytest.approx(expected)


def test_windows_in_rows() -> None:
    windows = (Window(None, 0, 40), Window("t", 86_400, 5 * 86_400))
    assert lengths_of(windows, {"t": 43_200.0}, 1000) == Lengths(3, 11)
    assert lengths_of((Window("t", None, None), Window("u", 3, 4)), {"t": 1.0}, 50) == Lengths(1, 50)
    # Between two multiples of an average step something may still fit.
    assert lengths_of((Window("t", 4, 4),), {"t": 1.45}, 50) == Lengths(4, 4)


# Cardinalities against simulation


@pytest.mark.parametrize(("draws", "n"), [(1, 5), (3, 10), (10, 10), (100, 30), (1000, 30), (50, 5000)])
def test_expected_distinct(draws: int, n: int) -> None:
    generator = np.random.default_rng(1)
    seen = [len(np.unique(generator.integers(0, n, draws))) for _ in range(2000)]
    assert expected_distinct(draws, n) == pytest.approx(np.mean(seen), rel=0.03)


def test_expected_distinct_of_less_than_one() -> None:
    assert expected_distinct(0.25, 100) == 0.25
    assert expected_distinct(0.25, 1) == 0.25
    assert expected_distinct(7, 1) == 1
    assert expected_distinct(7, 0) == 0


N_LONG = 200
A, B, W = (
    Leaf((name,), condition, is_point=False, windows=(Window(None, None, high),))
    for name, condition, high in (
        ("A", b.call("gt", b.first("A", "x"), 0), 12), ("B", b.call("gt", b.first("B", "x"), 0), 20), ("W", None, 15),
    )
)
SELECTIVITY = {A: 0.06, B: 0.03, W: 1.0}
UNIFORM = Statistics(1, N_LONG, {}, {leaf: Sampled(part, 5.0) for leaf, part in SELECTIVITY.items()})
SEGMENTS_OF = dict[Leaf, "NDArray[np.bool_]"]


def _sets(seed: int) -> SEGMENTS_OF:
    """For every leaf a random matrix of the segments that it has."""
    generator = np.random.default_rng(seed)
    length = np.arange(N_LONG)[None, :] - np.arange(N_LONG)[:, None] + 1
    found = {}
    for leaf, part in SELECTIVITY.items():
        in_window = (length >= 1) & (length <= (leaf.windows[0].high or 0))
        found[leaf] = in_window & (generator.random((N_LONG, N_LONG)) < part)
    return found


def _matrix(node: Logical, sets: SEGMENTS_OF) -> NDArray[np.bool_]:
    """The segments of a node, by the definitions; shared rows only."""
    length = np.arange(N_LONG)[None, :] - np.arange(N_LONG)[:, None] + 1
    in_window = length >= 1
    for window in node.windows:
        in_window &= (length >= (window.low or 1)) & (length <= (window.high or N_LONG))
    match node:
        case Leaf():
            found = sets[node]
        case Concat(parts=parts):
            found = _matrix(parts[0], sets)
            for part in parts[1:]:
                found = (found.astype(np.int32) @ _matrix(part, sets).astype(np.int32)) > 0
        case Both(parts=parts):
            found = np.logical_and.reduce([_matrix(part, sets) for part in parts])
        case Either(parts=parts):
            found = np.logical_or.reduce([_matrix(part, sets) for part in parts])
        case Neither(part=part):
            found = ~_matrix(part, sets)
        case Repeat(part=part, minimum=minimum, maximum=maximum):
            one = total = _matrix(part, sets)
            found = total if minimum == 1 else np.zeros_like(one)
            for number in range(2, (maximum or 6) + 1):
                total = (total.astype(np.int32) @ one.astype(np.int32)) > 0
                found = found | total if number >= minimum else found
    return found & in_window


def _rows(low: int | None, high: int | None) -> tuple[Window, ...]:
    return (Window(None, low, high),)


TREES: dict[str, Logical] = {
    "leaf": A,
    "concat": Concat((A, B), (True,), windows=_rows(None, 25)),
    "windowed concat": Concat((A, B), (True,), windows=_rows(8, 14)),
    "wildcards": Concat((W, A, W), (True, True), windows=_rows(10, 18)),
    "and": Both((A, Concat((W, B), (True,), windows=_rows(None, 12))), windows=_rows(None, 12)),
    "or": Either((A, B), windows=_rows(None, 10)),
    "not": Neither(Concat((A, W), (True,), windows=_rows(None, 12)), windows=_rows(None, 12)),
    "kleene": Repeat(A, 1, None, shares=True, windows=_rows(None, 20)),
    "kleene of three": Repeat(B, 3, 3, shares=True, windows=_rows(None, 60)),
}


@pytest.mark.parametrize("name", TREES)
def test_cardinalities_on_uniform_data(name: str) -> None:
    tree = TREES[name]
    drawn = [_matrix(tree, _sets(seed)) for seed in range(30)]
    cards = Cardinalities(UNIFORM)
    expected = float(np.mean([matrix.sum() for matrix in drawn]))
    assert cards.found(tree, cards.whole()) == pytest.approx(expected, rel=0.35), "a whole series"
    each = float(np.mean([matrix.sum() / N_LONG for matrix in drawn]))
    assert cards.found(tree, Ranges(1, N_LONG)) == pytest.approx(each, rel=0.4), "from one row on"
    assert cards.found(tree, Ranges(N_LONG, 1)) == pytest.approx(each, rel=0.4), "up to one row"
    room = candidates(cards.lengths(tree), cards.whole(), N_LONG)
    one = Ranges(1, 1, cards.lengths(tree))
    assert cards.found(tree, one) == pytest.approx(expected / room, rel=0.5, abs=0.02), "one segment in the window"


# The optimizer against all plans


def _leaf(name: str, condition: Any, *windows: Window) -> Leaf:
    return Leaf((name,), condition, is_point=False, windows=windows)


def _trend(name: str) -> Any:
    return b.call("gt", b.aggregate("linear_reg_r2", name, "t", "x"), 0.9)


def _monotone(name: str) -> Any:
    return b.call("gt", b.aggregate("mann_kendall_test", name, "x"), 3.0)


def _above(name: str, other: str) -> Any:
    return b.call("gt", b.last(name, "x"), b.last(other, "x"))


UPPER = Window(None, None, 30)
UP, FALL, TEST = _leaf("UP", _trend("UP"), UPPER), _leaf("FALL", _above("FALL", "FALL"), UPPER), _leaf(
    "TEST", _monotone("TEST"), Window(None, 25, 30)
)
ANY = Leaf((), None, is_point=False, windows=(UPPER,))
AFTER = _leaf("AFTER", _above("AFTER", "UP"), UPPER)
SMALL: dict[str, Logical] = {
    "cold wave": Both(
        (Concat((ANY, Both((UP, FALL), windows=(UPPER,)), ANY), (True, True), windows=(Window(None, 25, 30),)), TEST),
        windows=(Window(None, 25, 30),),
    ),
    "chain": Concat((UP, ANY, FALL, TEST), (True, True, True), windows=(Window(None, None, 60),)),
    "and": Both((UP, FALL, TEST), windows=(Window(None, 25, 30),)),
    "not in and": Both(
        (FALL, Neither(Concat((UP, ANY), (True,), windows=(UPPER,)), windows=(UPPER,))), windows=(UPPER,),
    ),
    "references": Concat((UP, ANY, AFTER), (True, True), windows=(Window(None, None, 60),)),
    "reference forwards": Both((AFTER, UP, FALL), windows=(UPPER,)),
    "or of kleenes": Either((Repeat(UP, 1, None, shares=True, windows=(UPPER,)), FALL, TEST), windows=(UPPER,)),
    "kleene": Repeat(Concat((UP, FALL), (True,), windows=(UPPER,)), 1, 3, shares=True, windows=(Window(None, 1, 90),)),
}


def _random_statistics(tree: Logical, generator: np.random.Generator) -> Statistics:
    sampled = {
        leaf: Sampled(1.0 if leaf.condition is None else float(10 ** generator.uniform(-4, 0)), 12.0)
        for leaf in leaves_of(tree)
    }
    return Statistics(int(generator.integers(1, 500)), int(generator.integers(40, 3000)), {}, sampled)


def _random_weights(generator: np.random.Generator) -> Weights:
    shipped = shipped_weights()
    operators = {
        op: OperatorWeights(*(
            float(value * 10 ** generator.uniform(-1, 1)) for value in (one.call, one.input, one.output)
        ))
        for op, one in shipped.operators.items()
    }
    return replace(shipped, operators=operators)


@pytest.mark.parametrize("name", SMALL)
def test_the_optimizer_finds_the_cheapest_of_all_plans(name: str) -> None:
    tree = annotated(SMALL[name], frozenset())
    plans = every_plan(tree)
    assert len(plans) > 1
    generator = np.random.default_rng(3)
    for _ in range(3):
        model = CostModel(tree, _random_statistics(tree, generator), _random_weights(generator))
        least = min(model.estimate(plan).total for plan in plans)
        assert model.estimate(optimize(model, tries_all=True)).total == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_what_is_not_worthwhile_costs_no_plan_that_is_much_better(name: str) -> None:
    tree = annotated(SMALL[name], frozenset())
    generator = np.random.default_rng(4)
    for _ in range(5):
        model = CostModel(tree, _random_statistics(tree, generator), shipped_weights())
        least = model.estimate(optimize(model, tries_all=True)).total
        assert model.estimate(optimize(model)).total <= 1.2 * least


@pytest.mark.parametrize("name", SMALL)
def test_no_rule_planner_has_a_cheaper_plan(name: str) -> None:
    """By the optimizer's own estimates; for all searches below, too."""
    tree = annotated(SMALL[name], frozenset())
    generator = np.random.default_rng(6)
    for _ in range(10):
        _check_rules(tree, _random_statistics(tree, generator), _random_weights(generator))


def test_no_rule_planner_has_a_cheaper_plan_beside_wildcards() -> None:
    """A wildcard's segments used not to be merged, only probed, even where that was estimated to be dearer."""
    window = Window(None, None, 200)
    wild = Leaf((), None, is_point=False, windows=(window,))
    fall, rise = _leaf("FALL", _trend("FALL"), window), _leaf("RISE", _trend("RISE"), window)
    chain = Concat((wild, fall, wild), (True, True), windows=(window,))
    generator = np.random.default_rng(8)
    for tree in (
        Both((rise, Neither(chain, windows=(window,))), windows=(window,)), chain,
        Concat((wild, fall, replace(wild, windows=(Window(None, 2, 30),))), (True, True), windows=(window,)),
        Both((rise, Neither(Concat((replace(wild, windows=(Window(None, 1, 20),)), fall), (True,), windows=(window,)),
                            windows=(window,))), windows=(window,)),
    ):
        for _ in range(10):
            _check_rules(annotated(tree, frozenset()), _random_statistics(tree, generator), shipped_weights())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(examples(n_leaves=6), st.integers(0, 1000))
def test_no_rule_planner_has_a_cheaper_plan_of_random_searches(example: Example, seed: int) -> None:
    tree, _ = rewrite_logical(make_logical(example.search, "t"))
    if tangled(tree) is None:
        _check_rules(tree, _random_statistics(tree, np.random.default_rng(seed)), shipped_weights())


def _check_rules(tree: Logical, statistics: Statistics, weights: Weights) -> None:
    chosen = make_plan(tree, statistics, weights=weights).estimate.total
    for rule in RULE_PLANNERS:
        assert chosen <= make_plan(tree, statistics, rule, weights).estimate.total, rule


def test_an_and_of_very_many_parts() -> None:
    parts = tuple(_leaf(f"V{k}", _trend(f"V{k}") if k % 3 else _above(f"V{k}", f"V{k}"), UPPER) for k in range(12))
    tree = annotated(Both(parts, windows=(UPPER,)), frozenset())
    statistics = _random_statistics(tree, np.random.default_rng(5))
    model = CostModel(tree, statistics, shipped_weights())
    plan = optimize(model)
    check_references(plan)
    cost = model.estimate(plan).total
    assert all(cost <= model.estimate(plan_by_rule(tree, rule)).total for rule in RULE_PLANNERS)


def test_a_long_chain() -> None:
    parts = tuple(_leaf(f"V{k}", _trend(f"V{k}"), UPPER) for k in range(30))
    tree = annotated(Concat(parts, (True,) * 29, windows=(Window(None, None, 200),)), frozenset())
    check_references(make_plan(tree, _random_statistics(tree, np.random.default_rng(5))).physical)


def test_plans_without_probes() -> None:
    tree = annotated(SMALL["cold wave"], frozenset())
    model = CostModel(tree, _random_statistics(tree, np.random.default_rng(0)), shipped_weights())
    probes = frozenset(op for op in Op if "Probe" in op.value)
    assert not probes & set(_ops(optimize(model, without=probes)))
    referring = annotated(SMALL["references"], frozenset())
    model = CostModel(referring, _random_statistics(referring, np.random.default_rng(0)), shipped_weights())
    with pytest.raises(NoPlanError):
        optimize(model, without=probes)


def _ops(plan: Physical) -> list[Op]:
    return [plan.op, *(op for child in plan.children for op in _ops(child))]


# Rule planners


def test_shapes_of_rule_plans() -> None:
    tree = annotated(Concat((UP, FALL, TEST), (True, True)), frozenset())
    left, right = plan_by_rule(tree, "pr_left"), plan_by_rule(tree, "sm_right")
    assert left.op is Op.RIGHT_PROBE_CONCAT
    assert left.children[0].op is Op.RIGHT_PROBE_CONCAT
    assert left.children[1] == Physical(Op.INDEX, tree.parts[2])  # type: ignore[union-attr]
    assert right.op is Op.SORT_MERGE_CONCAT
    assert right.children[0] == Physical(Op.INDEX, tree.parts[0])  # type: ignore[union-attr]
    conjunction = annotated(Both((UP, FALL, TEST)), frozenset())
    assert [child.op for child in plan_by_rule(conjunction, "pr_right").children] == [Op.INDEX, Op.LEFT_PROBE_AND]
    assert [child.op for child in plan_by_rule(conjunction, "pr_left").children] == [Op.RIGHT_PROBE_AND, Op.INDEX]
    negation = annotated(Neither(UP), frozenset())
    assert plan_by_rule(negation, "sm_left").op is Op.MATERIALIZE_NOT
    assert plan_by_rule(negation, "sm_left_pnot").op is Op.PROBE_NOT


def test_rule_plans_obey_references() -> None:
    tree = annotated(SMALL["references"], frozenset())
    assert {plan_by_rule(tree, rule).op for rule in RULE_PLANNERS} == {Op.RIGHT_PROBE_CONCAT}


def test_random_plans_are_of_many_kinds_and_repeatable() -> None:
    tree = annotated(SMALL["cold wave"], frozenset())
    plans = [random_plan(tree, seed) for seed in range(50)]
    assert plans == [random_plan(tree, seed) for seed in range(50)]
    assert len(set(map(str, plans))) > 20


# References, and answers


def check_references(plan: Physical, there: frozenset[str] = frozenset()) -> None:
    """Everything that a condition refers to is there when it is tested."""
    if plan.op is Op.FILTER:
        (child,) = plan.children
        check_references(child, there)
        assert isinstance(plan.logical, Both)
        leaf = next(part for part in plan.logical.parts if isinstance(part, Leaf) and part is not child.logical)
        assert leaf.needs <= there | child.logical.gives
        return
    assert plan.logical.needs <= there
    there_for = [there] * len(plan.children)
    if plan.op in (Op.LEFT_PROBE_CONCAT, Op.LEFT_PROBE_AND):
        there_for[0] = there | plan.children[1].logical.gives
    elif plan.op in (Op.RIGHT_PROBE_CONCAT, Op.RIGHT_PROBE_AND):
        there_for[1] = there | plan.children[0].logical.gives
    for child, known in zip(plan.children, there_for, strict=True):
        check_references(child, known)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(examples(depth=3, n_leaves=5, n_rows=6, with_skip=False))
def test_every_planner_finds_what_the_oracle_finds(example: Example) -> None:
    logical, _ = rewrite_logical(make_logical(example.search, "t"))
    assume(tangled(logical) is None)
    statistics = _sampled(example, logical)
    answer = find_segments(example.search, example.rows)
    expected = {(one.partition[0], one.start, one.end, *one.bindings) for one in answer}
    plans = [make_plan(logical, statistics, planner).physical for planner in PLANNERS]
    plans += [random_plan(logical, seed) for seed in range(3)]
    for plan in plans:
        check_references(plan)
    for plan in {str(plan): plan for plan in plans}.values():
        assert set(found_by(plan, example)) == expected, f"{plan}\n{example}"


def _sampled(example: Example, logical: Logical) -> Statistics:
    columns = columns_of(example)
    series = series_of(columns)
    leaves = [leaf for leaf in leaves_of(logical) if leaf.condition is not None]
    expressions = list(dict.fromkeys(leaf.condition for leaf in leaves if leaf.condition is not None))
    conditions = SegmentConditions(expressions, series, columns, evaluator(), example.search.source)
    return collect(logical, series, conditions, shipped_weights())


# Statistics and weights


class _Rising:
    """The condition of every leaf: x is higher at the end than at the start."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.values = values

    end_test = None

    def of(self, leaf: Leaf, *, uses_index: bool) -> _Rising:
        return self

    def holds(self, start: NDArray[np.int64], end: NDArray[np.int64], bindings: dict[str, Any]) -> NDArray[np.bool_]:
        assert (start <= end).all()
        return self.values[end] > self.values[start] + 1


def test_sampled_statistics() -> None:
    generator = np.random.default_rng(11)
    sizes = generator.integers(200, 400, 30)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n = int(offsets[-1])
    values = generator.normal(size=n)
    times = 3 * np.concatenate([np.arange(size) for size in sizes]).astype(np.int64)
    series = Series({"x": Column(values, None), "t": Column(times, None)}, offsets)
    leaf = _leaf("S", _above("S", "S"), Window("t", 6, 30))
    statistics = collect(leaf, series, _Rising(values), shipped_weights())
    assert statistics == collect(leaf, series, _Rising(values), shipped_weights())
    assert statistics.steps == {"t": 3.0}
    assert statistics.n_series * statistics.n_rows == pytest.approx(n, rel=0.01)
    # P(X > Y + 1) of two standard normal numbers
    assert statistics.selectivity(leaf) == pytest.approx(0.24, abs=0.04)
    assert statistics.length(leaf) == pytest.approx(7, rel=0.1)


def test_conditions_on_one_segment_are_looked_at_together() -> None:
    # What is steep falls: both hold for one in 20, not for one in 200.
    fall, steep = np.arange(4000) % 10 == 0, np.arange(4000) % 20 == 0
    leaves = {UP: Sampled(0.05, 5.0, steep), FALL: Sampled(0.1, 5.0, fall[:1000])}
    assert UP.windows == FALL.windows
    statistics = Statistics(1, 100, {}, leaves)
    assert JointSelectivity(statistics).of([UP, FALL]) == pytest.approx(0.05, rel=0.25)
    # Nothing seen of what is rare says little; nothing seen of what should be frequent says much.
    rare = {leaf: replace(one, holds=np.zeros(4000, np.bool_)) for leaf, one in leaves.items()}
    assert JointSelectivity(Statistics(1, 100, {}, rare)).of([UP, FALL]) < 0.001
    rarer = {leaf: replace(one, selectivity=0.001) for leaf, one in rare.items()}
    assert JointSelectivity(Statistics(1, 100, {}, rarer)).of([UP, FALL]) == pytest.approx(1e-6, rel=0.01)
    unknown = {leaf: replace(one, holds=None) for leaf, one in leaves.items()}
    assert JointSelectivity(Statistics(1, 100, {}, unknown)).of([UP, FALL]) == pytest.approx(0.005)


def test_nothing_to_sample() -> None:
    empty = Series({"x": Column(np.empty(0), None)}, np.array([0], np.int64))
    statistics = collect(UP, empty, _Rising(np.empty(0)), shipped_weights())
    assert make_plan(UP, statistics).physical.op in (Op.SCAN, Op.INDEX)


_PROFILED = set(Op) - {Op.CONTAINS}
"""Contains asks its children for ranges, as a merge of an And goes through segments, and takes its weights."""


def test_weights_cover_every_operator_and_aggregate() -> None:
    weights = shipped_weights()
    assert set(weights.operators) == _PROFILED
    assert set(names()) <= set(weights.aggregates)


def test_profiling_measures_every_operator() -> None:
    profiler = Profiler((20, 60))
    measured = profiler.operators()
    assert set(measured) == _PROFILED
    assert all(min(one.call, one.input, one.output) >= 0 and one.call + one.input > 0 for one in measured.values())
    weights = replace(shipped_weights(), operators=measured, conditions=profiler.conditions())
    text = tables(replace(weights, ordering=profiler.ordering()))
    assert all(op.value in text for op in _PROFILED)
    assert "mann_kendall_test" in text


def test_weights_are_data(tmp_path: Path) -> None:
    write_weights(shipped_weights(), tmp_path / "weights.json")
    assert read_weights(tmp_path / "weights.json") == shipped_weights()
