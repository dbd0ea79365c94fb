"""The multi-pattern graph in its compact form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.modes.workload.planner import checks
from tests.modes.workload.planner.workloads import conjunction, seq

from sparkrex.modes.workload.planner import pattern_graph
from sparkrex.modes.workload.planner.common import maximal_common
from sparkrex.modes.workload.planner.pattern_graph import PatternGraph, parts_of
from sparkrex.modes.workload.planner.subpattern import SubPatterns
from sparkrex.modes.workload.planner.tree import items_of

if TYPE_CHECKING:
    from sparkrex.modes.workload.clause import Clause


class Graph:
    """A graph of clauses, read by the labels of sub-patterns."""

    def __init__(self, **clauses: Clause) -> None:
        self.clauses = dict(clauses)
        self.numbers = {name: number for number, name in enumerate(clauses)}
        self.patterns = SubPatterns()
        self.made = PatternGraph(self.patterns)
        for name, clause in clauses.items():
            self.made.add(self.numbers[name], self.patterns.shape(clause))

    def labels(self, name: str, mask: int) -> str:
        return "".join(str(self.clauses[name].items[item].label) for item in items_of(mask))

    def entries(self) -> dict[str, set[str]]:
        """The first table: maximal common sub-patterns and who has each."""
        names = list(self.clauses)
        found: dict[str, set[str]] = {}
        for holders in self.made.clauses_of.values():
            number, mask = next(iter(holders))
            found[self.labels(names[number], mask)] = {names[number] for number, _ in holders}
        return found

    def of(self, name: str) -> set[str]:
        """The second table: the maximal common sub-patterns of a clause."""
        return {self.labels(name, mask) for _, mask in self.made.subpatterns_of[self.numbers[name]]}


def figure_7() -> Graph:
    """Six patterns of which all that the caption says is true; the figure's own are not in the text."""
    return Graph(P1=seq("ABC"), P2=seq("ADC"), P3=seq("ACEF"), P4=seq("CFE"), P5=seq("GHIK"), P6=seq("GIK"))


def test_figure_7_one_entry_for_each_maximal_common_sub_pattern() -> None:
    """The triplet P_1, P_2, P_3 has three edges and one entry; P_3 and P_4 have one edge and two entries."""
    graph = figure_7()
    assert graph.entries() == {
        "AC": {"P1", "P2", "P3"}, "CE": {"P3", "P4"}, "CF": {"P3", "P4"}, "GIK": {"P5", "P6"},
    }
    assert {name: graph.of(name) for name in graph.clauses} == {
        "P1": {"AC"}, "P2": {"AC"}, "P3": {"AC", "CE", "CF"}, "P4": {"CE", "CF"}, "P5": {"GIK"}, "P6": {"GIK"},
    }


def test_figure_7_a_pattern_that_is_fully_contained_is_the_sub_pattern() -> None:
    graph = figure_7()
    number = graph.numbers["P6"]
    assert [mask for _, mask in graph.made.subpatterns_of[number]] == [0b111]


def test_figure_7_sub_patterns_of_one_item_are_not_shown() -> None:
    graph = Graph(P1=seq("AB"), P2=seq("BC"))
    assert graph.entries() == {}
    assert graph.of("P1") == set()


def test_a_clause_that_goes_takes_what_is_common_no_more() -> None:
    graph = figure_7()
    graph.made.remove(graph.numbers["P6"])
    assert "GIK" not in graph.entries()
    assert graph.of("P5") == set()
    graph.made.remove(graph.numbers["P3"])
    assert graph.entries() == {"AC": {"P1", "P2"}}
    for name in ("P1", "P2", "P4", "P5"):
        graph.made.remove(graph.numbers[name])
    assert graph.made.clauses_of == {}
    assert graph.made.subpatterns_of == {}


def test_who_has_a_part_of_what_is_common() -> None:
    graph = Graph(P1=seq("ABCD"), P2=seq("ABC"), P3=seq("ABD"), P4=conjunction("AB"))
    assert graph.made.holders(0, 0b0011) == {0: 0b0011, 1: 0b011, 2: 0b011}
    assert graph.made.holders(0, 0b0111) == {0: 0b0111, 1: 0b111}
    assert graph.made.holders(3, 0b11) == {3: 0b11}


@pytest.mark.parametrize("seed", range(60))
def test_its_tables_are_those_of_all_pairs(seed: int) -> None:
    assert checks.graph(seed) is None


def test_clauses_with_one_pair_in_common_or_none_are_not_overlaid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adding a clause is linear in the clauses that have something in common with it."""
    overlaid: list[object] = []

    def counting(*shapes: object) -> list[tuple[int, int]]:
        overlaid.append(shapes)
        return maximal_common(*shapes)  # type: ignore[arg-type]

    monkeypatch.setattr(pattern_graph, "maximal_common", counting)
    Graph(P1=seq("ABC"), P2=seq("ABD"), P3=seq("CBA"), P4=seq("DEF"))
    assert overlaid == []
    Graph(P1=seq("ABC"), P2=seq("ABCD"))
    assert len(overlaid) == 1


def test_parts_of_a_set() -> None:
    assert parts_of(0b1011) == [0b1011, 0b0011, 0b1001, 0b1010]
    assert parts_of(0b1) == []
