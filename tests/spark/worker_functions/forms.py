"""Under which form the table knows a function: what analysis makes of Spark's SQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sparkrex.scalar.analyze.expressions import Converter
from sparkrex.scalar.analyze.scope import InputColumn, Scope
from sparkrex.scalar.expression import Call, ColumnAt, Expression
from sparkrex.source import Source, Span
from sparkrex.spark.host import AGGREGATE_NAMES, spark_type
from sparkrex.spark.proven_functions import Form, forms_of
from sparkrex.syntax.names import name_rules
from sparkrex.syntax.scalar_text import parse_expression
from sparkrex.syntax.tokens import find_dialect, tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

_WRAPPED = {"tsordstodate": "date", "timestrtotime": "timestamp"}


def form_of(written: str, types: Sequence[str]) -> tuple[Form, list[int]] | None:
    """The form of Spark's SQL over operands of these types, and the operand at each of its places.

    None for what is no call of a host's function, such as the engine's own operators.
    """
    names = [f"rex_{place}" for place in range(len(types))]
    source, dialect = Source(written.format(*names)), find_dialect("spark")
    tokens = [token for token in tokenize(source, dialect) if token.text]
    scope = Scope(
        source=source, dialect=dialect, dialect_name="spark", host_dialect="spark",
        rules=name_rules("spark").spelling(()), alias=None, variables=(), unions={}, aggregate_names=AGGREGATE_NAMES,
        columns=tuple(InputColumn(name, spark_type(kind)) for name, kind in zip(names, types, strict=True)),
        table_columns=lambda name: None, outer_names=frozenset(),
    )
    text = parse_expression(tokens, source, dialect, Span(0, 1))
    call = Converter(scope, text, in_define=True).convert()
    if not isinstance(call, Call) or (call.syntax is None and call.function not in ("cast", "try_cast")):
        return None
    form = next(forms_of(call))
    order = []
    for operand in form.operands:
        inner = _unwrapped(operand)
        if inner is None:
            return None
        if isinstance(operand, Call) and _WRAPPED[operand.function] != types[names.index(inner.column)]:
            return None
        order.append(names.index(inner.column))
    return form, order


def _unwrapped(operand: Expression) -> ColumnAt | None:
    """The column, also under a conversion to its own type: analysis puts some around what takes dates."""
    match operand:
        case ColumnAt():
            return operand
        case Call(function, (ColumnAt() as inner,)) if function in _WRAPPED:
            return inner
        case _:
            return None


def reordered(rendering: str, order: Sequence[int]) -> str:
    """A rendering whose operands are numbered as those of a form."""
    return re.sub(r"\{(t?)(\d+)\}", lambda found: f"{{{found[1]}{order.index(int(found[2]))}}}", rendering)
