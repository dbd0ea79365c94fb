"""Write the figures of a run into `docs/benchmarks.md` and draw `docs/benchmarks.svg`.

    python -m benchmarks.report RESULTS.json [--peers PEERS.json] [--remark "taken on a busy machine"]

The results come from `python -m benchmarks.run --json` and `python -m benchmarks.peers --json`. Everything behind the
page's line `<!-- figures -->` is written anew; the text above it is not touched.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import matplotlib

from benchmarks.tables import Lines, growth_lines, markdown, peer_lines, query_lines, start_lines

PAGE, PLOT = Path("docs/benchmarks.md"), Path("docs/benchmarks.svg")
MARK = "<!-- figures -->"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report")
    parser.add_argument("results", type=Path)
    parser.add_argument("--peers", type=Path, help="results of benchmarks.peers; without them its section stays away")
    parser.add_argument("--remark", default="", help="a sentence about how the figures were taken")
    arguments = parser.parse_args()
    report = json.loads(arguments.results.read_text(encoding="utf-8"))
    peers = json.loads(arguments.peers.read_text(encoding="utf-8")) if arguments.peers else None
    above, _ = PAGE.read_text(encoding="utf-8").split(MARK)
    draw(report)
    PAGE.write_text(above + MARK + "\n" + figures(report, peers, arguments.remark), encoding="utf-8")


def figures(report: dict[str, Any], peers: dict[str, Any] | None, remark: str) -> str:
    """The part of the page that depends on the figures."""
    threads = f"{report['threads']} threads" if report["threads"] else "all cores"
    parts = [
        f"## Figures of {report['date']}",
        f"{report['machine']}; {report['rows']:,} rows, {threads}, median of {report['repeat']} runs, "
        f"seed {report['seed']}.{' ' + remark if remark else ''}",
        "![Rows per second of every query, SparkRex and DuckDB SQL by hand](benchmarks.svg)",
        markdown(without(query_lines(report), "checksum", "result rows")),
    ]
    for title, lines in (
        ("First and second query of a process, 1,000 rows", start_lines(report)),
        ("Time against rows, patterns that find nothing", growth_lines(report)),
        ("Beside other engines", peer_lines(peers) if peers else []),
    ):
        if len(lines) > 1:
            parts += [f"### {title}", markdown(lines)]
    if report["failed"]:
        parts.append("Failed: " + ", ".join(report["failed"]) + ".")
    return "\n" + "\n\n".join(parts) + "\n"


def without(lines: Lines, *names: str) -> Lines:
    """The table without some of its columns."""
    kept = [place for place, name in enumerate(lines[0]) if name not in names]
    return [[line[place].replace("|", "\\|") for place in kept] for line in lines]


def draw(report: dict[str, Any]) -> None:
    """Bars of rows per second on a logarithmic scale, one pair per query."""
    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "benchmarks"  # the same figures give the same file
    queries = report["queries"][::-1]
    places = range(len(queries))
    figure, axes = pyplot.subplots(figsize=(9, 0.26 * len(queries) + 1.2), layout="constrained")
    axes.barh([place + 0.2 for place in places], [query["rate"] / 1e6 for query in queries], 0.4, label="SparkRex")
    by_hand = [(place, query) for place, query in zip(places, queries, strict=True) if query["duckdb_seconds"]]
    axes.barh(
        [place - 0.2 for place, _ in by_hand],
        [query["rows"] / statistics.median(query["duckdb_seconds"]) / 1e6 for _, query in by_hand], 0.4,
        label="DuckDB SQL by hand",
    )
    with_goal = [(place, query) for place, query in zip(places, queries, strict=True) if query["rate_goal"]]
    axes.plot(
        [query["rate_goal"] / 1e6 for _, query in with_goal], [place + 0.2 for place, _ in with_goal], "k|",
        markersize=9, label="goal",
    )
    axes.set_yticks(list(places), [query["name"] for query in queries], fontsize=8)
    axes.set_xscale("log")
    axes.set_xlabel(f"million rows per second, {report['rows']:,} rows, {report['date']}")
    axes.set_ylim(-0.7, len(queries) - 0.3)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
    figure.savefig(PLOT, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    main()
