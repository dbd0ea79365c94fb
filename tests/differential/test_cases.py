"""Every golden case through the engine and through the oracle: both must give the answer that the file gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.answers import differences, render_table
from tests.differential.relations import answered_by_oracle
from tests.golden import CASES, case_files, read, run_engine
from tests.modes.rows.oracle import CannotEvaluate

from sparkrex.errors import RexError

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from tests.golden import Case

# Errors of reading and analysis never reach the matcher: there is nothing to ask the oracle.
_RUN_TIME_CODES = ("REX401", "REX402", "REX422")


def _name(path: Path) -> str:
    return path.relative_to(CASES).with_suffix("").as_posix()


def _matched() -> list[Case]:
    """The cases that get as far as matching."""
    cases = map(read, case_files())
    return [case for case in cases if case.error is None or case.error.code in _RUN_TIME_CODES]


_MATCHED = [case.path for case in _matched()]
# Row patterns in windows have an oracle of their own (tests/modes/windows/oracle/test_cases.py).
_OF_THE_ORACLE = [
    case.path for case in _matched() if case.no_oracle_because is None and case.path.parent.name != "windows"
]


@pytest.mark.parametrize("path", case_files(), ids=_name)
def test_engine(path: Path) -> None:
    check(read(path))


@pytest.mark.parametrize("path", _OF_THE_ORACLE, ids=_name)
def test_oracle(path: Path) -> None:
    case = read(path)
    with answered_by_oracle(case.dialect):
        try:
            check(case)
        except CannotEvaluate as reason:
            pytest.fail(f"the oracle cannot run this case; say so in its header (oracle: no, ...): {reason}")


@pytest.mark.parametrize("chunk_rows", [1, 3])
@pytest.mark.parametrize("path", _MATCHED, ids=_name)
def test_chunked(path: Path, chunk_rows: int) -> None:
    """Feeding the matcher in chunks changes no answer."""
    check(read(path), chunk_rows=chunk_rows)


def check(case: Case, *, chunk_rows: int | None = None) -> None:
    """Fails, with everything needed to see why, unless the case's answer is given."""
    try:
        answer = run_engine(case, chunk_rows=chunk_rows)
    except RexError as error:
        if case.error is None:
            raise
        _check_error(case, error)
        return
    if case.error is not None:
        pytest.fail(_told(case, [f"expected {case.error.code}, got an answer"], answer))
    if case.result is None:
        pytest.fail(_told(case, ["the case has no answer yet; fill it and review it"], answer))
    found = differences(case.result, answer, is_ordered=case.is_ordered)
    if found:
        pytest.fail(_told(case, found, answer))


def _check_error(case: Case, error: RexError) -> None:
    expected = case.error
    assert expected is not None
    shown = str(error)
    found = []
    if error.code != expected.code:
        found.append(f"expected {expected.code}, got {error.code}")
    if expected.position is not None and error.position != expected.position:
        found.append(f"expected position {expected.position}, got {error.position}")
    found += [f"not in the message: {text!r}" for text in expected.texts if text not in shown]
    if found:
        pytest.fail("\n".join([f"{case.name}: {case.title}", *found, shown]))


def _told(case: Case, found: list[str], answer: pa.Table) -> str:
    return "\n".join([f"{case.name}: {case.title}", *found, "", case.query, "", render_table(answer)])
