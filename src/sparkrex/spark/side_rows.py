"""Side rows on Spark: the input row travels with what the workers read, and results say what they are.

On a table nothing is late. Where nothing is reported either, no row travels, and all rows are of matches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.matching.side_rows import ERROR, KIND, MATCH, ROW
from sparkrex.scalar.render.spark import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.spark.lowering import Lowered


def carry_row(lowered: Lowered, input_name: str, columns: Sequence[str]) -> None:
    """Let the whole input row travel."""
    lowered.projections[ROW] = _row(input_name, columns)
    lowered.spans[ROW] = None


def is_carried(lowered: Lowered) -> bool:
    """Whether the whole input row travels."""
    return ROW in lowered.projections


def outputs_with_side_rows(lowered: Lowered) -> dict[str, str]:
    """The outputs, which are NULL where a row is of no match, and what tells such rows."""
    outputs = {name: f"CASE WHEN {KIND} = '{MATCH}' THEN {text} END" for name, text in lowered.outputs.items()}
    return {**outputs, KIND: KIND, ROW: ROW, ERROR: ERROR}


def _row(input_name: str, columns: Sequence[str]) -> str:
    return f"struct({', '.join(f'{input_name}.{quoted(name)} AS {quoted(name)}' for name in columns)})"
