"""A query with row patterns in its windows: the oracle computes the calls, DuckDB the plain SQL around them.

A SELECT is taken apart into its clauses. What FROM and WHERE give is a table; each call over a window with a pattern
becomes a column of it, and the rest of the SELECT runs over that. Subqueries and common table expressions that have
such windows are done first, each a table of its own. What is not done here: grouping in the SELECT of such a window,
and references qualified with one of several tables; those cases are worked by hand.
"""

from __future__ import annotations

from contextlib import closing as closed
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import sqlglot
from tests.answers import rows_of
from tests.modes.rows.oracle.errors import CannotEvaluate
from tests.modes.windows.oracle.calls import check_measure, read_call, values_of
from tests.modes.windows.oracle.scalars import Scope
from tests.modes.windows.oracle.spec import clauses_of, has_pattern, read_window
from tests.modes.windows.oracle.tokens import Token, closing, cut, split, tokens, top_level, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.modes.windows.oracle.tokens import Tokens

_HEADS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "WINDOW", "QUALIFY", "ORDER BY", "LIMIT", "UNION", "EXCEPT",
    "INTERSECT",
)


def answer(query: str, tables: Mapping[str, pa.Table], dialect: str) -> pa.Table:
    """The query's answer."""
    with closed(duckdb.connect()) as connection:
        for name, table in tables.items():
            connection.register(f"__arrow_{name}", table)
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM "__arrow_{name}"')
        statement = _Statement(connection, dialect)
        return statement.run(statement.solved(tokens(query), ()))


@dataclass(slots=True)
class _Statement:
    connection: duckdb.DuckDBPyConnection
    dialect: str
    numbers: Iterator[int] = field(default_factory=count)

    def run(self, parts: Tokens) -> pa.Table:
        """What DuckDB answers."""
        try:
            text = sqlglot.transpile(written(self.quoted(parts)), read=self.dialect, write="duckdb")[0]
            relation = self.connection.sql(text)
            table = relation.to_arrow_table()
        except (duckdb.Error, sqlglot.ParseError) as problem:
            raise CannotEvaluate(f"{written(parts)}: {problem}") from problem
        return table

    def quoted(self, parts: Tokens) -> Tokens:
        """The tokens with names quoted as the dialect quotes them."""
        if self.dialect not in ("spark", "databricks"):
            return parts
        return tuple(
            Token(part.kind, f"`{part.text[1:-1].replace('`', '``')}`") if part.kind == "quoted" else part
            for part in parts
        )

    def store(self, table: pa.Table) -> str:
        """The table under a name of its own."""
        name = f"__{next(self.numbers)}"
        self.connection.register(f"{name}_arrow", table)
        self.connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM "{name}_arrow"')
        return name

    def solved(self, parts: Tokens, before: Tokens) -> Tokens:
        """The query without row patterns; `before` are common table expressions that it may use."""
        if not _has_pattern(parts):
            return parts
        expressions: Tokens = ()
        if parts[0].upper == "WITH":
            main = next(place for place in top_level(parts) if parts[place].upper == "SELECT")
            listed: list[Tokens] = []
            for item in split(parts[1:main]):
                listed.append(self.inside(item, _joined([*([before] if before else []), *listed])))
            expressions, parts = _joined(listed), parts[main:]
            before = _joined([*([before] if before else []), expressions])
        parts = self.inside(parts, before)
        if _has_pattern(parts):
            parts = self.select(parts, before)
        return (*tokens("WITH"), *expressions, *parts) if expressions else parts

    def inside(self, parts: Tokens, before: Tokens) -> Tokens:
        """The tokens with every subquery solved."""
        solved: list[Token] = []
        place = 0
        while place < len(parts):
            if parts[place].text == "(":
                end = closing(parts, place)
                inner = parts[place + 1 : end]
                is_query = bool(inner) and inner[0].upper in ("SELECT", "WITH")
                found = self.solved(inner, before) if is_query else self.inside(inner, before)
                solved += [parts[place], *found, parts[end]]
                place = end + 1
            else:
                solved.append(parts[place])
                place += 1
        return tuple(solved)

    def select(self, parts: Tokens, before: Tokens) -> Tokens:
        """A SELECT whose windows have row patterns, as one over a table that has their values."""
        clauses = cut(parts, _HEADS)
        for head in ("GROUP BY", "HAVING", "UNION", "EXCEPT", "INTERSECT"):
            if head in clauses:
                raise CannotEvaluate(f"{head} beside a window with a pattern")
        with_before = (*tokens("WITH"), *before) if before else ()
        where = (*tokens("WHERE"), *clauses["WHERE"]) if "WHERE" in clauses else ()
        base = self.run((*with_before, *tokens("SELECT * FROM"), *clauses["FROM"], *where))
        if len(set(base.column_names)) < base.num_columns:
            raise CannotEvaluate("columns of one name")
        rows = [dict(zip(base.column_names, row, strict=True)) for row in rows_of(base)]
        scope = Scope({name.lower(): name for name in base.column_names}, {}, self.dialect)
        calls = _Calls(_windows(clauses.get("WINDOW", ())), scope, rows)
        rest = {
            head: calls.cut_out(clauses[head], names_measures=head == "SELECT")
            for head in ("SELECT", "QUALIFY", "ORDER BY") if head in clauses
        }
        arrays = [*base.columns, *(pa.array(values) for values in calls.columns)]
        names = [*base.column_names, *(f"__call{number}" for number in range(len(calls.columns)))]
        table = self.store(pa.Table.from_arrays(arrays, names))
        items = _without_star(rest["SELECT"], base.column_names)
        query = f"SELECT {written(items)} FROM {table}{_alias(clauses['FROM'])}"
        if "QUALIFY" in rest:
            # DuckDB wants a window function somewhere; without one it is a WHERE.
            has_windows = any(part.upper == "OVER" for parts in rest.values() for part in parts)
            qualify = f" {'QUALIFY' if has_windows else 'WHERE'} {written(rest['QUALIFY'])}"
        else:
            qualify = ""
        plain = [item for item in split(clauses["WINDOW"]) if not calls.is_pattern(item)] if "WINDOW" in clauses else []
        if plain:
            query += f" WINDOW {written(_joined(plain))}"
        query += qualify
        if "ORDER BY" in rest:
            query += f" ORDER BY {written(rest['ORDER BY'])}"
        if "LIMIT" in clauses:
            query += f" LIMIT {written(clauses['LIMIT'])}"
        return tokens(query)


class _Calls:
    """The calls over windows with patterns: cut out of the query, computed, each a column."""

    def __init__(self, windows: Mapping[str, Tokens], scope: Scope, rows: list[dict[str, Any]]) -> None:
        self.windows = windows
        self.scope = scope
        self.rows = rows
        self.columns: list[list[Any]] = []

    def is_pattern(self, definition: Tokens) -> bool:
        """Whether `w AS (...)` has a pattern."""
        return has_pattern(clauses_of(definition[3:-1], self.windows))

    def cut_out(self, parts: Tokens, *, names_measures: bool) -> Tokens:
        """The tokens with names of columns in place of calls; a measure that is an item of SELECT keeps its name."""
        items = []
        for item in split(parts):
            found = self._cut_out(item)
            is_measure = names_measures and len(found) == 1 and len(item) > 2 and item[1].upper == "OVER"
            items.append((*found, *tokens("AS"), item[0]) if is_measure else found)
        return _joined(items)

    def _cut_out(self, parts: Tokens) -> Tokens:
        left: list[Token] = []
        place = 0
        while place < len(parts):
            if parts[place].upper == "OVER":
                end = closing(parts, place + 1) + 1 if parts[place + 1].text == "(" else place + 2
                over = parts[place + 1 : end]
                clauses = clauses_of(over[1:-1] if over[0].text == "(" else over, self.windows)
                if has_pattern(clauses):
                    start = _start_of_call(left)
                    left[start:] = tokens(self._column(tuple(left[start:]), clauses))
                else:
                    left += parts[place:end]
                place = end
                continue
            left.append(parts[place])
            place += 1
        return tuple(left)

    def _column(self, call_text: Tokens, clauses: Mapping[str, Tokens]) -> str:
        window = read_window(clauses, self.scope)
        call = read_call(call_text, self.scope)
        check_measure(window, call)
        self.columns += values_of(window, [call], self.rows)
        return f"__call{len(self.columns) - 1}"


def _start_of_call(left: list[Token]) -> int:
    """Where the call begins that ends before OVER: a name, or a function with what may follow its parenthesis."""
    end = len(left) - 1
    if left[end].upper == "NULLS":
        end -= 2
    while left[end].text == ")":
        depth, start = 0, end
        while True:
            depth += {")": 1, "(": -1}.get(left[start].text, 0)
            if depth == 0:
                break
            start -= 1
        if left[start - 1].upper != "FILTER":
            return start - 1
        end = start - 2
    return end


def _windows(parts: Tokens) -> dict[str, Tokens]:
    return {item[0].name: item[3:-1] for item in split(parts)} if parts else {}


def _has_pattern(parts: Tokens) -> bool:
    return any(part.upper == "PATTERN" and after.text == "(" for part, after in pairwise(parts))


def _joined(items: list[Tokens]) -> Tokens:
    joined: list[Token] = []
    for item in items:
        if joined:
            joined += tokens(",")
        joined += item
    return tuple(joined)


def _without_star(parts: Tokens, names: list[str]) -> Tokens:
    """`*` means the columns of the input, not the values of calls."""
    columns = tokens(", ".join(f'"{name}"' for name in names))
    return _joined([columns if [part.text for part in item] == ["*"] else item for item in split(parts)])


def _alias(source: Tokens) -> str:
    """The name by which columns of the one table may be qualified."""
    if any(part.upper in ("JOIN", ",") for part in source):
        return ""
    return f" AS {source[-1].text}" if source[-1].is_name else ""
