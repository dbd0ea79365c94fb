"""Parts of a state in files nearby: whatever happened to the files, what was put into the state comes back."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from sparkrex.spark.streaming.nearby import LEAST_BYTES, NearbyFiles
from sparkrex.spark.streaming.processor import StateParts
from sparkrex.streams.store import HEAD

if TYPE_CHECKING:
    from pathlib import Path

LARGE = LEAST_BYTES * 2


class MapState(dict[Any, Any]):
    """Spark's map state, which counts the bytes that are read from it."""

    read = 0

    def getValue(self, key: Any) -> Any:  # noqa: N802  Spark's name
        found = self.get(key)
        self.read += 0 if found is None else len(found[0])
        return found

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802  Spark's name
        self[key] = value

    def removeKey(self, key: Any) -> None:  # noqa: N802  Spark's name
        self.pop(key, None)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    return tmp_path / "python" / "rex-state"


def parts_of(state: MapState, owner: str = "query") -> StateParts:
    parts: StateParts = StateParts(state)  # type: ignore[arg-type]
    parts.nearby = NearbyFiles.of(owner)
    parts.begin(1)
    parts.get(HEAD)
    return parts


def test_large_parts_are_read_from_files(scratch: Path) -> None:
    state = MapState()
    data = random.Random(1).randbytes(LARGE)
    parts = parts_of(state)
    parts.put("rows", data)
    parts.put("few", data[:9])
    parts.put(HEAD, b"{}")
    assert [file.stat().st_size for file in scratch.iterdir()] == [LARGE]
    assert parts_of(state).get("rows") == data
    assert state.read < 100
    assert parts_of(state).get("few") == data[:9]
    assert parts_of(state).get(HEAD) == b"{}"


def test_without_a_scratch_folder_there_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    assert NearbyFiles.of("query") is None
    (tmp_path / "file").touch()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "file"))
    assert NearbyFiles.of("query") is None


@pytest.mark.parametrize("seed", range(40))
def test_parts_are_those_of_the_state(scratch: Path, seed: int) -> None:
    """A batch that fails is run again over the state before it; files may be lost, cut off, or another machine's."""
    draw = random.Random(seed)
    committed: MapState = MapState()
    for _ in range(30):
        state = MapState(committed)
        parts = parts_of(state, draw.choice(["query", "query", "another"]))
        for _ in range(draw.randrange(6)):
            name = draw.choice(["rows", "keys"])
            known = state.get((name,))
            assert parts.get(name) == (None if known is None else known[0])
            if draw.random() < 0.7:
                parts.put(name, draw.randbytes(draw.choice([5, LARGE])))
            else:
                parts.delete(name)
        parts.put(HEAD, b"head")
        if draw.random() < 0.6:
            committed = state
        for file in scratch.iterdir():
            happened = draw.random()
            if happened < 0.1:
                file.unlink()
            elif happened < 0.2:
                file.write_bytes(file.read_bytes()[: draw.randrange(LARGE)])
    assert not [file for file in scratch.iterdir() if file.suffix]
