"""Which variables an event may be bound to: its *symbol*; and the automaton as arrays over symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.ordered import Columns
from sparkrex.columns.values import numpy_of
from sparkrex.errors import UnsupportedError
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.modes.trends.automaton import NEGATED, START
from sparkrex.modes.trends.kernels.machine import ANY, CONTIGUOUS, NEXT, Machine
from sparkrex.modes.trends.pattern import events
from sparkrex.modes.trends.plan import Semantics
from sparkrex.scalar.expression import Call, ColumnAt, Literal, walk
from sparkrex.scalar.guards import can_fail
from sparkrex.scalar.split import Condition, conjunction, conjuncts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.trends.automaton import Automaton
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.scalar.expression import Expression

SEMANTICS = {Semantics.ANY: ANY, Semantics.NEXT: NEXT, Semantics.CONTIGUOUS: CONTIGUOUS}
MOST_VARIABLES = 62
_BLOCK = 1 << 15
_FEW_VARIABLES = 10
"""With so few, every set of variables is a symbol by its bits; otherwise the sets that occur are numbered."""


def variables_of(query: TrendQuery) -> tuple[str, ...]:
    """All variables, negated ones too, in order of appearance."""
    names = tuple(dict.fromkeys(event.variable for pattern in query.patterns for event in events(pattern)))
    if len(names) > MOST_VARIABLES:
        raise UnsupportedError(
            "REX301", f"a pattern of more than {MOST_VARIABLES} variables", query.source, query.patterns[0].span,
            hint="split the query",
        )
    return names


class Labels:
    """Finds the variables that events may be bound to."""

    def __init__(self, query: TrendQuery, evaluator: Evaluator, threads: int) -> None:
        self.query = query
        self.variables = variables_of(query)
        self._evaluator = evaluator
        self._threads = threads
        self._types: dict[str, str] = {}  # by variable, the value of the type column that it asks for
        self._conditions: dict[str, Expression] = {}
        for definition in query.definitions:
            rest: list[Expression] = []
            # What can fail stays with the test of the type, which guards it.
            is_whole = can_fail(definition.condition)
            for part in conjuncts(definition.condition) if not is_whole else [definition.condition]:
                name = self._type_name(part)
                if name is not None and definition.variable not in self._types:
                    self._types[definition.variable] = name
                else:
                    rest.append(part)
            condition = conjunction(rest)
            if condition is not None:
                self._conditions[definition.variable] = condition

    def _type_name(self, condition: Expression) -> str | None:
        match condition:
            case Call("eq", (ColumnAt(column=column), Literal(value=str() as name))):
                return name if column == self.query.type_column else None
        return None

    def masks(self, table: pa.Table) -> NDArray[Any]:
        """By row of the table, the variables as bits."""
        dtype: Any = np.int32 if len(self.variables) < 31 else np.int64
        bits = {name: 1 << place for place, name in enumerate(self.variables)}
        of_every_type = sum(bits[name] for name in bits if name not in self._types)
        if self._types:

            def of_type(value: object) -> int:
                return of_every_type + sum(bits[name] for name, wanted in self._types.items() if wanted == value)

            masks = self._by_type(table, of_type, dtype)
        else:
            masks = np.full(table.num_rows, of_every_type, dtype)
        for name, truth in self._truths(self._conditions, table).items():
            masks &= ~dtype(bits[name]) | (truth.astype(dtype) * dtype(bits[name]))
        return masks

    def is_named(self, table: pa.Table) -> NDArray[np.bool_]:
        """Whether a row's type is one that the pattern names."""
        named = self.query.named
        if named is None:
            return np.ones(table.num_rows, np.bool_)
        names = [self._type_name(part) for part in _options(named)]
        if None not in names:
            return self._by_type(table, lambda value: value in names, np.bool_)
        return self._truths({"named": named}, table)["named"].view(np.bool_)

    def _by_type(self, table: pa.Table, result: Callable[[object], object], dtype: Any) -> NDArray[Any]:
        """By row what its type gives, from the dictionary of the type column: each of its values is asked once."""
        column = table.column(self.query.type_column)
        if pa.types.is_null(column.type):
            column = column.cast(pa.string())
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        column = column.unify_dictionaries().combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0) if column.num_chunks else pa.array([], column.type)
        values = [*column.dictionary.to_pylist(), None]  # the last entry is that of NULL
        found = np.array([result(value) for value in values], dtype)
        codes = column.indices
        if codes.null_count:
            codes = codes.cast(pa.int64()).fill_null(len(found) - 1)
        given = np.empty(len(codes), dtype)
        # Block by block: NumPy takes places of 64 bits, and would copy all the codes first.
        numbers = numpy_of(codes)
        for begin in range(0, len(numbers), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            np.take(found, numbers[block], out=given[block], mode="clip")
        return given

    def _truths(self, conditions: Mapping[str, Expression], table: pa.Table) -> dict[str, NDArray[np.uint8]]:
        if not conditions:
            return {}
        used = {
            node.column for condition in conditions.values() for node in walk(condition) if isinstance(node, ColumnAt)
        }
        read = table.select([name for name in table.column_names if name in used])
        if not used:
            read = pa.table({"rex_row": pa.nulls(table.num_rows, pa.int8())})
        columns = Columns(read, np.array([0, table.num_rows], np.int64))
        asked = [Condition(name, condition, None) for name, condition in conditions.items()]
        numbers, bitmaps = evaluate_bitmaps(asked, columns, self._evaluator, self.query.source, self._threads)
        return {name: bitmaps[number] for name, number in numbers.items()}

    def symbols(self, masks: NDArray[Any]) -> tuple[NDArray[np.int32], list[int]]:
        """By row its symbol, and by symbol the variables as bits."""
        if len(self.variables) <= _FEW_VARIABLES:
            return masks.astype(np.int32, copy=False), list(range(1 << len(self.variables)))
        known, symbols = np.unique(masks, return_inverse=True)
        return symbols.astype(np.int32), [int(mask) for mask in known]


def _options(condition: Expression) -> Iterator[Expression]:
    """What OR joins."""
    match condition:
        case Call("or", operands):
            for operand in operands:
                yield from _options(operand)
        case _:
            yield condition


def make_machine(
    automaton: Automaton, variables: Sequence[str], semantics: Semantics, pairs: Mapping[tuple[str, str], int],
    symbols: Sequence[int],
) -> Machine:
    """The automaton as arrays. `pairs` are the numbers of pairs of variables that have comparisons."""
    n_states = len(automaton.states)
    number = {name: place for place, name in enumerate(variables)}
    of_state = [0, *(number[name] for name in automaton.states)]
    by_variable: list[list[int]] = [[] for _ in variables]
    for state in range(1, n_states + 1):
        by_variable[of_state[state]].append(state)
    contained = [[place for place in range(len(variables)) if mask >> place & 1] for mask in symbols]
    states = [[state for place in places for state in by_variable[place]] for places in contained]
    edges: list[list[tuple[int, int, int, int]]] = [[] for _ in range(n_states + 1)]
    for edge in automaton.edges:
        pair = -1
        if edge.source != START:
            pair = pairs.get((automaton.states[edge.source - 1], automaton.states[edge.target - 1]), -1)
        edges[edge.target].append((edge.source, pair, _bits(edge.test.open), _bits(edge.test.blocked)))
    ends: list[list[tuple[int, int, int]]] = [[] for _ in range(n_states + 1)]
    negated_of = np.full(n_states + 1, -1, np.int64)
    for end in automaton.ends:
        ends[end.state].append((min(end.kind, NEGATED), _bits(end.test.open), _bits(end.test.blocked)))
    for state, part in _parts(automaton).items():
        negated_of[state] = part
    closer_pairs = np.full((n_states + 1, len(variables)), -2, np.int64)
    for state, closers in enumerate(automaton.closers, 1):
        for name in closers:
            closer_pairs[state, number[name]] = pairs.get((automaton.states[state - 1], name), -1)
    closes = np.zeros((len(symbols), n_states + 1), np.uint8)
    for place, inside in enumerate(contained):
        if inside:
            closes[place] = (closer_pairs[:, inside] > -2).any(axis=1)
    flat_edges = np.array([edge for into in edges for edge in into], np.int64).reshape(-1, 4)
    flat_ends = np.array([end for of in ends for end in of], np.int64).reshape(-1, 3)
    sources, edge_pairs, edge_open, edge_blocked = np.ascontiguousarray(flat_edges.T)
    kinds, end_open, end_blocked = np.ascontiguousarray(flat_ends.T)
    return Machine(
        symbol_offsets=_offsets(states), symbol_states=_joined(states), edge_offsets=_offsets(edges),
        edge_sources=sources, edge_pairs=edge_pairs, edge_open=edge_open, edge_blocked=edge_blocked,
        end_offsets=_offsets(ends), end_kinds=kinds, end_open=end_open, end_blocked=end_blocked, closes=closes,
        variable_offsets=_offsets(contained), symbol_variables=_joined(contained), closer_pairs=closer_pairs,
        variable_of=np.array(of_state, np.int64), negated_of=negated_of, n_states=n_states, n_kinds=NEGATED,
        semantics=SEMANTICS[semantics],
    )


def _parts(automaton: Automaton) -> dict[int, int]:
    """The negated part of every state that belongs to one: those that lead to its end."""
    found = {end.state: end.kind - NEGATED for end in automaton.ends if end.kind >= NEGATED}
    pending = list(found)
    while pending:
        state = pending.pop()
        for edge in automaton.edges:
            if edge.target == state and edge.source != START and edge.source not in found:
                found[edge.source] = found[state]
                pending.append(edge.source)
    return found


def _bits(numbers: frozenset[int]) -> int:
    return sum(1 << number for number in numbers)


def _offsets(lists: Sequence[Sequence[object]]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, lists)], dtype=np.int64)


def _joined(lists: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.array([item for items in lists for item in items], np.int64)
