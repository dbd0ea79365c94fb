"""What `rex.diff` gives: the matches that an edit of a query changed, as a table and drawn."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.columns.wrap import wrap
from sparkrex.faults import faults_reported
from sparkrex.matching.located import Pieces
from sparkrex.pictures.changes import CAME, MOVED, SAME, WENT, check_comparable, find_changes
from sparkrex.pictures.notes import Shown, notes_of
from sparkrex.pictures.options import choose_x, choose_y
from sparkrex.pictures.panels import Budget, Spans, make_panel
from sparkrex.pictures.partitions import chosen_partitions, cut_to_range, domain_of, read_partitions, spans_of
from sparkrex.pictures.picture import Picture, Style
from sparkrex.pictures.plot import Plot
from sparkrex.pipeline import locate_answers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sparkrex.matching.located import Located
    from sparkrex.pictures.changes import Changes
    from sparkrex.pictures.options import Options
    from sparkrex.pictures.partitions import Partition
    from sparkrex.query import Query

KINDS = (SAME, CAME, WENT, "moved: before", "moved: after")
_MOST_ROWS = 20


class Diff(Plot):
    """What an edit of a query changed. `table` has a row for each match that came, went or moved; `counts` how many.

    A notebook draws both; `save("diff.html")`, `.svg` or `.png` keeps the picture.
    """

    def __init__(self, picture: Picture, table: pa.Table, counts: dict[str, int]) -> None:
        super().__init__(picture)
        self.table = table
        self.counts = counts

    def __repr__(self) -> str:
        return f"<Diff {_counted(self.counts)}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """The picture, and the first rows of the table below it."""
        bundle = super()._repr_mimebundle_(include, exclude)
        return bundle | {"text/html": bundle["text/html"] + _rows_as_html(self.table)}


def diff_queries(
    before: tuple[Query, Any], after: tuple[Query, Any], tables: Any, named: Mapping[str, object], options: Options
) -> Diff:
    """Compare the matches of two queries, each with the values of its parameters, over the same tables."""
    wanted = tuple(name for name in (options.x, options.y) if name is not None)
    found = []
    for query, args in (before, after):
        parsed, arrow = query.bound_in_memory(tables, named, args, "diff()")
        with faults_reported(query.text):
            found.append(locate_answers(parsed, arrow, query.settings, wanted))
    (plan, one), (_, two) = found
    earlier, later = check_comparable(one, two)
    changes = find_changes(earlier, later)
    x = choose_x(options, plan, earlier.table)
    y = choose_y(options, plan, earlier.table, x)
    with faults_reported(after[0].text):
        return Diff(
            _picture(earlier, later, changes, x, y, options), changes_table(earlier, later, changes, x),
            changes.counts(),
        )


def changes_table(before: Located, after: Located, changes: Changes, x: str | None) -> pa.Table:
    """A row for each match that is not the same: the keys of its partition, and where it began and ended and does."""
    none = -1
    rows = [
        *((WENT, one, none) for one in changes.went.tolist()), *((CAME, none, one) for one in changes.came.tolist()),
        *((MOVED, one, two) for one, two in changes.moved.tolist()),
    ]
    rows.sort(key=lambda row: (
        int(before.first[row[1]] if row[1] >= 0 else after.first[row[2]]), row[0],
        int(before.behind[row[1]] if row[1] >= 0 else after.behind[row[2]]), row[1], row[2],
    ))
    kinds, old, new = ([row[place] for row in rows] for place in range(3))
    one, two = np.array(old, np.int64), np.array(new, np.int64)
    place = np.where(one >= 0, _taken(before.place, one), _taken(after.place, two))
    key_rows = before.arrangement.partition_rows()[place] if len(rows) else np.empty(0, np.int64)
    columns: dict[str, Any] = {name: column.take(wrap(key_rows)) for name, column in before.keys}
    columns["change"] = pa.array(kinds, pa.string())
    for side, found, chosen in (("before", before, one), ("after", after, two)):
        for end, positions in (("start", found.first), ("end", np.maximum(found.behind - 1, found.first))):
            at = np.where(chosen >= 0, _taken(positions, chosen), none)
            columns[f"{side}_{end}"] = _values(found, x, at)
    return pa.table(columns)


def _taken(values: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.int64]:
    return values[np.maximum(at, 0)] if len(values) else np.zeros(len(at), np.int64)


def _values(found: Located, x: str | None, at: NDArray[np.int64]) -> pa.ChunkedArray | pa.Array:
    """What stands on the x axis at positions, NULL where there is none."""
    if x is None:
        begin = found.arrangement.offsets[np.searchsorted(found.arrangement.offsets, at, side="right") - 1]
        return wrap(at - begin, at < 0)
    rows = np.where(at >= 0, found.arrangement.input_rows(np.maximum(at, 0)), -1) if found.table.num_rows else at
    return take_or_null(found.table.column(x), rows)


def _picture(
    before: Located, after: Located, changes: Changes, x: str | None, y: str | None, options: Options
) -> Picture:
    changed = np.unique(np.concatenate((
        before.place[changes.went], before.place[changes.moved[:, 0]], after.place[changes.came],
    )))
    chosen, n_asked = chosen_partitions(before, changed, options)
    axis, y_axis, partitions = read_partitions(before, chosen, x, y)
    kind = pa.int64() if x is None else before.table.schema.field(x).type
    domain = domain_of([partition.series for partition in partitions], axis, kind, options.between)
    made = []
    groups = (
        (after, changes.same[:, 1]), (after, changes.came), (before, changes.went), (before, changes.moved[:, 0]),
        (after, changes.moved[:, 1]),
    )
    for number, partition in zip(chosen.tolist(), partitions, strict=True):
        spans = _spans([(found, own[found.place[own] == number]) for found, own in groups], partition)
        series, pieces = partition.series, Pieces.none()
        if options.between is not None:
            series, spans, pieces = cut_to_range(series, spans, pieces, domain)
        made.append(make_panel(
            partition.title, series, spans, pieces, Style.RUNS, domain, Budget.share(len(partitions))
        ))
    shown = Shown(
        n_partitions=n_asked, n_answers=sum(changes.counts().values()),
        n_answers_shown=sum(one.panel.n_matches for one in made), has_range=options.between is not None,
    )
    return Picture(
        options.title or _counted(changes.counts()), axis, y_axis, Style.RUNS, (), tuple(one.panel for one in made),
        notes_of(made, shown), KINDS, *domain,
    )


def _spans(groups: list[tuple[Located, NDArray[np.int64]]], partition: Partition) -> Spans:
    """The matches of all kinds, one kind after the other."""
    first, last, texts, kind = [], [], [], []
    for number, (found, own) in enumerate(groups):
        spans, _ = spans_of(found, own, partition)
        first.append(spans.first)
        last.append(spans.last)
        texts += [KINDS[number] if number else "" for _ in range(len(spans))]
        kind.append(np.full(len(spans), number))
    return Spans(np.concatenate(first), np.concatenate(last), texts, np.concatenate(kind))


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {kind}" for kind, n in counts.items())


def _rows_as_html(table: pa.Table) -> str:
    """The first rows, every value as text."""
    if not table.num_rows:
        return "<p>No match changed.</p>"
    head = "".join(f"<th>{escape(name)}</th>" for name in table.column_names)
    rows = "".join(
        "<tr>" + "".join(f"<td>{'' if value is None else escape(str(value))}</td>" for value in row.values()) + "</tr>"
        for row in table.slice(0, _MOST_ROWS).to_pylist()
    )
    more = table.num_rows - _MOST_ROWS
    rest = f"<p>and {more:,} more; <code>.table</code> has all.</p>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{rest}"
