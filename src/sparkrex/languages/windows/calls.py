"""The windows of a query, those with a row pattern among them, and what is called over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, ParseError, nearest
from sparkrex.languages.windows.aggregates import enclosing_aggregate
from sparkrex.languages.windows.outline import CLOSERS, OPENERS, Query, depths, find_select, split_at_commas
from sparkrex.source import Source, Span
from sparkrex.syntax.tokens import closing, is_quoted, span_of, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SIGNS = ("MEASURES", "AFTER", "INITIAL", "SEEK", "PATTERN", "SUBSET", "DEFINE")
"""Words that begin a part of a window which only row patterns have."""
_PLAIN_HEADS = (
    "PARTITION BY", "PARTITION", "ORDER BY", "ORDER", "ROWS", "RANGE", "GROUPS", "SORT BY", "DISTRIBUTE BY",
    "CLUSTER BY", "",
)
_FRAMES = ("ROWS", "RANGE", "GROUPS")
_BEHIND_A_CALL = (
    "FROM", "WHERE", "GROUP BY", "HAVING", "WINDOW", "QUALIFY", "ORDER BY", "LIMIT", "AS", "AND", "OR", ",", ")", "+",
    "-", "*", "/", "=", "<", ">",
)
"""What cannot be the name of a window."""
_CALLED_IN = ("SELECT", "ORDER BY", "QUALIFY")
_WITHOUT_FRAME = (
    "ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD",
)


@dataclass(frozen=True, eq=False, slots=True)
class Window:
    """A window: `spec` is what stands between its parentheses, `sign` the first word of a row pattern there, if any.

    `base` is the name of the window that it extends, `definition` what stands in the WINDOW clause; None for a window
    that stands in OVER. One that says the same in the same words as one before is that window: `same`.
    """

    name: str | None
    spec: range
    definition: range | None
    sign: int | None
    base: int | None
    same: Window | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """`called OVER window`: from its first to its last token. `name` is there for a measure, alone before OVER."""

    first: int
    last: int
    over: int
    window: Window
    name: int | None


def pattern_sign(tokens: Sequence[Token], spec: range) -> int | None:
    """The first token in a window that begins a part of a row pattern."""
    for index, depth in depths(tokens, spec):
        if depth or word(tokens[index]) not in SIGNS:
            continue
        following = [word(token) for token in tokens[index + 1 : min(index + 4, spec.stop)]] + [""] * 3
        match word(tokens[index]):
            case "MEASURES":
                is_sign = index + 1 < spec.stop and following[0] not in (",", ".", "=", ")", "ASC", "DESC")
            case "AFTER":
                is_sign = following[0] == "MATCH"
            case "INITIAL" | "SEEK":
                is_sign = following[0] in ("PATTERN", "") or following[0] in SIGNS
            case "PATTERN":
                is_sign = following[0] == "("
            case "SUBSET":
                is_sign = following[1] == "="
            case _:
                is_sign = "AS" in following[1:]
        before = word(tokens[index - 1])
        if is_sign and before not in (".", ",", "PARTITION BY", "ORDER BY", "BY"):
            return index
    return None


def window_around(tokens: Sequence[Token], sign: int, source: Source) -> range | None:
    """The window in whose parentheses a token stands directly; None if it stands elsewhere."""
    depth = 0
    for index in range(sign - 1, 0, -1):
        kind = tokens[index].token_type
        depth += (kind in CLOSERS) - (kind in OPENERS)
        if depth < 0:
            before = word(tokens[index - 1])
            is_named = before == "AS" and index >= 3 and word(tokens[index - 3]) in ("WINDOW", ",")
            if kind is not TokenType.L_PAREN or not (before == "OVER" or is_named):
                return None
            return range(index + 1, closing(tokens, index, source))
    return None


def find_windows(tokens: Sequence[Token], query: Query, source: Source) -> list[Window]:
    """All windows of a query, in the order in which they stand."""
    found: list[Window] = []
    for places in split_at_commas(tokens, query.clause("WINDOW")):
        if len(places) < 4 or word(tokens[places.start + 1]) != "AS" or word(tokens[places.start + 2]) != "(":
            at = tokens[places.start] if places else tokens[query.heads["WINDOW"]]
            raise ParseError(
                "REX110", "WINDOW needs: name AS (...)", source, span_of(at), hint="WINDOW w AS (PARTITION BY k)",
            )
        spec = range(places.start + 3, closing(tokens, places.start + 2, source))
        if spec.stop + 1 < places.stop:
            rest = tokens[spec.stop + 1]
            raise ParseError(
                "REX101", f"{rest.text} cannot stand behind the definition of a window", source, span_of(rest),
                hint="WHERE, GROUP BY and HAVING come before WINDOW; QUALIFY, ORDER BY and LIMIT behind it",
            )
        name = tokens[places.start].text.lower()
        if any(window.name == name for window in found):
            raise AnalysisError(
                "REX236", f"window {tokens[places.start].text} is defined twice", source,
                span_of(tokens[places.start]),
            )
        found.append(_window(tokens, name, spec, places))
    found += [
        _window(tokens, None, range(over + 2, closing(tokens, over + 1, source)), None)
        for over in overs(tokens, query) if over < query.last and word(tokens[over + 1]) == "("
    ]
    known: dict[tuple[str, ...], Window] = {}
    result = []
    for window in sorted(found, key=lambda one: one.spec.start):
        same = None
        if window.definition is None and window.sign is not None:
            words = tuple(source.text[tokens[i].start : tokens[i].end + 1] for i in window.spec)
            same = known.get(words)
            known.setdefault(words, window)
        result.append(window if same is None else replace(window, same=same))
    return result


def _window(tokens: Sequence[Token], name: str | None, spec: range, definition: range | None) -> Window:
    sign = pattern_sign(tokens, spec)
    has_base = bool(spec) and spec.start != sign and word(tokens[spec.start]) not in _PLAIN_HEADS[:-1]
    return Window(name, spec, definition, sign, spec.start if has_base else None)


def overs(tokens: Sequence[Token], query: Query) -> Iterator[int]:
    """Every OVER of the query itself, not of queries inside it."""
    for index in range(query.first, query.last):
        if word(tokens[index]) == "OVER" and find_select(tokens, index) == query.first:
            yield index


def base_parts(
    tokens: Sequence[Token], window: Window, windows: Sequence[Window], source: Source
) -> list[range]:
    """What a window has of those that it extends: PARTITION BY and ORDER BY, outermost base first."""
    parts: list[range] = []
    seen = {window.name} - {None}
    partitions, orders = _keys(tokens, window)
    current = window
    while current.base is not None:
        token = tokens[current.base]
        name = token.text.lower()
        base = next((one for one in windows if one.name == name), None)
        if base is None or name in seen:
            names = [one.name for one in windows if one.name is not None and one is not window]
            raise AnalysisError(
                "REX236", f"window {token.text} is not defined" if base is None else f"window {token.text} extends "
                "itself", source, span_of(token),
                hint=nearest(token.text, names) or "WINDOW w AS (PARTITION BY ... ORDER BY ...) defines one",
            )
        seen.add(name)
        if base.sign is not None or any(
            depth == 0 and word(tokens[index]) in _FRAMES for index, depth in depths(tokens, base.spec)
        ):
            raise AnalysisError(
                "REX236", f"window {token.text} has a frame, so no other window can extend it", source, span_of(token),
                hint=f"call over it as it is: OVER {token.text}; or move what they share into a window without frame",
            )
        if partitions is not None:
            raise AnalysisError(
                "REX236", f"PARTITION BY cannot be given again: this window extends {token.text}", source,
                span_of(tokens[partitions]), hint=f"PARTITION BY belongs to {token.text}",
            )
        base_partition, base_order = _keys(tokens, base)
        if orders is not None and base_order is not None:
            raise AnalysisError(
                "REX236", f"ORDER BY is given twice: window {token.text} has one", source, span_of(tokens[orders]),
                hint="leave one of them out",
            )
        partitions, orders = base_partition, base_order if orders is None else orders
        own = range(base.spec.start + (base.base is not None), base.spec.stop)
        parts.insert(0, own)
        current = base
    return [part for part in parts if part]


def _keys(tokens: Sequence[Token], window: Window) -> tuple[int | None, int | None]:
    """Where PARTITION BY and ORDER BY stand in a window."""
    end = window.spec.stop if window.sign is None else window.sign
    heads = {
        word(tokens[index]).split(" ")[0]: index
        for index, depth in depths(tokens, range(window.spec.start, end)) if depth == 0
    }
    return heads.get("PARTITION"), heads.get("ORDER")


def find_calls(tokens: Sequence[Token], query: Query, windows: Sequence[Window], source: Source) -> list[Call]:
    """The calls over windows with a row pattern, checked; and measures called over others refused."""
    named = {window.name: window for window in windows if window.name is not None}
    inline = {window.spec.start: window.same or window for window in windows if window.definition is None}
    ranges: list[tuple[int, int]] = []
    calls = []
    for window in windows:
        base = None if window.base is None else named.get(tokens[window.base].text.lower())
        if window.sign is not None or (base is not None and base.sign is not None):
            base_parts(tokens, window, windows, source)  # says what cannot be extended
    for over in overs(tokens, query):
        if over == query.last or word(tokens[over + 1]) in _BEHIND_A_CALL:
            raise ParseError(
                "REX110", "OVER needs a window", source, span_of(tokens[over]),
                hint="OVER w, or OVER (ORDER BY ts ...)",
            )
        called: Window | None
        if word(tokens[over + 1]) == "(":
            called = inline.get(over + 2)
            last = closing(tokens, over + 1, source)
        else:
            called, last = named.get(tokens[over + 1].text.lower()), over + 1
            if over + 2 <= query.last and tokens[over + 2].token_type is TokenType.DOT:
                raise ParseError(
                    "REX110", "the name of a window has no qualifier", source,
                    span_of(tokens[over + 1]).to(span_of(tokens[min(over + 3, query.last)])),
                )
        first, name = _called(tokens, over, source)
        ranges.append((first, last))
        if called is None or called.sign is None:
            if name is not None:
                raise _no_measures(tokens, over, name, windows, source)
            continue
        calls.append(Call(first, last, over, called, name))
    for call in calls:
        _check_place(tokens, call, query, ranges, source)
        if call.name is None:
            _check_function(tokens, call, source)
    return calls


def _called(tokens: Sequence[Token], over: int, source: Source) -> tuple[int, int | None]:
    """The first token of what is called, and its name if it is a measure."""
    index = over - 1
    if word(tokens[index]) in ("IGNORE NULLS", "RESPECT NULLS"):
        index -= 1
    elif word(tokens[index]) == "NULLS" and word(tokens[index - 1]) in ("IGNORE", "RESPECT"):
        index -= 2
    if tokens[index].token_type is not TokenType.R_PAREN:
        is_name = index == over - 1 and (is_quoted(tokens[index], source) or word(tokens[index]).isidentifier())
        if not is_name or word(tokens[index]) in ("SELECT", "BY", "END", "AND", "OR", "NOT"):
            raise ParseError(
                "REX110", "a measure or a function call is missing before OVER", source, span_of(tokens[over]),
                hint="measure OVER w, or sum(x) OVER w",
            )
        if tokens[index - 1].token_type is TokenType.DOT:
            raise ParseError(
                "REX234", "a measure has no qualifier", source, span_of(tokens[index - 2]).to(span_of(tokens[index])),
                hint=f"{tokens[index].text} OVER {tokens[over + 1].text}",
            )
        return index, index
    while True:
        opening = _opening(tokens, index)
        if opening > 1 and word(tokens[opening - 1]) in ("FILTER", "WITHIN GROUP"):
            index = opening - 2
        elif opening > 2 and [word(token) for token in tokens[opening - 2 : opening]] == ["WITHIN", "GROUP"]:
            index = opening - 3
        else:
            break
    index = opening - 1
    while index > 1 and tokens[index - 1].token_type is TokenType.DOT:
        index -= 2
    return index, None


def _opening(tokens: Sequence[Token], close: int) -> int:
    depth = 0
    for index in range(close, -1, -1):
        kind = tokens[index].token_type
        depth += (kind is TokenType.R_PAREN) - (kind is TokenType.L_PAREN)
        if depth == 0:
            return index
    return 0


def _no_measures(
    tokens: Sequence[Token], over: int, name: int, windows: Sequence[Window], source: Source
) -> AnalysisError:
    """A name before OVER, and no window with a row pattern behind it."""
    following = tokens[over + 1]
    known = [window.name for window in windows if window.name is not None]
    if word(following) != "(" and following.text.lower() not in known:
        return AnalysisError(
            "REX236", f"window {following.text} is not defined", source, span_of(following),
            hint=nearest(following.text, known) or "WINDOW w AS (... MEASURES ... PATTERN (...) DEFINE ...)",
        )
    return AnalysisError(
        "REX234", f"the window has no measure {tokens[name].text}: it has no row pattern", source,
        span_of(tokens[name]), hint="a function needs parentheses: f(x) OVER w; a measure is defined by MEASURES",
    )


def _check_place(
    tokens: Sequence[Token], call: Call, query: Query, ranges: Sequence[tuple[int, int]], source: Source
) -> None:
    """Calls stand where window functions may, and not in each other."""
    span = Span(tokens[call.first].start, tokens[call.last].end + 1)
    if any(
        first <= call.first and call.last <= last and (first, last) != (call.first, call.last)
        for first, last in ranges
    ):
        raise AnalysisError(
            "REX235", "a call over a window cannot be nested in another one", source, span,
            hint="compute the inner one in a subquery: FROM (SELECT ..., m OVER w AS m FROM t WINDOW ...)",
        )
    aggregate = enclosing_aggregate(tokens, call.first)
    if aggregate is not None:
        raise AnalysisError(
            "REX235", f"a call over a window cannot be an argument of {tokens[aggregate].text}", source, span,
            hint="select the call in a subquery, and aggregate around it",
        )
    clause = query.clause_of(call.first)
    if clause == "WINDOW":
        raise AnalysisError(
            "REX235", "a window cannot be defined by calls over windows", source, span,
            hint="compute the call in a subquery first",
        )
    if clause not in _CALLED_IN or (clause == "ORDER BY" and query.is_operand):
        place = "ORDER BY of a set operation" if clause == "ORDER BY" else clause
        where = "FROM (JOIN ... ON)" if clause == "FROM" else place
        raise AnalysisError(
            "REX235", f"a call over a window is not allowed in {where}", source, span,
            hint="it may stand in the SELECT list, in ORDER BY and in QUALIFY; for WHERE, select it in a subquery",
        )


def _check_function(tokens: Sequence[Token], call: Call, source: Source) -> None:
    """Functions that take no frame have nothing to do with rows of a match."""
    name = word(tokens[call.first])
    if name in _WITHOUT_FRAME and word(tokens[call.first + 1]) == "(":
        raise AnalysisError(
            "REX233", f"{name.lower()} takes no frame, so it cannot be called over a window with a row pattern",
            source, span_of(tokens[call.first]),
            hint="aggregates, first_value, last_value and nth_value can; MEASURES PREV(...) or NEXT(...) navigate",
        )
