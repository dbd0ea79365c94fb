"""A picture as a page of its own: zoom by dragging, values under the pointer. The page fetches nothing, and may not.

Its policy allows the one script and the one style that are in it, by their hashes. Texts travel as JSON in which no `<`
is left, and the script writes them as text: nothing that stands in a table can become markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.pictures.layout import lay_out
from sparkrex.pictures.palette import KINDS, KINDS_DARK, VARIABLES, VARIABLES_DARK
from sparkrex.pictures.svg import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.pictures.picture import Axis, Bands, Boxes, Panel, Picture

_COLOURS = {"variables": VARIABLES, "variables_dark": VARIABLES_DARK, "kinds": KINDS, "kinds_dark": KINDS_DARK}

_START = """
const part = (name) => document.getElementById(name);
showPicture(Object.fromEntries(["panels", "legend", "notes", "tip", "reset"].map((name) => [name, part(name)])))
  .take(JSON.parse(part("picture").textContent));
"""


def draw(picture: Picture) -> str:
    """The page."""
    script, style = _part("drawer.js") + _START, _part("page.css")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title = escape(_printable(picture.title))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{policy}"><meta name="viewport" content="width=device-width"><meta name="referrer" '
        f'content="no-referrer"><link rel="icon" href="data:,"><title>{title}</title><style>{style}</style></head>'
        "<body>"
        f'<h1>{title}</h1><header><span id="legend"></span><button id="reset" disabled>Reset zoom</button></header>'
        '<main id="panels"></main><footer id="notes"></footer><div id="tip" hidden></div>'
        f'<script type="application/json" id="picture">{_data(picture)}</script><script>{script}</script></body></html>'
    )


def frame(picture: Picture) -> str:
    """The page in a frame without any rights but to run its script, for notebooks."""
    height = int(lay_out(picture).height) + 12
    return (
        f'<iframe sandbox="allow-scripts" title="{escape(_printable(describe(picture)))}" loading="lazy" '
        f'style="width:100%;height:{height}px;border:0" srcdoc="{escape(draw(picture))}"></iframe>'
    )


@cache
def _part(name: str) -> str:
    return (files("sparkrex.pictures") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _printable(text: str) -> str:
    """Without control characters and halves of surrogates, which pages cannot hold."""
    return "".join(one if one.isprintable() or one in " \t" else "\ufffd" for one in text)


def drawn_data(picture: Picture) -> dict[str, Any]:
    """The picture as the script reads it."""
    return {
        "title": picture.title, "described": describe(picture), "x": _axis(picture.x),
        "y": None if picture.y is None else _axis(picture.y), "style": picture.style.value,
        "variables": picture.variables, "kinds": picture.kinds, "notes": picture.notes, "colours": _COLOURS,
        "low": picture.low, "high": picture.high, "panels": [_panel(panel) for panel in picture.panels],
    }


def _data(picture: Picture) -> str:
    # ASCII alone, and no "<": neither the end of a script nor the beginning of a comment can be in it.
    text = json.dumps(drawn_data(picture), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "name": axis.name, "scale": axis.scale.value, "origin": axis.origin, "categories": axis.categories,
        "grain": axis.grain,
    }


def _panel(panel: Panel) -> dict[str, Any]:
    marks, stretches = panel.marks, panel.stretches
    return {
        "title": panel.title, "n_matches": panel.n_matches, "x": _doubles(panel.x), "y": _doubles(panel.y),
        "bands": _bands(panel.bands),
        "marks": {
            "point": _integers(marks.point), "variable": _integers(marks.variable), "joins": _integers(marks.joins),
        },
        "stretches": {
            "band": _integers(stretches.band), "variable": _integers(stretches.variable),
            "first": _doubles(stretches.first), "last": _doubles(stretches.last),
        },
        "boxes": None if panel.boxes is None else _boxes(panel.boxes),
    }


def _bands(bands: Bands) -> dict[str, Any]:
    return {
        "first": _doubles(bands.first), "last": _doubles(bands.last), "lane": _integers(bands.lane),
        "kind": _integers(bands.kind), "texts": bands.texts,
    }


def _boxes(boxes: Boxes) -> dict[str, Any]:
    return {
        "name": boxes.name, "first": _doubles(boxes.first), "last": _doubles(boxes.last),
        "value": _doubles(boxes.value), "texts": boxes.texts,
    }


def _doubles(values: NDArray[Any]) -> str:
    """As they lie in memory; browsers run on machines with the same order of bytes."""
    return base64.b64encode(np.ascontiguousarray(values, "<f8").tobytes()).decode()


def _integers(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values, "<i4").tobytes()).decode()
