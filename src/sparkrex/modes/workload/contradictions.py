"""Patterns whose conditions contradict each other: they would be watched for ever and never found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError
from sparkrex.evaluate.facts import facts_of
from sparkrex.modes.events.language.syntax import Index
from sparkrex.modes.events.pattern import AnyOf, Kleene, absences, children
from sparkrex.modes.plan import columns_of
from sparkrex.scalar.expression import Call, ColumnAt, End, Target
from sparkrex.scalar.prove import Answer, Facts, ValueKind, prove
from sparkrex.scalar.split import conjunction
from sparkrex.scalar.targets import with_targets

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.workload.plan import WorkloadPlan
    from sparkrex.scalar.expression import Expression

_OF_ONE_EVENT = (Index.SINGLE, Index.FIRST, Index.LAST)
"""References to an event that every match has; what is said of `v[i]` may be said of none."""


def refuse_contradictions(plan: WorkloadPlan, schema: pa.Schema) -> None:
    """Fail if the conditions of a pattern are proven never to hold."""
    facts = facts_of(schema)
    for pattern in plan.patterns:
        why = _contradiction(pattern.query, facts)
        if why is None:
            continue
        query = pattern.query
        spans = [conjunct.expression.span for conjunct in query.conjuncts if conjunct.expression.span is not None]
        raise AnalysisError(
            "REX229", f"no match can be found: {why}", query.source, spans[0].to(spans[-1]) if spans else query.span,
            hint="mend the conditions, or leave the pattern out", notes=(f"in the pattern {pattern.name}",),
        )


def _contradiction(query: EventQuery, facts: Facts) -> str | None:
    """The proof, None without one."""
    if _has_options(query.pattern):
        return None  # a condition on what is not there is not tested
    negated = {event.variable for event in absences(query.pattern)}
    arrays = _arrays(query.pattern)
    parts: list[Expression] = []
    for conjunct in query.conjuncts:
        is_of_match = all(
            index in _OF_ONE_EVENT and variable not in negated for variable, index in conjunct.references
        )
        if is_of_match and conjunct.references:
            parts.append(_by_name(conjunct.expression, arrays))
    read = {variable for conjunct in query.conjuncts for variable, _ in conjunct.references}
    for definition in query.types:
        if definition.variable in read - negated - arrays:
            target = Target(frozenset((definition.variable,)))
            said = with_targets(definition.condition, lambda *_, target=target: target)
            parts.append(_by_name(said, arrays))
    whole = conjunction(parts)
    if whole is None:
        return None
    kinds = {name: facts.kinds.get(name.rsplit(".", 1)[1], ValueKind.OTHER) for name in columns_of(parts)}
    verdict = prove(whole, None, Facts(kinds))
    return verdict.why if verdict.answer is Answer.UNSATISFIABLE else None


def _by_name(expression: Expression, arrays: set[str]) -> Expression:
    """Every reference as a column of its own, whose name is what the user wrote."""
    match expression:
        case ColumnAt(target, column):
            (variable,) = target.variables or ("",)
            index = ""
            if variable in arrays:
                index = "[1]" if target.end is End.FIRST else f"[{variable}.LEN]"
            return ColumnAt(Target(), f"{variable}{index}.{column}", span=expression.span)
        case Call(operands=operands):
            return replace(expression, operands=tuple(_by_name(part, arrays) for part in operands))
        case _:
            return expression


def _has_options(pattern: EventPattern) -> bool:
    if isinstance(pattern, AnyOf) or (isinstance(pattern, Kleene) and pattern.minimum == 0):
        return True
    return any(map(_has_options, children(pattern)))


def _arrays(pattern: EventPattern) -> set[str]:
    """The variables of Kleenes."""
    if isinstance(pattern, Kleene):
        return _variables(pattern)
    return {name for part in children(pattern) for name in _arrays(part)}


def _variables(pattern: EventPattern) -> set[str]:
    own = {pattern.variable} if hasattr(pattern, "variable") else set()
    return own.union(*map(_variables, children(pattern)))
