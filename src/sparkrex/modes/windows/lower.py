"""Cut a window with a row pattern between Spark and its workers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.modes.plan import Definition, Measure, PartitionKey
from sparkrex.modes.windows.plan import WindowCall
from sparkrex.scalar.expression import ColumnAt, Literal, Target
from sparkrex.spark.lowering import Lowered, Lowering, lower_measures, lower_order, measure_sources

if TYPE_CHECKING:
    from sparkrex.modes.windows.plan import PatternWindow
    from sparkrex.spark.lowering import Origin

MATCHED = "rex_matched"
_OWN = "rex_"
"""How names of our own begin: the statement reads them, although no word of the user's says so."""


def lower_window(plan: PatternWindow, input_name: str, wanted: frozenset[str] | None) -> Lowered:
    """Cut a plan; see `modes.rows.lower`.

    The workers give each row what is read from its match, and whether it has one: a measure is NULL for a row without,
    whatever Spark would make of its parts. A function over no rows is a value of the workers.
    """
    lowering = Lowering(input_name, reports=True)  # what may fail does so only where it is tested
    keys = tuple(lowering.column(key.expression, "k") for key in plan.partition_by)
    order, order_by = lower_order(plan.order_by, lowering)
    definitions = tuple(
        Definition(definition.variable, lowering.lowered(definition.condition, is_guarded=False))
        for definition in plan.search.definitions
    )
    passed = {
        name: lowering.column(ColumnAt(Target(), name), "c") for name in plan.input_columns
        if wanted is None or name.lower() in wanted or name.startswith(_OWN)
    }
    frame_end = plan.frame_end
    if frame_end is not None and not isinstance(frame_end, Literal):
        frame_end = ColumnAt(Target(), lowering.column(frame_end, "e"), span=frame_end.span)
    measures, rendered = lower_measures(plan.measures, lowering)
    measures.append(Measure(MATCHED, Literal(True)))
    functions, rendered_functions = lower_measures(plan.functions, lowering, "f")
    read = [WindowCall(one.name, plan.span, measure=number) for number, one in enumerate(measures)]
    read += [WindowCall(one.name, plan.span, aggregate=number) for number, one in enumerate(functions)]
    sources: dict[str, Origin] = measure_sources([*measures, *functions])
    outputs = {name: f"`{column}`" for name, column in passed.items()}
    spans = {**lowering.spans}
    for call in plan.calls:
        spans[call.column] = call.span
        if call.measure is not None:
            outputs[call.column] = f"CASE WHEN {MATCHED} THEN {rendered[call.measure]} END"
        elif call.aggregate is not None:
            outputs[call.column] = rendered_functions[call.aggregate]
        else:
            assert call.value is not None  # one of the three
            column = lowering.column(call.value.argument, "v")
            name = f"x{len(read)}"
            value = replace(call.value, argument=ColumnAt(Target(), column, span=call.span))
            read.append(WindowCall(name, call.span, value=value))
            sources[name] = column
            outputs[call.column] = f"`{name}`"
    if not lowering.projections:
        lowering.sql("TRUE", "c")
    partition_by = tuple(PartitionKey(name, ColumnAt(Target(), name)) for name in dict.fromkeys(keys))
    by = tuple(replace(key, column=None) for key in order_by)
    inputs = tuple(dict.fromkeys(passed.values()))
    search = replace(
        plan.search, input_columns=inputs, partition_by=partition_by, order_by=by, measures=tuple(measures),
        definitions=definitions,
    )
    worker = replace(
        plan, input_columns=inputs, partition_by=partition_by, order_by=by, measures=tuple(measures), search=search,
        functions=tuple(functions), calls=tuple(read), frame_end=frame_end,
    )
    return Lowered(
        lowering.projections, keys, tuple(order), worker, outputs, sources, lowering.aggregates, spans,
    )
