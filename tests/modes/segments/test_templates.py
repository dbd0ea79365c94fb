"""The templates of the paper's appendix E, and its figures 2 and 3, mean what the paper draws."""

from __future__ import annotations

import pytest
from tests.modes.segments.analysis import analyzed
from tests.modes.segments.templates import TEMPLATES

from sparkrex.modes.segments.analyze.forms import walk
from sparkrex.modes.segments.pattern import Concatenation, Kleene, Window

_PATTERNS = {
    "v_shape": "((DN & W) (UP & W)) & WINDOW",
    "head_shldr": (
        "((UP1 & W) (((DN1 & W) (UP2 & W & NECK_TO_HEAD)) & SHLDER_TO_HEAD)"
        " (((DN2 & W & HEAD_TO_NECK) (UP3 & W)) & HEAD_TO_SHLDER) (DN3 & W)) & WINDOW"
    ),
    "outlier": "(UP1 OUTLIER UP2) & WINDOW",
    "rebound": "(UP1 (((DOWN & FALL) UP2) & RISE)) & WINDOW",
    "cld_wave": "(W1 (DOWN & FALL & W2) W1) & UP_MK & WINDOW",
    "rptd_pttrn": "((W1 (UP & RISE & W2) W3 (DOWN & FALL & W2) W1) & WINDOW){2}",
    "limit_sell": "RISE & WINDOW & ~(FALL W)",
    "OpenCEP_Q1": "(A1 W (A2 & INC1) W (A3 & INC2)) & WINDOW",
    "OpenCEP_Q2": "((A1 W A2) & FALL)+ & WINDOW",
    "AFA_Q1": "((LARGE_FALL & W) (((FALL & W)+ (RISE & W)+){5} & EQ)) & WINDOW",
    "AFA_Q2": "((LARGE_FALL & W) ((FALL & W)+ (RISE & W)+)+) & RECOVER & WINDOW",
}
_WINDOWS: dict[str, dict[str, tuple[float, float | None]]] = {
    "v_shape": {"W": (15, None), "WINDOW": (1, 60)},
    "head_shldr": {"W": (3, 10), "WINDOW": (1, 40)},
    "outlier": {"WINDOW": (1, 30)},
    "rebound": {"WINDOW": (1, 60)},
    "cld_wave": {"W2": (1, 5), "WINDOW": (25, 30)},
    "rptd_pttrn": {"W2": (21, 21), "W3": (5, 5), "WINDOW": (49, 49)},
    "limit_sell": {"WINDOW": (1, 30)},
    "OpenCEP_Q1": {"WINDOW": (0, 3_600_000_000)},
    "OpenCEP_Q2": {"WINDOW": (0, 3_600_000_000)},
    "AFA_Q1": {"W": (2, 2), "WINDOW": (1, 30)},
    "AFA_Q2": {"W": (2, 2), "WINDOW": (1, 30)},
}


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("dialect", ["spark", "duckdb"])
def test_templates(name: str, dialect: str) -> None:
    search = analyzed(TEMPLATES[name], dialect=dialect)
    assert str(search.pattern) == _PATTERNS[name]
    found = {item.variable: item.windows[0] for item in search.definitions if item.windows}
    column = "tstamp" if name.startswith("OpenCEP") else None
    assert found == {variable: Window(column, *bounds) for variable, bounds in _WINDOWS[name].items()}
    assert not search.is_plain
    assert search.skip is None
    # A segment variable is a neighbour at every junction, so all of them share their row.
    assert all(all(node.shares) for node in walk(search.pattern) if isinstance(node, Concatenation))
    assert all(node.shares for node in walk(search.pattern) if isinstance(node, Kleene))


def test_every_template_is_there() -> None:
    assert len(TEMPLATES) == 11
    assert list(TEMPLATES) == list(_PATTERNS)


def test_the_cold_wave_in_segments() -> None:
    search = analyzed("""PARTITION BY city ORDER BY tstamp
        PATTERN ((W (DOWN & DIFF & WAVE_WINDOW) W) & UP & OVERALL_WINDOW)
        DEFINE SEGMENT W AS true, -- matches any segment
          SEGMENT WAVE_WINDOW AS window(WAVE_WINDOW.tstamp, 1, 5, DAY),
          SEGMENT DIFF AS last(DIFF.temp) - first(DIFF.temp) < -20,
          SEGMENT DOWN AS linear_regression_r2(DOWN.tstamp, DOWN.temp) >= 0.95,
          SEGMENT OVERALL_WINDOW AS window(tstamp, 25, 30, DAY),
          SEGMENT UP AS mann_kendall_test(temp) >= 3.0""")
    day = 86_400_000_000
    assert str(search.pattern) == "(W (DOWN & DIFF & WAVE_WINDOW) W) & UP & OVERALL_WINDOW"
    assert search.definition("WAVE_WINDOW").windows == (Window("tstamp", 1 * day, 5 * day),)
    assert search.definition("OVERALL_WINDOW").windows == (Window("tstamp", 25 * day, 30 * day),)
    assert search.definition("W").condition is None
    assert str(search.definition("UP").condition) == (
        "(final mann_kendall_test(temp[running last] over UP) >= 3.0)"
    )


def test_the_cold_wave_in_rows() -> None:
    search = analyzed("""PARTITION BY city ORDER BY tstamp
        MEASURES first(U.tstamp) AS starts, last(U.tstamp) AS ends
        ALL MATCHES
        PATTERN (A* D+ B* Z)
        SUBSET U = (A, D, B)
        DEFINE D AS tstamp - first(D.tstamp) <= INTERVAL '5' DAY,
          Z AS last(U.tstamp) - first(U.tstamp) BETWEEN INTERVAL '25' DAY AND INTERVAL '30' DAY
            AND mann_kendall_test(U.temp) >= 3.0
            AND linear_regression_r2(D.tstamp, D.temp) >= 0.95
            AND last(D.temp) - first(D.temp) < -20""")
    assert (search.is_plain, search.measured) == (True, ("U",))
    assert all(not any(node.shares) for node in walk(search.pattern) if isinstance(node, Concatenation))
