"""Cut a plan between Spark and its workers.

Spark evaluates what reads one row: keys, and every row-local part of a condition or aggregate, as columns of the
input, and the scalar expressions of MEASURES over what the worker read from the matches. The worker combines rows.

The result for the worker is a plan over the projected columns, like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from sparkrex.modes.plan import Measure, OrderKey, Plan
from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    Expression,
    Literal,
    MatchNumber,
    MatchStatus,
    Target,
    walk,
)
from sparkrex.scalar.guards import can_fail, guards
from sparkrex.scalar.intervals import moved_time
from sparkrex.scalar.render.renderer import Leaf, leaves
from sparkrex.scalar.render.spark import SPARK, quoted
from sparkrex.scalar.split import Projection, at_current_row, row_local
from sparkrex.spark.aggregate_types import aggregate_sql
from sparkrex.spark.gathered import Gathered, aggregate_template, element_of, list_nodes
from sparkrex.spark.missing_rows import is_null_for_null, over_a_missing_row
from sparkrex.spark.worker_language import is_aggregate_of_spark, is_known_to_workers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.source import Span

Origin: TypeAlias = "str | pa.DataType | None"
"""What the type of a worker's column is: that of a projected column, a known one, or an aggregate's."""


@dataclass(slots=True)
class Lowered:
    """A relation as Spark and its workers see it.

    `projections` are Spark SQL by column name, over the input. `worker` is the plan of the workers over
    these columns, `sources` are the columns that it gives beside keys and passed columns. `outputs` are Spark SQL by
    output name, over the worker's columns. `aggregates` are Spark SQL of the worker's aggregate measures over the
    projected columns, from which their types are learnt. `spans` are the places in the query that projections and
    outputs come from. `where` is Spark SQL over the input that holds for the rows that the workers need, None if they
    need all. `equal` are columns by which an event query keeps events apart because of equalities, with the keys as the
    user wrote them. `following` is what workers do with the results of `worker`, brought together by keys of its own;
    then `outputs` are over what it gives. None if the results are final. `gathered` are aggregates that Spark computes
    from what the workers gathered, `identity` the workers' columns that tell rows of the result apart for that.
    """

    projections: dict[str, str]
    keys: tuple[str, ...]
    order: tuple[str, ...]
    worker: Plan
    outputs: dict[str, str]
    sources: dict[str, Origin]
    aggregates: dict[str, str]
    spans: dict[str, Span | None]
    where: str | None = None
    equal: dict[str, str] = field(default_factory=dict)
    following: Lowered | None = None
    gathered: tuple[Gathered, ...] = ()
    identity: tuple[str, ...] = ()

    def key_names(self) -> tuple[tuple[str, str], ...]:
        """The key columns of the workers with the names that the user knows them by."""
        return tuple(zip(self.keys, self.outputs, strict=False))


def lower_order(keys: Sequence[OrderKey], lowering: Lowering) -> tuple[list[str], list[OrderKey]]:
    """ORDER BY as projected columns, and as keys over them. `column` stays set where a key is simply a column."""
    order = [lowering.column(key.expression, "o") for key in keys]
    order_by = [
        replace(key, expression=ColumnAt(Target(), name), column=name if key.column else None)
        for name, key in zip(order, keys, strict=True)
    ]
    if not keys:
        # Input order: taken before the shuffle.
        order.append(lowering.sql("monotonically_increasing_id()", "o"))
        order_by.append(OrderKey(ColumnAt(Target(), order[-1]), False, True, None))
    return order, order_by


def measure_sources(measures: list[Measure], made: Mapping[str, pa.DataType] | None = None) -> dict[str, Origin]:
    """For each worker measure, where its type comes from.

    `made` are the types of columns that the workers make themselves.
    """
    sources: dict[str, Origin] = {}
    for measure in measures:
        match measure.expression:
            case ColumnAt(_, column):
                sources[measure.name] = (made or {}).get(column, column)
            case ClassifierAt() | MatchStatus():
                sources[measure.name] = pa.string()
            case MatchNumber():
                sources[measure.name] = pa.int64()
            case Literal():
                sources[measure.name] = pa.bool_()
            case _:
                sources[measure.name] = None
    return sources


def lower_measures(
    written: Sequence[Measure], lowering: Lowering, prefix: str = "m"
) -> tuple[list[Measure], list[str]]:
    """What the workers read from the matches, and the measures as Spark SQL over it.

    `prefix` begins the names of what is read, so that it can be called for measures of two kinds.
    """
    names: dict[Leaf, str] = {}
    measures: list[Measure] = []
    rendered: list[str] = []
    for number, measure in enumerate(written):
        expression = lowering.without_windows(measure.expression)
        if lowering.is_left_to_workers(expression) and can_fail(expression):
            name = f"{prefix}w{number}"
            measures.append(Measure(name, lowering.whole(expression, name), measure.span))
            rendered.append(f"`{name}`")
            continue
        for leaf in leaves(expression):
            if leaf in names:
                continue
            name = f"{prefix}{len(names)}"
            names[leaf] = f"`{name}`"
            if isinstance(leaf, Aggregate) and lowering.gathers and not is_aggregate_of_spark(leaf.function):
                lists, names[leaf] = lowering.gather(leaf, name)
                measures += [Measure(listed, node, measure.span) for listed, node in lists.items()]
            else:
                measures.append(Measure(name, lowering.leaf(leaf, name), measure.span))
        rendered.append(SPARK.render(expression, lambda leaf: names[leaf]))
    return measures, rendered


@dataclass(slots=True)
class Lowering:
    """Collects what Spark projects. `own` is the row under test: in a row pattern the current one.

    With `reports`, what can fail is left to the workers where they know it: a row at which they fail can be reported,
    one at which Spark fails ends the job. `times` are columns of times that travel in any case, so that workers move
    them by an interval: a column less on the way. With `gathers`, Spark computes the aggregates that workers do not
    know.
    """

    input_name: str
    own: Target = field(default_factory=Target)
    reports: bool = field(default=False, kw_only=True)
    times: frozenset[str] = field(default=frozenset(), kw_only=True)
    projections: dict[str, str] = field(default_factory=dict)
    aggregates: dict[str, str] = field(default_factory=dict)
    spans: dict[str, Span | None] = field(default_factory=dict)
    windows: set[str] = field(default_factory=set)
    gathers: bool = field(default=False, kw_only=True)
    gathered: list[Gathered] = field(default_factory=list)

    def input_column(self, leaf: Leaf) -> str:
        """A column of the input in Spark's SQL."""
        assert isinstance(leaf, ColumnAt), "only columns are row-local"
        return f"{self.input_name}.{quoted(leaf.column)}"

    def sql(self, text: str, prefix: str, span: Span | None = None, *, is_shared: bool = True) -> str:
        """The name of the projected column with this SQL; one that is not shared is evaluated for itself."""
        for name, known in self.projections.items():
            if known == text and is_shared:
                return name
        name = f"{prefix}{len(self.projections)}"
        self.projections[name] = text
        self.spans[name] = span
        return name

    def column(self, expression: Expression, prefix: str) -> str:
        """The name of the projected column of a row-local expression."""
        is_shared = all(node.is_deterministic for node in walk(expression) if isinstance(node, Call))
        return self.sql(SPARK.render(expression, self.input_column), prefix, expression.span, is_shared=is_shared)

    def lowered(self, expression: Expression, *, is_guarded: bool) -> Expression:
        """The worker's expression: every row-local part replaced by a projected column."""
        if (moved := moved_time(expression)) is not None and moved.column in self.times:
            assert isinstance(expression, Call)  # as all that is moved
            time = self.lowered(moved, is_guarded=is_guarded)
            return replace(expression, operands=(time, *expression.operands[1:]))
        found = self._row_local(expression, is_guarded=is_guarded) or self._constant(expression, is_guarded=is_guarded)
        if found is not None:
            value = ColumnAt(found.target, self.column(found.expression, "p"), span=expression.span)
            if found.target in (Target(), self.own) or is_null_for_null(found.expression):
                return value
            return self._or_missing(value, found.expression)
        match expression:
            case Call("and" | "or"):
                return self._connector(expression, is_guarded=is_guarded)
            case Call():
                operands = tuple(
                    self.lowered(operand, is_guarded=is_guarded or guarded)
                    for operand, guarded in zip(expression.operands, guards(expression), strict=True)
                )
                return replace(expression, operands=operands)
            case Aggregate():
                return self._aggregate(expression)
            case _:
                return expression

    def _row_local(self, expression: Expression, *, is_guarded: bool) -> Projection | None:
        """The expression as a column of Spark's, if it can be one."""
        return row_local(expression, is_guarded=is_guarded or self.is_left_to_workers(expression))

    def is_left_to_workers(self, expression: Expression) -> bool:
        """Whether the workers compute what may fail. Whether they read a string as Spark does depends on its type, so
        casts are Spark's."""
        return self.reports and is_known_to_workers(expression) and not any(
            isinstance(node, Call) and node.function == "cast" for node in walk(expression)
        )

    def _constant(self, expression: Expression, *, is_guarded: bool) -> Projection | None:
        """An expression that reads nothing, as a projection if only Spark can evaluate it: `rand()`, a UDF."""
        is_constant = all(isinstance(node, Call | Literal) for node in walk(expression))
        if not is_constant or is_known_to_workers(expression) or (is_guarded and can_fail(expression)):
            return None
        return Projection(self.own, expression)

    def _connector(self, connector: Call, *, is_guarded: bool) -> Expression:
        """AND and OR over several target rows. What stands in front and reads one row is projected as a whole: there
        a part that can fail has its guard beside it."""
        n_first = len(connector.operands) - 1
        while n_first > 1 and row_local(_first(connector, n_first), is_guarded=is_guarded) is None:
            n_first -= 1
        operands = [
            self.lowered(operand, is_guarded=is_guarded or n_first > 0) for operand in connector.operands[n_first:]
        ]
        first = self.lowered(_first(connector, n_first), is_guarded=is_guarded)
        return _connect(connector, (first, *operands))

    def _or_missing(self, value: ColumnAt, expression: Expression) -> Expression:
        """Where there is no target row, the expression over an all-NULL row: a column of its own."""
        null_row = over_a_missing_row(expression, self.input_column)
        missing = ColumnAt(self.own, self.sql(null_row, "p", expression.span), span=value.span)
        exists = ColumnAt(value.target, self.sql("TRUE", "p"), span=value.span)
        return Call("case", (exists, value, missing), span=value.span)

    def _aggregate(self, aggregate: Aggregate) -> Aggregate:
        def each(expression: Expression) -> Expression:
            return expression if isinstance(expression, Literal) else self.lowered(expression, is_guarded=False)

        return replace(
            aggregate,
            arguments=tuple(map(each, aggregate.arguments)),
            filter=None if aggregate.filter is None else each(aggregate.filter),
            order_by=tuple(replace(item, expression=each(item.expression)) for item in aggregate.order_by),
        )

    def leaf(self, leaf: Leaf, name: str) -> Expression:
        """The worker's reading of one leaf of a measure."""
        match leaf:
            case ColumnAt(target):
                return ColumnAt(target, self._column_of(leaf.column), span=leaf.span)
            case Aggregate():
                lowered = self._aggregate(leaf)
                self.aggregates[name] = self._aggregate_sql(leaf, lowered)
                return lowered
            case _:
                return leaf

    def gather(self, aggregate: Aggregate, name: str) -> tuple[dict[str, Expression], str]:
        """The lists that the workers gather for an aggregate of Spark's, by name, and its value in Spark's SQL."""
        lists: dict[str, Expression] = {}
        for place, node in enumerate(list_nodes(aggregate)):
            lists[f"{name}_{place}"] = self.leaf(node, f"{name}_{place}")
        element = element_of(aggregate, list(lists))
        if element is not None:
            return lists, element
        self.gathered.append(Gathered(name, tuple(lists), aggregate_template(aggregate), aggregate.span))
        return lists, f"`{name}`"

    def whole(self, expression: Expression, name: str) -> Expression:
        """A measure that the workers compute, whatever can fail in it."""
        types: dict[Leaf, str] = {}
        for leaf in leaves(expression):
            match leaf:
                case Aggregate():
                    types[leaf] = self._aggregate_sql(leaf, self._aggregate(leaf))
                case ColumnAt(_, column):
                    types[leaf] = f"first({quoted(self._column_of(column))})"
                case ClassifierAt() | MatchStatus():
                    types[leaf] = "max('')"
                case _:
                    types[leaf] = "count(1)"
        self.aggregates[name] = SPARK.render(expression, lambda leaf: types[leaf])
        return self._over_columns(expression)

    def _column_of(self, column: str) -> str:
        return column if column in self.windows else self.column(ColumnAt(Target(), column), "c")

    def _over_columns(self, expression: Expression) -> Expression:
        match expression:
            case ColumnAt():
                return replace(expression, column=self._column_of(expression.column))
            case Aggregate():
                return self._aggregate(expression)
            case Call():
                return replace(expression, operands=tuple(map(self._over_columns, expression.operands)))
            case _:
                return expression

    def _aggregate_sql(self, aggregate: Aggregate, lowered: Aggregate) -> str:
        """SQL with the aggregate's type, over the projected columns. NULL stands for what only the match knows."""

        def leaf(node: Leaf) -> str:
            match node:
                case ColumnAt(_, column):
                    return f"`{column}`"
                case ClassifierAt():
                    return "CAST(NULL AS STRING)"
                case _:
                    return "CAST(NULL AS BIGINT)"

        pairs = zip(aggregate.arguments, lowered.arguments, strict=True)
        arguments = [SPARK.render(_of_its_type(written, cut), leaf) for written, cut in pairs]
        return aggregate_sql(aggregate, arguments)

    def without_windows(self, expression: Expression) -> Expression:
        """Window functions replaced by projected columns: they see the input, not the matches."""
        match expression:
            case Call(function="window"):
                targets = [node.target for node in walk(expression) if isinstance(node, ColumnAt)]
                name = self.sql(SPARK.render(_at_input(expression), self.input_column), "rex_window_", expression.span)
                self.windows.add(name)
                return ColumnAt(targets[0] if targets else Target(), name, span=expression.span)
            case Call(operands=operands):
                return replace(expression, operands=tuple(self.without_windows(part) for part in operands))
            case _:
                return expression


def _at_input(expression: Call) -> Call:
    plain = at_current_row(expression)
    assert isinstance(plain, Call)
    return plain


def _first(connector: Call, n_operands: int) -> Expression:
    """The first operands of AND or OR."""
    return connector.operands[0] if n_operands == 1 else _connect(connector, connector.operands[:n_operands])


def _connect(connector: Call, operands: tuple[Expression, ...]) -> Call:
    """AND or OR over other operands."""
    spans = [operand.span for operand in operands if operand.span is not None]
    return replace(connector, operands=operands, span=spans[0].to(spans[-1]) if spans else connector.span)


def _of_its_type(written: Expression, lowered: Expression) -> Expression:
    """An argument over projected columns, or something of its type: what is guarded has become a CASE."""
    match written, lowered:
        case Call("and" | "or"), Call():
            return Literal(True)
        case Call(), Call() if len(written.operands) == len(lowered.operands):
            pairs = zip(written.operands, lowered.operands, strict=True)
            return replace(written, operands=tuple(_of_its_type(s, w) for s, w in pairs))
        case _:
            return lowered
