"""The page of a tour: one HTML file with all queries, results and pictures in it, which fetches nothing."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from examples.tour.stop import Score, Stop

N_ROWS = 5  # of each result that the page shows

# Pictures are frames with policies of their own, which allow nothing but the one script in them.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid #8886; border-radius: 6px; font-size: .85rem; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid #8884; }
.wide { overflow-x: auto; }
iframe { border: 1px solid #8886 !important; border-radius: 6px; background: #fff; }
.wrong { font-weight: bold; }
.wrong::before { content: "\\2717  "; } .right::before { content: "\\2713  "; }
"""


@dataclass(frozen=True)
class Visit:
    """A stop that was made: what was found, how long that took, and what rex.plot gave."""

    name: str
    stop: Stop
    score: Score
    n_rows: int
    seconds: float
    found: pa.Table
    picture: Any

    @property
    def line(self) -> str:
        """What the terminal says of it."""
        return f"{self.stop.title:<12} {self.seconds:6.1f} s  {self.n_rows:>9,} rows  {self.score}"


def write(visits: list[Visit], host: str, seconds: float) -> str:
    """The page of these visits."""
    n_right = sum(visit.score.is_right for visit in visits)
    overview = "".join(
        f'<tr><td><a href="#{visit.name}">{escape(visit.stop.title)}</a></td><td>{visit.n_rows:,}</td>'
        f"<td>{visit.seconds:.1f} s</td><td>{_verdict(visit.score)}</td></tr>"
        for visit in visits
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><link rel="icon" href="data:,">'
        f"<title>A tour of SparkRex</title><style>{STYLE}</style></head><body><h1>A tour of SparkRex</h1>"
        f"<p>Every way to ask, {escape(host)}, over generated data in which the answers were planted. "
        f"{n_right} of {len(visits)} stops found what was planted and nothing else, in {seconds:.0f} seconds.</p>"
        '<div class="wide"><table><thead><tr><th>stop</th><th>rows</th><th>time</th><th>answer</th></tr></thead>'
        f"<tbody>{overview}</tbody></table></div>{''.join(map(_section, visits))}</body></html>\n"
    )


def _section(visit: Visit) -> str:
    stop = visit.stop
    # What notebooks show of a picture: a frame that may run its own script, and nothing else.
    frame = visit.picture._repr_mimebundle_()["text/html"]
    return (
        f'<section id="{visit.name}"><h2>{escape(stop.title)}</h2><p>{escape(stop.about)}</p>'
        f"<p>Planted beside it to mislead: {escape(stop.decoys)}</p>"
        f"<p>{_verdict(visit.score)}, in {visit.n_rows:,} rows</p>"
        f"<pre>{escape(stop.query)}</pre><pre>{escape(inspect.getsource(stop.find).strip())}</pre>{frame}"
        f"{_table(visit.found)}"
        f"<p>More: <code>docs/{stop.page}</code>, <code>examples/tour/{visit.name}.py</code></p></section>"
    )


def _verdict(score: Score) -> str:
    return f'<span class="{"right" if score.is_right else "wrong"}">{escape(str(score))}</span>'


def _table(found: pa.Table) -> str:
    """How a result begins."""
    head = "".join(f"<th>{escape(name)}</th>" for name in found.column_names)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_text(value))}</td>" for value in row.values()) + "</tr>"
        for row in found.slice(0, N_ROWS).to_pylist()
    )
    more = f"<p>The first {min(N_ROWS, found.num_rows)} of {found.num_rows:,} rows that came out.</p>"
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{more}'


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return "NULL" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
