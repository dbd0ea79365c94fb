"""Every segment kernel is compiled once for all queries; those that read columns, once for each kind of number."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
OF_COLUMNS = {
    "co_moments.next_changes", "co_moments.pair_counts", "co_moments.pair_table", "correlation.correlation_scan",
    "extremes.extreme_lookup", "extremes.extreme_scan", "extremes.median_scan", "extremes.sparse_table",
    "outliers.zscores", "regression.regression", "segments.value_window", "spread.spread", "trends.mann_kendall_scan",
    "trends.mann_kendall_table", "trends.ticks_prefix", "trends.ticks_scan",
}
"""Kernels over a column of whole numbers or of doubles: whole numbers are computed with as such."""
LEAST = 30
"""Kernels that the queries must have called, or they show nothing."""


@pytest.mark.slow
def test_every_kernel_has_one_signature() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "tests.modes.segments.kernel_signatures"], capture_output=True, text=True, check=False,
        cwd=ROOT, env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
    )
    assert found.returncode == 0, found.stderr
    signatures: dict[str, list[str]] = json.loads(found.stdout.splitlines()[-1])
    several = {name: texts for name, texts in signatures.items() if len(texts) > 1 and name not in OF_COLUMNS}
    assert several == {}
    for name in OF_COLUMNS & signatures.keys():
        texts = signatures[name]
        # The same arrays, layouts and rights to write, but for the kind of number.
        assert len({re.sub(r"u?int64|float64", "number", text) for text in texts}) == 1, (name, texts)
    assert len(signatures) >= LEAST, sorted(signatures)
