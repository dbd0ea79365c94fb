"""Random streams, the finality oracle and tests by hand catch every seeded fault of streams.

Without a fault they find nothing, which their own tests show.
"""

from __future__ import annotations

import random
from functools import cache, partial
from typing import TYPE_CHECKING

import pytest
from tests.differential.relations import one_database
from tests.faults.stream_faults import STREAM_FAULTS, StreamFault
from tests.streams import test_finality, test_head, test_state
from tests.streams.changing import changing_of, problem_of
from tests.streams.comparing import compare
from tests.streams.examples import Example, example_of
from tests.streams.finality import case_of, timings, too_early, too_late

from sparkrex.errors import RexError

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 20261118
MOST_EXAMPLES = 120
MOST_CASES = 40
BY_HAND: dict[str, Callable[[], None]] = {
    "forgotten": partial(test_state.test_once_all_windows_have_passed_nothing_is_kept, "a row pattern"),
    "forgotten events": partial(test_state.test_once_all_windows_have_passed_nothing_is_kept, "events"),
    "slots are due": test_state.test_every_slot_is_due_at_its_own_time,
    "shards": test_state.test_a_batch_reads_and_writes_the_shards_of_its_keys,
    "silent parts": test_state.test_parts_of_silent_keys_are_there_once_and_no_longer_than_they_are_needed,
    "time alone": partial(
        test_finality.test_time_alone_ends_a_greedy_match,
        test_finality.row_query("A+", "A AS a", within="WITHIN INTERVAL '2' SECOND"),
    ),
    "months": partial(
        test_finality.test_months_are_as_long_as_they_are,
        test_finality.row_query("A B*", "A AS a, B AS b", within="WITHIN INTERVAL '1' MONTH"),
    ),
    "has to come, changed": partial(
        test_finality.test_a_match_is_lost_with_a_variable_that_has_to_come,
        "A+ B C", "C AS c AND ts - LAST(A.ts) <= INTERVAL '5' SECOND", "a", [None], "backtrack",
    ),
    "has to come, first": partial(
        test_finality.test_a_match_is_lost_with_a_variable_that_has_to_come,
        "A B+ C", "C AS c AND ts - FIRST(B.ts) <= INTERVAL '5' SECOND", "a", [None], "backtrack",
    ),
    "has to come, fork": partial(
        test_finality.test_a_match_is_lost_with_a_variable_that_has_to_come,
        "A B C?", "C AS c AND ts - A.ts <= INTERVAL '5' SECOND", "a", [None], "backtrack",
    ),
    "absence": partial(
        test_finality.test_matches_that_wait_for_an_absence_do_not_wait_for_each_other, "SEQ(A a, B b, ~(C c))",
    ),
    "a start overtakes": test_finality.test_a_start_overtakes_an_undecided_one_under_skip_to_next_row,
    "numbers keep the order": test_finality.test_match_numbers_keep_the_order_of_starts,
    "unmatched": test_finality.test_unmatched_rows_know_of_matches_that_overtook,
    "NEXT": test_finality.test_a_match_waits_for_the_rows_that_its_own_next_reads,
    "ties": test_head.test_ties_are_in_an_order_that_does_not_depend_on_arrival,
    "another query": test_head.test_the_state_of_another_query_is_refused,
    "another format": test_head.test_the_state_of_another_format_is_refused,
    "a watermark goes back": test_head.test_a_watermark_never_goes_back,
}

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@cache
def drawn(mode: str, number: int) -> Example:
    """The same examples for every fault."""
    return example_of(mode, SEED, number)


@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.name.replace(" ", "-")) for fault in STREAM_FAULTS])
def test_stream_fault_is_caught(fault: StreamFault, record_property: Callable[[str, object], None]) -> None:
    with one_database():
        caught = first_difference(fault)
    assert caught is not None, f"not caught: {fault.name}"
    record_property("caught", f"{fault.name}: {' '.join(caught.split())[:200]}")


def first_difference(fault: StreamFault) -> str | None:
    """The first thing that shows a fault, and how."""
    if fault.shown_by in BY_HAND:
        return told(fault, partial(passed, BY_HAND[fault.shown_by]))
    kind, mode = fault.shown_by.split(" ")
    find = {"streams": stream_problem, "finality": finality_problem, "changing": changing_problem}[kind]
    for number in range(MOST_CASES if kind == "finality" else MOST_EXAMPLES):
        problem = told(fault, partial(find, mode, number))
        if problem is not None:
            return f"{fault.shown_by} {number + 1}, {problem}"
    return None


def passed(test: Callable[[], None]) -> None:
    """A test by hand has no more to say than that it fails."""
    test()


def stream_problem(mode: str, number: int) -> str | None:
    return compare(drawn(mode, number)).problem


def finality_problem(mode: str, number: int) -> str | None:
    """A row that comes too early, or too late."""
    case = case_of(mode, SEED, number)
    found = timings(case, random.Random(number))
    wrong = too_early(found) or too_late(found)
    return repr(wrong[0]) if wrong else None


def changing_problem(_: str, number: int) -> str | None:
    """A stream that goes on with other patterns."""
    return problem_of(changing_of(SEED, number))


def told(fault: StreamFault, compared: Callable[[], str | None]) -> str | None:
    """What a comparison finds under a fault; one that fails, or ends in an error for the user, has found it too."""
    with fault.inject():
        try:
            return compared()
        except (AssertionError, RexError, pytest.fail.Exception) as error:
            return f"{error.__class__.__name__}: {error}"
