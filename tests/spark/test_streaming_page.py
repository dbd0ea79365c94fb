"""The examples of docs/streaming.md, one after the other in one session: what the page shows is what comes out."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[2] / "docs" / "streaming.md"
_BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```)?", re.MULTILINE | re.DOTALL)


def test_the_page_shows_what_comes_out(spark: SparkSession) -> None:
    names: dict[str, Any] = {"__name__": "example"}
    found = list(_BLOCK.finditer(PAGE.read_text(encoding="utf-8")))
    assert len(found) > 5
    for block in found:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block["code"], PAGE.name, "exec"), names)  # the project's own page
        assert printed.getvalue() == (block["shown"] or "")
