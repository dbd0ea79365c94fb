"""Every kernel of trend queries is compiled twice: for exact numbers and for those with an exponent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FORMS = {
    "by_event.advance_by_event": 2, "by_gap.advance_by_gap": 2, "by_open.advance_by_open": 2,
    "by_rank.advance_by_rank": 2, "by_state.advance_by_state": 2, "merging.merge_places": 2,
    "counting.count_exact": 1, "counting.count_log": 1,
}


@pytest.mark.slow
def test_every_kernel_has_a_signature_for_each_form_of_numbers() -> None:
    command = [sys.executable, "-m", "tests.modes.trends.kernel_signatures"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    signatures: dict[str, list[list[str]]] = json.loads(done.stdout.splitlines()[-1])
    several = {
        name: [sorted(set(types)) for types in zip(*forms, strict=True) if len(set(types)) > 1]
        for name, forms in signatures.items()
    }
    assert {name: len(forms) for name, forms in signatures.items()} == FORMS, several
