"""Spark's dialect as Spark 4 reads it: a quote in a string may be doubled, `'it''s'`, as in other dialects.

Spark 3 read that as two strings, one after the other, and sqlglot still does.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot.dialects.databricks import Databricks
from sqlglot.dialects.spark import Spark

_ESCAPES = ["\\", "'", '"']


class SparkFour(Spark):
    """Spark SQL since version 4."""

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES: ClassVar[list[str]] = _ESCAPES


class DatabricksFour(Databricks):
    """The same of Databricks."""

    class Tokenizer(Databricks.Tokenizer):
        STRING_ESCAPES: ClassVar[list[str]] = _ESCAPES


DIALECTS: dict[str, type[Spark]] = {"spark": SparkFour, "databricks": DatabricksFour}
