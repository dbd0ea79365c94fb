"""The arguments of streams: what they read, their watermarks and columns; refused here if that needs no Spark.

`--stream NAME=SOURCE` may be given several times. Options that are about one stream name it as it does: `NAME=...`;
without a name they are about every stream that has none of its own.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from sparkrex.cli.failures import UsageError
from sparkrex.cli.files import FORMATS, TableFile, output_format
from sparkrex.cli.own_input import local_path, overlap, refuse_own_input
from sparkrex.cli.query import reads_local_files
from sparkrex.cli.values import named_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TERMINAL = "-"
PRINTED = ("text", "csv", "json")
"""What rows are printed as on standard output."""
_NAMED = re.compile(r"(?:(?P<name>[^\s=:`]+)=)?(?P<value>.*)", flags=re.DOTALL)
_WATERMARK = re.compile(r"(`[^`]+`|\S+)\s+(\S.*)")
_SERVERS = re.compile(r"[^,\s]+:\d+(,[^,\s]+:\d+)*")


@dataclass(frozen=True, slots=True)
class StreamSource:
    """A stream of the query. `place` are the files of a format, Kafka's servers and topics, or rows a second."""

    name: str
    kind: str
    place: str
    options: tuple[tuple[str, str], ...] = ()
    columns: str | None = None
    watermark: tuple[str, str] | None = None

    @property
    def is_files(self) -> bool:
        """Whether it reads files as they appear."""
        return self.kind not in ("kafka", "rate")

    @property
    def path(self) -> str:
        """The source as it was given."""
        return self.place if self.is_files else f"{self.kind}://{self.place}"


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """Where messages are: `host:9092,other:9092` and `topic`, and what else the connector is told."""

    servers: str
    topic: str
    options: tuple[tuple[str, str], ...]


def source_argument(text: str) -> StreamSource:
    """A stream from `name=source`."""
    name, source = named_value(text)
    scheme, colon, _ = source.partition("://")
    if colon and scheme.lower() == "kafka":
        kafka = kafka_topic(source)
        return StreamSource(name, "kafka", f"{kafka.servers}/{kafka.topic}", kafka.options)
    if colon and scheme.lower() == "rate":
        url = urlsplit(source)
        if not re.fullmatch(r"[1-9]\d*", url.netloc) or url.path.strip("/"):
            raise argparse.ArgumentTypeError(f"stream {name}: {source!r} is not rate://N, with N rows a second")
        return StreamSource(name, "rate", url.netloc, tuple(parse_qsl(url.query)))
    return StreamSource(name, _file_format(name, source), source)


def workload_source_argument(text: str) -> StreamSource:
    """A stream, with or without a name."""
    return source_argument(text if "=" in re.split(r"[/?]", text, maxsplit=1)[0] else f"stream={text}")


def kafka_topic(text: str) -> KafkaTopic:
    """The parts of `kafka://host:9092/topic`; several servers or topics have commas, options stand behind `?`."""
    url = urlsplit(text)
    topic = url.path.strip("/")
    if not _SERVERS.fullmatch(url.netloc) or not topic or "/" in topic:
        raise argparse.ArgumentTypeError(f"{text!r} is not kafka://HOST:PORT/TOPIC")
    return KafkaTopic(url.netloc, topic, tuple(parse_qsl(url.query)))


def per_stream_argument(text: str) -> tuple[str | None, str]:
    """`name=value`, or a value for all streams."""
    found = _NAMED.fullmatch(text)
    if found is None or not found["value"].strip():
        raise argparse.ArgumentTypeError(f"{text!r} has no value")
    return found["name"], found["value"].strip()


def watermark_argument(text: str) -> tuple[str | None, tuple[str, str]]:
    """Column and delay: `ts 10 seconds`."""
    name, value = per_stream_argument(text)
    found = _WATERMARK.fullmatch(value)
    if found is None:
        raise argparse.ArgumentTypeError(f"expected a column and a delay, such as 'ts 10 seconds', not {text!r}")
    return name, (found[1].strip("`"), found[2].strip())


def count_argument(text: str) -> int:
    """A whole number from 1 on."""
    if not re.fullmatch(r"\d+", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, not {text!r}")
    return int(text)


def add_source_arguments(parser: argparse.ArgumentParser, *, is_named: bool = True) -> None:
    """The streams, and what has to be known of them."""
    streams = parser.add_argument_group("streams, on Spark (--master is local[*] unless given)")
    streams.add_argument(
        "--stream", action="append", default=[], metavar="NAME=SOURCE" if is_named else "SOURCE", dest="streams",
        type=source_argument if is_named else workload_source_argument,
        help="a stream: a folder or 'in/*.json' for the files there and those to come, kafka://HOST:PORT/TOPIC, or "
        "rate://N for N rows a second" + ("; may be repeated, and stand beside --table" if is_named else ""),
    )
    streams.add_argument(
        "--watermark", action="append", default=[], type=watermark_argument, metavar="'[NAME=]COLUMN DELAY'",
        dest="watermarks", help="the time of a stream's rows, and how late they may come: 'ts 10 seconds'",
    )
    streams.add_argument(
        "--schema", action="append", default=[], type=per_stream_argument, metavar="'[NAME=]COLUMN TYPE, ...'",
        dest="schemas", help="the columns of files, else taken from those that are there; of Kafka those of the JSON "
        "in its messages",
    )
    streams.add_argument(
        "--files-per-batch", type=count_argument, metavar="N", help="how many files a batch reads at most"
    )


def add_running_arguments(parser: argparse.ArgumentParser) -> None:
    """How a stream runs."""
    streams = parser.add_argument_group("streams that run")
    streams.add_argument(
        "--checkpoint", metavar="DIR", help="where the query keeps how far it is; started again, it goes on from there"
    )
    when = streams.add_mutually_exclusive_group()
    when.add_argument("--trigger", metavar="'5 seconds'", help="how often a batch begins (default: when one is done)")
    when.add_argument("--available-now", action="store_true", help="stop when all that has arrived is read")


def settle_sources(arguments: argparse.Namespace) -> None:
    """Put together what is said of each stream, and where it runs: `streams` and `master` are complete then."""
    if not arguments.streams:
        given = {
            "--watermark": arguments.watermarks, "--schema": arguments.schemas,
            "--files-per-batch": arguments.files_per_batch, "--checkpoint": getattr(arguments, "checkpoint", None),
            "--trigger": getattr(arguments, "trigger", None),
            "--available-now": getattr(arguments, "available_now", False),
        }
        for option, value in given.items():
            if value:
                raise UsageError(f"{option} is for streams, and there is no --stream")
        return
    if find_spec("pyspark") is None:
        raise UsageError("--stream needs pyspark: pip install 'sparkrex[spark]'")
    if arguments.remote is not None:
        raise UsageError("--stream does not run on Spark Connect: give --master, or neither for this machine")
    arguments.master = arguments.master or "local[*]"
    names = [source.name for source in arguments.streams]
    watermarks = _by_stream("--watermark", arguments.watermarks, names)
    schemas = _by_stream("--schema", arguments.schemas, names)
    arguments.streams = [
        replace(source, watermark=watermarks[source.name], columns=schemas[source.name])
        for source in arguments.streams
    ]
    if arguments.files_per_batch is not None and not any(source.is_files for source in arguments.streams):
        raise UsageError("--files-per-batch is for files; of Kafka write kafka://HOST:PORT/TOPIC?maxOffsetsPerTrigger=N")
    for source in arguments.streams:
        if source.kind == "rate" and source.columns is not None:
            raise UsageError(f"stream {source.name}: the columns of rate:// are timestamp and value, without --schema")
    if reads_local_files(arguments):
        for source in arguments.streams:
            _check_local_files(source)


def check_stream_output(arguments: argparse.Namespace) -> None:
    """Refuse outputs that a stream cannot have, and places that would be in each other's way."""
    if arguments.overwrite:
        raise UsageError("--overwrite is for tables; a stream adds to its output. Remove output and checkpoint first")
    output = arguments.output = arguments.output or TERMINAL
    if arguments.json:
        if output != TERMINAL:
            raise UsageError("--json prints; files of JSON are --format json")
        arguments.format = "json"
    if output == TERMINAL:
        arguments.format = arguments.format or PRINTED[0]
        if arguments.format not in PRINTED:
            raise UsageError(f"rows cannot be printed as {arguments.format}: --format {', '.join(PRINTED)}")
        if arguments.checkpoint is None and not arguments.master.startswith("local"):
            raise UsageError(f"--checkpoint DIR is needed on {arguments.master}: a place that all its machines see")
    elif is_kafka(output):
        if arguments.format not in (None, "json"):
            raise UsageError("messages of Kafka are JSON here; leave --format out")
        try:
            kafka_topic(output)
        except argparse.ArgumentTypeError as error:
            raise UsageError(str(error)) from error
    else:
        if arguments.format == "text":
            raise UsageError(f"files are {', '.join(FORMATS)}; --format text is for rows that are printed")
        arguments.format = arguments.format or output_format(output)
        refuse_own_input(output, [*arguments.tables, *_files_of(arguments.streams)], arguments.query)
    if arguments.checkpoint is None:
        if output != TERMINAL:
            raise UsageError(
                "--checkpoint DIR is needed: there the query keeps how far it is, so that every row is written once "
                "and it can go on"
            )
        return
    for table in [*arguments.tables, *_files_of(arguments.streams)]:
        if overlap(arguments.checkpoint, table.path):
            raise UsageError(f"{table.name} reads {table.path}, so the checkpoint cannot be {arguments.checkpoint}")
    if output != TERMINAL and not is_kafka(output) and overlap(arguments.checkpoint, output):
        raise UsageError(f"{output} and {arguments.checkpoint}: output and checkpoint may not be in one another")
    if reads_local_files(arguments):
        for path in [arguments.checkpoint, *([] if output == TERMINAL or is_kafka(output) else [output])]:
            if Path(local_path(path)).is_file():
                raise UsageError(f"{path} is a file, and a stream needs a folder there")


def is_kafka(output: str) -> bool:
    """Whether an output is a topic of Kafka."""
    return output.lower().startswith("kafka://")


def _files_of(sources: Iterable[StreamSource]) -> list[TableFile]:
    return [TableFile(source.name, source.place, source.kind) for source in sources if source.is_files]


def _by_stream(option: str, values: Iterable[tuple[str | None, Any]], names: Iterable[str]) -> Mapping[str, Any]:
    """The value for each stream: its own, or the one without a name, or None."""
    from sparkrex.errors import nearest

    found: dict[str | None, Any] = {}
    for name, value in values:
        if name is not None and name not in names:
            hint = nearest(name, names)
            raise UsageError(f"{option} {name}=...: there is no stream {name}" + (f"; {hint}" if hint else ""))
        if name in found:
            of_which = f" for {name}" if name else "; NAME=... says for which stream"
            raise UsageError(f"{option} is given twice{of_which}")
        found[name] = value
    return {name: found.get(name, found.get(None)) for name in names}


def _file_format(name: str, path: str) -> str:
    """The format of a path: of a folder here that of the files in it, else as its end says."""
    from sparkrex.columns.paths import FORMATS_READ, format_of

    folder = Path(local_path(path))
    if folder.is_dir():
        kinds = {format_of(inside.name) for inside in _visible(folder) if inside.suffix}
        if len(kinds) == 1 and None not in kinds:
            return str(kinds.pop())
    kind = format_of(path)
    if not path or kind is None:
        raise argparse.ArgumentTypeError(f"stream {name}: {path!r} does not end like what is read: {FORMATS_READ}")
    return kind


def _visible(folder: Path) -> list[Path]:
    """Files of a folder and those below it, without what tools keep beside their data."""
    return [
        path for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    ]


def _check_local_files(source: StreamSource) -> None:
    """A stream over files of this machine: its folder is there, and its columns are known."""
    if not source.is_files or ("://" in source.place and not source.place.startswith("file:")):
        return
    path = local_path(source.place)
    if re.search(r"[*?\[{]", path):
        return  # what it means is for Spark to say
    if not Path(path).exists():
        raise UsageError(f"stream {source.name}: there is no folder {source.place}; make it, files may come later")
    if source.columns is None and Path(path).is_dir() and not _visible(Path(path)):
        raise no_columns(source)


def no_columns(source: StreamSource) -> UsageError:
    """The error of files that say nothing of their columns yet."""
    return UsageError(
        f"stream {source.name}: no file in {source.place} says yet which columns there are; "
        f"give them: --schema '{source.name}=COLUMN TYPE, ...'"
    )
