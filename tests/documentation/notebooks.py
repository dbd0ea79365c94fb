"""Runs the notebooks of `examples/`, without Jupyter: what they show is what comes out.

`python -m tests.documentation.notebooks --fill [NOTEBOOK ...]` runs them and writes their outputs anew; read them
before you commit. A cell shows what it prints, and its last expression as text.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"

Notebook = dict[str, Any]


def paths() -> list[Path]:
    """All notebooks."""
    return sorted(EXAMPLES.glob("*.ipynb"))


def read(path: Path) -> Notebook:
    """A notebook as its JSON."""
    notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def run(notebook: Notebook, name: str) -> Notebook:
    """The notebook with the outputs that its cells have now; they run in order, in one namespace."""
    names: dict[str, Any] = {"__name__": "notebook"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            cells.append(cell)
            continue
        count += 1
        outputs = _run_cell("".join(cell["source"]), names, f"{name}, cell {count}", count)
        cells.append({**cell, "execution_count": count, "outputs": outputs})
    return {**notebook, "cells": cells}


def _run_cell(source: str, names: dict[str, Any], where: str, count: int) -> list[dict[str, Any]]:
    """What a cell prints, and its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, where, "exec"), names)  # the project's own notebooks
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        shown = {"text/plain": _lines(repr(value))}
        outputs.append({"data": shown, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    """Text as notebooks keep it."""
    return text.splitlines(keepends=True)


def text_of(notebook: Notebook) -> str:
    """The file of a notebook."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Command line: see the module's text."""
    for path in [Path(argument) for argument in arguments if argument != "--fill"] or paths():
        notebook = read(path)
        filled = run(notebook, path.name)
        changed = filled != notebook
        if "--fill" in arguments and changed:
            path.write_text(text_of(filled), encoding="utf-8")
        print(f"{path.name}: {'other outputs' if changed else 'as it was'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
