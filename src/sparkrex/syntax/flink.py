"""The SQL of Flink for sqlglot, which has no dialect of that name.

Nearest is Trino's: standard literals, typed division, arrays from 1. Flink quotes names in backquotes, strings in
single quotes alone, its names are case-sensitive, and NULL is the smallest value. It is only read, never written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import NormalizationStrategy, build_date_delta
from sqlglot.dialects.spark import Spark
from sqlglot.dialects.trino import Trino
from sqlglot.parsers.spark import SparkParser
from sqlglot.parsers.trino import TrinoParser
from sqlglot.tokenizer_core import TokenType

if TYPE_CHECKING:
    from collections.abc import Callable

# Their formats are Java's, as in Spark.
_OF_SPARK = ("DATE_FORMAT", "FROM_UNIXTIME", "TO_DATE", "TO_TIMESTAMP", "UNIX_TIMESTAMP")


def _add_units(arguments: list[exp.Expr]) -> exp.Expr:
    """`TIMESTAMPADD(unit, amount, time)`."""
    unit, amount, time = (*arguments, None, None, None)[:3]
    return exp.TimestampAdd(this=time, expression=amount, unit=unit)


class Flink(Trino):
    """Flink SQL. Defining the class makes the dialect known to sqlglot under its name."""

    NORMALIZATION_STRATEGY = NormalizationStrategy.CASE_SENSITIVE
    NULL_ORDERING = "nulls_are_small"
    TIME_FORMAT = Spark.TIME_FORMAT
    TIME_MAPPING = Spark.TIME_MAPPING

    class Tokenizer(Trino.Tokenizer):
        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`"]
        KEYWORDS: ClassVar[dict[str, TokenType]] = {**Trino.Tokenizer.KEYWORDS, "BYTES": TokenType.VARBINARY}

    class Parser(TrinoParser):
        FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {
            **TrinoParser.FUNCTIONS,
            **{name: SparkParser.FUNCTIONS[name] for name in _OF_SPARK},
            "TIMESTAMPADD": _add_units,
            "TIMESTAMPDIFF": build_date_delta(exp.TimestampDiff),
        }
