"""The row conditions of one batch that run over blocks: compiled, their leaves loaded, run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.errors import RexError
from sparkrex.evaluate.comparisons import hold_all
from sparkrex.evaluate.leaves import Leaf, Ordering, StringTest, array_of
from sparkrex.evaluate.row_kinds import CannotVectoriseError
from sparkrex.evaluate.run_blocks import Trace, leaving_rows, run_conditions
from sparkrex.evaluate.vectorised import Compiler, LeafKey, Node
from sparkrex.scalar.expression import ColumnAt, Expression, walk
from sparkrex.scalar.render.duckdb import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.hosts.host import Evaluator
    from sparkrex.scalar.render.renderer import Leaf as Reference


class VectorisedBatch:
    """The row conditions of one batch that run over blocks."""

    def __init__(
        self, expressions: Sequence[Expression], columns: Columns, evaluator: Evaluator, threads: int
    ) -> None:
        self.columns = columns
        self.evaluator = evaluator
        self.threads = threads
        self.projected: dict[Expression, pa.ChunkedArray] = {}
        self.outside: dict[Expression, pa.Scalar] = {}
        self.n_conditions = len(expressions)
        self.compiler = self._new_compiler()
        self.nodes = self._compile_all(dict(enumerate(expressions)))

    def _new_compiler(self, *known: Any) -> Compiler:
        """A compiler that knows the types of projections and the values of constants, if they are given."""
        return Compiler(self.columns.table.schema, *known)

    def _compile_all(self, expressions: dict[int, Expression]) -> dict[int, Node]:
        nodes: dict[int, Node] = {}
        for number, expression in expressions.items():
            try:
                nodes[number] = self.compiler.condition(expression)
            except CannotVectoriseError:
                continue
        projections, constants = self.compiler.wanted_projections, self.compiler.wanted_constants
        if not projections and not constants:
            return nodes
        try:
            self._project(list(projections))
            values = self._constants(list(constants))
        except RexError:
            # The host says what is wrong with it when it evaluates the whole condition, if it is wrong there.
            return self._independent(expressions)
        types = {expression: values.type for expression, values in self.projected.items()}
        self.compiler = self._new_compiler(types, values)
        return self._compile_all({number: expressions[number] for number in nodes})

    def _independent(self, expressions: dict[int, Expression]) -> dict[int, Node]:
        """Only those conditions that want nothing of the host."""
        nodes: dict[int, Node] = {}
        compiler = self._new_compiler()
        for number, expression in expressions.items():
            alone = self._new_compiler()
            try:
                alone.condition(expression)
            except CannotVectoriseError:
                continue
            if not alone.wanted_projections and not alone.wanted_constants:
                nodes[number] = compiler.condition(expression)
        self.compiler = compiler
        return nodes

    def _project(self, expressions: list[Expression]) -> None:
        """Let the host compute expressions of single rows, in input order, and for a row of NULLs after them."""
        if not expressions:
            return
        table = self.columns.table
        used = dict.fromkeys(
            node.column for expression in expressions for node in walk(expression) if isinstance(node, ColumnAt)
        )
        names = {column: f"c{number}" for number, column in enumerate(used)}
        arrays = {name: _with_null(table.column(column)) for column, name in names.items()}

        def leaf(node: Reference) -> str:
            assert isinstance(node, ColumnAt)  # a row condition reads columns only
            return f"rex_rows.{names[node.column]}"

        texts = [render(expression, leaf) for expression in expressions]
        results = self.evaluator.evaluate(texts, pa.table(arrays), [expression.span for expression in expressions])
        for expression, result in zip(expressions, results, strict=True):
            self.projected[expression] = result.slice(0, table.num_rows)
            self.outside[expression] = result[table.num_rows]

    def _constants(self, expressions: list[Expression]) -> dict[Expression, pa.Scalar]:
        if not expressions:
            return {}
        one_row = pa.table({"c": pa.nulls(1, pa.int8())})
        texts = [render(expression, lambda _: "NULL") for expression in expressions]
        results = self.evaluator.evaluate(texts, one_row, [expression.span for expression in expressions])
        return {expression: result[0] for expression, result in zip(expressions, results, strict=True)}

    def evaluate(self, bitmaps: NDArray[np.uint8]) -> list[int]:
        """Fill the bitmaps of the conditions that can be evaluated here; the numbers of the others."""
        numbers = list(self.nodes)
        nodes = [self.nodes[number] for number in numbers]
        if nodes and bitmaps.shape[1]:
            trace = Trace(self.compiler.n_slots)
            with np.errstate(all="ignore"):
                for node in nodes:
                    node.run(trace)  # type: ignore[arg-type]  # reads as a block does
            leaves = self._leaves({number for number, _ in trace.reads})
            shifts = {shift for _, shift in trace.reads if shift}
            leaving = {shift: leaving_rows(self.columns.offsets, shift) for shift in shifts}
            compared = {number: self.nodes[number].comparisons for number in numbers if self.nodes[number].comparisons}
            done = hold_all(compared, leaves, leaving, bitmaps, self.threads)
            others = [number for number in numbers if number not in done]
            lines = [bitmaps[number].view(np.bool_) for number in others]
            may_fail = run_conditions(
                [self.nodes[number] for number in others], leaves, leaving, self.compiler.n_slots, lines, self.threads
            )
            failing = {number for number, fails in zip(others, may_fail, strict=True) if fails}
            numbers = [number for number in numbers if number not in failing]
        return [number for number in range(self.n_conditions) if number not in numbers]

    def _leaves(self, used: set[int]) -> list[Leaf]:
        """All leaves that are used, loaded and put in order; the others stay empty."""
        ordering = Ordering(self.columns.known_order, self.threads, self.columns.scatter)
        keys = list(self.compiler.leaves)
        leaves = [Leaf(np.empty(0, np.bool_), None)] * len(keys)
        coded = [number for number in used if keys[number].form == "codes"]
        codes = self.compiler.code_space
        codes.literals |= {str(self.outside[keys[n].source]) for n in coded if self._reads_outside(keys[n])}
        encoded = codes.encode([self._values(keys[number].source) for number in coded], self.threads)
        for number, arrays in zip(coded, encoded, strict=True):
            leaves[number] = ordering.leaf(*arrays)
        tests: dict[Expression, list[tuple[int, StringTest]]] = {}
        for number in used:
            key = keys[number]
            if key.form == "values":
                leaves[number] = ordering.column(self._values(key.source))
                self._keep(key.source, leaves[number])
            elif key.form == "validity":
                leaves[number] = ordering.validity(self._values(key.source))
            elif key.test is not None:
                tests.setdefault(key.source, []).append((number, key.test))
        for source, listed in tests.items():
            found = ordering.tests(self._values(source), [test for _, test in listed])
            for (number, _), leaf in zip(listed, found, strict=True):
                leaves[number] = leaf
        for number in used:
            leaves[number].outside = self._outside(keys[number])
        return leaves

    def _keep(self, source: Expression, leaf: Leaf) -> None:
        """Leave what was moved to those who read it after the search."""
        is_moved = self.columns.known_order is not None or self.columns.scatter is not None
        if isinstance(source, ColumnAt) and is_moved and leaf.nulls is None and leaf.data.dtype.itemsize == 8:
            self.columns.kept[source.column] = leaf.data

    def _values(self, source: Expression) -> pa.ChunkedArray:
        if isinstance(source, ColumnAt):
            return self.columns.table.column(source.column)
        return self.projected[source]

    def _reads_outside(self, key: LeafKey) -> bool:
        """Whether a reference that leaves its partition finds a value: what the host made of NULLs."""
        return key.source in self.outside and self.outside[key.source].is_valid

    def _outside(self, key: LeafKey) -> object:
        if not self._reads_outside(key):
            return None
        value = pa.array([self.outside[key.source].as_py()], self.outside[key.source].type)
        match key.form:
            case "values":
                return array_of(value)[0][0]
            case "codes":
                return self.compiler.code_space.code(value[0].as_py())
            case "validity":
                return np.True_
            case _:
                assert key.test is not None  # the remaining form
                return np.bool_(key.test.of(value)[0].as_py())


def _with_null(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([*values.chunks, pa.nulls(1, values.type)], values.type)
