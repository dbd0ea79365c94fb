"""SVG to PNG, by resvg: a small library without dependencies, which users install when they want it."""

from __future__ import annotations

from sparkrex.errors import UnsupportedError


def png_of(svg: str, zoom: float = 2.0) -> bytes:
    """The picture as PNG, with `zoom` pixels for each of its own."""
    try:
        import resvg_py
    except ImportError as error:
        raise UnsupportedError(
            "REX301", "PNG needs the package resvg-py, which is not installed", None, None,
            hint='pip install "sparkrex[plot]"; SVG and HTML need nothing',
        ) from error
    found: bytes = bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom))
    return found
