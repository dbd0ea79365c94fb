"""What `rex.plot` gives: a picture that draws itself in notebooks, and that can be saved."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkrex.errors import AnalysisError
from sparkrex.pictures import html, svg

if TYPE_CHECKING:
    from sparkrex.pictures.picture import Picture

FORMATS = (".html", ".svg", ".png")


class Plot:
    """A picture of matches. A notebook draws it; `save("matches.html")`, `.svg` or `.png` keeps it.

    `notes` say what the picture leaves out.
    """

    def __init__(self, picture: Picture) -> None:
        self._picture = picture

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not in the picture, in words."""
        return self._picture.notes

    @cached_property
    def svg(self) -> str:
        """The picture as an SVG document."""
        return svg.draw(self._picture)

    @cached_property
    def html(self) -> str:
        """The picture as a page of its own."""
        return html.draw(self._picture)

    def save(self, path: str | Path) -> None:
        """Write the picture, as what the name of the file says."""
        target = Path(path)
        check_format(target)
        match target.suffix.lower():
            case ".html":
                content = self.html.encode()
            case ".svg":
                content = self.svg.encode()
            case _:
                from sparkrex.pictures.png import png_of

                content = png_of(self.svg)
        target.write_bytes(content)

    def __repr__(self) -> str:
        return "\n".join([f"<Plot {svg.describe(self._picture)}>", *self.notes])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What notebooks show: the page in a frame of its own, the picture, or the words. IPython asks by this name."""
        return {"text/html": html.frame(self._picture), "image/svg+xml": self.svg, "text/plain": repr(self)}


def check_format(path: Path) -> None:
    """Fail if the name of a file does not say how a picture is written."""
    if path.suffix.lower() not in FORMATS:
        raise AnalysisError(
            "REX217", f"{path.name} has no ending that says what to write", None, None,
            hint=f"end it with {', '.join(FORMATS)}",
        )
