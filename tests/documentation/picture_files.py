"""The drawings of `docs/pictures.md`: each example's `picture`, in the file that the page shows below it.

`python -m tests.documentation.picture_files` draws them anew; look at them before you commit.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from typing import TYPE_CHECKING, Any

from tests.documentation.page_examples import ROOT, Example, examples

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = ROOT / "docs" / "pictures.md"
_IMAGE = re.compile(r"\s*```\s*!\[[^\]]*\]\((pictures-[a-z]+\.svg)\)")


def drawings() -> Iterator[tuple[Example, Path]]:
    """The examples with a drawing below them, and its file."""
    text = PAGE.read_text(encoding="utf-8")
    for example in examples(PAGE):
        shown = _IMAGE.match(text, example.shown_span[1])
        if shown is not None:
            yield example, PAGE.parent / shown[1]


def drawn(example: Example) -> str:
    """The drawing that an example makes."""
    names: dict[str, Any] = {"__name__": "example"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(example.body, example.name, "exec"), names)  # the project's own page
    return str(names["picture"].svg)


def main() -> int:
    """Draw all."""
    for example, path in drawings():
        path.write_text(drawn(example), encoding="utf-8")
        print(path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
