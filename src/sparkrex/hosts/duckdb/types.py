"""DuckDB's types of Arrow columns, for the types that most columns have, known without asking DuckDB."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

_NAMES = exp.DType
_SIMPLE: dict[pa.DataType, exp.DType] = {
    pa.bool_(): _NAMES.BOOLEAN, pa.int8(): _NAMES.TINYINT, pa.int16(): _NAMES.SMALLINT, pa.int32(): _NAMES.INT,
    pa.int64(): _NAMES.BIGINT, pa.uint8(): _NAMES.UTINYINT, pa.uint16(): _NAMES.USMALLINT, pa.uint32(): _NAMES.UINT,
    pa.uint64(): _NAMES.UBIGINT, pa.float32(): _NAMES.FLOAT, pa.float64(): _NAMES.DOUBLE, pa.date32(): _NAMES.DATE,
    pa.string(): _NAMES.TEXT, pa.large_string(): _NAMES.TEXT, pa.string_view(): _NAMES.TEXT,
    pa.binary(): _NAMES.VARBINARY, pa.large_binary(): _NAMES.VARBINARY,
    pa.timestamp("s"): _NAMES.TIMESTAMP_S, pa.timestamp("ms"): _NAMES.TIMESTAMP_MS,
    pa.timestamp("us"): _NAMES.TIMESTAMPNTZ, pa.timestamp("ns"): _NAMES.TIMESTAMP_NS,
    pa.time32("s"): _NAMES.TIME, pa.time32("ms"): _NAMES.TIME, pa.time64("us"): _NAMES.TIME,
}


def arrow_column_type(type_: pa.DataType) -> exp.DataType | None:
    """The type that DESCRIBE names for a column of this type, as sqlglot reads it; None if only DuckDB can tell."""
    if pa.types.is_dictionary(type_):
        return arrow_column_type(type_.value_type)
    if pa.types.is_decimal128(type_) and 0 <= type_.scale <= type_.precision:
        digits = [exp.DataTypeParam(this=exp.Literal.number(n)) for n in (type_.precision, type_.scale)]
        return exp.DataType(this=_NAMES.DECIMAL, expressions=digits, nested=False)
    if pa.types.is_timestamp(type_) and type_.tz is not None and type_.unit != "ns":
        return exp.DataType(this=_NAMES.TIMESTAMPTZ)
    name = _SIMPLE.get(type_)
    return None if name is None else exp.DataType(this=name, nested=False)
