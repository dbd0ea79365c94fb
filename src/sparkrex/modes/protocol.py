"""What the pipeline, EXPLAIN, the API and Spark know of languages and modes, and all they know.

A *language* reads a clause and says which plan it means; a *mode* answers plans. One language may give plans of several
modes: MATCH_RECOGNIZE gives row patterns and segment searches. Both are found by name in `modes.tables`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.located import Located, LocatedWindows
    from sparkrex.matching.runner import Runner
    from sparkrex.modes.plan import Plan
    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.reasons.answer import Why
    from sparkrex.reasons.asked import Asked
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.settings import Settings
    from sparkrex.source import Source, Span
    from sparkrex.spark.lowering import Lowered
    from sparkrex.spark.worker import Carried, WorkerTask
    from sparkrex.statement.site import Site
    from sparkrex.stopwatch import Stopwatch
    from sparkrex.syntax.names import NameRules

C = TypeVar("C")
C_contra = TypeVar("C_contra", contravariant=True)
P_contra = TypeVar("P_contra", contravariant=True)


class Explained(Protocol):
    """One relation of a statement, ready to be shown."""

    def lines(self, host: str) -> list[str]:
        """The text, as a tree. `host` is who evaluates SQL."""
        ...


class Language(Protocol[C]):
    """A language: its text is in parentheses after its keyword, `input KEYWORD (...)`, or in a place that it claims."""

    def parse(self, tokens: Sequence[Token], span: Span, source: Source, dialect: Dialect, rules: NameRules) -> C:
        """The clause: what stands between the parentheses, or in the place claimed."""
        ...

    def mode(self, clause: C) -> str:
        """The name of the mode that the clause is a plan of."""
        ...

    def analyze(self, clause: C, scope: Scope, relation: Relation, options: Any) -> Plan:
        """The plan of a clause over its input's columns. `options` are those of the call, None without any."""
        ...

    def variables(self, clause: C) -> tuple[str, ...]:
        """The pattern variables of a clause whose names mean rows in the SQL of its expressions."""
        ...

    def pattern_text(self, clause: C) -> str:
        """PATTERN as it could be written."""
        ...

    def key_trees(self, clause: C) -> list[Any]:
        """The expressions of PARTITION BY as sqlglot reads them."""
        ...


@runtime_checkable
class Settling(Protocol):
    """What a mode has beside if the plan of a stream must be found before any rows have come."""

    def settled(self, plan: Plan) -> Plan:
        """The workers' plan as it stays."""
        ...


class Claiming(Protocol):
    """What a language has beside if it stands elsewhere than behind a FROM item: as a whole query, or in a window."""

    def site_end(self, tokens: Sequence[Token], sign: int, source: Source) -> int | None:
        """The last token of the place that the word at `sign` belongs to; None if the word means something else here.

        Places that end first are claimed first, so that an inner one is cut out before what stands around it.
        """
        ...

    def claim(
        self, tokens: Sequence[Token], sign: int, source: Source, replaced: Mapping[int, tuple[int, str]],
        placeholder: str, dialect: Dialect,
    ) -> Site:
        """The place: its input, its clause, and the text that reads the result from the table `placeholder` instead.

        `replaced` are the places claimed before, by first token: last token and the text instead.
        """
        ...


@runtime_checkable
class Rewriting(Protocol[C_contra]):
    """What a language has beside if every clause of it can be written in another one."""

    def rewritten(self, clause: C_contra) -> str:
        """The keyword and the clause that mean the same, to be written after the input."""
        ...


class Answering(Protocol[P_contra]):
    """What Spark's workers know of a mode: it answers plans over the rows at hand."""

    def results(
        self, plan: P_contra, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        """The result of a relation, in one piece or, with the setting `chunk_rows`, in several, as it is decided.

        `table` has the columns that the plan reads.
        """
        ...

    def runner(
        self, plan: P_contra, sample: pa.Table, keys: tuple[str, ...], evaluator: Evaluator, settings: Settings,
        watch: Stopwatch | None = None,
    ) -> Runner:
        """The plan over columns of the sample's types, ready to be fed.

        The sample has no rows; `keys` are its columns that hold the partition's keys. A runner with stages laps them on
        `watch`, if it is given one.
        """
        ...


class Mode(Answering[P_contra], Protocol[P_contra]):
    """A way of answering plans."""

    matchers: ClassVar[tuple[str, ...]]
    """What the setting `matcher` may name; none where there is nothing to choose."""

    def explain(
        self, plan: P_contra, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
    ) -> Explained:
        """How a relation is answered in memory; with `analyze` after running it, with what happened."""
        ...

    def lower(
        self, plan: P_contra, input_name: str, settings: Settings, wanted: frozenset[str] | None,
        types: Callable[[Lowered, Sequence[str]], pa.Schema],
    ) -> Lowered:
        """The relation cut between Spark and its workers.

        `input_name` names the input in SQL. `wanted` are the names, in lower case, that the statement around the
        relation can read, None if it may read all. `types` asks Spark for the types of some projected columns.
        """
        ...

    def task(
        self, lowered: Lowered, written: P_contra, sample: pa.Table, carried: Carried, evaluator: Evaluator,
        settings: Settings, pickled: Callable[[object], object],
    ) -> WorkerTask:
        """The workers' task, once it is sure that they can carry it out.

        Asked for what `lower` gave and then, if there is one, for its `following`. `written` is the plan in the user's
        names; `sample` has the columns that travel, and no rows. `pickled` fails for what cannot be sent.
        """
        ...

    def explain_for_workers(
        self, written: P_contra, lowered: Lowered, sample: pa.Table, types: Callable[[Sequence[str]], pa.Schema],
        evaluator: Evaluator, settings: Settings,
    ) -> Explained:
        """How workers answer the plan that the user wrote. `types` are those of the input's columns."""
        ...


@runtime_checkable
class Buffered(Protocol[P_contra]):
    """What a mode can do beside: keep matches in a buffer that they share, which may be much smaller than they are."""

    def buffer(self, plan: P_contra, table: pa.Table, evaluator: Evaluator, settings: Settings) -> pa.Table:
        """The buffer of all matches, as a table."""
        ...


@runtime_checkable
class Locating(Protocol[P_contra]):
    """What a mode has beside if its answers lie at rows, or in windows of time, that can be shown."""

    def locate(
        self, plan: P_contra, table: pa.Table, evaluator: Evaluator, settings: Settings
    ) -> Located | LocatedWindows:
        """Where the answers of a relation lie. `table` has the columns that the plan reads, and maybe more."""
        ...


@runtime_checkable
class Reasoning(Protocol[P_contra]):
    """What a mode can do beside: say why nothing matched."""

    def why(self, plan: P_contra, table: pa.Table, evaluator: Evaluator, settings: Settings, asked: Asked) -> Why:
        """What stood in the way, of the partitions and the row that are asked about."""
        ...
