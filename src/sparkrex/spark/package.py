"""The package as a zip that Spark sends to its executors: what `rex.ship` does.

Only what is Python can travel so. What the package needs has compiled parts, built for one Python and one kind of
machine, and must be in the workers' environment.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import tempfile
import weakref
import zipfile
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  as everybody writes it

import sparkrex
from sparkrex.spark.shipping import NEEDED, workers_lack
from sparkrex.spark.versions import need_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.resources.abc import Traversable

    from pyspark.sql import SparkSession

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Zips of the same files are the same bytes."""
_shipped: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()


def ship(spark: SparkSession) -> None:
    """Send the package to the executors of a session, then ask a worker whether it lacks anything beside."""
    context: Any = getattr(spark, "_sc", None)  # Connect sessions have none, and raise if asked by its public name
    if context is None:
        need_version((4, 0), "Spark Connect")
    owner = spark if context is None else context
    content = archive()
    # What was sent under a name stays as it is. Changed sources have another name, and the last one is found first.
    name = f"sparkrex-{sparkrex.__version__}-{hashlib.sha256(content).hexdigest()[:12]}.zip"
    if name not in _shipped.setdefault(owner, set()):
        folder = tempfile.mkdtemp(prefix="sparkrex-")
        # A classic session's executors fetch the file when they first need it, new ones as long as the session lives.
        weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
        path = Path(folder) / name
        path.write_bytes(content)
        if context is None:
            spark.addArtifacts(str(path), pyfile=True)
        else:
            context.addPyFile(str(path))
        _shipped[owner].add(name)
    check_worker(spark)


def archive() -> bytes:
    """The package as a zip."""
    package = resources.files("sparkrex")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, source in sorted(_sources(package, package.name), key=lambda found: found[0]):
            file.writestr(zipfile.ZipInfo(name, _LONG_AGO), source.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def check_worker(spark: SparkSession) -> None:
    """Raise REX413 if a worker of the session cannot import the package, or what that needs."""
    asked = F.udf(_teller(), "string", useArrow=False)  # without Arrow, which may be what is missing
    python, *missing = spark.range(1).select(asked("id")).collect()[0][0].split("\n")
    if missing:
        raise workers_lack(python, ", ".join(missing))


def _sources(folder: Traversable, name: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_file():
            yield f"{name}/{entry.name}", entry
        elif entry.name != "__pycache__":
            yield from _sources(entry, f"{name}/{entry.name}")


def _teller() -> Callable[[int], str]:
    """A function by value that tells which Python runs it, and which packages are not there."""
    needed = NEEDED

    def tell(_: int) -> str:
        import importlib.util
        import sys

        return "\n".join([sys.executable, *(name for name in needed if importlib.util.find_spec(name) is None)])

    tell.__module__ = "__main__"  # cloudpickle sends functions of this module by value
    return tell
