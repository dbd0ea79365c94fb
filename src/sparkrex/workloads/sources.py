"""Where the patterns of a workload come from: a mapping, a folder of files, a table of names and texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkrex.columns.inputs import is_spark, to_arrow
from sparkrex.errors import AnalysisError, ExecutionError, RexError

if TYPE_CHECKING:
    import pyarrow as pa

ENDINGS = (".rex", ".sase", ".sql", ".txt")
"""Of files with one pattern each; the name of the file is that of the pattern."""
NAME, TEXTS = "name", ("text", "pattern", "query")
"""Columns of a table of patterns."""


def load_patterns(given: Any) -> dict[str, str | RexError]:
    """Names and texts, or the error of a text that cannot be read; a name that stands twice is an error."""
    pairs = list(_pairs(given))
    found: dict[str, str | RexError] = {}
    for name, text in pairs:
        if not isinstance(name, str) or not isinstance(text, str | RexError):
            wrong = name if not isinstance(name, str) else text
            raise TypeError(f"a pattern has a name and a text, and {wrong!r} is a {type(wrong).__name__}")
        if name in found:
            raise AnalysisError(
                "REX205", f"two patterns have the name {name}", None, None, hint="every pattern has a name of its own"
            )
        found[name] = text
    if not found:
        raise AnalysisError(
            "REX107", "the workload has no patterns", None, None,
            hint='rex.workload({"name": "PATTERN SEQ(A a, B b) WITHIN 10 minutes"}, time=..., type=...)',
            command_hint="a folder with a file for each pattern, or a table with the columns name and text",
        )
    return found


def _pairs(given: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(given, Mapping):
        return given.items()
    if isinstance(given, str | Path) and Path(given).is_dir():
        return _from_folder(Path(given))
    if is_spark(given):
        names = {str(column).lower(): column for column in given.columns}
        name, text = _columns(list(names), f"the table has {', '.join(given.columns)}")
        return [(row[0], row[1]) for row in given.select(names[name], names[text]).collect()]
    if isinstance(given, str | Path):
        _check_file(given)
    elif isinstance(given, Iterable) and not hasattr(given, "columns") and not hasattr(given, "schema"):
        return _from_pairs(given)
    return _from_table(to_arrow("", given))


def _from_pairs(given: Iterable[Any]) -> list[tuple[Any, Any]]:
    pairs = []
    for pair in given:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"patterns are pairs of a name and a text, and {pair!r} is none")
        pairs.append((pair[0], pair[1]))
    return pairs


def _check_file(given: str | Path) -> None:
    if "PATTERN" in str(given).upper().split():
        raise TypeError("patterns have names: rex.workload({'name': 'PATTERN ...'}, ...)")
    if not Path(given).exists():
        raise ExecutionError(
            "REX407", f"there is no folder or file {given}", None, None,
            hint="a folder with a file for each pattern, or a table with the columns name and text",
        )


def _from_folder(folder: Path) -> list[tuple[str, str | RexError]]:
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in ENDINGS and path.is_file())
    if not files:
        raise ExecutionError(
            "REX407", f"the folder {folder} has no patterns", None, None,
            hint=f"a file for each pattern, whose name ends with {', '.join(ENDINGS)}",
        )
    return [(path.stem, _text_of(path)) for path in files]


def _text_of(path: Path) -> str | RexError:
    """What a file says, without the mark that some editors write in front, or the error that says why not."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return ExecutionError("REX407", f"the file {path} cannot be read: {error}", None, None)


def _from_table(source: Any) -> list[tuple[Any, Any]]:
    names = {name.lower(): name for name in source.schema.names}
    name, text = _columns(list(names), f"the table has {', '.join(source.schema.names)}")
    columns = [names[name], names[text]]
    table: pa.Table = source.select(columns) if hasattr(source, "column") else source.to_table(columns=columns)
    return list(zip(*(table.column(column).to_pylist() for column in columns), strict=True))


def _columns(known: list[str], there: str) -> tuple[str, str]:
    text = next((name for name in TEXTS if name in known), None)
    if NAME not in known or text is None:
        raise AnalysisError("REX201", "a table of patterns has the columns name and text", None, None, hint=there)
    return NAME, text
