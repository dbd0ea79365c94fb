"""What the page asks, answered: errors while a query is written, its matches as a picture, its result, EXPLAIN, why.

Lives in the process that searches. The answers of the last query are kept, so that looking closer searches nothing.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import sparkrex as rex
from sparkrex.columns.inputs import open_path
from sparkrex.columns.values import python_value
from sparkrex.columns.wrap import wrap
from sparkrex.errors import InternalError, RexError
from sparkrex.faults import faults_reported
from sparkrex.hosts.duckdb.instance import forbid_files
from sparkrex.matching.located import Located
from sparkrex.pictures.from_query import picture_of_answers
from sparkrex.pictures.html import drawn_data
from sparkrex.pictures.options import Options, choose_x
from sparkrex.pictures.partitions import title_of
from sparkrex.pictures.positions import is_number, is_time, make_axis
from sparkrex.pictures.windows import window_places
from sparkrex.pipeline import locate_answers
from sparkrex.studio.as_python import as_python
from sparkrex.studio.descriptions import describe_table, read_if_small
from sparkrex.studio.limits import MOST_LETTERS, MOST_ROWS, MOST_TEXT, check_one_select

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from sparkrex.matching.located import LocatedWindows
    from sparkrex.modes.plan import Plan
    from sparkrex.pipeline import ParsedQuery
    from sparkrex.studio.asked import Asked

Answer = dict[str, Any]


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """The answers of a query, and the partition of each."""

    parsed: ParsedQuery
    plan: Plan
    located: Located | LocatedWindows
    place: NDArray[np.int64]


class Searches:
    """Answers requests over tables, which are paths by name. Each is opened when something first reads it."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        forbid_files()
        self._paths = dict(paths)
        self._opened: dict[str, Any] = {}
        self._last: tuple[tuple[Any, ...], Found] | None = None

    def answer(self, asked: Asked) -> Answer:
        """The answer to a request; whatever is wrong with the query is an answer too."""
        answers: dict[str, Callable[[Asked], Answer]] = {
            "tables": self._tables, "check": self._check, "search": self._search, "result": self._result,
            "explain": self._explain, "why": self._why, "python": self._python,
        }
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                found = answers[asked.kind](asked)
            return found | {"warnings": [str(one.message) for one in told]}
        except RexError as error:
            return {"errors": [error_of(error, asked.query)]}
        except MemoryError:
            return {"errors": [error_of(rex.ExecutionError("REX415", "there is too little memory", None, None), "")]}

    def _tables(self, _: Asked) -> Answer:
        described = []
        for name, path in self._paths.items():
            try:
                described.append(describe_table(name, path, self._table(name)))
            except RexError as error:
                described.append({"name": name, "path": path, "error": error_of(error, "")})
        return {"tables": described}

    def _check(self, asked: Asked) -> Answer:
        return {"columns": self._query(asked).columns(self._all_tables())}

    def _search(self, asked: Asked) -> Answer:
        found = self._find(asked)
        located, offsets = found.located, found.located.arrangement.offsets
        chosen = _chosen_partition(found, asked.partition)
        axes = Options(x=asked.x, y=asked.y)
        x = choose_x(axes, found.plan, located.table)
        between = asked.view and _range(asked.view, x, located.table)
        options = replace(axes, key=_keys_of(found, chosen), between=between)
        with faults_reported(asked.query):
            picture = picture_of_answers(found.parsed, found.plan, located, options)
        answer: Answer = {"picture": drawn_data(picture), "is_windows": not isinstance(located, Located)}
        if asked.view is None:
            answer |= {
                "n_rows": int(located.arrangement.n_rows), "n_answers": len(found.place),
                "partitions": _partitions(found), "n_partitions": len(offsets) - 1,
                "matches": _matches(located, found.place, chosen, x) if isinstance(located, Located) else None,
            }
        return answer

    def _result(self, asked: Asked) -> Answer:
        return table_of(self._query(asked)(self._all_tables()))

    def _explain(self, asked: Asked) -> Answer:
        return {"text": str(self._query(asked).explain(self._all_tables()))[:MOST_TEXT]}

    def _why(self, asked: Asked) -> Answer:
        key = None
        if asked.partition is not None:
            found = self._find(asked)
            key = _keys_of(found, _chosen_partition(found, asked.partition))
        return {"text": str(self._query(asked).why(self._all_tables(), key=key))[:MOST_TEXT]}

    def _python(self, asked: Asked) -> Answer:
        read = {name.lower() for name in rex.compile(asked.query, dialect=asked.dialect).tables}
        paths = {name: path for name, path in self._paths.items() if name.lower() in read}
        return {"text": as_python(asked.query, asked.dialect, paths)}

    def _query(self, asked: Asked) -> rex.Query:
        check_one_select(asked.query, asked.dialect)
        return rex.compile(asked.query, dialect=asked.dialect)

    def _table(self, name: str) -> Any:
        if name not in self._opened:
            self._opened[name] = read_if_small(open_path(name, self._paths[name]))
        return self._opened[name]

    def _all_tables(self) -> dict[str, Any]:
        return {name: self._table(name) for name in self._paths}

    def _find(self, asked: Asked) -> Found:
        wanted = (asked.query, asked.dialect, asked.x, asked.y)
        if self._last is not None and self._last[0] == wanted:
            return self._last[1]
        self._last = None  # its memory is needed
        query = self._query(asked)
        parsed, tables = query.bound_in_memory(self._all_tables(), {}, None, "rex studio")
        with faults_reported(asked.query):
            plan, located = locate_answers(parsed, tables, query.settings, Options(x=asked.x, y=asked.y).axes())
        place = located.place if isinstance(located, Located) else window_places(located)
        self._last = wanted, Found(parsed, plan, located, place)
        return self._last[1]


def _listed(found: Found) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The partitions that the page lists, those with answers before others, and how many answers each one has."""
    counts = np.bincount(found.place, minlength=len(found.located.arrangement.offsets) - 1)
    first = np.argsort(counts == 0, kind="stable")[:MOST_ROWS]
    return first, counts[first]


def _title(found: Found, partition: int) -> str:
    return title_of(found.located, int(found.located.arrangement.offsets[partition]))


def _partitions(found: Found) -> list[Answer]:
    if not found.located.keys:
        return []
    return [
        {"title": _title(found, one), "n_answers": count}
        for one, count in zip(*(each.tolist() for each in _listed(found)), strict=True)
    ]


def _chosen_partition(found: Found, title: str | None) -> int | None:
    """The partition with a title; None if all are meant, or it is not there any more."""
    if title is None or not found.located.keys:
        return None
    return next((one for one in _listed(found)[0].tolist() if _title(found, one) == title), None)


def _keys_of(found: Found, partition: int | None) -> dict[str, object] | None:
    if partition is None:
        return None
    arrangement = found.located.arrangement
    (row,) = arrangement.input_rows(arrangement.offsets[partition : partition + 1]).tolist()
    return {name: python_value(column[row]) for name, column in found.located.keys}


def _matches(located: Located, place: NDArray[np.int64], partition: int | None, x: str | None) -> Answer:
    """A row for each of the first matches: keys, number, where it begins and ends, and how many rows are in that span.

    `ends` says the same as positions on the x axis, for the page to show a match.
    """
    own = np.arange(len(located)) if partition is None else np.flatnonzero(place == partition)
    shown = own[:MOST_ROWS]
    ends = located.first[shown], np.maximum(located.behind[shown] - 1, located.first[shown])
    rows = [wrap(located.arrangement.input_rows(at)) for at in ends]
    columns: list[tuple[str, Any]] = [(name, column.take(rows[0])) for name, column in located.keys]
    columns.append(("match", wrap(located.number[shown])))
    begin = located.arrangement.offsets[place[shown]]
    positions = [(at - begin).astype(np.float64) for at in ends]
    if x is not None:
        values = [located.table.column(x).take(at) for at in rows]
        columns += [(f"first {x}", values[0]), (f"last {x}", values[1])]
        axis, positions = make_axis(x, values)
        positions = [at + axis.origin for at in positions]
    columns.append(("span in rows", wrap(located.behind[shown] - located.first[shown])))
    table = pa.Table.from_arrays([column for _, column in columns], [name for name, _ in columns])
    low, high = ([one if isfinite(one) else None for one in at.tolist()] for at in positions)
    return table_of(table) | {"n_rows": len(own), "ends": list(zip(low, high, strict=True))}


def _range(view: tuple[float, float], x: str | None, table: pa.Table) -> tuple[object, object]:
    """A range of the x axis in values of its column."""
    if x is None or not is_time(table.schema.field(x).type):
        return view
    return _moment(view[0]), _moment(view[1])


def error_of(error: RexError, text: str) -> Answer:
    """An error as the editor marks it: the place counts UTF-16 units, as JavaScript does."""
    start = end = None
    if error.span is not None and error.source is not None and error.source.text == text:
        start, end = (_units(text[:at]) for at in (error.span.start, error.span.end))
    notes = list(error.notes)
    if error.partition:
        notes.append("in partition " + ", ".join(f"{name} = {value!r}" for name, value in error.partition))
    if isinstance(error, InternalError):
        notes.append("this is a fault of SparkRex, not of the query")
    return {
        "code": error.code, "message": error.message, "start": start, "end": end, "notes": notes,
        "hint": error.hint_of_command,
    }


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def table_of(table: pa.Table) -> Answer:
    """The first rows of a table as texts, NULL as None, and which columns are numbers."""
    shown = table.slice(0, MOST_ROWS)
    return {
        "columns": list(table.column_names), "n_rows": table.num_rows,
        "is_number": [is_number(field.type) for field in table.schema],
        "cells": [[_text(python_value(value)) for value in column] for column in shown.columns],
    }


def _text(value: object) -> str | None:
    if value is None:
        return None
    text = str(value)
    return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + "…"


def _moment(at: float) -> datetime:
    """A time of the axis, or the nearest that Python knows."""
    try:
        return datetime(1970, 1, 1) + timedelta(seconds=at)
    except OverflowError:
        return datetime.max if at > 0 else datetime.min
