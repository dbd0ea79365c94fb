"""Numbers that the kernels of workloads and their callers share: kinds, and the fields of tables."""

from __future__ import annotations

LEAF, KLEENE, JOIN = 0, 1, 2
"""Kinds of nodes."""
ALL, BY_COMPARISON, BY_HASH = 0, 1, 2
"""How a join looks through the other side: all of it, by one comparison first, or by what is equal in one."""
UNORDERED, LEFT_FIRST, RIGHT_FIRST = 0, 1, 2
"""Whether all events of one side come before all of the other."""

(
    KIND, N_SLOTS, WINDOW, KEEPS, HAS_FORMULAS, KEYS_BEGIN, KEYS_END, ROOTS_BEGIN, ROOTS_END, LEFT, RIGHT, LEFT_ENDS,
    RIGHT_ENDS, ORDER, WAY, OPERATOR, LEFT_KEY, RIGHT_KEY, LINKS_BEGIN, LINKS_END,
) = range(20)
"""Fields of a node. `KEEPS` if its instances are needed again, by joins or by a Kleene itself; `LEFT_ENDS` if the last
event can be one of the left; `LEFT_KEY` is the column of the left child with the keys of the comparison that is looked
at first."""
N_NODE_FIELDS = 20

SLOT, KEY_LINE, KEY_RANK, READS = range(4)
"""Fields of a column of keys: of which slot, where its line begins, how it is ranked, which event of an array."""
N_KEY_FIELDS = 4

ROOT_WINDOW, N_ITEMS, ITEMS_BEGIN = range(3)
"""Fields of a root: its window, and where the slots of its items stand."""
N_ROOT_FIELDS = 3

N, N_OLD, ROOM, N_KEPT, EPOCH, WIDTH = range(6)
"""Fields of an arena: how many instances, the first new one, room, how many were left when it was last tidied up, how
often that was, and how many columns it has."""
N_ARENA_FIELDS = 6
LOW, HIGH, VALUES = 0, 1, 2
"""Columns of an arena: first row, last row, values of slots; then keys."""

HEAD, SIDE_EPOCH, N_IN, SIZE, INDEX = range(5)
"""Fields of a side of a join: the first instance that a window may still reach, the epoch of the child in which that
was true, how many instances are in the index, its size (0: there is none), and where it begins."""
N_SIDE_FIELDS = 5

ARRAY_ROWS, ARRAY_FIRST, ARRAY_FLAGS, N_ARRAY_ROWS, NEXT_ROW = range(5)
"""Fields of a Kleene: where its rows, the first rows of their windows and their flags stand, how many, the next."""
N_KLEENE_FIELDS = 5
BEGINS, CONTINUES = 1, 2
"""Flags of a row of a Kleene: it may be the first event of an array, or a later one."""

KEPT_AT, N_KEPT_BEFORE, NEXT_KEPT = range(3)
"""Fields of what a node had before: where it stands, how many, the next."""
N_KEPT_FIELDS = 3

(
    NODE, BLOCK, BLOCK_END, IS_MADE, IS_INSIDE, LEFT_AT, RIGHT_AT, USED, N_CELLS, N_LOOKS, N_MADE, N_OUT, GIVEN_UP,
    FEW,
) = range(14)
"""Where a search is: node, block of rows, whether the node's new instances are made, whether in a join and where there;
how much of the pool is used, how many cells; pairs looked at, instances made, complete ones that nobody took yet; and
whether it was given up. Arenas of at most FEW instances are not worth tidying up."""
N_AT = 14

DONE, NEEDS_POOL, NEEDS_CELLS, FORMULAS, DRAIN, STOPPED = range(6)
"""Why a search returns: it is done; it needs more room; the host has to look at new instances; many complete ones wait
to be taken; it was given up."""
