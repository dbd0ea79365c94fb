"""What the engine's own functions are proven to share with a host: by function, host and type of the operands.

An entry says that the value computed over blocks (`evaluate/vectorised`) is the host's, NULL, NaN, infinities and the
ends of a type included, for operands that all have this type; and that it fails where the host fails. A test proves
every entry by random comparison: `tests/scalar/test_proven.py` on DuckDB, `tests/spark/test_proven.py` on Spark. Zeros
of different signs count as equal. Functions whose meaning depends on attributes of the call have no entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Proofs: TypeAlias = Mapping[str, frozenset[str]]
"""By host, the types."""

_NUMBERS = frozenset({"BIGINT", "DOUBLE"})
_ORDERED = _NUMBERS | {"VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN"}
_BOOLEAN = frozenset({"BOOLEAN"})


def _on_both(types: frozenset[str]) -> Proofs:
    return {"duckdb": types, "spark": types}


PROVEN_EQUAL: dict[str, Proofs] = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), _on_both(_ORDERED)),
    **dict.fromkeys(("is_distinct_from", "is_not_distinct_from", "is_null", "coalesce", "nullif"), _on_both(_ORDERED)),
    **dict.fromkeys(("between", "in", "greatest", "least"), _on_both(_ORDERED)),
    **dict.fromkeys(("and", "or", "not", "is_true", "is_false"), _on_both(_BOOLEAN)),
    **dict.fromkeys(("add", "subtract", "multiply", "negate", "abs"), _on_both(_NUMBERS)),
}
"""By function, where it is proven to give the host's answer."""


def is_proven_equal(function: str, host: str, types: Sequence[str]) -> bool:
    """Whether a call with operands of these types is proven to give the host's answer.

    >>> is_proven_equal("add", "duckdb", ["BIGINT", "BIGINT"])
    True
    >>> is_proven_equal("add", "duckdb", ["BIGINT", "DOUBLE"])
    False
    """
    kinds = set(types)
    return len(kinds) == 1 and kinds <= PROVEN_EQUAL.get(function, {}).get(host, frozenset())
