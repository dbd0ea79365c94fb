"""NFAb execution with all runs at once (paper, 5.2.1), merging those that are equivalent (`kernels.merge`).

A run is a state, the node of its last event in the shared buffer (`kernels.matches`), its youngest first row, its
last row, and a record: the values that later conditions read (`kernels.path`), the paper's vector V. At every event
each run tests the edges of its state; each that holds makes a child that selected the event, and the strategy says
whether the run itself stays. A partition begins with the runs that wait in it, and leaves those that may still go on.

`advance` allocates nothing: where room is short it goes back to its caller, who makes some and calls it again. Counting
the references of all arrays in the loop over the rows would cost more than the loop, and code that makes arrays takes
long to compile. Ends of matches are collected; the matches are written out in between (`matches.write`). Where no
run waits, rows that cannot start one are passed over.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.inlined import inlined, shared
from sparkrex.kernels.lazy import njit
from sparkrex.modes.events.kernels.absence import condition_holds, end_verdict, gaps_verdict, holds_for, status_of
from sparkrex.modes.events.kernels.arguments import Bounds, Compared, Counts, Run, Step
from sparkrex.modes.events.kernels.codes import (
    ANY,
    AWAITS,
    BLOCKED,
    CONTIGUITY,
    DONE,
    EDGE_TESTS,
    GIVEN_UP,
    IS_INSIDE,
    KEPT,
    LABEL,
    LAST,
    MATCH_ENDS,
    MOST_RUNS,
    N_ENDS,
    N_FIELDS,
    N_FREE,
    N_KEPT_NODES,
    N_LEFT,
    N_NODES,
    N_RECORDS,
    N_RUNS,
    NEEDS_ROOM,
    NEXT,
    NODE,
    NODES,
    PARTITION,
    RECORD,
    REFUSED,
    ROW,
    RUN_STEPS,
    SIDE,
    START,
    STATE,
    STEPS,
    STOPPED,
    UNDECIDED,
    WHERE,
)
from sparkrex.modes.events.kernels.lookup import UNKNOWN, awaited_key, bit_of, look_up, put_back
from sparkrex.modes.events.kernels.matches import UNION, select
from sparkrex.modes.events.kernels.merge import is_better, merge


@njit(cache=True, nogil=True, _nrt=False)
def compact(moved, roots, nodes, n_nodes, bounds):
    """Throw away the nodes that no root reaches inside the window, in place. Gives how many are left.

    Parameters
    ----------
    moved : -1 for each node
    roots : nodes of runs and of ends that wait; they are numbered anew
    bounds : by row, the first row of its partition that the window of a match to come may reach; empty: all may
    """
    node_row, node_label, node_before, node_other, node_youngest = nodes
    is_bounded = bounds.shape[0] > 0
    for r in range(roots.shape[0]):
        moved[roots[r]] = 0
    for n in range(n_nodes - 1, -1, -1):
        if moved[n] < 0:
            continue
        bound = bounds[node_row[n]] if is_bounded else np.int64(0)
        before = node_before[n]
        if before >= 0 and node_youngest[before] >= bound:
            moved[before] = 0
        if node_label[n] == UNION:
            other = node_other[n]
            if other >= 0 and node_youngest[other] >= bound:
                moved[other] = 0
    n_left = 0
    for n in range(n_nodes):
        if moved[n] < 0:
            continue
        moved[n] = n_left
        node_row[n_left], node_label[n_left] = node_row[n], node_label[n]
        node_youngest[n_left] = node_youngest[n]
        before = node_before[n]
        node_before[n_left] = moved[before] if before >= 0 else -1
        other = node_other[n]
        if node_label[n] == UNION:
            other = moved[other] if other >= 0 else np.int64(-1)
        node_other[n_left] = other
        n_left += 1
    for r in range(roots.shape[0]):
        roots[r] = moved[roots[r]]
    return n_left


@inlined
def _enter(at, partitions, work, lookup, keeps_buffer):
    """Begin a partition with the runs that wait in it."""
    partition = at[PARTITION]
    runs, ints, floats = work.runs, work.records.ints, work.records.floats
    begin = partitions.run_offsets[partition]
    n_runs = partitions.run_offsets[partition + 1] - begin
    side = at[SIDE]
    for r in range(n_runs):
        for f in range(N_FIELDS):
            runs[side, f, r] = partitions.runs[f, begin + r]
        if lookup is not None:
            runs[side, AWAITS, r] = UNKNOWN  # until it is tested
        runs[side, RECORD, r] = r + 1
        for s in range(ints.shape[1]):
            ints[r + 1, s] = partitions.record_ints[begin + r + 1, s]
        for s in range(floats.shape[1]):
            floats[r + 1, s] = partitions.record_floats[begin + r + 1, s]
    at[ROW], at[BLOCKED] = partitions.unseen[partition], partitions.blocked[partition]
    at[N_RUNS], at[N_FREE], at[N_RECORDS] = n_runs, 0, n_runs + 1
    if at[N_ENDS] == 0 and not keeps_buffer:
        at[N_NODES] = at[N_KEPT_NODES]
    at[IS_INSIDE] = 1


@inlined
def _leave(at, partitions, work):
    """Put the runs that rows to come may extend aside; false if there is no room for them."""
    partition, side, n_runs, n_left = at[PARTITION], at[SIDE], at[N_RUNS], at[N_LEFT]
    runs, left = work.runs, work.left
    open_from = partitions.open_from[partition]
    if open_from < partitions.high[partition] and n_runs > 0:
        if n_left + n_runs > left.shape[1]:
            return False
        for r in range(n_runs):
            if runs[side, START, r] >= open_from:
                for f in range(N_FIELDS):
                    left[f, n_left] = runs[side, f, r]
                left[RECORD, n_left] = partition  # records are of one feed
                n_left += 1
        if n_left > at[N_LEFT]:
            at[N_LEFT], at[N_KEPT_NODES] = n_left, at[N_NODES]
    partitions.blocked[partition] = at[BLOCKED]
    at[PARTITION], at[IS_INSIDE] = partition + 1, 0
    return True


@inlined
def _has_room(at, most_edges, has_record, work):
    """Whether there is room for all that a row may bring."""
    most_new = at[N_RUNS] * (most_edges + 1) + most_edges
    return (
        most_new <= work.runs.shape[2] and at[N_NODES] + 2 * most_new <= work.nodes.row.shape[0]
        and at[N_ENDS] + most_new <= work.ends.node.shape[0] and 2 * most_new <= work.table.shape[0]
        and (has_record == 0 or at[N_RECORDS] + most_new <= work.records.ints.shape[0])
    )


@inlined
def _add_node(n_nodes, row, label, before, start, nodes, keeps_best):
    """An event that a run has selected."""
    nodes.row[n_nodes] = row
    nodes.label[n_nodes] = label
    nodes.before[n_nodes] = before
    nodes.other[n_nodes] = -1
    if keeps_best:
        nodes.other[n_nodes] = nodes.other[before] + 1 if before >= 0 else 1
    nodes.youngest[n_nodes] = start


@shared
def end_of(accepts, variable, last, run, bounds, values, absences, ties, records, budget):
    """Whether a match ends with a run that has just selected its last event, if it meets a condition (-1: none): KEPT,
    REFUSED, UNDECIDED, or negative. `last` is the row of the event before."""
    found = np.int64(holds_for(accepts, run.last, run.record, bounds, values, records))
    if found <= 0:
        return found if found < 0 else np.int64(REFUSED)
    begin, end = absences.end_offsets[run.state], absences.end_offsets[run.state + 1]
    if begin < end:
        found = np.int64(gaps_verdict((absences.asked_at_end, begin, end), last, run.last, run.record, bounds, absences,
                                      ties, values, records, budget))
        if found != 0:
            return found if found < 0 else np.int64(REFUSED)
    if absences.at_end.shape[0] > 0:
        return np.int64(end_verdict(run.last, (run.label, variable), run.record, bounds, absences, ties, values,
                                    records, budget))
    return np.int64(KEPT)


@inlined
def _keep_best(begin, end, ends, nodes):
    """Of the ends of one row, none of which shares histories, leave the best match's."""
    best = begin
    for e in range(begin + 1, end):
        order = nodes.youngest[ends.node[e]] - nodes.youngest[ends.node[best]]
        if order < 0 or (order == 0 and is_better(ends.node[e], ends.node[best], nodes)):
            best = e
    ends.node[begin] = ends.node[best]


@inlined
def _run_at(runs, side, number):
    return Run(runs[side, STATE, number], runs[side, NODE, number], runs[side, START, number],
               runs[side, LAST, number], runs[side, RECORD, number], runs[side, LABEL, number])


@inlined
def _give_back(record, counts, free, step):
    """No run has this record any more."""
    free[counts.free] = record
    return Counts(counts.runs, counts.nodes, counts.ends, counts.free + step.has_record, counts.records, counts.changed,
                  counts.bits)


@inlined
def _take_record(counts, free, step):
    """A record for a run that begins: one that was given back, or a new one."""
    if step.has_record == 0:
        return np.int64(0), counts
    if counts.free > 0:
        return free[counts.free - 1], Counts(counts.runs, counts.nodes, counts.ends, counts.free - 1, counts.records,
                                             counts.changed, counts.bits)
    return counts.records, Counts(counts.runs, counts.nodes, counts.ends, counts.free, counts.records + 1,
                                  counts.changed, counts.bits)


@inlined
def _stay(number, from_side, step, counts, runs, lookup):
    """A run that the row leaves as it is."""
    for f in range(N_FIELDS):
        runs[step.side, f, counts.runs] = runs[from_side, f, number]
    if lookup is not None:
        runs[step.side, AWAITS, counts.runs] = runs[from_side, AWAITS, number]
    return Counts(counts.runs + 1, counts.nodes, counts.ends, counts.free, counts.records, counts.changed, counts.bits)


@inlined
def _add_end(step, is_open, counts, ends):
    """Matches end in the last node."""
    ends.node[counts.ends], ends.row[counts.ends], ends.first[counts.ends] = counts.nodes - 1, step.row, step.bound
    ends.is_open[counts.ends] = is_open
    return Counts(counts.runs, counts.nodes, counts.ends + 1, counts.free, counts.records, counts.changed, counts.bits)


@inlined
def _add_run(run, step, counts, runs, lookup, cells, record_ints):
    """A run that has selected the row."""
    runs[step.side, STATE, counts.runs], runs[step.side, NODE, counts.runs] = run.state, run.node
    runs[step.side, START, counts.runs], runs[step.side, LAST, counts.runs] = run.start, run.last
    runs[step.side, RECORD, counts.runs], runs[step.side, LABEL, counts.runs] = run.record, run.label
    bits = counts.bits
    if lookup is not None:
        awaits = awaited_key(run.state, run.record, lookup, cells, record_ints)
        runs[step.side, AWAITS, counts.runs] = awaits
        bits |= bit_of(run.state, awaits)
    return Counts(counts.runs + 1, counts.nodes, counts.ends, counts.free, counts.records, counts.changed + 1, bits)


@inlined
def _follow(edge, run, step, bounds, counts, work, plan, absences, lookup, budget, statistics):
    """What becomes of a run that selects the row by an edge: a node, an end of matches, a run that goes on.

    Gives the counts, and 0 or the error of a test.
    """
    runs, free, nodes, ends, records = work.runs, work.free, work.nodes, work.ends, work.records
    edge_offsets, edge_target, _, _, _, state_variable, accept_condition = plan.automaton
    values, ties, keeps_best = plan.values, plan.events.ties, plan.apart.keeps_best
    cells, row, bitmap_of, bitmaps = values.cells, step.row, values.tests.bitmap_of, values.tests.bitmaps
    target = edge_target[edge]
    variable = state_variable[target]
    child, counts = _take_record(counts, free, step)
    if step.has_record != 0 and not select(run.record, child, variable, row, values.path, cells.columns, records):
        return counts, np.int64(-1)
    # The event is selected, as if negated components were not there; then the run may be refused.
    if absences is not None:
        begin, end = absences.ask_offsets[edge], absences.ask_offsets[edge + 1]
        if begin < end:
            found = np.int64(gaps_verdict((absences.asked, begin, end), run.last, row, child, bounds, absences, ties,
                                          values, records, budget))
            if found != 0:
                return _give_back(child, counts, free, step), min(found, np.int64(0))
    label = run.label if run.state != 0 else variable
    _add_node(counts.nodes, row, variable, run.node, run.start, nodes, keeps_best)
    counts = Counts(counts.runs, counts.nodes + 1, counts.ends, counts.free, counts.records, counts.changed,
                    counts.bits)
    grown = Run(target, counts.nodes - 1, run.start, row, child, label)
    accepts = accept_condition[target]
    verdict = np.int64(REFUSED if accepts == -2 else KEPT)
    if accepts >= 0 and bitmap_of[accepts] >= 0 and bitmaps[bitmap_of[accepts], row] == 0:
        verdict = np.int64(REFUSED)
    if absences is not None:  # noqa: SIM102  # a branch that is dropped whole
        if verdict == KEPT:
            verdict = end_of(accepts, variable, run.last, grown, bounds, values, absences, ties, records, budget)
    if verdict < 0:
        return counts, verdict
    if verdict != REFUSED:
        statistics[MATCH_ENDS] += 1
        counts = _add_end(step, verdict == UNDECIDED, counts, ends)
    if edge_offsets[target] < edge_offsets[target + 1]:
        return _add_run(grown, step, counts, runs, lookup, cells, records.ints), np.int64(0)
    return _give_back(child, counts, free, step), np.int64(0)


@inlined
def _feed_row(at, step, starts, bounds, counts, work, plan, absences, lookup, budget, statistics):
    """Offer the row to all runs, or those that are looked up, and to one that would begin with it.

    `bounds` are those of the partition. Gives the counts, how many runs were asked, and how many of those that were not
    the window has left; or an error.
    """
    edge_offsets, _, edge_condition, edge_is_take, state_has_take, _, _ = plan.automaton
    ties, strategy, values, cells = plan.events.ties, plan.options.strategy, plan.values, plan.values.cells
    side, runs, free, records, record_ints = at[SIDE], work.runs, work.free, work.records, work.records.ints
    n_asked, n_over = at[N_RUNS], np.int64(0)
    if lookup is not None:
        hits = lookup.hits
        n_asked, n_over = look_up(runs[side], n_asked, step.row, step.bound, lookup, plan.automaton, plan.values.tests,
                                  cells)
    # The last round is that of a run which has selected nothing: where the row may start one.
    for r in range(n_asked + 1):
        if lookup is not None:
            hits[1, r] = counts.runs
        number = np.int64(r)
        if r == n_asked:
            if not starts:
                break
            run = Run(np.int64(0), np.int64(-1), step.row, np.int64(-1), np.int64(0), np.int64(-1))
        else:
            if lookup is not None:
                number = hits[0, r]
            run = _run_at(runs, side, number)
            is_over = run.start < step.bound
            if not is_over:
                statistics[RUN_STEPS] += 1
                if ties.shape[0] > 0 and ties[run.last] == ties[step.row]:
                    is_over = strategy == CONTIGUITY
                    if not is_over:
                        counts = _stay(number, side, step, counts, runs, lookup)
                        continue
            if is_over:
                counts = _give_back(run.record, counts, free, step)
                continue
        own = Bounds(run.start, bounds.low, bounds.high, bounds.open_from)
        takes = False
        selects = False
        for edge in range(edge_offsets[run.state], edge_offsets[run.state + 1]):
            statistics[EDGE_TESTS] += 1
            error = np.int64(condition_holds(edge_condition[edge], step.row, run.record, own, values, records))
            if error > 0:
                selects = True
                takes = takes or edge_is_take[edge] != 0
                counts, error = _follow(edge, run, step, own, counts, work, plan, absences, lookup, budget, statistics)
            if error < 0:
                return counts, n_asked, n_over, error
        if run.state != 0:
            stays = strategy == ANY
            if strategy == NEXT:
                stays = not (takes if state_has_take[run.state] != 0 else selects)
            if stays:
                if lookup is not None:
                    runs[side, AWAITS, number] = awaited_key(run.state, run.record, lookup, cells, record_ints)
                counts = _stay(number, side, step, counts, runs, lookup)
            else:
                counts = _give_back(run.record, counts, free, step)
    return counts, n_asked, n_over, np.int64(0)


@njit(cache=True, nogil=True, _nrt=False)
def advance(at, partitions, work, plan, absences, lookup, budget, statistics):
    """Feed events on from where the search is: DONE, NEEDS_ROOM before a row or behind a partition, or an error.

    Parameters
    ----------
    at : int64, see `codes`: all are read and written; WHERE tells the row of an error, no run starts at a time tied
        with row BLOCKED (-1: none is), the first N_KEPT_NODES nodes are those of other partitions
    absences : None if nothing is negated and no condition to end reads the match, and then all that is for those is not
        even compiled
    lookup : None if all runs are tested at every row
    budget : see `codes`
    """
    window_first, ties, can_start = plan.events
    _, merges, only_first, keeps_buffer, _, most_edges = plan.options
    compared = Compared(plan.reads, plan.apart, ties, plan.values.cells)
    runs, free, nodes, ends = work.runs, work.free, work.nodes, work.ends
    has_record = np.int64(work.records.ints.shape[1] + work.records.floats.shape[1] > 0)
    n_partitions, n_sides = partitions.low.shape[0], 2
    if lookup is not None:
        n_sides = 3
    while at[PARTITION] < n_partitions:
        if at[IS_INSIDE] == 0:
            _enter(at, partitions, work, lookup, keeps_buffer)
        partition = at[PARTITION]
        high = partitions.high[partition]
        bounds = Bounds(np.int64(-1), partitions.low[partition], high, partitions.open_from[partition])
        row = at[ROW]
        while row < high:
            if at[N_RUNS] == 0:
                while row < high and can_start[row] == 0:
                    row += 1
                if row == high:
                    break
            if budget[GIVEN_UP] != 0:
                return STOPPED
            budget[STEPS] = 0
            at[ROW] = row
            if not _has_room(at, most_edges, has_record, work):
                return NEEDS_ROOM
            n_ends, blocked = at[N_ENDS], at[BLOCKED]
            step = Step(row, window_first[row], (at[SIDE] + 1) % n_sides, has_record)
            starts = can_start[row] != 0 and (blocked < 0 or ties.shape[0] == 0 or ties[row] != ties[blocked])
            counts = Counts(np.int64(0), at[N_NODES], n_ends, at[N_FREE], at[N_RECORDS], np.int64(0), np.uint64(0))
            counts, n_asked, n_over, error = _feed_row(at, step, starts, bounds, counts, work, plan, absences, lookup,
                                                       budget, statistics)
            if error < 0:
                at[WHERE] = row
                return status_of(error)
            at[N_NODES], at[N_ENDS], at[N_FREE], at[N_RECORDS] = counts.nodes, counts.ends, counts.free, counts.records
            if lookup is not None:
                put_back(at, n_asked, counts.runs, n_over, step.bound, lookup.hits, runs, free, has_record)
            else:
                at[SIDE], at[N_RUNS] = step.side, counts.runs
            if merges and counts.changed > 0 and at[N_RUNS] > 1:
                merge(at, row, step.bound, counts.bits, runs[at[SIDE]], work, compared, absences, lookup, statistics)
            statistics[NODES] = max(statistics[NODES], at[N_NODES])
            statistics[MOST_RUNS] = max(statistics[MOST_RUNS], at[N_RUNS])
            if only_first and at[N_ENDS] > n_ends:
                _keep_best(n_ends, at[N_ENDS], ends, nodes)
                at[N_ENDS], at[BLOCKED] = n_ends + 1, row
                at[N_RUNS], at[N_FREE], at[N_RECORDS] = 0, 0, 1
            row += 1
        at[ROW] = row
        if not _leave(at, partitions, work):
            return NEEDS_ROOM
    return DONE
