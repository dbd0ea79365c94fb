"""`%%rex`: a cell is a query over the notebook's variables. IPython is no dependency; a shell is what it calls."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.notebook import LineError, ShownTable

if TYPE_CHECKING:
    from collections.abc import Callable

TICKS = pa.table({"ts": [1, 2, 3, 4], "price": [9.0, 7.0, 6.0, 8.0]})
QUERY = """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES FIRST(DOWN.ts) AS fell_at, MIN(DOWN.price) AS low
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))"""


class Shell:
    """As much of IPython's shell as a magic meets."""

    def __init__(self, **variables: Any) -> None:
        self.user_ns = variables
        self.magics: dict[str, Callable[[str, str], Any]] = {}
        importlib.import_module("sparkrex").load_ipython_extension(self)

    def register_magic_function(self, function: Callable[[str, str], Any], kind: str, name: str) -> None:
        assert kind == "cell"
        self.magics[name] = function

    def cell(self, line: str, text: str) -> Any:
        return self.magics["rex"](line, text)


def test_a_result_is_shown() -> None:
    shown = Shell(ticks=TICKS).cell("", QUERY)
    assert isinstance(shown, ShownTable)
    assert repr(shown).splitlines() == ["fell_at  low", "-------  ---", "      2  6.0", "1 row"]
    assert shown.table.to_pylist() == [{"fell_at": 2, "low": 6.0}]
    assert "the variable for the result" in (Shell().magics["rex"].__doc__ or "")


def test_a_name_gets_the_result() -> None:
    shell = Shell(ticks=TICKS)
    assert shell.cell("found", QUERY) is None
    assert shell.user_ns["found"].to_pylist() == [{"fell_at": 2, "low": 6.0}]
    assert shell.cell("again", "SELECT low FROM found") is None
    assert shell.user_ns["again"].num_rows == 1


def test_frames_give_frames() -> None:
    shell = Shell(ticks=TICKS.to_pandas())
    assert list(shell.cell("", QUERY).columns) == ["fell_at", "low"]


def test_values_settings_and_dialects() -> None:
    shell = Shell(Ticks=TICKS)  # in any case, as SQL has it
    text = "SELECT * FROM ticks WHERE price > :low AND 'it''s' = :word"
    assert shell.cell("--arg low=7.5 --arg \"word=it's\"", text).table.num_rows == 2
    shell.cell("x --set matcher=interpreter --dialect trino", QUERY)
    assert shell.user_ns["x"].num_rows == 1
    with pytest.raises(rex.AnalysisError, match="REX217"):
        shell.cell("--set speed=11", QUERY)


@pytest.mark.parametrize("line", ["a b", "1x", "--nothing", "--arg low", "'"])
def test_a_wrong_line_is_told_without_frames(line: str) -> None:
    with pytest.raises(LineError) as raised:
        Shell(ticks=TICKS).cell(line, QUERY)
    (shown,) = raised.value._render_traceback_()
    assert shown.startswith("%%rex: ")


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert Shell().cell("--help", " ") is None
    assert capsys.readouterr().out.startswith("usage: %%rex")


def test_a_wrong_query_stops_the_notebook_and_shows_its_place_alone() -> None:
    shell = Shell(ticks=TICKS)
    # The line that IPython makes of a cell; it is in the traceback, and would show the query twice.
    names: dict[str, Any] = {"get_ipython": lambda: shell, "__name__": "__main__"}
    shell.run_cell_magic = lambda _, line, text: shell.cell(line, text)  # type: ignore[attr-defined]
    source = f"get_ipython().run_cell_magic('rex', '', {QUERY.replace('UP AS price', 'UP AS prize')!r})\n"
    with pytest.raises(rex.AnalysisError) as raised:
        exec(compile(_cached(source), "<cell>", "exec"), names)
    shown = [line for line in raised.value._render_traceback_() if "test_cell_magic" not in line]
    place = next(number for number, line in enumerate(shown) if line.startswith("error["))
    assert shown[place:] == str(raised.value).split("\n")
    assert not any("get_ipython().run_cell_magic('rex'" in line for line in shown)
    assert shown[place + 2].strip() == "^^^^^"


def _cached(source: str) -> str:
    import linecache

    linecache.cache["<cell>"] = (len(source), None, source.splitlines(keepends=True), "<cell>")
    return source


def test_a_table_that_is_no_variable() -> None:
    with pytest.raises(rex.AnalysisError, match="hint: did you mean ticks"):
        Shell(ticks=TICKS).cell("", "SELECT * FROM tick")
    with pytest.raises(rex.AnalysisError, match="tables are variables of the notebook"):
        Shell(ticks=TICKS).cell("", "SELECT * FROM nowhere")
