"""Compare every function and write the table: `python -m tests.spark.worker_functions [--only TEXT] [--show]`.

With ANSI rules on and off, and what has to do with times in three time zones. It takes some minutes. With `--only`
functions whose SQL holds the text are compared, and nothing is written; `--show` says where the others differ.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tests.spark.worker_functions.compare import Case, Comparison, cases_of
from tests.spark.worker_functions.renderings import RENDERINGS
from tests.spark.worker_functions.table import Found, count_lines, written_table

import sparkrex

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE = Path(sparkrex.__file__).parent / "spark" / "proven_functions.txt"
ZONES = ("UTC", "Europe/Zurich", "America/St_Johns")
_TOGETHER = 25


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    spark = _session()
    found = compare_all(spark, [case for one in RENDERINGS if given.only in one.spark for case in cases_of(one)])
    if given.show:
        different = [one for one in found if one.difference]
        lines = {f"{one.case.rendering.spark} {one.case.types}: {one.difference}" for one in different}
        print("\n".join(sorted(lines)))
    if not given.only:
        FILE.write_text(written_table(found, spark.version), "utf-8")
    functions = {row.function for row in spark.sql("SHOW FUNCTIONS").collect()}
    print("\n".join(count_lines(found, functions)))


def compare_all(spark: SparkSession, cases: list[Case]) -> list[Found]:
    """What came of every case that Spark takes."""
    found: list[Found] = []
    for is_ansi in (True, False):
        for zone in ZONES:
            comparison = Comparison(spark, is_ansi=is_ansi, time_zone=zone)
            typed = [(case, kind) for case in cases if (kind := comparison.result_type(case)) is not None]
            if zone != "UTC":
                typed = [(case, kind) for case, kind in typed if "timestamp" in " ".join((kind, *case.types))]
            for start in range(0, len(typed), _TOGETHER):
                part = typed[start : start + _TOGETHER]
                for (case, kind), values in zip(part, comparison.spark_values([case for case, _ in part]), strict=True):
                    found.append(Found(case, kind, is_ansi, comparison.difference(case, kind, values)))
    return found


def _session() -> SparkSession:
    import logging

    from pyspark.sql import SparkSession

    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    return (
        SparkSession.builder.master("local[2]").appName("worker functions")
        .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g").config("spark.log.level", "OFF").config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false").getOrCreate()
    )


if __name__ == "__main__":
    main()
