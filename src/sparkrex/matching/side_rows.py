"""Side rows: input rows that come too late, and those that a search fails at, as rows of the result.

With the setting `side_rows` a result has three columns more. `rex_kind` says what a row is; `rex_row` is the input row,
NULL where the row is of a match; `rex_error` says why a search failed. The input row travels with the columns that a
query reads, as one more of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.errors import AnalysisError
from sparkrex.warn import warn_user

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.errors import ExecutionError
    from sparkrex.settings import Settings

KIND, ROW, ERROR = "rex_kind", "rex_row", "rex_error"
SIDE_COLUMNS = (KIND, ROW, ERROR)
MATCH, LATE, FAILED = "match", "late", "error"
"""The values of `rex_kind`."""
ERROR_TYPE = pa.struct([("code", pa.string()), ("message", pa.string())])


@dataclass(frozen=True, eq=False, slots=True)
class Failure:
    """A row that a search was given up at, and why. `row` is a table of this row, with the columns that travel."""

    error: ExecutionError
    row: pa.Table


def side_fields(row_type: pa.DataType) -> list[pa.Field]:
    """The columns beside those of matches; `row_type` is that of the input row."""
    return [pa.field(KIND, pa.string()), pa.field(ROW, row_type), pa.field(ERROR, ERROR_TYPE)]


def with_kind(matches: pa.Table, row_type: pa.DataType) -> pa.Table:
    """Result rows of matches, which say that they are."""
    kind, row, error = side_fields(row_type)
    n_rows = matches.num_rows
    found = matches.append_column(kind, pa.repeat(pa.scalar(MATCH), n_rows))
    return found.append_column(row, pa.nulls(n_rows, row_type)).append_column(error, pa.nulls(n_rows, ERROR_TYPE))


def with_side_rows(
    matches: pa.Table, failures: Sequence[Failure], row_type: pa.DataType, late: pa.Table | None = None
) -> pa.Table:
    """Result rows of matches, then those of failures, then late rows. The other columns of these are NULL."""
    parts = [with_kind(matches, row_type)]
    schema = pa.schema(side_fields(row_type))
    if failures:
        rows = pa.concat_tables([failure.row.select([ROW]) for failure in failures]).column(ROW)
        errors = [{"code": failure.error.code, "message": failure.error.message} for failure in failures]
        kinds = pa.repeat(pa.scalar(FAILED), len(errors))
        parts.append(pa.table([kinds, rows, pa.array(errors, ERROR_TYPE)], schema=schema))
    if late is not None and late.num_rows:
        kinds = pa.repeat(pa.scalar(LATE), late.num_rows)
        parts.append(pa.table([kinds, late.column(ROW), pa.nulls(late.num_rows, ERROR_TYPE)], schema=schema))
    return parts[0] if len(parts) == 1 else pa.concat_tables(parts, promote_options="default")


def row_type_of(schema: pa.Schema, settings: Settings) -> pa.DataType | None:
    """The type of the input row where it travels with the columns that are read; None if it does not."""
    return schema.field(ROW).type if settings.side_rows and ROW in schema.names else None


def with_failures(matches: pa.Table, failures: Sequence[Failure], row_type: pa.DataType | None) -> pa.Table:
    """What a feed gives, with its failures if the input row travels; else who asked for no rows is told of them."""
    if row_type is not None:
        return with_side_rows(matches, failures, row_type)
    if failures:
        error = failures[0].error
        warn_user(
            f"{len(failures):,} rows were given up; the first error is {error.code}: {error.message}. "
            "The setting side_rows gives them as rows"
        )
    return matches


def with_input_row(table: pa.Table) -> pa.Table:
    """A table in memory, with each row once more as one value."""
    columns = [column.combine_chunks() for column in table.columns]
    rows = pa.StructArray.from_arrays(columns, fields=list(table.schema)) if columns else pa.array(
        [{}] * table.num_rows, pa.struct([])
    )
    return table.append_column(ROW, rows)


def row_at(table: pa.Table, row: int) -> pa.Table:
    """One row of a table, in memory of its own."""
    return table.take(pa.array([row], pa.int64()))


def check_names(columns: Sequence[str]) -> None:
    """Raise REX205 if the result has a column of a name that side rows need."""
    for name in columns:
        if name.lower() in SIDE_COLUMNS:
            raise AnalysisError(
                "REX205", f"the result has a column {name}, which the setting side_rows adds", None, None,
                hint="take the matches of a result before searching in it: rex.matches(result)",
            )


def check_kept(columns: Sequence[str]) -> None:
    """Raise REX216 if the query around the pattern loses what tells side rows from matches."""
    if KIND not in (name.lower() for name in columns):
        raise AnalysisError(
            "REX216", f"with side_rows the result needs the column {KIND}, which the SELECT around leaves out", None,
            None, hint=f"SELECT *, or list {', '.join(SIDE_COLUMNS)} too",
        )
