"""The tour of `make demo` finds what was planted, and would notice if it did not."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from examples.tour import __main__ as tour
from examples.tour import page
from examples.tour.hosts import Memory, parts_of
from examples.tour.stop import compare

if TYPE_CHECKING:
    from pathlib import Path

SMALL = 3  # partitions of each stop


@pytest.mark.parametrize("name", tour.STOPS)
def test_a_stop_finds_what_was_planted_and_nothing_else(name: str) -> None:
    stop = tour.STOPS[name]
    visit = tour.visit(Memory(), name, stop, SMALL)
    assert visit.score.n_planted >= SMALL
    assert visit.score.is_right, visit.line
    text = page.write([visit], "in memory", 1.0)
    assert stop.title in text
    assert text.count("<iframe") == 1
    # Nothing on the page is fetched: addresses are fragments, or the data themselves.
    assert set(re.findall(r'(?:href|src)="([^"]*)"', text)) == {f"#{name}", "data:,"}


def test_what_is_missing_and_what_nobody_planted_is_counted() -> None:
    score = compare([("a", 1), ("a", 1), ("b", 2)], [("a", 1), ("b", 2), ("c", 3)])
    assert (score.n_planted, score.n_found, score.n_others) == (3, 2, 1)
    assert not score.is_right
    assert str(score) == "found 2 of 3 planted, 1 other"
    assert not compare([("a", 1)], [("a", 1), ("a", 1)]).is_right


def test_a_tour_with_a_wrong_answer_fails_and_says_where_its_page_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    stop = dataclasses.replace(tour.STOPS["rows"], n_keys=1)
    without_last = dataclasses.replace(stop, find=lambda ticks: stop.find(ticks).slice(1))
    for given, code in ((stop, 0), (without_last, 1)):
        monkeypatch.setattr(tour, "STOPS", {"rows": given})
        assert tour.main(["--memory", "--out", str(tmp_path)]) == code  # the second time the folder is there already
        printed = capsys.readouterr().out.splitlines()
        assert printed[-1] == str(tmp_path / "tour.html")
        assert f"found {3 - code} of 3 planted" in printed[0]
        assert f"found {3 - code} of 3 planted, nothing else" in (tmp_path / "tour.html").read_text(encoding="utf-8")


def test_matches_of_the_stream_reach_from_file_to_file() -> None:
    scene = tour.STOPS["stream"].scene(SMALL)
    parts = parts_of(scene)
    assert len(parts) == 3
    assert pa.concat_tables(parts).equals(scene.table)
    for cut in scene.cuts:
        assert sum(began < cut <= got_in for _, began, got_in, _ in scene.planted) == SMALL
