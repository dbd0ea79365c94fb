"""A streaming job over Kafka that may be killed: `python -m tests.spark.kafka_job FOLDER BROKER JAR...`.

One query writes Parquet into FOLDER, another one a topic that has the folder's name.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.spark import stream_job
from tests.spark.kafka import from_beginning, rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

TICKS = "sym string, ts timestamp, price double, kind string"
TO_FILES, TO_KAFKA = "rows", "events"
"""The queries of `stream_job` by their names."""


def stream(spark: SparkSession, broker: str) -> DataFrame:
    """The topic `ticks`, in batches of a few rows of each partition."""
    values = spark.readStream.format("kafka").options(**from_beginning(broker, "ticks"))
    # How far apart partitions may be: a file of `test_stream_kafka` is 200 seconds, and written row by row.
    return rows_of(values.option("maxOffsetsPerTrigger", 200).load(), TICKS).withWatermark("ts", "400 seconds")


def main(folder: Path, broker: str, jars: list[Path]) -> None:
    """Run until told to stop, and nothing is left."""
    spark = stream_job.session(*jars)

    def start() -> list[StreamingQuery]:
        to_files = stream_job.QUERIES[TO_FILES](stream(spark, broker)).writeStream.format("parquet")
        to_kafka = stream_job.QUERIES[TO_KAFKA](stream(spark, broker)).selectExpr("to_json(struct(*)) AS value")
        writers = {
            TO_FILES: to_files.option("path", str(folder / TO_FILES)),
            TO_KAFKA: to_kafka.writeStream.format("kafka").option("kafka.bootstrap.servers", broker)
            .option("topic", folder.name),
        }
        return [
            writer.option("checkpointLocation", str(folder / f"{name}_checkpoint")).trigger(availableNow=True).start()
            for name, writer in writers.items()
        ]

    stream_job.run(folder, start)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [Path(jar) for jar in sys.argv[3:]])
