"""The layers of the package: a query flows down the table, and each unit imports only what is listed beside it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.import_table import PACKAGE, Allowed, allow, violations

import sparkrex

ROOT = Path(sparkrex.__file__).parent

FOUNDATION = ("source", "errors", "settings", "functions", "threads", "stopwatch", "tree_text", "warn")

EXPRESSIONS = ("scalar", "scalar/render")
EVALUATION = ("hosts/host", "columns", "evaluate", "matching")
SEGMENT_PLANS = (
    "modes/segments/planner/logical", "modes/segments/planner/physical_plan", "modes/segments/planner/lengths",
    "modes/segments/planner/contains",
)
"""Plans of segment searches as data: the planner makes them, operators are built from them."""

SEGMENTS = (
    "modes/segments", "modes/segments/analyze", "modes/segments/rewrite", "modes/segments/planner", *SEGMENT_PLANS,
    "modes/segments/operators", "modes/segments/aggregates",
)
EVENTS = ("modes/events", "modes/events/language", "modes/events/analyze", "modes/events/nfab")
TRENDS = ("modes/trends", "modes/trends/language")
WORKLOAD = ("modes/workload", "modes/workload/clause", "modes/workload/planner")
PROTOCOLS = ("modes/plan", "modes/protocol", "modes/tables")
LOWERING = (
    "spark/lowering", "spark/missing_rows", "spark/gathered", "spark/aggregate_types", "spark/proven_functions",
    "spark/worker_language", "spark/worker_expressions", "spark/worker",
)
"""What modes use to cut a plan between Spark and its workers; no PySpark in it but the names of Spark's functions."""

TABLE: dict[str, Allowed] = {
    # The foundation, which everybody but kernels may use.
    "source": allow(),
    "errors": allow("source"),
    "settings": allow("errors", "functions", "threads"),
    "functions": allow("errors"),
    "threads": allow(),
    "stopwatch": allow(),
    "tree_text": allow(),
    "warn": allow(),
    # From text to trees: what all grammars read, the statement around a relation, the language of rows and segments.
    "syntax": allow(*FOUNDATION, packages="sqlglot"),
    "statement": allow(*FOUNDATION, "syntax", "statement/site", "modes/tables", packages="sqlglot"),
    "statement/site": allow("source", packages="sqlglot"),
    "languages": allow(*FOUNDATION, "syntax", "modes/plan", packages="sqlglot"),
    # The language as a value: it knows the modes that it has plans of.
    "languages/match_recognize/language": allow(
        *FOUNDATION, "syntax", "languages", "scalar/analyze", "modes", "modes/plan", "modes/rows",
        "modes/segments/analyze", "modes/segments/aggregates", packages="sqlglot",
    ),
    # A language that is a whole query also says where it stands in a statement.
    "languages/sqlts": allow(*FOUNDATION, "syntax", "languages", "modes/plan", packages="sqlglot"),
    "languages/sqlts/claim": allow(
        *FOUNDATION, "syntax", "languages", "languages/sqlts", "statement", "statement/site", packages="sqlglot"
    ),
    "languages/sqlts/language": allow(
        *FOUNDATION, "syntax", "languages", "languages/sqlts", "languages/sqlts/claim", "scalar", "scalar/analyze",
        "modes", "modes/plan", "modes/rows", "statement/site", packages="sqlglot",
    ),
    # Windows of a query, which stand in the statement as the language says.
    "languages/windows": allow(
        *FOUNDATION, "syntax", "languages", "modes/plan", "statement", "statement/site", packages="sqlglot"
    ),
    "languages/windows/language": allow(
        *FOUNDATION, "syntax", "languages", "languages/windows", "scalar/analyze", "modes", "modes/plan",
        "modes/windows", "statement/site", packages="sqlglot",
    ),
    # Expressions. Syntax that only a host knows is kept as sqlglot reads it; SQL is written in `render` only.
    "scalar": allow(*FOUNDATION, "syntax", packages="sqlglot"),
    "scalar/render": allow(*FOUNDATION, "scalar", packages="sqlglot"),
    "scalar/analyze": allow(*FOUNDATION, "syntax", "languages", "scalar", packages="sqlglot"),
    "scalar/prove": allow("scalar"),
    # Who evaluates SQL: a protocol, and what knows DuckDB, which nobody else does.
    "hosts": allow(*FOUNDATION),
    "hosts/host": allow(*FOUNDATION, packages="pyarrow"),
    "hosts/duckdb": allow(*FOUNDATION, "scalar", "hosts/host", packages="pyarrow duckdb sqlglot"),
    # Kernels know arrays only; columns stand between Arrow and kernels; a host is asked by its protocol.
    "kernels": allow("kernels/compiling", packages="numpy numba llvmlite"),
    # Loads no Numba, so that a command may ask it.
    "kernels/compiling": allow(),
    "columns": allow(*FOUNDATION, "kernels", "columns/paths", packages="numpy pyarrow"),
    # Results in the library of their inputs.
    "columns/results": allow(*FOUNDATION, "columns", packages="numpy pyarrow pandas polars"),
    # Files behind URIs; fsspec is used if it is there.
    "columns/paths": allow(*FOUNDATION, packages="pyarrow fsspec"),
    # What modes share: conditions over rows, and what is read from matches.
    "evaluate": allow(
        *FOUNDATION, *EXPRESSIONS, "scalar/prove", "hosts/host", "columns", "kernels", packages="numpy pyarrow",
    ),
    "matching": allow(
        *FOUNDATION, *EXPRESSIONS, "hosts/host", "columns", "kernels", "modes/plan", packages="numpy pyarrow",
    ),
    # What modes share about why nothing matched.
    "reasons": allow(
        *FOUNDATION, *EXPRESSIONS, "hosts/host", "columns", "matching", "modes/plan", packages="numpy pyarrow",
    ),
    # Protocols and tables of languages and modes, what all plans and clauses have, and what streams of events are.
    "modes": allow(
        *FOUNDATION, "syntax", "languages", "scalar", "scalar/analyze", "modes/plan", packages="sqlglot",
    ),
    "modes/plan": allow(*FOUNDATION, "syntax", "scalar"),
    "modes/tables": allow("modes/protocol"),
    "modes/fingerprint": allow("source", "modes/plan"),
    "modes/protocol": allow(
        *FOUNDATION, "syntax", "scalar/analyze", "hosts/host", "matching", "modes", "modes/plan", "statement/site",
        "reasons", "spark/lowering", "spark/worker", packages="pyarrow sqlglot",
    ),
    # Row patterns.
    "modes/rows": allow(
        *FOUNDATION, "syntax", "languages", *EXPRESSIONS, "scalar/analyze", "scalar/prove", *EVALUATION, "kernels",
        "modes", "modes/plan", "modes/rows/kernels", "modes/rows/ops", "reasons", *LOWERING,
        packages="numpy pyarrow sqlglot",
    ),
    "modes/rows/ops": allow(
        *FOUNDATION, "languages", "scalar", "scalar/prove", *EVALUATION, "modes/plan", "modes/rows",
        "modes/rows/kernels", packages="numpy pyarrow",
    ),
    "modes/rows/kernels": allow("kernels", packages="numpy numba"),
    # Row patterns in windows search as row patterns do, in frames.
    "modes/windows": allow(
        *FOUNDATION, "syntax", "languages", "languages/windows", *EXPRESSIONS, "scalar/analyze", "scalar/prove",
        *EVALUATION, "kernels", "modes", "modes/plan", "modes/rows", "modes/rows/kernels", "modes/windows/kernels",
        *LOWERING,
        packages="numpy pyarrow sqlglot",
    ),
    "modes/windows/kernels": allow("kernels", "modes/rows/kernels", packages="numpy numba"),
    # Segments. Aggregates know arrays, not patterns or plans; operators carry out plans and do not know who makes them.
    "modes/segments": allow(
        *FOUNDATION, "syntax", *EXPRESSIONS, *EVALUATION, "modes/plan", *SEGMENTS, "modes/segments/why", "reasons",
        *LOWERING,
        packages="numpy pyarrow",
    ),
    "modes/segments/why": allow(
        *FOUNDATION, *EXPRESSIONS, *EVALUATION, "modes/plan", "modes/segments", "reasons", packages="numpy pyarrow",
    ),
    "modes/segments/kernels": allow("kernels", packages="numpy numba"),
    "modes/segments/analyze": allow(
        *FOUNDATION, "syntax", "languages", "scalar", "scalar/analyze", "modes", "modes/plan", "modes/segments",
        packages="sqlglot",
    ),
    "modes/segments/aggregates": allow(*FOUNDATION, "modes/segments/kernels", packages="numpy"),
    "modes/segments/planner/logical": allow("scalar", "modes/segments"),
    "modes/segments/planner/physical_plan": allow("modes/segments/planner/logical"),
    "modes/segments/planner/lengths": allow("scalar", "modes/segments", "modes/segments/planner/logical"),
    "modes/segments/planner/contains": allow(
        "scalar", "modes/segments", "modes/segments/planner/logical", "modes/segments/planner/lengths",
    ),
    "modes/segments/operators": allow(
        *FOUNDATION, *EXPRESSIONS, *EVALUATION, "modes/plan", "modes/segments", "modes/segments/kernels",
        "modes/segments/aggregates", *SEGMENT_PLANS, packages="numpy pyarrow",
    ),
    # Conditions are sampled and operators profiled, so the planner knows what it chooses among.
    "modes/segments/planner": allow(
        *FOUNDATION, *EXPRESSIONS, "columns", "modes/segments", "modes/segments/aggregates",
        "modes/segments/operators", *SEGMENT_PLANS, packages="numpy pyarrow",
    ),
    "modes/segments/rewrite": allow(
        *FOUNDATION, "syntax", "scalar", "modes/segments", "modes/segments/planner", *SEGMENT_PLANS,
    ),
    # Events.
    "modes/events": allow(
        *FOUNDATION, "syntax", *EXPRESSIONS, *EVALUATION, "modes/plan", *EVENTS, "modes/events/kernels",
        "modes/events/why", "reasons", *LOWERING, packages="numpy pyarrow",
    ),
    "modes/events/why": allow(
        *FOUNDATION, *EXPRESSIONS, *EVALUATION, "modes/plan", *EVENTS, "reasons", packages="numpy pyarrow",
    ),
    "modes/events/kernels": allow("kernels", packages="numpy numba"),
    "modes/events/language": allow(*FOUNDATION, "syntax", "languages", "modes/events", packages="sqlglot"),
    "modes/events/language/language": allow(
        *FOUNDATION, "syntax", "languages", "scalar/analyze", "modes", "modes/events", "modes/events/language",
        "modes/events/analyze", packages="sqlglot",
    ),
    "modes/events/analyze": allow(
        *FOUNDATION, "syntax", "languages", "scalar", "scalar/analyze", "modes", "modes/plan", "modes/events",
        "modes/events/language", packages="sqlglot",
    ),
    "modes/events/nfab": allow(
        *FOUNDATION, "syntax", *EXPRESSIONS, *EVALUATION, "kernels", "modes/plan", "modes/events",
        "modes/events/kernels", packages="numpy pyarrow",
    ),
    # Trend aggregates.
    "modes/trends": allow(
        *FOUNDATION, "syntax", *EXPRESSIONS, *EVALUATION, "kernels", "modes/plan", "modes/trends/kernels", *LOWERING,
        packages="numpy pyarrow",
    ),
    "modes/trends/kernels": allow("kernels", packages="numpy numba"),
    "modes/trends/language": allow(*FOUNDATION, "syntax", "languages", "modes/trends", packages="sqlglot"),
    "modes/trends/language/language": allow(
        *FOUNDATION, "syntax", "languages", "scalar/analyze", "modes", "modes/trends", "modes/trends/language",
        "modes/trends/analyze", packages="sqlglot",
    ),
    "modes/trends/analyze": allow(
        *FOUNDATION, "syntax", "languages", "scalar", "scalar/analyze", "modes", "modes/plan", "modes/trends",
        "modes/trends/language", packages="sqlglot",
    ),
    # Workloads of event patterns. The planner knows clauses only: labels and keys, no events.
    "modes/workload": allow(
        *FOUNDATION, "syntax", "languages", *EXPRESSIONS, "scalar/analyze", "scalar/prove", *EVALUATION, "kernels",
        "modes", "modes/plan", *EVENTS, *WORKLOAD, *LOWERING, packages="numpy pyarrow",
    ),
    "modes/workload/clause": allow(),
    "modes/workload/planner": allow(
        *FOUNDATION, "modes/workload/clause", "modes/workload/planner", packages="numpy",
    ),
    # The way of a query, which knows no mode; the face loads it when the first query comes.
    "pipeline": allow(
        *FOUNDATION, "syntax", "statement", "scalar/analyze", "hosts/host", "hosts/duckdb", "columns", "matching",
        *PROTOCOLS, "reasons", packages="pyarrow",
    ),
    "explanation": allow("modes/protocol"),
    "faults": allow("errors", "source"),
    # Only this folder, cli/session and cli/spark_output import pyspark. It reads the package's version, which workers
    # compare.
    # A bucket of keys on a stream: protocols, no mode, and of Spark only what workers have without PySpark.
    "streams": allow(
        *FOUNDATION, "scalar", "columns", "matching", *PROTOCOLS, "modes/fingerprint", "spark/worker",
        packages="numpy pyarrow",
    ),
    "spark": allow(
        *FOUNDATION, "syntax", "statement", *EXPRESSIONS, "scalar/analyze", "hosts/duckdb", *EVALUATION,
        *PROTOCOLS, *LOWERING, "pipeline", "reasons", "spark/streaming", "spark/files", PACKAGE,
        packages="numpy pyarrow pyspark sqlglot",
    ),
    # Parquet files that workers read. What runs there, and what footers prove, knows no Spark.
    "spark/files": allow(
        *FOUNDATION, "statement", "columns", "columns/paths", "matching", "hosts/host", "modes/plan", "modes/protocol",
        "pipeline", "spark", *LOWERING, PACKAGE, packages="numpy pyarrow pyspark sqlglot",
    ),
    # Streams on Spark: a thin layer around `streams`.
    "spark/streaming": allow(
        *FOUNDATION, "syntax", "scalar/render", "statement", "columns", "matching", "modes", "modes/fingerprint",
        *PROTOCOLS, *LOWERING, "spark", "streams", PACKAGE, packages="pyarrow pyspark sqlglot",
    ),
    "spark/lowering": allow(*FOUNDATION, *EXPRESSIONS, "modes/plan", *LOWERING, packages="pyarrow"),
    "spark/missing_rows": allow(*EXPRESSIONS, "spark", packages="sqlglot"),
    "spark/gathered": allow("source", *EXPRESSIONS),
    "spark/aggregate_types": allow(*EXPRESSIONS),
    "spark/proven_functions": allow(*EXPRESSIONS, packages="sqlglot"),
    "spark/worker_language": allow(*FOUNDATION, "scalar", "modes/plan", "spark/proven_functions"),
    # What says which functions are proven; in a worker it looks at the versions there.
    "spark/worker_expressions": allow(
        *FOUNDATION, *EXPRESSIONS, "modes/plan", *LOWERING, "spark", packages="duckdb pyarrow pyspark",
    ),
    "spark/worker": allow(
        *FOUNDATION, "syntax", "scalar", "hosts/duckdb", *EVALUATION, *PROTOCOLS, "spark/worker_expressions", PACKAGE,
        packages="numpy pyarrow",
    ),
    # Libraries of tables are here for their types.
    "query": allow(
        *FOUNDATION, "faults", "columns", "columns/results", "pipeline", "explanation", "reasons", "spark",
        "spark/files", packages="pandas polars pyarrow pyspark",
    ),
    # The face of workloads: it knows one mode, and puts its queries through the pipeline.
    "workloads": allow(
        *FOUNDATION, "syntax", "statement", "languages", "columns", "columns/results", "matching", "modes",
        "modes/events", *WORKLOAD, "modes/workload/planner", "faults", "pipeline", "query", "spark", "spark/files",
        "workloads",
        packages="numpy pyarrow sqlglot",
    ),
    # Pictures: what is drawn, apart from how. They go through the pipeline, and know no mode.
    "pictures": allow(
        *FOUNDATION, "scalar", "columns", "matching", "modes/plan", "pipeline", "query", "faults",
        packages="numpy pyarrow resvg_py",
    ),
    "side_parts": allow(*FOUNDATION, "columns", "columns/results", "matching", packages="pyarrow"),
    "api": allow(
        *FOUNDATION, "syntax", "languages", *SEGMENTS, *EVENTS, *TRENDS, *WORKLOAD, "workloads", "query", "explanation",
        "side_parts", "pictures", "reasons", "spark", "spark/streaming",
        packages="pyarrow pyspark",
    ),
    "__init__": allow("settings", "errors", "explanation", "query", "api", "notebook"),
    # The cell magic: a command of notebooks.
    "notebook": allow(PACKAGE, "cli", "errors", packages="pyarrow"),
    # Queries that call every kernel.
    "warmup": allow("api", "settings", "errors", packages="numpy numba pyarrow"),
    # The local page: a server, and the process that searches for it.
    "studio": allow(
        *FOUNDATION, "syntax", "hosts/duckdb", "columns", "columns/paths", "matching", "modes/plan", "pipeline",
        "pictures", "faults", PACKAGE, packages="numpy pyarrow sqlglot starlette uvicorn",
    ),
    # Presentation: the public names only, and hints. Two files open the Spark session that the command line asks for
    # and write with it, one opens tables as the engine does, one measures what the planner of segment searches goes by.
    "cli": allow(
        PACKAGE, "errors", "cli/files", "cli/session", "cli/spark_output", "cli/profile", "cli/run_stream",
        "cli/studio", "cli/stream_sources", "columns/paths", "kernels/compiling", "warmup", packages="pyarrow",
    ),
    # What runs streams: their sources, and their batches as `rex.progress` shows them.
    "cli/run_stream": allow(
        "cli", "cli/batches", "cli/files", "cli/printed_rows", "cli/session", "cli/spark_output", "cli/stream_sources",
        packages="pyspark",
    ),
    "cli/printed_rows": allow("cli", packages="pyarrow pyspark"),
    "cli/stream_sources": allow("cli", "cli/session", "errors", "spark/files", packages="pyspark"),
    "cli/batches": allow("cli", "spark/streaming", packages="pyspark"),
    "cli/files": allow(PACKAGE, "cli", "columns", "columns/paths", packages="pyarrow"),
    "cli/studio": allow("cli", "cli/files", "studio"),
    "cli/profile": allow("cli", "modes/segments/planner"),
    "cli/session": allow("cli", "cli/files", "errors", "spark", "spark/files", packages="pyspark"),
    "cli/spark_output": allow("cli", "spark", packages="pyarrow pyspark"),
}


def test_every_import_is_allowed() -> None:
    assert violations(ROOT, TABLE) == []


def test_every_row_of_the_table_exists() -> None:
    missing = [unit for unit in TABLE if not (ROOT / unit).is_dir() and not (ROOT / f"{unit}.py").exists()]
    assert missing == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import pyspark\n", "low/part.py:1: low may not import pyspark"),
        ("import numpy.random\n", "low/part.py:1: low may not import numpy"),
        ("\nfrom sparkrex.high import thing\n", "low/part.py:2: low may not import high"),
        ("from sparkrex import high\n", "low/part.py:1: low may not import high"),
        ("from ..high import thing\n", "low/part.py:1: low may not import high"),
        ("from .. import high\n", "low/part.py:1: low may not import high"),
        ("import sparkrex\n", f"low/part.py:1: low may not import {PACKAGE}"),
        ("def f():\n    import sparkrex.high\n", "low/part.py:2: low may not import high"),
        ("if TYPE_CHECKING:\n    from sparkrex.high import Thing\n", "low/part.py:2: low may not import high"),
    ],
)
def test_the_check_catches_a_violation(tmp_path: Path, text: str, expected: str) -> None:
    root = made_up_package(tmp_path, {"low/part.py": text})
    table = {"__init__": allow("high"), "low": allow(), "high": allow("low", packages="numpy")}
    assert violations(root, table) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "import os.path\nfrom collections.abc import Iterator\n",
        "from sparkrex.low.other import thing\n",
        "from . import other\n",
        "from sparkrex.errors import RexError\n",
        "from sparkrex import errors\n",
    ],
)
def test_the_check_lets_allowed_imports_pass(tmp_path: Path, text: str) -> None:
    root = made_up_package(tmp_path, {"low/part.py": text, "low/other.py": "thing = 1\n", "errors.py": ""})
    table = {"__init__": allow("high"), "low": allow("errors"), "high": allow("low"), "errors": allow()}
    assert violations(root, table) == []


def test_the_check_catches_a_new_folder(tmp_path: Path) -> None:
    root = made_up_package(tmp_path, {"new/part.py": ""})
    found = violations(root, {"__init__": allow("high"), "low": allow(), "high": allow()})
    assert [line.split(":")[0] for line in found] == ["new/part.py"]


def test_one_file_may_have_rights_of_its_own(tmp_path: Path) -> None:
    files = {"low/duck.py": "import duckdb\n", "low/part.py": "from sparkrex.low import duck\n"}
    root = made_up_package(tmp_path, files)
    table = {"__init__": allow("high"), "low": allow(), "low/duck": allow(packages="duckdb"), "high": allow()}
    assert violations(root, table) == ["low/part.py:1: low may not import low/duck"]


def made_up_package(folder: Path, files: dict[str, str]) -> Path:
    root = folder / PACKAGE
    for name, text in {"__init__.py": "", "high/thing.py": "", "low/empty.py": "", **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_importing_the_package_is_light() -> None:
    """Neither Spark nor the compiler is loaded before a query needs it."""
    code = "import sys, sparkrex; print([m for m in ('pyspark', 'numba', 'llvmlite') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert shown.stdout.strip() == "[]"
