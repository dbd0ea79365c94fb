"""What the nfab matcher keeps of an open partition between feeds, and how it is saved."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrex.errors import InternalError
from sparkrex.modes.events.nfab.contract import EventMatches

FORMAT_VERSION = 2

Runs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""State, node, youngest first row and last row of every run."""
Nodes = tuple[NDArray[np.int64], NDArray[np.int16], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""The shared buffer: row, label, node before, other node of a union, youngest first row."""
Ends = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Ends of matches that rows to come decide: the node, and the first and the last row of all its histories."""


def no_runs() -> Runs:
    """None waits."""
    return (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))


def no_nodes() -> Nodes:
    """An empty buffer."""
    return (
        np.empty(0, np.int64), np.empty(0, np.int16), np.empty(0, np.int64), np.empty(0, np.int64),
        np.empty(0, np.int64),
    )


def no_ends() -> Ends:
    """None is undecided."""
    return (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(slots=True)
class NfabState:
    """Rows are positions in `held`, the last rows of the frame before: those that a run, an undecided match or a
    negation that reaches back may still read. `n_seen` of them have been fed to the runs. Undecided are `ends`, or
    `undecided` matches where only one of overlapping ones is kept. `blocked` is the last row of the last match where
    later ones must not overlap it, -1 if that is settled.
    """

    held: pa.Table | None = None
    n_seen: int = 0
    runs: Runs = field(default_factory=no_runs)
    nodes: Nodes = field(default_factory=no_nodes)
    ends: Ends = field(default_factory=no_ends)
    undecided: EventMatches = field(default_factory=EventMatches.none)
    blocked: int = -1

    @property
    def n_held(self) -> int:
        """How many rows stand in front of the next feed's own."""
        return 0 if self.held is None else int(self.held.num_rows)

    def size(self) -> int:
        """Bytes of what is kept."""
        return (0 if self.held is None else int(self.held.nbytes)) + self.size_of_runs()

    def size_of_runs(self) -> int:
        """Bytes of what is kept beside the rows: what `max_event_memory` counts."""
        arrays = (*self.runs, *self.nodes, *self.ends)
        return self.undecided.size() + sum(array.nbytes for array in arrays)

    def clear(self) -> None:
        """Nothing is kept once a partition closed."""
        self.held, self.n_seen, self.runs, self.nodes = None, 0, no_runs(), no_nodes()
        self.ends, self.undecided, self.blocked = no_ends(), EventMatches.none(), -1


def saved(state: NfabState) -> bytes:
    """The state as bytes: plain arrays, no pickles."""
    held = b""
    if state.held is not None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, state.held.schema) as writer:
            writer.write_table(state.held)
        held = sink.getvalue().to_pybytes()
    arrays: dict[str, Any] = {f"run_{i}": array for i, array in enumerate(state.runs)}
    arrays |= {f"node_{i}": array for i, array in enumerate(state.nodes)}
    arrays |= {f"end_{i}": array for i, array in enumerate(state.ends)}
    undecided = state.undecided
    buffer = io.BytesIO()
    np.savez(
        buffer, numbers=np.array([FORMAT_VERSION, state.n_seen, state.blocked], np.int64),
        held=np.frombuffer(held, np.uint8), rows=undecided.rows, labels=undecided.labels, offsets=undecided.offsets,
        **arrays,
    )
    return buffer.getvalue()


def loaded(data: bytes) -> NfabState:
    """The state that `saved` wrote."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        version, n_seen, blocked = (int(number) for number in arrays["numbers"])
        if version != FORMAT_VERSION:
            raise InternalError("REX901", f"a saved state of format {version}, this is {FORMAT_VERSION}", None, None)
        held = arrays["held"].tobytes()
        return NfabState(
            held=pa.ipc.open_stream(held).read_all() if held else None, n_seen=n_seen,
            runs=tuple(arrays[f"run_{i}"] for i in range(4)),
            nodes=tuple(arrays[f"node_{i}"] for i in range(5)),
            ends=tuple(arrays[f"end_{i}"] for i in range(3)),
            undecided=EventMatches(arrays["rows"], arrays["labels"], arrays["offsets"]), blocked=blocked,
        )
