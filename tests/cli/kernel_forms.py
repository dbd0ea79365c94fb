"""Which kernels a process calls with which types of arguments, as JSON: `python -m tests.cli.kernel_forms WHAT`.

WHAT is `warmup`, for the queries of `rex warmup`, or `queries`, for the golden cases, the benchmark's queries and the
event and trend queries of the documentation.
"""

from __future__ import annotations

import json
import sys

from benchmarks.queries import ALL
from tests.documentation.page_examples import ROOT, examples, problems
from tests.golden import case_files, read

import sparkrex as rex
from sparkrex.warmup import MANY, MEDIUM, compiled_kernels, steps


def run_warmup() -> None:
    for step in steps():
        step.run()


def run_queries() -> None:
    for path in case_files():
        case = read(path)
        try:
            rex.sql(case.query, case.arrow_tables(), dialect=case.dialect, settings=dict(case.settings))
        except rex.RexError:
            assert case.error is not None, case.name
    for query in ALL.values():
        for n_rows in (MEDIUM, MANY):
            table = query.make(n_rows)
            for threads in (1, 2):
                rex.sql(query.sql, t=table, settings={"threads": threads})
    for page in ("events", "trends"):
        for example in examples(ROOT / "docs" / f"{page}.md"):
            problems(example)


if __name__ == "__main__":
    (run_warmup if sys.argv[1] == "warmup" else run_queries)()
    forms = {
        f"{kernel.py_func.__module__}.{kernel.py_func.__name__}": sorted(str(form) for form in kernel.signatures)
        for kernel in compiled_kernels()
    }
    print(json.dumps(forms))
