"""What the page says of a table: its columns, how many rows it has, and queries to start from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sparkrex.studio.examples import examples_for, roles_of

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

_KEPT_VALUES = 100_000_000
"""Values of a table that is read once and kept; of a larger one each query reads its columns anew."""
_LOOKED_AT = 10_000
"""Rows by which roles of columns are guessed."""


def read_if_small(opened: pa.Table | Dataset) -> pa.Table | Dataset:
    """The table in memory, or the dataset as it is."""
    if isinstance(opened, pa.Table):
        return opened
    if opened.count_rows() * len(opened.schema) > _KEPT_VALUES:
        return opened
    return opened.to_table()


def describe_table(name: str, path: str, opened: pa.Table | Dataset) -> dict[str, Any]:
    """As the page shows it."""
    n_rows = opened.num_rows if isinstance(opened, pa.Table) else opened.count_rows()
    roles = roles_of(opened.slice(0, _LOOKED_AT) if isinstance(opened, pa.Table) else opened.head(_LOOKED_AT))
    return {
        "name": name, "path": path, "n_rows": n_rows,
        "columns": [{"name": field.name, "type": str(field.type)} for field in opened.schema],
        "examples": [{"title": title, "query": query} for title, query in examples_for(name, roles)],
    }
