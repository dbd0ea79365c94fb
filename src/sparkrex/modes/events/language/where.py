"""WHERE: `strategy(variables) { conjuncts }`.

Without a strategy, skip_till_any_match is meant, and the braces may be left out.

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
    if not tokens:
        usage = f"WHERE {_usage(variables)} {{ ... }}"
        raise ParseError("REX107", "WHERE holds no condition", source, head, hint=usage)
    if _names_strategy(tokens, source, variables):
        strategy = _strategy(tokens, source, variables)
        rest = tokens[closing(tokens, 1, source) + 1 :]
        if rest and rest[0].token_type is not TokenType.L_BRACE:
            raise _without_braces(rest, source, _usage(variables, strategy.strategy.value))
    else:
        strategy, rest = every_match(head, variables), tokens
    if rest and rest[0].token_type is TokenType.L_BRACE:
        rest = _inside_braces(rest, source)
    if not rest:
        return strategy, (), ()
    refuse_commas(rest, source)
    rewritten = rewrite_references(rest, source, variables)
    text = parse_expression(rewritten, source, dialect, span_of(rest[0]))
    return strategy, *take_apart(text, source, "match")


def every_match(span: Span, variables: Variables) -> StrategyText:
    """What is meant without a strategy; `span` is where it could stand."""
    names = tuple(Name(part.variable.text, span) for part in variables.components.values() if not part.is_negated)
    return StrategyText(Strategy.ANY, span, names, span)


def _without_braces(rest: list[Token], source: Source, usage: str) -> ParseError:
    if word(rest[0]) == "AND" and len(rest) > 1:
        written = " ".join(source.text[rest[1].start : rest[-1].end + 1].split())
        return ParseError(
            "REX107", "conditions are written in braces after the strategy", source, span_of(rest[0]),
            hint=f"{usage} {{ {written} }}",
        )
    return ParseError(
        "REX107", f"unexpected {rest[0].text} after the strategy", source, span_of(rest[0]), hint=f"{usage} {{ ... }}"
    )


def _inside_braces(tokens: list[Token], source: Source) -> list[Token]:
    end = _closing_brace(tokens, source)
    if end + 1 < len(tokens):
        extra = tokens[end + 1]
        raise ParseError("REX107", f"unexpected {extra.text} after the conditions", source, span_of(extra))
    return tokens[1:end]


def _closing_brace(tokens: list[Token], source: Source) -> int:
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_BRACE) - (token.token_type is TokenType.R_BRACE)
        if depth == 0:
            return index
    raise ParseError("REX107", "this brace is never closed", source, span_of(tokens[0]))


def _names_strategy(tokens: list[Token], source: Source, variables: Variables) -> bool:
    """Whether a strategy stands first. What can only be meant for one is refused; other words begin a condition."""
    first, name = tokens[0], word(tokens[0]).lower()
    is_call = len(tokens) > 1 and tokens[1].token_type is TokenType.L_PAREN
    if name in _STRATEGIES and is_call:
        return True
    is_long_name = first.token_type is TokenType.VAR and len(name) > 8
    if name not in _STRATEGIES and not is_call and tokens[1:] and tokens[1].token_type is not TokenType.L_BRACE:
        return False
    meant = nearest(name, _STRATEGIES) if is_long_name else None
    if meant is not None and not is_call:
        strategy = meant.removeprefix("did you mean ").removesuffix("?")
        problem = "lists its variables in parentheses" if name in _STRATEGIES else "is not a selection strategy"
        usage = _usage(variables, strategy)
        raise AnalysisError(
            "REX223", f"{first.text} {problem}", source, span_of(first),
            hint=usage if name in _STRATEGIES else f"did you mean {usage}?",
        )
    if meant is None and is_call and first.token_type is TokenType.VAR:
        # A function of a condition has something behind it, but never braces.
        rest = tokens[closing(tokens, 1, source) + 1 :]
        is_call = not rest or rest[0].token_type is TokenType.L_BRACE
    if is_call and first.token_type is TokenType.VAR:
        raise AnalysisError(
            "REX223", f"{first.text} is not a selection strategy", source, span_of(first),
            hint=meant or f"one of {', '.join(_STRATEGIES)}",
        )
    return False


def _strategy(tokens: list[Token], source: Source, variables: Variables) -> StrategyText:
    name = word(tokens[0]).lower()
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


def _usage(variables: Variables, strategy: str = Strategy.NEXT.value) -> str:
    listed = ", ".join(
        part.variable.text + ("[]" if part.is_repeated else "")
        for part in variables.components.values() if not part.is_negated
    )
    return f"{strategy}({listed})"
