"""Who refers to whose segments: what a condition reads, what a sub-tree binds, and `needs` and `gives` from both."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Neither, Repeat, parts
from sparkrex.scalar.expression import Aggregate, Call, ClassifierAt, ColumnAt, Literal, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sparkrex.modes.segments.planner.logical import Logical
    from sparkrex.scalar.expression import Expression

NOTHING: frozenset[str] = frozenset()
_STRICT = (
    "eq", "ne", "lt", "le", "gt", "ge", "add", "subtract", "multiply", "divide", "integer_divide", "modulo", "negate",
    "abs", "not",
)
"""Operators that are NULL if an operand is."""


def variables_read(expression: Expression | None) -> frozenset[str]:
    """The variables whose segments an expression looks at."""
    found: set[str] = set()
    for node in walk(expression) if expression is not None else ():
        if isinstance(node, ColumnAt | ClassifierAt):
            found |= node.target.variables or NOTHING
        elif isinstance(node, Aggregate):
            found |= node.variables or NOTHING
    return frozenset(found)


def without_rows(expression: Expression, names: frozenset[str]) -> Expression:
    """The expression where these variables have no segment: columns and aggregates are NULL, a count is 0."""
    match expression:
        case ColumnAt(target) if names & (target.variables or NOTHING):
            return Literal(None, span=expression.span)
        case Aggregate(variables=variables) if names & (variables or NOTHING):
            return Literal(0 if expression.function == "count" else None, span=expression.span)
        case Call(function=function, operands=operands):
            inside = tuple(without_rows(operand, names) for operand in operands)
            if function in _STRICT and any(isinstance(one, Literal) and one.value is None for one in inside):
                return Literal(None, span=expression.span)
            return replace(expression, operands=inside)
        case _:
            return expression


def renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """The expression with variables called by other names."""

    def new(variables: frozenset[str] | None) -> frozenset[str] | None:
        return None if variables is None else frozenset(names.get(name, name) for name in variables)

    match expression:
        case ColumnAt(target):
            return replace(expression, target=replace(target, variables=new(target.variables)))
        case Aggregate(arguments=arguments, variables=variables):
            inside = tuple(renamed(argument, names) for argument in arguments)
            return replace(expression, arguments=inside, variables=new(variables))
        case Call(operands=operands):
            return replace(expression, operands=tuple(renamed(operand, names) for operand in operands))
        case _:
            return expression


def bound(node: Logical) -> frozenset[str]:
    """The variables that a match of this node binds, as its outside sees it."""
    match node:
        case Leaf(variables=variables):
            return frozenset(variables)
        case Neither():
            return NOTHING
        case _:
            return NOTHING.union(*map(bound, parts(node)))


def free(node: Logical) -> frozenset[str]:
    """The variables that conditions below refer to and nobody below binds."""
    match node:
        case Leaf(variables=variables, condition=condition):
            return variables_read(condition) - frozenset(variables)
        case Concat() | Both():
            inside = parts(node)
            return NOTHING.union(*map(free, inside)) - NOTHING.union(*map(bound, inside))
        case _:
            # Of the options of an Either only one is there: none refers to another.
            return NOTHING.union(*map(free, parts(node)))


def annotated(node: Logical, wanted: frozenset[str]) -> Logical:
    """The same tree with `needs` and `gives` as they are; `wanted` are the variables that the outside refers to.

    A wildcard that nobody refers to loses its name: it is any segment.
    """
    gives, needs = wanted & bound(node), free(node)
    match node:
        case Leaf(variables=variables, condition=condition):
            names = variables if condition is not None or gives else ()
            return replace(node, variables=names, needs=needs, gives=gives)
        case Concat(parts=inside) | Both(parts=inside):
            return replace(node, parts=_siblings(inside, wanted), needs=needs, gives=gives)
        case Either(parts=inside):
            return replace(node, parts=tuple(annotated(part, wanted) for part in inside), needs=needs, gives=gives)
        case Repeat(part=part):
            return replace(node, part=annotated(part, wanted), needs=needs, gives=gives)
        case Neither(part=part):
            return replace(node, part=annotated(part, NOTHING), needs=needs, gives=gives)
        case _:
            assert_never(node)


def _siblings(inside: Sequence[Logical], wanted: frozenset[str]) -> tuple[Logical, ...]:
    """Parts of one whole, each giving what its siblings refer to, too."""
    needs = [free(part) for part in inside]
    return tuple(annotated(part, wanted | others) for part, others in zip(inside, of_others(needs), strict=True))


def of_others(names: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """For each set of names those that are in any of the other sets."""
    in_all = NOTHING.union(*names)
    if not in_all:
        return [NOTHING] * len(names)
    counts = Counter(name for some in names for name in some)
    return [in_all.difference([name for name in some if counts[name] == 1]) for some in names]


def with_parts(node: Logical, change: Callable[[Logical], Logical]) -> Logical:
    """The node with every direct part changed; the node itself, if none was."""
    match node:
        case Leaf():
            return node
        case Repeat(part=part) | Neither(part=part):
            changed = change(part)
            return node if changed is part else replace(node, part=changed)
        case Concat(parts=inside) | Both(parts=inside) | Either(parts=inside):
            new = tuple(map(change, inside))
            return node if all(map(_is, new, inside)) else replace(node, parts=new)
        case _:
            assert_never(node)


def _is(left: object, right: object) -> bool:
    return left is right
