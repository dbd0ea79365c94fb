"""The table of functions that workers evaluate exactly as Spark does, and how: `proven_functions.txt`.

The table is generated (`python -m tests.spark.worker_functions`, which says how a function gets in). A *form* is the
function as Spark's SQL with `{0}`, `{1}`, ... for the operands, numbered as they appear; a form may hold literals,
which then are part of what was compared. Under a form stand renderings, in DuckDB's SQL, and under a rendering the
types of operands and result for which it was compared, with ANSI rules on (`ansi`), off (`legacy`) or both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.errors import UnsupportedError as SqlglotUnsupported

from sparkrex.scalar.expression import Call, Expression, Literal
from sparkrex.scalar.host_syntax import stand_in
from sparkrex.scalar.render.spark import SPARK
from sparkrex.scalar.spark_in_duckdb import translate

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILE = "proven_functions.txt"
_DECIMAL = re.compile(r"decimal\(\d+,\d+\)")
_PLACE = re.compile(r"\{(\d+)\}")
# Literals below these are part of the syntax.
_WHOLE = (exp.DataType, exp.Interval)


@dataclass(frozen=True, slots=True)
class Form:
    """A call as the table knows it: Spark's SQL with numbered operands, and these operands."""

    text: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Renderings by form and by operand types; the versions that they were compared with."""

    versions: dict[str, str]
    renderings: dict[tuple[str, tuple[str, ...], bool], str]
    forms: frozenset[str]

    def rendering(self, form: str, types: tuple[str, ...], *, is_ansi: bool) -> str | None:
        """DuckDB's SQL for a form over operands of these types, None if there is none that is equal."""
        return self.renderings.get((form, tuple(map(plain_type, types)), is_ansi))


def plain_type(spark_type: str) -> str:
    """A type as the table has it: decimals of all sizes are one."""
    return _DECIMAL.sub("decimal", spark_type)


def duckdb_type(spark_type: str) -> str:
    """DuckDB's name of the type that workers have for one of Spark's."""
    if spark_type.startswith("array<"):
        return f"{duckdb_type(spark_type[6:-1])}[]"
    if spark_type.startswith("map<"):
        key, _, value = spark_type[4:-1].partition(",")
        return f"MAP({duckdb_type(key)}, {duckdb_type(value)})"
    return _DUCKDB_TYPES.get(spark_type, spark_type.upper())


_DUCKDB_TYPES = {
    "string": "VARCHAR", "binary": "BLOB", "timestamp": "TIMESTAMPTZ", "timestamp_ntz": "TIMESTAMP",
    "int": "INTEGER",
}


def forms_of(call: Call) -> Iterator[Form]:
    """The forms under which the table may know a call: as written, and with its literals as operands."""
    if call.syntax is None:
        yield _numbered(SPARK.template(call), call.operands)
        return
    yield _numbered(call.syntax.template("spark"), call.operands)
    tree = call.syntax.tree.copy()
    operands: list[Expression] = list(call.operands)
    written: list[str] = []
    for node in list(tree.find_all(exp.Literal, exp.Boolean)):
        whole = node.parent if isinstance(node.parent, exp.Neg) else node
        if whole.parent is None or node.find_ancestor(*_WHOLE) is not None:
            continue
        written.append(whole.sql(dialect="spark"))
        whole.replace(stand_in(len(operands), None))
        operands.append(_literal(node, is_negative=whole is not node))
    if not written:
        return
    try:
        text = translate(tree, call.syntax.dialect, "spark")
    except SqlglotUnsupported:
        return
    template = call.syntax.templated(text, len(operands))
    n_before = len(call.operands)
    places = [f"{{{number}}}" for number in range(n_before)]
    # A translation that looks at its literals has none of them as operands.
    if template.format(*places, *written) == call.syntax.template("spark"):
        yield _numbered(template, tuple(operands))


def _literal(node: exp.Expr, *, is_negative: bool) -> Literal:
    if isinstance(node, exp.Boolean):
        return Literal(bool(node.this))
    if node.is_string:
        return Literal(node.name)
    value = node.to_py()
    return Literal(-value if is_negative else value)


def _numbered(template: str, operands: tuple[Expression, ...]) -> Form:
    """The template with its operands numbered as they appear."""
    order = list(dict.fromkeys(int(found) for found in _PLACE.findall(template)))
    text = _PLACE.sub(lambda found: f"{{{order.index(int(found[1]))}}}", template)
    return Form(text, tuple(operands[number] for number in order))


@cache
def proven_functions() -> Table:
    """The table in the package."""
    return read_table(files("sparkrex.spark").joinpath(_FILE).read_text("utf-8"))


def read_table(text: str) -> Table:
    """The table from its text."""
    versions: dict[str, str] = {}
    renderings: dict[tuple[str, tuple[str, ...], bool], str] = {}
    forms: list[str] = []
    rendering = ""
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("version "):
            name, version = line.removeprefix("version ").split()
            versions[name] = version
        elif line.startswith("  = "):
            rendering = line.removeprefix("  = ")
        elif line.startswith("    "):
            mode, _, signature = line.strip().partition(": ")
            types = tuple(signature.partition(" -> ")[0].split(", ")) if not signature.startswith("->") else ()
            for is_ansi in (True, False):
                if mode in ("both", "ansi" if is_ansi else "legacy"):
                    renderings[forms[-1], types, is_ansi] = rendering
        else:
            forms.append(line)
    return Table(versions, renderings, frozenset(forms))
