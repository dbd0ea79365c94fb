"""Shows at the end of a run what the property suite covered, and where each seeded fault was caught."""

from __future__ import annotations

import hypothesis
import pytest

# A run of the suite says the same twice. New examples are the business of the long searches, which take a seed.
hypothesis.settings.register_profile("fixed", derandomize=True)
hypothesis.settings.load_profile("fixed")

_TITLES = {
    "coverage": "coverage of the random examples",
    "caught": "seeded faults, and the first example that shows each",
}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keeps the tests of a module on one worker: two would compile the same kernels at the same time."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what tests recorded under these names; reports carry it also from parallel workers."""
    recorded: dict[str, list[str]] = {name: [] for name in _TITLES}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, text in getattr(report, "user_properties", []):
                if name in recorded and report.when == "call":
                    recorded[name].append(str(text))
    for name, texts in recorded.items():
        if texts:
            terminalreporter.write_sep("-", _TITLES[name])
            for text in texts:
                terminalreporter.write_line(text)
