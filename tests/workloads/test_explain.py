"""EXPLAIN of workloads: the shared plan in words and as a picture, with and without a stream."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from tests.workloads.streams import DOORS, INTRUDER

import sparkrex as rex

if TYPE_CHECKING:
    from pathlib import Path

    from sparkrex.workloads.workload import Workload

TEXTS = {
    "intruder": "PATTERN SEQ(A a, B b, C c) WHERE a.floor = b.floor WITHIN 40",
    "patrol": "PATTERN SEQ(A a, B b, D d) WHERE a.floor = b.floor AND d.diff > 50 WITHIN 30",
    "pair": "PATTERN AND(A a, NOT(D d), C c) WHERE a.diff < c.diff WITHIN 20",
    "chain": "PATTERN SEQ(A a, C+ c[]) WHERE skip_till_next_match(a, c[]) { c[i].diff > c[i-1].diff } WITHIN 20",
}


def _stream(n_rows: int = 2000) -> pa.Table:
    random = np.random.default_rng(5)
    return pa.table({
        "ts": np.arange(n_rows), "kind": random.choice(list("ABCD"), n_rows), "floor": random.integers(0, 9, n_rows),
        "diff": random.integers(0, 100, n_rows),
    })


def _workload(texts: dict[str, str] | None = None) -> Workload:
    return rex.workload(texts or TEXTS, time="ts", type="kind", max_steps=300)


def test_the_plan_in_words() -> None:
    lines = str(_workload().explain(_stream())).splitlines()
    assert lines[0] == "Workload of 4 patterns"
    assert "├─ 3 patterns share a plan: intruder, patrol, pair" in lines
    assert "│  └─ chain: its strategy is skip_till_next_match" in lines
    assert "├─ rates and selectivities from 2,000 rows" in lines
    shared = next(line for line in lines if ": serves intruder, patrol, cost" in line)
    assert "SEQ(A, B) where A.floor = B.floor" in shared
    assert any(line.endswith("└─ without D between the first and the last event") for line in lines)
    assert any("sh, maximal sharing, as written:" in line and "times as much" in line for line in lines)
    assert any(line.startswith("   ├─ A: n") or "A: n" in line for line in lines[lines.index("└─ events go to"):])


def test_without_a_stream_it_is_the_plan_of_the_last_detect() -> None:
    workload = _workload()
    assert "no stream is given" in str(workload.explain())
    workload.detect(_stream())
    text = str(workload.explain())
    assert "rates and selectivities from 2,000 rows" in text
    assert "match:" in text


def test_guessed_types_that_do_not_fit() -> None:
    workload = _workload({"flag": "PATTERN SEQ(A a, B b) WHERE a.is_open WITHIN 5"})
    with pytest.raises(rex.AnalysisError, match=r"workload.explain\(stream\)"):
        workload.explain()


def test_the_picture_is_well_formed_and_has_every_node() -> None:
    explanation = _workload({**TEXTS, "<&>": "PATTERN SEQ(A a, D d) WITHIN 5"}).explain(_stream())
    root = ET.fromstring(explanation.svg)
    boxes = [
        tuple(float(rect.get(name, 0)) for name in ("x", "y", "width", "height"))
        for rect in root.iter("{http://www.w3.org/2000/svg}rect")
    ]
    n_nodes = sum(" cost " in line and "serves" not in line.split(":")[0] for line in str(explanation).splitlines())
    assert len(boxes) > 6 and n_nodes
    for place, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[:place]:
            is_apart = x >= other_x + other_width or other_x >= x + width
            assert is_apart or y >= other_y + other_height or other_y >= y + height
    assert "http" not in explanation.svg.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert explanation.svg in explanation._repr_html_()


def test_a_large_plan_is_drawn_in_part() -> None:
    texts = {
        f"p{number}": f"PATTERN SEQ(A a, B b, C c, D d) WHERE a.floor = b.floor AND d.diff > {number} WITHIN 10"
        for number in range(60)
    }
    explanation = _workload(texts).explain(_stream(500))
    assert "nodes: those that serve most patterns" in explanation.svg
    assert "48 more patterns" in str(explanation)


def test_it_is_saved(tmp_path: Path) -> None:
    explanation = _workload().explain(_stream())
    explanation.save(tmp_path / "plan.svg")
    explanation.save(tmp_path / "plan.html")
    assert (tmp_path / "plan.svg").read_text(encoding="utf-8") == explanation.svg
    page = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert explanation.svg in page and "Workload of 4 patterns" in page


def test_a_workload_without_a_shared_plan_has_no_picture() -> None:
    explanation = _workload({"chain": TEXTS["chain"]}).explain(_stream())
    assert "by the event matcher, unshared" in str(explanation)
    with pytest.raises(rex.AnalysisError, match="no plan to draw"):
        _ = explanation.svg


def test_groups_have_a_plan_each() -> None:
    texts = {**TEXTS, "keyed": "PATTERN SEQ(A a, B b) WHERE [floor] WITHIN 9"}
    explanation = _workload(texts).explain(_stream())
    assert str(explanation).count("Workload of") == 2
    assert len(explanation.pictures) == 2


def test_groups_say_of_how_many_patterns_they_are() -> None:
    texts = {"p": "PATTERN SEQ(A a, B b) WHERE [floor] WITHIN 3", "q": INTRUDER}
    lines = str(rex.workload(texts, time="ts", type="sensor").explain(DOORS)).splitlines()
    assert [line for line in lines if line.startswith("Workload")] == ["Workload of 1 of 2 patterns"] * 2
    alone = rex.workload({"q": INTRUDER}, time="ts", type="sensor").explain(DOORS)
    assert str(alone).startswith("Workload of 1 pattern\n")


def test_a_plan_is_no_png(tmp_path: Path) -> None:
    explanation = rex.workload({"q": INTRUDER}, time="ts", type="sensor").explain(DOORS)
    with pytest.raises(rex.AnalysisError, match=r"REX217.*\.png"):
        explanation.save(tmp_path / "plan.png")
    assert not (tmp_path / "plan.png").exists()
    explanation.save(tmp_path / "plan.html")
