"""The long run on Spark: many random queries of one mode without pytest.

`python -m tests.spark.long --of events --examples 2000 --seed 1` prints progress and every difference. Several queries
are under way at a time: of a small one most is waiting.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

from tests.spark.random_queries import MODES, Question, questions


def main(arguments: list[str]) -> int:
    """Command line: see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m tests.spark.long", description="Many random queries on Spark.")
    parser.add_argument("--of", choices=MODES, default="rows")
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=3)
    options = parser.parse_args(arguments)

    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings: dict[str, bool | float | int | str | None] = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2", "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": "2g", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
    }
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()

    def ask(question: Question) -> str | None:
        try:
            return question.difference(spark)
        except Exception as error:
            return f"{question.name}\n{question.text}\n{question.table.to_pylist()}\n{type(error).__name__}: {error}"

    warnings.simplefilter("ignore")
    n_different = 0
    started = shown = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        for number, difference in enumerate(pool.map(ask, questions(options.of, options.seed, options.examples))):
            if difference is not None:
                n_different += 1
                print(f"--- {difference}", flush=True)
            if time.monotonic() - shown > 30:
                shown = time.monotonic()
                rate = (number + 1) / (shown - started)
                print(f"{number + 1} {options.of}, {rate:.1f}/s, {n_different} different", flush=True)
    spark.stop()
    print(f"{options.examples} {options.of} on Spark, seed {options.seed}: {n_different or 'none'} different")
    return 1 if n_different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
