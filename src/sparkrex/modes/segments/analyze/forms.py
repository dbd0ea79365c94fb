"""A written pattern becomes a segment pattern: zero repetitions expanded, then junctions decided.

Zero repetitions are the neutral element of concatenation, so a chain with parts that may be left out is the alternation
of all its choices: `P1 S? P2` is `P1 S P2 | P1 P2`. Definition 2.1 is asked afterwards, of the two neighbours in the
choice: they share a row as soon as one holds a segment variable. A group in parentheses is one operand: what it leaves
out is expanded inside it, and it holds a segment variable if any of its choices does. No segment is empty, so `&` and
`~` take the rest of their operands: `S* & W` is `S+ & W`, `~(S*)` is `~(S+)`, and neither can be left out itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from typing import TYPE_CHECKING, assert_never

from sparkrex.errors import AnalysisError, ParseError, UnsupportedError
from sparkrex.languages.match_recognize import row_pattern as rp
from sparkrex.modes.segments import pattern as sp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sparkrex.languages.match_recognize.row_pattern import RowPattern
    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.source import Source, Span

MOST_CHOICES = 1_000
"""How many alternatives one chain may unfold to."""
MOST_NODES = 20_000
"""How large an unfolded pattern may be."""
MOST_PARTS = 300
"""How many parts one And or one chain may have: plans are as deep, and Python's stack holds no more by default."""


@dataclass(frozen=True, slots=True)
class _Form:
    """What a pattern matches: some rows as `some` says (None: never any) and, if `may_be_empty`, none at all."""

    some: SegmentPattern | None
    may_be_empty: bool
    size: int


def segment_form(pattern: RowPattern, is_segment: Callable[[str], bool], source: Source) -> SegmentPattern:
    """The segments that the pattern matches; `is_segment` tells the variables apart."""
    found = _Former(is_segment, source).form(pattern).some
    if found is None:
        raise ParseError(
            "REX103", "this pattern matches no rows, and no empty segment is returned", source, pattern.span
        )
    return found


def check_parts(pattern: SegmentPattern, source: Source) -> None:
    """Refuse an And or a chain of more than `MOST_PARTS` parts; one in parentheses is part of the one around it."""
    for node in walk(pattern):
        if isinstance(node, sp.And | sp.Concatenation):
            n_parts = _flat_parts(node)
            if n_parts > MOST_PARTS:
                kind, hint = (
                    ("an And", "write conditions on the same segment into one variable, joined by AND")
                    if isinstance(node, sp.And) else ("a chain", "repeat a variable by {n}, or search for a part of it")
                )
                raise ParseError(
                    "REX106", f"the pattern is too large: {kind} of {n_parts:,} parts; there may be {MOST_PARTS}",
                    source, node.span or node.items[0].span, hint=hint,
                )


def _flat_parts(node: sp.And | sp.Concatenation) -> int:
    return sum(
        _flat_parts(item) if isinstance(item, sp.And | sp.Concatenation) and type(item) is type(node) else 1
        for item in node.items
    )


def walk(pattern: SegmentPattern) -> Iterator[SegmentPattern]:
    """The pattern and all its parts, parents first, left to right."""
    pending = [pattern]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(sp.children(node)))


def holds_segment_variable(pattern: SegmentPattern) -> bool:
    """Whether a segment variable occurs, which is what Definition 2.1 asks of an operand."""
    return any(isinstance(node, sp.SegmentVariable) for node in walk(pattern))


class _Former:
    def __init__(self, is_segment: Callable[[str], bool], source: Source) -> None:
        self.is_segment = is_segment
        self.source = source

    def form(self, node: RowPattern) -> _Form:
        match node:
            case rp.Variable(name):
                kind = sp.SegmentVariable if self.is_segment(name) else sp.PointVariable
                return _Form(kind(name, span=node.span), False, 1)
            case rp.Empty():
                return _Form(None, True, 0)
            case rp.Concatenation(items):
                return self._chain([self.form(item) for item in items], node.span)
            case rp.Alternation(options):
                return self._choice([self.form(option) for option in options], node.span)
            case rp.Permutation(items):
                return self._permutation([self.form(item) for item in items], node.span)
            case rp.Quantified():
                return self._repetition(self.form(node.body), node)
            case rp.Conjunction(items):
                parts = [self._require_rows(item, "&") for item in items]
                whole = sp.And(tuple(part for part, _ in parts), span=node.span)
                return _Form(whole, False, 1 + sum(size for _, size in parts))
            case rp.Negation(body):
                part, size = self._require_rows(body, "~")
                return _Form(sp.Not(part, span=node.span), False, 1 + size)
            case rp.Anchor(kind):
                raise UnsupportedError(
                    "REX301", f"{kind.value} in a segment query is not supported yet", self.source, node.span
                )
            case rp.Exclusion():
                raise AnalysisError(
                    "REX221", "a segment query has no exclusion: it gives one row per match", self.source, node.span,
                    hint="leave {- and -} out",
                )
            case _:
                assert_never(node)

    def _require_rows(self, node: RowPattern, operator: str) -> tuple[SegmentPattern, int]:
        """An operand of `&` or `~`, which match rows."""
        form = self.form(node)
        if form.some is None:
            raise ParseError("REX103", f"{operator} needs a pattern that matches rows", self.source, node.span)
        return form.some, form.size

    def _chain(self, forms: Sequence[_Form], span: Span | None) -> _Form:
        """The forms one after the other, in every choice of those that may be left out; the fullest choice first."""
        present = [form for form in forms if form.some is not None]
        n_choices = 2 ** sum(form.may_be_empty for form in present)
        self._check(n_choices, sum(form.size for form in present) * n_choices, span)
        keeps = product(*((True, False) if form.may_be_empty else (True,) for form in present))
        choices: dict[SegmentPattern, int] = {}
        for keep in keeps:
            kept = [form for form, is_kept in zip(present, keep, strict=True) if is_kept]
            if kept:
                choices[_join_items([form.some for form in kept if form.some is not None], span)] = 1 + sum(
                    form.size for form in kept
                )
        may_be_empty = all(form.may_be_empty for form in present)
        if not choices:
            return _Form(None, True, 0)
        return _Form(_either(list(choices), span), may_be_empty, 1 + sum(choices.values()))

    def _choice(self, forms: Sequence[_Form], span: Span | None) -> _Form:
        options = [form.some for form in forms if form.some is not None]
        size = 1 + sum(form.size for form in forms)
        self._check(len(options), size, span)
        may_be_empty = any(form.may_be_empty for form in forms)
        return _Form(_either(options, span) if options else None, may_be_empty, size)

    def _permutation(self, forms: Sequence[_Form], span: Span | None) -> _Form:
        n_orders = math.factorial(len(forms))
        self._check(n_orders, n_orders * sum(form.size for form in forms), span)
        return self._choice([self._chain(order, span) for order in permutations(forms)], span)

    def _repetition(self, body: _Form, node: rp.Quantified) -> _Form:
        """Iterations that match no rows fill up what a body that may be empty lacks to its minimum."""
        may_be_empty = body.may_be_empty or node.minimum == 0
        if body.some is None or node.maximum == 1:
            return _Form(body.some, may_be_empty, body.size)
        minimum = 1 if body.may_be_empty else max(1, node.minimum)
        shares = holds_segment_variable(body.some)
        return _Form(sp.Kleene(body.some, minimum, node.maximum, shares, span=node.span), may_be_empty, 1 + body.size)

    def _check(self, n_choices: int, size: int, span: Span | None) -> None:
        if n_choices > MOST_CHOICES or size > MOST_NODES:
            raise ParseError(
                "REX106", f"the pattern is too large: its optional parts unfold to {n_choices:,} alternatives",
                self.source, span, hint="fewer of ?, *, {0,n} and PERMUTE in one chain, or a segment variable for them",
            )


def _join_items(items: Sequence[SegmentPattern], span: Span | None) -> SegmentPattern:
    if len(items) == 1:
        return items[0]
    holds = [holds_segment_variable(item) for item in items]
    shares = tuple(left or right for left, right in pairwise(holds))
    return sp.Concatenation(tuple(items), shares, span=span)


def _either(options: Sequence[SegmentPattern], span: Span | None) -> SegmentPattern:
    """One of the options, each once; an option that is an alternation gives its own."""
    flat: dict[SegmentPattern, None] = {}
    for option in options:
        flat.update(dict.fromkeys(option.options if isinstance(option, sp.Alternation) else (option,)))
    return next(iter(flat)) if len(flat) == 1 else sp.Alternation(tuple(flat), span=span)
