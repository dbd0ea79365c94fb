"""Footers prove that Arrow reads a column as Spark does, or say why that is not sure: every line of what must hold."""

from __future__ import annotations

import base64
import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparkrex.spark.files.footers import NotProvenError, Rules, Wanted, proven_columns
from sparkrex.spark.files.listing import read_footers

if TYPE_CHECKING:
    from pathlib import Path

RULES = Rules(is_case_sensitive=False, keeps_old_dates=True, keeps_old_int96=True)
REBASING = Rules(is_case_sensitive=False, keeps_old_dates=False, keeps_old_int96=False)
ZONED = pa.timestamp("us", "UTC")
DAY, YEAR_1500 = dt.date(2026, 1, 31), dt.date(1500, 1, 1)
BY_SPARK_2, BY_SPARK_4 = {"org.apache.spark.version": "2.4.8"}, {"org.apache.spark.version": "4.3.0"}
WITH_LEGACY = {**BY_SPARK_4, "org.apache.spark.legacyDateTime": ""}


def footer_of(folder: Path, column: pa.Array, metadata: dict[str, str] | None = None, **options: Any) -> Any:
    table = pa.table({"x": column}).replace_schema_metadata(metadata)
    pq.write_table(table, folder / "x.parquet", **options)
    return pq.read_metadata(folder / "x.parquet")


def told(footer: Any, spark_type: str, kind: pa.DataType, rules: Rules = RULES) -> str:
    """The reason why the column x is not proven, empty if it is."""
    try:
        proven_columns(footer, [Wanted("x", spark_type, kind)], rules)
    except NotProvenError as reason:
        return str(reason)
    return ""


@pytest.mark.parametrize(
    ("column", "spark_type", "kind"),
    [
        (pa.array([True, None]), "boolean", pa.bool_()),
        (pa.array([1, None], pa.int8()), "tinyint", pa.int8()),
        (pa.array([1, None], pa.int16()), "smallint", pa.int16()),
        (pa.array([1, None], pa.int32()), "int", pa.int32()),
        (pa.array([1, None], pa.int64()), "bigint", pa.int64()),
        (pa.array([1.5, float("nan")], pa.float32()), "float", pa.float32()),
        (pa.array([1.5, None]), "double", pa.float64()),
        (pa.array(["a", None]), "string", pa.string()),
        (pa.array(["a", None], pa.large_string()), "string", pa.string()),
        (pa.array(["a", None], pa.string_view()), "string", pa.string()),
        (pa.array(["a", None]).dictionary_encode(), "string", pa.string()),
        (pa.array([b"\xff", None]), "binary", pa.binary()),
        (pa.array([b"\xff", None], pa.large_binary()), "binary", pa.binary()),
        (pa.array([DAY, None]), "date", pa.date32()),
        (pa.array([DAY, None], pa.date64()), "date", pa.date32()),
        (pa.array([1, None], pa.timestamp("us", "Europe/Berlin")), "timestamp", ZONED),
        (pa.array([1, None], pa.timestamp("ms", "UTC")), "timestamp", ZONED),
        (pa.array([1, None], pa.timestamp("s", "UTC")), "timestamp", ZONED),
        (pa.array([1, None], pa.timestamp("us")), "timestamp_ntz", pa.timestamp("us")),
        (pa.array([Decimal("1.25"), None], pa.decimal128(5, 2)), "decimal(5,2)", pa.decimal128(5, 2)),
        (pa.array([Decimal("-9e27"), None], pa.decimal128(38, 2)), "decimal(38,2)", pa.decimal128(38, 2)),
        (pa.array([None, None], pa.decimal128(5, 2)), "decimal(5,2)", pa.decimal128(5, 2)),
    ],
    ids=lambda value: str(getattr(value, "type", value)),
)
def test_what_is_proven(tmp_path: Path, column: pa.Array, spark_type: str, kind: pa.DataType) -> None:
    assert told(footer_of(tmp_path, column), spark_type, kind) == ""


@pytest.mark.parametrize(
    ("column", "spark_type", "kind", "options", "reason"),
    [
        (pa.array([1], pa.timestamp("ns")), "timestamp_ntz", pa.timestamp("us"), {}, "nanoseconds"),
        (pa.array([1], pa.timestamp("ns")), "bigint", pa.int64(), {}, "nanoseconds"),  # nanosAsLong
        (pa.array([1], pa.timestamp("us")), "timestamp", ZONED, {}, "isAdjustedToUTC=false"),  # the NTZ setting
        (pa.array([1], ZONED), "timestamp_ntz", pa.timestamp("us"), {}, "isAdjustedToUTC=true"),
        (pa.array([1], pa.uint8()), "smallint", pa.int16(), {}, "isSigned=false"),
        (pa.array([1], pa.uint32()), "bigint", pa.int64(), {}, "isSigned=false"),
        (pa.array([1], pa.uint64()), "decimal(20,0)", pa.decimal128(20, 0), {}, "isSigned=false"),
        (pa.array([Decimal("1.25")]), "decimal(10,2)", pa.decimal128(10, 2), {}, "Decimal"),
        (pa.array([1.5], pa.float16()), "float", pa.float32(), {}, "Float16"),
        (pa.array([1], pa.time64("us")), "time(6)", pa.time64("us"), {}, "Time"),
        (pa.array([1], pa.duration("us")), "bigint", pa.int64(), {}, "duration"),
        (pa.array([b"a"]), "string", pa.string(), {}, "BYTE_ARRAY"),  # binaryAsString
        (pa.array(["a"]), "binary", pa.binary(), {}, "String"),
        (pa.array([b"ab"], pa.binary(2)), "binary", pa.binary(), {}, "FIXED_LEN_BYTE_ARRAY"),
        (pa.array([1], pa.int32()), "bigint", pa.int64(), {}, "INT32"),  # Spark would widen it
        (pa.array([[1]]), "array<bigint>", pa.list_(pa.int64()), {}, "nested"),
        (pa.array([{"a": 1}]), "struct<a:bigint>", pa.struct([("a", pa.int64())]), {}, "nested"),
        (pa.array([Decimal("1.25")]), "decimal(3,2)", pa.decimal128(3, 2), {"write_statistics": False}, "more digits"),
        (pa.array([1], pa.timestamp("ms", "UTC")), "timestamp", ZONED, {"write_statistics": False}, "milliseconds"),
        (pa.array([1 << 62], pa.timestamp("ms", "UTC")), "timestamp", ZONED, {}, "milliseconds"),
    ],
    ids=lambda value: str(getattr(value, "type", value)),
)
def test_what_is_not(
    tmp_path: Path, column: pa.Array, spark_type: str, kind: pa.DataType, options: dict[str, Any], reason: str
) -> None:
    found = told(footer_of(tmp_path, column, **options), spark_type, kind)
    assert found.startswith("column x ") and reason in found


@pytest.mark.parametrize("spark_type", ["date", "timestamp"])
@pytest.mark.parametrize(
    ("day", "metadata", "rules", "is_proven"),
    [
        (DAY, None, REBASING, True), (YEAR_1500, None, REBASING, False), (YEAR_1500, None, RULES, True),
        (YEAR_1500, BY_SPARK_4, REBASING, True), (YEAR_1500, BY_SPARK_2, RULES, False), (DAY, BY_SPARK_2, RULES, True),
        (YEAR_1500, WITH_LEGACY, RULES, False), (DAY, WITH_LEGACY, RULES, True),
    ],
)
def test_old_dates_are_proven_by_who_wrote_them_or_by_their_bounds(
    tmp_path: Path, spark_type: str, day: dt.date, metadata: dict[str, str] | None, rules: Rules, is_proven: bool
) -> None:
    kind = pa.date32() if spark_type == "date" else ZONED
    column = pa.array([DAY, None, day]).cast(kind)
    found = told(footer_of(tmp_path, column, metadata), spark_type, kind, rules)
    assert (found == "") is is_proven
    # Without statistics nothing is known of the values.
    found = told(footer_of(tmp_path, column, metadata, write_statistics=False), spark_type, kind, rules)
    assert (found == "") is ((rules is RULES and metadata is None) or metadata is BY_SPARK_4)


@pytest.mark.parametrize(
    ("metadata", "rules", "is_proven"),
    [
        (None, RULES, True), (None, REBASING, False), (BY_SPARK_2, RULES, False), (BY_SPARK_4, REBASING, True),
        ({"org.apache.spark.version": "3.0.3"}, RULES, False),
        ({**BY_SPARK_4, "org.apache.spark.legacyINT96": ""}, RULES, False),
    ],
)
def test_int96_is_proven_by_who_wrote_it(
    tmp_path: Path, metadata: dict[str, str] | None, rules: Rules, is_proven: bool
) -> None:
    column = pa.array([1], pa.timestamp("ns"))
    footer = footer_of(tmp_path, column, metadata, use_deprecated_int96_timestamps=True)
    reason = "" if is_proven else "column x is an INT96 timestamp that may be rebased"
    assert told(footer, "timestamp", ZONED, rules) == reason


def test_times_without_a_zone_are_never_rebased(tmp_path: Path) -> None:
    column = pa.array([YEAR_1500]).cast(pa.timestamp("us"))
    assert told(footer_of(tmp_path, column, BY_SPARK_2), "timestamp_ntz", pa.timestamp("us"), REBASING) == ""


def test_char_is_declared_in_the_footer(tmp_path: Path) -> None:
    declared = '{"type":"struct","fields":[{"name":"x","type":"char(5)","nullable":true,"metadata":{}}]}'
    footer = footer_of(tmp_path, pa.array(["a"]), {"org.apache.spark.sql.parquet.row.metadata": declared})
    assert told(footer, "string", pa.string()) == "column x is declared as CHAR or VARCHAR"


def test_names_are_matched_as_the_session_matches_them(tmp_path: Path) -> None:
    pq.write_table(pa.table({"Key": [1], "a": [1], "A": [2], "b": [3]}), tmp_path / "x.parquet")
    footer = pq.read_metadata(tmp_path / "x.parquet")

    def names(name: str, rules: Rules = RULES) -> dict[str, str | None]:
        return proven_columns(footer, [Wanted(name, "bigint", pa.int64())], rules)

    assert names("key") == {"key": "Key"}
    assert names("missing") == {"missing": None}
    with pytest.raises(NotProvenError, match="column a is there more than once: a, A"):
        names("a")
    exact = Rules(is_case_sensitive=True, keeps_old_dates=True, keeps_old_int96=True)
    assert names("A", exact) == {"A": "A"}
    assert names("key", exact) == {"key": None}


@pytest.mark.parametrize("is_footer_plain", [False, True])
def test_encrypted_files_are_refused_before_anything_reads_their_columns(tmp_path: Path, is_footer_plain: bool) -> None:
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):  # type: ignore[misc, name-defined]
        def wrap_key(self, key: bytes, master: str) -> bytes:
            return base64.b64encode(key)

        def unwrap_key(self, wrapped: bytes, master: str) -> bytes:
            return base64.b64decode(wrapped)

    asked = encryption.EncryptionConfiguration(
        footer_key="footer", column_keys={"column": ["a"]}, plaintext_footer=is_footer_plain
    )
    factory = encryption.CryptoFactory(lambda _: Keys())
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), asked)
    table = pa.table({"a": [1], "b": [2]})
    with pq.ParquetWriter(tmp_path / "x.parquet", table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)
    with pytest.raises(NotProvenError, match="is encrypted"):
        read_footers([str(tmp_path / "x.parquet")])


def test_a_file_that_is_not_parquet_is_left_to_spark(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"not at all")
    with pytest.raises(NotProvenError, match=r"the footer of .* cannot be read here"):
        read_footers([str(tmp_path / "x.parquet")])
    with pytest.raises(NotProvenError, match="is not on this machine"):
        read_footers([str(tmp_path / "gone.parquet")])


def test_many_footers_are_read_in_order(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{number}.parquet") for number in range(40)]
    for number, path in enumerate(paths):
        pq.write_table(pa.table({"x": range(number + 1)}), path)
    assert [footer.num_rows for _, footer in read_footers(paths)] == list(range(1, 41))


def test_a_compression_that_spark_may_lack_is_not_proven(tmp_path: Path) -> None:
    column = pa.array(range(1000), pa.int64())
    for name in ("none", "snappy", "gzip", "zstd", "lz4"):
        assert told(footer_of(tmp_path, column, compression=name), "bigint", pa.int64()) == ""
    footer = footer_of(tmp_path, column, compression="brotli")
    assert told(footer, "bigint", pa.int64()) == "column x is compressed by BROTLI"


def test_a_name_with_a_dot_is_said_to_have_one(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a.b": [1]}), tmp_path / "x.parquet")
    with pytest.raises(NotProvenError, match=r"column a\.b has a dot in its name"):
        proven_columns(pq.read_metadata(tmp_path / "x.parquet"), [Wanted("a.b", "bigint", pa.int64())], RULES)
