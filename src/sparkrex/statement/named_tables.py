"""The tables that a statement reads and does not make itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

if TYPE_CHECKING:
    from sparkrex.statement.cut import Statement


def named_tables(statement: Statement) -> list[str]:
    """Names of the tables, each once in any case, in the order in which they are read."""
    placeholders = {relation.placeholder for relation in statement.relations}
    texts = [f"{relation.prefix}SELECT * FROM {relation.input_sql}" for relation in statement.relations]
    found: dict[str, str] = {}
    for text in [*texts, statement.host_sql]:
        try:
            trees = sqlglot.parse(text, read=statement.dialect)
        except SqlglotError:
            continue  # whoever runs it says what is wrong
        for tree in filter(None, trees):
            made = {expression.alias.lower() for expression in tree.find_all(exp.CTE)}
            for table in tree.find_all(exp.Table):
                is_plain = isinstance(table.this, exp.Identifier) and not table.db
                if is_plain and table.name.lower() not in made and table.name not in placeholders:
                    found.setdefault(table.name.lower(), table.name)
    return list(found.values())
