"""NAME=VALUE arguments."""

from __future__ import annotations

import argparse
import contextlib
import re
from datetime import date, datetime
from decimal import Decimal

_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_NUMBER = re.compile(r"(\d[\d_]*)\s*(?:([KMG])I?B)?", flags=re.IGNORECASE)

_SETTING_WORDS: dict[str, object] = {"true": True, "false": False, "none": None}
_WORDS: dict[str, object] = {"true": True, "false": False, "null": None}


def named_value(text: str) -> tuple[str, str]:
    """Name and text of `name=value`."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, not {text!r}")
    return name, value


def setting_argument(text: str) -> tuple[str, object]:
    """A setting: a whole number, perhaps a size such as 64MB (MB of 1,048,576), true, false, none, or text.

    With commas it is several texts.
    """
    name, value = named_value(text)
    if value.lower() in _SETTING_WORDS:
        return name, _SETTING_WORDS[value.lower()]
    if "," in value:
        return name, tuple(part.strip() for part in value.split(","))
    number = _NUMBER.fullmatch(value)
    if number is None:
        return name, value
    return name, int(number[1]) * _SIZES[(number[2] or "").upper()]


def query_argument(text: str) -> tuple[str, object]:
    """The value of a parameter, typed as SQL would type it when written: `1.5` is a decimal, `1.5e0` a double."""
    name, value = named_value(text)
    if len(value) > 1 and value[0] == value[-1] == "'":
        return name, value[1:-1].replace("''", "'")
    if value.lower() in _WORDS:
        return name, _WORDS[value.lower()]
    if re.fullmatch(r"[+-]?\d+", value):
        return name, int(value)
    if re.fullmatch(r"[+-]?\d*\.?\d+|[+-]?\d+\.", value):
        return name, Decimal(value)
    if re.fullmatch(r"[+-]?\d*\.?\d+[eE][+-]?\d+", value):
        return name, float(value)
    for kind in (date, datetime):
        if re.match(r"\d{4}-\d\d-\d\d", value):
            with contextlib.suppress(ValueError):
                return name, kind.fromisoformat(value)
    return name, value
