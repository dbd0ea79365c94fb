"""What a proof comes to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Answer(Enum):
    """What the premise says of the conclusion."""

    TRUE = "true"
    """Wherever the premise holds, the conclusion is TRUE."""

    FALSE = "false"
    """Wherever the premise holds, the conclusion is not TRUE: it is FALSE or NULL."""

    UNKNOWN = "unknown"

    UNSATISFIABLE = "unsatisfiable"
    """The premise holds nowhere."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer, and the proof in one line; of UNKNOWN there is none."""

    answer: Answer
    why: str = ""
