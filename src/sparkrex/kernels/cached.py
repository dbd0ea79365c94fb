"""Numba's `njit` with one cache of compiled code for all processes of a user, wherever the package lies.

The cache is in `NUMBA_CACHE_DIR`, else in the user's cache folder, else, if that cannot be written, in a temporary one.
Numba's own places fail for a package inside a zip, and change with the folder that Spark unpacks a package to. Code of
different sources never meets: its folder is named by a digest of all kernels, because a kernel contains others that it
calls. Nor does code with and without checks of bounds (`NUMBA_BOUNDSCHECK`), which Numba's own key does not tell apart.
Numba writes every file aside and renames it, so processes that compile the same at once do no harm.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numba
from numba.core import config, event
from numba.core.caching import CacheImpl, _CacheLocator

from sparkrex.kernels.compile_time import quick_compilation
from sparkrex.kernels.compiling import note_end, note_start
from sparkrex.kernels.kernel_compiler import pipeline_options

_PACKAGE = "sparkrex"


def njit(**options: Any) -> Any:
    """Numba's decorator."""
    return numba.njit(**options, **pipeline_options())


class KernelCacheLocator(_CacheLocator):
    """Says where Numba keeps the compiled code of our kernels; of no other function."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._py_file = function.__code__.co_filename  # Numba names it in warnings

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> KernelCacheLocator | None:
        return cls(py_func) if _is_kernel(py_func) else None

    def get_cache_path(self) -> str:
        return str(cache_folder(getattr(config, "CACHE_DIR", ""), bool(getattr(config, "BOUNDSCHECK", None))))

    def get_source_stamp(self) -> str:
        return source_digest()

    def get_disambiguator(self) -> str:
        return str(self._function.__code__.co_firstlineno)


@cache
def cache_folder(chosen: str, checks_bounds: bool = False) -> Path:
    """The folder of our kernels' compiled code inside the chosen one, or inside that of the user."""
    name = f"kernels-{source_digest()[:16]}{'-checked' if checks_bounds else ''}"
    base = Path(chosen) if chosen else _user_folder()
    for folder in (base / name, _temporary_folder(name)):
        if _is_writable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="sparkrex-"))  # of this process only


@cache
def source_digest() -> str:
    """A digest of the sources of all kernels, read as the package is: from a folder or from a zip."""
    root = resources.files(_PACKAGE)
    folders = [("", root / "kernels")]
    folders += [(mode.name, mode / "kernels") for mode in (root / "modes").iterdir() if mode.is_dir()]
    sources = {
        f"{name}/{file.name}": file.read_bytes()
        for name, folder in folders if folder.is_dir()
        for file in folder.iterdir() if file.name.endswith(".py")
    }
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(name.encode() + b"\0" + sources[name] + b"\0")
    return digest.hexdigest()


def _user_folder() -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (home if home.is_absolute() else Path("~/.cache").expanduser()) / "sparkrex"


def _temporary_folder(name: str) -> Path:
    owner = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"sparkrex-{owner}" / name


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Compiled code is run: a folder that somebody else has put there is not trusted.
        if hasattr(os, "getuid") and any(place.stat().st_uid != os.getuid() for place in (folder, folder.parent)):
            return False
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError):  # RuntimeError: no home folder
        return False
    return True


class _Listener(event.Listener):
    """Tells `compiling` when Numba compiles, and `compile_time` when that is ours; loading code is no compilation."""

    def on_start(self, event: Any) -> None:
        note_start()
        if _is_kernel(event.data["dispatcher"].py_func):
            quick_compilation.begin()

    def on_end(self, event: Any) -> None:
        note_end()
        if _is_kernel(event.data["dispatcher"].py_func):
            quick_compilation.end()


def _is_kernel(function: Any) -> bool:
    parts = str(function.__module__).split(".")
    return parts[0] == _PACKAGE and "kernels" in parts


_locators: list[Any] = CacheImpl._locator_classes
_locators.insert(0, KernelCacheLocator)
event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]
