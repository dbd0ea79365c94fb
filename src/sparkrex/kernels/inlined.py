"""How the parts of a kernel are compiled, which only kernels call: `inlined`, or `shared` by all places that call them.

A part is compiled without the ways in for Python and for C. To take apart and count the references of all arrays that a
part is given is often more code than the part itself, and would be compiled again for every kernel that contains it.

What is in the inner loop of a search is compiled into it, without reference counts: it allocates nothing and keeps no
array. Passing all arrays at every call would cost more than what such parts compute.
"""

from __future__ import annotations

from sparkrex.kernels.lazy import njit

inlined = njit(cache=True, nogil=True, forceinline=True, _nrt=False, no_cpython_wrapper=True)
shared = njit(cache=True, nogil=True, _nrt=False, no_cpython_wrapper=True)
allocating = njit(cache=True, nogil=True, no_cpython_wrapper=True)
