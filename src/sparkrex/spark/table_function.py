"""A table function for clients that have SQL only: `SELECT * FROM match_recognize(TABLE(t), '... PATTERN ...')`.

Rows reach a Python table function one at a time, so this is a convenience, far slower than `rex.sql`. Expressions are
evaluated in the workers, by the engine and DuckDB; for Spark's own functions, project inside `TABLE(SELECT ...)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.functions import udtf
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType
from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult, OrderingColumn, PartitioningColumn

from sparkrex.errors import AnalysisError
from sparkrex.spark.versions import zoned_arrow_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

_ZONE = "UTC"


@dataclass
class _Analyzed(AnalyzeResult):
    """What analysis hands to the workers: the clause and the input's Arrow schema."""

    clause: str = ""
    columns: bytes = b""


class MatchRecognizeFunction:
    """The table function. Spark makes one instance per partition."""

    def __init__(self, analyzed: _Analyzed | None = None) -> None:
        self.analyzed = analyzed
        self.rows: list[Any] = []

    @staticmethod
    def analyze(table: AnalyzeArgument, clause: AnalyzeArgument) -> AnalyzeResult:
        """Result schema and partitioning of a call."""
        if not table.isTable or not isinstance(table.dataType, StructType):
            raise AnalysisError("REX214", "the first argument must be TABLE(...)", None, None)
        if not isinstance(clause.value, str):
            raise AnalysisError("REX214", "the second argument must be the clause as a string literal", None, None)
        schema = zoned_arrow_schema(table.dataType, _ZONE)
        result = _match(clause.value, schema.empty_table())
        keys = _keys(clause.value, schema)
        # An order, of a constant where rows have none to be brought into: Spark refuses to sort a stream, so that a
        # query that is one fails when it is started. With keys Spark sorts by them anyway.
        return _Analyzed(
            from_arrow_schema(result.schema), partitionBy=[PartitioningColumn(name) for name in keys],
            orderBy=[] if keys else [OrderingColumn("'in one partition'")],
            withSinglePartition=not keys, clause=clause.value, columns=schema.serialize().to_pybytes(),
        )

    def eval(self, table: Any, clause: str) -> None:
        """Keep a row until its partition is complete."""
        self.rows.append(tuple(table))

    def terminate(self) -> Iterator[tuple[Any, ...]]:
        """The matches of the partition."""
        if self.analyzed is None or not self.rows:
            return
        schema = pa.ipc.read_schema(pa.py_buffer(self.analyzed.columns))
        columns = [
            pa.array([row[place] for row in self.rows], field.type) for place, field in enumerate(schema)
        ]
        result = _match(self.analyzed.clause, pa.table(columns, schema=schema))
        for row in result.to_pylist():
            yield tuple(row.values())


def _match(clause: str, table: pa.Table) -> pa.Table:
    import sparkrex

    return sparkrex.match(clause)(table)


def _keys(clause: str, schema: pa.Schema) -> list[str]:
    """Columns of PARTITION BY; an expression there leaves the partitioning to the engine, in one task."""
    from sqlglot import exp

    from sparkrex.modes.tables import language_of
    from sparkrex.pipeline import parse_clause

    parsed = parse_clause(clause, "MATCH_RECOGNIZE", "spark").clauses[0]
    trees = language_of("MATCH_RECOGNIZE").key_trees(parsed)
    if not all(isinstance(tree, exp.Column) for tree in trees):
        return []
    exact = {name.lower(): name for name in schema.names}
    return [exact[tree.name.lower()] for tree in trees if tree.name.lower() in exact]


def register_table_function(spark: SparkSession, name: str = "match_recognize") -> None:
    """Register the table function in a session under a name."""
    spark.udtf.register(name, udtf(MatchRecognizeFunction))  # type: ignore[arg-type]  # analyze gives the schema
