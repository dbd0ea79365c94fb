"""What the rules for plain queries ask of a search: who refers to whom, what comes before what, new names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkrex.modes.segments import pattern as sp
from sparkrex.modes.segments.rewrite.text import window_text
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, Literal, Semantics, aggregates, references

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentDefinition, SegmentSearch
    from sparkrex.scalar.expression import Expression


@dataclass(frozen=True, slots=True)
class Mention:
    """A reference to the rows of `variables` (None: of all) by a variable's condition, or by a measure (None)."""

    by: str | None
    variables: frozenset[str] | None
    node: ColumnAt | Aggregate

    @property
    def is_final(self) -> bool:
        """Whether it sees all of the rows."""
        node = self.node
        return (node.target.semantics if isinstance(node, ColumnAt) else node.semantics) is Semantics.FINAL

    @property
    def is_of_a_stretch(self) -> bool:
        """Whether it would read a segment just so: a row of it, or all of it."""
        return not self.node.target.shift if isinstance(self.node, ColumnAt) else not reads_pairs(self.node)

    @property
    def is_of_its_own_row(self) -> bool:
        """Whether a condition reads the row under test, or one at a fixed distance from it."""
        return self.by is not None and self.variables == frozenset((self.by,)) and self.is_final


def mentions(search: SegmentSearch) -> Iterator[Mention]:
    """All references of conditions and measures."""
    expressions: list[tuple[str | None, Expression]] = [
        (definition.variable, definition.condition)
        for definition in search.definitions if definition.condition is not None
    ]
    expressions += [(None, measure.expression) for measure in search.measures]
    for by, expression in expressions:
        for node in references(expression):
            if isinstance(node, ColumnAt):
                yield Mention(by, node.target.variables, node)
        for aggregate in aggregates(expression):
            yield Mention(by, aggregate.variables, aggregate)


def reads_pairs(aggregate: Aggregate) -> bool:
    """Whether the arguments themselves say whose rows they read."""
    return any(part.target.variables for argument in aggregate.arguments for part in references(argument))


def is_referenced(search: SegmentSearch, name: str) -> bool:
    """Whether a condition or a measure refers to the variable, or to a union that has it."""
    return name in search.measured or any(name in (mention.variables or ()) for mention in mentions(search))


def is_always_true(definition: SegmentDefinition) -> bool:
    """Whether any row, or any segment, satisfies the variable."""
    condition = definition.condition
    return not definition.windows and (condition is None or condition == Literal(True))


def conjuncts(condition: Expression | None) -> list[Expression]:
    """The parts of a condition that must all hold."""
    if isinstance(condition, Call) and condition.function == "and":
        return [part for operand in condition.operands for part in conjuncts(operand)]
    return [] if condition is None else [condition]


def variables_of(pattern: SegmentPattern) -> frozenset[str]:
    """All variables in a pattern."""
    if isinstance(pattern, sp.PointVariable | sp.SegmentVariable):
        return frozenset((pattern.name,))
    return frozenset[str]().union(*map(variables_of, sp.children(pattern)))


def comes_before(pattern: SegmentPattern, rows: frozenset[str], by: str) -> bool:
    """Whether every match maps all rows of `rows` before the first row of `by`, if it has any of both.

    Then what is RUNNING to `by` is FINAL.
    """
    names = variables_of(pattern)
    if not names & rows or by not in names:
        return True
    match pattern:
        case sp.Concatenation(items):
            has_rows = [bool(variables_of(item) & rows) for item in items]
            has_by = [by in variables_of(item) for item in items]
            if any(has_by[: len(has_rows) - 1 - has_rows[::-1].index(True)]):
                # Something of `by` is before the last of `rows`, unless it is in the very same item.
                return False
            return all(comes_before(item, rows, by) for item in items)
        case sp.Alternation(options):
            return all(comes_before(option, rows, by) for option in options)
        case sp.And(items):
            both = [item for item in items if variables_of(item) & (rows | {by})]
            return len(both) == 1 and comes_before(both[0], rows, by)
        case _:
            return False


def with_pattern(pattern: SegmentPattern, change: Callable[[SegmentPattern], SegmentPattern]) -> SegmentPattern:
    """The pattern with its direct parts changed; itself, if none was."""
    inside = sp.children(pattern)
    new = tuple(map(change, inside))
    if all(one is other for one, other in zip(new, inside, strict=True)):
        return pattern
    match pattern:
        case sp.Concatenation() | sp.And():
            return replace(pattern, items=new)
        case sp.Alternation():
            return replace(pattern, options=new)
        case sp.Kleene() | sp.Not():
            return replace(pattern, body=new[0])
        case _:
            return pattern


def chain(items: tuple[SegmentPattern, ...], shares: tuple[bool, ...]) -> SegmentPattern:
    """A concatenation, or the only item."""
    return items[0] if len(items) == 1 else sp.Concatenation(items, shares)


def links(pattern: SegmentPattern) -> tuple[tuple[SegmentPattern, ...], tuple[bool, ...]]:
    """The items of a concatenation and how they meet; any other pattern is one item."""
    return (pattern.items, pattern.shares) if isinstance(pattern, sp.Concatenation) else ((pattern,), ())


def new_name(search: SegmentSearch, base: str) -> str:
    """A name that no variable or union has: as in the paper, the old one doubled."""
    taken = {definition.variable for definition in search.definitions} | {one.name for one in search.subsets}
    candidates = [base * 2, *(f"{base * 2}_{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in candidates if name not in taken)


def referring_anew(
    search: SegmentSearch, old: frozenset[str], new: str, is_meant: Callable[[Mention], bool]
) -> SegmentSearch:
    """The search with references to the rows of `old` made to the whole segment of `new`, where `is_meant` says so."""

    def change(expression: Expression, by: str | None) -> Expression:
        match expression:
            case ColumnAt(target) if target.variables == old and is_meant(Mention(by, old, expression)):
                return replace(
                    expression, target=replace(target, variables=frozenset((new,)), semantics=Semantics.FINAL)
                )
            case Aggregate(variables=variables) if variables == old and not reads_pairs(expression):
                if not is_meant(Mention(by, old, expression)):
                    return expression
                return replace(expression, variables=frozenset((new,)), semantics=Semantics.FINAL)
            case Call(operands=operands):
                return replace(expression, operands=tuple(change(operand, by) for operand in operands))
            case _:
                return expression

    definitions = tuple(
        one if one.condition is None else replace(one, condition=change(one.condition, one.variable))
        for one in search.definitions
    )
    measures = tuple(replace(one, expression=change(one.expression, None)) for one in search.measures)
    unions = {subset.name: subset.variables for subset in search.subsets}
    measured = tuple(
        new if unions.get(name, frozenset((name,))) == old else name for name in search.measured
    )
    return replace(
        search, definitions=definitions, measures=measures, measured=tuple(dict.fromkeys(measured))
    )


def defining(search: SegmentSearch, *definitions: SegmentDefinition) -> SegmentSearch:
    """The search with definitions added, or put in the place of those of the same variables; unused ones dropped."""
    new = {definition.variable: definition for definition in definitions}
    kept = [new.pop(one.variable, one) for one in search.definitions]
    used = variables_of(search.pattern)
    return replace(search, definitions=tuple(one for one in (*kept, *new.values()) if one.variable in used))


def definition_texts(search: SegmentSearch) -> list[str]:
    """What is defined: `SEGMENT S AS condition`. Rows that may be any are left out."""
    defined = []
    for one in search.definitions:
        texts = [f"window({window_text(window)})" for window in one.windows]
        texts += [str(part) for part in conjuncts(one.condition)]
        if texts or one.is_segment:
            defined.append(f"{'SEGMENT ' * one.is_segment}{one.variable} AS {' AND '.join(texts) or 'true'}")
    return defined


def search_text(search: SegmentSearch) -> str:
    """The pattern and what is defined, on one line."""
    defined = definition_texts(search)
    text = f"PATTERN ({search.pattern})" + (f" DEFINE {', '.join(defined)}" if defined else "")
    return text + (f", then {search.rows_after} row(s) more" if search.rows_after else "")
