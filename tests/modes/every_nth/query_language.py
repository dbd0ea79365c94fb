"""A language that is a whole query, with the same plans: `SELECT * FROM t SAMPLED 3 PARTITION BY a ORDER BY c`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType
from tests.modes.every_nth.language import EveryNthLanguage

from sparkrex.source import Source, Span
from sparkrex.statement.site import Edit, Input, Site
from sparkrex.syntax.tokens import word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot.dialects.dialect import Dialect


class SampledLanguage(EveryNthLanguage):
    """See `sparkrex.modes.protocol.Claiming`."""

    def site_end(self, tokens: Sequence[Token], sign: int, source: Source) -> int | None:
        """The end of the query; elsewhere than behind `SELECT * FROM input`, SAMPLED is a name like any other."""
        if sign + 1 >= len(tokens) or tokens[sign + 1].token_type is not TokenType.NUMBER:
            return None
        depth = 0
        for index in range(sign, len(tokens)):
            depth += (tokens[index].token_type is TokenType.L_PAREN) - (tokens[index].token_type is TokenType.R_PAREN)
            if depth < 0 or word(tokens[index]) == "UNION":
                return index - 1
        return len(tokens) - 1

    def claim(
        self, tokens: Sequence[Token], sign: int, source: Source, replaced: Mapping[int, tuple[int, str]],
        placeholder: str, dialect: Dialect,
    ) -> Site:
        """The query from SELECT to its end; its columns are the result's."""
        last = self.site_end(tokens, sign, source)
        assert last is not None
        depths = [(token.token_type is TokenType.R_PAREN) - (token.token_type is TokenType.L_PAREN) for token in tokens]
        first = max(
            index for index in range(sign) if word(tokens[index]) == "SELECT" and sum(depths[index:sign]) == 0
        )
        start = first + 3
        table = tokens[start].text if start == sign - 1 and start not in replaced else None
        clause = range(sign + 1, last + 1)
        return Site(
            first, last, Input(start, sign - 1, table, table), clause,
            Span(tokens[sign + 1].start, tokens[last].end + 1), (Edit(first, last, f"SELECT * FROM {placeholder}"),),
            is_read_whole=True,
        )


LANGUAGE = SampledLanguage()
