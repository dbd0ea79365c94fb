"""The random examples, without an engine: what they cover, that their texts can be trusted, and that they shrink."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests.modes.rows.property.draws import RandomDraw
from tests.modes.trends.building import asked, either, plus, seq
from tests.modes.trends.draws import Example, generate
from tests.modes.trends.names import adjacent_names, negated_names, positive_names
from tests.modes.trends.oracle import evaluate, find_results, partitions, windows
from tests.modes.trends.query import (
    ANY,
    CONTIGUOUS,
    NEXT,
    Absent,
    Either,
    Leaf,
    Pattern,
    Repeat,
    Seq,
    Window,
    absences,
    leaves,
)
from tests.modes.trends.reports import told
from tests.modes.trends.shrinking import is_valid, reduced
from tests.modes.trends.tally import LEAST_PERCENT, Tally
from tests.modes.trends.trends import Stream, is_removed
from tests.modes.trends.words import follows, is_prefix, is_word

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.trends.trends import Trend

SEED = 20190701
N_EXAMPLES = 300


def examples(n_examples: int = N_EXAMPLES) -> list[Example]:
    """The same ones in every run."""
    return [generate(RandomDraw(random.Random(SEED + number))) for number in range(n_examples)]


def test_examples_are_valid_queries() -> None:
    for example in examples():
        query = example.query
        assert all(map(is_valid, query.patterns)), example.text
        for pattern in query.patterns:
            names = [leaf.variable for leaf in leaves(pattern)]
            assert len(names) == len(set(names)), example.text
        assert {(pair.before, pair.after) for pair in query.adjacent} <= {*adjacent_names(query.patterns)}
        known = {**positive_names(query.patterns), **negated_names(query.patterns)}
        assert all(query.variables_of(name) == meant for name, meant in known.items()), example.text
        assert {local.name for local in query.local} <= {*known}
        if not query.has_strict_ties:
            for partition in partitions(query, example.rows):
                keys = [tuple(event.row[name] for name in (query.time, *query.tie_break)) for event in partition]
                assert len({*map(repr, keys)}) == len(keys)


def test_examples_cover_the_language(record_property: Callable[[str, object], None]) -> None:
    tally = Tally()
    for example in examples(N_EXAMPLES // 2):
        tally.add(example, evaluate(example.query, example.rows))
    record_property("coverage", f"trend queries, the draws alone: {tally.table()}")
    # Of so few, a kind may be rare, but not missing.
    assert [name for name, least in LEAST_PERCENT.items() if tally.percent(name) < least / 3] == []


# The oracle once more, by other ways to say the same.


def test_any_is_what_definition_2_4_builds() -> None:
    """Trends of parts put together, instead of sequences that are cut into parts."""
    n_compared = 0
    for example in examples():
        query = example.query
        if query.semantics != ANY or any(map(absences, query.patterns)) or query.adjacent:
            continue
        for partition in partitions(query, example.rows):
            for events in windows(query, partition).values():
                stream = Stream(query, [event for event in events if not is_removed(query, event.row)])
                for pattern in query.patterns:
                    built = {trend for trend in by_structure(stream, pattern) if trend}
                    assert stream.formed(pattern) == built, example.text
                    n_compared += bool(built)
    assert n_compared > 50


def by_structure(stream: Stream, pattern: Pattern) -> set[Trend]:
    """The trends of a pattern from those of its parts; with the empty one if it allows that."""
    match pattern:
        case Leaf(variable=variable):
            return {((event, variable),) for event in stream.events if variable in stream.fitting[event]}
        case Either(options=options):
            return {trend for option in options for trend in by_structure(stream, option)}
        case Seq(items=items):
            found: set[Trend] = {()}
            for item in items:
                found = joined(found, by_structure(stream, item))
            return found
        case Repeat(body=body, least=least, most=most):
            one = by_structure(stream, body)
            found = {()}
            for _ in range(least):
                found = joined(found, one)
            n_times = least
            while most is None or n_times < most:
                more = found | joined(found, one)
                if more == found:
                    break
                found, n_times = more, n_times + 1
            return found
        case Absent():
            raise AssertionError("not asked about negation")


def joined(before: set[Trend], after: set[Trend]) -> set[Trend]:
    """Every one before every later one."""
    return {
        (*one, *other) for one in before for other in after
        if not one or not other or one[-1][0].moment < other[0][0].moment
    }


def test_each_semantics_leaves_out_more() -> None:
    """Contiguous trends are trends under next, and those are trends under any; if nothing is negated."""
    n_less = 0
    for example in examples():
        if len(example.query.patterns) > 1 or absences(example.query.patterns[0]):
            continue
        found = [written(semantics, example) for semantics in (CONTIGUOUS, NEXT, ANY)]
        assert found[0] <= found[1] <= found[2], example.text
        n_less += len(found[0]) < len(found[1]) < len(found[2])
    assert n_less > 20


def written(semantics: str, example: Example) -> set[tuple[Any, ...]]:
    """All trends, in a form that two runs can be compared by."""
    query = replace(example.query, semantics=semantics)
    return {
        (*key, *((id(event.row), variable) for event, variable in trend))
        for key, result in find_results(query, example.rows).items() for trend in result.trends
    }


def test_follows_is_what_words_say() -> None:
    for example in examples(100):
        for pattern in example.query.patterns:
            names = [leaf.variable for leaf in leaves(pattern)]
            if len(names) > 3 or absences(pattern):
                continue
            words: list[tuple[str, ...]] = [()]
            for _ in range(6):
                words += [(*word, name) for word in words for name in names if is_prefix(pattern, (*word, name))]
                words = list(dict.fromkeys(words))
            pairs = {pair for word in words for pair in pairwise(word)}
            assert pairs == follows(pattern)


# Texts and reports.


def test_plain_text() -> None:
    pattern = seq("A u+", either("B", seq("C v", "D*")), "~C w", plus(seq("A p", "B q?")))
    query = asked(pattern, NEXT, "u.x < NEXT(v).x", "p.x > 3", equivalent=("k",), least_length=2, window=Window(10, 5))
    assert Example(query, []).text.splitlines() == [
        "RETURN COUNT(*) AS c0",
        "PATTERN SEQ(A u+, (B | SEQ(C v, D*)), ~C w, SEQ(A p, B q?)+)",
        "SEMANTICS skip-till-next-match",
        "WHERE [k] AND p.x > 3 AND u.x < NEXT(v).x AND length >= 2",
        "WITHIN 10 SLIDE 5",
    ]


def test_a_difference_becomes_small() -> None:
    """As if an engine did not know negation: what remains is one negated part and few events."""

    def differs(example: Example) -> bool:
        n_absent = sum(len(absences(pattern)) for pattern in example.query.patterns)
        return n_absent > 0 and bool(evaluate(example.query, example.rows))

    example = next(one for one in examples() if len(one.rows) > 6 and differs(one) and one.query.window is not None)
    small = reduced(example, differs)
    assert len(small.rows) == 1
    assert small.query.window is None
    assert len(leaves(small.query.patterns[0])) == 2
    report = told(small, evaluate(small.query, small.rows), "nothing")
    assert report.startswith("RETURN ")
    assert len(report.splitlines()) < 12


def test_is_word_and_is_prefix() -> None:
    pattern = seq("A+", either("B", seq("C", "D")))
    assert is_word(pattern, ("A", "A", "B"))
    assert not is_word(pattern, ("A", "C"))
    assert is_prefix(pattern, ("A", "C"))
    assert not is_prefix(pattern, ("B",))
