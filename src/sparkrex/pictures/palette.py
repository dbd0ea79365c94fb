"""Colours: those of Okabe and Ito, which any eyes can tell apart, and lighter ones for dark pages."""

from __future__ import annotations

VARIABLES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d1f", "#6f6f6f")
"""By the number of a variable; the ninth has the first one again."""
VARIABLES_DARK = ("#5ab4f0", "#f28c52", "#2cc79b", "#e5a3cb", "#f2b83d", "#9cd3f5", "#c9ab5e", "#b5b5b5")

KINDS = ("#7a8798", "#009e73", "#d55e00", "#cc79a7", "#0072b2")
"""Of bands: matches, and in diffs those that are the same, came, went, or moved; see `diff.KINDS`."""
KINDS_DARK = ("#8c9aab", "#2cc79b", "#f28c52", "#e5a3cb", "#5ab4f0")


def variable_class(number: int) -> str:
    """The class of a variable's colour, as styles name it."""
    return f"v{number % len(VARIABLES)}"


def stroke_class(number: int) -> str:
    """The same of a line."""
    return f"vs{number % len(VARIABLES)}"


def style() -> str:
    """The rules of a picture, for light pages and dark ones."""
    light = _rules("#ffffff", "#1f2933", "#5f6b7a", "#e4e8ee", "#aab4c0", "#8793a1", VARIABLES, KINDS)
    dark = _rules("#14181f", "#e6edf3", "#9aa7b5", "#28303b", "#4a5666", "#7d8a99", VARIABLES_DARK, KINDS_DARK)
    return (
        "text{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',Arial,sans-serif}"
        ".h{font-size:14px;font-weight:600}.p{font-size:12px;font-weight:600}.e{text-anchor:end}.m{text-anchor:middle}"
        "path{fill:none;stroke-linejoin:round;stroke-linecap:round}.l{stroke-width:1}.r{stroke-width:2.2}"
        ".t{stroke-width:1;stroke-dasharray:2 2}.b{opacity:.14}.bl{opacity:.5}.w{opacity:.3}.s{opacity:.42}"
        f"{light}@media(prefers-color-scheme:dark){{{dark}}}"
    )


def _rules(
    page: str, ink: str, pale: str, grid: str, frame: str, line: str, variables: tuple[str, ...], kinds: tuple[str, ...]
) -> str:
    rules = [
        f".bg{{fill:{page}}}text{{fill:{ink}}}.n{{fill:{pale}}}.g{{stroke:{grid}}}.f{{stroke:{frame}}}"
        f".l{{stroke:{line}}}.c{{fill:{line}}}.o{{stroke:{page};stroke-width:.8}}"
    ]
    for name, colours in (("v", variables), ("k", kinds)):
        rules += [
            f".{name}{number}{{fill:{one}}}.{name}s{number}{{stroke:{one}}}" for number, one in enumerate(colours)
        ]
    return "".join(rules)
