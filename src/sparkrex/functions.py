"""Python functions that a query is given: `functions={"f": f}`.

Their types come from annotations, or from the UDF that PySpark made of them. In memory and in Spark's workers DuckDB
calls them; NULL is None to them, as it is to a UDF of Spark's.
"""

from __future__ import annotations

import datetime
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from sparkrex.errors import AnalysisError

# By annotation: DuckDB's type, and Spark's.
_TYPES: dict[Any, tuple[str, str]] = {
    bool: ("BOOLEAN", "boolean"), int: ("BIGINT", "bigint"), float: ("DOUBLE", "double"), str: ("VARCHAR", "string"),
    bytes: ("BLOB", "binary"), datetime.date: ("DATE", "date"),
}
_BY_SPARK = {spark: python for python, (_, spark) in _TYPES.items()} | {
    "tinyint": int, "smallint": int, "int": int, "float": float,
}
# Which of Spark's types a parameter takes.
_TAKEN = {
    "bigint": {"tinyint", "smallint", "int", "bigint"},
    "double": {"tinyint", "smallint", "int", "bigint", "float", "double", "decimal"},
}


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function with its name in the query and its types as annotations; a list of them is `list[...]`."""

    name: str
    call: Callable[..., Any]
    parameters: tuple[Any, ...]
    result: Any

    def duckdb_types(self) -> tuple[list[str], str]:
        """DuckDB's types of the parameters and of the result."""
        return [_named(kind, 0) for kind in self.parameters], _named(self.result, 0)

    def spark_result(self) -> str:
        """Spark's type of the result."""
        return _named(self.result, 1)

    def takes(self, place: int, spark_type: str) -> bool:
        """Whether a parameter takes values of one of Spark's types."""
        return _takes(self.parameters[place], spark_type)

    def checked(self, *values: Any) -> Any:
        """The function's value; a TypeError if it is of another type than it says."""
        value = self.call(*values)
        return value if value is None else _as_said(value, self.result)

    def __str__(self) -> str:
        listed = ", ".join(_named(kind, 1) for kind in self.parameters)
        return f"{self.name}({listed}) -> {self.spark_result()}"


def make_functions(given: Mapping[str, Any] | None) -> tuple[Function, ...]:
    """Functions by name, as a query takes them; checked."""
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise TypeError(f"functions= is a {given.__class__.__name__}, not a mapping of names to Python functions")
    return tuple(_function(name, made) for name, made in given.items())


def _function(name: Any, made: Any) -> Function:
    if not isinstance(name, str) or not name.isidentifier():
        raise TypeError(f"functions= has the name {name!r}, which no function of SQL can have")
    call = getattr(made, "func", made)
    if not callable(call):
        raise TypeError(f"functions= has a {made.__class__.__name__} for {name}, not a function")
    try:
        hints = get_type_hints(call)
        parameters = list(inspect.signature(call).parameters.values())
    except (TypeError, ValueError, NameError) as error:
        raise _untyped(name, str(error)) from error
    returned = getattr(made, "returnType", None)
    result = _BY_SPARK.get(returned.simpleString()) if returned is not None else _plain(hints.get("return"))
    if result is None or not _is_type(result):
        raise _untyped(name, "the type of its result is not known")
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise _untyped(name, f"{parameter} is not a parameter with a place of its own")
        if not _is_type(_plain(hints.get(parameter.name))):
            raise _untyped(name, f"the type of its parameter {parameter.name} is not known")
    return Function(name.lower(), call, tuple(_plain(hints[one.name]) for one in parameters), result)


def _untyped(name: str, why: str) -> AnalysisError:
    listed = ", ".join(kind.__name__ for kind in _TYPES)
    return AnalysisError(
        "REX217", f"functions= has {name}, and {why}", None, None,
        hint=f"def {name}(x: int) -> float: ...; types are {listed}, and lists of them",
    )


def _plain(kind: Any) -> Any:
    """A type without `| None`: every value may be NULL."""
    if get_origin(kind) in (Union, types.UnionType):
        rest = [part for part in get_args(kind) if part is not type(None)]
        return rest[0] if len(rest) == 1 else None
    return kind


def _item(kind: Any) -> Any:
    """The type of a list's items, None if it is no list."""
    return _plain(get_args(kind)[0]) if get_origin(kind) is list and get_args(kind) else None


def _is_type(kind: Any) -> bool:
    return kind in _TYPES if _item(kind) is None else _is_type(_item(kind))


def _named(kind: Any, host: int) -> str:
    item = _item(kind)
    if item is None:
        return _TYPES[kind][host]
    return f"{_named(item, 0)}[]" if host == 0 else f"array<{_named(item, 1)}>"


def _takes(kind: Any, spark_type: str) -> bool:
    item = _item(kind)
    if item is not None and spark_type.startswith("array<"):
        return _takes(item, spark_type.removeprefix("array<").removesuffix(">"))
    wanted, plain = _named(kind, 1), spark_type.partition("(")[0]
    return spark_type in (wanted, "void") or plain in _TAKEN.get(wanted, ())


def _as_said(value: Any, kind: Any) -> Any:
    """A value of the type that the function says, also where NumPy made it."""
    item = _item(kind)
    if item is not None and isinstance(value, list | tuple):
        return [None if one is None else _as_said(one, item) for one in value]
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    is_right = item is None and isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    if not is_right or (kind is datetime.date and isinstance(value, datetime.datetime)):
        wanted = "list" if item is not None else kind.__name__
        raise TypeError(f"it returned a {value.__class__.__name__}, not a {wanted}")
    return value
