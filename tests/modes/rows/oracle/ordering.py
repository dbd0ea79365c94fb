"""PARTITION BY and ORDER BY: the input's row numbers, cut into partitions, each in order.

Partitions stand in order of first appearance. NULL keys are one partition. The sort is stable, so rows that ORDER BY
does not tell apart keep their input order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.modes.rows.oracle.comparing import are_same, sort
from tests.modes.rows.oracle.expressions import value_of_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.modes.rows.plan import MatchRecognize


def partitions(plan: MatchRecognize, rows: Sequence[Mapping[str, Any]], dialect: str) -> list[list[int]]:
    """Row numbers of each partition, in the partition's order."""
    keys: list[list[Any]] = []
    members: list[list[int]] = []
    for number, row in enumerate(rows):
        key = [value_of_row(part.expression, row, dialect) for part in plan.partition_by]
        for known, member in zip(keys, members, strict=True):
            if are_same(known, key):
                member.append(number)
                break
        else:
            keys.append(key)
            members.append([number])
    return [_ordered(plan, rows, member, dialect) for member in members]


def _ordered(
    plan: MatchRecognize, rows: Sequence[Mapping[str, Any]], member: Sequence[int], dialect: str
) -> list[int]:
    keys = [[value_of_row(key.expression, rows[number], dialect) for key in plan.order_by] for number in member]
    return sort(member, keys, [(key.is_descending, key.nulls_first) for key in plan.order_by])
