"""`rex studio`: what it is given, what it prints, how it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import urllib.request
from typing import TYPE_CHECKING

import pytest
from tests.cli.commands import started, write_inputs

from sparkrex.cli.main import main
from sparkrex.cli.studio import _tables

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.slow  # searches in a process of its own, which loads kernels

def test_tables_are_called_what_their_files_are_called() -> None:
    given = ["a/ticks.parquet", "b/2026-11 trades.csv.gz", "u=c/x.json", "days/", "s3=plain/y.tsv"]
    assert {table.name: table.path for table in _tables(given)} == {
        "ticks": "a/ticks.parquet", "t_2026_11_trades": "b/2026-11 trades.csv.gz", "u": "c/x.json", "days": "days/",
        "s3": "plain/y.tsv",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.parquet"], 3, "there is no file none.parquet"),
        (["q.txt"], 2, "does not end like what is read"),
        (["ticks.parquet", "Ticks=other.parquet"], 2, "two tables are called Ticks"),
        (["ticks.parquet", "--port", "70000"], 2, "a port is a number"),
        (["ticks.parquet", "--seconds", "0"], 2, "give a number above zero"),
    ],
)
def test_refusals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str],
    code: int, message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path)
    assert main(["studio", "--no-browser", *arguments]) == code
    assert message in capsys.readouterr().err


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_inputs(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["studio", "--no-browser", "--port", port, str(tmp_path / "ticks.parquet")]) == 3
    assert f"port {port} cannot be opened" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_inputs(tmp_path)
    monkeypatch.delitem(sys.modules, "sparkrex.studio.serving", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["studio", "--no-browser", str(tmp_path / "ticks.parquet")]) == 3
    assert "pip install 'sparkrex[studio]'" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_it_prints_the_address_serves_this_machine_only_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    server = started("studio", "--no-browser", str(tmp_path / "ticks.parquet"), scratch=tmp_path)
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=[\w-]{43}", address)
    assert found is not None
    with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(address) as answer:
        assert answer.url == f"http://127.0.0.1:{found[1]}/"
        assert b"<title>rex studio</title>" in answer.read()
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", int(found[1])), timeout=5):
        pass
    os.kill(server.pid, signal.SIGINT)
    out, errors = server.communicate(timeout=60)
    assert (out, errors.split()) == ("", ["Ctrl-C", "ends", "it"])
    assert server.returncode == 0
