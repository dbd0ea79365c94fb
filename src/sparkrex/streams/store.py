"""Where a bucket's state is kept: parts with names, each read and written as a whole."""

from __future__ import annotations

from typing import Protocol

from sparkrex.streams.packing import size_of

HEAD, PENDING, OPEN, PARTIAL, MEMBERS = "head", "pending", "open", "partial", "members"
"""The parts of a state, beside those of silent slots and what `columns` writes."""


class Store(Protocol):
    """The parts of one bucket."""

    def get(self, name: str) -> bytes | None:
        """A part; None if it is not there."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Write a part."""
        ...

    def delete(self, name: str) -> None:
        """Remove a part that is there."""
        ...


class CountedStore:
    """A store that knows how many bytes it has more, if every part is read before it is written.

    Bytes are counted before they are compressed: after that, how many they are depends on the order of waiting rows,
    and a batch that runs again must leave the same head.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sizes: dict[str, int] = {}
        self.n_more = 0

    def get(self, name: str) -> bytes | None:
        data = self._store.get(name)
        self._sizes[name] = 0 if data is None else size_of(data)
        return data

    def put(self, name: str, data: bytes) -> None:
        self.n_more += size_of(data) - self._sizes.get(name, 0)
        self._sizes[name] = size_of(data)
        self._store.put(name, data)

    def delete(self, name: str) -> None:
        self.n_more -= self._sizes.pop(name, 0)
        self._store.delete(name)
