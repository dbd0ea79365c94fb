"""Reads logical trees as EXPLAIN writes them, for the examples of rules.

`((A[2..5 rows] = *)[t ..9] & B), B reads A, A is measured`: capital letters are segment variables with a condition of
their own (`last(A.x) > 1`, `last(B.x) > 2`; of one that reads another, `last(B.x) > last(A.x)`); `*` is any segment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.modes.segments import building as b

from sparkrex.modes.segments.pattern import Window
from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Neither, Repeat
from sparkrex.modes.segments.planner.references import annotated

if TYPE_CHECKING:
    from sparkrex.modes.segments.planner.logical import Logical

_TOKEN = re.compile(r"\s*(\[[^\]]*\]|\{\d+,\d*\}[=>]|[A-Z]|[()*~=>&|])")
_WINDOW = re.compile(r"(?:(?P<column>\w+) )?(?P<low>\d*)\.\.(?P<high>\d*)(?: rows)?")


def read_logical(text: str) -> Logical:
    """The tree of a text, annotated as the planner would."""
    tree, *clauses = text.split(", ") if "], " not in text else re.split(r"(?<=[\])A-Z]), ", text)
    reads = dict(clause.split(" reads ") for clause in clauses if " reads " in clause)
    measured = frozenset(clause.split()[0] for clause in clauses if clause.endswith(" is measured"))
    assert len(reads) + len(measured) == len(clauses), text
    reader = _Reader([match[1] for match in _TOKEN.finditer(tree)], reads)
    found = reader.operand()
    assert not reader.tokens, f"{tree}: {reader.tokens} is left"
    return annotated(found, measured)


@dataclass
class _Reader:
    tokens: list[str]
    reads: dict[str, str]

    def operand(self) -> Logical:
        """A tree with what follows it: a quantifier and windows."""
        node = self._primary()
        while self.tokens and self.tokens[0][0] in "[{":
            token = self.tokens.pop(0)
            if token[0] == "[":
                node = replace(node, windows=tuple(_window(part) for part in token[1:-1].split(", ")))
            else:
                low, high = token[1:-2].split(",")
                node = Repeat(node, int(low), int(high) if high else None, token[-1] == "=")
        return node

    def _primary(self) -> Logical:
        token = self.tokens.pop(0)
        if token == "*":
            return Leaf((), None, False)
        if token == "~":
            return Neither(self.operand())
        if token != "(":
            right = b.last(self.reads[token], "x") if token in self.reads else ord(token) - 64
            return Leaf((token,), b.call("gt", b.last(token, "x"), right), False)
        inside, joints = [self.operand()], []
        while (joint := self.tokens.pop(0)) != ")":
            joints.append(joint)
            inside.append(self.operand())
        if set(joints) <= {"=", ">"}:
            return Concat(tuple(inside), tuple(joint == "=" for joint in joints))
        assert len(set(joints)) == 1, joints
        return Both(tuple(inside)) if joints[0] == "&" else Either(tuple(inside))


def _window(text: str) -> Window:
    match = _WINDOW.fullmatch(text)
    assert match is not None, text
    return Window(
        match["column"], int(match["low"]) if match["low"] else None, int(match["high"]) if match["high"] else None
    )
