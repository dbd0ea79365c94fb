"""Row patterns and names as SQL text, for EXPLAIN, errors and test failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from sparkrex.languages.match_recognize import row_pattern as rp
from sparkrex.syntax.names import quote_name

if TYPE_CHECKING:
    from sparkrex.languages.match_recognize.row_pattern import Quantified, RowPattern

def pattern_text(pattern: RowPattern) -> str:
    """The pattern as it could stand in PATTERN (...)."""
    match pattern:
        case rp.Variable(name):
            return quote_name(name)
        case rp.Concatenation(items):
            return " ".join(
                f"({item})" if isinstance(item, _LOOSE) else str(item) for item in items
            )
        case rp.Alternation(options):
            return " | ".join(
                f"({option})" if isinstance(option, rp.Alternation) else str(option) for option in options
            )
        case rp.Quantified():
            body = str(pattern.body)
            if isinstance(pattern.body, _LOOSE | rp.Quantified | rp.Negation):
                body = f"({body})"
            return body + quantifier_text(pattern)
        case rp.Conjunction(items):
            return " & ".join(f"({item})" if isinstance(item, _LOOSE) else str(item) for item in items)
        case rp.Negation(body):
            return f"~({body})" if isinstance(body, _LOOSE) else f"~{body}"
        case rp.Permutation(items):
            return f"PERMUTE({', '.join(map(str, items))})"
        case rp.Exclusion(body):
            return f"{{- {body} -}}"
        case rp.Anchor(kind):
            return str(kind.value)
        case rp.Empty():
            return "()"
        case _:
            assert_never(pattern)


def quantifier_text(pattern: Quantified) -> str:
    """`*`, `+?`, `{2,5}` ... of a quantified pattern."""
    bounds = (pattern.minimum, pattern.maximum)
    if bounds in _SHORT:
        text = _SHORT[bounds]
    elif pattern.minimum == pattern.maximum:
        text = f"{{{pattern.minimum}}}"
    else:
        text = f"{{{pattern.minimum},{'' if pattern.maximum is None else pattern.maximum}}}"
    return text if pattern.is_greedy else text + "?"


# What binds more loosely than quantifiers and ~. In a concatenation `&` could do without parentheses, a reader not.
_LOOSE = rp.Concatenation | rp.Alternation | rp.Conjunction
_SHORT: dict[tuple[int, int | None], str] = {(0, None): "*", (1, None): "+", (0, 1): "?"}
