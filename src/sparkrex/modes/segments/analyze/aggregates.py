"""Aggregates over segments: the list that conditions may use, by all their spellings, and their conversion.

In conditions these are all there is: an engine evaluates them for many segments at once. MEASURES has the standard's
aggregates besides, and there `sum`, `avg` and the like are the host's, with all that it allows in them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import nearest
from sparkrex.scalar.analyze.aggregate_names import aggregate_name, is_aggregate
from sparkrex.scalar.analyze.aggregates import argument_nodes, counted_variables, each_row, is_star
from sparkrex.scalar.analyze.place import Place
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, Expression, Literal, Semantics, references
from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparkrex.errors import AnalysisError
    from sparkrex.modes.segments.analyze.expressions import SegmentConverter
    from sparkrex.source import Span

_Type = exp.DataType.Type
# No series has so many, and positions before them might not fit 64 bits.
_MOST_ROWS = 1 << 40
_NO_NUMBERS = (*exp.DataType.TEXT_TYPES, *exp.DataType.NESTED_TYPES, _Type.BOOLEAN, _Type.BINARY, _Type.VARBINARY)


@dataclass(frozen=True, slots=True)
class Signature:
    """What an aggregate takes.

    `of_numbers` asks for numbers, dates or timestamps; `of_pairs` lets each argument read another variable's segment;
    `of_a_point` is for point variables only, its last argument being a number of rows.
    """

    name: str
    usage: str
    of_numbers: bool = True
    of_pairs: bool = False
    of_a_point: bool = False

    @property
    def arity(self) -> int:
        """How many arguments it takes."""
        return self.usage.count(",") + 1


BUILT_IN: dict[str, Signature] = {
    signature.name: signature
    for signature in (
        Signature("linear_reg_r2", "(x, y)"),
        Signature("linear_reg_r2_signed", "(x, y)"),
        Signature("linear_reg_slope", "(x, y)"),
        Signature("mann_kendall_test", "(x)"),
        Signature("corr", "(A.x, B.x)", of_pairs=True),
        Signature("zscore_outlier", "(x, n)", of_a_point=True),
        Signature("equal_up_down_ticks", "(x)"),
        Signature("sum", "(x)"),
        Signature("avg", "(x)"),
        Signature("min", "(x)"),
        Signature("max", "(x)"),
        Signature("count", "(x)", of_numbers=False),
        Signature("stddev", "(x)"),
        Signature("stddev_pop", "(x)"),
        Signature("var", "(x)"),
        Signature("var_pop", "(x)"),
        Signature("median", "(x)"),
        Signature("range", "(x)"),
    )
}
SPELLINGS = {
    "linear_regression_r2": "linear_reg_r2", "linear_regression_r2_signed": "linear_reg_r2_signed",
    "linear_regression_slope": "linear_reg_slope", "mann_kandall_test": "mann_kendall_test",
    "zscoreoutlier": "zscore_outlier", "equalupdownticks": "equal_up_down_ticks", "mean": "avg",
    "stddev_samp": "stddev", "var_samp": "var", "variance": "var",
}
"""Other names: the paper's, and those of SQL."""
_OF_THE_STANDARD = {"sum", "avg", "min", "max", "count", "stddev", "stddev_pop", "var", "var_pop", "median"}
_INSIDE = Place(each_row=True)


def segment_aggregates(user_defined: Mapping[str, int]) -> dict[str, Signature]:
    """All aggregates by name in lower case; `user_defined` gives names and how many arguments each takes."""
    added = {
        name.lower(): Signature(name.lower(), "(" + ", ".join(f"x{i + 1}" for i in range(arity)) + ")")
        for name, arity in user_defined.items()
    }
    return BUILT_IN | added


def written_name(node: exp.Expr) -> str | None:
    """The canonical name that a call would have as an aggregate over segments, None if it is not such a call."""
    if isinstance(node, exp.Anonymous):
        name = row_pattern_function(node)
        written = (name or node.name).lower()
    elif isinstance(node, exp.Median | exp.Corr):
        written = node.key
    elif isinstance(node, exp.AggFunc):
        written = aggregate_name(node) or node.key
    else:
        return None
    return SPELLINGS.get(written, written)


def find_signature(converter: SegmentConverter, node: exp.Expr) -> Signature | None:
    """The aggregate over segments that a node calls, None if it calls none."""
    name = written_name(node)
    if name is None:
        return None
    if converter.variable is None and name in _OF_THE_STANDARD and is_aggregate(node, converter.scope):
        return None
    return converter.aggregates.get(name)


def unknown_aggregate(converter: SegmentConverter, node: exp.Expr, span: Span) -> AnalysisError:
    """The error about a call that no condition over segments can make."""
    name = written_name(node) or node.key
    known = sorted([*converter.aggregates, *SPELLINGS])
    return converter.error(
        "REX213", f"{name} is not an aggregate that a condition over segments can use", span,
        hint=nearest(name, known) or f"one of {', '.join(converter.aggregates)}, first, last, or one of your own",
    )


def convert_segment_aggregate(
    converter: SegmentConverter, node: exp.Expr, signature: Signature, place: Place
) -> Expression:
    """A call of an aggregate over segments."""
    span = converter.span(node)
    if place.each_row or place.navigation is not None:
        around = "another aggregate" if place.each_row else "FIRST, LAST, PREV or NEXT"
        raise converter.error("REX210", f"{signature.name} cannot be inside {around}", span)
    nodes = argument_nodes(node)
    if signature.name == "count" and (not nodes or is_star(nodes[0])):
        counted = counted_variables(converter, nodes[0]) if nodes else None
        return _aggregate(converter, signature, (), counted or converter.unqualified, span)
    _check_arguments(converter, signature, nodes, span)
    arguments = tuple(converter.convert_node(argument, _INSIDE) for argument in nodes)
    spoken_of = list(dict.fromkeys(_variables(converter, part, span) for part in arguments if any(references(part))))
    if len(spoken_of) > 1 and (not signature.of_pairs or None in spoken_of):
        raise converter.error(
            "REX211", f"{signature.name} mixes rows of different variables", span,
            hint="qualify every column with a variable" + ("" if signature.of_pairs else ", the same one"),
        )
    if len(spoken_of) > 1:
        everything = frozenset(name for names in spoken_of for name in names or ())
        return _aggregate(converter, signature, tuple(map(_final, arguments)), everything, span)
    agreed = spoken_of[0] if spoken_of else converter.unqualified
    if signature.name == "range" and converter.variable is None and _is_of_numbers(converter, nodes[0]):
        return _difference(tuple(map(each_row, arguments)), agreed, span)
    if signature.of_a_point:
        agreed = converter.own if agreed is None else agreed
        _check_point(converter, arguments, agreed, span)
    return _aggregate(converter, signature, tuple(map(each_row, arguments)), agreed, span)


def _is_of_numbers(converter: SegmentConverter, node: exp.Expr) -> bool:
    kind = converter.types.get(id(node.unnest()))
    return kind is not None and kind.is_type(*exp.DataType.NUMERIC_TYPES)


def _difference(
    arguments: tuple[Expression, ...], variables: frozenset[str] | None, span: Span
) -> Expression:
    """The range of numbers as a measure: the host's own difference, in the host's own type."""
    ends = tuple(
        Aggregate(name, arguments, variables, Semantics.FINAL, span=span)
        for name in ("max", "min")
    )
    return Call("subtract", ends, span=span)


def _aggregate(
    converter: SegmentConverter, signature: Signature, arguments: tuple[Expression, ...],
    variables: frozenset[str] | None, span: Span,
) -> Expression:
    is_running = converter.is_plain and converter.variable is not None and not signature.of_a_point
    semantics = Semantics.RUNNING if is_running else Semantics.FINAL
    return Aggregate(signature.name, arguments, variables, semantics, span=span)


def _check_arguments(
    converter: SegmentConverter, signature: Signature, nodes: list[exp.Expr], span: Span
) -> None:
    if len(nodes) != signature.arity:
        many = "argument" if signature.arity == 1 else "arguments"
        raise converter.error(
            "REX213", f"{signature.name} takes {signature.arity} {many}, not {len(nodes)}", span,
            hint=f"{signature.name}{signature.usage}",
        )
    for node in nodes:
        if isinstance(node, exp.Distinct | exp.Order | exp.Star) or is_star(node):
            what = "DISTINCT" if isinstance(node, exp.Distinct) else "ORDER BY" if isinstance(node, exp.Order) else "*"
            raise converter.error("REX213", f"{signature.name} over a segment cannot have {what}", span)
        kind = converter.types.get(id(node.unnest()))
        if signature.of_numbers and kind is not None and kind.is_type(*_NO_NUMBERS):
            raise converter.error(
                "REX214", f"{signature.name} needs numbers, dates or timestamps, not {kind.sql()}",
                converter.span(node), hint="cast the column in the input, if it holds numbers",
            )


def _check_point(
    converter: SegmentConverter, arguments: tuple[Expression, ...], variables: frozenset[str] | None, span: Span
) -> None:
    """zscore_outlier(x, n): n rows written out, x of a point variable."""
    rows = arguments[-1]
    if not isinstance(rows, Literal) or not isinstance(rows.value, int) or not 1 <= rows.value <= _MOST_ROWS:
        raise converter.error(
            "REX213", "the second argument of zscore_outlier is a whole number of rows, written out", span,
            hint="zscore_outlier(price, 20)",
        )
    if not variables or any(map(converter.is_segment, variables)):
        raise converter.error(
            "REX213", "zscore_outlier is for point variables: it looks at one row and those before it", span,
            hint="define the variable without SEGMENT, or qualify the column with a point variable",
        )


def _variables(converter: SegmentConverter, argument: Expression, span: Span) -> frozenset[str] | None:
    """The variables whose rows one argument reads, None for all rows."""
    sets = {reference.target.variables for reference in references(argument)}
    if len(sets) > 1:
        raise converter.error(
            "REX211", "one argument mixes rows of different variables", span,
            hint="qualify every column with the same variable",
        )
    return next(iter(sets), None)


def _final(expression: Expression) -> Expression:
    """An argument of pairs: its references keep whose rows they read."""
    match expression:
        case ColumnAt(target):
            return replace(expression, target=replace(target, semantics=Semantics.FINAL))
        case Call(operands=operands):
            return replace(expression, operands=tuple(map(_final, operands)))
        case _:
            return expression
