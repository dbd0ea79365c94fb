"""The DataFrame call of docs/start.md, whose tables stand in no block of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
from tests.documentation import recipes

PAGE = Path(__file__).parents[2] / "docs" / "start.md"


def test_the_dataframe_call_finds_who_left() -> None:
    text = PAGE.read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python dataframe\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    clicks = pa.table({
        "visitor": ["ann", "ann", "ann", "bob", "bob", "bob", "bob"],
        "minute": [1, 2, 9, 1, 4, 5, 6],
        "page": ["view", "cart", "help", "view", "view", "cart", "buy"],
    })
    answer = recipes.run_block(block, PAGE.name, {"clicks": recipes.stand_in(clicks)})
    assert answer.to_pylist() == [{"visitor": "ann", "looked_at": 1, "cart_at": 2}]
