"""Random conditions and measures as SQL text, by a grammar with weights.

Only what the standard allows: no navigation over several variables at once, no aggregate in an aggregate, FINAL in
MEASURES alone. Conditions lean to being true, or few examples would match.

In a production `<symbol>` is replaced by a production of that symbol, drawn anew each time; `<symbol#1>` is drawn once
in its production and repeats. `<variable>` and `<name>` come from the query: a primary variable, a primary or a union
variable. The first production of a symbol is its simplest: Hypothesis shrinks towards it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.modes.rows.property.draws import Draw

CONDITION_KINDS = ("row", "offset", "context", "aggregate", "classifier")
MEASURE_KINDS = ("column", "navigation", "aggregate", "classifier", "number", "expression")

_SYMBOL = re.compile(r"<([a-z ]+)(#\d)?>")

GRAMMAR: dict[str, tuple[tuple[int, str], ...]] = {
    # Conditions
    "row condition": (
        (20, "k = '<letter>'"),
        (8, "k <> '<letter>'"),
        (10, "k IN ('<letter>', '<letter>')"),
        (16, "x <comparison> <small>"),
        (4, "x IS <null>"),
        (6, "y <ordering> <fraction>"),
        (4, "coalesce(x, 0) <ordering> 1"),
        (3, "x BETWEEN 0 AND <small>"),
        (3, "k LIKE '<like>'"),
        (2, "x % 2 = 0"),
        (2, "upper(k) = '<capital>'"),
        (2, "abs(x) <ordering> 1"),
        (2, "x + t > 1"),
    ),
    "offset condition": (
        (20, "<number#1> <ordering> PREV(<number#1>)"),
        (10, "<number#1> <ordering> <step>(<number#1>, <small>)"),
        (8, "<step>(<number>, <small>) IS <null>"),
        (8, "<number#1> >= coalesce(<step>(<number#1>), 0)"),
        (6, "<step>(k) <equality> k"),
        (6, "NEXT(k) = '<letter>'"),
        (4, "PREV(x + 1) > x OR PREV(<number>) IS NULL"),
        (3, "NEXT(x) > PREV(x) OR k = '<letter>'"),
    ),
    "context condition": (
        (14, "<number#1> <ordering> FIRST(<of><number#1><offset>)"),
        (12, "<name>.<number#1> <ordering> <name>.<number#1>"),
        (10, "<number#1> <ordering> LAST(<of><number#1>, <small>)"),
        (10, "<name#1>.<number#1> IS NULL OR <number#1> <ordering> <name#1>.<number#1>"),
        (8, "<number#1> <ordering> <step>(<end>(<of><number#1><offset>)<offset>)"),
        (6, "LAST(<of><number>, <small>) IS <null>"),
        (5, "FIRST(<of>k) <equality> k"),
        (4, "<number#1> - FIRST(<of><number#1>) <= <limit>"),
        (4, "<number#1> >= coalesce(<step>(<end>(<of><number#1>)<offset>), 0)"),
        (3, "RUNNING LAST(<of><number#1>) >= RUNNING FIRST(<of><number#1>)"),
    ),
    "aggregate condition": (
        (30, "sum(<of><number>) <bound> <limit>"),
        (22, "<count> <bound> <limit>"),
        (16, "<number#1> <ordering> avg(<of><number#1>)"),
        (12, "<number#1> <ordering> <extreme>(<of><number#1>)"),
        (8, "sum(<of#1>x) FILTER (WHERE <of#1>k = '<letter>') IS <null> OR <count> < <limit>"),
        (4, "count(DISTINCT <of>k) <= <limit>"),
        (6, "count_if(CLASSIFIER() = '<variable>') <= <limit>"),
        (2, "MATCH_NUMBER() <bound> <limit>"),
    ),
    "classifier condition": (
        (14, "PREV(CLASSIFIER()) IS NULL OR PREV(CLASSIFIER()) <equality> '<variable>'"),
        (10, "PREV(CLASSIFIER()) <equality> '<variable>'"),
        (8, "coalesce(LAST(CLASSIFIER(), 1), '<variable#1>') <equality> '<variable#1>'"),
        (6, "FIRST(CLASSIFIER()) <equality> '<variable>'"),
        (6, "CLASSIFIER(<name>) <equality> '<variable>'"),
        (4, "CLASSIFIER() = '<variable>' OR <row condition>"),
        (4, "NEXT(CLASSIFIER()) IS NULL"),
        (4, "PREV(CLASSIFIER(), 2) IS NULL OR PREV(CLASSIFIER(), 2) <equality> '<variable>'"),
        (3, "LAST(CLASSIFIER(<name>), 1) IS NULL"),
        (3, "PREV(LAST(CLASSIFIER(<name>))) IS NOT NULL"),
    ),
    # Measures
    "column measure": ((1, "<of><column>"),),
    "navigation measure": (
        (14, "<semantics>FIRST(<of><column><offset>)"),
        (14, "<semantics>LAST(<of><column><offset>)"),
        (10, "<step>(<of><column><offset>)"),
        (4, "<step>(x + t<offset>)"),
        (6, "<step>(<semantics>FIRST(<of><column><offset>)<offset>)"),
        (6, "<step>(<semantics>LAST(<of><column><offset>)<offset>)"),
    ),
    "aggregate measure": ((1, "<semantics><aggregated>"),),
    "aggregated": (
        (12, "sum(<of><number>)"),
        (12, "<count>"),
        (8, "avg(<of><number>)"),
        (10, "<extreme>(<of><column>)"),
        (6, "array_agg(<of><column>)"),
        (4, "count(DISTINCT <of>k)"),
        (3, "sum(DISTINCT <of>x)"),
        (4, "sum(<of#1>x) FILTER (WHERE <of#1>k = '<letter>')"),
        (4, "count_if(<of>x > <small>)"),
        (3, "<both>(<of>x > <small>)"),
        (3, "<spread>(<of>x)"),
        (3, "sum(<of#1>x + <of#1>t)"),
        (3, "array_agg(CLASSIFIER())"),
        (2, "min(CLASSIFIER(<name>))"),
        (2, "sum(CASE WHEN CLASSIFIER() = '<variable>' THEN x ELSE 10 END)"),
        (1, "sum(MATCH_NUMBER())"),
    ),
    "classifier measure": (
        (14, "<classifier>"),
        (4, "<semantics>FIRST(<classifier><offset>)"),
        (4, "<semantics>LAST(<classifier><offset>)"),
        (6, "<step>(<classifier><offset>)"),
        (2, "<step>(<semantics>FIRST(<classifier>))"),
    ),
    "number measure": ((3, "MATCH_NUMBER()"), (1, "MATCH_STATUS()")),
    "expression measure": (
        (8, "<name>.<number#1> - <name>.<number#1>"),
        (6, "<semantics>LAST(<number#1>) - <semantics>FIRST(<number#1>)"),
        (5, "coalesce(<step>(<of><number>), -1)"),
        (5, "MATCH_NUMBER() * 10 + count(*)"),
        (4, "CLASSIFIER() || '-' || k"),
        (2, "MATCH_STATUS() || MATCH_NUMBER()"),
        (4, "CASE WHEN CLASSIFIER() = '<variable>' THEN x ELSE -1 END"),
        (4, "<semantics>sum(<of>x) > <limit>"),
        (3, "<of><number#1> = <semantics>max(<of><number#1>)"),
        (3, "upper(<of>k)"),
        (3, "lower(<step>(CLASSIFIER()))"),
        (3, "<of>x / 2"),
        (2, "count(*) - <count>"),
        (2, "<step>(<end>(<of><column><offset>)<offset>) IS NULL"),
        (2, "x + y"),
        (1, "7"),
    ),
    # Parts
    "letter": ((40, "a"), (32, "b"), (18, "c"), (10, "d")),
    "capital": ((3, "A"), (2, "B"), (1, "C")),
    "like": ((3, "a%"), (1, "_"), (1, "%b")),
    "number": ((70, "x"), (18, "y"), (12, "t")),
    "column": ((3, "x"), (3, "k"), (2, "t"), (2, "y")),
    "small": ((3, "1"), (3, "0"), (3, "2")),
    "limit": ((2, "3"), (2, "2"), (1, "1"), (1, "4"), (1, "6")),
    "fraction": ((1, "0.0"), (1, "0.5"), (1, "1.5")),
    "comparison": tuple((1, operator) for operator in (">=", "=", "<>", "<", "<=", ">")),
    "ordering": tuple((1, operator) for operator in (">=", "<=", ">", "<", "<>")),
    "bound": ((3, "<="), (2, "<"), (2, ">="), (1, "<>")),
    "equality": ((1, "="), (1, "<>")),
    "null": ((1, "NULL"), (1, "NOT NULL")),
    "step": ((1, "PREV"), (1, "NEXT")),
    "end": ((1, "FIRST"), (1, "LAST")),
    "extreme": ((1, "max"), (1, "min")),
    "both": ((1, "bool_and"), (1, "bool_or")),
    "spread": ((1, "stddev"), (1, "var_pop"), (1, "var_samp")),
    "semantics": ((50, ""), (32, "FINAL "), (18, "RUNNING ")),
    "offset": ((55, ""), (25, ", 1"), (12, ", 2"), (8, ", 0")),
    "of": ((45, ""), (55, "<name>.")),
    "count": ((40, "count(*)"), (30, "count(<name>.*)"), (20, "count(<name>.x)"), (10, "count(y)")),
    "classifier": ((2, "CLASSIFIER()"), (1, "CLASSIFIER(<name>)")),
}

# Ways to wrap a condition, so that three-valued logic is exercised and not only comparisons.
_WRAPPED = (
    (62, "{0}"),
    (16, "{0} OR <row condition>"),
    (6, "({0}) AND <row condition>"),
    (5, "NOT ({0})"),
    (4, "({0}) IS NOT NULL"),
    (4, "CASE WHEN {0} THEN true ELSE <row condition> END"),
    (3, "({0}) OR NULL"),
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The names an expression may use."""

    variables: tuple[str, ...]
    unions: Mapping[str, tuple[str, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        return self.variables + tuple(self.unions)


class ExpressionWriter:
    """Writes conditions of DEFINE and expressions of MEASURES."""

    def __init__(self, draw: Draw, scope: Scope) -> None:
        self._draw = draw
        self._scope = scope

    def condition(self, kind: str) -> str:
        """A condition of one of `CONDITION_KINDS`."""
        text = self._symbol(f"{kind} condition")
        return self._expand(self._draw.weighted(_WRAPPED).replace("{0}", text))

    def measure(self, kind: str) -> str:
        """An expression of one of `MEASURE_KINDS`."""
        return self._symbol(f"{kind} measure")

    def _symbol(self, symbol: str) -> str:
        if symbol == "variable":
            return self._draw.choice(self._scope.variables)
        if symbol == "name":
            return self._draw.choice(self._scope.names)
        return self._expand(self._draw.weighted(GRAMMAR[symbol]))

    def _expand(self, production: str) -> str:
        drawn: dict[str, str] = {}

        def replacement(found: re.Match[str]) -> str:
            if found[2] is None:
                return self._symbol(found[1])
            if found[0] not in drawn:
                drawn[found[0]] = self._symbol(found[1])
            return drawn[found[0]]

        return _SYMBOL.sub(replacement, production)
