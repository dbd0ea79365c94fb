"""`rex warmup`: compile all kernels, so that no query waits for a compiler."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sparkrex.cli.command import Command
from sparkrex.cli.progress import Progress

if TYPE_CHECKING:
    import argparse


def warm_up(_: argparse.Namespace) -> None:
    """Run the queries of the warm-up; say what was compiled, where the code lies, and how long it took."""
    from sparkrex.warmup import cache_folders, compiled_kernels, steps

    progress = Progress(sys.stderr)
    everything = list(steps())
    for number, step in enumerate(everything, 1):
        shown = f"{number} of {len(everything)}: {step.name}"
        with progress.stage("compile", shown.__str__):
            step.run()
    kernels = compiled_kernels()
    n_compiled = sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels)
    print(f"{len(kernels)} kernels, {n_compiled} compiled now")
    for folder in cache_folders():
        print(f"compiled code: {folder}")
    print(f"{progress.seconds['compile']:.1f} s")


WARMUP = Command(
    "warmup", "compile all kernels",
    "Compile all kernels and keep the code on disk, so that no query waits for a compiler: in the folder that "
    "NUMBA_CACHE_DIR names, else in the user's cache folder.",
    run=warm_up,
)
