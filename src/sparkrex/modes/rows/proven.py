"""A plan after what can be proven of it: conditions that say less but mean the same, and a pattern without dead ways.

Each step keeps the matches and which of them is preferred, and has its proof in one line for EXPLAIN:

1. A reference to a row that always stands at the same distance from the row under test is one to that neighbour
   (`adjacent`), so that rows alone decide the condition.
2. A conjunct that the others imply is dropped (`simplify`).
3. A variable whose condition contradicts itself takes its ways through the pattern with it (`prune`). Not under SHOW
   TIMEOUT MATCHES: a beginning that waits for such a row does time out.

Conditions that can fail stay as they are: an error that a query would give is not to be lost, nor one be added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkrex.evaluate.facts import facts_of
from sparkrex.modes.plan import Definition, columns_of
from sparkrex.modes.rows.adjacent import name_adjacent_rows
from sparkrex.modes.rows.prune import prune_pattern
from sparkrex.modes.rows.simplify import drop_implied, find_unsatisfiable
from sparkrex.scalar.expression import Call, ColumnAt, is_volatile, walk
from sparkrex.scalar.guards import can_fail
from sparkrex.scalar.split import conjunction, conjuncts, is_row_condition

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.scalar.expression import Expression
    from sparkrex.scalar.prove import Facts
    from sparkrex.settings import Settings

_SCALED = ("multiply", "divide")


@dataclass(frozen=True, slots=True)
class Proven:
    """The plan that is left, and the proofs. `is_impossible`: there is no match, whatever the rows."""

    plan: MatchRecognize
    proofs: tuple[str, ...] = ()
    is_impossible: bool = False


def find_facts(plan: MatchRecognize, table: pa.Table, settings: Settings) -> Facts:
    """What a table shows of the columns that conditions read.

    Rows that come in chunks show nothing of those to come, so that only types and the setting `positive` count then.
    """
    used = columns_of(plan.tested())
    names = [name for name in table.column_names if name in used]
    scaled = {
        part.column
        for condition in plan.tested() for node in walk(condition)
        if isinstance(node, Call) and node.function in _SCALED
        for part in walk(node) if isinstance(part, ColumnAt)
    }
    whole = None if settings.chunk_rows is not None else table
    facts = facts_of(table.schema, whole, names, scaled)
    return replace(facts, positive=facts.positive | frozenset(settings.positive))


def apply_proofs(plan: MatchRecognize, facts: Facts) -> Proven:
    """The plan as it is left by proofs."""
    proofs: list[str] = []
    definitions: list[Definition] = []
    for definition in plan.definitions:
        near = _name_neighbours(plan, definition, proofs)
        simplified = drop_implied(near, facts)
        proofs += (f"{definition.variable} needs no second test: {why}" for why in simplified.proofs)
        if simplified.condition is not None:
            definitions.append(replace(definition, condition=simplified.condition))
    tested = [item for item in definitions if not can_fail(item.condition) and not is_volatile(item.condition)]
    impossible = {} if plan.timeout is not None else find_unsatisfiable(tested, facts)
    proofs += (f"no row is {variable}: {why}" for variable, why in impossible.items())
    pattern = prune_pattern(plan.pattern, impossible) if impossible else plan.pattern
    left = replace(plan, definitions=tuple(definitions))
    if pattern is None:
        return Proven(left, tuple(proofs), is_impossible=True)
    return Proven(replace(left, pattern=pattern), tuple(proofs))


def _name_neighbours(plan: MatchRecognize, definition: Definition, proofs: list[str]) -> Expression:
    """The condition with references at fixed distances named so, where rows then decide a conjunct."""
    parts: list[Expression] = []
    for part in conjuncts(definition.condition):
        near = part
        if not is_row_condition(part) and not can_fail(part) and not is_volatile(part):
            near = name_adjacent_rows(plan.pattern, (definition.variable,), part)
        if near != part and is_row_condition(near):
            proofs.append(f"rows decide {definition.variable}: {part} is always {near}")
            parts.append(near)
        else:
            parts.append(part)
    named = conjunction(parts)
    assert named is not None  # a condition has parts
    return replace(named, span=definition.condition.span)
