"""The drawings of the page are those that its examples make: the same parts, whatever a digit of a coordinate is."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.documentation.picture_files import drawings, drawn

if TYPE_CHECKING:
    from pathlib import Path

    from tests.documentation.page_examples import Example

DRAWINGS = list(drawings())


def parts(svg: str) -> Counter[tuple[str, str | None, str]]:
    """What is in a drawing, and how often: elements, their classes, their texts."""
    return Counter(
        (one.tag, one.get("class"), "".join(one.itertext()) if one.tag.endswith("text") else "")
        for one in ET.fromstring(svg).iter()
    )


def test_each_mode_has_a_drawing() -> None:
    assert [path.stem.removeprefix("pictures-") for _, path in DRAWINGS] == [
        "rows", "overlap", "windows", "segments", "events", "trends", "result", "diff",
    ]


@pytest.mark.parametrize(("example", "path"), DRAWINGS, ids=[path.stem for _, path in DRAWINGS])
def test_a_drawing_is_what_its_example_makes(example: Example, path: Path) -> None:
    svg = path.read_text(encoding="utf-8")
    assert parts(svg) == parts(drawn(example))
    assert len(svg) < 60_000
