"""A picture as SVG: one file that needs nothing else, in the colours of the page that it stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.pictures import layout as geometry
from sparkrex.pictures.layout import lay_out, shortened, text_width
from sparkrex.pictures.palette import style, variable_class
from sparkrex.pictures.svg_panel import PanelDrawing
from sparkrex.pictures.svg_paths import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.pictures.picture import Picture


def draw(picture: Picture) -> str:
    """The picture as a document."""
    layout = lay_out(picture)
    width = geometry.WIDTH
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {layout.height:.0f}" width="{width}" '
        f'height="{layout.height:.0f}" role="img"><title>{text_of(describe(picture))}</title>'
        f'<style>{style()}</style><rect class="bg" width="{width}" height="{layout.height:.0f}"/>'
        f'<text class="h" x="{geometry.LEFT}" y="22">{text_of(shortened(picture.title, 800))}</text>'
    ]
    parts += _legend(picture, layout.legend)
    for panel, place in zip(picture.panels, layout.panels, strict=True):
        parts += PanelDrawing(picture, panel, place).parts()
    for number, note in enumerate(picture.notes):
        parts.append(f'<text class="n" x="{geometry.LEFT}" y="{layout.notes + 16 * number:.0f}">{text_of(note)}</text>')
    return "".join([*parts, "</svg>"])


def describe(picture: Picture) -> str:
    """The picture in a sentence, for those who do not see it."""
    n_matches = sum(panel.n_matches for panel in picture.panels)
    n_windows = sum(len(panel.boxes) for panel in picture.panels if panel.boxes is not None)
    found = f"{n_windows:,} windows" if n_windows else f"{n_matches:,} match{'' if n_matches == 1 else 'es'}"
    partitions = f" in {len(picture.panels)} partitions" if len(picture.panels) > 1 else ""
    return f"{picture.title}: {found}{partitions}"


def _legend(picture: Picture, top: float) -> Iterator[str]:
    entries = [(variable_class(number), name) for number, name in enumerate(picture.variables)]
    if len(picture.kinds) > 1:
        entries += [(f"k{number}", name) for number, name in enumerate(picture.kinds)]
    x = float(geometry.LEFT)
    for number, (kind, name) in enumerate(entries):
        shown = shortened(name, 150)
        step = text_width(shown) + 32
        if x + step > geometry.WIDTH - 90 and number < len(entries) - 1:
            yield f'<text class="n" x="{x:.0f}" y="{top + 9:.0f}">and {len(entries) - number} more</text>'
            return
        yield f'<rect class="{kind}" x="{x:.0f}" y="{top:.0f}" width="14" height="10" rx="2"/>'
        yield f'<text x="{x + 18:.0f}" y="{top + 9:.0f}">{text_of(shown)}</text>'
        x += step
