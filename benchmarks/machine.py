"""What the figures were taken on."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("numba", "numpy", "pyarrow", "duckdb")


def describe_machine() -> str:
    """Processor, cores, memory, system and versions, in one line."""
    parts = [_processor(), f"{os.cpu_count()} cores", *_memory(), f"{platform.system()} {platform.machine()}"]
    parts += [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in PACKAGES)]
    return ", ".join(parts)


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", path.read_text(encoding="utf-8")) if path.exists() else None
    return found[1].strip() if found else platform.processor() or "unknown processor"


def _memory() -> list[str]:
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return []
    return [f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB"]
