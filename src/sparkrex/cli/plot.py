"""`rex plot`: the matches of a query on the rows of files, as a page, an SVG or a PNG."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sparkrex as rex
from sparkrex.cli.arguments import add_query_arguments
from sparkrex.cli.command import Command
from sparkrex.cli.failures import Failed, UsageError
from sparkrex.cli.files import open_table
from sparkrex.cli.own_input import refuse_own_input
from sparkrex.cli.progress import Progress
from sparkrex.cli.query import compiled_query, is_on_spark, query_text
from sparkrex.cli.standard_output import say
from sparkrex.cli.values import query_argument

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

FORMATS = (".html", ".svg", ".png")


def _add_arguments(plot: argparse.ArgumentParser) -> None:
    add_query_arguments(plot)
    plot.add_argument("-o", "--output", metavar="PATH", required=True, help="a .html, .svg or .png file")
    plot.add_argument("--overwrite", action="store_true", help="replace the output if it exists")
    plot.add_argument("--x", metavar="COLUMN", help="the column of the x axis (default: what ORDER BY names)")
    plot.add_argument("--y", metavar="COLUMN", help="that of the y axis (default: the first number that DEFINE reads)")
    plot.add_argument(
        "--key", action="append", default=[], type=query_argument, metavar="NAME=VALUE",
        help="draw the partition with this key, typed as --arg is; may be repeated",
    )
    plot.add_argument(
        "--between", nargs=2, metavar=("LOW", "HIGH"),
        help="draw a range of x only: numbers, or times such as 2026-11-02",
    )
    plot.add_argument("--panels", type=int, default=6, metavar="N", help="how many partitions are drawn (default: 6)")
    plot.add_argument("--title", metavar="TEXT", help="what stands above (default: the pattern)")


def plot(arguments: argparse.Namespace) -> None:
    """Run the query, draw, write the file, print on standard error what the picture shows."""
    output = Path(arguments.output)
    if output.suffix.lower() not in FORMATS:
        raise UsageError(f"a picture cannot be written to {output}: name a .html, .svg or .png file")
    if is_on_spark(arguments):
        raise UsageError("pictures are made in memory: leave --master and --remote out")
    if output.exists() and not arguments.overwrite:
        raise UsageError(f"{output} exists; --overwrite replaces it")
    refuse_own_input(str(output), arguments.tables, arguments.query)
    arguments.streams = []
    progress = Progress(sys.stderr)
    with progress.stage("plan"):
        query = compiled_query(arguments, query_text(arguments))
    with progress.stage("read"):
        tables = {table.name: open_table(table) for table in arguments.tables}
    with progress.stage("draw"):
        picture = rex.plot(
            query, tables, x=arguments.x, y=arguments.y, key=_key(arguments.key), between=_between(arguments.between),
            panels=arguments.panels, title=arguments.title,
        )
    with progress.stage("write"):
        _write(picture, output)
    say(f"{repr(picture).removeprefix('<Plot ').replace('>', '', 1)}\n{output}")
    say(progress.summary())


def _key(pairs: Sequence[tuple[str, object]]) -> dict[str, Any] | None:
    """The values asked for, by key: of one that is given twice, both."""
    values: dict[str, list[object]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return dict(values) or None


def _between(given: Sequence[str] | None) -> tuple[Any, Any] | None:
    if given is None:
        return None
    low, high = (query_argument(f"x={text}")[1] for text in given)
    return low, high


def _write(picture: Any, output: Path) -> None:
    """The file appears whole or not at all."""
    unfinished = output.with_name(f".{os.getpid()}.{output.name}")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        picture.save(unfinished)
        unfinished.replace(output)
    except OSError as error:
        raise Failed(f"{output} cannot be written: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


PLOT = Command(
    "plot", "draw the matches of a query",
    "Draw the matches of a query on the rows of files: a page that can be zoomed, an SVG or a PNG. Each partition is a "
    "panel.", _add_arguments, plot,
)
