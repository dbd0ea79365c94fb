"""The plan: the rows' columns are returned, and only their places decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sparkrex.modes.plan import Plan

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryNth(Plan):
    """Every `step`-th row of each partition."""

    mode: ClassVar[str] = "every_nth"
    keyword: ClassVar[str] = "EVERY_NTH"
    returns_keys: ClassVar[bool] = False

    step: int

    def output_columns(self) -> tuple[str, ...]:
        """Those of the input."""
        return self.input_columns

    def tested(self) -> tuple[Expression, ...]:
        """Nothing."""
        return ()

    def passed_columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.input_columns
