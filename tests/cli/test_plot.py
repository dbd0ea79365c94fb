"""`rex plot`: what it writes, says and refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.commands import write_inputs

from sparkrex.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "begin"), [("m.html", b"<!doctype html>"), ("m.svg", b"<svg "), ("deep/m.png", b"\x89PNG")]
)
def test_a_picture_by_the_name_of_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, begin: bytes
) -> None:
    query, ticks = write_inputs(tmp_path)
    out = tmp_path / name
    assert main(["plot", query, "--table", ticks, "-o", str(out)]) == 0
    assert out.read_bytes().startswith(begin)
    assert [path.name for path in out.parent.iterdir() if path.name.startswith(".")] == []
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines()[:2] == ["PATTERN (STRT DOWN+ UP+): 2 matches in 2 partitions", str(out)]


def test_columns_keys_and_ranges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, ticks = write_inputs(tmp_path)
    out = tmp_path / "m.svg"
    arguments = ["plot", query, "-t", ticks, "-o", str(out), "--x", "ts", "--y", "price", "--key", "symbol=b"]
    assert main([*arguments, "--title", "<V>", "--between", "1", "2"]) == 0
    text = out.read_text(encoding="utf-8")
    assert "&lt;V&gt;" in text and "symbol = b" in text and "symbol = a" not in text
    assert main(arguments) == 2
    assert "exists; --overwrite replaces it" in capsys.readouterr().err
    assert main([*arguments, "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("output", "more", "code", "message"),
    [
        ("m.gif", [], 2, "name a .html, .svg or .png file"),
        ("m.svg", ["--master", "local[1]"], 2, "pictures are made in memory"),
        ("m.svg", ["--y", "prise"], 1, "the input has no column prise"),
        ("m.svg", ["--key", "sym=a"], 1, "the partitions have no key sym"),
        ("m.svg", ["--panels", "0"], 2, "panels=0"),
    ],
)
def test_refusals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], output: str, more: list[str], code: int, message: str
) -> None:
    query, ticks = write_inputs(tmp_path)
    assert main(["plot", query, "-t", ticks, "-o", str(tmp_path / output), *more]) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / output).exists()
