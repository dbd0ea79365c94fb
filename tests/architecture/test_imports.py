"""The layers of the package: a query flows down the table, and each unit imports only what is listed beside it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.import_table import PACKAGE, Allowed, allow, violations

import sparkrex

ROOT = Path(sparkrex.__file__).parent

FOUNDATION = ("source", "errors", "config", "threads", "stopwatch", "tree_text", "warn")

SEGMENT_PLANS = (
    "planner/segments/logical", "planner/segments/physical_plan", "planner/segments/lengths",
    "planner/segments/contains",
)
"""Plans of segment searches as data: the planner makes them, operators are built from them."""

PARTS = (
    "ir", "statement", "languages", "analyze", "analyze/split", "analyze/event_equalities", "hosts/host",
    "hosts/duckdb", "columns", "aggregates", "physical", "physical/segments", "planner", "planner/segments",
    *SEGMENT_PLANS, "rewrite",
)

TABLE: dict[str, Allowed] = {
    # The foundation, which everybody but `kernels` may use.
    "source": allow(),
    "errors": allow("source"),
    "config": allow("errors", "threads"),
    "threads": allow(),
    "stopwatch": allow(),
    "tree_text": allow(),
    "warn": allow(),
    # From text to trees.
    # Syntax that only a host knows is kept as sqlglot reads it.
    "ir": allow(*FOUNDATION, packages="sqlglot"),
    "statement": allow(*FOUNDATION, packages="sqlglot"),
    "languages": allow(*FOUNDATION, "ir", "statement", packages="sqlglot"),
    "analyze": allow(*FOUNDATION, "ir", "statement", "languages", packages="sqlglot"),
    # What a matcher must know of a condition: no text, no SQL.
    "analyze/split": allow(*FOUNDATION, "ir"),
    # Which equalities of an event query partition its stream: of conditions after analysis, too.
    "analyze/event_equalities": allow(*FOUNDATION, "ir", "analyze/split"),
    # Who evaluates SQL: a protocol, and what knows DuckDB, which nobody else does.
    "hosts": allow(*FOUNDATION),
    "hosts/host": allow(*FOUNDATION, packages="pyarrow"),
    "hosts/duckdb_instance": allow(packages="duckdb"),
    "hosts/duckdb_types": allow(packages="pyarrow sqlglot"),
    "hosts/duckdb": allow(
        *FOUNDATION, "ir", "hosts/host", "hosts/duckdb_instance", "hosts/duckdb_types",
        packages="pyarrow duckdb sqlglot",
    ),
    # From trees to matches. Kernels know arrays only; columns stand between Arrow and kernels; matchers ask a host by
    # its protocol. The planner chooses among matchers, so it knows them and they do not know it.
    "kernels": allow("kernels/compiling", packages="numpy numba"),
    # Loads no Numba, so that a command may ask it.
    "kernels/compiling": allow(),
    "columns": allow(*FOUNDATION, "kernels", "columns/paths", packages="numpy pyarrow"),
    # Files behind URIs; fsspec is used if it is there.
    "columns/paths": allow(*FOUNDATION, packages="pyarrow fsspec"),
    # Aggregates over segments know arrays, not patterns or plans.
    "aggregates": allow(*FOUNDATION, "kernels", packages="numpy"),
    "planner/segments/logical": allow("ir"),
    "planner/segments/physical_plan": allow("planner/segments/logical"),
    "planner/segments/lengths": allow("ir", "planner/segments/logical"),
    "planner/segments/contains": allow("ir", "planner/segments/logical", "planner/segments/lengths"),
    "physical": allow(
        *FOUNDATION, "ir", "analyze/split", "hosts/host", "columns", "kernels", packages="numpy pyarrow",
    ),
    # Operators over segments: they carry out plans, and do not know who makes them.
    "physical/segments": allow(
        *FOUNDATION, "ir", "hosts/host", "columns", "kernels", "aggregates", "physical", *SEGMENT_PLANS,
        packages="numpy pyarrow",
    ),
    "planner": allow(*FOUNDATION, "ir", "analyze/split", "hosts/host", "columns", "physical", packages="numpy pyarrow"),
    # Conditions are sampled and operators profiled, so this planner too knows what it chooses among.
    "planner/segments": allow(
        *FOUNDATION, "ir", "columns", "aggregates", "physical", "physical/segments", *SEGMENT_PLANS,
        packages="numpy pyarrow",
    ),
    # Rewritings of segment searches, and of the logical trees that are made of them.
    "rewrite": allow(
        *FOUNDATION, "ir", "planner/segments", "planner/segments/logical", "planner/segments/lengths",
    ),
    # The pipeline joins all of them; the face loads it when the first query comes.
    "engine": allow(*FOUNDATION, *PARTS, "segment_engine", "event_engine", "explanation", packages="numpy pyarrow"),
    "event_engine": allow(*FOUNDATION, *PARTS, "event_explanation", packages="numpy pyarrow"),
    "segment_engine": allow(*FOUNDATION, *PARTS, "segment_explanation", packages="numpy pyarrow"),
    "explanation": allow(
        *FOUNDATION, "ir", "planner", "segment_engine", "segment_explanation", "event_explanation",
    ),
    "event_explanation": allow(*FOUNDATION, "ir", "physical"),
    "segment_explanation": allow(
        *FOUNDATION, "ir", "physical/segments", "planner/segments", *SEGMENT_PLANS, "rewrite",
    ),
    # Only this folder, cli/session and cli/spark_output import pyspark. It reads the package's version, which workers
    # compare.
    "spark": allow(
        *FOUNDATION, *PARTS, "engine", "segment_engine", "event_engine", "event_explanation", PACKAGE,
        packages="numpy pyarrow pyspark sqlglot",
    ),
    "api": allow(
        *FOUNDATION, "languages", "columns", "aggregates", "physical", "engine", "explanation", "spark",
        packages="pyarrow",
    ),
    "__init__": allow("config", "errors", "api"),
    # Queries that call every kernel.
    "warmup": allow("api", "config", "errors", packages="numpy numba pyarrow"),
    # Presentation: the public names only. Two files open the Spark session that the command
    # line asks for and write with it, one opens tables as the engine does, one measures what the planner of segment
    # searches goes by.
    "cli": allow(
        PACKAGE, "cli/files", "cli/session", "cli/spark_output", "cli/profile", "kernels/compiling", "warmup",
        packages="pyarrow",
    ),
    "cli/files": allow(PACKAGE, "cli", "columns/paths", packages="pyarrow"),
    "cli/profile": allow("cli", "planner/segments"),
    "cli/session": allow("cli", "cli/files", "spark", packages="pyspark"),
    "cli/spark_output": allow("cli", packages="pyspark"),
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
