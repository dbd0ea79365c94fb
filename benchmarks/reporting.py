"""What benchmarks of papers have in common: tables as they come, an interrupt that loses nothing, files, exit code."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks.machine import describe_machine
from benchmarks.tables import Lines, markdown, show

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

OUT = Path(__file__).resolve().parents[1] / "out"


@dataclass(eq=False)
class Report:
    """Tables that were printed, and problems. A benchmark's own report has what they were made of."""

    parts: list[tuple[str, Lines]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, title: str, lines: Lines) -> None:
        """Print a table and keep it."""
        print(f"\n{title}")
        show(lines)
        sys.stdout.flush()
        self.parts.append((title, lines))

    def draw(self, path: Path) -> bool:
        """Make the picture; False if there is nothing to draw."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """All that was measured, as plain data."""
        raise NotImplementedError


def add_file_options(parser: argparse.ArgumentParser, plot: str) -> None:
    """Where the results go."""
    parser.add_argument("--plot", type=Path, default=OUT / plot, help=f"file of the picture (default out/{plot})")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--markdown", type=Path, help="also write the tables for a page to this file")


def run(report: Report, options: argparse.Namespace, note: str, measure: Callable[[], None]) -> int:
    """Measure into the report, print, write, and say by the exit code whether there are problems."""
    begin = perf_counter()
    print(f"{describe_machine()}{note}", flush=True)
    try:
        measure()
    except KeyboardInterrupt:
        report.problems.append("interrupted")
    if report.draw(options.plot):
        print(f"\nPlot: {options.plot}")
    if options.json:
        found = {"machine": describe_machine(), **report.as_json(), "problems": report.problems}
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        text = "\n\n".join(f"**{title}**\n\n{markdown(lines)}" for title, lines in report.parts)
        options.markdown.write_text(text + "\n", encoding="utf-8")
    print(f"\n{perf_counter() - begin:.0f} s")
    for problem in report.problems:
        print(f"PROBLEM: {problem}")
    return 1 if report.problems else 0
