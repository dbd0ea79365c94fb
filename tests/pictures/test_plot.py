"""Pictures have the rows, bands and colours that the query's answer has, and show any text as text."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.pictures.samples import V_SHAPES, clicks, random_ticks

import sparkrex as rex
from sparkrex.pictures import layout, svg
from sparkrex.pictures.picture import Scale, Style

if TYPE_CHECKING:
    from pathlib import Path

    from sparkrex.pictures.picture import Panel, Picture
    from sparkrex.pictures.plot import Plot

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</script><script>alert(1)</script>&\"'<!--\x00\x1b]]>\u2028\ud800"


def picture_of(plot: Plot) -> Picture:
    return plot._picture


def elements(plot: Plot, kind: str, name: str) -> list[ET.Element]:
    """Elements of a drawing that have a class."""
    return [one for one in ET.fromstring(plot.svg).iter(SVG + kind) if name in one.get("class", "").split()]


def texts(plot: Plot) -> list[str]:
    return ["".join(one.itertext()) for one in ET.fromstring(plot.svg).iter(SVG + "text")]


def data_of(page: str) -> Any:
    """What a page's script reads."""
    found = re.search(r'<script type="application/json" id="picture">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def seconds(panel: Panel, picture: Picture, value: Any) -> float:
    """Where a time stands on the axis, computed anew."""
    micros = np.datetime64(value, "us") - np.datetime64(picture.x.origin, "s")
    return float(micros / np.timedelta64(1, "us")) / 1e6


def test_each_partition_is_a_panel_with_its_rows_and_matches() -> None:
    table = random_ticks()
    plot = rex.plot(V_SHAPES, ticks=table)
    picture = picture_of(plot)
    assert (picture.x.name, picture.x.scale, picture.y and picture.y.name) == ("ts", Scale.TIME, "price")
    assert {panel.title for panel in picture.panels} == {f"symbol = {name}" for name in "abc"}
    answer = rex.sql(V_SHAPES.replace("FIRST(DOWN.ts) AS fell_at", "FIRST(ts) AS fell_at"), ticks=table).to_pylist()
    for panel in picture.panels:
        own = sorted(
            (row for row in table.to_pylist() if f"symbol = {row['symbol']}" == panel.title), key=lambda row: row["ts"]
        )
        assert panel.y.tolist() == [row["price"] for row in own]
        assert panel.x.tolist() == [seconds(panel, picture, row["ts"]) for row in own]
        mine = [row for row in answer if f"symbol = {row['symbol']}" == panel.title]
        assert panel.bands.first.tolist() == [seconds(panel, picture, row["fell_at"]) for row in mine]
        assert panel.bands.last.tolist() == [seconds(panel, picture, row["back_at"]) for row in mine]
        assert panel.n_matches == len(mine) > 0
    assert plot.notes == ()


def test_marks_are_the_classifiers_of_rows() -> None:
    table = random_ticks(symbols="a")
    picture = picture_of(rex.plot(V_SHAPES, ticks=table))
    text = V_SHAPES.replace("PATTERN", "ALL ROWS PER MATCH PATTERN").replace(
        "FIRST(DOWN.ts) AS fell_at, LAST(UP.ts) AS back_at", "CLASSIFIER() AS v"
    )
    rows = rex.sql(text, ticks=table).to_pylist()
    (panel,) = picture.panels
    marks = panel.marks
    names = [picture.variables[number] for number in marks.variable.tolist()]
    assert list(zip(panel.y[marks.point].tolist(), names, strict=True)) == [(row["price"], row["v"]) for row in rows]
    assert marks.joins.tolist() == [row["v"] != "STRT" for row in rows]


def test_the_drawing_has_bands_where_matches_are() -> None:
    plot = rex.plot(V_SHAPES, ticks=random_ticks(symbols="a"))
    picture = picture_of(plot)
    (panel,) = picture.panels
    bands = elements(plot, "rect", "b")
    # Matches that share a row touch, and are one band.
    left, right = layout.pixels(picture, panel.bands.first), layout.pixels(picture, panel.bands.last)
    width = sum(float(one.get("width", 0)) for one in bands)
    assert width == pytest.approx((right - left).sum(), abs=0.1 * len(bands) + 0.1)
    assert {float(one.get("x", 0)) for one in bands} <= {round(float(at), 1) for at in left}
    assert len(elements(plot, "path", "r")) == 2  # DOWN and UP; a first row has no line to it
    assert "symbol = a\u00a0· " in " ".join(texts(plot))
    assert {"STRT", "DOWN", "UP", "price"} <= set(texts(plot))


def test_descending_order_is_drawn_ascending() -> None:
    table = random_ticks(symbols="a")
    down = picture_of(rex.plot(V_SHAPES.replace("ORDER BY ts", "ORDER BY ts DESC"), ticks=table))
    (panel,) = down.panels
    assert (np.diff(panel.x) > 0).all()
    assert (panel.bands.first < panel.bands.last).all()
    stretches = panel.stretches
    assert (stretches.first <= stretches.last).all()
    for number in range(len(stretches)):
        band = stretches.band[number]
        assert panel.bands.first[band] <= stretches.first[number] <= stretches.last[number] <= panel.bands.last[band]


def test_gaps_are_gaps() -> None:
    table = pa.table({"x": range(6), "y": [1.0, 2.0, None, float("nan"), 5.0, 4.0]})
    plot = rex.plot(rex.match("ORDER BY x PATTERN (A B) DEFINE B AS y < PREV(y)"), table)
    (panel,) = picture_of(plot).panels
    assert np.isnan(panel.y).tolist() == [False, False, True, True, False, False]
    (line,) = elements(plot, "path", "l")
    assert line.get("d", "").count("M") == 2


def test_rows_without_a_place_on_the_axis_are_left_out() -> None:
    table = pa.table({"i": range(5), "x": [0, None, 2, 3, 4], "y": [3, 2, 1, 0, 5]})
    plot = rex.plot(rex.match("ORDER BY i PATTERN (A B+) DEFINE B AS y < PREV(y)"), table, x="x")
    (panel,) = picture_of(plot).panels
    assert panel.x.tolist() == [0, 2, 3, 4]
    assert (panel.bands.first.tolist(), panel.bands.last.tolist()) == ([0.0], [3.0])


def test_partitions_asked_for_by_key_and_limits() -> None:
    table = random_ticks(symbols="abcdefghi")
    asked = picture_of(rex.plot(V_SHAPES, ticks=table, key={"symbol": ["b", "d"]}))
    assert {panel.title for panel in asked.panels} == {"symbol = b", "symbol = d"}
    few = rex.plot(V_SHAPES, ticks=table, panels=2)
    assert len(picture_of(few).panels) == 2
    assert few.notes == ("2 of 9 partitions, and 7 more; key= chooses, panels= says how many.",)
    assert few.notes[0] in texts(few)
    with pytest.raises(rex.AnalysisError, match="the partitions have no key sym"):
        rex.plot(V_SHAPES, ticks=table, key={"sym": "b"})
    with pytest.raises(rex.AnalysisError, match="is no value of symbol"):
        rex.plot(V_SHAPES, ticks=table, key={"symbol": 3})


def test_a_range_has_its_rows_and_the_matches_that_reach_into_it() -> None:
    table = random_ticks(symbols="a")
    whole = picture_of(rex.plot(V_SHAPES, ticks=table))
    plot = rex.plot(V_SHAPES, ticks=table, between=("2026-11-02 09:35:00", "2026-11-02T09:40:00"))
    picture = picture_of(plot)
    assert (picture.low, picture.high) == tuple(34_200 + 60 * minutes for minutes in (5, 10))
    bands = whole.panels[0].bands
    meets = (bands.last >= picture.low) & (bands.first <= picture.high)
    assert picture.panels[0].bands.first.tolist() == bands.first[meets].tolist()
    assert 0 < meets.sum() < len(bands)
    with pytest.raises(rex.AnalysisError, match="is no value of ts"):
        rex.plot(V_SHAPES, ticks=table, between=("noon", "night"))


def test_lines_lead_to_the_rows_beyond_a_range() -> None:
    table = pa.table({"x": [0.0, 1.0, 3.0, 9.0], "y": [5.0, 4.0, 2.0, 8.0]})
    query = rex.match("ORDER BY x PATTERN (A DOWN+ UP) DEFINE DOWN AS y < PREV(y), UP AS y > PREV(y)")
    plot = rex.plot(query, table, between=(1, 5))
    (panel,) = picture_of(plot).panels
    assert panel.x.tolist() == [0.0, 1.0, 3.0, 9.0]
    (line,) = elements(plot, "path", "l")
    spots = [tuple(map(float, spot.split())) for spot in re.findall(r"[\d.-]+ [\d.-]+", line.get("d", ""))]
    pixel = (layout.PLOT_RIGHT - layout.LEFT) / 4
    assert [x for x, _ in spots] == pytest.approx([layout.LEFT + (x - 1) * pixel for x in (0, 1, 3, 9)], abs=0.06)
    # The y axis is that of the rows in the range: as far as from 4 to 2, it is from 2 to 8 three times.
    assert spots[3][1] - spots[2][1] == pytest.approx(-3 * (spots[2][1] - spots[1][1]), abs=0.3)
    _, inner = ET.fromstring(plot.svg).iter(SVG + "svg")  # the second one cuts lines off
    assert any(one.get("d") == line.get("d") for one in inner.iter())
    # A has [0, 0.5] of the lane, DOWN up to 6, and UP the rest.
    assert {one.get("class") for one in elements(plot, "rect", "s")} == {"s v1"}


@pytest.mark.parametrize("low", ["2026-11-02T09:00:00Z", "2026-11-02 10:00:00+01:00", "2026-11-02 09:00"])
def test_ranges_of_times_with_a_zone_are_in_utc_unless_they_say_otherwise(low: str) -> None:
    ts = pa.array([0, 3600, 7200, 10800], pa.int64())
    table = pa.table({"ts": pc.add(ts, 1_793_602_800).cast(pa.timestamp("s", "Europe/Berlin")), "y": [4, 3, 2, 1]})
    query = rex.match("ORDER BY ts PATTERN (A B) DEFINE B AS y < PREV(y)")
    picture = picture_of(rex.plot(query, table, between=(low, datetime(2026, 11, 2, 10, tzinfo=UTC))))
    assert picture.x.name == "ts (UTC)"
    assert (picture.low, picture.high) == (9 * 3600, 10 * 3600)


def test_many_rows_are_thinned_with_their_extremes_and_it_is_said() -> None:
    n_rows = 300_000
    random = np.random.default_rng(2)
    y = np.cumsum(random.normal(size=n_rows))
    table = pa.table({"x": np.arange(n_rows), "y": y})
    plot = rex.plot(rex.match("ORDER BY x PATTERN (S DOWN{3,}) DEFINE DOWN AS y < PREV(y)"), table)
    (panel,) = picture_of(plot).panels
    assert (panel.y.min(), panel.y.max(), panel.y[0], panel.y[-1]) == (y.min(), y.max(), y[0], y[-1])
    assert len(panel.x) < 30_000
    assert int(panel.bands.n_merged.sum()) == panel.n_matches > 10_000
    assert any("rows are drawn as" in note for note in plot.notes)
    assert any("matches are too near each other" in note for note in plot.notes)
    assert len(plot.html) < 1_000_000 and len(plot.svg) < 1_000_000


def test_a_page_stays_small_whatever_is_on_it() -> None:
    n_rows = 12_000
    random = np.random.default_rng(6)
    table = pa.table({"k": ["<&>" * 40] * n_rows, "x": np.arange(n_rows), "y": random.normal(size=n_rows)})
    text = """PARTITION BY k ORDER BY x MEASURES FIRST(x) AS a, LAST(x) AS b AFTER MATCH SKIP TO NEXT ROW
      PATTERN ((A | B){{{0},{1}}} C)
      DEFINE A AS y < 0, B AS y >= 0"""
    for least, most in ((1, 1), (4, 6)):
        query = rex.match(text.format(least, most))
        for between in (None, (0, 2_000)):
            assert len(rex.plot(query, table, between=between)._repr_mimebundle_()["text/html"]) < 1_000_000
    result = query(table)
    labelled = result.append_column("label", pa.array([HOSTILE[:20] * 20] * result.num_rows))
    assert len(rex.plot(labelled, table, x="x", label="label", between=(0, 2_000)).html) < 1_000_000
    windows = rex.trends("""RETURN COUNT(*), SUM(a.y) PATTERN e a+ SEMANTICS contiguous WHERE a.y < NEXT(a).y
      WITHIN 4 SLIDE 1""", time="x", types={"e": "y IS NOT NULL"})
    plot = rex.plot(windows, table)
    assert len(plot.html) < 1_000_000
    assert any("windows are drawn: everywhere those with" in note for note in plot.notes)
    boxes = picture_of(plot).panels[0].boxes
    assert boxes is not None and boxes.value.max() == max(row["COUNT(*)"] for row in windows(table).to_pylist())


def test_overlapping_matches_have_lanes_and_those_too_many_are_counted() -> None:
    table = pa.table({"x": range(40), "y": list(range(40, 0, -1))})
    text = "ORDER BY x AFTER MATCH SKIP TO NEXT ROW PATTERN (S DOWN+) DEFINE DOWN AS y < PREV(y)"
    plot = rex.plot(rex.match(text), table)
    (panel,) = picture_of(plot).panels
    assert panel.bands.lane.tolist() == list(range(39))
    assert f"and {39 - layout.MOST_LANES} more lanes of overlapping matches" in texts(plot)


def test_events_are_dots_of_their_own_rows() -> None:
    query = rex.events(
        "PATTERN SEQ(view v, cart c, pay p) WHERE skip_till_next_match(v, c, p) { [user] }", time="ts", type="kind"
    )
    picture = picture_of(rex.plot(query, clicks()))
    assert picture.style is Style.SPARSE
    assert picture.y is not None and picture.y.categories == ("cart", "help", "pay", "view")
    found = {}
    for panel in picture.panels:
        times = panel.x[panel.marks.point].astype(int).tolist()
        names = [picture.variables[number] for number in panel.marks.variable.tolist()]
        found[panel.title] = sorted(zip(panel.marks.band.tolist(), times, names, strict=True))
    expected: dict[str, list[tuple[int, int, str]]] = {}
    matches: dict[str, int] = {}
    for row in query(clicks()).to_pylist():
        title = f"user = {row['user']}"
        matches[title] = matches.get(title, -1) + (row["variable"] == "v")
        expected.setdefault(title, []).append((matches[title], row["ts"], row["variable"]))
    assert found == {title: sorted(rows) for title, rows in expected.items()}


def test_segments_have_a_lane_for_each_variable() -> None:
    query = rex.match("""ORDER BY x MEASURES first(UP.y) AS low, first(W.y) AS y AFTER MATCH SKIP PAST LAST ROW
      PATTERN (UP & W) DEFINE SEGMENT W AS window(3, 3), SEGMENT UP AS last(UP.y) > first(UP.y)""")
    plot = rex.plot(query, pa.table({"x": range(9), "y": [1, 2, 3, 2, 1, 2, 3, 4, 5]}))
    picture = picture_of(plot)
    assert picture.style is Style.OVERLAPPING
    (panel,) = picture.panels
    assert layout.lanes_of(picture, panel) == (("matches", "UP", "W"), 0)
    assert set(panel.stretches.variable.tolist()) == {0, 1}
    assert panel.bands.first.tolist() == [one for one, number in zip(
        panel.stretches.first.tolist(), panel.stretches.variable.tolist(), strict=True) if number == 0]


def test_trends_have_boxes_as_high_as_their_values() -> None:
    query = rex.trends("RETURN user, COUNT(*) AS n PATTERN SEQ(view v+, cart c) SEMANTICS skip-till-any-match "
                       "GROUP-BY user WITHIN 4 SLIDE 2", time="ts", type="kind")
    plot = rex.plot(query, clicks())
    found = sorted(
        (panel.title, first, last, value)
        for panel in picture_of(plot).panels if panel.boxes is not None
        for first, last, value in zip(panel.boxes.first, panel.boxes.last, panel.boxes.value, strict=True)
    )
    assert found == sorted(
        (f"user = {row['user']}", row["window_start"], row["window_end"], row["n"])
        for row in query(clicks()).to_pylist()
    )
    assert plot.notes == ()


def test_results_are_drawn_on_their_table() -> None:
    table = random_ticks()
    result = rex.sql(V_SHAPES, ticks=table)
    plot = rex.plot(result, table, label="fell_at")
    query = picture_of(rex.plot(V_SHAPES.replace("STRT DOWN", "DOWN DOWN"), ticks=table))
    picture = picture_of(plot)
    by_title = {panel.title: panel for panel in picture.panels}
    assert picture.y is not None and (picture.x.name, picture.y.name) == ("ts", "price")
    for panel in query.panels:
        own = by_title[panel.title]
        assert own.y.tolist() == panel.y.tolist()
        rows = [row for row in result.to_pylist() if f"symbol = {row['symbol']}" == panel.title]
        assert own.bands.first.tolist() == [seconds(own, picture, row["fell_at"]) for row in rows]
        assert own.bands.last.tolist() == [seconds(own, picture, row["back_at"]) for row in rows]
        assert own.bands.texts == tuple(str(row["fell_at"]) for row in rows)
    assert rex.plot(result.to_pandas(), table.to_pandas(), key="symbol")._picture.panels[0].n_matches > 0
    with pytest.raises(rex.AnalysisError, match="the result has no column begin"):
        rex.plot(result, table, start="begin")
    with pytest.raises(rex.AnalysisError, match="no column that says where a match begins"):
        rex.plot(result.select(["symbol"]), table)


@pytest.mark.parametrize(
    ("table", "note"),
    [(random_ticks(), "No matches found."), (random_ticks().slice(0, 0), "No rows: the table is empty.")],
)
def test_what_is_empty_is_said_in_words(table: pa.Table, note: str) -> None:
    plot = rex.plot(V_SHAPES.replace("{2,}", "{50}"), ticks=table)
    assert plot.notes == (note,)
    assert note in texts(plot)
    assert note in data_of(plot.html)["notes"]


def test_sql_around_the_pattern_is_mentioned() -> None:
    plot = rex.plot(V_SHAPES + " WHERE fell_at IS NULL", ticks=random_ticks())
    assert plot.notes == ("All matches of the pattern are drawn, before the SQL around it.",)
    assert sum(panel.n_matches for panel in picture_of(plot).panels) > 5


def test_hostile_texts_stay_texts() -> None:
    table = random_ticks(symbols="a")
    hostile = HOSTILE.replace("\ud800", "")
    table = table.set_column(0, "symbol", pa.array([hostile] * table.num_rows))
    text = V_SHAPES.replace("UP", '`</script> & "x`')
    for plot in (
        rex.plot(text, ticks=table, title=HOSTILE),
        rex.plot(rex.sql(V_SHAPES, ticks=table), table, key="symbol", label="symbol", title=HOSTILE),
        rex.diff(V_SHAPES, V_SHAPES.replace("{2,}", "{3,}"), ticks=table, title=HOSTILE),
    ):
        page = plot.html
        root = ET.fromstring(plot.svg)
        assert {one.tag for one in root.iter()} <= {SVG + name for name in (
            "svg", "title", "style", "rect", "text", "tspan", "path", "circle"
        )}
        attributes = {name for one in root.iter() for name in one.attrib}
        assert not [name for name in attributes if name.startswith("on") or name.endswith("href")]
        assert page.count("<script") == page.count("</script>") == 2
        assert "<!--" not in page and "alert(1)</script>" not in page
        assert data_of(page)["title"] == HOSTILE
        assert data_of(page)["panels"][0]["title"] == f"symbol = {hostile}"
        page.encode(), plot.svg.encode()
        frame = plot._repr_mimebundle_()["text/html"]
        inner = re.search(r'srcdoc="([^"]*)"', frame)
        assert inner is not None and html.unescape(inner[1]) == page
        assert "<script" not in frame.replace(inner[1], "")


def test_the_page_may_run_its_own_script_and_fetch_nothing() -> None:
    page = rex.plot(V_SHAPES, ticks=random_ticks()).html
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    for kind, rule in (("script", "script-src"), ("style", "style-src")):
        (text,) = re.findall(f"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
        assert rules[rule] == f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert not re.search(r"https?://|//[a-z]|\bimport\b|fetch\(|XMLHttp|@import|url\(|innerHTML|eval\(", page)
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"\s(style|on\w+|src)=", markup)


def test_the_page_has_the_numbers_of_the_picture() -> None:
    plot = rex.plot(V_SHAPES, ticks=random_ticks(symbols="a", gaps=True))
    (panel,), data = picture_of(plot).panels, data_of(plot.html)
    given = data["panels"][0]
    for name in ("x", "y"):
        numbers = np.frombuffer(base64.b64decode(given[name]), "<f8")
        np.testing.assert_array_equal(numbers, getattr(panel, name))
    assert np.frombuffer(base64.b64decode(given["marks"]["point"]), "<i4").tolist() == panel.marks.point.tolist()
    assert np.frombuffer(base64.b64decode(given["bands"]["lane"]), "<i4").tolist() == panel.bands.lane.tolist()


def test_it_draws_itself_in_notebooks_and_saves_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plot = rex.plot(V_SHAPES, ticks=random_ticks())
    bundle = plot._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/svg+xml", "text/plain"}
    assert bundle["text/html"].startswith('<iframe sandbox="allow-scripts" ')
    assert bundle["text/plain"] == repr(plot) == f"<Plot {svg.describe(picture_of(plot))}>"
    for name in ("a.html", "a.SVG", "a.png"):
        plot.save(tmp_path / name)
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == plot.html
    assert (tmp_path / "a.SVG").read_text(encoding="utf-8") == plot.svg
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(rex.AnalysisError, match=r"a\.gif has no ending"):
        plot.save(tmp_path / "a.gif")
    monkeypatch.setitem(__import__("sys").modules, "resvg_py", None)
    with pytest.raises(rex.UnsupportedError, match="resvg-py") as raised:
        plot.save(tmp_path / "b.png")
    assert 'pip install "sparkrex[plot]"' in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"key": "symbol"}, "key= with names are for results"), ({"start": "ts"}, "start=, end= and label="),
        ({"between": 3}, "between= is a pair"), ({"key": 3}, "key= is a int"),
    ],
)
def test_arguments_that_do_not_fit(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        rex.plot(V_SHAPES, ticks=random_ticks(), **arguments)


def test_columns_that_are_not_there() -> None:
    with pytest.raises(rex.AnalysisError, match="the input has no column prise"):
        rex.plot(V_SHAPES, ticks=random_ticks(), y="prise")
    with pytest.raises(rex.AnalysisError, match="panels=0"):
        rex.plot(V_SHAPES, ticks=random_ticks(), panels=0)
