"""Expressions of windows and of the calls over them, from text by sqlglot to the algebra that the oracle evaluates.

In MEASURES the current row is the match's last, and in DEFINE the match ends at the tested row: RUNNING and FINAL are
the same in both, so the words are left out before sqlglot reads the rest. Everything is read as Trino writes it: what
other dialects mean by an operator is known to the functions of the oracle of MATCH_RECOGNIZE.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp
from tests.modes.rows.oracle.errors import CannotEvaluate
from tests.modes.windows.oracle.tokens import written

from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    End,
    Expression,
    Literal,
    Semantics,
    SortItem,
    Target,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.modes.windows.oracle.tokens import Token

_BINARY: dict[type[exp.Expression], str] = {
    exp.EQ: "eq", exp.NEQ: "ne", exp.LT: "lt", exp.LTE: "le", exp.GT: "gt", exp.GTE: "ge", exp.Add: "add",
    exp.Sub: "subtract", exp.Mul: "multiply", exp.Div: "divide", exp.Mod: "modulo", exp.And: "and", exp.Or: "or",
    exp.DPipe: "dpipe", exp.Like: "like", exp.NullSafeEQ: "is_not_distinct_from",
    exp.NullSafeNEQ: "is_distinct_from",
}
_UNARY: dict[type[exp.Expression], str] = {
    exp.Not: "not", exp.Neg: "negate", exp.Abs: "abs", exp.Upper: "upper", exp.Lower: "lower", exp.Length: "length",
}
_AGGREGATES: dict[type[exp.Expression], str] = {
    exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max", exp.ArrayAgg: "array_agg",
    exp.CountIf: "count_if", exp.Stddev: "stddev_samp", exp.StddevSamp: "stddev_samp", exp.VariancePop: "var_pop",
    exp.Variance: "var_samp", exp.LogicalAnd: "bool_and", exp.LogicalOr: "bool_or", exp.GroupConcat: "string_agg",
    exp.AnyValue: "anyvalue", exp.List: "array_agg", exp.ArgMin: "min_by", exp.ArgMax: "max_by",
}

# Names that sqlglot knows in other dialects only.
_NAMED = {"COLLECT_LIST": "array_agg"}


def parse(parts: Sequence[Token]) -> Any:
    """The tree of an expression's tokens."""
    kept = [
        part for place, part in enumerate(parts)
        if not (part.upper in ("RUNNING", "FINAL") and place + 1 < len(parts) and parts[place + 1].kind == "word")
    ]
    try:
        return sqlglot.parse_one(written(kept), read="trino")
    except sqlglot.ParseError as problem:
        raise CannotEvaluate(f"{written(kept)}: {problem}") from problem


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean: columns by their names in lower case; pattern variables and unions by the variables in them."""

    columns: Mapping[str, str]
    variables: Mapping[str, frozenset[str]]
    dialect: str

    def read(self, parts: Sequence[Token]) -> Expression:
        """The expression that the tokens write."""
        return self.expression(parse(parts), Target())

    def plain(self) -> Scope:
        """The same without pattern variables: what stands outside of MEASURES and DEFINE."""
        return replace(self, variables={})

    def expression(self, tree: Any, target: Target) -> Expression:
        """The tree, its references to the current row read at `target`."""
        kind = type(tree)
        if _aggregate_name(tree) is not None or isinstance(tree, exp.Filter):
            found = self.aggregate(tree)
            return Call("or_empty", (found,)) if is_empty_array(found, self.dialect) else found
        if kind in _BINARY:
            return Call(_BINARY[kind], (self.expression(tree.this, target), self.expression(tree.expression, target)))
        if kind in _UNARY:
            return Call(_UNARY[kind], (self.expression(tree.this, target),))
        match tree:
            case exp.Paren():
                return self.expression(tree.this, target)
            case exp.Literal():
                return Literal(tree.this if tree.is_string else _number(tree.this, self.dialect))
            case exp.Boolean():
                return Literal(bool(tree.this))
            case exp.Null():
                return Literal(None)
            case exp.Column():
                return self.column(tree, target)
            case exp.Is():
                tested = self.expression(tree.this, target)
                name = "is_null" if isinstance(tree.expression, exp.Null) else None
                if name is None:
                    raise CannotEvaluate(tree.sql())
                return Call(name, (tested,))
            case exp.Between():
                operands = [tree.this, tree.args["low"], tree.args["high"]]
                return Call("between", tuple(self.expression(operand, target) for operand in operands))
            case exp.In():
                operands = [tree.this, *tree.expressions]
                return Call("in", tuple(self.expression(operand, target) for operand in operands))
            case exp.Coalesce():
                operands = [tree.this, *tree.expressions]
                return Call("coalesce", tuple(self.expression(operand, target) for operand in operands))
            case exp.Case() | exp.If():
                return self.case(tree, target)
            case exp.Cast():
                return Call("cast", (self.expression(tree.this, target), Literal(tree.to.sql("duckdb"))))
            case exp.First() | exp.FirstValue() | exp.Last() | exp.LastValue():
                return self.navigation(tree.this, tree.args.get("expression"), target, tree)
            case exp.Anonymous():
                return self.named(tree, target)
        raise CannotEvaluate(f"{kind.__name__}: {tree.sql()}")

    def case(self, tree: Any, target: Target) -> Expression:
        ifs = tree.args.get("ifs") or [tree]
        operands = []
        for branch in ifs:
            condition = self.expression(branch.this, target)
            if tree.args.get("this") is not None and tree is not branch:
                condition = Call("eq", (self.expression(tree.this, target), condition))
            operands += [condition, self.expression(branch.args["true"], target)]
        default = tree.args.get("default") or tree.args.get("false")
        return Call("case", (*operands, *([] if default is None else [self.expression(default, target)])))

    def column(self, tree: exp.Column, target: Target) -> Expression:
        """A column, of a variable if it is qualified with one."""
        variables = self.qualifier(tree)
        name = tree.name.lower()
        if name not in self.columns:
            raise CannotEvaluate(f"unknown column {tree.sql()}")
        return ColumnAt(replace(target, variables=variables), self.columns[name])

    def qualifier(self, tree: exp.Column) -> frozenset[str] | None:
        """The variables that a column's qualifier means; None without one, or with a table's name."""
        table = tree.args.get("table")
        return None if table is None else self.variables.get(_name(table))

    def named(self, tree: exp.Anonymous, target: Target) -> Expression:
        name, arguments = str(tree.this).upper(), tree.expressions
        if name == "CLASSIFIER":
            variables = None if not arguments else self.variables[_name(arguments[0].this)]
            return ClassifierAt(replace(target, variables=variables))
        if name in ("PREV", "NEXT"):
            offset = int(arguments[1].name) if len(arguments) > 1 else 1
            return self.expression(arguments[0], replace(target, shift=offset if name == "NEXT" else -offset))
        if name in ("FIRST", "LAST"):
            return self.navigation(arguments[0], arguments[1] if len(arguments) > 1 else None, target, tree)
        raise CannotEvaluate(f"function {name}")

    def navigation(self, argument: Any, offset: Any, target: Target, tree: Any) -> Expression:
        """FIRST and LAST; what stands in them without a variable is of any row of the match."""
        is_first = isinstance(tree, exp.First | exp.FirstValue) or (
            isinstance(tree, exp.Anonymous) and str(tree.this).upper() == "FIRST"
        )
        end = End.FIRST if is_first else End.LAST
        return self.expression(argument, replace(target, end=end, offset=0 if offset is None else int(offset.name)))

    def aggregate(self, tree: Any) -> Aggregate:
        """An aggregate over the rows of the variables that its arguments name."""
        where = None
        if isinstance(tree, exp.Filter):
            where, tree = tree.expression.this, tree.this
        function = _aggregate_name(tree)
        if function is None:
            raise CannotEvaluate(tree.sql())
        argument = tree.expressions[0] if isinstance(tree, exp.Anonymous | exp.List) else tree.this
        order: list[SortItem] = []
        if isinstance(argument, exp.Order):
            order = [self.sort_item(item) for item in argument.expressions]
            argument = argument.this
        is_distinct = isinstance(argument, exp.Distinct)
        trees = list(argument.expressions) if is_distinct else [argument]
        trees += [tree.args[key] for key in ("expression", "separator") if tree.args.get(key) is not None]
        named = {self.qualifier(column) for column in tree.find_all(exp.Column)} - {None}
        named |= {
            self.variables[_name(call.expressions[0].this)]
            for call in tree.find_all(exp.Anonymous) if str(call.this).upper() == "CLASSIFIER" and call.expressions
        }
        variables = next(iter(named), None)
        arguments = () if _is_star(argument) else tuple(
            _of_each_row(self.expression(part, Target())) for part in trees
        )
        return Aggregate(
            function, arguments, variables, Semantics.RUNNING, is_distinct=is_distinct,
            filter=None if where is None else _of_each_row(self.expression(where, Target())),
            order_by=tuple(replace(item, expression=_of_each_row(item.expression)) for item in order),
        )

    def sort_item(self, tree: Any) -> SortItem:
        """An item of ORDER BY; where NULLs stand is the dialect's, unless it is said."""
        if not isinstance(tree, exp.Ordered):
            return SortItem(self.expression(tree, Target()), False, nulls_first(self.dialect, is_descending=False))
        is_descending = bool(tree.args.get("desc"))
        return SortItem(
            self.expression(tree.this, Target()), is_descending, nulls_first(self.dialect, is_descending=is_descending)
        )

    def sort_items(self, parts: Sequence[Sequence[Token]]) -> list[SortItem]:
        """The items of ORDER BY."""
        items = []
        for tokens in parts:
            words = [part.upper for part in tokens]
            said = None
            if words[-2:] in (["NULLS", "FIRST"], ["NULLS", "LAST"]):
                said, tokens, words = words[-1] == "FIRST", tokens[:-2], words[:-2]
            is_descending = words[-1] == "DESC"
            if words[-1] in ("ASC", "DESC"):
                tokens = tokens[:-1]
            first = nulls_first(self.dialect, is_descending=is_descending) if said is None else said
            items.append(SortItem(self.read(tokens), is_descending, first))
        return items


def is_empty_array(aggregate: Aggregate, dialect: str) -> bool:
    """Whether the aggregate of no values is an empty array, as it is in Spark and Snowflake, and not NULL."""
    return aggregate.function == "array_agg" and dialect in ("spark", "databricks", "snowflake")


def nulls_first(dialect: str, *, is_descending: bool) -> bool:
    """Where the dialect puts NULLs: Spark takes them for the smallest value, Snowflake for the largest."""
    if dialect in ("spark", "databricks"):
        return not is_descending
    return is_descending and dialect == "snowflake"


def _aggregate_name(tree: Any) -> str | None:
    if isinstance(tree, exp.Anonymous):
        return _NAMED.get(str(tree.this).upper())
    return _AGGREGATES.get(type(tree))


def _of_each_row(expression: Expression) -> Expression:
    """An aggregate's argument: references are to the aggregated row, which is mapped to the variable anyway."""
    match expression:
        case ColumnAt():
            return replace(expression, target=Target())
        case ClassifierAt():
            return replace(expression, target=Target())
        case Call():
            return replace(expression, operands=tuple(map(_of_each_row, expression.operands)))
        case Aggregate():
            raise CannotEvaluate("an aggregate inside another")
    return expression


def _is_star(tree: Any) -> bool:
    return isinstance(tree, exp.Star) or (isinstance(tree, exp.Column) and isinstance(tree.this, exp.Star))


def _name(identifier: Any) -> str:
    return str(identifier.this) if identifier.args.get("quoted") else str(identifier.this).upper()


def _number(text: str, dialect: str) -> Any:
    if text.isdigit():
        return int(text)
    return float(text) if "e" in text.lower() or dialect != "duckdb" else Decimal(text)
