"""The page of the command: its files are written, its commands are run, and print what it shows, but for times."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from sparkrex.cli.main import COMMANDS, main

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "command.md").read_text(encoding="utf-8")
_FILE = re.compile(r"`(?P<name>[\w.]+)`[^\n`]*:\n\n```\w+\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_SESSION = re.compile(r"^```console\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def sessions() -> Iterator[tuple[str, str]]:
    """Every command of the page, with what it prints."""
    for block in _SESSION.finditer(PAGE):
        for part in block["text"].split("$ rex ")[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d\d s", "0.00 s", text)


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for file in _FILE.finditer(PAGE):
        Path(file["name"]).write_text(file["text"], encoding="utf-8")
    assert {path.name for path in tmp_path.iterdir()} == {"ticks.csv", "v.sql", "wrong.sql"}
    commands = list(sessions())
    assert len(commands) == 7
    for command, shown in commands:
        main(shlex.split(command))
        printed = capsys.readouterr()
        assert without_times(printed.out + printed.err) == shown, command


def test_the_page_names_only_commands_that_are_there() -> None:
    named = set(re.findall(r"(?<!%)rex ([a-z]+)", PAGE))
    assert named <= {command.name for command in COMMANDS}, named
