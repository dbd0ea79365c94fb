"""How the parts of a kernel are compiled: into the kernel, without reference counts.

A part allocates nothing and keeps no array. Counting the references of all arrays at every call, and passing them,
would cost more than what the parts of a search compute.
"""

from __future__ import annotations

from sparkrex.kernels.lazy import njit

inlined = njit(cache=True, nogil=True, forceinline=True, _nrt=False)
