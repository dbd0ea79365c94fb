"""Kernels compiled in less time. What comes out is the same, and the compilations of others are left alone.

Most of the time that Numba takes for a kernel of ours is not LLVM's but its own, in Python. Two things are saved:

1. To find which of a dozen implementations an operator such as `+` has for two types, Numba tries all of them, at every
   place where the operator stands, twice if a constant does, and compares all options of the compiler each time. The
   answer depends on the function, the types and the options: from the start of a kernel's compilation to its end it is
   kept. That was a third of all the time.
2. The objects that compiling makes start Python's search for garbage again and again, through all that the user has in
   memory, too. It waits until the kernel is compiled. That was a twelfth with little in memory.
"""

from __future__ import annotations

import gc
from inspect import signature
from typing import Any

from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction

_find_signature = BaseFunction.get_call_type


class QuickCompilation:
    """What is saved between `begin` and `end`, which are called under Numba's lock, and inside each other."""

    def __init__(self) -> None:
        self._n_begun = 0
        self._collected = False
        self._signatures: dict[Any, Any] = {}
        self._kept_alive: list[Any] = []  # the keys name objects by identity: it must not be given to another one

    def begin(self) -> None:
        """A kernel's compilation begins."""
        if self._n_begun == 0:
            self._collected = gc.isenabled()
            gc.disable()
        self._n_begun += 1

    def end(self) -> None:
        """It ended. Nothing is kept for the next one: there may be more implementations by then."""
        self._n_begun -= 1
        if self._n_begun == 0:
            self._signatures.clear()
            self._kept_alive.clear()
            if self._collected:
                gc.enable()

    def signature(self, function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
        """The signature of a call, as Numba finds it."""
        if self._n_begun == 0 or keywords:
            return _find_signature(function, context, arguments, keywords)
        options = ConfigStack.top_or_none()  # type: ignore[no-untyped-call]
        # By identity, because Numba notes the implementation that it chose in the function's own object.
        key = (id(function), id(context), id(options), tuple(arguments))
        found = self._signatures.get(key)
        if found is None:
            found = self._signatures[key] = _find_signature(function, context, arguments, keywords)
            self._kept_alive += (function, context, options)
        return found


quick_compilation = QuickCompilation()


def _get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
    return quick_compilation.signature(self, context, args, kws)


# Nothing public leads there. A Numba that asks in another way compiles as it would without us.
if list(signature(_find_signature).parameters) == ["self", "context", "args", "kws"]:
    BaseFunction.get_call_type = _get_call_type  # type: ignore[method-assign]
