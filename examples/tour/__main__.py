"""Runs the tour: one line per stop, and the path of the page last."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from examples.tour import events, page, rows, segments, sqlts, stream, trends, windows, workload
from examples.tour.hosts import Memory, Spark, local_spark, rows_of
from examples.tour.stop import compare

if TYPE_CHECKING:
    from examples.tour.hosts import Host
    from examples.tour.stop import Stop

STOPS = {
    "rows": rows.STOP, "windows": windows.STOP, "segments": segments.STOP, "events": events.STOP, "trends": trends.STOP,
    "sqlts": sqlts.STOP, "workload": workload.STOP, "stream": stream.STOP,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m examples.tour", description="A tour of all ways to ask.")
    parser.add_argument("--memory", action="store_true", help="run in memory, without Spark")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for data and the page (default: out)")
    given = parser.parse_args(arguments)
    folder = given.out / "tour"
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    if given.memory:
        visits = tour(Memory())
        host = Memory.name
    else:
        with local_spark(folder) as session:
            print(f"{'Spark starts':<12} {time.perf_counter() - start:6.1f} s", flush=True)
            visits = tour(Spark(session, folder))
        host = Spark.name
    seconds = time.perf_counter() - start
    target = given.out / "tour.html"
    target.write_text(page.write(visits, host, seconds), encoding="utf-8")
    n_right = sum(visit.score.is_right for visit in visits)
    print(f"{n_right} of {len(visits)} stops found what was planted and nothing else, in {seconds:.0f} s")
    print(target)
    return 0 if n_right == len(visits) else 1


def tour(host: Host, n_keys: int | None = None) -> list[page.Visit]:
    """All stops, one after the other."""
    visits = []
    for name, stop in STOPS.items():
        visits.append(visit(host, name, stop, n_keys))
        print(visits[-1].line, flush=True)
    return visits


def visit(host: Host, name: str, stop: Stop, n_keys: int | None = None) -> page.Visit:
    """Make the data of a stop, ask, compare with what was planted, and draw some partitions. All of it is timed."""
    start = time.perf_counter()
    scene = stop.scene(n_keys)
    found, shown = host.answer(name, stop, scene)
    score = compare(scene.planted, stop.answers(found))
    has_key = stop.key in found.column_names
    picture = stop.draw(shown, rows_of(found, stop.key, scene.shown) if has_key else found)
    return page.Visit(name, stop, score, scene.table.num_rows, time.perf_counter() - start, found, picture)


if __name__ == "__main__":
    sys.exit(main())
