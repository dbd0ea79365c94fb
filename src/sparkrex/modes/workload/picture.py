"""A shared plan as a picture: a self-contained SVG, leaves below, patterns on top, what is shared in colour.

Nodes stand in layers by their height. In a layer they are ordered by the middle of what they read, a few times up and
down, which keeps most lines from crossing. Every box is as wide as its text, so that nothing overlaps.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkrex.modes.workload.describe import Description, Shown

MOST_DRAWN = 80
"""Nodes that are drawn; of a larger plan those that serve most patterns, with all below them."""
_LETTER, _LINE, _GAP, _BETWEEN, _MARGIN = 7.4, 15, 26, 48, 20
_MOST_LETTERS = 34
_STYLE = (
    "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2933}.p{fill:#fff;stroke:#52606d}"
    ".s{fill:#ffe8a3;stroke:#b7791f}.l{fill:#e4ecf7;stroke:#5b7db1}.r{fill:#d3f0dc;stroke:#2f855a}"
    "path{stroke:#9aa5b1;fill:none;stroke-width:1.3}.n{fill:#616e7c}"
    "@media(prefers-color-scheme:dark){svg{background:#161b22}text{fill:#e6edf3}.p{fill:#161b22}.s{fill:#5a4710}"
    ".l{fill:#1d2b45}.r{fill:#173d27}.n{fill:#9aa5b1}}"
)


def draw(description: Description) -> str:
    """The picture of a plan."""
    nodes, is_cut = _chosen(description)
    boxes = [_Box(node) for node in nodes.values()]
    by_number = {box.node.number: box for box in boxes}
    layers = _layers(by_number)
    _order(layers, by_number)
    width = max([_width(layer) for layer in layers] or [0.0]) + 2 * _MARGIN
    heights = [max(box.height for box in layer) for layer in layers]
    height = sum(heights) + _BETWEEN * (len(layers) - 1) + 2 * _MARGIN + (_LINE if is_cut else 0)
    bottom = height - _MARGIN - (_LINE if is_cut else 0)
    for layer, tallest in zip(layers, heights, strict=True):
        at = (width - _width(layer)) / 2
        for box in layer:
            box.x, box.y = at, bottom - box.height
            at += box.width + _GAP
        bottom -= tallest + _BETWEEN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img"><title>Shared plan of a workload</title><style>{_STYLE}</style>'
    ]
    for box in boxes:
        parts += [_line(box, by_number[child]) for child in dict.fromkeys(box.node.children)]
    parts += [box.svg() for box in boxes]
    if is_cut:
        text = f"{len(nodes)} of {len(description.nodes):,} nodes: those that serve most patterns"
        parts.append(f'<text class="n" x="{_MARGIN}" y="{height - 8:.0f}">{text}</text>')
    return "".join([*parts, "</svg>"])


class _Box:
    def __init__(self, node: Shown) -> None:
        self.node = node
        lines = [f"{node.name}  {_short(node.text)}"]
        lines += [_short(condition) for condition in node.conditions]
        if node.is_shared and node.children:
            lines.append(f"serves {len(node.patterns)} patterns")
        if node.is_root_of:
            lines.append(_short("is " + ", ".join(node.is_root_of)))
        lines.append(f"cost {node.cost:,.3g}")
        self.lines = lines
        self.width = max(map(len, lines)) * _LETTER + 16
        self.height = len(lines) * _LINE + 10
        self.x = self.y = 0.0
        self.rank = 0.0

    def svg(self) -> str:
        kind = "l" if not self.node.children else "s" if self.node.is_shared else "r" if self.node.is_root_of else "p"
        served = escape(", ".join(self.node.patterns))
        texts = "".join(
            f'<text x="{self.x + 8:.1f}" y="{self.y + 17 + number * _LINE:.1f}">{escape(line)}</text>'
            for number, line in enumerate(self.lines)
        )
        return (
            f'<g><title>{served}</title><rect class="{kind}" x="{self.x:.1f}" y="{self.y:.1f}" rx="6" '
            f'width="{self.width:.1f}" height="{self.height:.1f}"/>{texts}</g>'
        )


def _chosen(description: Description) -> tuple[dict[int, Shown], bool]:
    """The nodes to draw, and whether some are left out."""
    if len(description.nodes) <= MOST_DRAWN:
        return dict(description.nodes), False
    chosen: set[int] = set()
    for node in description.shared():
        below = _below(node, description.nodes)
        if len(chosen | below) > MOST_DRAWN:
            break
        chosen |= below
    return {number: node for number, node in description.nodes.items() if number in chosen}, True


def _below(node: Shown, nodes: dict[int, Shown]) -> set[int]:
    found, pending = set(), [node.number]
    while pending:
        number = pending.pop()
        if number not in found:
            found.add(number)
            pending += nodes[number].children
    return found


def _layers(boxes: dict[int, _Box]) -> list[list[_Box]]:
    """Boxes by height above the leaves; children have smaller numbers than their joins."""
    height: dict[int, int] = {}
    for number in sorted(boxes):
        height[number] = max((height[child] + 1 for child in boxes[number].node.children), default=0)
    layers: list[list[_Box]] = [[] for _ in range(max(height.values(), default=-1) + 1)]
    for number, box in boxes.items():
        layers[height[number]].append(box)
    return layers


def _order(layers: list[list[_Box]], boxes: dict[int, _Box]) -> None:
    """Put each layer in the order of the middles of its neighbours below, then above, four times."""
    above: dict[int, list[_Box]] = {}
    for box in boxes.values():
        for child in box.node.children:
            above.setdefault(child, []).append(box)
    _number(layers)
    for turn in range(8):
        goes_up = turn % 2 == 0
        for layer in layers if goes_up else reversed(layers):
            for box in layer:
                near = [boxes[child] for child in box.node.children] if goes_up else above.get(box.node.number, [])
                if near:
                    box.rank = sum(other.rank for other in near) / len(near)
            layer.sort(key=lambda box: box.rank)
        _number(layers)


def _number(layers: list[list[_Box]]) -> None:
    for layer in layers:
        for place, box in enumerate(layer):
            box.rank = (place + 0.5) / len(layer)


def _width(layer: list[_Box]) -> float:
    return sum(box.width for box in layer) + _GAP * (len(layer) - 1)


def _line(box: _Box, child: _Box) -> str:
    x, y = box.x + box.width / 2, box.y + box.height
    to_x, to_y = child.x + child.width / 2, child.y
    middle = (y + to_y) / 2
    return f'<path d="M{x:.1f} {y:.1f}C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"/>'


def _short(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"
