"""Patterns of very many parts: how much planning looks at, counted; answers and plans are as good as before."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.modes.segments.analysis import analyzed
from tests.modes.segments.test_planner import ANY, UPPER, _above, _leaf, _monotone, _random_statistics, _trend

import sparkrex as rex
from sparkrex.modes.segments.analyze.forms import MOST_PARTS
from sparkrex.modes.segments.planner import containment_sample, large_and
from sparkrex.modes.segments.planner.alternatives import Alternatives
from sparkrex.modes.segments.planner.cost import CostModel
from sparkrex.modes.segments.planner.logical import Both, Concat, Leaf, Logical, Neither
from sparkrex.modes.segments.planner.optimizer import optimize
from sparkrex.modes.segments.planner.physical_plan import Op
from sparkrex.modes.segments.planner.planners import make_plan
from sparkrex.modes.segments.planner.references import annotated, of_others
from sparkrex.modes.segments.planner.rule_planners import RULE_PLANNERS, plan_by_rule
from sparkrex.modes.segments.planner.statistics import Statistics
from sparkrex.modes.segments.planner.validate import Order, evaluation_order, has_order
from sparkrex.modes.segments.planner.weights import shipped_weights

if TYPE_CHECKING:
    from sparkrex.modes.segments.planner.physical_plan import Physical

NOTHING: frozenset[str] = frozenset()


def _condition(k: int) -> Any:
    name = f"V{k}"
    return (_trend(name), _above(name, name), _monotone(name))[k % 3]


def _large_and(n: int) -> Logical:
    return annotated(
        Both(tuple(_leaf(f"V{k}", _condition(k), UPPER) for k in range(n)), windows=(UPPER,)), NOTHING
    )


def _chain(n: int) -> Logical:
    return annotated(Concat(tuple(_leaf(f"V{k}", _condition(k), UPPER) for k in range(n)), (True,) * (n - 1)), NOTHING)


def _statistics(tree: Logical, seed: int = 5) -> Statistics:
    return _random_statistics(tree, np.random.default_rng(seed))


class _Counting(dict[Leaf, Any]):
    """A mapping that counts what is looked up in it: every look-up hashes a whole condition."""

    n_asked = 0

    def get(self, key: Any, default: Any = None) -> Any:
        self.n_asked += 1
        return super().get(key, default)


def _counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    original = getattr(owner, name)

    def count(*arguments: Any, **keywords: Any) -> Any:
        counts[name] += 1
        return original(*arguments, **keywords)

    monkeypatch.setattr(owner, name, count)
    return counts


@pytest.mark.parametrize("n", [17, 60, 200])
def test_an_and_looks_at_about_as_many_joins_whatever_its_parts(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It tried every part behind each of twelve sets: 7 n^2 joins, each of them over up to n parts."""
    tree = _large_and(n)
    model = CostModel(tree, _statistics(tree), shipped_weights())
    counts = _counted(monkeypatch, Alternatives, "join")
    optimize(model)
    assert counts["join"] <= 2 * large_and.MOST_JOINS


def test_of_few_parts_every_one_is_tried_behind_every_set() -> None:
    for n in range(7, large_and.EVERY_PART + 1):
        assert large_and.breadth(n).parts >= n - 1
        assert large_and.breadth(n).sets == large_and.MOST_SETS
    for n in range(large_and.EVERY_PART + 1, 2 * large_and.MOST_JOINS, 37):
        assert 1 <= large_and.breadth(n).sets * large_and.breadth(n).parts <= max(1, large_and.MOST_JOINS // n)


def test_rule_planners_look_at_few_splits_of_a_large_and() -> None:
    """They looked at n of each And, which is n^2 for a plan of n levels."""
    tree = _large_and(60)
    assert len(Alternatives().of(tree)) <= 5
    alternatives = Alternatives()
    plans = [plan_by_rule(tree, rule, alternatives) for rule in RULE_PLANNERS]
    assert [plan.op for plan in plans[:4]] == [
        Op.RIGHT_PROBE_AND, Op.LEFT_PROBE_AND, Op.SORT_MERGE_AND, Op.SORT_MERGE_AND
    ]
    assert all(_depth(plan) == 60 for plan in plans)


def _depth(plan: Physical) -> int:
    return 1 + max((_depth(child) for child in plan.children), default=0)


def test_references_of_a_large_and_are_obeyed() -> None:
    """Part k refers to part k + 1, so that the last one comes first."""
    leaves = [_leaf(f"V{k}", _above(f"V{k}", f"V{min(k + 1, 19)}"), UPPER) for k in range(20)]
    tree = annotated(Both(tuple(leaves), windows=(UPPER,)), NOTHING)
    found = make_plan(tree, _statistics(tree))
    for plan in (found.physical, *(plan_by_rule(tree, rule) for rule in RULE_PLANNERS)):
        order = _leaves_in_order(plan)
        assert order == [f"V{k}" for k in reversed(range(20))]


def _leaves_in_order(plan: Physical) -> list[str]:
    """Variables in the order in which they are bound."""
    if isinstance(plan.logical, Leaf):
        return list(plan.logical.variables)
    inside = [_leaves_in_order(child) for child in plan.children]
    if plan.op is Op.FILTER:
        assert isinstance(plan.logical, Both)
        inside += [list(part.variables) for part in plan.logical.parts
                   if isinstance(part, Leaf) and part is not plan.children[0].logical]
    if plan.op is Op.LEFT_PROBE_AND:
        inside.reverse()
    return [name for names in inside for name in names]


def test_a_condition_is_looked_up_a_few_times() -> None:
    """For every set of parts all its leaves were looked up, 227,506 times for 40 of them."""
    tree = _large_and(40)
    drawn = _statistics(tree)
    leaves = _Counting(drawn.leaves)
    make_plan(tree, Statistics(drawn.n_series, drawn.n_rows, drawn.steps, leaves))
    assert 40 <= leaves.n_asked <= 6 * 40


def test_the_bounded_search_finds_plans_as_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[Logical] = [_leaf(f"V{k}", _condition(k), UPPER) for k in range(19)]
    for k in (3, 8, 13):
        chain = Concat((ANY, parts[k], ANY), (True, True), windows=(UPPER,))
        parts[k] = Neither(chain, windows=(UPPER,)) if k % 2 else chain
    tree = annotated(Both(tuple(parts), windows=(UPPER,)), NOTHING)
    for seed in range(2):
        model = CostModel(tree, _statistics(tree, seed), shipped_weights())
        bounded = model.estimate(optimize(model)).total
        with monkeypatch.context() as patch:
            patch.setattr(large_and, "EVERY_PART", 100)
            assert bounded <= 1.05 * model.estimate(optimize(model)).total


@pytest.mark.parametrize("n", [70, 140])
def test_a_long_chain_takes_few_steps_for_each_part(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were 365 for each of 70 and 503 for each of 140."""
    counts = _counted(monkeypatch, CostModel, "step")
    tree = _chain(n)
    make_plan(tree, _statistics(tree))
    assert counts["step"] <= 150 * n


@pytest.mark.parametrize("n", [6, 7, 20])
def test_no_rule_planner_has_a_cheaper_plan_of_many_parts(n: int) -> None:
    for tree in (_large_and(n), _chain(n)):
        statistics = _statistics(tree, n)
        chosen = make_plan(tree, statistics).estimate.total
        for rule in RULE_PLANNERS:
            assert chosen <= make_plan(tree, statistics, rule).estimate.total, rule


# Orders of evaluation


def _has_order_by_definition(chain: tuple[Logical, ...]) -> bool:
    return len(chain) == 1 or any(
        _has_order_by_definition(chain[:cut]) and _has_order_by_definition(chain[cut:])
        and evaluation_order(chain[:cut], chain[cut:]) is not Order.IMPOSSIBLE
        for cut in range(1, len(chain))
    )


def _set_has_order_by_definition(parts: tuple[Logical, ...]) -> bool:
    return not parts or any(
        not any(part.needs & other.gives for k, other in enumerate(parts) if k != place)
        and _set_has_order_by_definition(parts[:place] + parts[place + 1 :])
        for place, part in enumerate(parts)
    )


def test_orders_of_evaluation_are_those_of_the_definition() -> None:
    random = Random(11)
    answers: Counter[tuple[bool, bool]] = Counter()
    for _ in range(400):
        n = random.randint(2, 7)
        names = [f"V{k}" for k in range(n)]
        pairs = [(random.choice(names), random.choice(names)) for _ in range(random.randint(0, 2 * n))]
        if random.random() < 0.7:  # no circle: all refer to what comes earlier in some order
            rank = dict(zip(random.sample(names, n), range(n), strict=True))
            pairs = [(who, other) for who, other in pairs if rank[who] > rank[other]]
        parts = tuple(
            Leaf((name,), None, is_point=False, gives=frozenset({name}),
                 needs=frozenset(other for who, other in pairs if who == name) - {name})
            for name in names
        )
        in_chain, in_set = has_order(Concat(parts, (True,) * (n - 1))), has_order(Both(parts))
        assert in_chain == _has_order_by_definition(parts)
        assert in_set == _set_has_order_by_definition(parts)
        answers[in_chain, in_set] += 1
    assert min(answers[True, True], answers[False, True], answers[False, False]) > 2


def test_a_chain_of_hundreds_of_references_has_an_order() -> None:
    """This was a recursion of three frames for each part: from about 250 on, an error of nesting."""
    names = [f"V{k}" for k in range(400)]
    backwards = [
        Leaf((name,), None, is_point=False, gives=frozenset({name}), needs=frozenset({before}))
        for before, name in pairwise(names)
    ]
    assert has_order(Concat(tuple(backwards), (True,) * 398))
    assert has_order(Both(tuple(backwards)))


def test_names_of_others() -> None:
    sets = [frozenset("ab"), frozenset("b"), frozenset("c"), NOTHING]
    assert of_others(sets) == [frozenset("bc"), frozenset("abc"), frozenset("ab"), frozenset("abc")]
    assert of_others([NOTHING] * 3) == [NOTHING] * 3


# Queries


def _query(parts: list[str], joined: str, conditions: str = "{name} AS max(x) > {k} / 100") -> str:
    definitions = ",\n".join("SEGMENT " + conditions.format(name=name, k=k) for k, name in enumerate(parts))
    return f"""SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES first(t) AS a, last(t) AS b ALL MATCHES
        PATTERN ({joined.join(parts)}) DEFINE {definitions})"""


def _walk(n: int) -> pa.Table:
    return pa.table({"t": np.arange(n), "x": np.random.default_rng(3).normal(size=n).cumsum()})


def _answers(query: str, planner: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in rex.sql(query, t=_walk(30), planner=planner).to_pylist())


@pytest.mark.parametrize("joined", [" & ", " ", " | "])
def test_answers_of_many_parts_do_not_depend_on_the_planner(joined: str) -> None:
    query = _query([f"S{k}" for k in range(40)], joined, "{name} AS max(x) - min(x) > {k} / 100 - 0.2 AND window(1, 9)")
    expected = _answers(query, "optimizer")
    assert expected
    assert _answers(query, "sm_left") == _answers(query, "pr_right") == expected


@pytest.mark.slow
@pytest.mark.parametrize("joined", [" & ", " "])
@pytest.mark.parametrize("planner", ["optimizer", "sm_left", "pr_right"])
def test_the_largest_patterns_are_planned_run_and_explained(joined: str, planner: str) -> None:
    query = _query([f"S{k}" for k in range(MOST_PARTS)], joined)
    explained = rex.explain(query, t=_walk(30), planner=planner, analyze=True)
    assert f"S{MOST_PARTS - 1}" in str(explained)


@pytest.mark.parametrize("joined", [" & ", " "])
def test_a_pattern_of_too_many_parts_is_refused(joined: str) -> None:
    names = [f"S{k}" for k in range(MOST_PARTS + 1)]
    clause = f"PATTERN ({joined.join(names[:-1])}) DEFINE SEGMENT S0 AS true"
    analyzed(clause)
    for pattern in (joined.join(names), f"({joined.join(names[:9])}){joined}({joined.join(names[9:])})"):
        with pytest.raises(rex.RexError) as raised:
            analyzed(f"PATTERN ({pattern}) DEFINE SEGMENT S0 AS true")
        error = raised.value
        assert error.code == "REX106"
        assert "301 parts" in str(error)
        assert error.hint
        assert error.source is not None and error.span is not None
        assert error.source.text[error.span.start :].startswith(pattern[:2])


def test_a_plain_query_of_too_many_parts_is_refused_as_soon_as_it_is_one_in_segments() -> None:
    names = [f"P{k}" for k in range(MOST_PARTS + 1)]
    definitions = ", ".join(f"{name} AS x > {k}" for k, name in enumerate(names))
    with pytest.raises(rex.RexError, match="301 parts"):
        rex.sql(f"""SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES last(t) AS b ALL MATCHES
            PATTERN ({' '.join(names)}) DEFINE {definitions})""", t=_walk(30))


def test_a_containment_is_sampled_together_with_a_few_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each was tested with every other condition of the And, which is n^2 samples."""
    samples: list[containment_sample.ContainmentSample] = []
    original = containment_sample._Sampler.sample

    def sample(*arguments: Any) -> Any:
        found = original(*arguments)
        assert found is not None
        samples.append(found)
        return found

    monkeypatch.setattr(containment_sample._Sampler, "sample", sample)
    names = [f"S{k}" for k in range(20)]
    definitions = ",\n".join(f"SEGMENT {name} AS max(x) - min(x) > {k} / 100" for k, name in enumerate(names))
    rex.sql(f"""SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t ALL MATCHES
        PATTERN ({' & '.join(names[:18])} & ~(W S18 W) & ~(W S19 W) & ALLW)
        DEFINE {definitions}, SEGMENT W AS true, SEGMENT ALLW AS window(1, 12))""", t=_walk(60))
    assert len(samples) == 2
    assert all(0 < len(one.beside) <= containment_sample._MOST_BESIDE for one in samples)
