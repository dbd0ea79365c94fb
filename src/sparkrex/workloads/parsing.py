"""Patterns parsed, and those with the same keys put together as one query of the pipeline."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from sparkrex.modes.workload.language import PatternSource, WorkloadText, in_pattern
from sparkrex.pipeline import INPUT, ParsedQuery, parse_bound, reads_parameters
from sparkrex.source import Source, Span
from sparkrex.statement.cut import Relation, Statement
from sparkrex.statement.parameters import parameter_names
from sparkrex.syntax.tokens import find_dialect, tokenize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparkrex.workloads.workload import Workload

NO_TEXT = Source("")
"""Patterns have texts of their own; a workload has none."""
KEYWORD = "WORKLOAD"


def parse_pattern(name: str, text: str, dialect: str, args: Any) -> PatternSource:
    """A pattern, as an event query. Of the values in `args` it takes those that it reads."""
    with in_pattern(name):
        parsed = parse_bound(text, dialect, "MATCH_EVENTS", None, own_values(text, dialect, args))
    return PatternSource(name, parsed.clauses[0], parsed.statement.source)


def own_values(text: str, dialect: str, args: Any) -> Any:
    """The values that a pattern reads, of those that are given to all of them."""
    if args is None:
        return () if reads_parameters(text, dialect) else None
    if not hasattr(args, "items"):
        return args
    read = parameter_names(tokenize(Source(text), find_dialect(dialect)))
    return {name: value for name, value in args.items() if str(name).removeprefix(":").lower() in read}


def in_groups(patterns: Mapping[str, PatternSource], workload: Workload) -> dict[tuple[str, ...], ParsedQuery]:
    """Patterns with the same equivalence tests, as one query each."""
    groups: dict[tuple[str, ...], list[PatternSource]] = {}
    for pattern in patterns.values():
        groups.setdefault(pattern.keys(), []).append(pattern)
    return {keys: _query(tuple(group), workload) for keys, group in groups.items()}


def _query(patterns: tuple[PatternSource, ...], workload: Workload) -> ParsedQuery:
    suffix = secrets.token_hex(4)
    relation = Relation(
        placeholder=f"rex_{suffix}_0", input_sql=INPUT, input_table=INPUT, input_alias=None, prefix="",
        clause=Span(0, 0), tokens=(), span=Span(0, 0), column_aliases=None, columns_span=None, outer_names=frozenset(),
        keyword=KEYWORD,
    )
    dialect = find_dialect(workload.dialect)
    statement = Statement(NO_TEXT, dialect, (relation,), f"SELECT * FROM {relation.placeholder}", 0)
    clause = WorkloadText(patterns, workload.options)
    return ParsedQuery(statement, workload.dialect, (clause,), workload.stream)
