"""SQL of Spark's with the type that an aggregate of the workers has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.scalar.render.spark import SPARK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.scalar.expression import Aggregate


def aggregate_sql(aggregate: Aggregate, arguments: Sequence[str]) -> str:
    """An aggregate of Spark's, over arguments that are SQL."""
    match aggregate.function:
        case "count" | "count_if":
            return "count(1)"
        case "array_agg":
            return f"collect_list({arguments[0]})"
        case "string_agg":
            return "max('')"
        case "map_agg":
            return f"map_from_entries(collect_list(struct({arguments[0]}, {arguments[1]})))"
        case "min_by" | "max_by" if len(arguments) == 3:
            return f"collect_list({arguments[0]})"
        case _:
            return SPARK.aggregate(aggregate, arguments)
