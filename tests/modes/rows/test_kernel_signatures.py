"""Every kernel of row patterns is compiled once, whatever is asked and however the rows are fed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CALLED = {
    "automaton.join_bits", "automaton.look_back", "automaton.look_back_twice", "automaton.walk", "automaton.walk_both",
    "automaton.walk_past",
    "backtrack.is_ascending", "backtrack.search",
    "ops.search", "ops.search_back", "timeouts.search_timeouts",
}
"""Kernels that Python calls."""


@pytest.mark.slow
def test_every_kernel_has_one_signature() -> None:
    # In a process of its own: tests of kernels compile them for arguments of other types, too.
    found = subprocess.run(
        [sys.executable, "-m", "tests.modes.rows.kernel_signatures"], capture_output=True, text=True, check=False,
        cwd=ROOT, env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
    )
    assert found.returncode == 0, found.stderr
    signatures: dict[str, list[str]] = json.loads(found.stdout.splitlines()[-1])
    assert signatures.keys() == CALLED
    assert {name: texts for name, texts in signatures.items() if len(texts) != 1} == {}
