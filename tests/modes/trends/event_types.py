"""The types of the events of tests: by condition, or the value of the column `kind`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

CONDITIONS = {"Any": "kind IS NOT NULL", "Low": "x < 2"}
"""What is given as `types`; an event may be of several types, and of none."""


def is_of_type(row: Mapping[str, Any], name: str) -> bool:
    """Whether an event is of a type."""
    match name:
        case "Any":
            return row["kind"] is not None
        case "Low":
            return row["x"] is not None and row["x"] < 2
        case _:
            return bool(row["kind"] == name)
