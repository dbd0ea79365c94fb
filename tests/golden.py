"""Reads, checks and fills golden cases, `tests/cases/<area>/<name>.case`; the format is described in their README.

`read` gives a frozen `Case`; `tests/answers.py` has its tables and compares them with an answer.
`python -m tests.golden --fill FILE ...` writes the engine's answer into cases that nobody has derived by hand.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.answers import Cell, Table, arrow_type_of, parse_value, render_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa

CASES = Path(__file__).parent / "cases"

_HEADER_KEYS = ("title", "tags", "source", "derivation", "dialect", "order", "oracle", "spark", "ties", "settings")
_SECTION = re.compile(r"-- (?:(?P<table>table) +(?P<name>\S+)|(?P<plain>query|result|error))\s*\Z")
_ERROR = re.compile(r"(?P<code>REX\d{3})(?: at (?P<line>\d+):(?P<column>\d+))?\Z")


class CaseError(ValueError):
    """A case file that is not in the format; says where."""

    def __init__(self, where: str, line: int, problem: str) -> None:
        super().__init__(f"{where}:{line}: {problem}")


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """The code, the place in the query (if given) and texts that must occur in the error as shown."""

    code: str
    position: tuple[int, int] | None
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One golden case."""

    path: Path
    title: str
    tags: tuple[str, ...]
    source: str | None
    derivation: str | None
    dialect: str
    is_ordered: bool
    no_oracle_because: str | None
    no_spark_because: str | None
    has_ties: bool
    settings: tuple[tuple[str, Any], ...]
    tables: tuple[Table, ...]
    query: str
    result: Table | None
    error: ExpectedError | None

    @property
    def is_derived(self) -> bool:
        """Whether a person stands for the answer; such a case is never rewritten."""
        return self.source is not None or self.derivation is not None

    @property
    def name(self) -> str:
        """`area/name`, as test reports show it."""
        return f"{self.path.parent.name}/{self.path.stem}"

    def arrow_tables(self) -> dict[str, pa.Table]:
        """The inputs by name."""
        return {table.name: table.to_arrow() for table in self.tables}


def case_files() -> list[Path]:
    """Every golden case, in a stable order."""
    return sorted(CASES.rglob("*.case"))


def read(path: Path) -> Case:
    """The case in a file."""
    return parse(path.read_text(encoding="utf-8"), path)


def parse(text: str, path: Path = Path("text.case")) -> Case:
    """The case in a text; `path` names it in errors."""
    where = path.name
    header: dict[str, str] = {}
    sections = list(_sections(text, where))
    key = ""
    for number, line in sections[0].lines:
        if not line.strip():
            continue
        if line[0].isspace() and key:
            # An indented line goes on with the value before it: derivations are long.
            header[key] += f" {line.strip()}"
            continue
        key, colon, value = line.partition(":")
        key = key.strip()
        if not colon or key not in _HEADER_KEYS:
            raise CaseError(where, number, f"not a header line, known keys are {', '.join(_HEADER_KEYS)}: {line!r}")
        if key in header:
            raise CaseError(where, number, f"{key} is given twice")
        if not value.strip():
            raise CaseError(where, number, f"{key} is empty")
        header[key] = value.strip()
    for key in ("title", "tags"):
        if key not in header:
            raise CaseError(where, 1, f"{key} is missing")

    tables: list[Table] = []
    plain: dict[str, _Section] = {}
    for section in sections[1:]:
        if section.kind == "table":
            if section.name in (table.name for table in tables):
                raise CaseError(where, section.number, f"table {section.name} is given twice")
            tables.append(_parse_table(section, where, needs_types=True))
        elif section.kind in plain:
            raise CaseError(where, section.number, f"-- {section.kind} is given twice")
        else:
            plain[section.kind] = section
    if "query" not in plain:
        raise CaseError(where, 1, "-- query is missing")
    if "result" in plain and "error" in plain:
        raise CaseError(where, plain["error"].number, "a case has a result or an error, not both")
    query = "\n".join(line for _, line in plain["query"].lines).rstrip()
    if not query:
        raise CaseError(where, plain["query"].number, "the query is empty")

    return Case(
        path=path,
        title=header["title"],
        tags=tuple(tag.strip() for tag in header["tags"].split(",") if tag.strip()),
        source=header.get("source"),
        derivation=header.get("derivation"),
        dialect=header.get("dialect", "spark"),
        is_ordered=_one_of(header, "order", ("exact", "any"), where) == "exact",
        no_oracle_because=_refusal(header, "oracle", where),
        no_spark_because=_refusal(header, "spark", where),
        has_ties=_one_of(header, "ties", ("no", "yes"), where) == "yes",
        settings=_settings(header, where),
        tables=tuple(tables),
        query=query,
        result=_parse_table(plain["result"], where, needs_types=False) if "result" in plain else None,
        error=_parse_error(plain["error"], where) if "error" in plain else None,
    )


@dataclass(frozen=True, slots=True)
class _Section:
    kind: str
    name: str
    number: int
    lines: tuple[tuple[int, str], ...]


def _sections(text: str, where: str) -> Iterator[_Section]:
    """The header, then each section. A comment of the query is not a section unless it reads exactly like one."""
    kind, name, start = "header", "", 1
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        found = _SECTION.match(line)
        if found is None:
            if kind == "header" and line.startswith("--"):
                raise CaseError(where, number, f"unknown section {line!r}")
            lines.append((number, line))
            continue
        yield _Section(kind, name, start, tuple(lines))
        kind, name, start = found["plain"] or "table", found["name"] or "", number
        lines = []
    yield _Section(kind, name, start, tuple(lines))


def _one_of(header: dict[str, str], key: str, allowed: tuple[str, ...], where: str) -> str:
    value = header.get(key, allowed[0])
    if value not in allowed:
        raise CaseError(where, 1, f"{key} is one of {', '.join(allowed)}, not {value!r}")
    return value


def _refusal(header: dict[str, str], key: str, where: str) -> str | None:
    """Why the case does not run there, None if it does."""
    value = header.get(key)
    if value is None:
        return None
    answer, _, reason = value.partition(",")
    if answer.strip() != "no" or not reason.strip():
        raise CaseError(where, 1, f"{key} reads 'no, because ...', not {value!r}")
    return reason.strip()


def _settings(header: dict[str, str], where: str) -> tuple[tuple[str, Any], ...]:
    settings: list[tuple[str, Any]] = []
    for item in filter(None, (part.strip() for part in header.get("settings", "").split(","))):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not name or not value:
            raise CaseError(where, 1, f"a setting reads name=value, not {item!r}")
        settings.append((name, _setting_value(value)))
    return tuple(settings)


def _setting_value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _parse_table(section: _Section, where: str, *, needs_types: bool) -> Table:
    lines = [(number, line) for number, line in section.lines if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise CaseError(where, section.number, f"-- {section.kind} has no header")
    number, header = lines[0]
    columns: list[str] = []
    types: list[str | None] = []
    for cell in _cells(header, where, number):
        # The last colon cuts: a quoted column name may hold others.
        name, colon, type_text = cell.text.rpartition(":") if not cell.is_quoted else (cell.text, "", "")
        if not colon:
            name, type_text = cell.text, ""
        type_text = type_text.strip()
        if needs_types and not type_text:
            raise CaseError(where, number, f"column {name!r} has no type")
        if type_text:
            try:
                arrow_type_of(type_text)
            except ValueError as error:
                raise CaseError(where, number, str(error)) from error
        columns.append(_unquoted_name(name.strip()))
        types.append(type_text or None)
    rows: list[tuple[Cell, ...]] = []
    for number, line in lines[1:]:
        cells = tuple(_cells(line, where, number))
        if len(cells) != len(columns):
            raise CaseError(where, number, f"{len(cells)} values for {len(columns)} columns")
        for cell, declared in zip(cells, types, strict=True):
            if declared is not None:
                try:
                    parse_value(cell, arrow_type_of(declared))
                except (ValueError, ArithmeticError) as error:
                    raise CaseError(where, number, f"not a value of type {declared}: {cell.text!r}") from error
        rows.append(cells)
    return Table(section.name or section.kind, tuple(columns), tuple(types), tuple(rows))


def _unquoted_name(name: str) -> str:
    return str(json.loads(name)) if name.startswith('"') else name


def _cells(line: str, where: str, number: int) -> Iterator[Cell]:
    """The cells of a line. A bar inside a JSON string does not separate."""
    start = 0
    in_string = False
    index = 0
    while index <= len(line):
        character = line[index] if index < len(line) else "|"
        if index == len(line) and in_string:
            raise CaseError(where, number, "a quoted value is not closed")
        if in_string and character == "\\":
            index += 2
            continue
        if character == '"':
            in_string = not in_string
        elif character == "|" and not in_string:
            yield _cell(line[start:index].strip(), where, number)
            start = index + 1
        index += 1


def _cell(text: str, where: str, number: int) -> Cell:
    if not text:
        raise CaseError(where, number, 'a value is missing; an empty string is written ""')
    if text.startswith('"') and text.endswith('"'):
        try:
            return Cell(str(json.loads(text)), is_quoted=True)
        except json.JSONDecodeError as error:
            raise CaseError(where, number, f"not a JSON string: {text}") from error
    return Cell(text)


def _parse_error(section: _Section, where: str) -> ExpectedError:
    lines = [(number, line.strip()) for number, line in section.lines if line.strip()]
    if not lines:
        raise CaseError(where, section.number, "-- error names no code")
    found = _ERROR.match(lines[0][1])
    if found is None:
        raise CaseError(where, lines[0][0], f"an error reads 'REX204 at 5:8', not {lines[0][1]!r}")
    position = (int(found["line"]), int(found["column"])) if found["line"] else None
    return ExpectedError(found["code"], position, tuple(line for _, line in lines[1:]))


def fill(path: Path, run: Callable[[Case], pa.Table | ExpectedError], *, is_forced: bool = False) -> str | None:
    """Writes the engine's answer into a case; returns why it did not, or None.

    Only the answer changes: the rest of the file stays as its author wrote it.
    """
    text = path.read_text(encoding="utf-8")
    case = parse(text, path)
    if case.is_derived:
        return "has a source or a derivation: a person stands for its answer"
    if (case.result is not None or case.error is not None) and not is_forced:
        return "has an answer already"
    answer = run(case)
    if isinstance(answer, ExpectedError):
        place = "" if answer.position is None else f" at {answer.position[0]}:{answer.position[1]}"
        section = f"-- error\n{answer.code}{place}"
    else:
        section = f"-- result\n{render_table(answer)}"
    kept: list[str] = []
    in_answer = False
    for line in text.split("\n"):
        found = _SECTION.match(line)
        if found is not None:
            in_answer = found["plain"] in ("result", "error")
        if not in_answer:
            kept.append(line)
    path.write_text("\n".join(kept).rstrip() + f"\n\n{section}\n", encoding="utf-8")
    return None


def run_engine(case: Case, *, chunk_rows: int | None = None) -> pa.Table:
    """The engine's answer to a case, fed in chunks if asked to; a user error is raised."""
    # Imported late: reading cases must not need a working engine.
    import sparkrex as rex

    settings = dict(case.settings) | ({} if chunk_rows is None else {"chunk_rows": chunk_rows})
    answer: pa.Table = rex.sql(
        case.query, tables=case.arrow_tables(), dialect=case.dialect, settings=settings or None
    )
    return answer


def answer_or_error(case: Case) -> pa.Table | ExpectedError:
    """The engine's answer, or the user error it raises."""
    from sparkrex.errors import InternalError, RexError

    try:
        return run_engine(case)
    except InternalError:
        raise
    except RexError as error:
        return ExpectedError(error.code, error.position, ())


def main(arguments: Iterable[str]) -> int:
    """Command line: see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description="Fill golden cases.")
    parser.add_argument("--fill", nargs="+", type=Path, required=True, metavar="PATH", help="case files or folders")
    parser.add_argument("--force", action="store_true", help="also replace an answer filled in earlier")
    options = parser.parse_args(list(arguments))
    for path in (file for given in options.fill for file in (sorted(given.rglob("*.case")) or [given])):
        refusal = fill(path, answer_or_error, is_forced=options.force)
        print(f"{path}: {'filled' if refusal is None else 'left alone, ' + refusal}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
