"""The table as text, and what is in it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
from tests.spark.worker_functions.compare import cases_of
from tests.spark.worker_functions.forms import form_of, reordered

from sparkrex.spark.proven_functions import plain_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.spark.worker_functions.compare import Case, Rendering

_HEAD = """\
# What Spark's workers evaluate exactly as Spark does: written by `python -m tests.spark.worker_functions`, not by hand.
# A form is Spark's SQL; below it DuckDB's (=); below that the types for which the two were equal bit for bit, errors
# included: with ANSI rules (ansi), without (legacy), or both. Types of times were compared in three time zones.
"""
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a case under one setting: Spark's type of the result, and where the two differ, if they do."""

    case: Case
    result: str
    is_ansi: bool
    difference: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """A form, its rendering and a signature, for one setting of ANSI rules."""

    form: str
    rendering: str
    types: tuple[str, ...]
    result: str
    is_ansi: bool


def catalogue_lines(renderings: Iterable[Rendering]) -> Iterator[Line]:
    """The lines that the catalogue could give, whatever is equal. Their results are not known."""
    for rendering in renderings:
        for case in cases_of(rendering):
            made = form_of(rendering.spark, case.types)
            if made is None:
                continue
            for is_ansi in (True, False):
                yield _line(case, made[0].text, made[1], "", is_ansi=is_ansi)


def _line(case: Case, form: str, order: list[int], result: str, *, is_ansi: bool) -> Line:
    rendering = case.rendering
    written = rendering.duckdb if is_ansi or rendering.legacy is None else rendering.legacy
    types = tuple(plain_type(case.types[place]) for place in order)
    return Line(form, _SPACE.sub(" ", reordered(written, order)), types, plain_type(result), is_ansi)


def equal_lines(found: Iterable[Found]) -> set[Line]:
    """The lines of what is equal wherever it was compared: with all samples of its types, in all time zones."""
    lines: dict[Line, bool] = {}
    known: dict[Case, tuple[str, list[int]] | None] = {}
    for one in found:
        if one.case not in known:
            made = form_of(one.case.rendering.spark, one.case.types)
            known[one.case] = None if made is None else (made[0].text, made[1])
        named = known[one.case]
        if named is None:
            continue
        line = _line(one.case, *named, one.result, is_ansi=one.is_ansi)
        lines[line] = lines.get(line, True) and one.difference is None
    return {line for line, is_equal in lines.items() if is_equal}


def written_table(found: Iterable[Found], spark_version: str) -> str:
    """The file."""
    signatures: dict[tuple[str, str], dict[str, set[bool]]] = defaultdict(lambda: defaultdict(set))
    for line in equal_lines(found):
        text = f"{', '.join(line.types)} -> {line.result}".strip()
        signatures[line.form, line.rendering][text].add(line.is_ansi)
    versions = {"spark": spark_version, "duckdb": duckdb.__version__, "arrow": pa.__version__}
    lines = [_HEAD.rstrip(), *(f"version {name} {version}" for name, version in versions.items())]
    before = ""
    for (form, rendering), listed in sorted(signatures.items()):
        if form != before:
            lines += ["", form]
        before = form
        lines.append(f"  = {rendering}")
        for signature, modes in sorted(listed.items()):
            mode = "both" if len(modes) == 2 else "ansi" if True in modes else "legacy"
            lines.append(f"    {mode}: {signature}")
    return "\n".join(lines) + "\n"


def count_lines(found: list[Found], functions: set[str]) -> list[str]:
    """How many functions and signatures are equal, and how many are not, by type of the first operand."""
    equal = equal_lines(found)
    named = {re.split(r"\W", line.form.lower())[0] for line in equal} & functions
    tried: dict[tuple[str, tuple[str, ...]], bool] = {}
    for one in found:
        key = one.case.rendering.spark, tuple(map(plain_type, one.case.types))
        tried[key] = tried.get(key, True) and one.difference is None
    by_type = Counter((types[0] if types else "", is_equal) for (_, types), is_equal in tried.items())
    kinds = sorted({kind for kind, _ in by_type})
    n_forms, n_signatures = len({line.form for line in equal}), len({(line.form, line.types) for line in equal})
    return [
        f"{n_forms} forms, {n_signatures} signatures are equal; {len(named)} of Spark's {len(functions)} functions",
        *(f"  {kind}: {by_type[kind, True]} equal, {by_type[kind, False]} not" for kind in kinds),
    ]
