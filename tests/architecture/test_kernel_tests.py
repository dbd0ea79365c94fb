"""Every module with a kernel has a test module of its name."""

from __future__ import annotations

import ast
from pathlib import Path

import sparkrex

SOURCE = Path(sparkrex.__file__).parent
TESTS = Path(__file__).parents[1]
DECORATORS = {"njit", "inlined", "shared", "allocating"}
"""What makes a function a kernel, or a part of kernels. A module of numbers or of named tuples has none."""


def kernel_modules() -> set[str]:
    """Modules with kernels, as paths without a suffix."""
    folders = [SOURCE / "kernels", *SOURCE.glob("modes/*/kernels")]
    files = [file for folder in folders for file in folder.glob("*.py") if _has_kernel(file.read_text())]
    return {file.relative_to(SOURCE).with_suffix("").as_posix() for file in files}


def test_every_module_of_kernels_has_its_tests() -> None:
    assert {name for name in kernel_modules() if not _test_of(name).exists()} == set()


def test_kernels_are_known_by_their_decorators() -> None:
    assert {"kernels/order", "kernels/path", "modes/events/kernels/windows"} <= kernel_modules()
    assert not {"kernels/lazy", "modes/events/kernels/arguments", "modes/events/kernels/codes"} & kernel_modules()
    assert _has_kernel("@njit(cache=True)\ndef f(x):\n    return x\n")
    assert _has_kernel("@inlined\ndef f(x):\n    return x\n")
    assert not _has_kernel("inlined = njit(cache=True)\n\n\n@cache\ndef f(x):\n    return x\n")


def _has_kernel(text: str) -> bool:
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
    decorators = (decorator for function in functions for decorator in function.decorator_list)
    called = (decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in decorators)
    return any(isinstance(name, ast.Name) and name.id in DECORATORS for name in called)


def _test_of(name: str) -> Path:
    folder, _, module = name.rpartition("/")
    return TESTS / folder / f"test_{module}.py"
