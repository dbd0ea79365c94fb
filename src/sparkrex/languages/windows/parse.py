"""The grammar of a window with a row pattern.

    window  = [PARTITION BY ...] [ORDER BY ...] [MEASURES ...] ROWS BETWEEN CURRENT ROW AND end
              [AFTER MATCH SKIP ...] [INITIAL | SEEK] PATTERN (...) [SUBSET ...] DEFINE ...
    end     = CURRENT ROW | n FOLLOWING | UNBOUNDED FOLLOWING

What its parts hold is read as in MATCH_RECOGNIZE. Behind the window, each after a semicolon, stand the calls over it,
as `claim` puts them there: the name of a column, and what was written before OVER.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, ParseError
from sparkrex.languages.match_recognize import traverse
from sparkrex.languages.match_recognize.parse import ClauseParser, Part, is_segment_definition
from sparkrex.languages.match_recognize.parse_pattern import parse_pattern
from sparkrex.languages.match_recognize.row_pattern import Anchor
from sparkrex.languages.match_recognize.syntax import Clause, DefinitionItem
from sparkrex.languages.windows.calls import SIGNS
from sparkrex.languages.windows.syntax import CallItem, PatternWindow
from sparkrex.modes.plan import RowsPerMatch
from sparkrex.source import Span
from sparkrex.syntax.items import Name, ScalarText
from sparkrex.syntax.scalar_text import parse_expression, row_pattern_function
from sparkrex.syntax.tokens import is_quoted, span_of, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.dialects.dialect import Dialect

    from sparkrex.source import Source
    from sparkrex.syntax.names import NameRules

_ORDER = (
    "PARTITION BY", "ORDER BY", "MEASURES", "ROWS BETWEEN CURRENT ROW AND", "AFTER MATCH", "PATTERN", "SUBSET",
    "DEFINE",
)
_FRAME = _ORDER[3]
_FRAME_HINT = "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING, or AND 5 FOLLOWING"
_BEHIND_A_COLUMN = ("", ",", ".", ")", "=", "ASC", "DESC", "AS")
_FOREIGN = {
    "ROWS PER MATCH": "a window gives each row a value, so it has no ROWS PER MATCH",
    "ALL MATCHES": "a window gives each row a value, so it has no ALL MATCHES",
    "WITHIN": "a window has no WITHIN: its frame bounds the match",
}


def parse_window(
    tokens: Sequence[Token], span: Span, source: Source, dialect: Dialect, rules: NameRules
) -> PatternWindow:
    """The window whose tokens are given, and the calls over it."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            parts.append([])
        else:
            parts[-1].append(token)
    return _WindowParser(source, dialect, rules, span).parse_window(parts[0], parts[1:])


class _WindowParser(ClauseParser):
    order: ClassVar[tuple[str, ...]] = _ORDER
    place: ClassVar[str] = "a window with a row pattern"
    code: ClassVar[str] = "REX110"

    def parse_window(self, tokens: list[Token], calls: list[list[Token]]) -> PatternWindow:
        """The window, checked for what it must have."""
        parts = {part.head: part for part in self._parts(tokens)}
        self._require(parts)
        pattern_span = self._pattern_span(parts["PATTERN"])
        quoted = [token.text for token in parts["PATTERN"].tokens if is_quoted(token, self.source)]
        self.rules = self.rules.spelling(quoted)
        pattern = parse_pattern(self.source, pattern_span, self.rules)
        definitions = self._definitions(parts["DEFINE"])
        rows = Clause(
            partition_by=self._partition_by(parts.get("PARTITION BY")), order_by=self._order_by(parts.get("ORDER BY")),
            measures=self._measures(parts.get("MEASURES")), rows_per_match=RowsPerMatch.ONE, rows_span=None,
            skip=self._skip(parts.get("AFTER MATCH")), pattern=pattern, pattern_span=pattern_span, within=None,
            subsets=self._subsets(parts.get("SUBSET")), definitions=definitions, span=self.span,
        )
        self._check_pattern(rows)
        self._refuse_in_expressions(rows)
        frame = parts[_FRAME]
        end, is_current = self._frame_end(frame)
        head = self.source.text[parts["PATTERN"].span.start :][:4].upper()
        return PatternWindow(
            rows, end, is_current, head == "SEEK", frame.span.to(frame.after()), tuple(map(self._call, calls))
        )

    def _require(self, parts: dict[str, Part]) -> None:
        if "PATTERN" not in parts:
            head = next(name for name in ("MEASURES", "AFTER MATCH", "SUBSET", "DEFINE", *_ORDER) if name in parts)
            raise ParseError(
                "REX110", f"{head} needs a row pattern: this window has no PATTERN", self.source, parts[head].span,
                hint=f"{_FRAME} UNBOUNDED FOLLOWING PATTERN (A B+) DEFINE B AS ...",
            )
        if _FRAME not in parts:
            raise ParseError(
                "REX232", "PATTERN needs a frame: which rows a match may reach", self.source, parts["PATTERN"].span,
                hint=f"{_FRAME_HINT}, in front of PATTERN and AFTER MATCH",
            )
        if "DEFINE" not in parts:
            raise ParseError(
                "REX110", "PATTERN in a window needs DEFINE", self.source, parts["PATTERN"].span,
                hint="DEFINE A AS condition; variables without a condition are any row",
            )

    def _definitions(self, part: Part | None) -> tuple[DefinitionItem, ...]:
        for tokens in [] if part is None else self._items(part):
            if is_segment_definition(tokens):
                raise ParseError(
                    "REX110", "a window has no segment variables: its pattern is made of rows", self.source,
                    span_of(tokens[0]), hint="DEFINE SEGMENT belongs to MATCH_RECOGNIZE",
                )
        return super()._definitions(part)

    def _head(self, tokens: list[Token], index: int) -> tuple[str, int] | None:
        words = [word(token) for token in tokens[index : index + 3]] + [""] * 3
        before = word(tokens[index - 1]) if index else ""
        is_target = before in ("FIRST", "LAST") and index > 1 and word(tokens[index - 2]) in ("TO", "SKIP TO")
        if not is_target and before not in ("AS", ".", ",", "PARTITION BY", "ORDER BY", "BY", "SKIP TO", "TO"):
            if words[0] in ("INITIAL", "SEEK") and words[1] == "PATTERN":
                return "PATTERN", 2
            if words[0] in ("INITIAL", "SEEK") and (words[1] in SIGNS or index + 1 == len(tokens)):
                at = tokens[min(index + 1, len(tokens) - 1)]
                raise ParseError(
                    "REX110", f"{words[0]} must come directly before PATTERN", self.source, span_of(at),
                    hint=f"{words[0]} PATTERN (A B+)",
                )
            if words[0] in ("ROWS", "RANGE", "GROUPS") and words[1] not in _BEHIND_A_COLUMN:
                return _FRAME, self._frame_head(tokens, index)
        if words[0] == "PATTERN" and before in ("INITIAL", "SEEK"):
            return None
        found = super()._head(tokens, index)
        if found is not None and found[0] in _FOREIGN:
            end = min(index + 1, len(tokens) - 1) if found[0] != "WITHIN" else index
            raise ParseError(
                "REX110", _FOREIGN[found[0]], self.source, span_of(tokens[index]).to(span_of(tokens[end])),
                hint="leave it out; MATCH_RECOGNIZE in FROM has it",
            )
        return found

    def _frame_head(self, tokens: list[Token], index: int) -> int:
        """How many tokens `ROWS BETWEEN CURRENT ROW AND` has."""
        words = [word(token) for token in tokens[index : index + 5]] + [""] * 5
        at = span_of(tokens[index])
        last = span_of(tokens[min(index + 3, len(tokens) - 1)])
        if words[0] != "ROWS":
            raise ParseError(
                "REX232", f"the frame of a row pattern is in rows, not in {words[0]}", self.source, at,
                hint=_FRAME_HINT,
            )
        if words[1] != "BETWEEN":
            raise ParseError(
                "REX232", "the frame of a row pattern needs BETWEEN", self.source,
                at.to(span_of(tokens[min(index + 1, len(tokens) - 1)])), hint=_FRAME_HINT,
            )
        if words[2:4] != ["CURRENT", "ROW"]:
            raise ParseError(
                "REX232", "the frame of a row pattern starts at CURRENT ROW", self.source,
                span_of(tokens[min(index + 2, len(tokens) - 1)]).to(last), hint=_FRAME_HINT,
            )
        if words[4] != "AND":
            raise ParseError("REX232", "the frame has no end", self.source, at.to(last), hint=_FRAME_HINT)
        return 5

    def _frame_end(self, part: Part) -> tuple[ScalarText | None, bool]:
        """How far the frame goes: an expression or None, and whether it ends at the current row."""
        tokens = part.tokens
        words = [word(token) for token in tokens]
        excluded = next((i for i, name in enumerate(words) if name == "EXCLUDE" and i and words[i - 1] in (
            "ROW", "FOLLOWING",
        )), None)
        if excluded is not None:
            raise ParseError(
                "REX110", "the frame of a row pattern has no EXCLUDE", self.source,
                span_of(tokens[excluded]).to(span_of(tokens[-1])), hint="leave it out",
            )
        if words == ["CURRENT", "ROW"]:
            return None, True
        if words == ["UNBOUNDED", "FOLLOWING"]:
            return None, False
        if len(tokens) < 2 or words[-1] != "FOLLOWING":
            at = span_of(tokens[0]).to(span_of(tokens[-1])) if tokens else part.span
            raise ParseError(
                "REX232", "the frame of a row pattern ends at CURRENT ROW, n FOLLOWING or UNBOUNDED FOLLOWING",
                self.source, at, hint=_FRAME_HINT,
            )
        return self._expression(tokens[:-1], part.span, "ROWS"), False

    def _check_pattern(self, rows: Clause) -> None:
        for node in traverse.walk(rows.pattern):
            if isinstance(node, Anchor):
                raise AnalysisError(
                    "REX103", f"{node} has no meaning in a window: a match is searched in the frame of each row",
                    self.source, node.span, hint="leave it out; MATCH_RECOGNIZE in FROM has it",
                )
        if traverse.speaks_of_segments(rows.pattern):
            raise AnalysisError(
                "REX110", "a window has no segments: its pattern is made of rows", self.source, rows.pattern_span,
                hint="ALL MATCHES in MATCH_RECOGNIZE searches for segments",
            )

    def _refuse_in_expressions(self, rows: Clause) -> None:
        """What no measure and no condition of a window may hold."""
        names = {*traverse.variables(rows.pattern), *(item.name.text for item in rows.subsets)}
        texts = [item.expression for item in rows.measures] + [item.condition for item in rows.definitions]
        for text in texts:
            for node in text.tree.walk():
                if isinstance(node, exp.Window) and node.find_ancestor(exp.Query) is None:
                    raise AnalysisError(
                        "REX235", "a window function cannot stand in MEASURES or DEFINE", self.source,
                        self._called_at(node, text.span),
                        hint="compute it in a subquery: FROM (SELECT *, f(x) OVER v AS y FROM t)",
                    )
                if isinstance(node, exp.Column) and node.find_ancestor(exp.Query) is not None and self.rules.fold(
                    node.table, is_quoted=False
                ) in names:
                    place = node.args["table"].meta
                    raise AnalysisError(
                        "REX207", "a subquery in a window cannot read pattern variables", self.source,
                        Span(place["start"], place["end"] + 1) if "start" in place else text.span,
                        hint="compare with the subquery's value outside of it: B.x < (SELECT max(x) FROM u)",
                    )
                if row_pattern_function(node) == "MATCH_NUMBER":
                    written = self.source.text[text.span.start : text.span.end].upper()
                    start = text.span.start + max(0, written.find("MATCH_NUMBER"))
                    raise AnalysisError(
                        "REX207", "MATCH_NUMBER() has no meaning in a window: each row has a match of its own",
                        self.source, Span(start, start + len("MATCH_NUMBER")),
                        hint="row_number() over a plain window numbers rows",
                    )

    def _called_at(self, node: exp.Expr, around: Span) -> Span:
        """Where the name of a function stands: in front of the first of its parts that sqlglot knows the place of."""
        starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
        start = min(starts, default=around.start)
        before = re.search(r"\w+\s*\(\s*\Z", self.source.text[around.start : start])
        return Span(start if before is None else around.start + before.start(), around.end)

    def _call(self, tokens: list[Token]) -> CallItem:
        column, called = tokens[0], tokens[1:]
        span = span_of(called[0]).to(span_of(called[-1]))
        if len(called) == 1:
            return CallItem(column.text, Name(called[0].text, span), None, span)
        function = parse_expression(called, self.source, self.dialect, span)
        return CallItem(column.text, None, function, span)
