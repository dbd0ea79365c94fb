"""`rex.why` on Spark: the rows of one key are filtered there, collected, and looked into in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812  as everybody writes it

from sparkrex.errors import AnalysisError, ExecutionError, UnsupportedError
from sparkrex.pipeline import asked_relation, why_query
from sparkrex.reasons.asked import key_places
from sparkrex.scalar.expression import Call, ColumnAt, walk
from sparkrex.scalar.render.spark import quoted, render
from sparkrex.spark.batch import open_host
from sparkrex.spark.relation import relation_plan, relation_source
from sparkrex.spark.versions import to_arrow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from sparkrex.modes.plan import Plan
    from sparkrex.pipeline import ParsedQuery
    from sparkrex.reasons.answer import Why
    from sparkrex.reasons.asked import Asked
    from sparkrex.scalar.render.renderer import Leaf
    from sparkrex.settings import Settings


def why_on_spark(
    query: ParsedQuery, tables: Mapping[str, object], spark: SparkSession | None, settings: Settings, asked: Asked,
    limit: int,
) -> Why:
    """The answer about one key, of which at most `limit` rows are collected."""
    relation = asked_relation(query)
    host = open_host(query, tables, spark)
    source = relation_source(relation, host)
    if source.isStreaming:
        raise UnsupportedError(
            "REX302", "rex.why is asked about a table", host.source, relation.span,
            hint="give the rows of the stream as spark.read has them",
        )
    settings = replace(settings, time_zone=host.time_zone())
    plan = relation_plan(query, relation, query.clauses[0], source, host, settings)
    _refuse_other_keys(plan)
    wanted = _rows_of_key(source, plan, asked)
    rows = to_arrow(wanted.select(*map(quoted, plan.columns_read())).limit(limit + 1))
    if rows.num_rows > limit:
        raise ExecutionError(
            "REX406", f"the key has more than {limit:,} rows, which would all be collected", host.source, plan.span,
            hint="name all columns of PARTITION BY in key=, leave out rows in a subquery, or raise limit=",
            command_hint="name all columns of PARTITION BY by --key, or leave out rows in a subquery",
        )
    if asked.key and not rows.num_rows:
        shown = ", ".join(f"{name} = {value!r}" for name, value in asked.key.items())
        raise AnalysisError("REX240", f"no row has {shown}", plan.source, plan.span)
    return why_query(query, {}, settings, asked, rows)


def _rows_of_key(source: DataFrame, plan: Plan, asked: Asked) -> DataFrame:
    if plan.partition_by and not asked.key:
        names = ", ".join(key.name for key in plan.partition_by)
        raise AnalysisError(
            "REX240", f"on Spark rex.why is asked about one key, of {names}", plan.source, plan.span,
            hint=f"key={{{plan.partition_by[0].name!r}: ...}}",
            command_hint=f"--key '{plan.partition_by[0].name}=...'",
        )
    for place, value in key_places(plan, asked.key or {}).items():
        text = render(plan.partition_by[place].expression, _column)
        source = source.where(F.expr(text).eqNullSafe(F.lit(value)))
    return source


def _column(leaf: Leaf) -> str:
    return quoted(leaf.column) if isinstance(leaf, ColumnAt) else "NULL"


def _refuse_other_keys(plan: Plan) -> None:
    """Refuse what would have to read the rows of other keys."""
    for expression in plan.tested():
        for node in walk(expression):
            if isinstance(node, Call) and node.reads_relation:
                raise UnsupportedError(
                    "REX301", "rex.why on Spark collects the rows of one key, and this reads others", plan.source,
                    node.span, hint="compute it in a subquery that the pattern reads",
                )
