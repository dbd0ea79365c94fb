"""The processes below one: what Spark starts, and its Python workers."""

from __future__ import annotations

import subprocess


def descendants(parent: int) -> dict[int, str]:
    """The processes below one, with their commands."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    below: dict[int, str] = {}
    lines = [line.split(None, 2) for line in listed.splitlines()]
    found = {parent}
    while more := [line for line in lines if int(line[1]) in found and int(line[0]) not in found]:
        found |= {int(line[0]) for line in more}
        below |= {int(line[0]): line[2] for line in more}
    return below


def python_workers(parent: int) -> list[int]:
    """Those of a driver."""
    names = ("pyspark.daemon", "pyspark.worker")
    return [pid for pid, command in descendants(parent).items() if any(name in command for name in names)]
