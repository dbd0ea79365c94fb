"""Compile row conditions to operators over blocks of rows.

A condition becomes a tree of `Node`s: each has the kind of its values and computes them for a block. Equal expressions
are one node, whichever conditions they are in, and computed once per block. A maximal part that reads one row only and
is outside this language becomes a projection, computed by the host in input order; what is still outside raises
`CannotVectoriseError`, and the host evaluates the whole condition. Types are followed strictly: where the host would
convert in a way of its own (strings to numbers, times with zones to times without), this refuses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.values import BOOL, FLOAT, STRING, Kind
from sparkrex.evaluate import blocks
from sparkrex.evaluate.blocks import Value, as_long
from sparkrex.evaluate.comparisons import Comparison, Term
from sparkrex.evaluate.leaves import CodeSpace, StringTest
from sparkrex.evaluate.row_arithmetic import arithmetic, sign
from sparkrex.evaluate.row_constants import DAY, Constant, host_constant, literal_constant, written_constant
from sparkrex.evaluate.row_kinds import (
    DATE,
    DECIMAL_LIMITS,
    FLOAT32,
    FLOATS,
    NULL,
    TIME_LIMITS,
    UNKNOWN,
    CannotVectoriseError,
    common_kind,
    row_kind,
)
from sparkrex.scalar.expression import Call, ColumnAt, Expression, Literal, walk
from sparkrex.scalar.split import Projection, is_constant, row_local

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from sparkrex.evaluate.run_blocks import Block

_PER_SECOND = {"s": 1_000_000, "ms": 1_000, "us": 1}
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_FUNCTIONS = ("coalesce", "nullif", "abs", "greatest", "least")
_SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


@dataclass(frozen=True, slots=True)
class Read:
    """A column, or an expression that the host projected, at a distance from the row."""

    source: Expression
    shift: int


@dataclass(frozen=True, slots=True)
class LeafKey:
    """An array that blocks read: the source's values, its codes, its NULLs, or the truth of a test of its strings."""

    source: Expression
    form: str
    test: StringTest | None = None


@dataclass(eq=False, slots=True)
class Node:
    """A compiled expression. `read` is set on strings as they stand in the input, `literal` on constants.

    `term` and `comparisons` say the same as `run` does, where `evaluate.comparisons` can: of numbers, of conditions.
    """

    kind: Kind
    run: Callable[[Block], Value]
    read: Read | None = None
    literal: Any = None
    is_constant: bool = False
    term: Term | None = None
    comparisons: tuple[Comparison, ...] = ()


@dataclass(eq=False)
class Compiler:
    """Compiles the row conditions of one query over columns of a schema.

    `projected` and `constants` have the types and values of what the host computed before; what is missing there is
    collected in `wanted_projections` and `wanted_constants`, and the compilation must be repeated.
    """

    schema: pa.Schema
    projected: dict[Expression, pa.DataType] = field(default_factory=dict)
    constants: dict[Expression, pa.Scalar] = field(default_factory=dict)
    wanted_projections: dict[Expression, None] = field(default_factory=dict)
    wanted_constants: dict[Expression, None] = field(default_factory=dict)
    leaves: dict[LeafKey, int] = field(default_factory=dict)
    code_space: CodeSpace = field(default_factory=CodeSpace)
    n_slots: int = 0
    _nodes: dict[Expression, Node] = field(default_factory=dict)
    _coded: dict[Read, Node] = field(default_factory=dict)

    def condition(self, expression: Expression) -> Node:
        """A condition. What a refused one wanted of the host is forgotten."""
        wanted = dict(self.wanted_projections), dict(self.wanted_constants)
        try:
            return self._boolean(self._compile(expression, True))
        except CannotVectoriseError:
            self.wanted_projections, self.wanted_constants = wanted
            self._nodes.clear()
            raise

    # -- nodes ---------------------------------------------------------------------------------------------------------

    def node(self, kind: Kind, compute: Callable[[Block], Value]) -> Node:
        """A node that computes once per block."""
        slot = self.n_slots
        self.n_slots += 1

        def run(block: Block) -> Value:
            found = block.memo[slot]
            if found is None:
                found = block.memo[slot] = compute(block)
            return found

        return Node(kind, run)

    def _leaf(self, key: LeafKey, shift: int, kind: Kind) -> Node:
        number = self.leaves.setdefault(key, len(self.leaves))
        is_float = kind in FLOATS
        found = self.node(kind, lambda block: block.read(number, shift, is_float))
        found.term = Term(number, shift, 1)
        return found

    def constant(self, kind: Kind, data: Any, literal: Any) -> Node:
        """A value that is the same for all rows."""
        value = Value(data, has_nan=kind in FLOATS and bool(np.isnan(data)))
        term = Term(None, 0, data) if isinstance(data, np.float64 | np.int64) else None
        return Node(kind, lambda _: value, literal=literal, is_constant=True, term=term)

    def _boolean(self, node: Node) -> Node:
        if node.kind == NULL:
            return self.converted(node, BOOL)
        if node.kind not in (BOOL, UNKNOWN):
            raise CannotVectoriseError(f"a condition of type {node.kind.name}")
        return node

    # -- expressions ---------------------------------------------------------------------------------------------------

    def _compile(self, expression: Expression, may_project: bool) -> Node:
        found = self._nodes.get(expression)
        if found is None:
            found = self._nodes[expression] = self._new(expression, may_project)
        return found

    def _new(self, expression: Expression, may_project: bool) -> Node:
        match expression:
            case Literal(value):
                return self._read_constant(literal_constant(value))
            case ColumnAt():
                projection = row_local(expression, is_guarded=False)
                assert projection is not None  # a column reads one row
                return self._source(projection, row_kind(self.schema.field(expression.column).type))
            case Call() if is_constant(expression):
                return self._constant_call(expression)
            case Call():
                projection = _projection(expression) if may_project else None
                if projection is None:
                    return self._call(expression, may_project)
                try:
                    # If the host must compute a part of it, it may as well compute all of it.
                    return self._call(expression, False)
                except CannotVectoriseError:
                    return self._read_projection(projection)
            case _:
                raise CannotVectoriseError(f"{expression} is not a value of rows")

    def _source(self, projection: Projection, kind: Kind | None) -> Node:
        source, shift = projection.expression, projection.target.shift
        if kind is None:
            raise CannotVectoriseError(f"the type of {source}")
        if kind == STRING:
            return Node(STRING, _unread, read=Read(source, shift))
        return self._leaf(LeafKey(source, "values"), shift, kind)

    def _read_projection(self, projection: Projection) -> Node:
        type_ = self.projected.get(projection.expression)
        if type_ is None:
            self.wanted_projections[projection.expression] = None
            return Node(UNKNOWN, _unread)
        return self._source(projection, row_kind(type_))

    def _read_constant(self, constant: Constant) -> Node:
        if constant.kind == NULL:
            return Node(NULL, lambda _: Value(np.False_, np.True_), is_constant=True)
        if constant.kind == STRING:
            return Node(STRING, _unread, literal=constant.literal, is_constant=True)
        return self.constant(constant.kind, constant.data, constant.literal)

    def _constant_call(self, expression: Call) -> Node:
        written = written_constant(expression)
        if written is not None:
            return self._read_constant(written)
        if not _is_repeatable(expression):
            raise CannotVectoriseError(f"{expression} is not the same twice")
        scalar = self.constants.get(expression)
        if scalar is None:
            self.wanted_constants[expression] = None
            return Node(UNKNOWN, _unread)
        return self._read_constant(host_constant(scalar))

    def _call(self, node: Call, may_project: bool) -> Node:
        name = node.function
        if name not in _OPERATORS or (node.syntax is not None and name not in _FUNCTIONS):
            # The host has functions that are called as operators are called here, and mean something else.
            raise CannotVectoriseError(f"function {name}")
        operands = [self._compile(operand, may_project) for operand in node.operands]
        if any(operand.kind == UNKNOWN for operand in operands):
            return Node(UNKNOWN, _unread)
        return _OPERATORS[name](self, node, operands)

    # -- logic ---------------------------------------------------------------------------------------------------------

    def _connector(self, node: Call, operands: Sequence[Node]) -> Node:
        runs = [self._boolean(operand).run for operand in operands]
        combine = blocks.conjunction if node.function == "and" else blocks.disjunction
        found = self.node(BOOL, lambda block: combine([run(block) for run in runs]))
        if node.function == "and":
            found.comparisons = _all_of(operands)
        return found

    def _logic(self, node: Call, operands: Sequence[Node]) -> Node:
        run = self._boolean(operands[0]).run
        function = {"not": blocks.negation, "is_true": blocks.is_true, "is_false": blocks.is_false}[node.function]
        return self.node(BOOL, lambda block: function(run(block)))

    def _is_null(self, _: Call, operands: Sequence[Node]) -> Node:
        operand = operands[0]
        if operand.kind == STRING:
            if operand.read is None:
                operand = self._code(operand)
            else:
                operand = self._leaf(LeafKey(operand.read.source, "validity"), operand.read.shift, BOOL)
        run = operand.run
        return self.node(BOOL, lambda block: blocks.is_null(run(block)))

    # -- comparison ----------------------------------------------------------------------------------------------------

    def _comparison(self, node: Call, operands: Sequence[Node]) -> Node:
        return self._compare(node.function, operands[0], operands[1])

    def _compare(self, function: str, left: Node, right: Node) -> Node:
        if left.kind == right.kind == STRING:
            for one, other, name in ((left, right, function), (right, left, _SWAPPED[function])):
                if one.read is not None and other.literal is not None:
                    return self._string_test(one.read, StringTest(name, (other.literal,)))
            if function not in ("eq", "ne"):
                self.code_space.is_ordered = True
        (left, right), kind = self.aligned([left, right])
        is_float = kind in FLOATS
        found = self.node(
            BOOL, lambda block: blocks.compare(function, left.run(block), right.run(block), is_float)
        )
        if left.term is not None and right.term is not None:
            found.comparisons = (Comparison(function, left.term, right.term),)
        return found

    def _string_test(self, read: Read, test: StringTest) -> Node:
        return self._leaf(LeafKey(read.source, "test", test), read.shift, BOOL)

    def _distinct(self, node: Call, operands: Sequence[Node]) -> Node:
        (left, right), kind = self.aligned(operands)
        is_float = kind in FLOATS
        differs = self.node(BOOL, lambda block: blocks.is_distinct(left.run(block), right.run(block), is_float))
        if node.function == "is_distinct_from":
            return differs
        return self.node(BOOL, lambda block: blocks.negation(differs.run(block)))

    def _between(self, _: Call, operands: Sequence[Node]) -> Node:
        if any(operand.kind != STRING for operand in operands):
            operands, _kind = self.aligned(operands)
        value, low, high = operands
        bounds = [self._compare("ge", value, low), self._compare("le", value, high)]
        found = self.node(BOOL, lambda block: blocks.both([bound.run(block) for bound in bounds]))
        found.comparisons = _all_of(bounds)
        return found

    def _in(self, _: Call, operands: Sequence[Node]) -> Node:
        value, *options = operands
        literals = [option.literal for option in options]
        if value.read is not None and all(option.kind == STRING for option in options) and None not in literals:
            return self._string_test(value.read, StringTest("in", tuple(dict.fromkeys(literals))))
        (value, *options), _kind = self.aligned(operands)
        equal = [self._compare("eq", value, option) for option in options]
        return self.node(BOOL, lambda block: blocks.disjunction([test.run(block) for test in equal]))

    # -- kinds ---------------------------------------------------------------------------------------------------------

    def aligned(self, nodes: Sequence[Node]) -> tuple[list[Node], Kind]:
        """All nodes in one kind, the one to which the host would bring them."""
        kind = NULL
        for node in nodes:
            kind = common_kind(kind, node.kind)
        return [self.converted(node, kind) for node in nodes], kind

    def converted(self, node: Node, kind: Kind) -> Node:
        """The node in another kind; a string as its code."""
        if node.kind == NULL:
            return node if kind == NULL else Node(kind, node.run)
        if kind == STRING and node.kind == STRING:
            return self._code(node)
        if node.kind == kind or (node.kind.name == kind.name == "int"):
            return node
        run = node.run
        if kind == FLOAT:
            if node.kind == FLOAT32:
                return self.node(FLOAT, lambda block: _as_double(run(block)))
            scale = int(node.kind.detail or 0) if node.kind.name == "decimal" else 0
            found = self.node(FLOAT, lambda block: blocks.as_double(run(block), scale))
            if node.term is not None and node.term.leaf is None:
                double = blocks.as_double(Value(node.term.factor), scale)
                found.term = Term(None, 0, double.data[()]) if double.failures is None else None
            return found
        if kind == FLOAT32:
            return self._single(node)
        if kind.name == "decimal":
            scale = int(node.kind.detail or 0) if node.kind.name == "decimal" else 0
            return self.scaled(node, 10 ** (int(kind.detail or 0) - scale), DECIMAL_LIMITS, kind)
        if kind.name == "timestamp" and node.kind == DATE:
            return self.scaled(node, DAY, TIME_LIMITS, kind)
        if kind.name == "timestamp":
            return self.scaled(node, _PER_SECOND[str(node.kind.detail).split()[0]], TIME_LIMITS, kind)
        raise CannotVectoriseError(f"{node.kind.name} as {kind.name}")

    def scaled(self, node: Node, factor: int, limits: tuple[int, int], kind: Kind) -> Node:
        """The integer times a factor."""
        by = Value(np.int64(factor))
        run = node.run
        return self.node(
            kind, lambda block: blocks.integer_arithmetic(np.multiply, as_long(run(block)), by, limits)
        )

    def _single(self, node: Node) -> Node:
        """A number that a float holds exactly, as a float; the host rounds others."""
        if isinstance(node.literal, int | Decimal) and Decimal(float(np.float32(node.literal))) == node.literal:
            return self.constant(FLOAT32, np.float32(node.literal), node.literal)
        raise CannotVectoriseError("a float with other numbers")

    def _code(self, node: Node) -> Node:
        """A string as its code."""
        if node.read is not None:
            found = self._coded.get(node.read)
            if found is None:
                found = self._leaf(LeafKey(node.read.source, "codes"), node.read.shift, STRING)
                self._coded[node.read] = found
            return found
        if node.literal is None:
            return node
        literal = node.literal
        self.code_space.literals.add(literal)
        return Node(STRING, lambda _: Value(self.code_space.code(literal)))

    # -- choices -------------------------------------------------------------------------------------------------------

    def _case(self, _: Call, operands: Sequence[Node]) -> Node:
        n_branches = len(operands) // 2
        conditions = [self._boolean(operand) for operand in operands[0 : 2 * n_branches : 2]]
        default = operands[-1] if len(operands) % 2 else self._read_constant(literal_constant(None))
        values, kind = self.aligned([*operands[1 : 2 * n_branches : 2], default])
        return self.node(
            kind,
            lambda block: blocks.case(
                [condition.run(block) for condition in conditions], [value.run(block) for value in values]
            ),
        )

    def _coalesce(self, _: Call, operands: Sequence[Node]) -> Node:
        values, kind = self.aligned(operands)
        return self.node(kind, lambda block: blocks.coalesce([value.run(block) for value in values]))

    def _nullif(self, _: Call, operands: Sequence[Node]) -> Node:
        equal = self._compare("eq", *operands)
        value, other = (self._code(node) if node.kind == STRING else node for node in operands)
        return self.node(
            value.kind, lambda block: blocks.null_if(value.run(block), other.run(block), equal.run(block))
        )

    def _extreme(self, node: Call, operands: Sequence[Node]) -> Node:
        values, kind = self.aligned(operands)
        if kind == STRING:
            self.code_space.is_ordered = True
        is_greatest, is_strict = node.function.startswith("greatest"), node.function.endswith("_strict")
        is_float = kind in FLOATS
        return self.node(
            kind,
            lambda block: blocks.extreme([value.run(block) for value in values], is_greatest, is_strict, is_float),
        )


_OPERATORS: dict[str, Callable[[Compiler, Call, Sequence[Node]], Node]] = {
    "and": Compiler._connector, "or": Compiler._connector,
    "not": Compiler._logic, "is_true": Compiler._logic, "is_false": Compiler._logic, "is_null": Compiler._is_null,
    **dict.fromkeys(_COMPARISONS, Compiler._comparison),
    "is_distinct_from": Compiler._distinct, "is_not_distinct_from": Compiler._distinct,
    "between": Compiler._between, "in": Compiler._in,
    "case": Compiler._case, "coalesce": Compiler._coalesce, "nullif": Compiler._nullif,
    **dict.fromkeys(("greatest", "least", "greatest_strict", "least_strict"), Compiler._extreme),
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "integer_divide", "modulo"), arithmetic),
    "negate": sign, "abs": sign,
}


def _all_of(nodes: Sequence[Node]) -> tuple[Comparison, ...]:
    """The comparisons that a conjunction is; none if it is more than that."""
    if not all(node.comparisons for node in nodes):
        return ()
    return tuple(comparison for node in nodes for comparison in node.comparisons)


def _unread(_: Block) -> Value:
    raise AssertionError("strings are read as codes or tests")


def _projection(expression: Call) -> Projection | None:
    """The expression as something that the host can compute of each row alone, None if it cannot."""
    return row_local(expression, is_guarded=False) if _is_repeatable(expression) else None


def _is_repeatable(expression: Expression) -> bool:
    return all(
        node.is_deterministic and not node.reads_relation for node in walk(expression) if isinstance(node, Call)
    )


def _as_double(value: Value) -> Value:
    return Value(np.asarray(value.data, np.float64), value.nulls, value.failures, value.has_nan)
