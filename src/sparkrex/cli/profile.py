"""`rex profile`: measure what the planner of segment searches goes by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sparkrex.cli.failures import Failed
from sparkrex.modes.segments.planner import profile as planner_profile
from sparkrex.modes.segments.planner.weights import SHIPPED

if TYPE_CHECKING:
    import argparse


def profile(arguments: argparse.Namespace) -> None:
    """Measure, write the weights, and print the tables of operators and of aggregates."""
    path = SHIPPED if arguments.output is None else Path(arguments.output)
    try:
        planner_profile.main(path)
    except OSError as error:
        raise Failed(f"the weights cannot be written: {error}") from error
