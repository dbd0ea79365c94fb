"""Types of events that a query names and that no event has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.errors import nearest
from sparkrex.warn import warn_user

if TYPE_CHECKING:
    from collections.abc import Sequence

_LISTED_TYPES = 20
_FEW_ROWS = 10_000
"""Among the first of them most types are found, in a column that Arrow can search and in one that it cannot."""


def warn_of_unknown_types(type_column: str | None, type_names: Sequence[str], table: pa.Table) -> None:
    """Warn of types that no event has: misspelt ones match nothing, or exclude nothing, without a word.

    The search for a type ends at its first event, so that only a type that is not there costs a pass over the column.
    """
    # A query whose types all have conditions of their own does not read the column.
    if type_column is None or not type_names or not table.num_rows:
        return
    few = set(pc.unique(table.column(type_column).slice(0, _FEW_ROWS)).to_pylist())
    if few.issuperset(type_names):
        return
    column = _searchable(table.column(type_column))
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    for name in type_names:
        if name in few or pc.index(column, pa.scalar(name, column.type)).as_py() >= 0:
            continue
        known = sorted(str(value) for value in pc.unique(column).to_pylist() if value is not None)
        listed = ", ".join(known[:_LISTED_TYPES]) + (", ..." if len(known) > _LISTED_TYPES else "")
        meant = nearest(name, known)
        warn_user(
            f"no event has type {name} ({type_column} = '{name}'): the types in {type_column} are {listed}"
            + (f"; {meant}" if meant else "")
        )


def warn_of_types_as_variables(type_column: str | None, variables: Sequence[str], table: pa.Table) -> None:
    """Warn of variables that are named like a type that events have: `A+ B` is one component, not two."""
    if type_column is None or not table.num_rows:
        return
    few = set(pc.unique(table.column(type_column).slice(0, _FEW_ROWS)).to_pylist())
    for name in variables:
        if name in few:
            warn_user(
                f"{name} is a variable of the pattern, and also a type of events: a type that follows another is "
                f"written after a comma, SEQ(..., {name})"
            )


def _searchable(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """The column, or of one with a dictionary, which Arrow cannot search, the values that rows have."""
    if not pa.types.is_dictionary(column.type):
        return column
    return pc.unique(column.unify_dictionaries()).dictionary_decode()
