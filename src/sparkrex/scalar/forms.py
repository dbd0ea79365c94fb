"""How calls are written: as templates in which `{0}`, `{1}`, ... stand for the operands.

`PLAIN` has the forms that are SQL of every host and that people write; hosts have theirs in `render_duckdb` and
`render_spark`. A call of what only the host knows has its form in its `syntax`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sparkrex.scalar.units import Units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sparkrex.scalar.expression import Call

Form: TypeAlias = "str | Callable[[Call], str]"
"""A template, or what makes one for a call."""


def call_form(name: str, n_operands: int) -> str:
    """The template of a plain call: `name({0}, {1})`."""
    return f"{name}({', '.join(f'{{{i}}}' for i in range(n_operands))})"


def verbatim(text: str) -> str:
    """Text that is not a template, inside one."""
    return text.replace("{", "{{").replace("}", "}}")


def null_if_any(call: Call) -> str:
    """`greatest_strict` and the like where the host's own function leaves NULLs out."""
    nulls = " OR ".join(f"{{{i}}} IS NULL" for i in range(len(call.operands)))
    name = call.function.removesuffix("_strict").upper()
    return f"(CASE WHEN {nulls} THEN NULL ELSE {call_form(name, len(call.operands))} END)"


def _connector(call: Call) -> str:
    return "(" + f" {call.function.upper()} ".join(f"{{{i}}}" for i in range(len(call.operands))) + ")"


def _function(call: Call) -> str:
    return call_form(call.function.upper(), len(call.operands))


def _case(call: Call) -> str:
    n_branches, has_default = divmod(len(call.operands), 2)
    text = " ".join(f"WHEN {{{2 * i}}} THEN {{{2 * i + 1}}}" for i in range(n_branches))
    return f"(CASE {text}{f' ELSE {{{2 * n_branches}}}' if has_default else ''} END)"


def _in(call: Call) -> str:
    return f"({{0}} IN ({', '.join(f'{{{i}}}' for i in range(1, len(call.operands)))}))"


def _like(call: Call) -> str:
    return "({0} LIKE {1} ESCAPE {2})" if len(call.operands) == 3 else "({0} LIKE {1})"


PLAIN: dict[str, Form] = {
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "divide": "({0} / {1})",
    "modulo": "({0} % {1})",
    "negate": "(- {0})",
    "abs": _function,
    "eq": "({0} = {1})",
    "ne": "({0} <> {1})",
    "lt": "({0} < {1})",
    "le": "({0} <= {1})",
    "gt": "({0} > {1})",
    "ge": "({0} >= {1})",
    "is_not_distinct_from": "({0} IS NOT DISTINCT FROM {1})",
    "is_distinct_from": "({0} IS DISTINCT FROM {1})",
    "between": "({0} BETWEEN {1} AND {2})",
    "in": _in,
    "like": _like,
    "ilike": "({0} ILIKE {1})",
    "and": _connector,
    "or": _connector,
    "not": "(NOT {0})",
    "is_null": "({0} IS NULL)",
    "is_true": "({0} IS TRUE)",
    "is_false": "({0} IS FALSE)",
    "case": _case,
    "coalesce": _function,
    "nullif": _function,
    "greatest": _function,
    "least": _function,
    "dpipe": "({0} || {1})",
    "start_index": "START_INDEX()",
    "end_index": "END_INDEX()",
}

# What people write for calls whose SQL differs between hosts.
_WRITTEN: dict[str, Form] = {
    "integer_divide": "({0} / {1})",
    "greatest_strict": lambda call: call_form("GREATEST", len(call.operands)),
    "least_strict": lambda call: call_form("LEAST", len(call.operands)),
    "concat": "({0} || {1})",
    "array_contains": "({0} IN {1})",
    "or_empty": "{0}",
    "whole_microseconds": "{0}",
    "whole_zoned_microseconds": "{0}",
    "in_nanoseconds": "{0}",
    "in_zoned_nanoseconds": "{0}",
}


OWN = frozenset({*PLAIN, *_WRITTEN, "cast", "try_cast", "struct_field", "interval"}) - {"concat", "array_contains"}
"""Names of calls that mean what we say; syntax of the host's never goes by them."""


def written(call: Call, operands: Sequence[str]) -> str:
    """The call as people write it, over operands that are text."""
    if call.syntax is not None:
        return call.syntax.text.format(*operands)
    match call.function, operands:
        case ("cast" | "try_cast") as word, (value, *_) if call.to is not None:
            return f"{word.upper()}({value} AS {call.to.text})"
        case "struct_field", (value, _):
            return f"{value}.{call.operands[1].value}"  # type: ignore[union-attr]  # a literal, the field's name
        case "session_variable", _:
            return str(call.operands[0].value)  # type: ignore[union-attr]  # a literal, the variable's name
        case "timestampdiff", (start, end):
            name = "DATE_DIFF" if call.units is Units.BEGUN else "TIMESTAMPDIFF"
            return f"{name}({call.unit}, {start}, {end})"
    form = PLAIN.get(call.function) or _WRITTEN.get(call.function) or call_form(call.function, len(operands))
    return (form if isinstance(form, str) else form(call)).format(*operands)
