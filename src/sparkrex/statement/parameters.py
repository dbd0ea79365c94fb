"""Parameters of a query, `:name` and `?`: every one is replaced by a literal of its value before anything is parsed.

So a value is a typed constant to whoever reads the query: it takes the paths that a written constant takes, in memory
and on Spark. Tokens of the literal keep the place of the parameter, so that errors point at what the user wrote.

In a pattern `?` is a quantifier. A colon that touches a word or bracket before it belongs to that one (`col:field`,
`a[1:n]`).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError
from sparkrex.source import Source, Span
from sparkrex.syntax.tokens import closing, span_of, tokenize, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot.dialects.dialect import Dialect

Values: TypeAlias = "Mapping[str, object] | Sequence[object]"
_ENDS_A_PATTERN = {"WHERE", "WITHIN", "RETURN", "DEFINE", "SUBSET", "OUTPUT", "AFTER", "TIME", "HAVING"}
_NO_PARAMETER_AFTER = {TokenType.L_BRACKET, TokenType.COLON}
_HAS_TIMESTAMPTZ = {"duckdb", "postgres", "redshift"}
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Literals:
    """The values of a call as literals of the query's dialect, by name or in order; hashable, to remember parses by."""

    named: tuple[tuple[str, str], ...] = ()
    listed: tuple[str, ...] = ()

    def names(self) -> list[str]:
        """What the values are called."""
        return [f":{name}" for name, _ in self.named] or [f"? number {place + 1}" for place in range(len(self.listed))]


@dataclass(frozen=True, slots=True)
class Bound:
    """Tokens with every parameter replaced, and the text of each literal by the index of its first and last token."""

    tokens: list[Token]
    texts: dict[int, tuple[int, str]]


def write_literals(values: Values, dialect_name: str, dialect: Dialect) -> Literals:
    """The values of a call as literals."""
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise _unfit("args=", values, "a mapping of names to values for :name, or a list of values for ?")
    if hasattr(values, "items"):
        return Literals(named=tuple(
            (str(name).removeprefix(":"), _literal(f":{name}", value, dialect_name, dialect))
            for name, value in values.items()
        ))
    return Literals(listed=tuple(
        _literal(f"? number {place}", value, dialect_name, dialect) for place, value in enumerate(values, 1)
    ))


def has_parameters(tokens: list[Token], source: Source) -> bool:
    """Whether a parameter is among the tokens."""
    in_pattern = _pattern_places(tokens, source)
    return any(
        _is_named(tokens, index) or (token.token_type is TokenType.PLACEHOLDER and index not in in_pattern)
        for index, token in enumerate(tokens)
    )


def parameter_names(tokens: list[Token]) -> frozenset[str]:
    """The names of parameters `:name` among the tokens, in lower case."""
    return frozenset(tokens[index + 1].text.lower() for index in range(len(tokens)) if _is_named(tokens, index))


def bind(tokens: list[Token], source: Source, dialect: Dialect, literals: Literals) -> Bound:
    """Replace the parameters among the tokens. One without a value, or a value without one, is an error."""
    result: list[Token] = []
    texts: dict[int, tuple[int, str]] = {}
    named = {name.lower(): text for name, text in literals.named}
    used: set[str] = set()
    n_listed = 0
    in_pattern = _pattern_places(tokens, source)
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if _is_named(tokens, index):
            span = Span(token.start, tokens[index + 1].end + 1)
            name = tokens[index + 1].text
            if name.lower() not in named:
                raise _without_value(f":{name}", literals, source, span)
            used.add(name.lower())
            text = named[name.lower()]
            index += 2
        elif token.token_type is TokenType.PLACEHOLDER and index not in in_pattern:
            span = span_of(token)
            if n_listed == len(literals.listed):
                raise _without_value(f"? number {n_listed + 1}", literals, source, span)
            text = literals.listed[n_listed]
            n_listed += 1
            index += 1
        else:
            result.append(token)
            index += 1
            continue
        first = len(result)
        result += [
            Token(part.token_type, part.text, token.line, token.col, span.start, span.end - 1)
            for part in tokenize(Source(text), dialect)
        ]
        texts[first] = (len(result) - 1, text)
    unused = [f":{name}" for name, _ in literals.named if name.lower() not in used]
    unused += literals.names()[n_listed:] if literals.listed else []
    if unused:
        raise AnalysisError(
            "REX238", f"the query has no parameter for {unused[0]}", source, Span(0, min(1, len(source.text))),
            hint=f"write {unused[0].split()[0]} where the value belongs, or leave it out of args=",
            command_hint=f"write {unused[0].split()[0]} where the value belongs, or leave --arg out",
        )
    return Bound(result, texts)


def _is_named(tokens: list[Token], index: int) -> bool:
    if tokens[index].token_type is not TokenType.COLON or index + 1 == len(tokens):
        return False
    colon, name = tokens[index], tokens[index + 1]
    if name.start != colon.end + 1 or not re.fullmatch(r"[A-Za-z_]\w*", name.text) or not word(name):
        return False
    before = tokens[index - 1] if index else None
    if before is None or before.token_type in _NO_PARAMETER_AFTER:
        return before is None
    touches = before.end + 1 == colon.start
    return not (touches and (re.match(r"[\w)\]'\"`]", before.text[-1:] or "'") is not None or not word(before)))


def _pattern_places(tokens: list[Token], source: Source) -> set[int]:
    """Indices of tokens inside patterns."""
    places: set[int] = set()
    for index, token in enumerate(tokens):
        if word(token) != "PATTERN":
            continue
        place = index + 1
        while place < len(tokens) and word(tokens[place]) not in _ENDS_A_PATTERN:
            kind = tokens[place].token_type
            if kind is TokenType.R_PAREN:
                break
            end = closing(tokens, place, source) if kind is TokenType.L_PAREN else place
            places.update(range(place, end + 1))
            place = end + 1
    return places


def _without_value(name: str, literals: Literals, source: Source, span: Span) -> AnalysisError:
    known = ", ".join(literals.names())
    example = 'args={"' + name.removeprefix(":") + '": ...}' if name.startswith(":") else "args=[...]"
    is_named = name.startswith(":")
    option = f"--arg {name.removeprefix(':')}=VALUE" if is_named else "write :name instead, and give --arg name=VALUE"
    return AnalysisError(
        "REX238", f"parameter {name} has no value", source, span,
        hint=(f"args= has {known}; " if known else "") + f"pass it as {example}",
        command_hint=(f"there is a value for {known}; " if known else "") + option,
    )


def _literal(name: str, value: object, dialect_name: str, dialect: Dialect) -> str:
    """A value as SQL text of the dialect."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    match value:
        case None:
            return "NULL"
        case _ if type(value).__name__ in ("NAType", "NaTType"):  # what pandas has for NULL
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value) if value >= 0 else f"({value})"
        case Decimal() if value.is_finite():
            return f"{value:f}" if value >= 0 else f"({value:f})"
        case float() if not math.isfinite(value):
            return f"CAST('{'NaN' if math.isnan(value) else 'Infinity' if value > 0 else '-Infinity'}' AS DOUBLE)"
        case float():
            text = repr(value) if "e" in repr(value) else f"{value!r}e0"
            return text if math.copysign(1, value) > 0 else f"({text})"
        case str() | UUID():
            return exp.Literal.string(str(value)).sql(dialect=dialect)
        case datetime():
            has_own_type = value.tzinfo is not None and dialect_name in _HAS_TIMESTAMPTZ
            return f"{'TIMESTAMPTZ' if has_own_type else 'TIMESTAMP'} '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case time() if value.tzinfo is None:
            return f"TIME '{value.isoformat()}'"
        case timedelta() if value >= timedelta(0):
            if value % _SECOND:
                return f"INTERVAL '{value // timedelta(microseconds=1)}' MICROSECOND"
            return f"INTERVAL '{value // _SECOND}' SECOND"
        case bytes():
            return f"X'{value.hex()}'"
    raise _unfit(name, value, "a number, boolean, string, date, time, timestamp, interval of at least 0, bytes or None")


def _unfit(name: str, value: object, wanted: str) -> AnalysisError:
    return AnalysisError(
        "REX239", f"{name} is {value!r}, of type {type(value).__name__}", None, None, hint=f"expected {wanted}"
    )
