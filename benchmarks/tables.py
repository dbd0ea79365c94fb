"""The figures of a run as tables: lists of lines of cells, the header first."""

from __future__ import annotations

import statistics
from typing import Any

FIRST_GOAL, SECOND_GOAL = 0.5, 0.03
"""Most seconds of the first and of the second query of a process."""
POWER_GOAL = 1.15
"""Most that a straight line may seem to bend, timings being what they are."""

Lines = list[list[str]]


def query_lines(report: dict[str, Any]) -> Lines:
    """One line per query."""
    header = [
        "query", "what", "matcher", "M rows/s", "warm s", "cold s", "DuckDB s", "x DuckDB", "kernel M rows/s",
        "peak MB", "result rows", "checksum", "answer", "goals",
    ]
    return [header, *(_query_line(measured) for measured in report["queries"])]


def _query_line(measured: dict[str, Any]) -> list[str]:
    by_hand = measured["duckdb_seconds"]
    return [
        measured["name"], measured["title"], measured["matcher"], f"{measured['rate'] / 1e6:.1f}",
        f"{statistics.median(measured['seconds']):.3f}", f"{measured['cold']:.2f}" if "cold" in measured else "",
        f"{statistics.median(by_hand):.3f}" if by_hand else "",
        f"{measured['ratio']:.1f}" if "ratio" in measured else "",
        f"{measured['kernel_rate'] / 1e6:.0f}" if "kernel_rate" in measured else "", f"{measured['peak_mb']:.0f}",
        f"{measured['result_rows']:,}", measured["checksum"], _answer(measured), goals(measured),
    ]


def _answer(measured: dict[str, Any]) -> str:
    if measured["wrong"]:
        return "WRONG"
    return "right; DuckDB's WRONG" if measured.get("duckdb_wrong") else "right"


def goals(measured: dict[str, Any]) -> str:
    """Each goal of a query and whether it is reached."""
    kinds = (
        ("rate_goal", "rate", "{:.0f}M", 1e6), ("ratio_goal", "ratio", "{:g}x", 1),
        ("kernel_goal", "kernel_rate", "kernel {:.0f}M", 1e6),
    )
    parts = [
        form.format(measured[goal] / unit) + (" ok" if measured.get(figure, 0) >= measured[goal] else " MISSED")
        for goal, figure, form, unit in kinds
        if measured[goal] is not None
    ]
    if not measured["reads_match"] and measured["matcher"] != "automaton":
        parts.append("automaton MISSED")
    return ", ".join(parts)


def start_lines(report: dict[str, Any]) -> Lines:
    """One line per query whose start was measured."""
    lines = [["query", "import ms", "first ms", "second ms", "goals"]]
    for start in report["starts"]:
        first = f"{FIRST_GOAL * 1000:.0f} {'ok' if start['first'] <= FIRST_GOAL else 'MISSED'}"
        second = f"{SECOND_GOAL * 1000:.0f} {'ok' if start['second'] <= SECOND_GOAL else 'MISSED'}"
        figures = [f"{start[part] * 1000:.0f}" for part in ("import", "first", "second")]
        lines.append([start["name"], *figures, f"{first}, {second}"])
    return lines


def growth_lines(report: dict[str, Any]) -> Lines:
    """One line per growing pattern: seconds at each size, with the growth since the size before."""
    if not report["growth"]:
        return []
    lines = [["query", *(f"{size:,} rows" for size in report["growth"][0]["sizes"]), "growth", "answer"]]
    for growth in report["growth"]:
        factors = ["", *(f" (x{factor:.1f})" for factor in growth["doublings"])]
        cells = [f"{seconds:.3f} s{factor}" for seconds, factor in zip(growth["medians"], factors, strict=True)]
        bend = f"n^{growth['power']:.2f} {'ok' if growth['power'] <= POWER_GOAL else 'MISSED'}"
        lines.append([growth["name"], *cells, bend, "WRONG" if growth["wrong"] else "right"])
    return lines


def peer_lines(report: dict[str, Any]) -> Lines:
    """One line per peer and query."""
    lines = [["query", "rows", "peer", "its M rows/s", "SparkRex M rows/s", "DuckDB M rows/s", "x peer", "its answer"]]
    for run in report["peers"]:
        ours = run["ours"]
        by_hand = ours["duckdb_seconds"]
        lines.append([
            ours["name"], f"{run['rows']:,}", run["peer"], f"{run['rate'] / 1e6:.3g}" if "rate" in run else "",
            f"{ours['rate'] / 1e6:.2f}" + (" WRONG" if ours["wrong"] else ""),
            f"{run['rows'] / statistics.median(by_hand) / 1e6:.2f}" if by_hand else "",
            f"{ours['rate'] / run['rate']:.1f}" if "rate" in run else "", run.get("answer") or run["problem"],
        ])
    return lines


def show(lines: Lines) -> None:
    """Print columns as wide as they need to be."""
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def markdown(lines: Lines) -> str:
    """The same for a page."""
    header, *rest = lines
    rule = ["---"] * len(header)
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, rule, *rest))
