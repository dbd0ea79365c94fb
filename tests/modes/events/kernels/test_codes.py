"""Numbers that kernels of event queries share: in each group every name has a number of its own."""

from __future__ import annotations

import pytest

from sparkrex.modes.events.kernels import codes

GROUPS = [
    ("CONTIGUITY", "NEXT", "ANY"),
    ("DONE", "OVERFLOW", "DIVISION_BY_ZERO", "TOO_MANY_RUNS", "TOO_MANY_NODES", "TOO_MANY_MATCHES", "NEEDS_ROOM",
     "TOO_MANY_STEPS", "STOPPED"),
    ("STATE", "NODE", "START", "LAST", "RECORD", "LABEL", "AWAITS"),
    ("ROW", "N_RUNS", "SIDE", "N_NODES", "N_KEPT_NODES", "N_ENDS", "N_FREE", "N_RECORDS", "N_LEFT", "WHERE",
     "PARTITION", "IS_INSIDE", "BLOCKED"),
    ("BEHIND", "BEFORE", "AROUND"),
    ("KEPT", "REFUSED", "UNDECIDED"),
    ("STEPS", "MOST_STEPS", "GIVEN_UP"),
    ("RUN_STEPS", "EDGE_TESTS", "MERGES", "NODES", "MATCH_ENDS", "MOST_RUNS", "BACK_STEPS"),
]


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_numbers_of_a_group_are_places_from_zero_on(names: tuple[str, ...]) -> None:
    assert [getattr(codes, name) for name in names] == list(range(len(names)))


def test_every_name_is_in_a_group() -> None:
    listed = {name for group in GROUPS for name in group}
    assert {name for name in vars(codes) if name.isupper()} - listed == {"N_FIELDS", "N_PLACES", "N_STATISTICS"}


def test_fields_places_and_statistics_are_counted() -> None:
    # AWAITS is there only where runs are looked up by it.
    assert codes.N_FIELDS == codes.AWAITS == len(GROUPS[2]) - 1
    assert len(GROUPS[3]) == codes.N_PLACES
    assert len(GROUPS[7]) == codes.N_STATISTICS
