"""Texts as rows and patterns as regular expressions: what a search in frames must find, by Python's `re`.

Every variable is its own letter, so that a pattern is a regular expression and the preferred match is the one that `re`
finds at a place.
"""

from __future__ import annotations

import random
import re
from unittest.mock import patch

import pyarrow as pa

import sparkrex as rex
from sparkrex.kernels import lazy

PATTERNS = {
    "A B* C?": "AB*C?", "(A | A B) C": "(A|AB)C", "A+? B": "A+?B", "(A B?)+": "(AB?)+", "A{2,3} | B": "A{2,3}|B",
    "A*": "A*", "(A+ | B)* C": "(A+|B)*C",
}
SKIPS = ("PAST LAST ROW", "TO NEXT ROW")
Found = list[tuple[int, int] | None]


def drawn(seed: int) -> str:
    """A text of letters that often match."""
    chance = random.Random(seed)
    return "".join(chance.choice("AAABBC") for _ in range(chance.randrange(1, 30)))


def by_definition(pattern: str, text: str, skip: str, ends: list[int], *, is_seek: bool) -> Found:
    """The match of each row, None for a row without one: the loop of the definition."""
    expression = re.compile(PATTERNS[pattern])
    found: Found = []
    skipped_to = 0
    for row, end in enumerate(ends):
        if row < skipped_to:
            found.append(None)
            continue
        starts = range(row, end + 1) if is_seek else (row,)
        match = next((m for s in starts if (m := expression.match(text, s, end + 1)) is not None), None)
        found.append(None if match is None else match.span())
        skipped_to = row + 1
        if match is not None and match.end() > match.start() and skip == "PAST LAST ROW":
            skipped_to = match.end()
    return found


def by_search(pattern: str, text: str, skip: str, end: str, matcher: str, form: str, *, is_seek: bool) -> Found:
    """The same by the engine, in compiled code or in Python."""
    conditions = ", ".join(f"{letter} AS x = '{letter}'" for letter in "ABC" if letter in pattern)
    query = f"""
        SELECT s OVER w AS s, n OVER w AS n FROM t WINDOW w AS (ORDER BY i
          MEASURES FIRST(i) AS s, count(*) AS n ROWS BETWEEN CURRENT ROW AND {end} FOLLOWING
          AFTER MATCH SKIP {skip} {'SEEK' if is_seek else 'INITIAL'} PATTERN ({pattern})
          DEFINE {conditions}) ORDER BY i"""
    table = pa.table({"i": range(len(text)), "x": list(text)})
    with patch.object(lazy, "FEW_ROWS", 0 if form == "compiled" else 1 << 20):
        rows = rex.sql(query, t=table, dialect="duckdb", settings={"matcher": matcher}).to_pylist()
    return [
        None if row["n"] is None else (row["s"], row["s"] + row["n"]) if row["n"] else (-1, -1) for row in rows
    ]


def same(found: Found, expected: Found) -> bool:
    """Whether both say the same; an empty match has no place."""
    plain = [None if one is None else one if one[0] < one[1] else (-1, -1) for one in expected]
    return found == plain
