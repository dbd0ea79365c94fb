"""The golden cases of windows by the oracle: it gives every answer and every error of a row that the files give."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.answers import differences, render_table
from tests.golden import CASES, read
from tests.modes.windows.oracle import OracleError, answer

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from tests.golden import Case

# The oracle reads what is legal. Only these errors are of rows.
_FRAME_END = "REX422"
_CODES = {"REX401": "REX401", "REX402": "REX402", _FRAME_END: "END"}


def _cases() -> list[Path]:
    cases = map(read, sorted((CASES / "windows").glob("*.case")))
    return [
        case.path for case in cases
        if case.no_oracle_because is None and (case.error is None or case.error.code in _CODES)
    ]


@pytest.mark.parametrize("path", _cases(), ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    case = read(path)
    if case.error is not None:
        with pytest.raises(OracleError) as found:
            answer(case.query, case.arrow_tables(), case.dialect)
        assert found.value.code == _CODES[case.error.code]
        return
    found_rows = answer(case.query, case.arrow_tables(), case.dialect)
    problems = _problems(case, found_rows)
    assert not problems, "\n".join([*problems, render_table(found_rows)])


def _problems(case: Case, found: pa.Table) -> list[str]:
    """What differs but types, of which the oracle knows nothing."""
    assert case.result is not None
    expected = replace(case.result, types=(None,) * len(case.result.columns))
    return differences(expected, found, is_ordered=case.is_ordered)
