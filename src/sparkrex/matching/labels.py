"""Which rows of a match a reference selects by their variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def selecting(variables: frozenset[str] | None, names: Iterable[str]) -> frozenset[str] | None:
    """The variables if they select among those of the pattern, None if every matched row is mapped to one of them."""
    return None if variables is None or variables.issuperset(names) else variables
