"""The expressions of a worker's plan, each call of a function written as it was proven equal to Spark's.

Which rendering is the right one follows from the types of the operands, and these from Spark: it is asked once for all
calls of a plan, with a NULL of its type for everything that is read from the match.
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from sparkrex.errors import AnalysisError, ExecutionError, UnsupportedError
from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    Expression,
    Literal,
    MatchNumber,
    MatchStatus,
    walk,
)
from sparkrex.scalar.forms import OWN
from sparkrex.scalar.render.spark import SPARK
from sparkrex.spark.aggregate_types import aggregate_sql
from sparkrex.spark.proven_functions import Form, duckdb_type, forms_of, proven_functions
from sparkrex.spark.worker_language import INSTEAD, is_operator, is_plain_cast, was_compared_by_hand, written_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql.types import DataType

    from sparkrex.functions import Function
    from sparkrex.modes.plan import Plan
    from sparkrex.scalar.render.renderer import Leaf
    from sparkrex.source import Span
    from sparkrex.spark.host import SparkHost

_PLACE = re.compile(r"(?<!\{)\{(\d+)\}(?!\})")
_EXPRESSIONS = (Literal, ColumnAt, ClassifierAt, MatchNumber, MatchStatus, Call, Aggregate)


def proven_calls(
    plan: Plan, types: Mapping[str, DataType], host: SparkHost, functions: Sequence[Function] = ()
) -> Plan:
    """The plan over columns of these types, its functions written as they were proven equal to Spark's.

    `functions` are the user's, which workers have.
    """
    return _ProvenCalls(plan, types, host, functions).written()


class _ProvenCalls:
    """Writes the calls of one plan."""

    def __init__(
        self, plan: Plan, types: Mapping[str, DataType], host: SparkHost, functions: Sequence[Function]
    ) -> None:
        self._plan = plan
        self._types = types
        self._host = host
        self._is_ansi = host.has_ansi_rules()
        self._is_proven_for = host.spark.version == proven_functions().versions["spark"]
        self._known: dict[str, str] = {}
        self._functions = {function.name: function for function in functions}

    def written(self) -> Plan:
        """The plan over proven calls; an error where a call is not proven for its types."""
        plan = self._plan
        tested = [*plan.tested(), *(measure.expression for measure in plan.returned())]
        calls = [node for whole in tested for node in walk(whole) if isinstance(node, Call) and not is_operator(node)]
        if plan.dialect == "duckdb" or not calls:
            return plan
        self._ask(calls)
        changed: Plan = _changed(plan, self._expression)
        return changed

    def _ask(self, calls: Sequence[Call]) -> None:
        """Find the types of calls and of their operands."""
        texts: dict[str, Span | None] = {}
        for call in calls:
            for node in (call, *(operand for form in forms_of(call) for operand in form.operands)):
                texts.setdefault(self._sql(node), call.span)
        self._known = dict(zip(texts, self._host.types_of(list(texts), calls[0].span), strict=True))

    def _sql(self, expression: Expression) -> str:
        """An expression of Spark's with the type of this one."""

        def leaf(node: Leaf) -> str:
            match node:
                case ColumnAt(_, column):
                    return f"CAST(NULL AS {self._types[column].simpleString()})"
                case ClassifierAt() | MatchStatus():
                    return "CAST(NULL AS STRING)"
                case MatchNumber():
                    return "CAST(NULL AS BIGINT)"
                case Aggregate():
                    return aggregate_sql(node, [SPARK.render(argument, leaf) for argument in node.arguments])

        return SPARK.render(expression, leaf)

    def _expression(self, expression: Expression) -> Expression:
        """The expression with every call in it written, inner ones first."""
        match expression:
            case Call() if is_operator(expression):
                return _with_operands(expression, tuple(map(self._expression, expression.operands)))
            case Call():
                return self._call(expression)
            case Aggregate():
                changed = _changed_fields(expression, self._expression)
                assert isinstance(changed, Aggregate)
                return changed
            case _:
                return expression

    def _call(self, call: Call) -> Expression:
        if call.function in self._functions:
            self._check(call, self._functions[call.function])
            return _with_operands(call, tuple(map(self._expression, call.operands)))
        table = proven_functions()
        for form in forms_of(call) if self._is_proven_for else ():
            types = tuple(self._known[self._sql(operand)] for operand in form.operands)
            rendering = table.rendering(form.text, types, is_ansi=self._is_ansi)
            if rendering is not None:
                return self._proven(call, form, types, rendering)
        is_old = not self._is_proven_for and was_compared_by_hand(call)
        if is_old or (is_plain_cast(call) and (self._is_ansi or call.function == "try_cast")):
            return _with_operands(call, tuple(map(self._expression, call.operands)))
        raise self._refusal(call)

    def _proven(self, call: Call, form: Form, types: tuple[str, ...], rendering: str) -> Call:
        operands = tuple(map(self._expression, form.operands))
        places = {
            str(place): f"{{{place}}}" if isinstance(operand, ColumnAt) else f"CAST({{{place}}} AS {duckdb_type(kind)})"
            for place, (operand, kind) in enumerate(zip(operands, types, strict=True))
        }
        result = duckdb_type(self._known[self._sql(call)])
        # It stays a template, with the doubled braces that it has.
        whole = f"CAST({_PLACE.sub(lambda found: places[found[1]], rendering)} AS {result})"
        syntax = call.syntax or call.to
        assert syntax is not None  # only an operator has none, or a cast
        name = f"{call.function}()" if call.function in OWN else call.function
        return Call(
            name, operands, syntax.proven(form.text, whole, len(operands)), is_deterministic=call.is_deterministic,
            can_fail=call.can_fail, span=call.span,
        )

    def _check(self, call: Call, function: Function) -> None:
        """Refuse operands that a user's function does not take."""
        kinds = [self._known[self._sql(operand)] for operand in call.operands]
        span = call.span or self._plan.span
        if len(kinds) != len(function.parameters):
            raise AnalysisError(
                "REX213", f"{function.name} takes {len(function.parameters)} arguments, not {len(kinds)}",
                self._plan.source, span, hint=str(function),
            )
        for place, kind in enumerate(kinds):
            if not function.takes(place, kind):
                raise AnalysisError(
                    "REX214", f"{function.name} does not take {kind} as argument {place + 1}", self._plan.source,
                    call.operands[place].span or span, hint=str(function),
                )

    def _refusal(self, call: Call) -> UnsupportedError:
        name = written_name(call, self._plan)
        # The second operand of a cast is the name of a type.
        operands = call.operands[:1] if call.function in ("cast", "try_cast") else call.operands
        given = ", ".join(dict.fromkeys(self._known[self._sql(operand)] for operand in operands))
        over = f" of {given}" if given else ""
        message = f"{name}{over} over several rows of the match is not supported on Spark"
        return UnsupportedError("REX301", message, self._plan.source, call.span or self._plan.span, hint=INSTEAD)


def check_evaluators(plan: Plan) -> None:
    """Raise REX404 where a worker has other versions than those that the functions of its plan were proven with."""
    tested = [*plan.tested(), *(measure.expression for measure in plan.returned())]
    calls = [node for whole in tested for node in walk(whole) if isinstance(node, Call) and node.syntax is not None]
    if not any(call.syntax is not None and call.syntax.is_proven for call in calls):
        return
    import duckdb
    import pyarrow as pa

    wanted = proven_functions().versions
    for name, package, version in (("duckdb", "duckdb", duckdb.__version__), ("arrow", "pyarrow", pa.__version__)):
        if version != wanted[name]:
            proven = f"functions were proven equal to Spark's with {wanted[name]}"
            raise ExecutionError(
                "REX404", f"the worker has {package} {version}, and {proven}", None, None,
                hint=f"install {package}=={wanted[name]} everywhere",
            )


def _with_operands(call: Call, operands: tuple[Expression, ...]) -> Call:
    same = all(new is old for new, old in zip(operands, call.operands, strict=True))
    return call if same else replace(call, operands=operands)


def _changed(value: Any, change: Callable[[Expression], Expression]) -> Any:
    """A value with every expression in it changed; itself if none is."""
    if isinstance(value, _EXPRESSIONS):
        return change(value)
    if isinstance(value, tuple):
        items = tuple(_changed(item, change) for item in value)
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        changed = {key: _changed(item, change) for key, item in value.items()}
        return value if all(changed[key] is item for key, item in value.items()) else changed
    if is_dataclass(value) and not isinstance(value, type):
        return _changed_fields(value, change)
    return value


def _changed_fields(value: Any, change: Callable[[Expression], Expression]) -> Any:
    """A node with every expression in its fields changed; itself if none is."""
    found = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    changed = {name: _changed(item, change) for name, item in found.items()}
    different = {name: item for name, item in changed.items() if item is not found[name]}
    return replace(value, **different) if different else value
