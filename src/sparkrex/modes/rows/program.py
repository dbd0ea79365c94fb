"""A row pattern as a small program.

Instructions hold explicit successors, so there are no jumps: `MATCH v` tests a row against variable v and goes on,
`SPLIT` tries its first successor and, if that fails, its second; `START` and `END` are anchors; `ACCEPT` ends
a path. A path's preference is the order in which a depth-first search tries it, which is the standard's preferment.

An iteration that matches no row, once the minimum is reached, is the last one (ISO/IEC 19075-5, section 7.2.8). So the
compiler works backwards with two continuations for every node: where to go on if no row was matched since the innermost
iteration began, and where if some was. A repetition gives its exit as the first and its next round as the second, so no
instruction has to remember where an iteration began. Where both are the same, nothing is duplicated.

PERMUTE of parts that match in one way only is compiled by the set of parts still to come, so n variables cost n 2^n
instructions, not n!. Where a part with a choice comes first, the orders of the rest are written out (`permute`), and
orders that end alike share their ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from itertools import permutations
from typing import TYPE_CHECKING, assert_never

import numpy as np

from sparkrex.errors import ParseError
from sparkrex.languages.match_recognize import traverse
from sparkrex.languages.match_recognize.row_pattern import (
    Alternation,
    Anchor,
    AnchorKind,
    Concatenation,
    Conjunction,
    Empty,
    Exclusion,
    Negation,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
)
from sparkrex.modes.rows.permute import MOST_ORDERS, count_orders, has_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.source import Source

LARGEST_PROGRAM = 2_000_000


class Op(IntEnum):
    """Operations of a program."""

    ACCEPT = 0
    MATCH = 1
    SPLIT = 2
    START = 3
    END = 4


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """One entry per instruction: operation, variable (for MATCH), whether its row is excluded, both successors.

    Labels of mapped rows are `2 * variable + excluded`.
    """

    variables: tuple[str, ...]
    operation: NDArray[np.int8]
    variable: NDArray[np.int32]
    is_excluded: NDArray[np.bool_]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    entry: int

    def __len__(self) -> int:
        return len(self.operation)

    def dump(self) -> str:
        """The program as text, one instruction a line, in the order of a depth-first walk from the entry."""
        numbers: dict[int, int] = {}
        pending = [self.entry]
        while pending:
            position = pending.pop()
            if position in numbers:
                continue
            numbers[position] = len(numbers)
            operation = Op(self.operation[position])
            if operation is Op.SPLIT:
                pending += [int(self.second[position]), int(self.first[position])]
            elif operation is not Op.ACCEPT:
                pending.append(int(self.first[position]))
        lines = []
        for position, number in numbers.items():
            operation = Op(self.operation[position])
            text = f"{number}: {operation.name.lower()}"
            if operation is Op.MATCH:
                text += f" {self.variables[self.variable[position]]}"
                text += " excluded" if self.is_excluded[position] else ""
            if operation is Op.SPLIT:
                text += f" {numbers[int(self.first[position])]}, {numbers[int(self.second[position])]}"
            elif operation is not Op.ACCEPT:
                text += f" -> {numbers[int(self.first[position])]}"
            lines.append(text)
        return "\n".join(lines)


def compile_pattern(pattern: RowPattern, source: Source, variables: tuple[str, ...] | None = None) -> Program:
    """The program of a pattern. `variables` are those that have numbers; a part of a pattern has not all of them."""
    compiler = _Compiler(traverse.variables(pattern) if variables is None else variables, source)
    accept = compiler.emit(Op.ACCEPT)
    entry = compiler.compile(pattern, accept, accept, False)
    return Program(
        compiler.variables,
        np.array(compiler.operation, np.int8),
        np.array(compiler.variable, np.int32),
        np.array(compiler.excluded, np.bool_),
        np.array(compiler.first, np.int32),
        np.array(compiler.second, np.int32),
        entry,
    )


class _Compiler:
    def __init__(self, variables: tuple[str, ...], source: Source) -> None:
        self.variables = variables
        self.number = {name: number for number, name in enumerate(variables)}
        self.source = source
        self.operation: list[int] = []
        self.variable: list[int] = []
        self.excluded: list[bool] = []
        self.first: list[int] = []
        self.second: list[int] = []

    def emit(self, operation: Op, first: int = 0, second: int = 0, variable: int = 0, excluded: bool = False) -> int:
        self.operation.append(operation)
        self.first.append(first)
        self.second.append(second)
        self.variable.append(variable)
        self.excluded.append(excluded)
        return len(self.operation) - 1

    def compile(self, node: RowPattern, if_empty: int, if_some: int, excluded: bool) -> int:
        """Entry of the node's code; it goes on at one of the two continuations."""
        if len(self.operation) > LARGEST_PROGRAM:
            raise ParseError(
                "REX106", "the pattern is too large: its quantifiers unfold to millions of steps", self.source,
                node.span,
                hint="lower the bounds of the quantifiers, or count in DEFINE",
            )
        match node:
            case Variable(name):
                return self.emit(Op.MATCH, if_some, variable=self.number[name], excluded=excluded)
            case Empty():
                return if_empty
            case Anchor(kind):
                return self.emit(Op.START if kind is AnchorKind.START else Op.END, if_empty)
            case Exclusion(body):
                return self.compile(body, if_empty, if_some, True)
            case Concatenation(items):
                return self._concatenation(items, if_empty, if_some, excluded)
            case Alternation(options):
                entry = self.compile(options[-1], if_empty, if_some, excluded)
                for option in reversed(options[:-1]):
                    entry = self.emit(Op.SPLIT, self.compile(option, if_empty, if_some, excluded), entry)
                return entry
            case Permutation():
                return self._permutation(node, if_empty, if_some, excluded)
            case Quantified():
                return self._compile_quantified(node, if_empty, if_some, excluded)
            case Conjunction() | Negation():
                raise ValueError("segment patterns have no program of rows")
            case _:
                assert_never(node)

    def _concatenation(
        self, items: tuple[RowPattern, ...], if_empty: int, if_some: int, excluded: bool
    ) -> int:
        # From the right: the rest's entry when nothing, and when something, was matched before it.
        nothing_before, some_before = if_empty, if_some
        for item in reversed(items):
            after_nothing, after_some = nothing_before, some_before
            some_before = self.compile(item, after_some, after_some, excluded)
            if after_nothing == after_some:
                nothing_before = some_before
            else:
                nothing_before = self.compile(item, after_nothing, after_some, excluded)
        return nothing_before

    def _permutation(self, node: Permutation, if_empty: int, if_some: int, excluded: bool) -> int:
        """All orders in order of preference; see `permute` for which of them share what follows a part."""
        items = node.items
        n_orders = count_orders(items)
        if n_orders > MOST_ORDERS:
            raise ParseError(
                "REX106",
                f"the pattern is too large: PERMUTE of {len(items)} parts, of which {sum(map(has_choice, items))} can "
                f"match in several ways, has {n_orders:,} orders to try, more than {MOST_ORDERS:,}",
                self.source, node.span,
                hint="permute fewer parts with quantifiers or |, or write the orders you want as alternatives; "
                "plain variables are no such parts",
            )
        is_split = if_empty != if_some
        ordered: dict[tuple[tuple[int, ...], bool], int] = {}
        unordered: dict[tuple[tuple[int, ...], bool], int] = {}

        def in_order(order: tuple[int, ...], matched: bool) -> int:
            if not order:
                return if_some if matched else if_empty
            key = (order, matched or not is_split)
            if key not in ordered:
                after_some = in_order(order[1:], True)
                after_nothing = after_some if key[1] else in_order(order[1:], False)
                ordered[key] = self.compile(items[order[0]], after_nothing, after_some, excluded)
            return ordered[key]

        def in_any_order(remaining: tuple[int, ...], matched: bool) -> int:
            key = (remaining, matched or not is_split)
            if key not in unordered:
                choices = []
                for place, part in enumerate(remaining):
                    rest = remaining[:place] + remaining[place + 1 :]
                    if part in remaining[:place]:
                        continue  # an equal part was tried in its place
                    if len(rest) <= 1 or has_choice(items[part]):
                        orders = dict.fromkeys(permutations(rest))
                        choices += [in_order((part, *order), matched) for order in orders]
                    else:
                        after_some = in_any_order(rest, True)
                        after_nothing = after_some if key[1] else in_any_order(rest, False)
                        choices.append(self.compile(items[part], after_nothing, after_some, excluded))
                result = choices[-1]
                for choice in reversed(choices[:-1]):
                    result = self.emit(Op.SPLIT, choice, result)
                unordered[key] = result
            return unordered[key]

        # Equal parts have one number, so that equal orders are tried once.
        return in_any_order(tuple(items.index(item) for item in items), False)

    def _compile_quantified(self, node: Quantified, if_empty: int, if_some: int, excluded: bool) -> int:
        """Stages from the last iteration backwards: an endless loop or the optional iterations, then the required ones.

        Every stage has two entries: one when something was matched since the enclosing repetition began, one when
        nothing was. Without an enclosing one they are the same.
        """
        is_split = if_empty != if_some

        def choice(body: int, leave: int) -> int:
            return self.emit(Op.SPLIT, body, leave) if node.is_greedy else self.emit(Op.SPLIT, leave, body)

        if node.maximum is None:
            after_some = self.emit(Op.SPLIT)  # its successors are known once the body is compiled
            body = self.compile(node.body, if_some, after_some, excluded)
            self.first[after_some], self.second[after_some] = (body, if_some) if node.is_greedy else (if_some, body)
            after_nothing = after_some
            if is_split:
                after_nothing = choice(self.compile(node.body, if_empty, after_some, excluded), if_empty)
        else:
            after_nothing, after_some = if_empty, if_some
            for _ in range(node.maximum - node.minimum):
                following = after_some
                after_some = choice(self.compile(node.body, if_some, following, excluded), if_some)
                after_nothing = after_some
                if is_split:
                    after_nothing = choice(self.compile(node.body, if_empty, following, excluded), if_empty)
        for iteration in range(node.minimum, 0, -1):
            # The iteration that reaches the minimum leaves the repetition if it matches empty.
            is_last = iteration == node.minimum
            following, empty_after_some = after_some, if_some if is_last else after_some
            empty_after_nothing = if_empty if is_last else after_nothing
            after_some = self.compile(node.body, empty_after_some, following, excluded)
            after_nothing = after_some
            if is_split:
                after_nothing = self.compile(node.body, empty_after_nothing, following, excluded)
        return after_nothing
