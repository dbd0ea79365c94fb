"""Window functions and subqueries that speak of one row: computed by the host over the whole input, before matching.

Each becomes a column of the input, so that everything behind sees plain references. Subqueries in MEASURES stay: they
may speak of several rows of a match, and are evaluated over the matches.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, Expression, Target
from sparkrex.scalar.render.duckdb import render
from sparkrex.scalar.split import at_current_row

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.rows.plan import MatchRecognize


def add_relation_columns(
    plan: MatchRecognize, table: pa.Table, evaluator: Evaluator
) -> tuple[MatchRecognize, pa.Table]:
    """The plan with such expressions replaced by columns, and the input with these columns added."""
    found: dict[Call, str] = {}
    definitions = tuple(
        replace(definition, condition=_replace_calls(definition.condition, found, windows_only=False))
        for definition in plan.definitions
    )
    possessive = tuple(
        element if element.condition is None
        else replace(element, condition=_replace_calls(element.condition, found, windows_only=False))
        for element in plan.possessive
    )
    measures = tuple(
        replace(measure, expression=_replace_calls(measure.expression, found, windows_only=True))
        for measure in plan.measures
    )
    if not found:
        return plan, table
    names = {column: f"c{number}" for number, column in enumerate(table.column_names)}
    renamed = table.rename_columns(list(names.values()))
    texts = [
        render(call, lambda leaf: f"rex_rows.{names[leaf.column]}" if isinstance(leaf, ColumnAt) else "NULL")
        for call in found
    ]
    columns = evaluator.evaluate(texts, renamed, [call.span for call in found], reads_relation=True)
    for name, column in zip(found.values(), columns, strict=True):
        table = table.append_column(name, column)
    return replace(plan, definitions=definitions, measures=measures, possessive=possessive), table


def _replace_calls(expression: Expression, found: dict[Call, str], *, windows_only: bool) -> Expression:
    match expression:
        case Call() if expression.reads_relation and (not windows_only or expression.function == "window"):
            plain = at_current_row(expression)
            assert isinstance(plain, Call)  # a call stays a call
            name = found.setdefault(plain, f"rex_relation_{len(found)}")
            targets = [part.target for part in expression.operands if isinstance(part, ColumnAt)]
            return ColumnAt(targets[0] if targets else Target(), name, span=expression.span)
        case Call(operands=operands):
            return replace(
                expression, operands=tuple(_replace_calls(part, found, windows_only=windows_only) for part in operands)
            )
        case Aggregate():
            return replace(
                expression,
                arguments=tuple(
                    _replace_calls(part, found, windows_only=windows_only) for part in expression.arguments
                ),
                filter=None
                if expression.filter is None
                else _replace_calls(expression.filter, found, windows_only=windows_only),
            )
        case _:
            return expression
