"""States that were saved before are read right or refused, never misread."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from tests.differential.relations import one_database
from tests.streams.driving import DictStore
from tests.streams.saved_states import FOLDER, N_BEFORE, SAVED, begun, moment, read, rows
from tests.streams.test_stream_equals_batch import sorted_rows

from sparkrex.errors import ExecutionError
from sparkrex.streams.columns import COLUMNS
from sparkrex.streams.head import FORMAT
from sparkrex.streams.looking import open_keys
from sparkrex.streams.store import HEAD

if TYPE_CHECKING:
    from pathlib import Path

    from tests.streams.driving import Stream

NOW = FOLDER / f"format-{FORMAT}.zip"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.zip")), ids=lambda path: path.stem)
@pytest.mark.parametrize("name", SAVED)
def test_a_saved_state_is_read_right_or_refused(name: str, path: Path) -> None:
    """If this fails for the present format, what is saved has changed, or what fingerprints are made of."""
    with one_database():
        stream, given = begun(SAVED[name])
        stream.stores = read(path, name)
        if path != NOW:
            with pytest.raises(ExecutionError, match="REX419"):
                finished(stream, given)
            return
        found = finished(stream, given)
        expected = SAVED[name].batch(rows())
    assert expected.num_rows
    assert sorted_rows(found) == sorted_rows(expected)


def finished(stream: Stream, given: list[pa.Table]) -> pa.Table:
    """The result after the rest of the rows, and the drain."""
    more = [stream.batch(rows().slice(N_BEFORE), moment())]
    given = [*given, *(stream.cut.merged(pa.concat_tables([one.rows for one in batch])) for batch in more)]
    return stream.cut.selected(pa.concat_tables([*given, stream.cut.merged(stream.drain())]))


def test_every_kind_of_part_is_among_them() -> None:
    parts = {part.split("/")[0] for name in SAVED for store in read(NOW, name) for part in store}
    assert parts == {"head", "columns", "pending", "open", "silent", "partial"}


@pytest.mark.parametrize("field", ["format", "slots"])
def test_another_format_is_refused(field: str) -> None:
    with one_database():
        stream, _ = begun(SAVED["timeouts"])
        for store in stream.stores:
            store[HEAD] = json.dumps({**json.loads(store[HEAD]), field: 999}).encode()
        with pytest.raises(ExecutionError, match="in another format, by SparkRex test") as raised:
            stream.batch(rows().slice(N_BEFORE), moment())
    assert raised.value.code == "REX419"
    assert raised.value.hint


@pytest.mark.parametrize(("name", "kind"), [("timeouts", "open"), ("v-shape", "silent"), ("merged-trends", "partial")])
def test_a_damaged_part_is_an_error_that_names_it(name: str, kind: str) -> None:
    kinds = set()
    with one_database():
        stream, _ = begun(SAVED[name])
        saved = [DictStore(store) for store in stream.stores]
        for number, store in enumerate(saved):
            for part, data in store.items():
                kinds.add(part.split("/")[0])
                for damaged in (data[:-1], data[: len(data) // 2], data[:9], b"", data[:8] + b"\0" * (len(data) - 8)):
                    stream.stores = [DictStore(other) for other in saved]
                    stream.stores[number][part] = damaged
                    if part != COLUMNS:  # for people alone
                        with pytest.raises(ExecutionError, match=f"damaged: its part {part} cannot be read") as raised:
                            stream.drain()
                        assert raised.value.code == "REX419"
                    if part in ("open", "pending", COLUMNS) or part.startswith("silent/"):
                        with pytest.raises(ExecutionError, match=f"its part {part} cannot be read"):
                            open_keys(stream.stores[number])
    assert {"head", "pending", kind} <= kinds
