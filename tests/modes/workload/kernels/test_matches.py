"""Whole matches: rejected by negated components, and written out, against looking at every row."""

from __future__ import annotations

import numpy as np
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.workload.kernels.drawn import N_LINES, drawn_rows, drawn_slot, key_compares

from sparkrex.modes.workload.kernels.matches import N_CONDITION_FIELDS, reject, write_matches


@in_both_forms
def test_an_event_that_must_be_absent_rejects(form: str) -> None:
    n_rejected = np.zeros(2, np.int64)
    for seed in range(60):
        random, rows = np.random.default_rng(seed), drawn_rows(seed, 10)
        absent = np.flatnonzero(random.random(10) < 0.4)
        n_matches = 6
        after, before = random.integers(-1, 10, n_matches), random.integers(0, 11, n_matches)
        conditions = [
            (int(random.integers(0, 6)), int(random.integers(0, 2)), *random.integers(0, N_LINES, 2).tolist())
            for _ in range(int(random.integers(0, 3)))
        ]
        table = np.array(
            [[operator, item, line * 10, line % 2, own * 10, own % 2] for operator, item, line, own in conditions],
            np.int64,
        ).reshape(len(conditions), N_CONDITION_FIELDS)
        items = random.integers(0, 10, (2, n_matches))
        keep = random.random(n_matches) < 0.9
        expected = [
            bool(keep[match]) and not any(
                after[match] < row < before[match] and all(
                    key_compares(operator, rows.keys[line, items[item, match]], rows.keys[own, row])
                    for operator, item, line, own in conditions
                )
                for row in absent.tolist()
            )
            for match in range(n_matches)
        ]
        in_form(reject, form)(absent, after, before, table, items, rows.pool, rows.rank, keep)
        assert keep.tolist() == expected
        n_rejected += [len(expected) - sum(expected), sum(expected)]
    assert n_rejected.min() > 60


@in_both_forms
def test_matches_are_written_in_the_order_of_their_rows(form: str) -> None:
    for seed in range(30):
        random, rows = np.random.default_rng(seed), drawn_rows(seed, 30)
        n_items, n_matches = int(random.integers(1, 5)), int(random.integers(0, 5))
        is_kleene = random.random(n_items) < 0.4
        labels = random.permutation(n_items).astype(np.int16)
        values = np.array(
            [[drawn_slot(random, rows, is_kleene=bool(kleene)) for _ in range(n_matches)] for kleene in is_kleene],
            np.int64,
        ).reshape(n_items, n_matches)
        found, variables, offsets = in_form(write_matches, form)(values, is_kleene, labels, rows.columns())
        assert offsets[0] == 0
        assert len(offsets) == n_matches + 1
        for match in range(n_matches):
            cut = slice(offsets[match], offsets[match + 1])
            events = sorted(
                (row, item) for item in range(n_items)
                for row in rows.events(int(values[item, match]), is_kleene=bool(is_kleene[item]))
            )
            assert found[cut].tolist() == [row for row, _ in events]
            if len({row for row, _ in events}) == len(events):
                assert variables[cut].tolist() == [labels[item] for _, item in events]
