"""What only a host knows how to compute: syntax of the query's dialect, which sqlglot translates for the host.

The tree stays as it was read, with stand-ins in the places of the operands. So a call can be shown as the user wrote
it, sent to another process, and written in the SQL of any host.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.scalar.spark_in_duckdb import translate

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import Dialect

_OPERAND = "rex_operand_{}_0b1e7_"  # no literal of a query looks like this
_WRITTEN = "as written"


@dataclass(frozen=True, slots=True)
class HostSyntax:
    """A tree of the query's dialect whose operands are stand-ins. Two are equal if the query's host is asked the same.

    Templates are as `str.format` has them: `{0}`, `{1}`, ... are the operands, and a literal brace is doubled.
    """

    asked: str
    tree: exp.Expr = field(compare=False, repr=False)
    n_operands: int
    dialect: Dialect = field(compare=False, repr=False)
    # Translating takes longer than everything else about a call, and the same one is rendered several times.
    _templates: dict[str, str] = field(compare=False, repr=False)
    is_proven: bool = field(default=False, compare=False, repr=False)

    @classmethod
    def of(cls, tree: exp.Expr, dialect: Dialect, host: str, n_operands: int = 0) -> HostSyntax:
        """The syntax of a tree that holds so many stand-ins; `host` is who the query asks.

        Raises sqlglot's UnsupportedError if that host has nothing that means the same.
        """
        asked = _template(translate(tree, dialect, host), n_operands)
        return cls(asked, tree, n_operands, dialect, {host: asked})

    @property
    def text(self) -> str:
        """The template as the user could have written it."""
        if _WRITTEN not in self._templates:
            self._templates[_WRITTEN] = _template(self.tree.sql(dialect=self.dialect), self.n_operands)
        return self._templates[_WRITTEN]

    def template(self, host: str) -> str:
        """The template in a host's SQL; sqlglot's UnsupportedError if the host has nothing that means the same."""
        if host not in self._templates:
            self._templates[host] = _template(translate(self.tree, self.dialect, host), self.n_operands)
        return self._templates[host]

    @staticmethod
    def templated(text: str, n_operands: int) -> str:
        """SQL that holds so many stand-ins as a template."""
        return _template(text, n_operands)

    def proven(self, text: str, duckdb: str, n_operands: int) -> HostSyntax:
        """The same call over these operands in Spark's SQL, and in DuckDB's as it was proven equal."""
        templates = {"spark": text, "duckdb": duckdb, _WRITTEN: text}
        return replace(self, asked=text, n_operands=n_operands, _templates=templates, is_proven=True)

    def is_unknown_function(self) -> bool:
        """Whether it is a plain call of a function that sqlglot does not know."""
        return isinstance(self.tree, exp.Anonymous)


def stand_in(position: int, type_: exp.DataType | None) -> exp.Column:
    """What takes the place of an operand, typed so that sqlglot translates what depends on types."""
    column = exp.column(_OPERAND.format(position))
    column.type = type_
    return column


def _template(text: str, n_operands: int) -> str:
    text = text.replace("{", "{{").replace("}", "}}")
    for position in range(n_operands):
        text = text.replace(_OPERAND.format(position), f"{{{position}}}")
    return text
