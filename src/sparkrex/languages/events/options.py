"""What a relation says of its stream.

    TIME column [TIE BREAK columns] [TYPE column] [TYPES (name AS condition, ...)] [TIES STRICT | TIES ORDER]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from sparkrex.errors import AnalysisError, ParseError
from sparkrex.languages.events.syntax import OptionsText, TypeItem
from sparkrex.syntax.items import Name
from sparkrex.syntax.scalar_text import parse_expression
from sparkrex.syntax.tokens import closing, is_quoted, span_of, word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot.dialects.dialect import Dialect

    from sparkrex.languages.events.clauses import Part
    from sparkrex.source import Source

HEADS = ("TIME", "TIE BREAK", "TYPE", "TYPES", "TIES")


def parse_options(
    parts: Mapping[str, Part], source: Source, dialect: Dialect, *, is_strict: bool = False
) -> OptionsText | None:
    """The options among the parts of a query, None if it has none. `is_strict` is what ties are without TIES."""
    given = [head for head in HEADS if head in parts]
    if not given:
        return None
    if "TIME" not in parts:
        raise ParseError(
            "REX107", f"{given[0]} needs TIME with it", source, parts[given[0]].span, hint="TIME column comes first"
        )
    kind = column_names(parts["TYPE"], source) if "TYPE" in parts else ()
    times = column_names(parts["TIME"], source)
    for head, names in (("TIME", times), ("TYPE", kind)):
        if len(names) > 1:
            raise ParseError(
                "REX107", f"{head} is one column", source, names[1].span,
                hint="TIE BREAK has the columns that order events of one time" if head == "TIME" else None,
            )
    return OptionsText(
        time=times[0],
        tie_break=column_names(parts["TIE BREAK"], source) if "TIE BREAK" in parts else (),
        type=kind[0] if kind else None,
        types=_types(parts["TYPES"], source, dialect) if "TYPES" in parts else (),
        has_strict_ties=_has_strict_ties(parts["TIES"], source) if "TIES" in parts else is_strict,
    )


def column_names(part: Part, source: Source) -> tuple[Name, ...]:
    """The body of a clause that lists columns."""
    items = part.items(source)
    for tokens in items:
        if len(tokens) != 1 or not (word(tokens[0]) or is_quoted(tokens[0], source)):
            at = span_of(tokens[0]).to(span_of(tokens[-1]))
            raise ParseError("REX107", f"{part.head} takes names of columns", source, at, hint=f"{part.head} column")
    return tuple(Name(tokens[0].text, span_of(tokens[0])) for tokens in items)


def _types(part: Part, source: Source, dialect: Dialect) -> tuple[TypeItem, ...]:
    usage = "TYPES (Alert AS kind = 'alert' AND level > 3, ...)"
    tokens = part.tokens
    opens = bool(tokens) and tokens[0].token_type is TokenType.L_PAREN
    if not opens or closing(tokens, 0, source) != len(tokens) - 1:
        raise ParseError("REX107", "TYPES is a list in parentheses", source, part.span, hint=usage)
    items: list[TypeItem] = []
    for item in part.inside().items(source):
        if len(item) < 3 or word(item[1]) != "AS":
            raise ParseError("REX107", "TYPES needs: name AS condition", source, span_of(item[0]), hint=usage)
        name = Name(item[0].text, span_of(item[0]))
        if name.text in [earlier.name.text for earlier in items]:
            raise AnalysisError("REX205", f"type {name.text} is given twice", source, name.span)
        items.append(TypeItem(name, parse_expression(item[2:], source, dialect, span_of(item[1]))))
    return tuple(items)


def _has_strict_ties(part: Part, source: Source) -> bool:
    words = [word(token) for token in part.tokens]
    if words not in (["STRICT"], ["ORDER"]):
        raise ParseError("REX107", "TIES is STRICT or ORDER", source, part.span, hint="TIES STRICT")
    return words == ["STRICT"]
