"""The language: a number, PARTITION BY columns, ORDER BY columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.modes.every_nth.plan import EveryNth

from sparkrex.errors import ParseError
from sparkrex.modes.plan import OrderKey, PartitionKey
from sparkrex.scalar.expression import EACH_ROW, ColumnAt
from sparkrex.syntax.tokens import span_of, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Source, Span
    from sparkrex.syntax.names import NameRules


@dataclass(frozen=True)
class NthClause:
    """What stands between the parentheses: the step, and the words behind PARTITION BY and ORDER BY."""

    step: int
    keys: tuple[Token, ...]
    order: tuple[Token, ...]


class EveryNthLanguage:
    """See `sparkrex.modes.protocol.Language`."""

    def parse(
        self, tokens: Sequence[Token], span: Span, source: Source, dialect: Dialect, rules: NameRules
    ) -> NthClause:
        """`3 PARTITION BY a, b ORDER BY c`."""
        if not tokens or not tokens[0].text.isdigit() or tokens[0].text == "0":
            raise ParseError("REX102", "EVERY_NTH begins with a number above 0", source, span, hint="EVERY_NTH (3)")
        found: dict[str, list[Token]] = {"PARTITION BY": [], "ORDER BY": []}
        head = ""
        for token in tokens[1:]:
            if word(token) in found:
                head = word(token)
            elif token.text != "," and head:
                found[head].append(token)
            elif not head:
                raise ParseError("REX102", "PARTITION BY or ORDER BY is expected", source, span_of(token))
        return NthClause(int(tokens[0].text), tuple(found["PARTITION BY"]), tuple(found["ORDER BY"]))

    def mode(self, clause: NthClause) -> str:
        """Its own."""
        return "every_nth"

    def analyze(self, clause: NthClause, scope: Scope, relation: Relation, options: Any) -> EveryNth:
        """Names to columns."""
        keys = [scope.column(token.text, span_of(token)).name for token in clause.keys]
        order = [scope.column(token.text, span_of(token)).name for token in clause.order]
        return EveryNth(
            input_columns=tuple(column.name for column in scope.columns),
            partition_by=tuple(PartitionKey(name, ColumnAt(EACH_ROW, name)) for name in keys),
            order_by=tuple(OrderKey(ColumnAt(EACH_ROW, name), False, True, name) for name in order),
            measures=None, dialect=scope.dialect_name, source=scope.source, span=relation.span, step=clause.step,
        )

    def variables(self, clause: NthClause) -> tuple[str, ...]:
        """None."""
        return ()

    def pattern_text(self, clause: NthClause) -> str:
        """There is no pattern; the step says it all."""
        return f"EVERY {clause.step}"

    def key_trees(self, clause: NthClause) -> list[Any]:
        """Names, not trees."""
        return []


LANGUAGE = EveryNthLanguage()
