"""Numbers that the kernels of event queries share with each other and with their callers."""

from __future__ import annotations

# Strategies of selection.
CONTIGUITY, NEXT, ANY = range(3)

# How a search, or a part of it, ended.
(
    DONE, OVERFLOW, DIVISION_BY_ZERO, TOO_MANY_RUNS, TOO_MANY_NODES, TOO_MANY_MATCHES, NEEDS_ROOM, TOO_MANY_STEPS,
    STOPPED,
) = range(9)

# Fields of a run; LABEL is the variable of its first event. AWAITS is there only where runs are looked up by it
# (`lookup`).
STATE, NODE, START, LAST, RECORD, LABEL, AWAITS = range(7)
N_FIELDS = 6

# Where a search is (`nfab.advance`).
(
    ROW, N_RUNS, SIDE, N_NODES, N_KEPT_NODES, N_ENDS, N_FREE, N_RECORDS, N_LEFT, WHERE, PARTITION, IS_INSIDE, BLOCKED,
) = range(13)
N_PLACES = 13

# On which side of a negated component a variable's events stand. In AND they are around it: it is looked for between
# the first and the last event of a match, whatever their variables.
BEHIND, BEFORE, AROUND = range(3)

# What becomes of matches that a negated component may forbid.
KEPT, REFUSED, UNDECIDED = range(3)

# A budget: steps at one event, or from one start, so far; the most there may be; not zero when the caller has given up.
STEPS, MOST_STEPS, GIVEN_UP = range(3)

# Statistics.
RUN_STEPS, EDGE_TESTS, MERGES, NODES, MATCH_ENDS, MOST_RUNS, BACK_STEPS = range(7)
N_STATISTICS = 7
