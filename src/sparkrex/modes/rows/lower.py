"""Cut a row pattern between Spark and its workers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.modes.plan import Definition, Measure, PartitionKey, RowsPerMatch
from sparkrex.scalar.expression import ROW_TIME, ColumnAt, End, Literal, MatchNumber, Semantics, Target, walk
from sparkrex.scalar.intervals import moved_time
from sparkrex.spark.gathered import FIRST_ID, LAST_ID, NUMBER
from sparkrex.spark.lowering import Lowered, Lowering, lower_measures, lower_order, measure_sources

if TYPE_CHECKING:
    from sparkrex.modes.rows.plan import MatchRecognize


MATCHED = "rex_matched"


def moved_times_of(plan: MatchRecognize) -> frozenset[str]:
    """The first column of ORDER BY, if conditions move it by an interval, as WITHIN does."""
    time = plan.order_by[0].column if plan.order_by else None
    nodes = (node for condition in plan.tested() for node in walk(condition))
    is_moved = any((moved := moved_time(node)) is not None and moved.column == time for node in nodes)
    return frozenset({time} if time is not None and is_moved else ())


def lower(
    plan: MatchRecognize, input_name: str, wanted: frozenset[str] | None, *, reports: bool = False,
    times: frozenset[str] = frozenset(),
) -> Lowered:
    """Cut a plan.

    `input_name` names the input in the projections' SQL. `wanted` are the names, in lower case, that the statement
    around the relation can read, None if it may read all. `reports` and `times`: see `Lowering`.
    """
    lowering = Lowering(input_name, reports=reports, times=times, gathers=not reports)
    keys = tuple(lowering.column(key.expression, "k") for key in plan.partition_by)
    order, order_by = lower_order(plan.order_by, lowering)
    definitions = tuple(
        Definition(definition.variable, lowering.lowered(definition.condition, is_guarded=False))
        for definition in plan.definitions
    )
    possessive = tuple(
        element if element.condition is None
        else replace(element, condition=lowering.lowered(element.condition, is_guarded=False))
        for element in plan.possessive
    )
    passed = {
        name: lowering.column(ColumnAt(Target(), name), "c")
        for name in plan.passed_columns() if wanted is None or name.lower() in wanted
    }
    measures, rendered = lower_measures(plan.measures, lowering)
    shows_unmatched = plan.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED
    if shows_unmatched:
        measures.append(Measure(MATCHED, Literal(True)))
        rendered = [f"CASE WHEN {MATCHED} THEN {text} END" for text in rendered]
    identity = _identity(plan, lowering, measures) if lowering.gathered else ()
    if not lowering.projections:
        lowering.sql("TRUE", "c")
    # Key columns come out under the names they went in with.
    worker = replace(
        plan,
        input_columns=tuple(dict.fromkeys(
            name for name in (*passed.values(), *(name for name in identity if name in lowering.projections))
            if name not in keys
        )),
        partition_by=tuple(PartitionKey(name, ColumnAt(Target(), name)) for name in dict.fromkeys(keys)),
        # Not as columns to pass on: those are `passed`.
        order_by=tuple(replace(key, column=None) for key in order_by),
        measures=tuple(measures),
        definitions=definitions,
        possessive=possessive,
        timeout=None if plan.timeout is None else lowering.lowered(plan.timeout, is_guarded=False),
        output_names=None,
    )
    texts = [
        *keys, *(passed.get(name) for name in plan.order_columns()), *rendered,
        *(passed.get(name) for name in plan.rest_columns()),
    ]
    pairs = zip(plan.output_columns(), texts, strict=True)
    outputs = {name: text for name, text in pairs if text is not None}
    n_before = len(keys) + len(plan.order_columns())
    spans = {**lowering.spans}
    for name, measure in zip(plan.output_columns()[n_before:], plan.measures, strict=False):
        spans[name] = measure.span
    return Lowered(
        lowering.projections, keys, tuple(order), worker, outputs, measure_sources(measures), lowering.aggregates,
        spans, gathered=tuple(lowering.gathered), identity=identity,
    )


def _identity(plan: MatchRecognize, lowering: Lowering, measures: list[Measure]) -> tuple[str, ...]:
    """Columns that tell the rows of the result apart, whatever tasks run again: see `spark.gathered`.

    A match is told by its first and last row and its number: matches may overlap, and timeouts have no number. Where
    rows are returned, it is the row and the number of its match; an unmatched row has none.
    """
    row = lowering.sql("monotonically_increasing_id()", "i")
    measures.append(Measure(NUMBER, MatchNumber()))
    if plan.rows_per_match is not RowsPerMatch.ONE:
        return row, NUMBER
    measures.append(Measure(FIRST_ID, ColumnAt(Target(semantics=Semantics.FINAL, end=End.FIRST), row)))
    measures.append(Measure(LAST_ID, ColumnAt(ROW_TIME, row)))
    return FIRST_ID, LAST_ID, NUMBER
