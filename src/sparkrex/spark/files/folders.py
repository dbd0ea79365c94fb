"""Values of partition folders (`day=2026-01-31`), as Spark reads them, where that is beyond doubt."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from sparkrex.spark.files.footers import NotProvenError

if TYPE_CHECKING:
    from sparkrex.spark.files.footers import Wanted

_NULL = "__HIVE_DEFAULT_PARTITION__"
_ESCAPED = re.compile(r"%([0-7][0-9a-fA-F])")
_WIDTHS = {"int": 32, "bigint": 64}


def folder_values(file: str, root: str) -> dict[str, str]:
    """The text of each partition folder between a root and a file, by name."""
    found: dict[str, str] = {}
    if not PurePosixPath(file).is_relative_to(root):
        return found
    for part in PurePosixPath(file).relative_to(root).parts[:-1]:
        name, equals, value = part.partition("=")
        if equals:
            found[_unescaped(name)] = _unescaped(value)
    return found


def folder_value(text: str, wanted: Wanted) -> str | int | None:
    """The value of a folder in a column, dates as days since 1970; `NotProvenError` where Spark might read another."""
    if text == _NULL:
        return None
    width = _WIDTHS.get(wanted.spark_type)
    if wanted.spark_type == "string":
        return text
    if width is not None and re.fullmatch(r"-?\d{1,19}", text) and -(1 << width - 1) <= int(text) < 1 << width - 1:
        return int(text)
    if wanted.spark_type == "date" and re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        try:
            return (dt.date.fromisoformat(text) - dt.date(1970, 1, 1)).days
        except ValueError:
            pass
    raise NotProvenError(f"column {wanted.name}, of partition folders, is {wanted.spark_type}")


def _unescaped(text: str) -> str:
    if "%" in _ESCAPED.sub("", text):
        raise NotProvenError(f"the folder {text} has escapes that are not ASCII")
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
