"""NAME=VALUE arguments."""

from __future__ import annotations

import argparse
import re

_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_NUMBER = re.compile(r"(\d[\d_]*)\s*(?:([KMG])I?B)?", flags=re.IGNORECASE)


def named_value(text: str) -> tuple[str, str]:
    """Name and text of `name=value`."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, not {text!r}")
    return name, value


def setting_argument(text: str) -> tuple[str, object]:
    """A setting: a whole number, perhaps a size such as 64MB (MB of 1,048,576), none, text, or several with commas."""
    name, value = named_value(text)
    if value.lower() == "none":
        return name, None
    if "," in value:
        return name, tuple(part.strip() for part in value.split(","))
    number = _NUMBER.fullmatch(value)
    if number is None:
        return name, value
    return name, int(number[1]) * _SIZES[(number[2] or "").upper()]

