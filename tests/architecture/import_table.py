"""Which part of `sparkrex` may import what, and the check of a source tree against such a table.

A *unit* is a path below the package without `.py`: `errors`, `scalar`, `hosts/duckdb`. A file belongs to the longest
unit of the table that its path starts with, so one file of a folder can have rights of its own. Imports count wherever
they stand, inside functions and under TYPE_CHECKING too: a type is a dependency of the reader, if not of the program.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PACKAGE = "sparkrex"


@dataclass(frozen=True)
class Allowed:
    """What a unit may import: other units of the package and packages from outside the standard library."""

    units: frozenset[str]
    packages: frozenset[str]


def allow(*units: str, packages: str = "") -> Allowed:
    """`allow("ir", "errors", packages="numpy sqlglot")`."""
    return Allowed(frozenset(units), frozenset(packages.split()))


def violations(root: Path, table: Mapping[str, Allowed]) -> list[str]:
    """Every import below `root` (the package's folder) that the table does not allow, as `file:line: what`."""
    found = []
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root).with_suffix("").as_posix().removesuffix("/__init__")
        unit = unit_of(place, table)
        if unit is None:
            found.append(f"{path.relative_to(root)}: not in the import table; say there what it may import")
            continue
        for line, module in imported_modules(path, root):
            reason = refusal(unit, module, root, table)
            if reason:
                found.append(f"{path.relative_to(root)}:{line}: {reason}")
    return found


def unit_of(place: str, table: Mapping[str, Allowed]) -> str | None:
    """The longest unit that holds a place: `hosts/duckdb` before `hosts`."""
    parts = place.split("/")
    for length in range(len(parts), 0, -1):
        candidate = "/".join(parts[:length])
        if candidate in table:
            return candidate
    return None


def refusal(unit: str, module: str, root: Path, table: Mapping[str, Allowed]) -> str | None:
    """Why `unit` may not import `module`, None if it may."""
    top, _, rest = module.partition(".")
    if top != PACKAGE:
        if top in sys.stdlib_module_names or top in table[unit].packages:
            return None
        return f"{unit} may not import {top}"
    place = place_of(rest, root)
    target = unit_of(place, table) if place else PACKAGE
    if target == unit or target in table[unit].units:
        return None
    return f"{unit} may not import {target or place}"


def place_of(dotted: str, root: Path) -> str:
    """The file or folder that a dotted name below the package means: `scalar.guards.x` is `scalar/guards`."""
    place = ""
    for part in filter(None, dotted.split(".")):
        candidate = f"{place}/{part}" if place else part
        if not (root / f"{candidate}.py").exists() and not (root / candidate).is_dir():
            break
        place = candidate
    return place


def imported_modules(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything a file imports; `from x import y` gives `x.y`, y may be a module."""
    package = [PACKAGE, *path.relative_to(root).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join(base + ([node.module] if node.module else []))
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"
