"""Quantifiers of patterns: `*`, `+`, `?`, `{n}`, `{n,}`, `{,m}` and `{n,m}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.errors import ParseError

if TYPE_CHECKING:
    from sparkrex.syntax.pattern_reader import PatternReader

_SHORT: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_FORMS = "{n}, {n,}, {,m} or {n,m}"


@dataclass(frozen=True, slots=True)
class Wording:
    """How a grammar words errors about quantifiers: what they apply to, and a brace that is not closed."""

    quantified: str
    unclosed: str
    unclosed_hint: str | None


ROW_PATTERN = Wording("element", "expected } to close {", None)
EVENT_PATTERN = Wording("component", "expected }", _FORMS)


def stands_at_quantifier(reader: PatternReader) -> bool:
    """Whether a quantifier begins here."""
    return reader.kind == "symbol" and (reader.text in _SHORT or reader.text == "{")


def read_quantifier(reader: PatternReader, wording: Wording) -> tuple[int, int | None]:
    """Minimum and maximum of the quantifier that stands here."""
    start = reader.span
    bounds = _SHORT.get(reader.text)
    reader.advance()
    if bounds is not None:
        return bounds
    lower = reader.accept_number()
    upper = lower
    if reader.accept(","):
        upper = reader.accept_number()  # {,} is {0,}
    elif lower is None:
        raise reader.error("a quantifier in braces needs a number", hint=_FORMS)
    if not reader.accept("}"):
        raise reader.error(f"{wording.unclosed}, found {reader.text!r}", hint=wording.unclosed_hint)
    minimum = lower or 0
    if upper is not None and upper < max(1, minimum):
        reason = "the upper bound is zero" if upper == 0 else "the upper bound is below the lower one"
        raise ParseError(
            "REX105", f"this quantifier allows nothing: {reason}", reader.source, reader.since(start),
            hint=f"leave the {wording.quantified} out" if upper == 0 else f"did you mean {{{upper},{minimum}}}?",
        )
    return minimum, upper
