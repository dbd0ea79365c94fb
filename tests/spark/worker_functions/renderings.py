# ruff: noqa: E501
"""Spark's functions, and for each DuckDB's SQL that may be equal to it: the comparison says where it is.

What Spark has under a name is not what DuckDB has under the same name more often than one thinks: positions from 0,
NULL in arrays, NaN, halves, characters outside the BMP. Where a rendering is long, it is because Spark is so.
"""

from __future__ import annotations

from tests.spark.worker_functions.compare import Rendering


def _r(spark: str, kinds: str, duckdb: str, legacy: str | None = None) -> Rendering:
    return Rendering(spark, kinds, duckdb, legacy)


def _joined(items: str, separator: str) -> str:
    """A list of texts with a separator that need not be a constant, as ARRAY_TO_STRING's has to be."""
    return f"(CASE WHEN LENGTH({items}) = 0 THEN '' ELSE LIST_REDUCE({items}, lambda a, b: a || {separator} || b) END)"


_PRESENT = "LIST_FILTER({0}, lambda x: x IS NOT NULL)"
# Letters that DuckDB leaves alone, or whose upper case is several: all others of Unicode were compared one by one.
_SPECIAL = {
    letter: letter.upper() for letter in map(chr, range(0x10FFFF)) if len(letter.upper()) > 1
} | dict(zip("ƛɤ\u1c8a\ua7cd\ua7cfꟓꟕ\ua7db", "\ua7dc\ua7cb\u1c89\ua7cc\ua7ce\ua7d2\ua7d4\ua7da", strict=True)) | {
    chr(0x10D70 + n): chr(0x10D50 + n) for n in range(22)
} | {chr(0x16EBB + n): chr(0x16EA0 + n) for n in range(25)}
_UPPER = (
    "(CASE WHEN STRLEN({0}) = LENGTH({0}) THEN UPPER({0}) ELSE ARRAY_TO_STRING(LIST_TRANSFORM(STRING_SPLIT({0}, ''), "
    f"lambda x: COALESCE(MAP(STRING_SPLIT('{''.join(_SPECIAL)}', ''), STRING_SPLIT('{' '.join(_SPECIAL.values())}', ' '))[x], UPPER(x))), '') END)"
)


# The same for lower case; and a sigma that ends a word, which its neighbours decide: those that have a case, behind ones
# that do not count.
_SPECIAL_LOWER = {"İ": "i\u0307"} | {upper: letter for letter, upper in _SPECIAL.items() if len(upper) == 1}
_CASED = r"[\p{{Lu}}\p{{Ll}}\p{{Lt}}ªºⅠ-ⅿⒶ-ⓩ🄰-🅉🅐-🅩🅰-🆉]"
_IGNORED = (
    r"[\p{{Mn}}\p{{Me}}\p{{Cf}}\p{{Lm}}\p{{Sk}}''.:" "\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a\u2018\u2019\u2024\ufe52\uff07\uff0e]*"
)
# What is no letter, or no mark, any more in the Unicode that Spark has.
_SEEN = "TRANSLATE({0}, 'ʕ\U0001171e', '11')"
_LOWER = (
    "(CASE WHEN STRLEN({0}) = LENGTH({0}) THEN LOWER({0}) ELSE ARRAY_TO_STRING(LIST_TRANSFORM(STRING_SPLIT({0}, ''), "
    f"lambda x, i: CASE WHEN x = 'Σ' AND REGEXP_MATCHES(LEFT({_SEEN}, i - 1), '{_CASED}{_IGNORED}$') "
    f"AND NOT REGEXP_MATCHES(SUBSTRING({_SEEN}, i + 1), '^{_IGNORED}{_CASED}') THEN 'ς' "
    f"ELSE COALESCE(MAP(STRING_SPLIT('{''.join(_SPECIAL_LOWER)}', ''), STRING_SPLIT('{' '.join(_SPECIAL_LOWER.values())}', ' '))[x], LOWER(x)) END), '') END)"
)


def _rounded(value: str, digits: int) -> str:
    """Spark rounds the number as it is written; DuckDB its binary value, times a power of ten."""
    exact = f"CAST(ROUND(CAST(CAST(CAST({value} AS DOUBLE) AS VARCHAR) AS DECIMAL(38,22)), {digits}) AS DOUBLE)"
    return (
        f"(CASE WHEN NOT ISFINITE({value}) OR ABS({value}) >= 4503599627370496 THEN {value} "
        f"WHEN ABS({value}) < 1e-9 THEN {value} * 0 + 0 ELSE {exact} END)"
    )


def _pmod(wide: str, bits: int) -> str:
    """Java's sum wraps where the remainder and the divisor are both far below zero."""
    rest = f"(CAST({{0}} AS {wide}) % {{1}})"
    wrapped = f"({rest} + {{1}} + CASE WHEN {rest} + {{1}} < -CAST({2 ** (bits - 1)} AS {wide}) THEN CAST({2**bits} AS {wide}) ELSE 0 END)"
    return f"(CASE WHEN {rest} < 0 THEN {wrapped} % {{1}} ELSE {rest} END)"


def _to_long(value: str, kind: str = "BIGINT", bits: int = 64) -> str:
    """A double as an integer under ANSI rules; 2**63 is the largest, as Java compares it."""
    top = 2 ** (bits - 1)
    edge = f"WHEN {value} = CAST({top} AS DOUBLE) THEN {top - 1} " if bits == 64 else ""
    return f"(CASE {edge}ELSE CAST(TRUNC({value}) AS {kind}) END)" if edge else f"CAST(TRUNC({value}) AS {kind})"


def _to_long_or_nearest(value: str, bits: int = 64) -> str:
    """Java's conversion of a double: NaN is 0, and what is too large the largest."""
    top = 2 ** (bits - 1)
    return (
        f"(CASE WHEN ISNAN({value}) THEN 0 WHEN {value} >= CAST({top} AS DOUBLE) THEN {top - 1} "
        f"WHEN {value} <= CAST(-{top} AS DOUBLE) THEN -{top - 1} - 1 ELSE CAST(TRUNC({value}) AS BIGINT) END)"
    )


def _fails(message: str) -> str:
    return "error('x')"


_STRINGS = [
    _r("upper({0})", "u", _UPPER), _r("ucase({0})", "u", _UPPER),
    _r("lower({0})", "u", _LOWER), _r("lcase({0})", "u", _LOWER),
    _r("length({0})", "u", "LENGTH({0})"),
    _r("length({0})", "x", "OCTET_LENGTH({0})"),
    _r("char_length({0})", "u", "LENGTH({0})"),
    _r("octet_length({0})", "u", "STRLEN({0})"),
    _r("octet_length({0})", "x", "OCTET_LENGTH({0})"),
    _r("bit_length({0})", "u", "(STRLEN({0}) * 8)"),
    _r("bit_length({0})", "x", "(OCTET_LENGTH({0}) * 8)"),
    _r("trim({0})", "u", "TRIM({0}, ' ')"),
    _r("ltrim({0})", "u", "LTRIM({0}, ' ')"),
    _r("rtrim({0})", "u", "RTRIM({0}, ' ')"),
    _r("btrim({0})", "u", "TRIM({0}, ' ')"),
    _r("btrim({0}, {1})", "ss", "TRIM({0}, {1})"),
    _r("trim(BOTH {1} FROM {0})", "ss", "TRIM({0}, {1})"),
    _r("trim(LEADING {1} FROM {0})", "ss", "LTRIM({0}, {1})"),
    _r("trim(TRAILING {1} FROM {0})", "ss", "RTRIM({0}, {1})"),
    # DuckDB's own reverses what belongs together, such as a letter and its accent, as one.
    _r("reverse({0})", "u", "ARRAY_TO_STRING(LIST_REVERSE(STRING_SPLIT({0}, '')), '')"),
    _r("reverse({0})", "A", "LIST_REVERSE({0})"),
    _r("repeat({0}, {1})", "sk", "CASE WHEN {1} < 0 THEN LEFT({0}, 0) ELSE REPEAT({0}, {1}) END"),
    _r("space({0})", "k", "CASE WHEN {0} < 0 THEN '' ELSE REPEAT(' ', {0}) END"),
    _r("left({0}, {1})", "sI", "(CASE WHEN {1} <= 0 THEN LEFT({0}, 0) ELSE LEFT({0}, {1}) END)"),
    _r("right({0}, {1})", "sI", "(CASE WHEN {1} <= 0 THEN LEFT({0}, 0) ELSE RIGHT({0}, {1}) END)"),
    _r("lpad({0}, {1}, {2})", "sks", "(CASE WHEN {0} IS NULL OR {1} IS NULL OR {2} IS NULL THEN NULL WHEN {1} <= LENGTH({0}) OR {2} = '' THEN LEFT({0}, GREATEST({1}, 0)) ELSE LPAD({0}, {1}, {2}) END)"),
    _r("rpad({0}, {1}, {2})", "sks", "(CASE WHEN {0} IS NULL OR {1} IS NULL OR {2} IS NULL THEN NULL WHEN {1} <= LENGTH({0}) OR {2} = '' THEN LEFT({0}, GREATEST({1}, 0)) ELSE RPAD({0}, {1}, {2}) END)"),
    _r("lpad({0}, {1})", "sk", "(CASE WHEN {1} <= LENGTH({0}) THEN LEFT({0}, GREATEST({1}, 0)) ELSE LPAD({0}, {1}, ' ') END)"),
    _r("rpad({0}, {1})", "sk", "(CASE WHEN {1} <= LENGTH({0}) THEN LEFT({0}, GREATEST({1}, 0)) ELSE RPAD({0}, {1}, ' ') END)"),
    _r("substring({0}, {1})", "sI", "(CASE WHEN {1} >= 0 THEN SUBSTRING({0}, GREATEST({1}, 1)) WHEN CAST({1} AS BIGINT) + LENGTH({0}) <= 0 THEN SUBSTRING({0}, 1, GREATEST(LEAST(LENGTH({0}) + CAST({1} AS BIGINT) + 2147483647, LENGTH({0})), 0)) ELSE SUBSTRING({0}, LENGTH({0}) + CAST({1} AS BIGINT) + 1) END)"),
    _r("substring({0}, {1}, {2})", "sII", """(CASE WHEN {0} IS NULL OR {1} IS NULL OR {2} IS NULL THEN NULL WHEN {2} <= 0 THEN ''
        WHEN {1} >= 0 THEN SUBSTRING({0}, GREATEST({1}, 1), {2})
        ELSE SUBSTRING({0}, GREATEST(LENGTH({0}) + CAST({1} AS BIGINT) + 1, 1), GREATEST(LEAST(LENGTH({0}) + CAST({1} AS BIGINT) + {2}, LENGTH({0})) - GREATEST(LENGTH({0}) + CAST({1} AS BIGINT), 0), 0)) END)"""),
    _r("replace({0}, {1}, {2})", "sss", "(CASE WHEN {1} = '' THEN (CASE WHEN {2} IS NULL THEN NULL ELSE {0} END) ELSE REPLACE({0}, {1}, {2}) END)"),
    _r("replace({0}, {1})", "ss", "(CASE WHEN {1} = '' THEN {0} ELSE REPLACE({0}, {1}, '') END)"),
    _r("translate({0}, {1}, {2})", "sss", "TRANSLATE({0}, {1}, {2})"),
    _r("instr({0}, {1})", "ss", "INSTR({0}, {1})"),
    _r("locate({1}, {0})", "ss", "INSTR({0}, {1})"),
    _r("position({1} IN {0})", "ss", "INSTR({0}, {1})"),
    _r("position({1}, {0})", "ss", "INSTR({0}, {1})"),
    _r("charindex({1}, {0})", "ss", "INSTR({0}, {1})"),
    _r("locate({0}, {1}, {2})", "ssI", """(CASE WHEN {2} IS NULL THEN 0 WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN {2} < 1 THEN 0
        WHEN {0} = '' THEN 1 WHEN {2} > LENGTH({1}) THEN 0 WHEN INSTR(SUBSTRING({1}, {2}), {0}) = 0 THEN 0 ELSE INSTR(SUBSTRING({1}, {2}), {0}) + {2} - 1 END)"""),
    _r("contains({0}, {1})", "ss", "CONTAINS({0}, {1})"),
    _r("startswith({0}, {1})", "ss", "STARTS_WITH({0}, {1})"),
    _r("endswith({0}, {1})", "ss", "SUFFIX({0}, {1})"),
    _r("ascii({0})", "u", "(CASE WHEN {0} = '' THEN 0 ELSE UNICODE({0}) END)"),
    _r("chr({0})", "L", "(CASE WHEN {0} < 0 THEN '' ELSE CHR(CAST({0} % 256 AS INTEGER)) END)"),
    _r("char({0})", "L", "(CASE WHEN {0} < 0 THEN '' ELSE CHR(CAST({0} % 256 AS INTEGER)) END)"),
    _r("concat({0}, {1})", "ss", "({0} || {1})"),
    _r("concat({0}, {1}, {2})", "sss", "({0} || {1} || {2})"),
    _r("concat({0}, {1}, {2}, {3})", "ssss", "({0} || {1} || {2} || {3})"),
    _r("concat({0}, {1})", "xx", "({0} || {1})"),
    _r("concat_ws({0}, {1})", "ss", "CONCAT_WS({0}, {1})"),
    _r("concat_ws({0}, {1}, {2})", "sss", "CONCAT_WS({0}, {1}, {2})"),
    _r("concat_ws({0}, {1}, {2}, {3})", "ssss", "CONCAT_WS({0}, {1}, {2}, {3})"),
    _r("concat_ws({0}, {1})", "sS", "(CASE WHEN {0} IS NULL THEN NULL WHEN {1} IS NULL THEN '' ELSE " + _joined(_PRESENT.replace("{0}", "{1}"), "{0}") + " END)"),
    _r("md5({0})", "s", "MD5({0})"),
    _r("sha({0})", "s", "SHA1({0})"),
    _r("sha1({0})", "s", "SHA1({0})"),
    _r("sha2({0}, 256)", "s", "SHA256({0})"),
    _r("sha2({0}, 0)", "s", "SHA256({0})"),
    _r("md5({0})", "x", "MD5({0})"),
    _r("sha1({0})", "x", "SHA1({0})"),
    _r("sha2({0}, 256)", "x", "SHA256({0})"),
    _r("hex({0})", "s", "HEX({0})"),
    _r("hex({0})", "x", "HEX({0})"),
    _r("hex({0})", "L", "HEX({0})"),
    _r("hex({0})", "I", "HEX(CAST({0} AS BIGINT))"),
    _r("bin({0})", "L", "(CASE WHEN {0} = 0 THEN '0' ELSE LTRIM(CAST(CAST({0} AS BIT) AS VARCHAR), '0') END)"),
    _r("base64({0})", "x", "BASE64({0})"),
    _r("base64({0})", "s", "BASE64(ENCODE({0}))"),
    _r("encode({0}, 'UTF-8')", "s", "ENCODE({0})"),
    _r("split_part({0}, {1}, {2})", "ssk", f"""(CASE WHEN {{0}} IS NULL OR {{1}} IS NULL OR {{2}} IS NULL THEN NULL WHEN {{2}} = 0 THEN {_fails("the index 0 is invalid")}
        WHEN {{1}} = '' THEN (CASE WHEN abs({{2}}) = 1 THEN {{0}} ELSE '' END) ELSE COALESCE(STRING_SPLIT({{0}}, {{1}})[{{2}}], '') END)"""),
    _r("substring_index({0}, {1}, {2})", "ssk", """(CASE WHEN {0} IS NULL OR {1} IS NULL OR {2} IS NULL THEN NULL WHEN {2} = 0 OR {1} = '' THEN ''
        WHEN {2} > 0 THEN """ + _joined("STRING_SPLIT({0}, {1})[1:{2}]", "{1}") + " ELSE " + _joined("STRING_SPLIT({0}, {1})[{2}:]", "{1}") + " END)"),
    _r("find_in_set({0}, {1})", "ss", "(CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN CONTAINS({0}, ',') THEN 0 ELSE COALESCE(LIST_POSITION(STRING_SPLIT({1}, ','), {0}), 0) END)"),
    _r("elt({0}, {1}, {2})", "kss", f"(CASE {{0}} WHEN 1 THEN {{1}} WHEN 2 THEN {{2}} ELSE (CASE WHEN {{0}} IS NULL THEN NULL ELSE {_fails('out of the range of elt')} END) END)",
       "(CASE {0} WHEN 1 THEN {1} WHEN 2 THEN {2} END)"),
    _r("nvl({0}, {1})", "ss", "COALESCE({0}, {1})"),
    _r("is_valid_utf8({0})", "s", "({0} IS NOT NULL OR NULL)"),
    _r("url_encode({0})", "s", "REPLACE(REPLACE(REPLACE(URL_ENCODE({0}), '%20', '+'), '~', '%7E'), '%2A', '*')"),
    _r("quote({0})", "s", "('''' || REPLACE({0}, '''', '\\''') || '''')"),
]

_OF_NUMBERS = [
    _r("abs({0})", "n", "ABS({0})"),
    _r("sign({0})", "d", "(CASE WHEN isnan({0}) THEN {0} WHEN {0} = 0 THEN {0} ELSE CAST(SIGN({0}) AS DOUBLE) END)"),
    _r("signum({0})", "d", "(CASE WHEN isnan({0}) THEN {0} WHEN {0} = 0 THEN {0} ELSE CAST(SIGN({0}) AS DOUBLE) END)"),
    _r("sign({0})", "i", "CAST(SIGN({0}) AS DOUBLE)"),
    _r("signum({0})", "i", "CAST(SIGN({0}) AS DOUBLE)"),
    _r("sign({0})", "m", "SIGN({0})"),
    _r("positive({0})", "n", "{0}"),
    _r("negative({0})", "n", "(-{0})"),
    _r("ceil({0})", "i", "CAST({0} AS BIGINT)"),
    _r("floor({0})", "i", "CAST({0} AS BIGINT)"),
    # Java's conversion of a double to a long: NaN is 0, and what is too large the largest.
    *(_r(f"{name}({{0}})", "d", f"(CASE WHEN ISNAN({{0}}) THEN 0 ELSE CAST({name.upper()}({{0}}) AS BIGINT) END)", _to_long_or_nearest(f"{name.upper()}({{0}})")) for name in ("ceil", "floor")),
    _r("ceil({0})", "m", "CEIL({0})"),
    _r("floor({0})", "m", "FLOOR({0})"),
    _r("rint({0})", "d", "ROUND_EVEN({0}, 0)"),
    *(_r("round({0})", kind, "ROUND({0})") for kind in "im"),
    *(_r("bround({0})", kind, "ROUND_EVEN({0}, 0)") for kind in "im"),
    *(_r("round({0})", kind, _rounded("{0}", 0)) for kind in "hf"),
    *(_r(f"round({{0}}, {digits})", kind, f"ROUND({{0}}, {digits})") for digits in (0, 1, 2, 3, 4, 5) for kind in "im"),
    *(_r(f"round({{0}}, {digits})", kind, _rounded("{0}", digits)) for digits in (0, 1, 2, 3, 4, 5) for kind in "hf"),
    _r("sqrt({0})", "d", "(CASE WHEN {0} < 0 THEN CAST('NaN' AS DOUBLE) ELSE SQRT({0}) END)"),
    _r("sqrt({0})", "i", "(CASE WHEN {0} < 0 THEN CAST('NaN' AS DOUBLE) ELSE SQRT(CAST({0} AS DOUBLE)) END)"),
    _r("sqrt({0})", "m", "(CASE WHEN {0} < 0 THEN CAST('NaN' AS DOUBLE) ELSE SQRT(CAST({0} AS DOUBLE)) END)"),
    _r("degrees({0})", "d", "({0} * 57.29577951308232::DOUBLE)"),
    _r("radians({0})", "d", "({0} * 0.017453292519943295::DOUBLE)"),
    _r("isnan({0})", "f", "COALESCE(isnan({0}), FALSE)"),
    _r("nanvl({0}, {1})", "dd", "(CASE WHEN isnan({0}) THEN {1} ELSE {0} END)"),
    _r("factorial({0})", "I", "(CASE WHEN {0} BETWEEN 0 AND 20 THEN CAST(FACTORIAL({0}) AS BIGINT) END)"),
    _r("bit_count({0})", "i", "BIT_COUNT(CAST({0} AS BIGINT))"),
    _r("bit_count({0})", "b", "CAST({0} AS INTEGER)"),
    _r("{0} & {1}", "II", "({0} & {1})"), _r("{0} & {1}", "LL", "({0} & {1})"),
    _r("{0} | {1}", "II", "({0} | {1})"), _r("{0} | {1}", "LL", "({0} | {1})"),
    _r("{0} ^ {1}", "II", "XOR({0}, {1})"), _r("{0} ^ {1}", "LL", "XOR({0}, {1})"),
    _r("~{0}", "i", "(~{0})"),
    _r("getbit({0}, {1})", "Lk", f"(CASE WHEN {{1}} BETWEEN 0 AND 63 THEN ({{0}} >> {{1}}) & 1 WHEN {{1}} IS NULL OR {{0}} IS NULL THEN NULL ELSE {_fails('position of a bit')} END)"),
    *(_r("pmod({0}, {1})", kinds, f"(CASE WHEN {{1}} = 0 AND {{0}} IS NOT NULL THEN {_fails('division by zero')} ELSE {body} END)", f"(CASE WHEN {{1}} = 0 THEN NULL ELSE {body} END)")
      for kinds, body in {"II": _pmod("BIGINT", 32), "LL": _pmod("HUGEINT", 64)}.items()),
    _r("try_add({0}, {1})", "II", "(CASE WHEN CAST({0} AS BIGINT) + {1} BETWEEN -2147483648 AND 2147483647 THEN CAST({0} AS BIGINT) + {1} END)"),
    _r("try_subtract({0}, {1})", "II", "(CASE WHEN CAST({0} AS BIGINT) - {1} BETWEEN -2147483648 AND 2147483647 THEN CAST({0} AS BIGINT) - {1} END)"),
    _r("try_multiply({0}, {1})", "II", "(CASE WHEN CAST({0} AS BIGINT) * {1} BETWEEN -2147483648 AND 2147483647 THEN CAST({0} AS BIGINT) * {1} END)"),
    _r("try_add({0}, {1})", "LL", "(CASE WHEN CAST({0} AS HUGEINT) + {1} BETWEEN -9223372036854775808 AND 9223372036854775807 THEN CAST({0} AS HUGEINT) + {1} END)"),
    _r("try_subtract({0}, {1})", "LL", "(CASE WHEN CAST({0} AS HUGEINT) - {1} BETWEEN -9223372036854775808 AND 9223372036854775807 THEN CAST({0} AS HUGEINT) - {1} END)"),
    _r("try_multiply({0}, {1})", "LL", "(CASE WHEN CAST({0} AS HUGEINT) * {1} BETWEEN -9223372036854775808 AND 9223372036854775807 THEN CAST({0} AS HUGEINT) * {1} END)"),
    _r("try_add({0}, {1})", "dd", "({0} + {1})"), _r("try_subtract({0}, {1})", "dd", "({0} - {1})"), _r("try_multiply({0}, {1})", "dd", "({0} * {1})"),
    _r("try_divide({0}, {1})", "dd", "(CASE WHEN {1} = 0 THEN NULL ELSE {0} / {1} END)"),
    _r("try_divide({0}, {1})", "ii", "(CASE WHEN {1} = 0 THEN NULL ELSE CAST({0} AS DOUBLE) / CAST({1} AS DOUBLE) END)"),
    _r("zeroifnull({0})", "n", "COALESCE({0}, 0)"),
    _r("nullifzero({0})", "n", "NULLIF({0}, 0)"),
]

_ORDERED = "bILds"
_CHOICES = [
    *(_r("nvl({0}, {1})", kind * 2, "COALESCE({0}, {1})") for kind in "biLdsxDTN"),
    *(_r("ifnull({0}, {1})", kind * 2, "COALESCE({0}, {1})") for kind in "bILdsxDTN"),
    *(_r("equal_null({0}, {1})", kind * 2, "({0} IS NOT DISTINCT FROM {1})") for kind in "bILdsxDTN"),
    *(_r("isnull({0})", kind, "({0} IS NULL)") for kind in "*"),
    *(_r("isnotnull({0})", kind, "({0} IS NOT NULL)") for kind in "*"),
]



def _of_date(name: str, body: str) -> list[Rendering]:
    """A function of a date, of which times have one too."""
    return [_r(f"{name}({{0}})", kind, body.replace("[]", "CAST({0} AS DATE)")) for kind in "DTN"]


_MONTHS = {"YEAR": "year", "YYYY": "year", "YY": "year", "QUARTER": "quarter", "MONTH": "month", "MM": "month", "MON": "month", "WEEK": "week"}
_TIMES = {**_MONTHS, "DAY": "day", "DD": "day", "HOUR": "hour", "MINUTE": "minute", "SECOND": "second", "MILLISECOND": "milliseconds", "MICROSECOND": "microseconds"}

_DATES = [
    *_of_date("year", "YEAR([])"), *_of_date("month", "MONTH([])"), *_of_date("day", "DAY([])"), *_of_date("dayofmonth", "DAY([])"),
    *_of_date("quarter", "QUARTER([])"), *_of_date("dayofyear", "DAYOFYEAR([])"), *_of_date("weekofyear", "WEEKOFYEAR([])"),
    *_of_date("dayofweek", "(DAYOFWEEK([]) + 1)"), *_of_date("weekday", "(ISODOW([]) - 1)"),
    *_of_date("dayname", "LEFT(DAYNAME([]), 3)"), *_of_date("monthname", "LEFT(MONTHNAME([]), 3)"),
    *_of_date("last_day", "LAST_DAY([])"),
    *(_r(f"{name}({{0}})", kind, f"{name.upper()}({{0}})") for name in ("hour", "minute", "second") for kind in "TN"),
    *(_r(f"extract({part} FROM {{0}})", kind, f"{body}") for part, body in {
        "YEAR": "YEAR({0})", "MONTH": "MONTH({0})", "DAY": "DAY({0})", "QUARTER": "QUARTER({0})", "WEEK": "WEEKOFYEAR({0})", "DOY": "DAYOFYEAR({0})",
        "DOW": "(DAYOFWEEK({0}) + 1)", "DAYOFWEEK_ISO": "ISODOW({0})", "YEAROFWEEK": "ISOYEAR({0})",
    }.items() for kind in "DTN"),
    *(_r(f"extract({part} FROM {{0}})", kind, f"{part}({{0}})") for part in ("HOUR", "MINUTE") for kind in "TN"),
    *(_r("extract(SECOND FROM {0})", kind, "(EXTRACT(microseconds FROM {0}) / 1000000::DECIMAL(8,0))::DECIMAL(8,6)") for kind in "TN"),
    *(_r(f"date_trunc('{unit}', {{0}})", kind, f"DATE_TRUNC('{part}', {{0}})") for unit, part in _TIMES.items() for kind in "TN" if unit != "HOUR"),
    # An hour that clocks repeat has two beginnings.
    _r("date_trunc('HOUR', {0})", "T", "({0} - to_microseconds((EPOCH_US(CAST({0} AS TIMESTAMP)) % 3600000000 + 3600000000) % 3600000000))"),
    _r("date_trunc('HOUR', {0})", "N", "CAST(DATE_TRUNC('hour', {0}) AS TIMESTAMPTZ)"),
    *(_r(f"date_trunc('{unit}', {{0}})", "D", f"DATE_TRUNC('{part}', CAST({{0}} AS TIMESTAMPTZ))") for unit, part in _TIMES.items()),
    *(_r(f"trunc({{0}}, '{unit}')", kind, f"DATE_TRUNC('{part}', CAST({{0}} AS DATE))") for unit, part in _MONTHS.items() for kind in "DTN"),
    _r("date_add({0}, {1})", "Dk", "({0} + {1})"), _r("date_sub({0}, {1})", "Dk", "({0} - {1})"),
    _r("date_add({0}, {1})", "Tk", "(CAST({0} AS DATE) + {1})"), _r("date_sub({0}, {1})", "Tk", "(CAST({0} AS DATE) - {1})"),
    _r("date_add({0}, {1})", "Nk", "(CAST({0} AS DATE) + {1})"), _r("date_sub({0}, {1})", "Nk", "(CAST({0} AS DATE) - {1})"),
    _r("dateadd(DAY, {1}, {0})", "Dk", "({0} + {1})"),
    _r("add_months({0}, {1})", "Dk", "CAST({0} + to_months({1}) AS DATE)"),
    _r("add_months({0}, {1})", "Tk", "CAST(CAST({0} AS DATE) + to_months({1}) AS DATE)"),
    *(_r("datediff({0}, {1})", one + two, "(CAST({0} AS DATE) - CAST({1} AS DATE))") for one in "DTN" for two in "DTN"),
    *(_r("date_diff({0}, {1})", one + two, "(CAST({0} AS DATE) - CAST({1} AS DATE))") for one in "DTN" for two in "DTN"),
    *(_r("to_date({0})", kind, "CAST({0} AS DATE)") for kind in "DTN"),
    _r("date({0})", "T", "CAST({0} AS DATE)"),
    _r("to_timestamp({0})", "D", "CAST({0} AS TIMESTAMPTZ)"), _r("to_timestamp({0})", "T", "{0}"),
    _r("unix_timestamp({0})", "T", "(EPOCH_US({0}) // 1000000)"),
    _r("to_unix_timestamp({0})", "T", "(EPOCH_US({0}) // 1000000)"),
    _r("unix_timestamp({0})", "D", "(EPOCH_US(CAST({0} AS TIMESTAMPTZ)) // 1000000)"),
    _r("unix_seconds({0})", "T", "(EPOCH_US({0}) // 1000000 - CASE WHEN EPOCH_US({0}) % 1000000 < 0 THEN 1 ELSE 0 END)"),
    _r("unix_millis({0})", "T", "(EPOCH_US({0}) // 1000 - CASE WHEN EPOCH_US({0}) % 1000 < 0 THEN 1 ELSE 0 END)"),
    _r("unix_micros({0})", "T", "EPOCH_US({0})"),
    _r("unix_date({0})", "D", "({0} - DATE '1970-01-01')"),
    _r("date_from_unix_date({0})", "k", "(DATE '1970-01-01' + {0})"),
    _r("timestamp_micros({0})", "k", "MAKE_TIMESTAMPTZ({0})"), _r("timestamp_seconds({0})", "k", "MAKE_TIMESTAMPTZ(CAST({0} AS BIGINT) * 1000000)"),
    *(_r(f"next_day({{0}}, '{day}')", "D", f"({{0}} + CAST(({number} - ISODOW({{0}}) + 6) % 7 + 1 AS INTEGER))")
      for number, day in enumerate(("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"), 1)),
    _r("{0} + {1}", "Dk", "({0} + {1})"), _r("{0} - {1}", "Dk", "({0} - {1})"),
    *(_r(f"date_format({{0}}, '{java}')", kind, f"STRFTIME({body}, '{strf}')") for java, strf in {
        "yyyy-MM-dd": "%Y-%m-%d", "yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "yyyyMMdd": "%Y%m%d", "yyyy-MM": "%Y-%m",
        "HH:mm": "%H:%M", "HH:mm:ss": "%H:%M:%S", "yyyy-MM-dd HH:mm:ss": "%Y-%m-%d %H:%M:%S", "E": "%a", "EEEE": "%A", "MMM": "%b", "D": "%-j", "d": "%-d",
        "H": "%-H", "M": "%-m", "yyyy-MM-dd HH:mm": "%Y-%m-%d %H:%M",
    }.items() for kind, body in {"T": "{0}", "N": "{0}", "D": "{0}"}.items()),
]

# Letters of arrays; E is that of doubles.
_SOME_ARRAYS = "GHESBYZ"
_EXACT_ARRAYS = "GHSBYZ"


def _plain(value: str, kind: str) -> str:
    """An array in which -0.0 is 0.0, as it is where Spark looks for equal ones."""
    return f"LIST_TRANSFORM({value}, lambda x: x + CAST(0 AS DOUBLE))" if kind == "E" else value


def _distinct(value: str) -> str:
    """The first of equal ones, and one NULL."""
    return f"LIST_FILTER({value}, lambda x, i: LIST_POSITION({value}, x) = i)"


_ARRAYS = [
    _r("size({0})", "A", "LENGTH({0})", "COALESCE(LENGTH({0}), -1)"),
    _r("cardinality({0})", "A", "LENGTH({0})", "COALESCE(LENGTH({0}), -1)"),
    _r("array_size({0})", "A", "LENGTH({0})"),
    _r("array_join({0}, {1})", "Ss", "(CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL ELSE " + _joined(_PRESENT, "{1}") + " END)"),
    _r("array_join({0}, {1}, {2})", "Sss", "(CASE WHEN {0} IS NULL OR {1} IS NULL OR {2} IS NULL THEN NULL ELSE " + _joined("LIST_TRANSFORM({0}, lambda x: COALESCE(x, {2}))", "{1}") + " END)"),
    *(_r("array_contains({0}, {1})", kinds, "(CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN LIST_CONTAINS({0}, {1}) THEN TRUE WHEN LENGTH(LIST_FILTER({0}, lambda x: x IS NULL)) > 0 THEN NULL ELSE FALSE END)") for kinds in ("AI", "AL", "Ad", "As", "Ab", "AD", "AT")),
    *(_r("array_position({0}, {1})", kinds, "(CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL ELSE COALESCE(LIST_POSITION({0}, {1}), 0) END)") for kinds in ("AI", "AL", "Ad", "As", "Ab", "AD", "AT")),
    *(_r("array_remove({0}, {1})", kinds, "(CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL ELSE LIST_FILTER({0}, lambda x: x IS DISTINCT FROM {1}) END)") for kinds in ("AI", "AL", "Ad", "As", "AD")),
    *(_r("array_append({0}, {1})", kinds, "(CASE WHEN {0} IS NULL THEN NULL ELSE LIST_APPEND({0}, {1}) END)") for kinds in ("AI", "AL", "Ad", "As", "AD", "AT", "Ab")),
    *(_r("array_prepend({0}, {1})", kinds, "(CASE WHEN {0} IS NULL THEN NULL ELSE LIST_PREPEND({1}, {0}) END)") for kinds in ("AI", "AL", "Ad", "As", "AD", "AT", "Ab")),
    *(_r("array_max({0})", kind, f"LIST_MAX({_PRESENT})") for kind in _EXACT_ARRAYS),
    *(_r("array_min({0})", kind, f"LIST_MIN({_PRESENT})") for kind in _EXACT_ARRAYS),
    # Of 0.0 and -0.0 the first.
    *(_r(f"array_{name}({{0}})", "E", f"(CASE WHEN LENGTH({_PRESENT}) = 0 THEN NULL ELSE LIST_REDUCE({_PRESENT}, lambda a, b: CASE WHEN b {sign} a THEN b ELSE a END) END)")
      for name, sign in {"min": "<", "max": ">"}.items()),
    _r("array_compact({0})", "A", _PRESENT),
    _r("sort_array({0})", "A", "LIST_SORT({0}, 'ASC', 'NULLS FIRST')"),
    _r("sort_array({0}, false)", "A", "LIST_SORT({0}, 'DESC', 'NULLS LAST')"),
    _r("sort_array({0}, true)", "A", "LIST_SORT({0}, 'ASC', 'NULLS FIRST')"),
    _r("array_sort({0})", "A", "LIST_SORT({0}, 'ASC', 'NULLS LAST')"),
    # The first of equal ones stays, and one NULL.
    *(_r("array_distinct({0})", kind, _distinct(_plain("{0}", kind))) for kind in _SOME_ARRAYS),
    *(_r("concat({0}, {1})", kind * 2, "(CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL ELSE LIST_CONCAT({0}, {1}) END)") for kind in _SOME_ARRAYS),
    *(_r("arrays_overlap({0}, {1})", kind * 2, "(CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN LIST_HAS_ANY({0}, {1}) THEN TRUE WHEN LENGTH({0}) > 0 AND LENGTH({1}) > 0 AND LENGTH(LIST_FILTER(LIST_CONCAT({0}, {1}), lambda x: x IS NULL)) > 0 THEN NULL ELSE FALSE END)") for kind in _SOME_ARRAYS),
    *(_r(f"{name}({{0}}, {{1}})", kind * 2, f"(CASE WHEN {{0}} IS NULL OR {{1}} IS NULL THEN NULL ELSE {body.replace('{0}', _plain('{0}', kind)).replace('{1}', _plain('{1}', kind))} END)") for kind in _SOME_ARRAYS for name, body in {
        "array_union": _distinct("LIST_CONCAT({0}, {1})"),
        "array_intersect": "LIST_FILTER({0}, lambda x, i: LIST_POSITION({0}, x) = i AND LIST_POSITION({1}, x) IS NOT NULL)",
        "array_except": "LIST_FILTER({0}, lambda x, i: LIST_POSITION({0}, x) = i AND LIST_POSITION({1}, x) IS NULL)",
    }.items()),
    _r("element_at({0}, {1})", "Ak", f"(CASE WHEN {{1}} = 0 AND {{0}} IS NOT NULL THEN {_fails('the index 0 is invalid')} WHEN ABS({{1}}) > LENGTH({{0}}) THEN {_fails('the index is out of bounds')} ELSE {{0}}[{{1}}] END)",
       f"(CASE WHEN {{1}} = 0 AND {{0}} IS NOT NULL THEN {_fails('the index 0 is invalid')} ELSE {{0}}[{{1}}] END)"),
    _r("try_element_at({0}, {1})", "Ak", f"(CASE WHEN {{1}} = 0 AND {{0}} IS NOT NULL THEN {_fails('the index 0 is invalid')} ELSE {{0}}[{{1}}] END)"),
    _r("{0}[{1}]", "Ak", f"(CASE WHEN {{0}} IS NULL THEN NULL WHEN {{1}} < 0 OR {{1}} >= LENGTH({{0}}) THEN {_fails('the index is out of bounds')} ELSE {{0}}[{{1}} + 1] END)",
       "(CASE WHEN {1} >= 0 THEN {0}[{1} + 1] END)"),
    _r("get({0}, {1})", "Ak", "(CASE WHEN {1} >= 0 THEN {0}[{1} + 1] END)"),
    _r("slice({0}, {1}, {2})", "Akk", f"""(CASE WHEN {{0}} IS NULL OR {{1}} IS NULL OR {{2}} IS NULL THEN NULL WHEN {{1}} = 0 THEN {_fails('the start 0 is invalid')} WHEN {{2}} < 0 THEN {_fails('a negative length')}
        WHEN {{1}} < 0 AND LENGTH({{0}}) + {{1}} < 0 THEN [] WHEN {{2}} = 0 THEN [] WHEN {{1}} > 0 THEN {{0}}[{{1}}:{{1}} + {{2}} - 1] ELSE {{0}}[LENGTH({{0}}) + {{1}} + 1:LENGTH({{0}}) + {{1}} + {{2}}] END)"""),
    _r("array_repeat({0}, {1})", "ek", "(CASE WHEN {1} IS NULL THEN NULL ELSE LIST_TRANSFORM(RANGE(GREATEST({1}, 0)), lambda i: {0}) END)"),
    *(_r("array({0}, {1})", kind * 2, "[{0}, {1}]") for kind in "bILdsDT"),
    *(_r("array({0}, {1}, {2})", kind * 3, "[{0}, {1}, {2}]") for kind in "bILdsDT"),
    *(_r("array({0})", kind, "[{0}]") for kind in "bILdsDT"),
    _r("sequence({0}, {1})", "kk", "(CASE WHEN {0} <= {1} THEN GENERATE_SERIES({0}, {1}) ELSE GENERATE_SERIES({0}, {1}, -1) END)"),
    _r("split({0}, ',')", "s", "STRING_SPLIT({0}, ',')"),
    *(_r(f"split({{0}}, '{mark}')", "s", f"STRING_SPLIT({{0}}, '{mark}')") for mark in (" ", "-", ";", ":", "/", "_")),
]

_TRIMMED = r"REGEXP_REPLACE(REGEXP_REPLACE({0}, '^[\x00-\x20\x7f-\x{{9f}}]+', ''), '[\x00-\x20\x7f-\x{{9f}}]+$', '')"
_IS_INTEGER = f"REGEXP_FULL_MATCH({_TRIMMED}, '[+-]?[0-9]+')"
_HAS_FRACTION = f"REGEXP_FULL_MATCH({_TRIMMED}, '[+-]?[0-9]*[.][0-9]*')"
_TO_INT = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_CASTS = [
    *(_r(f"CAST({{0}} AS {kind})", "i", f"CAST({{0}} AS {kind})") for kind in ("TINYINT", "SMALLINT", "INT", "BIGINT", "DOUBLE", "FLOAT", "STRING", "BOOLEAN")),
    *(_r(f"CAST({{0}} AS {kind})", "b", f"CAST({{0}} AS {kind})") for kind in ("TINYINT", "SMALLINT", "INT", "BIGINT", "DOUBLE", "FLOAT", "STRING", "BOOLEAN")),
    *(_r(f"CAST({{0}} AS {kind})", "f", _to_long("{0}", kind, bits), _to_long_or_nearest("{0}", bits) if bits > 16 else None) for kind, bits in _TO_INT.items()),
    *(_r(f"CAST({{0}} AS {kind})", "m", f"CAST(TRUNC({{0}}) AS {kind})") for kind in _TO_INT),
    *(_r(f"CAST({{0}} AS {kind})", "f", f"CAST({{0}} AS {kind})") for kind in ("DOUBLE", "BOOLEAN")),
    _r("CAST({0} AS BOOLEAN)", "m", "CAST({0} AS BOOLEAN)"),
    _r("CAST({0} AS DOUBLE)", "m", "CAST(CAST({0} AS VARCHAR) AS DOUBLE)"),
    _r("CAST({0} AS FLOAT)", "f", "CAST({0} AS FLOAT)"),
    *(_r(f"CAST({{0}} AS {kind})", kinds, f"CAST({{0}} AS {kind})", f"TRY_CAST({{0}} AS {kind})") for kinds in "im" for kind in ("DECIMAL(10,2)", "DECIMAL(9,2)", "DECIMAL(18,4)", "DECIMAL(38,10)", "DECIMAL(10,0)")),
    _r("CAST({0} AS DATE)", "T", "CAST({0} AS DATE)"), _r("CAST({0} AS DATE)", "N", "CAST({0} AS DATE)"), _r("CAST({0} AS DATE)", "D", "{0}"),
    _r("CAST({0} AS TIMESTAMP)", "D", "CAST({0} AS TIMESTAMPTZ)"), _r("CAST({0} AS TIMESTAMP)", "N", "CAST({0} AS TIMESTAMPTZ)"), _r("CAST({0} AS TIMESTAMP)", "T", "{0}"),
    _r("CAST({0} AS TIMESTAMP_NTZ)", "D", "CAST({0} AS TIMESTAMP)"), _r("CAST({0} AS TIMESTAMP_NTZ)", "T", "CAST({0} AS TIMESTAMP)"),
    _r("CAST({0} AS STRING)", "D", "STRFTIME({0}, '%Y-%m-%d')"), _r("CAST({0} AS STRING)", "s", "{0}"),
    *(_r("CAST({0} AS STRING)", kind, r"REGEXP_REPLACE(STRFTIME({0}, '%Y-%m-%d %H:%M:%S.%f'), '\.?0*$', '')") for kind in "TN"),
    # Spark trims what is a blank or a control character, on both sides.
    *(_r(f"CAST({{0}} AS {kind})", "s", f"(CASE WHEN {{0}} IS NULL OR {_IS_INTEGER} THEN CAST({_TRIMMED} AS {kind}) ELSE {_fails('not a number')} END)",
         f"(CASE WHEN {_IS_INTEGER} THEN TRY_CAST({_TRIMMED} AS {kind}) WHEN {_HAS_FRACTION} THEN TRY_CAST(COALESCE(NULLIF(REGEXP_REPLACE({_TRIMMED}, '[.].*$', ''), ''), '0') AS {kind}) END)") for kind in _TO_INT),
    _r("CAST({0} AS BOOLEAN)", "s", f"(CASE WHEN {{0}} IS NULL THEN NULL WHEN LOWER({_TRIMMED}) IN ('t', 'true', 'y', 'yes', '1') THEN TRUE WHEN LOWER({_TRIMMED}) IN ('f', 'false', 'n', 'no', '0') THEN FALSE ELSE {_fails('not a boolean')} END)",
       f"(CASE WHEN LOWER({_TRIMMED}) IN ('t', 'true', 'y', 'yes', '1') THEN TRUE WHEN LOWER({_TRIMMED}) IN ('f', 'false', 'n', 'no', '0') THEN FALSE END)"),
    _r("CAST({0} AS BINARY)", "s", "ENCODE({0})"),
    _r("CAST({0} AS BIGINT)", "T", "(EPOCH_US({0}) // 1000000 - CASE WHEN EPOCH_US({0}) % 1000000 < 0 THEN 1 ELSE 0 END)"),
    _r("CAST({0} AS DOUBLE)", "T", "(EPOCH_US({0}) / 1000000::DOUBLE)"),
]

RENDERINGS = [*_STRINGS, *_OF_NUMBERS, *_CHOICES, *_DATES, *_ARRAYS, *_CASTS]
