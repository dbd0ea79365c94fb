"""Every module of kernels has a test module of its name."""

from __future__ import annotations

from pathlib import Path

import sparkrex

SOURCE = Path(sparkrex.__file__).parent
TESTS = Path(__file__).parents[1]

TO_DO = {
    "modes/rows/kernels/automaton", "modes/rows/kernels/backtrack", "modes/events/kernels/absence",
    "modes/events/kernels/backtrack", "modes/events/kernels/lookup", "modes/events/kernels/matches",
    "modes/events/kernels/merge", "modes/events/kernels/nfab",
}
"""Their arguments are being put together. Whoever writes the test drops the line."""


def kernel_modules() -> set[str]:
    """Modules with functions, as paths without a suffix; others have nothing to test but names and types."""
    folders = [SOURCE / "kernels", *SOURCE.glob("modes/*/kernels")]
    files = [file for folder in folders for file in folder.glob("*.py") if "\ndef " in file.read_text(encoding="utf-8")]
    return {file.relative_to(SOURCE).with_suffix("").as_posix() for file in files}


def test_every_module_of_kernels_has_its_tests() -> None:
    tested = {name for name in kernel_modules() if _test_of(name).exists()}
    assert kernel_modules() - tested == TO_DO


def _test_of(name: str) -> Path:
    folder, _, module = name.rpartition("/")
    return TESTS / folder / f"test_{module}.py"
