"""`rex profile`: measure what the planner of segment searches goes by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sparkrex.cli.command import Command
from sparkrex.cli.failures import Failed

if TYPE_CHECKING:
    import argparse


def profile(arguments: argparse.Namespace) -> None:
    """Measure, write the weights, and print the tables of operators and of aggregates."""
    from sparkrex.modes.segments.planner import profile as planner_profile
    from sparkrex.modes.segments.planner.weights import SHIPPED

    path = SHIPPED if arguments.output is None else Path(arguments.output)
    try:
        planner_profile.main(path)
    except OSError as error:
        raise Failed(f"the weights cannot be written: {error}") from error


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="where to write the weights (default: in the package, where the planner "
        "reads them)",
    )


PROFILE = Command(
    "profile", "measure what the planner of segment searches goes by",
    "Measure how long operators and aggregates of segment searches take on this machine, and print both tables. Takes "
    "about a minute.",
    _add_arguments, profile,
)
