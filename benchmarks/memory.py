"""Peak memory of one call, as the system sees the process."""

from __future__ import annotations

import ctypes
import gc
import re
import resource
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_of(run: Callable[[], Result]) -> tuple[Result, float]:
    """The result of a call, and by how many MB the process grew at most meanwhile."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if not RESET.exists():  # no Linux: the peak since the process began is all there is
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = run()
        return result, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    ctypes.CDLL(None).malloc_trim(0)
    RESET.write_text("5", encoding="ascii")
    before = _kilobytes("VmRSS")
    result = run()
    return result, (_kilobytes("VmHWM") - before) / 1024


def _kilobytes(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", STATUS.read_text(encoding="ascii"), re.MULTILINE)
    assert found is not None  # the kernel lists both
    return int(found[1])
