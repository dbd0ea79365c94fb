"""Shows at the end of a run what the property suite covered."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints every text that a test recorded as its coverage; reports carry it also from parallel workers."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, text in getattr(report, "user_properties", []):
                if name == "coverage" and report.when == "call":
                    terminalreporter.write_sep("-", f"coverage of {report.nodeid}")
                    terminalreporter.write_line(str(text))
