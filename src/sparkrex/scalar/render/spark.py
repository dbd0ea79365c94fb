"""Expressions as Spark's SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Difference, Fraction, OnZero
from sparkrex.scalar.forms import null_if_any, verbatim
from sparkrex.scalar.render.renderer import Renderer

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Call


def quoted(name: str) -> str:
    """A Spark identifier."""
    return "`" + name.replace("`", "``") + "`"


def _subtract(call: Call) -> str:
    return "DATEDIFF({0}, {1})" if call.difference is Difference.DAYS else "({0} - {1})"


def _integer_divide(call: Call) -> str:
    if call.on_zero is OnZero.FAILS:
        return "(CASE WHEN {1} = 0 THEN raise_error('division by zero') ELSE {0} div {1} END)"
    return "({0} div {1})"


def _cast(call: Call) -> str:
    assert call.to is not None
    value = "ROUND({0})" if call.fraction is Fraction.ROUNDED else "{0}"  # Spark cuts it off
    return f"{call.function.upper()}({value} AS {call.to.template('spark')})"


def _struct_field(call: Call) -> str:
    name = str(call.operands[1].value)  # type: ignore[union-attr]  # a literal, the field's name
    return f"({{0}}).{verbatim(quoted(name))}"


def _session_variable(call: Call) -> str:
    name = str(call.operands[0].value)  # type: ignore[union-attr]  # a literal, the variable's name
    return f"system.session.{verbatim(quoted(name))}"


def _timestampdiff(call: Call) -> str:
    return f"TIMESTAMPDIFF({call.unit}, {{0}}, {{1}})"


SPARK = Renderer(
    "spark",
    {
        "integer_divide": _integer_divide,
        "subtract": _subtract,
        "timestampdiff": _timestampdiff,
        "cast": _cast,
        "try_cast": _cast,
        "greatest_strict": null_if_any,
        "least_strict": null_if_any,
        # Oracle's, whose NULL is the empty string.
        "concat": "NULLIF(CONCAT_WS('', {0}, {1}), '')",
        "array_contains": "ARRAY_CONTAINS({1}, {0})",
        "or_empty": "COALESCE({0}, array())",
        "struct_field": _struct_field,
        "session_variable": _session_variable,
    },
    {},
)

render = SPARK.render
