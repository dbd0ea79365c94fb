"""Streams on the command line: what their arguments mean, and what is refused before Spark is started."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

from sparkrex.cli import run_stream
from sparkrex.cli.main import main
from sparkrex.cli.stream_arguments import kafka_topic, source_argument, watermark_argument, workload_source_argument

if TYPE_CHECKING:
    from pathlib import Path

QUERY = "SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS price > 1)"


@pytest.mark.parametrize(
    ("text", "kind", "place", "options"),
    [
        ("t=in", "parquet", "in", ()),
        ("t=in/*.json", "json", "in/*.json", ()),
        ("t=s3a://bucket/in/*.csv.gz", "csv", "s3a://bucket/in/*.csv.gz", ()),
        ("t=rate://5", "rate", "5", ()),
        ("t=rate://5?numPartitions=1", "rate", "5", (("numPartitions", "1"),)),
        ("t=kafka://here:9092/topic", "kafka", "here:9092/topic", ()),
        (
            "t=kafka://a:1,b:2/x,y?startingOffsets=latest&kafka.security.protocol=SSL", "kafka", "a:1,b:2/x,y",
            (("startingOffsets", "latest"), ("kafka.security.protocol", "SSL")),
        ),
    ],
)
def test_sources(text: str, kind: str, place: str, options: tuple[tuple[str, str], ...]) -> None:
    source = source_argument(text)
    assert (source.name, source.kind, source.place, source.options) == ("t", kind, place, options)


def test_a_folder_is_read_as_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "in" / "day=1").mkdir(parents=True)
    assert source_argument(f"t={tmp_path}/in").kind == "parquet"
    (tmp_path / "in" / "_SUCCESS.txt").touch()
    (tmp_path / "in" / "day=1" / "a.jsonl").touch()
    assert source_argument(f"t={tmp_path}/in").kind == "json"
    assert source_argument(f"t=file://{tmp_path}/in").kind == "json"


def test_the_stream_of_a_workload_needs_no_name() -> None:
    found = [workload_source_argument(text) for text in ("in/a=1", "doors=in", "kafka://a:1/b?c=d", "rate://1?a=b")]
    assert [source.name for source in found] == ["stream", "doors", "stream", "stream"]


@pytest.mark.parametrize(
    "text",
    ["t=kafka://here/topic", "t=kafka://here:1", "t=kafka://here:1/a/b", "t=rate://", "t=rate://0", "t=in.txt", "in"],
)
def test_what_is_no_source(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        source_argument(text)


def test_topics() -> None:
    assert kafka_topic("kafka://a:1/b?acks=all").options == (("acks", "all"),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ts 10 seconds", (None, ("ts", "10 seconds"))),
        ("ticks=ts 1 hour 5 minutes", ("ticks", ("ts", "1 hour 5 minutes"))),
        ("`my time` 10 seconds", (None, ("my time", "10 seconds"))),
        ("ticks=`a=b` 1 day", ("ticks", ("a=b", "1 day"))),
    ],
)
def test_watermarks(text: str, expected: object) -> None:
    assert watermark_argument(text) == expected


def test_a_watermark_without_a_delay() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="such as 'ts 10 seconds'"):
        watermark_argument("ts")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--remote", "sc://here"], "--stream does not run on Spark Connect"),
        (["-o", "{out}", "--checkpoint", "{cp}", "--overwrite"], "--overwrite is for tables"),
        (["-o", "{out}"], "--checkpoint DIR is needed"),
        (["-o", "kafka://here:1/t"], "--checkpoint DIR is needed"),
        (["-o", "kafka://here", "--checkpoint", "{cp}"], "is not kafka://HOST:PORT/TOPIC"),
        (["-o", "kafka://here:1/t", "--checkpoint", "{cp}", "--format", "csv"], "messages of Kafka are JSON"),
        (["-o", "{in}/out", "--checkpoint", "{cp}"], "so the output cannot be"),
        (["-o", "{out}", "--checkpoint", "{in}/cp"], "so the checkpoint cannot be"),
        (["-o", "{out}", "--checkpoint", "{out}"], "may not be in one another"),
        (["-o", "{out}", "--checkpoint", "{query}"], "is a file, and a stream needs a folder"),
        (["-o", "{out}", "--checkpoint", "{cp}", "--format", "text"], "--format text is for rows that are printed"),
        (["--format", "parquet"], "rows cannot be printed as parquet"),
        (["--master", "yarn"], "--checkpoint DIR is needed on yarn"),
        (["--trigger", "5 seconds", "--available-now"], "not allowed with argument --trigger"),
        (["--files-per-batch", "0"], "expected a whole number from 1 on"),
        (["--watermark", "tocks=ts 5 seconds"], "there is no stream tocks; did you mean ticks?"),
        (["--watermark", "ts 5 seconds", "--watermark", "ts 6 seconds"], "--watermark is given twice"),
        (["--stream", "TICKS={in}"], "ticks is given twice"),
        (["-t", "ticks=x.parquet"], "ticks is given twice"),
        (["--stream", "u=in.xlsx"], "does not end like what is read"),
        (["--stream", "u={in}/none"], "there is no folder"),
        (["--stream", "u=rate://5", "--schema", "u=a int"], "the columns of rate:// are timestamp and value"),
    ],
)
def test_a_wrong_command_is_2(
    tmp_path: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places = _places(tmp_path, monkeypatch)
    filled = [text.format(**places) for text in ["run", "{query}", "--stream", "ticks={in}", *arguments]]
    assert _exit_code(filled) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--stream", "ticks={in}/empty"], "no file in {in}/empty says yet which columns there are"),
        (["--stream", "ticks=rate://5", "--files-per-batch", "1"], "?maxOffsetsPerTrigger=N"),
        (["--watermark", "ts 5 seconds", "-o", "{out}"], "--watermark is for streams, and there is no --stream"),
        (["--available-now", "-o", "{out}"], "--available-now is for streams"),
        (["-t", "ticks={in}/a.parquet", "-o", "{out}", "--format", "text"], "--format text is for results"),
    ],
)
def test_other_wrong_commands(
    tmp_path: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places = _places(tmp_path, monkeypatch)
    assert _exit_code([text.format(**places) for text in ["run", "{query}", *arguments]]) == 2
    assert words.format(**places) in capsys.readouterr().err


def test_a_wrong_query_is_told_before_spark_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    places = _places(tmp_path, monkeypatch)
    (tmp_path / "q.sql").write_text(QUERY.replace("PATTERN (A B)", ""), encoding="utf-8")
    assert main(["run", places["query"], "--stream", "ticks=rate://5"]) == 1
    assert capsys.readouterr().err.startswith("error[REX102]")


def _places(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    def started(*_: object) -> None:
        raise AssertionError("Spark is started")

    monkeypatch.setattr(run_stream, "spark_session", started)
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    (folder / "in" / "empty").mkdir(parents=True)
    (folder / "in" / "a.parquet").touch()
    (folder / "q.sql").write_text(QUERY, encoding="utf-8")
    return {"in": f"{folder}/in", "query": f"{folder}/q.sql", "out": f"{folder}/out", "cp": f"{folder}/cp"}


def _exit_code(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as stopped:
        assert isinstance(stopped.code, int)
        return stopped.code
