"""What the page asks, as a value; whatever does not fit is refused before a query is looked at."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

KINDS = ("tables", "check", "search", "result", "explain", "why", "python")
"""What can be asked for."""
_TEXTS = ("query", "dialect", "page")
_NAMES = ("x", "y", "partition")


class NotAskedError(Exception):
    """A request says something else than the page would."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query and how to look at it: the columns of both axes, one partition by its title, a range of the x axis.

    Of times the range is in seconds since 1970. `page` tells the pages apart that are open at the same time: of each
    only the last request is answered.
    """

    kind: str
    query: str = ""
    dialect: str = "spark"
    x: str | None = None
    y: str | None = None
    partition: str | None = None
    view: tuple[float, float] | None = None
    page: str = ""

    def to_json(self) -> bytes:
        """For the process that searches."""
        return json.dumps(asdict(self)).encode()


def asked_from(kind: str, body: bytes) -> Asked:
    """What a request asks for."""
    try:
        given = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise NotAskedError("the request is not JSON") from error
    if not isinstance(given, dict) or not given.keys() <= {*_TEXTS, *_NAMES, "view", "kind"}:
        raise NotAskedError("the request has fields that are not known")
    for name in _TEXTS:
        if not isinstance(given.get(name, ""), str):
            raise NotAskedError(f"{name} is not a text")
    for name in _NAMES:
        if not isinstance(given.get(name), str | None):
            raise NotAskedError(f"{name} is not a text")
    values = {name: given[name] for name in (*_TEXTS, *_NAMES) if name in given}
    return Asked(kind, **values, view=_range(given.get("view")))


def _range(given: Any) -> tuple[float, float] | None:
    if given is None:
        return None
    is_number = isinstance(given, list) and len(given) == 2 and all(
        isinstance(one, int | float) and not isinstance(one, bool) and isfinite(one) for one in given
    )
    if not is_number or not given[0] < given[1]:
        raise NotAskedError("view is not a range")
    return float(given[0]), float(given[1])
