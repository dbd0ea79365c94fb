"""The page in Chromium: written on, looked at, and watched for what it loads. Slow, and only where there is one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pyarrow.parquet as pq
import pytest
from tests.studio.test_searches import ticks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")]
COMMAND = [sys.executable, "-c", "from sparkrex.cli.main import start; start()", "studio", "--no-browser"]


@pytest.fixture
def seen(tmp_path: Path) -> Iterator[tuple[Any, list[str], set[str]]]:
    """The page, what its console says, and the hosts that it asks."""
    playwright = pytest.importorskip("playwright.sync_api", reason="there is no Playwright")
    path = tmp_path / "ticks.parquet"
    pq.write_table(ticks(), path)
    server = subprocess.Popen([*COMMAND, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        with playwright.sync_playwright() as running:
            browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            told: list[str] = []
            hosts: set[str] = set()
            page.on("console", lambda message: told.append(message.text))
            page.on("pageerror", lambda error: told.append(str(error)))
            page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
            page.goto(address)
            yield page, told, hosts
            assert told == []
            assert hosts == {urlsplit(address).netloc}
            assert "token" not in page.url
            browser.close()
    finally:
        server.terminate()
        server.wait(30)


def drawn(page: Any) -> str:
    """What the page says after it has drawn."""
    page.wait_for_timeout(300)  # the pause after typing, in which the earlier answer is still there
    page.wait_for_selector("#seeing:not(.old)", timeout=120_000)
    page.wait_for_selector("#status:has-text(' ms')", timeout=120_000)
    return str(page.text_content("#status"))


def test_a_query_is_written_mended_and_looked_at(seen: tuple[Any, list[str], set[str]]) -> None:
    page, _, _ = seen
    first = drawn(page)
    assert page.locator("#panels canvas").count() == 3
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(")")
    page.wait_for_selector("#problems .error")
    assert page.locator(".cm-lintRange-error").count() == 1
    page.keyboard.press("Backspace")
    page.wait_for_selector("#problems:empty", state="attached")
    assert drawn(page).split(",")[0] == first.split(",")[0]
    page.select_option("#partition", "symbol = b")
    page.wait_for_selector("#panels canvas:only-of-type")
    assert "symbol = b" in page.text_content("#panels")
    assert page.locator("#reset").is_disabled()
    row = page.locator("#matches tr.choice").first
    row.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#reset:not([disabled])")


def test_every_example_is_drawn(seen: tuple[Any, list[str], set[str]]) -> None:
    page, _, _ = seen
    drawn(page)
    for number in range(1, page.locator("#example option").count()):
        page.select_option("#example", index=number)
        assert not drawn(page).startswith("0 "), number
        assert page.text_content("#problems") == ""
    page.click("#tab-why")
    page.wait_for_selector("#why:not(:empty)", timeout=120_000)
    page.keyboard.press("ArrowRight")
    assert "symbol" in page.text_content("#columns")
