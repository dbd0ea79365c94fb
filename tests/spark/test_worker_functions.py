"""What the workers evaluate has Spark's value, or is refused before the job: one query, one meaning.

A worker evaluates an expression that reads rows of several variables. So every column `c` of an expression is replaced
by `coalesce(A.c, B.c)`, which is the same value, and the result is compared with Spark's own.
"""

from __future__ import annotations

import datetime
import random
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it
from tests.answers import same_value

import sparkrex as rex
from sparkrex.errors import RexError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

_UTC = datetime.UTC
VALUES = pa.table(
    {
        "k": range(8),
        "i": pa.array([0, 1, -1, 7, -7, 100, None, 3], pa.int32()),
        "l": pa.array([0, 1, -1, 7, -7, 10**12, None, 3], pa.int64()),
        "d": pa.array([0.0, 1.5, -1.5, 2.5, -2.5, float("nan"), None, 1e10]),
        "m": pa.array([*map(Decimal, ["0", "1.25", "-1.25", "2.5", "-2.55", "99.99"]), None, Decimal("3.33")],
                      pa.decimal128(9, 2)),
        "s": ["", "abc", "  aB c ", "é1", "x,y,z", "Zz", None, "2024-02-03"],
        "t": ["b", "bc", "a", "1", ",", "z", "q", "02"],
        "b": [True, False, True, None, False, True, None, False],
        "da": [
            datetime.date(1970, 1, 1), datetime.date(2024, 2, 29), datetime.date(1969, 12, 31),
            datetime.date(2023, 12, 31), datetime.date(2024, 1, 7), datetime.date(1900, 3, 1), None,
            datetime.date(2024, 12, 30),
        ],
        "ts": [
            datetime.datetime(1970, 1, 1, tzinfo=_UTC), datetime.datetime(2024, 2, 29, 23, 59, 59, 999999, _UTC),
            datetime.datetime(1969, 12, 31, 12, tzinfo=_UTC), datetime.datetime(2023, 12, 31, 1, 2, 3, tzinfo=_UTC),
            datetime.datetime(2024, 1, 7, 5, 6, 7, 500000, _UTC), datetime.datetime(1900, 3, 1, tzinfo=_UTC), None,
            datetime.datetime(2024, 12, 30, 13, tzinfo=_UTC),
        ],
        "ar": pa.array([[1, 2, 3], [], [None], [5], [3, 1, 2], [1, 1], None, [9, 8]], pa.list_(pa.int64())),
    }
)

EXPRESSIONS = """\
i + 1
i / 2
i div 2
i % 3
l % -3
pmod(i, 3)
d / 3
d % 2
m * 2
m / 3
m + d
m * m
m + i
-i
-m
abs(i)
round(d)
round(d, 1)
bround(d)
floor(d)
ceil(d)
round(m, 1)
floor(m)
sign(d)
signum(i)
sqrt(abs(i))
power(i, 2)
greatest(i, 2)
greatest(d, 2)
least(d, 1.0)
coalesce(i, 5)
nullif(i, 1)
nvl(s, 'x')
if(i > 0, 1, 2)
CASE WHEN i > 0 THEN 'p' WHEN i < 0 THEN 'n' END
CASE i WHEN 1 THEN 'one' ELSE 'other' END
CAST(m AS INT)
CAST(i AS STRING)
CAST(d AS STRING)
CAST(m AS STRING)
CAST(b AS STRING)
CAST(da AS STRING)
CAST(ts AS STRING)
CAST(ts AS DATE)
CAST(da AS TIMESTAMP)
CAST(i AS BOOLEAN)
CAST(b AS INT)
CAST(i AS DECIMAL(10,2))
CAST(i AS DOUBLE)
CAST(l AS DOUBLE)
TRY_CAST(s AS INT)
TRY_CAST(s AS DATE)
upper(s)
lower(s)
initcap(s)
length(s)
char_length(s)
octet_length(s)
trim(s)
ltrim(s)
rtrim(s)
reverse(s)
concat(s, t)
concat_ws('-', s, t)
s || t
substring(s, 2)
substring(s, 1, 2)
substring(s, -2, 2)
substring(s, 0, 2)
substr(s, 2, 1)
left(s, 2)
right(s, 2)
lpad(s, 5, '*')
rpad(s, 2, '*')
repeat(s, 2)
replace(s, 'B', 'X')
translate(s, 'aB', 'xy')
instr(s, t)
locate(t, s)
position(t IN s)
contains(s, t)
startswith(s, t)
endswith(s, t)
split(s, ',')
split_part(s, ',', 2)
ascii(s)
md5(s)
sha2(s, 256)
hex(i)
s LIKE '%B%'
s LIKE 'a_c'
s ILIKE 'ABC'
s RLIKE '^[a-z]+'
regexp_replace(s, '[a-z]', '*')
regexp_extract(s, '([a-z]+)', 1)
s = t
s < t
s <> t
s IN ('abc', 'Zz')
i IN (1, 7)
i NOT IN (1, NULL)
i BETWEEN 0 AND 7
s IS NULL
b AND i > 0
NOT b
b OR i > 0
b = (i > 0)
d = d
d > 1
d < 1
d <> 1.5
d >= i
m > i
m = d
isnan(d)
nanvl(d, 0.0)
levenshtein(s, t)
year(da)
month(da)
day(da)
dayofmonth(da)
dayofweek(da)
weekday(da)
dayofyear(da)
weekofyear(da)
quarter(da)
hour(ts)
minute(ts)
second(ts)
extract(YEAR FROM ts)
extract(SECOND FROM ts)
extract(DOW FROM ts)
date_trunc('MONTH', ts)
date_trunc('WEEK', ts)
trunc(da, 'MM')
last_day(da)
add_months(da, 1)
date_add(da, i)
date_sub(da, 3)
datediff(da, date '2024-01-01')
months_between(da, date '2024-01-15')
da + 1
da - 1
da + interval '1' day
da - interval '1' month
ts + interval '1' hour
ts - interval '90' minute
ts + interval '1' month
ts - timestamp '2020-01-01 00:00:00'
ts - timestamp '2020-01-01 00:00:00' > interval '1' hour
da - date '2020-01-01'
da > date '2020-01-01'
ts > timestamp '2020-01-01 00:00:00'
ts > da
unix_timestamp(ts)
to_date(CAST(da AS STRING))
date_format(ts, 'yyyy-MM-dd')
timestampdiff(HOUR, ts, timestamp '2024-01-01 00:00:00')
timestampdiff(MONTH, ts, timestamp '2024-01-01 00:00:00')
unix_seconds(ts)
unix_millis(ts)
size(ar)
array_contains(ar, 1)
array_max(ar)
sort_array(ar)
array_join(ar, ',')
cardinality(ar)
array_position(ar, 1)
slice(ar, 1, 2)
i & 3
i | 4
i ^ 1
~i
bit_count(i)
try_divide(i, 0)
i <=> 1
hash(i)
format_number(d, 2)
soundex(s)
crc32(s)
typeof(i)
width_bucket(d, 0, 10, 5)""".splitlines()
_COLUMN = re.compile(rf"\b({'|'.join(VALUES.column_names)})\b(?![('])")


def _condition(expression: str, number: int) -> str:
    """True where the expression, read over two variables, has the value that Spark put into column `e<number>`."""
    spread = _COLUMN.sub(lambda found: f"coalesce(A.{found[1]}, B{number}.{found[1]})", expression)
    return f"({spread}) IS NOT DISTINCT FROM e{number}"


def _query(numbers: list[int]) -> str:
    """Every B that is true takes one of the equal rows behind A, every other takes none."""
    defined = ", ".join(f"B{number} AS {_condition(EXPRESSIONS[number], number)}" for number in numbers)
    return f"""SELECT k, labels FROM t MATCH_RECOGNIZE (
      PARTITION BY k ORDER BY n MEASURES array_agg(CLASSIFIER()) AS labels
      PATTERN (^ A {' '.join(f'B{number}?' for number in numbers)}) DEFINE {defined})"""


def test_workers_agree_with_spark_or_refuse(spark: SparkSession) -> None:
    values = spark.createDataFrame(VALUES)
    accepted, refused = [], []
    for number, expression in enumerate(EXPRESSIONS):
        try:
            rex.sql(_query([number]), t=values.selectExpr("*", "1 AS n", f"{expression} AS e{number}"))
            accepted.append(number)
        except RexError as error:
            refused.append(f"{expression}: {error.code}")
    rows = spark.range(len(EXPRESSIONS) + 1).withColumnRenamed("id", "n")
    columns = [f"{EXPRESSIONS[number]} AS e{number}" for number in accepted]
    answer = rex.sql(_query(accepted), t=values.selectExpr("*", *columns).crossJoin(rows))
    found = {row["k"]: set(row["labels"]) for row in answer.collect()}
    wrong = []
    for number in accepted:
        keys = sorted(k for k, labels in found.items() if f"B{number}" not in labels)
        if keys:
            wrong.append(f"{EXPRESSIONS[number]}: not Spark's value for k = {keys}")
    assert not wrong, "\n".join(wrong)
    assert len(found) == VALUES.num_rows
    # Refusing is right only for what is rare.
    assert len(refused) < len(EXPRESSIONS) // 4, refused


AGGREGATES = """\
count(*)
count(x)
count(DISTINCT x)
sum(i)
sum(x)
sum(m)
sum(DISTINCT i)
avg(i)
avg(x)
avg(m)
min(x)
max(x)
min(s)
max(m)
max(da)
min(ts)
stddev(i)
stddev_pop(i)
stddev_samp(x)
variance(i)
var_pop(i)
var_samp(x)
corr(i, x)
covar_pop(i, x)
covar_samp(i, x)
skewness(i)
kurtosis(i)
median(i)
percentile(i, 0.3)
percentile_approx(i, 0.5)
approx_count_distinct(i)
bool_and(b)
bool_or(b)
every(b)
some(b)
count_if(b)
bit_and(i)
bit_or(i)
bit_xor(i)
max_by(s, id)
min_by(i, id)
array_agg(i)
collect_list(s)
array_size(collect_set(i))
listagg(s, ',')
string_agg(s)
regr_slope(i, id)
regr_r2(i, id)
try_sum(i)
try_avg(i)
sum(i) FILTER (WHERE b)
count(*) FILTER (WHERE i > 0)
sum(i + 1)
sum(if(b, i, 0))
avg(abs(i))
sum(i) / count(*)
max(x) - min(x)
sum(m) / 3
concat(min(s), '-', max(s))""".splitlines()


def test_aggregates_agree_with_spark(spark: SparkSession) -> None:
    """Over all rows of a partition, which is what GROUP BY takes. Group 2 has no values but NULL, group 3 one row."""
    rng = random.Random("aggregates")
    n_rows = 60
    groups = [rng.choice((0, 1, 2)) for _ in range(n_rows)] + [3]

    def column(draw: Callable[[], Any], kind: pa.DataType) -> pa.Array:
        return pa.array([None if g == 2 or (g < 3 and rng.random() < 0.2) else draw() for g in groups], kind)

    table = pa.table({
        "g": groups, "id": range(len(groups)),
        "i": column(lambda: rng.randint(-9, 9), pa.int32()),
        "x": column(lambda: rng.choice((0.1, -0.0, 0.0, 1e16, -2.5, 3.25)), pa.float64()),
        "m": column(lambda: Decimal(rng.randint(-999, 999)) / 100, pa.decimal128(9, 2)),
        "s": column(lambda: rng.choice(("a", "B", "", "é", "zz")), pa.string()),
        "b": column(lambda: rng.random() < 0.5, pa.bool_()),
        "da": column(lambda: datetime.date(2024, 1, rng.randint(1, 31)), pa.date32()),
        "ts": column(lambda: datetime.datetime(2024, 1, rng.randint(1, 31), tzinfo=_UTC), pa.timestamp("us", "UTC")),
    })
    frame = spark.createDataFrame(table).repartition(1).sortWithinPartitions("id")
    clause = "PARTITION BY g ORDER BY id MEASURES {} PATTERN (A+)"
    accepted = range(len(AGGREGATES))  # by workers, or by Spark over what workers gather
    listed = [f"{AGGREGATES[number]} AS a{number}" for number in accepted]
    ours = frame.transform(rex.match(clause.format(", ".join(listed))))
    theirs = frame.groupBy("g").agg(*(F.expr(AGGREGATES[number]).alias(f"a{number}") for number in accepted))
    expected = {row["g"]: row for row in theirs.collect()}
    found = {row["g"]: row for row in ours.collect()}
    wrong = [
        f"{AGGREGATES[number]}: {_kind(ours, number)}, not {_kind(theirs, number)}"
        for number in accepted if _kind(ours, number) != _kind(theirs, number)
    ]
    wrong += [
        f"{AGGREGATES[number]} of g = {g}: {found[g][f'a{number}']!r}, not {row[f'a{number}']!r}"
        for g, row in expected.items() for number in accepted
        if not same_value(found[g][f"a{number}"], row[f"a{number}"])
    ]
    assert not wrong, "\n".join(wrong)
    assert len(found) == len(expected)


def _kind(frame: DataFrame, number: int) -> str:
    return frame.schema[f"a{number}"].dataType.simpleString()
