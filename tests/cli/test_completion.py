"""Completion as a shell does it: bash on a terminal of its own, where Tab is typed."""

from __future__ import annotations

import os
import pty
import re
import select
import time
from typing import TYPE_CHECKING

from tests.cli.commands import write_inputs

from sparkrex.cli.completion import bash_script, fish_script, words_of, zsh_script
from sparkrex.cli.main import COMMANDS, make_parser

if TYPE_CHECKING:
    from pathlib import Path

DONE = "\x15"
"""Ctrl-U: takes the line away."""


def typed(folder: Path, keys: list[str]) -> list[str]:
    """What bash makes of each line of keys, with the script sourced."""
    script = folder / "rex.bash"
    script.write_text(bash_script(list(words_of(make_parser()))), encoding="utf-8")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        environment = {"PATH": os.environ["PATH"], "PS1": "> ", "TERM": "dumb", "INPUTRC": "/dev/null"}
        os.execvpe("bash", ["bash", "--norc", "--noprofile"], environment)
    try:
        # No line may wrap, and what comes before the first mark is not of interest.
        os.write(terminal, b"stty columns 400; . ./rex.bash; echo read''y\n")
        _read(terminal, "ready\r\n> ")
        shown = []
        for line in keys:
            os.write(terminal, f"{line}{DONE}echo mark''ed\n".encode())
            shown.append(_read(terminal, "marked\r\n> "))
        return shown
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)


def _read(terminal: int, end: str) -> str:
    """What comes up to a text."""
    text, limit = "", time.monotonic() + 30
    while end not in text:
        assert time.monotonic() < limit, text
        if select.select([terminal], [], [], 1)[0]:
            text += os.read(terminal, 65536).decode()
    return text


COMPLETED = {
    "rex ru\t": "rex run ",
    "rex run --fo\t": "rex run --format ",
    "rex run q.sql --format pa\t": "--format parquet ",
    "rex run --table ticks=ti\t": "--table ticks=ticks.parquet ",
    "rex run -t ticks=ticks.parquet q\t": "ticks=ticks.parquet q.sql ",
    "rex run --set partition\t": "--set partition_gap=",
    "rex run --set matcher=\t": "--set matcher=",
    "rex workload ex\t": "rex workload explain ",
    "rex workload run --tie-\t": "run --tie-break ",
    "rex completion f\t": "rex completion fish ",
    "rex check --js\t": "rex check --json ",
}


def test_bash(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    for (keys, expected), shown in zip(COMPLETED.items(), typed(tmp_path, list(COMPLETED)), strict=True):
        assert expected in shown, (keys, shown)


def test_bash_offers_what_there_is(tmp_path: Path) -> None:
    (line,) = typed(tmp_path, ["rex \x1b?"])
    assert {command.name for command in COMMANDS} <= set(re.findall(r"\w+", line))


def test_every_command_and_option_is_in_every_script() -> None:
    words = list(words_of(make_parser()))
    paths = {" ".join(each.path) for each in words}
    assert {"", "run", "workload", "workload run", "completion"} <= paths
    scripts = bash_script(words), zsh_script(words), fish_script(words)
    for each in words:
        for option in each.options:
            for name in option.names:
                assert all(name.lstrip("-") in script for script in scripts), (each.path, name)
