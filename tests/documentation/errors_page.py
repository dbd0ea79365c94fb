"""`python -m tests.documentation.errors_page`: writes docs/errors.md from real errors of `error_examples.py`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.answers import render_table
from tests.documentation.error_examples import EXAMPLES, TICKS, Example

import sparkrex as rex
from sparkrex.errors import CODES, InternalError, RexError
from sparkrex.modes.segments.aggregates.registry import forget

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"

_HEAD = """# Errors

Every error about a query, its tables or its data is a `sparkrex.RexError`; an argument of the wrong Python type is a
`TypeError`. Its class says who must act:

| class | codes | what it means |
|---|---|---|
| `ParseError` | REX1xx | the text is not a query |
| `AnalysisError` | REX2xx | the query is well-formed but has no meaning |
| `UnsupportedError` | REX3xx | the query has a meaning that SparkRex cannot compute yet |
| `ExecutionError` | REX4xx | the query met data that it cannot be applied to |
| `InternalError` | REX9xx | a fault of SparkRex |

An error has a stable `code`, a `message`, the `position` (line and column from 1), `notes` and a `hint`; printed, it
shows the line with a caret. It survives pickling. This page is written by `make docs`: the errors below are what the
examples really give, and a test fails when they are not. All examples ask for this table:

"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD, f"```text\n-- table ticks\n{render_table(TICKS)}\n```\n"]
    by_code = {example.code: example for example in EXAMPLES}
    for code, meaning in CODES.items():
        parts.append(f"\n## {code}: {meaning}\n\n{entry(by_code[code])}")
    return "".join(parts)


def entry(example: Example) -> str:
    """Advice, query and error of one code."""
    error = provoke(example)
    asked = f"With `dialect={example.dialect!r}`:\n\n" if example.dialect != "spark" else ""
    asked += f"{example.where}\n\n" if example.where else ""
    asked += f"With `settings={example.settings!r}`:\n\n" if example.settings else ""
    query = f"{asked}```sql\n{example.query}\n```\n\n" if example.query else asked
    return f"{example.advice}\n\n{query}```\n{error}\n```\n"


def provoke(example: Example) -> RexError:
    """The error that an example gets. No query reaches an internal error: that one is made by hand."""
    if example.code == "REX901":
        return InternalError("REX901", "the plan has no output columns", None, None, hint="please report this query")
    if example.error is not None:
        return example.error
    table = TICKS if example.ticks is None else example.ticks
    if example.aggregate is not None:
        rex.aggregate(example.aggregate)
    try:
        if example.why:
            answer = rex.why(example.query, ticks=table, **example.why).starts
        elif example.workload:
            answer = rex.workload({"rule": example.query}, **example.workload).detect(table).table
        else:
            answer = rex.sql(
                example.query, ticks=table, args=example.args, dialect=example.dialect,
                settings=example.settings or None, functions=example.functions or None,
            )
    except RexError as error:
        if error.code != example.code:
            raise AssertionError(f"the example of {example.code} gives {error}") from error
        return error
    finally:
        if example.aggregate is not None:
            forget(example.aggregate.__name__)
    raise AssertionError(f"the example of {example.code} gives no error but {answer.num_rows} rows")


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(CODES)} codes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
