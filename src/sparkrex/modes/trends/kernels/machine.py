"""The automaton of a trend query, its units and rows, as arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

ANY, NEXT, CONTIGUOUS = 0, 1, 2
"""Semantics."""
GIVEN_UP = 0
"""Where the flag stands that somebody sets who no longer waits."""
LOOK = 1 << 16
"""Rows between two looks at the flag."""


class Machine(NamedTuple):
    """An automaton. States are numbered from 1, 0 is the start; a *symbol* is which variables an event may be bound to.

    `symbol_states` has, cut by `symbol_offsets`, the states that an event of the symbol may come to. The edges into a
    state are cut by `edge_offsets`: their sources, the pair of variables whose comparisons they ask for (-1: none),
    and as bits which negated parts must have no trend in between, and which must have one. Likewise `end_...`: the
    class of trends that may end in a state. `closes[symbol, state]`: an event of the symbol is relevant after one in
    the state, if it meets comparisons. Which, is in `closer_pairs[state, variable]`, for every variable of the symbol
    (`symbol_variables`, cut by `variable_offsets`): the pair, -1 for none to meet, -2 where it is not relevant.
    `variable_of` has the variable of every state, `negated_of` the negated part that it belongs to, or -1.
    """

    symbol_offsets: Any
    symbol_states: Any
    edge_offsets: Any
    edge_sources: Any
    edge_pairs: Any
    edge_open: Any
    edge_blocked: Any
    end_offsets: Any
    end_kinds: Any
    end_open: Any
    end_blocked: Any
    closes: Any
    variable_offsets: Any
    symbol_variables: Any
    closer_pairs: Any
    variable_of: Any
    negated_of: Any
    n_states: int
    n_kinds: int
    semantics: int


class Pairs(NamedTuple):
    """Comparisons of adjacent events: those of a pair of variables are cut by `offsets`.

    Values are compared by keys that are ordered as they are, `left[comparison, row]` of the earlier event and
    `right[comparison, row]` of the later; with NULL_KEY nothing holds.
    """

    offsets: Any
    operators: Any
    left: Any
    right: Any


LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, EQUAL, UNEQUAL = 0, 1, 2, 3, 4, 5
"""Operators of comparisons."""


class Rows(NamedTuple):
    """Rows in order: the symbol of each, and whether it has the same time as the one before (only if `has_ties`)."""

    symbols: Any
    tied: Any
    has_ties: bool


class Units(NamedTuple):
    """Searches that know nothing of each other: a partition in a window.

    `first` and `end` cut out their rows; `closes` says that no more will come.
    """

    first: Any
    end: Any
    closes: Any
