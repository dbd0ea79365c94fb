"""The silent slots of a bucket: those that only a row of their own key can concern, however long that takes.

There may be very many, so a batch must not visit those of other keys. It has to find out which of its keys have a slot,
and to put slots away, and neither may cost more when there are more of them. So slots that become silent at once are a
*generation*: parts of their own, called *shards*, by the hash of their keys, and an *index* with some bits of every
hash. For a key that has no slot indexes alone are read. A slot whose key comes is taken out, so a key has one slot.

Small generations are merged: every fourth time those of the last four times, every sixteenth time those of the last
sixteen, and so on, up to a size at which a generation stays as it is. So a slot is written a few times, and there are a
few small generations at any time. Buckets take turns at this, since otherwise all of them would merge in one batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.streams.groups import Group
from sparkrex.streams.head import Generation, reading
from sparkrex.streams.packing import compressed, decompressed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.runner import Runner
    from sparkrex.streams.head import Head
    from sparkrex.streams.store import Store

    Words = NDArray[np.uint32]

SLOTS_OF_A_SHARD = 2048
"""Shards are read and written as a whole: some milliseconds, most of them for the first slot."""
ENOUGH_SLOTS = 4096
"""A generation of so many is not merged. Its index is written whenever a slot is taken out, so it must not be large."""
MOST_SLOTS = 4 * ENOUGH_SLOTS
"""More slots than that are several generations."""
_MERGED = 4


@dataclass(frozen=True, eq=False, slots=True)
class Silent:
    """The silent slots of bucket number `bucket`. `head` lists their generations."""

    bucket: int
    store: Store
    head: Head
    runner: Runner
    fingerprint: str

    def take(self, hashes: NDArray[np.int64]) -> list[Group]:
        """The slots of all keys with these hashes, which are not silent any more."""
        hashes = np.unique(hashes)
        asked = _words_of(hashes)
        found = []
        for generation in tuple(self.head.generations):
            words = self._index(generation)
            rests = {}
            for shard in _shards_with(asked, words, generation).tolist():
                group = self._shard(generation, shard)
                is_taken = _are_among(group.hashes, hashes)
                if is_taken.any():  # and not only bits were equal
                    found.append(group.where(is_taken))
                    rests[shard] = group.where(~is_taken)
            if rests:
                self._keep(generation, words, rests)
        return found

    def add(self, group: Group) -> None:
        """Slots that have become silent."""
        head = self.head
        head.n_silenced += 1
        turn, rank = head.n_silenced + self.bucket, 0
        while turn % _MERGED == 0:
            turn, rank = turn // _MERGED, rank + 1
        merged = [one for one in head.generations if one.rank < rank and one.n_slots < ENOUGH_SLOTS]
        group = Group.joined([*(part for one in merged for part in self._all_of(one)), group])
        for one in merged:
            self._forget(one)
        for first in range(0, len(group), MOST_SLOTS):
            self._write(group.slice(first, MOST_SLOTS) if len(group) > MOST_SLOTS else group, rank)

    def every(self) -> Iterator[Group]:
        """All slots; they stay."""
        for generation in self.head.generations:
            yield from self._all_of(generation)

    def take_all(self) -> list[Group]:
        """All slots, which are not silent any more."""
        found = list(self.every())
        for generation in tuple(self.head.generations):
            self._forget(generation)
        return found

    # Generations.

    def _write(self, group: Group, rank: int) -> None:
        number = 1 + max((one.number for one in self.head.generations), default=-1)
        n_shards = 1 << (-(-len(group) // SLOTS_OF_A_SHARD) - 1).bit_length()
        generation = Generation(number, len(group), n_shards, rank)
        self.head.generations.append(generation)
        words = _words_of(group.hashes)
        shards = words % np.uint32(n_shards)
        for shard in np.unique(shards).tolist():
            self._put(generation, shard, group.where(shards == shard) if n_shards > 1 else group)
        self._put_index(generation, words)

    def _keep(self, generation: Generation, words: Words | None, rests: Mapping[int, Group]) -> None:
        """What is left of a generation: all of its shards but some, and of those the rests."""
        kept = [_words_of(group.hashes) for group in rests.values()]
        if words is not None:
            kept.append(words[~np.isin(words % np.uint32(generation.n_shards), list(rests))])
        for shard, group in rests.items():
            if len(group):
                self._put(generation, shard, group)
            else:
                self.store.delete(_shard_name(generation, shard))
        left = np.concatenate(kept)
        place = self.head.generations.index(generation)
        if len(left):
            self.head.generations[place] = replace(generation, n_slots=len(left))
            self._put_index(generation, left)
        else:
            del self.head.generations[place]
            if words is not None:
                self.store.delete(_index_name(generation))

    def _forget(self, generation: Generation) -> None:
        """A generation of which everything has been read."""
        words = self._index(generation)
        for shard in _shards_of(words, generation).tolist():
            self.store.delete(_shard_name(generation, shard))
        if words is not None:
            self.store.delete(_index_name(generation))
        self.head.generations.remove(generation)

    def _all_of(self, generation: Generation) -> Sequence[Group]:
        shards = _shards_of(self._index(generation), generation)
        return [self._shard(generation, shard) for shard in shards.tolist()]

    # Parts.

    def _shard(self, generation: Generation, shard: int) -> Group:
        name = _shard_name(generation, shard)
        data = self.store.get(name)
        assert data is not None  # the index has hashes of it
        with reading(name):
            return Group.read(data, self.runner, self.fingerprint)

    def _put(self, generation: Generation, shard: int, group: Group) -> None:
        self.store.put(_shard_name(generation, shard), group.write(self.fingerprint))

    def _index(self, generation: Generation) -> Words | None:
        """Some bits of every hash, in order; None for a single shard, which is as soon read itself."""
        if generation.n_shards == 1:
            return None
        name = _index_name(generation)
        data = self.store.get(name)
        assert data is not None
        with reading(name):
            return np.frombuffer(decompressed(data), np.uint32)

    def _put_index(self, generation: Generation, words: Words) -> None:
        if generation.n_shards > 1:
            self.store.put(_index_name(generation), compressed(np.sort(words).tobytes()))


def _words_of(hashes: NDArray[np.int64]) -> Words:
    """The bits of hashes that are in an index. The lowest ones say the bucket."""
    return (hashes.view(np.uint64) >> np.uint64(16)).astype(np.uint32)


def _shards_with(asked: Words, words: Words | None, generation: Generation) -> Words:
    """The shards that may have slots of hashes with some bits."""
    if words is None:
        return np.zeros(1, np.uint32)
    return _shards_of(asked[_are_among(asked, words)], generation)


def _are_among(values: NDArray[Any], rising: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are among others, which are in order. NumPy would put both in order anew for every shard."""
    places = np.minimum(np.searchsorted(rising, values), len(rising) - 1)
    found: NDArray[np.bool_] = rising[places] == values
    return found


def _shards_of(words: Words | None, generation: Generation) -> Words:
    """The shards that hashes with these bits are in."""
    return np.zeros(1, np.uint32) if words is None else np.unique(words % np.uint32(generation.n_shards))


def _shard_name(generation: Generation, shard: int) -> str:
    return f"silent/{generation.number}/{shard}"


def _index_name(generation: Generation) -> str:
    return f"index/{generation.number}"
