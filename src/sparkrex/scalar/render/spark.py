"""Expressions as Spark's SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Difference, Fraction, OnZero
from sparkrex.scalar.forms import null_if_any, verbatim
from sparkrex.scalar.render.renderer import Renderer
from sparkrex.scalar.units import Units

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
    def between(start: str, end: str) -> str:
        return f"TIMESTAMPDIFF({call.unit}, {start}, {end})"

    if call.units is Units.BEGUN:
        return between(f"DATE_TRUNC('{call.unit}', {{0}})", f"DATE_TRUNC('{call.unit}', {{1}})")
    whole = between("{0}", "{1}")
    if call.units is not Units.WHOLE_TO_LAST_DAY or call.unit not in ("MONTH", "QUARTER", "YEAR"):
        return whole
    # The earlier time goes back to the day of the later one, where that day is its month's last.
    earlier_start = between(_moved_to_day("{0}", "{1}"), "{1}")
    earlier_end = between("{0}", _moved_to_day("{1}", "{0}"))
    return (
        f"(CASE WHEN {{0}} <= {{1}} AND {_is_cut_short('{0}', '{1}')} THEN {earlier_start} "
        f"WHEN {{1}} < {{0}} AND {_is_cut_short('{1}', '{0}')} THEN {earlier_end} ELSE {whole} END)"
    )


def _is_cut_short(earlier: str, later: str) -> str:
    return f"DAY({later}) = DAY(LAST_DAY({later})) AND DAY({earlier}) > DAY({later})"


def _moved_to_day(earlier: str, later: str) -> str:
    return f"(CAST({earlier} AS TIMESTAMP) - MAKE_DT_INTERVAL(DAY({earlier}) - DAY({later})))"


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
