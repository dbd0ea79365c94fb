"""The templates of the paper's appendix E, errata applied, with parameters that are not degenerate on our data."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Parameters = dict[str, Any]
_BY_TICKER = "PARTITION BY ticker ORDER BY tstamp"
_BY_TIME = "ORDER BY tstamp, ticker"
"""The paper orders by time alone; ties make that a different question every time."""


@dataclass(frozen=True, slots=True)
class Template:
    """A query with parameters: `clause` is what stands in MATCH_RECOGNIZE, over a data set of `data`."""

    name: str
    data: str
    clause: Callable[[Parameters], str]
    instances: tuple[Parameters, ...]


def _grid(**values: list[Any]) -> tuple[Parameters, ...]:
    return tuple(dict(zip(values, chosen, strict=True)) for chosen in product(*values.values()))


def _trend(name: str, column: str, comparison: str) -> str:
    return f"SEGMENT {name} AS linear_reg_r2_signed({name}.tstamp, {name}.{column}) {comparison}"


def _rise(name: str, column: str, comparison: str) -> str:
    return f"SEGMENT {name} AS last({name}.{column}) / first({name}.{column}) {comparison}"


def _drop(name: str, column: str, comparison: str) -> str:
    return f"SEGMENT {name} AS first({name}.{column}) / last({name}.{column}) {comparison}"


def clause(head: str, pattern: str, *definitions: str) -> str:
    """MATCH_RECOGNIZE's inside."""
    measures = "MEASURES START_INDEX() AS first_row, END_INDEX() AS last_row"
    return f"{head}\n{measures}\nPATTERN ({pattern})\nDEFINE " + ",\n  ".join(definitions)


def v_shape(p: Parameters) -> str:
    """Down, then up."""
    return clause(
        _BY_TICKER, "((DN & W) (UP & W)) & WINDOW", "SEGMENT W AS window(15, null)",
        _trend("DN", "price", f"<= {p.get('down', -0.7)}"), _trend("UP", "price", f">= {p['up']}"),
        f"SEGMENT WINDOW AS window(1, {p['window']})",
    )


def _head_shldr(p: Parameters) -> str:
    return clause(
        _BY_TICKER,
        "((UP1 & W) ((DN1 & W) (UP2 & W & NECK_TO_HEAD)) & SHLDER_TO_HEAD"
        " ((DN2 & W & HEAD_TO_NECK) (UP3 & W)) & HEAD_TO_SHLDER (DN3 & W)) & WINDOW",
        "SEGMENT W AS window(3, 10)", *(_trend(f"DN{k}", "price", "<= -0.7") for k in (1, 2, 3)),
        *(_trend(f"UP{k}", "price", ">= 0.7") for k in (1, 2, 3)),
        _rise("NECK_TO_HEAD", "price", f"> {p['r1']}"), _drop("HEAD_TO_NECK", "price", f"> {p['r1']}"),
        _rise("SHLDER_TO_HEAD", "price", f"> {p['r2']}"), _drop("HEAD_TO_SHLDER", "price", f"> {p['r2']}"),
        f"SEGMENT WINDOW AS window(1, {p['window']})",
    )


def _outlier(p: Parameters) -> str:
    return clause(
        _BY_TICKER, "(UP1 OUTLIER UP2) & WINDOW", f"OUTLIER AS zscore_outlier(price, {p['context']}) > {p['z']}",
        _trend("UP1", "price", ">= 0.7"), _trend("UP2", "price", ">= 0.7"), "SEGMENT WINDOW AS window(1, 30)",
    )


def _rebound(p: Parameters) -> str:
    return clause(
        "PARTITION BY county ORDER BY tstamp", "(UP1 (((DOWN & FALL) UP2) & RISE)) & WINDOW",
        _rise("FALL", "confirmed", f"< {p['fall']}"), _rise("RISE", "confirmed", f"> {p['rise']}"),
        _trend("UP1", "confirmed", ">= 0.7"), _trend("UP2", "confirmed", ">= 0.7"),
        _trend("DOWN", "confirmed", "<= -0.7"), "SEGMENT WINDOW AS window(0, 60)",
    )


def cld_wave(p: Parameters) -> str:
    """A steep fall inside a month that gets warmer."""
    return clause(
        "PARTITION BY city ORDER BY tstamp", "(W1 (DOWN & FALL & W2) W1) & UP_MK & WINDOW",
        "SEGMENT W1 AS true", "SEGMENT W2 AS window(1, 5)",
        f"SEGMENT FALL AS last(FALL.temp) - first(FALL.temp) < -{p['fall']}",
        _trend("DOWN", "temp", f"<= -{p['r2']}"), "SEGMENT WINDOW AS window(25, 30)",
        "SEGMENT UP_MK AS mann_kendall_test(temp) >= 3.0",
    )


def _rptd_pttrn(p: Parameters) -> str:
    return clause(
        "ORDER BY tstamp", f"((W1 (UP & RISE & W2) W3 (DOWN & FALL & W2) W1) & WINDOW){{{p['k']}}}",
        "SEGMENT W1 AS true", "SEGMENT W2 AS window(21)", "SEGMENT W3 AS window(5)", "SEGMENT WINDOW AS window(49)",
        _trend("UP", "rides", ">= 0.7"), _trend("DOWN", "rides", "<= -0.7"),
        _rise("FALL", "rides", f"< 1/{p['ratio']}"), _rise("RISE", "rides", f"> {p['ratio']}"),
    )


def limit_sell(p: Parameters) -> str:
    """A rise before which there was no fall."""
    return clause(
        _BY_TICKER, "RISE & WINDOW & ~(FALL W)", "SEGMENT W AS true", _rise("RISE", "price", f"> {p['rise']}"),
        f"SEGMENT WINDOW AS window(1, {p['window']})", _rise("FALL", "price", f"< {p['fall']}"),
    )


def _opencep_q1(p: Parameters) -> str:
    return clause(
        _BY_TIME, "(A1 W (A2 & INC1) W (A3 & INC2)) & WINDOW",
        "SEGMENT W AS true", *(f"{name} AS {name}.ticker = 'GOOG'" for name in ("A1", "A2", "A3")),
        "INC1 AS INC1.peak > A1.peak", "INC2 AS INC2.peak > A2.peak",
        f"SEGMENT WINDOW AS window(tstamp, 0, {p['minutes']}, MINUTE)",
    )


def _opencep_q2(p: Parameters) -> str:
    return clause(
        _BY_TIME, "(((A1 W A2) & FALL)+) & WINDOW",
        "SEGMENT W AS true", "A1 AS A1.ticker = 'GOOG'", "A2 AS A2.ticker = 'GOOG'",
        "SEGMENT FALL AS last(FALL.peak) < first(FALL.peak)",
        f"SEGMENT WINDOW AS window(tstamp, 0, {p['minutes']}, MINUTE)",
    )


def _afa(p: Parameters, pattern: str, condition: str) -> str:
    return clause(
        _BY_TICKER, pattern, "SEGMENT W AS window(2)", _rise("LARGE_FALL", "price", f"< {p['ratio']}"),
        "SEGMENT FALL AS last(FALL.price) < first(FALL.price)", "SEGMENT RISE AS last(RISE.price) > first(RISE.price)",
        condition, "SEGMENT WINDOW AS window(0, 30)",
    )


def _afa_q1(p: Parameters) -> str:
    return _afa(
        p, "((LARGE_FALL & W) ((((FALL & W)+ (RISE & W)+){5}) & EQ)) & WINDOW",
        "SEGMENT EQ AS equal_up_down_ticks(EQ.price)",
    )


def _afa_q2(p: Parameters) -> str:
    return _afa(
        p, "((LARGE_FALL & W) ((FALL & W)+ (RISE & W)+)+) & RECOVER & WINDOW",
        "SEGMENT RECOVER AS last(RECOVER.price) >= first(RECOVER.price)",
    )


_RATIOS = [0.99, 0.98, 0.97, 0.96, 0.95, 0.94, 0.925, 0.91, 0.9]
_MINUTES = [5, 20, 40, 60, 80, 100, 120]

TEMPLATES = {
    template.name: template
    for template in (
        Template("v_shape", "sp500_year", v_shape, _grid(up=[0.7, 0.9, 0.95], window=[30, 60, 90])),
        Template(
            "head_shldr", "sp500", _head_shldr, _grid(window=[30, 40, 55], r1=[1.03, 1.05, 1.1], r2=[1.0, 1.02, 1.05])
        ),
        Template("outlier", "sp500_year", _outlier, _grid(context=[15, 20, 25], z=[2.0, 2.61, 3.0])),
        Template("rebound", "covid", _rebound, _grid(fall=[0.4, 0.6, 0.8], rise=[3, 4, 5])),
        Template("cld_wave", "weather", cld_wave, _grid(fall=[16, 18, 20, 8], r2=[0.85, 0.9, 0.95])),
        Template("rptd_pttrn", "taxi", _rptd_pttrn, _grid(ratio=[2, 3, 4], k=[1, 2, 3, 4])),
        Template(
            "limit_sell", "sp500", limit_sell, _grid(rise=[1.2, 1.3, 1.5], fall=[0.8, 0.9, 0.95], window=[15, 30, 60])
        ),
        Template("OpenCEP_Q1", "nasdaq", _opencep_q1, _grid(minutes=_MINUTES)),
        Template("OpenCEP_Q2", "nasdaq", _opencep_q2, _grid(minutes=_MINUTES)),
        Template("AFA_Q1", "sp500", _afa_q1, _grid(ratio=_RATIOS)),
        Template("AFA_Q2", "sp500", _afa_q2, _grid(ratio=_RATIOS)),
    )
}
