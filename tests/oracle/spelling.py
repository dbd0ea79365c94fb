"""What a call means where its name and operands do not say it all.

The analysis names a function after sqlglot's class and leaves a few things to the SQL template: which side is trimmed
or padded, the unit of a date function, a DISTINCT or FILTER inside an aggregate that only the host knows. The oracle
reads these from the template, or says that it cannot.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.oracle.errors import CannotEvaluate

if TYPE_CHECKING:
    from sparkrex.ir.scalar import Aggregate, Call

# `sum({0})`, `max_by({0}, {1})`, `count(*)`, or the bare name that tests write.
_PLAIN_AGGREGATE = re.compile(r"\w+(\((\*|(\{\d+\}(, )?)*)\))?\Z")
_EXTRACT = re.compile(r"(?:EXTRACT|DATE_PART)\('?(\w+)'?(?: FROM|,) (?:CAST\()?\{0\}", re.IGNORECASE)
_TRUNCATE = re.compile(r"DATE_TRUNC\('(\w+)', \{0\}\)\Z", re.IGNORECASE)
_DIFFERENCE = re.compile(r"DATE_DIFF\('(\w+)', \{1\}, \{0\}\)\Z", re.IGNORECASE)


def spelled(call: Call) -> tuple[str, tuple[Any, ...]]:
    """The function's name, and first operands that stand in the template only."""
    name, template, n_operands = call.function, call.template, len(call.operands)
    if name == "trim":
        word = template.split("(")[0].lower()
        if word not in ("trim", "ltrim", "rtrim"):
            raise CannotEvaluate(template)
        return word, ()
    if name == "pad":
        return template.split("(")[0].lower(), ()
    if name == "extract" and n_operands == 1:
        return name, (_unit(_EXTRACT, template),)
    if name in ("timestamptrunc", "datetrunc") and n_operands == 1:
        return "date_trunc", (_unit(_TRUNCATE, template),)
    if name == "datediff" and _DIFFERENCE.match(template):
        return "datediff_end_first", (_unit(_DIFFERENCE, template),)
    return name, ()


def _unit(form: re.Pattern[str], template: str) -> str:
    found = form.match(template)
    if found is None:
        raise CannotEvaluate(template)
    return found[1].lower()


def check_plain(aggregate: Aggregate) -> None:
    """Refuse an aggregate whose template says more than its fields."""
    if not _PLAIN_AGGREGATE.match(aggregate.template):
        raise CannotEvaluate(f"aggregate {aggregate.template}")
