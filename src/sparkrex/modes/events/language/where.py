"""WHERE: `strategy(variables) { conjuncts }`.

Conjuncts are separated by AND outside parentheses, CASE and BETWEEN: the block is read as one expression and taken
apart afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, ParseError, nearest
from sparkrex.languages.events.conjuncts import refuse_commas, take_apart
from sparkrex.modes.events.language.references import rewrite_references
from sparkrex.modes.events.language.syntax import StrategyText
from sparkrex.modes.events.plan import Strategy
from sparkrex.syntax.items import Name
from sparkrex.syntax.scalar_text import parse_expression
from sparkrex.syntax.tokens import closing, span_of, word

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import Dialect

    from sparkrex.modes.events.language.references import Variables
    from sparkrex.source import Source, Span
    from sparkrex.syntax.items import ScalarText

_STRATEGIES = {strategy.value: strategy for strategy in Strategy}


def parse_where(
    tokens: list[Token], head: Span, source: Source, dialect: Dialect, variables: Variables
) -> tuple[StrategyText, tuple[Name, ...], tuple[ScalarText, ...]]:
    """Strategy, attributes of equivalence tests, other conjuncts. `head` is where WHERE stands."""
    strategy = _strategy(tokens, head, source, variables)
    rest = tokens[closing(tokens, 1, source) + 1 :]
    if not rest:
        return strategy, (), ()
    if rest[0].token_type is not TokenType.L_BRACE:
        usage = _usage(variables, strategy.strategy.value)
        if word(rest[0]) == "AND" and len(rest) > 1:
            written = " ".join(source.text[rest[1].start : rest[-1].end + 1].split())
            raise ParseError(
                "REX107", "conditions are written in braces after the strategy", source, span_of(rest[0]),
                hint=f"{usage} {{ {written} }}",
            )
        raise ParseError(
            "REX107", f"unexpected {rest[0].text} after the strategy", source, span_of(rest[0]),
            hint=f"{usage} {{ ... }}",
        )
    end = _closing_brace(rest, source)
    if end + 1 < len(rest):
        extra = rest[end + 1]
        raise ParseError("REX107", f"unexpected {extra.text} after the conditions", source, span_of(extra))
    if end == 1:
        return strategy, (), ()
    refuse_commas(rest[1:end], source)
    rewritten = rewrite_references(rest[1:end], source, variables)
    text = parse_expression(rewritten, source, dialect, span_of(rest[0]))
    return strategy, *take_apart(text, source, "match")


def _closing_brace(tokens: list[Token], source: Source) -> int:
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_BRACE) - (token.token_type is TokenType.R_BRACE)
        if depth == 0:
            return index
    raise ParseError("REX107", "this brace is never closed", source, span_of(tokens[0]))


def _strategy(tokens: list[Token], head: Span, source: Source, variables: Variables) -> StrategyText:
    if not tokens:
        raise missing_strategy(source, head, variables)
    name = word(tokens[0]).lower()
    is_call = len(tokens) > 1 and tokens[1].token_type is TokenType.L_PAREN
    if name not in _STRATEGIES or not is_call:
        is_long_name = tokens[0].token_type is TokenType.VAR and len(name) > 8
        meant = nearest(name, _STRATEGIES) if is_long_name else None
        if meant is not None and not is_call:
            strategy = meant.removeprefix("did you mean ").removesuffix("?")
            problem = "lists its variables in parentheses" if name in _STRATEGIES else "is not a selection strategy"
            usage = _usage(variables, strategy)
            raise AnalysisError(
                "REX223", f"{tokens[0].text} {problem}", source, span_of(tokens[0]),
                hint=usage if name in _STRATEGIES else f"did you mean {usage}?",
            )
        if is_call and tokens[0].token_type is TokenType.VAR and "." not in name:
            raise AnalysisError(
                "REX223", f"{tokens[0].text} is not a selection strategy", source, span_of(tokens[0]),
                hint=nearest(name, _STRATEGIES) or f"one of {', '.join(_STRATEGIES)}",
            )
        raise missing_strategy(source, span_of(tokens[0]), variables)
    end = closing(tokens, 1, source)
    names: list[Name] = []
    position = 2
    while position < end:
        token = tokens[position]
        component = variables.find(token, source)
        position += 1
        has_brackets = [word(part) for part in tokens[position : position + 2]] == ["[", "]"]
        if has_brackets:
            position += 2
        if component is None:
            raise AnalysisError(
                "REX223", f"{token.text} is not a variable of the pattern", source, span_of(token),
                hint=nearest(token.text, variables.names()) or f"variables: {', '.join(variables.names())}",
            )
        if has_brackets and not component.is_array:
            raise AnalysisError(
                "REX224", f"{component.variable.text} is a single event, not an array", source,
                span_of(token).to(span_of(tokens[position - 1])), hint=f"write {component.variable.text}",
            )
        if component.variable.text in [earlier.text for earlier in names]:
            raise AnalysisError("REX205", f"{component.variable.text} is listed twice", source, span_of(token))
        names.append(Name(component.variable.text, span_of(token)))
        if position < end and tokens[position].token_type is not TokenType.COMMA:
            raise ParseError(
                "REX107", f"expected a comma, found {tokens[position].text}", source, span_of(tokens[position]),
                hint=_usage(variables, name),
            )
        position += 1
    span = span_of(tokens[0]).to(span_of(tokens[end]))
    return StrategyText(_STRATEGIES[name], span_of(tokens[0]), tuple(names), span)


def missing_strategy(source: Source, span: Span, variables: Variables) -> AnalysisError:
    """The error of a query that does not say which events a match may pass over."""
    return AnalysisError(
        "REX223", "a selection strategy is missing", source, span,
        hint=f"WHERE {_usage(variables, Strategy.NEXT.value)} {{ ... }}; strategies: {', '.join(_STRATEGIES)}",
    )


def _usage(variables: Variables, strategy: str) -> str:
    listed = ", ".join(
        part.variable.text + ("[]" if part.is_repeated else "")
        for part in variables.components.values() if not part.is_negated
    )
    return f"{strategy}({listed})"
