"""Names to references: which column, of which pattern variable, at which target row.

`[variable | input alias .] column [. field ...]` becomes a `ColumnAt`, with a `struct_field` call per field after it.
Takes sqlglot's columns and dots, gives `scalar.expression` nodes; what a name can mean is `scope`'s.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp

from sparkrex.errors import AnalysisError, UnsupportedError, nearest
from sparkrex.scalar.analyze.opaque import convert_opaque
from sparkrex.scalar.analyze.session_variables import find_session_variable
from sparkrex.scalar.expression import EACH_ROW, Call, ColumnAt, Expression, Literal, Target

if TYPE_CHECKING:
    from sparkrex.scalar.analyze.expressions import Converter
    from sparkrex.scalar.analyze.place import Place
    from sparkrex.scalar.analyze.scope import InputColumn, Scope
    from sparkrex.source import Span


def convert_column(converter: Converter, node: exp.Expr, place: Place) -> Expression:
    """A column reference with its fields; a dot after anything but a name is taken whole."""
    span = converter.span(node)
    if isinstance(node, exp.Dot) and not _is_name_chain(node):
        return convert_opaque(converter, node, place, span)
    names = _name_chain(node)
    if isinstance(names[-1], exp.Star):
        raise converter.error("REX210", "a star is only allowed in COUNT(*) and COUNT(variable.*)", span)
    result: Expression
    if (session := _session_variable(converter, names, span)) is not None:
        result, fields = session
    else:
        named, column, fields = _resolve_chain(converter, names, span)
        variables = converter.unqualified if named is None else named
        result = ColumnAt(target_row(converter, variables, place), column.name, span=span)
    for field in fields:
        result = Call("struct_field", (result, Literal(field)), span=span)
    return result


def target_row(converter: Converter, variables: frozenset[str] | None, place: Place) -> Target:
    """The row that a reference to the rows of `variables` reads at this place."""
    if place.each_row or converter.row_only:
        return EACH_ROW if variables is None else Target(variables)
    if place.navigation is not None:
        return replace(place.navigation, variables=variables)
    return Target(variables)


def named_variables(converter: Converter, name: exp.Expr) -> frozenset[str] | None:
    """The primary variables that a name stands for, None if it is not a pattern variable."""
    scope = converter.scope
    return scope.variable_set(_fold_name(name, scope))


def required_variables(converter: Converter, name: exp.Expr, span: Span) -> frozenset[str]:
    """The primary variables that a name stands for, or an error that suggests one."""
    scope = converter.scope
    variables = named_variables(converter, name)
    if variables is None:
        folded = _fold_name(name, scope)
        known = [*scope.variables, *scope.unions]
        raise AnalysisError(
            "REX206", f"{folded} is not a pattern variable", scope.source, span,
            hint=nearest(folded, known) or (f"variables: {', '.join(known)}" if known else None),
        )
    return variables


def _resolve_chain(
    converter: Converter, names: list[exp.Expr], span: Span
) -> tuple[frozenset[str] | None, InputColumn, list[str]]:
    """Variables, column and fields that a chain of names means.

    A first name that is both is a pattern variable rather than the input's alias, and either rather than a column.
    """
    scope = converter.scope
    texts = [name.name for name in names]
    if len(names) == 1:
        return None, scope.column(texts[0], span), []
    # PARTITION BY and ORDER BY stand outside the pattern: there the input's alias comes first.
    is_alias = bool(converter.row_only) and scope.is_alias(texts[0])
    variables = None if is_alias else named_variables(converter, names[0])
    if variables is not None and converter.row_only:
        variable = _fold_name(names[0], scope)
        raise converter.error("REX207", f"{converter.row_only} cannot refer to pattern variable {variable}", span)
    n_qualifiers = 1 if variables is not None else scope.count_qualifiers(texts)
    if n_qualifiers:
        column = scope.column(texts[n_qualifiers], converter.span(names[n_qualifiers]))
        return variables, column, texts[n_qualifiers + 1 :]
    found = scope.find_column(texts[0], span)
    if found is None:
        _fail_unknown_qualifier(texts[0], scope, span)
    return None, found, texts[1:]


def _session_variable(converter: Converter, names: list[exp.Expr], span: Span) -> tuple[Expression, list[str]] | None:
    """The variable of the session that the names mean, with fields, None if they mean something else."""
    texts = [name.name for name in names]
    if len(names) > 1 and (named_variables(converter, names[0]) or converter.scope.count_qualifiers(texts)):
        return None
    return find_session_variable(texts, converter.scope, span)


def _fail_unknown_qualifier(name: str, scope: Scope, span: Span) -> NoReturn:
    if name.lower() in scope.outer_names:
        raise UnsupportedError(
            "REX301", f"a correlated MATCH_RECOGNIZE, here one that refers to {name}, is not supported yet",
            scope.source, span, hint="join the outer table in the input of MATCH_RECOGNIZE",
        )
    known = [*scope.variables, *scope.unions, *(column.name for column in scope.columns)]
    listed = f"variables: {', '.join(scope.variables)}" if scope.variables else None
    raise AnalysisError(
        "REX206", f"{name} is neither a pattern variable nor the input's name nor one of its columns",
        scope.source, span, hint=nearest(name, known) or listed,
    )


def _fold_name(name: exp.Expr, scope: Scope) -> str:
    return scope.rules.fold(name.name, is_quoted=bool(name.args.get("quoted")))


def _is_name_chain(node: exp.Expr) -> bool:
    while isinstance(node, exp.Dot):
        if not isinstance(node.expression, exp.Identifier):
            return False
        node = node.this
    return isinstance(node, exp.Column | exp.Identifier)


def _name_chain(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Dot):
        return [*_name_chain(node.this), node.expression]
    if isinstance(node, exp.Column):
        parts = (node.args.get(key) for key in ("catalog", "db", "table", "this"))
        return [part for part in parts if part is not None]
    return [node]
