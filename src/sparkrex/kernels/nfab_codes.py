"""Numbers that the kernels of event queries share with each other and with their callers."""

from __future__ import annotations

# Strategies of selection.
CONTIGUITY, NEXT, ANY = range(3)

# How a search, or a part of it, ended.
DONE, OVERFLOW, DIVISION_BY_ZERO, TOO_MANY_RUNS, TOO_MANY_NODES, TOO_MANY_MATCHES, NEEDS_ROOM, ENDED = range(8)

# Fields of a run.
STATE, NODE, START, LAST, RECORD = range(5)

# Statistics.
RUN_STEPS, EDGE_TESTS, MERGES, NODES, MATCH_ENDS, MOST_RUNS, BACK_STEPS = range(7)
N_STATISTICS = 7
