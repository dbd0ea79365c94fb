"""Arenas: room for more instances, those of earlier feeds in their turn, keys, and what windows leave behind."""

from __future__ import annotations

import numpy as np
from tests.modes.workload.kernels.drawn import DrawnRows, drawn_rows, drawn_slot
from tests.modes.workload.kernels.stores import Built, Instance, NodeParts, lines_of

from sparkrex.modes.workload.kernels import codes
from sparkrex.modes.workload.kernels.arenas import make_room, put_kept, put_keys, tidy
from sparkrex.modes.workload.kernels.links import LAST, SINGLE


def drawn_instances(random: np.random.Generator, rows: DrawnRows, n: int) -> list[Instance]:
    """Of two slots, the second of a Kleene, by their last row."""
    found = []
    for _ in range(n):
        values = (drawn_slot(random, rows, is_kleene=False), drawn_slot(random, rows, is_kleene=True))
        events = [values[0], *rows.events(values[1], is_kleene=True)]
        found.append((min(events), max(events), values))
    return sorted(found, key=lambda one: one[1])


def test_what_is_there_moves_with_its_room() -> None:
    rows = drawn_rows(1)
    instances = drawn_instances(np.random.default_rng(1), rows, 5)
    built = Built(rows, [NodeParts({}, 2, [(0, 1, SINGLE)], instances)], room=400)
    pool, columns, arenas, _, _, _ = built.store
    keys = built.column(0, 4)
    assert make_room.py_func(0, 0, pool, columns, arenas, built.at)
    assert arenas[0, codes.ROOM] == 5
    assert make_room.py_func(0, 1, pool, columns, arenas, built.at)
    assert arenas[0, codes.ROOM] >= 6
    assert (built.instances(0), built.column(0, 4)) == (instances, keys)
    used = int(built.at[codes.USED])
    assert not make_room.py_func(0, 1000, pool, columns, arenas, built.at)
    assert (built.instances(0), int(built.at[codes.USED])) == (instances, used)


def test_instances_of_earlier_feeds_come_in_their_turn() -> None:
    rows = drawn_rows(2, 20)
    kept = drawn_instances(np.random.default_rng(2), rows, 9)
    built = Built(rows, [NodeParts({}, 2, [], [], kept)])
    pool, columns, arenas, _, _, before = built.store
    for limit in (0, 3, 3, 11, 20):
        assert put_kept.py_func(0, limit, built.plan.nodes, pool, columns, arenas, before, built.at)
        assert built.instances(0) == [one for one in kept if one[1] < limit]
    short = Built(rows, [NodeParts({}, 2, [], [], kept)], room=3)
    pool, columns, arenas, _, _, before = short.store
    assert not put_kept.py_func(0, 20, short.plan.nodes, pool, columns, arenas, before, short.at)
    assert short.instances(0) == []
    short.widen()
    short.widen()
    short.widen()
    pool = short.store.pool
    assert put_kept.py_func(0, 20, short.plan.nodes, pool, columns, arenas, before, short.at)
    assert short.instances(0) == kept


def test_new_instances_get_their_keys() -> None:
    for seed in range(5):
        rows = drawn_rows(seed, 12)
        node = NodeParts({}, 2, [(0, 1, SINGLE), (1, 2, LAST)], drawn_instances(np.random.default_rng(seed), rows, 6))
        built = Built(rows, [node])
        pool, columns, arenas, _, _, _ = built.store
        expected = lines_of(node, rows)[4:].tolist()
        for column in (4, 5):
            pool[columns[0, column] : columns[0, column] + 6] = 99
        arenas[0, codes.N_OLD] = 2
        cells = rows.columns()
        put_keys.py_func(0, built.plan.nodes, built.plan.keys, pool, columns, arenas, rows.rank, cells.row, cells.first)
        assert [built.column(0, 4), built.column(0, 5)] == [[99, 99, *line[2:]] for line in expected]


def test_what_no_row_to_come_can_complete_is_thrown_away() -> None:
    """Partitions end at rows 7 and 20; the second goes on behind row 14."""
    offsets, n = np.array([0, 7, 20]), 20
    for seed in range(20):
        random, rows = np.random.default_rng(seed), drawn_rows(seed, n)
        instances = [one for one in drawn_instances(random, rows, 40) if (one[0] < 7) == (one[1] < 7) and one[1] < 15]
        built = Built(rows, [NodeParts({codes.KEEPS: 1}, 2, [(0, 0, SINGLE)], instances)])
        pool, columns, arenas, _, _, _ = built.store
        keys = built.column(0, 4)
        window_first, open_from = np.full((1, n), 10), np.array([[int(random.integers(0, 8)), 3]])
        few = int(random.integers(0, 2 * len(instances) + 2))
        arguments = (0, 15, few, built.plan.nodes, pool, columns, arenas, window_first, offsets, open_from)
        tidy.py_func(*arguments)
        alive = [low >= (open_from[0, 0] if high < 7 else 10) for low, high, _ in instances]
        if len(instances) <= few:
            alive = [True] * len(instances)
        assert built.instances(0) == [one for one, is_alive in zip(instances, alive, strict=True) if is_alive]
        assert built.column(0, 4) == [key for key, is_alive in zip(keys, alive, strict=True) if is_alive]
        assert arenas[0, codes.N_OLD] == arenas[0, codes.N] == sum(alive)
        assert arenas[0, codes.EPOCH] == (0 if all(alive) else 1)


def test_what_nobody_reads_is_thrown_away() -> None:
    rows = drawn_rows(3, 20)
    built = Built(rows, [NodeParts({codes.KEEPS: 0}, 2, [], drawn_instances(np.random.default_rng(3), rows, 5))])
    pool, columns, arenas, _, _, _ = built.store
    nothing = np.zeros((1, 20), np.int64)
    tidy.py_func(0, 9, 100, built.plan.nodes, pool, columns, arenas, nothing, np.array([0, 20]), nothing)
    assert arenas[0, codes.N] == arenas[0, codes.N_OLD] == 0
