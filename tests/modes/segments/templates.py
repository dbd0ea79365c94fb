"""The 11 query templates of the paper's appendix E with one choice of parameters each, errata applied."""

from __future__ import annotations

_BY_TICKER = "PARTITION BY ticker ORDER BY tstamp"


def _trend(variable: str, column: str, comparison: str) -> str:
    return f"SEGMENT {variable} AS linear_reg_r2_signed({variable}.tstamp, {variable}.{column}) {comparison}"


def _ratio(variable: str, column: str, comparison: str, *, upwards: bool = True) -> str:
    words = ("last", "first") if upwards else ("first", "last")
    top, bottom = (f"{word}({variable}.{column})" for word in words)
    return f"SEGMENT {variable} AS {top} / {bottom} {comparison}"


def _clause(head: str, pattern: str, *definitions: str) -> str:
    return f"{head}\nPATTERN ({pattern})\nDEFINE " + ",\n  ".join(definitions)


TEMPLATES = {
    "v_shape": _clause(
        _BY_TICKER, "((DN & W) (UP & W)) & WINDOW",
        "SEGMENT W AS window(15, null)", _trend("DN", "price", "<= -0.7"), _trend("UP", "price", ">= 0.9"),
        "SEGMENT WINDOW AS window(1, 60)",
    ),
    "head_shldr": _clause(
        _BY_TICKER,
        "((UP1 & W) ((DN1 & W) (UP2 & W & NECK_TO_HEAD)) & SHLDER_TO_HEAD"
        " ((DN2 & W & HEAD_TO_NECK) (UP3 & W)) & HEAD_TO_SHLDER (DN3 & W)) & WINDOW",
        "SEGMENT W AS window(3, 10)",
        *(_trend(name, "price", "<= -0.7") for name in ("DN1", "DN2", "DN3")),
        *(_trend(name, "price", ">= 0.7") for name in ("UP1", "UP2", "UP3")),
        _ratio("NECK_TO_HEAD", "price", "> 1.05"), _ratio("HEAD_TO_NECK", "price", "> 1.05", upwards=False),
        _ratio("SHLDER_TO_HEAD", "price", "> 1.02"), _ratio("HEAD_TO_SHLDER", "price", "> 1.02", upwards=False),
        "SEGMENT WINDOW AS window(1, 40)",
    ),
    "outlier": _clause(
        _BY_TICKER, "(UP1 OUTLIER UP2) & WINDOW",
        "OUTLIER AS zscore_outlier(price, 20) > 2.61", _trend("UP1", "price", ">= 0.7"),
        _trend("UP2", "price", ">= 0.7"), "SEGMENT WINDOW AS window(1, 30)",
    ),
    "rebound": _clause(
        "PARTITION BY city ORDER BY tstamp", "(UP1 (((DOWN & FALL) UP2) & RISE)) & WINDOW",
        _ratio("FALL", "confirmed", "< 0.6"), _ratio("RISE", "confirmed", "> 4"),
        _trend("UP1", "confirmed", ">= 0.7"), _trend("UP2", "confirmed", ">= 0.7"),
        _trend("DOWN", "confirmed", "<= -0.7"), "SEGMENT WINDOW AS window(0, 60)",
    ),
    "cld_wave": _clause(
        "PARTITION BY city ORDER BY tstamp", "(W1 (DOWN & FALL & W2) W1) & UP_MK & WINDOW",
        "SEGMENT W1 AS true", "SEGMENT W2 AS window(1, 5)",
        "SEGMENT FALL AS last(FALL.temp) - first(FALL.temp) < -18", _trend("DOWN", "temp", "<= -0.9"),
        "SEGMENT WINDOW AS window(25, 30)", "SEGMENT UP_MK AS mann_kendall_test(temp) >= 3.0",
    ),
    "rptd_pttrn": _clause(
        "ORDER BY tstamp", "((W1 (UP & RISE & W2) W3 (DOWN & FALL & W2) W1) & WINDOW){2}",
        "SEGMENT W1 AS true", "SEGMENT W2 AS window(21)", "SEGMENT W3 AS window(5)", "SEGMENT WINDOW AS window(49)",
        _trend("UP", "rides", ">= 0.7"), _trend("DOWN", "rides", "<= -0.7"),
        _ratio("FALL", "rides", "< 1/3"), _ratio("RISE", "rides", "> 3"),
    ),
    "limit_sell": _clause(
        _BY_TICKER, "RISE & WINDOW & ~(FALL W)",
        "SEGMENT W AS true", _ratio("RISE", "price", "> 1.3"), "SEGMENT WINDOW AS window(1, 30)",
        _ratio("FALL", "price", "< 0.9"),
    ),
    "OpenCEP_Q1": _clause(
        "ORDER BY tstamp, ticker", "(A1 W (A2 & INC1) W (A3 & INC2)) & WINDOW",
        "SEGMENT W AS true", *(f"{name} AS {name}.ticker = 'GOOG'" for name in ("A1", "A2", "A3")),
        "INC1 AS INC1.peak > A1.peak", "INC2 AS INC2.peak > A2.peak",
        "SEGMENT WINDOW AS window(tstamp, 0, 60, MINUTE)",
    ),
    "OpenCEP_Q2": _clause(
        "ORDER BY tstamp, ticker", "(((A1 W A2) & FALL)+) & WINDOW",
        "SEGMENT W AS true", "A1 AS A1.ticker = 'GOOG'", "A2 AS A2.ticker = 'GOOG'",
        "SEGMENT FALL AS last(FALL.peak) < first(FALL.peak)", "SEGMENT WINDOW AS window(tstamp, 0, 60, MINUTE)",
    ),
    "AFA_Q1": _clause(
        _BY_TICKER, "((LARGE_FALL & W) ((((FALL & W)+ (RISE & W)+){5}) & EQ)) & WINDOW",
        "SEGMENT W AS window(2)", _ratio("LARGE_FALL", "price", "< 0.95"),
        "SEGMENT FALL AS last(FALL.price) < first(FALL.price)", "SEGMENT RISE AS last(RISE.price) > first(RISE.price)",
        "SEGMENT EQ AS EqualUpDownTicks(EQ.price)", "SEGMENT WINDOW AS window(0, 30)",
    ),
    "AFA_Q2": _clause(
        _BY_TICKER, "((LARGE_FALL & W) ((FALL & W)+ (RISE & W)+)+) & RECOVER & WINDOW",
        "SEGMENT W AS window(2)", _ratio("LARGE_FALL", "price", "< 0.95"),
        "SEGMENT FALL AS last(FALL.price) < first(FALL.price)", "SEGMENT RISE AS last(RISE.price) > first(RISE.price)",
        "SEGMENT RECOVER AS last(RECOVER.price) >= first(RECOVER.price)", "SEGMENT WINDOW AS window(0, 30)",
    ),
}
