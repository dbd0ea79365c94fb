"""`rex warmup`: after it, no query compiles anything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sparkrex import warmup
from sparkrex.cli.main import main
from sparkrex.warmup import steps

ROOT = Path(__file__).parents[2]


def kernel_forms(what: str) -> dict[str, set[str]]:
    """Kernels by name, with the types of arguments they were called with, in a process of its own."""
    command = [sys.executable, "-m", "tests.cli.kernel_forms", what]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return {name: set(forms) for name, forms in json.loads(done.stdout.splitlines()[-1]).items()}


@pytest.mark.slow
def test_every_form_of_a_kernel_that_queries_use_is_warmed_up() -> None:
    warmed = kernel_forms("warmup")
    missing = {
        name: sorted(forms - warmed.get(name, set()))
        for name, forms in kernel_forms("queries").items() if not forms <= warmed.get(name, set())
    }
    assert missing == {}, "add a query to src/sparkrex/warmup.py that calls the kernel like this"


def test_the_command_says_where_the_code_is_and_how_long_it_took(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = [step for step in steps() if step.name == "first row's value, backtrack"]
    assert few
    monkeypatch.setattr(warmup, "steps", lambda: few)
    assert main(["warmup"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "kernels, " in lines[0]
    assert lines[0].endswith(" compiled now")
    assert any(Path(line.removeprefix("compiled code: ")).is_dir() for line in lines[1:-1])
    assert lines[-1].endswith(" s")
