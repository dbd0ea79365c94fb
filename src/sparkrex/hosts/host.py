"""What matchers and output ask of a host: SQL expressions over the rows of an Arrow table, as Arrow columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from sparkrex.source import Span


class Evaluator(Protocol):
    """Evaluates host SQL over a table of values.

    Expressions name the table's columns; the table's name is `rex_rows`. The result has one column per expression, rows
    in the table's order. `reads_relation` says that an expression holds subqueries or window functions, which may see
    the relations of the statement. `spans` are the places in the query that the expressions come from.
    """

    def evaluate(
        self, expressions: Sequence[str], table: pa.Table, spans: Sequence[Span | None], *, reads_relation: bool = False
    ) -> list[pa.ChunkedArray]:
        """One column per expression."""
        ...

    def query(self, sql: str, table: pa.Table, span: Span | None) -> pa.Table:
        """A whole query over `rex_rows`."""
        ...
