"""What the page is answered: errors with their place, pictures, results, and refusals of what does more than read."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient
from tests.pictures.samples import V_SHAPES, random_ticks

import sparkrex as rex
from sparkrex.pictures.html import drawn_data
from sparkrex.studio.access import Keys
from sparkrex.studio.app import make_app
from sparkrex.studio.as_python import as_python
from sparkrex.studio.asked import Asked
from sparkrex.studio.limits import MOST_ROWS, Limits, check_one_select
from sparkrex.studio.searcher import Searcher
from sparkrex.studio.worker import CANCELLED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Ask = Callable[..., Any]

pytestmark = pytest.mark.slow  # searches in a process of its own, which loads kernels

KEYS = Keys(4321)
LONG = "SELECT count(*) AS n FROM range(1000000) AS a(x), range(1000000) AS b(y) WHERE x * y % 7 = 1"


def ticks() -> pa.Table:
    table = random_ticks(n_rows=400)
    kinds = pa.array([["buy", "sell", "hold"][number % 3] for number in range(table.num_rows)])
    return table.append_column("side", kinds)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = tmp_path_factory.mktemp("studio") / "ticks.parquet"
    pq.write_table(ticks(), found)
    return str(found)


@pytest.fixture(scope="module")
def ask(path: str) -> Iterator[Ask]:
    """The answer to a request, as the page is given it."""
    headers = {"Origin": "http://127.0.0.1:4321", "Content-Type": "application/json"}
    with TestClient(make_app({"ticks": path}, KEYS, Limits()), base_url="http://127.0.0.1:4321") as client:
        client.get("/", params={"token": KEYS.token})

        def asked(kind: str, query: str = "", **fields: object) -> Any:
            answer = client.post(f"/api/{kind}", headers=headers, content=json.dumps({"query": query, **fields}))
            assert answer.status_code == 200
            return answer.json()

        yield asked


@pytest.mark.parametrize("kind", ["check", "search", "result", "explain"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 AS a; SELECT 2 AS b",
        f"{V_SHAPES}; DROP TABLE ticks",
        "INSERT INTO ticks SELECT * FROM ticks",
        "CREATE TABLE u AS SELECT * FROM ticks",
        "COPY (SELECT 1) TO '/tmp/stolen.csv'",
        "SET enable_external_access = true",
        "ATTACH '/tmp/other.db'",
        "INSTALL httpfs",
        "-- SELECT\nDELETE FROM ticks",
        "PRAGMA database_list",
    ],
)
def test_one_statement_that_reads_and_nothing_else(ask: Ask, kind: str, query: str) -> None:
    (error,) = ask(kind, query)["errors"]
    assert error["code"] in ("REX101", "REX303"), error


@pytest.mark.parametrize(
    "source",
    [
        "read_csv('/etc/passwd')", "read_text('/etc/passwd')", "read_blob('/etc/passwd')", "glob('/etc/*')",
        "'/etc/passwd.csv'", "`/etc/passwd.parquet`", "sniff_csv('/etc/passwd')", "query_table('/etc/passwd.csv')",
        "parquet_metadata('{path}')", "'{path}'", "csv.`/etc/passwd`",
    ],
)
def test_functions_that_open_files_are_refused(ask: Ask, path: str, source: str) -> None:
    text = f"SELECT * FROM {source.format(path=path)}"
    for dialect in ("duckdb", "spark"):
        for query in (text, f"{text} MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS true)"):
            answer = ask("result", query, dialect=dialect)
            assert answer.keys() == {"errors"}
            assert "root:" not in json.dumps(answer)


def test_comments_and_semicolons_at_the_end_are_no_second_statement() -> None:
    for text in ("SELECT 1;", "SELECT 1; -- two; three", "(SELECT 1)", "SELECT ';' AS a", "/* ; */ SELECT 1;;"):
        check_one_select(text, "spark")


def test_errors_have_their_place_in_units_of_the_editor(ask: Ask) -> None:
    text = V_SHAPES.replace("UP AS price >", "UP AS prise >").replace("SELECT", "/* \U0001f600 */ SELECT", 1)
    (error,) = ask("check", text)["errors"]
    units = text.encode("utf-16-le")
    assert units[2 * error["start"] : 2 * error["end"]].decode("utf-16-le") == "prise"
    assert (error["code"], error["hint"]) == ("REX201", "did you mean price?")
    assert ask("check", V_SHAPES)["columns"][0] == ["symbol", "STRING"]


def test_a_search_gives_the_picture_of_plot(ask: Ask, path: str) -> None:
    answer = ask("search", V_SHAPES)
    assert answer["picture"] == json.loads(json.dumps(drawn_data(rex.plot(V_SHAPES, ticks=path)._picture)))
    rows = rex.sql(V_SHAPES, ticks=path)
    assert (answer["n_rows"], answer["n_answers"]) == (1200, rows.num_rows)
    assert sum(one["n_answers"] for one in answer["partitions"]) == rows.num_rows
    assert {one["title"] for one in answer["partitions"]} == {"symbol = a", "symbol = b", "symbol = c"}


def test_one_partition_and_a_range_of_it(ask: Ask, path: str) -> None:
    answer = ask("search", V_SHAPES, partition="symbol = b")
    own = rex.plot(V_SHAPES, ticks=path, key={"symbol": "b"})
    assert answer["picture"] == json.loads(json.dumps(drawn_data(own._picture)))
    matches = answer["matches"]
    text = V_SHAPES.replace("FIRST(DOWN.ts) AS fell_at", "FIRST(ts) AS fell_at, COUNT(*) AS n")
    expected = [row for row in rex.sql(text, ticks=path).to_pylist() if row["symbol"] == "b"]
    assert matches["columns"] == ["symbol", "match", "first ts", "last ts", "span in rows"]
    assert list(zip(*matches["cells"], strict=True)) == [
        ("b", str(number), str(row["fell_at"]), str(row["back_at"]), str(row["n"]))
        for number, row in enumerate(expected, 1)
    ]
    low, high = matches["ends"][3]
    near = ask("search", V_SHAPES, partition="symbol = b", view=[low - 60, high + 60])["picture"]
    assert near["x"]["origin"] + near["low"] == low - 60
    (panel,) = near["panels"]
    assert 0 < panel["n_matches"] < len(expected)


def test_results_have_their_first_rows_and_say_how_many_there_are(ask: Ask) -> None:
    answer = ask("result", "SELECT ts, NULL AS nothing, repeat('x', 5000) AS long FROM ticks")
    assert (answer["n_rows"], len(answer["cells"][0])) == (1200, MOST_ROWS)
    assert answer["cells"][1][0] is None
    assert len(answer["cells"][2][0]) < 400


def test_every_example_of_every_mode_runs_and_finds_something(ask: Ask) -> None:
    (table,) = ask("tables")["tables"]
    assert (table["name"], table["n_rows"]) == ("ticks", 1200)
    modes = [example["title"].split(":")[0] for example in table["examples"]]
    assert modes == ["Row pattern", "Window", "Segment", "Events", "Trends", "SQL-TS", "Events"]
    for example in table["examples"]:
        for kind in ("check", "search", "result", "explain"):
            answer = ask(kind, example["query"])
            assert "errors" not in answer, (example["title"], answer)
            assert answer.get("n_answers", 1) > 0, example["title"]


def test_a_query_without_a_pattern_has_a_result_and_no_picture(ask: Ask) -> None:
    (error,) = ask("search", "SELECT count(*) AS n FROM ticks")["errors"]
    assert error["code"] == "REX301"
    assert ask("result", "SELECT count(*) AS n FROM ticks")["cells"] == [["1200"]]


def test_the_program_runs_the_query_over_the_same_file(ask: Ask, path: str) -> None:
    for text in (V_SHAPES, V_SHAPES + "\n-- \"\"\" \\ ", "SELECT 1 AS \"a\""):
        named: dict[str, Any] = {}
        exec(as_python(text, "spark", {"ticks": path}).split("print(")[0], named)
        assert named["query"].text.strip() == text.strip()
    program = ask("python", V_SHAPES)["text"]
    named = {}
    exec(program.split("print(")[0], named)
    assert named["query"](named["tables"]).equals(rex.sql(V_SHAPES, ticks=path))


def test_what_takes_too_long_is_interrupted_and_the_next_answer_comes(path: str) -> None:
    async def both() -> tuple[bytes, bytes, bool]:
        searcher = Searcher({"ticks": path}, Limits(seconds=60, patience=30))
        asked = Asked("check", V_SHAPES)
        await searcher.answer(asked, searcher.begin(""))  # it has started
        process = searcher._process
        searcher._limits = Limits(seconds=0.5, patience=30)
        late = await searcher.answer(Asked("result", LONG, dialect="duckdb"), searcher.begin(""))
        searcher._limits = Limits(seconds=60, patience=30)
        found = await searcher.answer(asked, searcher.begin(""))
        same = searcher._process is process
        await searcher.close()
        return late, found, same

    late, found, same = asyncio.run(both())
    assert json.loads(late)["errors"][0]["message"] == "the answer took more than 0.5 seconds"
    assert json.loads(found)["columns"][0] == ["symbol", "STRING"]
    assert same


def test_the_newest_request_of_a_page_wins(path: str) -> None:
    async def three() -> tuple[bytes, bytes, bytes, bytes]:
        searcher = Searcher({"ticks": path}, Limits(seconds=60, patience=30))
        long, short = Asked("result", LONG, dialect="duckdb", page="p"), Asked("check", V_SHAPES, page="p")
        first = asyncio.ensure_future(searcher.answer(long, searcher.begin("p")))
        second = asyncio.ensure_future(searcher.answer(long, searcher.begin("p")))
        other = asyncio.ensure_future(searcher.answer(short, searcher.begin("q")))
        await asyncio.sleep(0.3)
        third = asyncio.ensure_future(searcher.answer(short, searcher.begin("p")))
        found = await asyncio.gather(first, second, third, other)
        await searcher.close()
        return found

    first, second, third, other = asyncio.run(three())
    assert first == second == CANCELLED
    assert json.loads(third) == json.loads(other)
    assert "columns" in json.loads(third)


def test_the_process_is_started_anew_after_it_has_died(path: str) -> None:
    async def killed() -> tuple[bytes, bytes]:
        searcher = Searcher({"ticks": path}, Limits())
        asked = Asked("check", V_SHAPES)
        await searcher.answer(asked, searcher.begin(""))
        assert searcher._process is not None
        running = asyncio.ensure_future(
            searcher.answer(Asked("result", LONG, dialect="duckdb"), searcher.begin("")))
        await asyncio.sleep(0.3)
        searcher._process.kill()
        lost = await running
        found = await searcher.answer(asked, searcher.begin(""))
        await searcher.close()
        return lost, found

    lost, found = asyncio.run(killed())
    assert json.loads(lost)["errors"][0]["message"] == "the process that searches has ended"
    assert "columns" in json.loads(found)


def test_a_table_that_cannot_be_read_is_told_beside_the_others(tmp_path: Path, path: str) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 nothing")

    async def listed() -> bytes:
        searcher = Searcher({"ticks": path, "broken": str(broken)}, Limits())
        try:
            return await searcher.answer(Asked("tables"), searcher.begin(""))
        finally:
            await searcher.close()

    first, second = json.loads(asyncio.run(listed()))["tables"]
    assert (first["n_rows"], second["error"]["code"]) == (1200, "REX407")
