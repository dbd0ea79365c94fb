"""Cut a statement into the relations of pattern languages and the SQL around them.

Every relation, for example `input MATCH_RECOGNIZE (...) [AS alias (columns)]`, is replaced in the text by a placeholder
table, inner ones first, so that the host sees plain SQL. A relation's input is a `FROM` item of its own query, in front
of which the common table expressions visible at that place are repeated. Where a language stands is its own to say.

The cut works on tokens alone: the SQL around the pattern stays the user's own text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError
from sparkrex.modes.tables import ELSEWHERE, LANGUAGES, claiming_language
from sparkrex.source import Source, Span
from sparkrex.statement import from_item
from sparkrex.statement.action import Action, find_action
from sparkrex.statement.mistakes import refuse_clauses, refuse_misspelt_keywords, unclosed
from sparkrex.statement.outside import refuse_offsets_outside
from sparkrex.statement.parameters import Literals, bind
from sparkrex.statement.with_clauses import common_table_expressions, outer_names
from sparkrex.syntax.tokens import closing, span_of, tokenize, word

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import Dialect

    from sparkrex.statement.site import Input, Site


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation of a pattern language, for example `input KEYWORD (...)`.

    `input_sql` is a FROM item in the query's dialect; `input_table` is set if it is simply that table. `clause` is its
    text without the keyword. `prefix` is the WITH clause visible and named here, with a blank after it, or empty.
    `outer_names` are the words of the queries around this one, in lower case: what a correlated reference could name.
    """

    placeholder: str
    input_sql: str
    input_table: str | None
    input_alias: str | None
    prefix: str
    clause: Span
    tokens: tuple[Token, ...]
    span: Span
    column_aliases: tuple[str, ...] | None
    columns_span: Span | None
    outer_names: frozenset[str]
    keyword: str = "MATCH_RECOGNIZE"
    input_schema: tuple[str, ...] = ()
    is_read_whole: bool = False
    """Whether the statement reads the result by the positions of its columns."""
    has_written_input: bool = False
    """Whether `input_sql` was put together from parts of the query, rather than being one of them."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The relations in an order in which they can be evaluated, and the SQL that uses their placeholders.

    `bare_relation` is set when the statement is `SELECT * FROM <relation>` and nothing else: then the relation's own
    table is the answer.
    """

    source: Source
    dialect: Dialect
    relations: tuple[Relation, ...]
    host_sql: str
    bare_relation: int | None
    action: Action | None = None
    """What is done with the rows of the query, None if they are the answer."""


def cut(source: Source, dialect: Dialect, suffix: str, literals: Literals | None = None) -> Statement:
    """Cut the statement. `suffix` makes the placeholders' names unique; `literals` take the place of parameters."""
    tokens = tokenize(source, dialect)
    texts: dict[int, tuple[int, str]] = {}
    if literals is not None:
        bound = bind(tokens, source, dialect, literals)
        tokens, texts = bound.tokens, bound.texts
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if not tokens:
        raise ParseError("REX101", "the statement is empty", source, Span(0, 0))
    if (error := unclosed(tokens, source)) is not None:
        raise error
    refuse_clauses(tokens, source)
    refuse_misspelt_keywords(tokens, source)
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.SEMICOLON:
            raise ParseError(
                "REX101", "one statement is expected, here starts another", source, span_of(tokens[index + 1])
            )
    return _Cutter(source, dialect, tokens, suffix, texts).run()


class _Cutter:
    def __init__(
        self, source: Source, dialect: Dialect, tokens: list[Token], suffix: str, literals: dict[int, tuple[int, str]]
    ) -> None:
        self.source = source
        self.dialect = dialect
        self.tokens = tokens
        self.suffix = suffix
        # Placeholder text by the token index where a relation starts: (last token index, text).
        self.replaced: dict[int, tuple[int, str]] = {}
        self.relations: list[Relation] = []
        # The same for literals that stand for parameters.
        self.literals = literals

    def run(self) -> Statement:
        tokens = self.tokens
        # Left to right by closing parenthesis: an inner relation, or one to the left in a chain, comes first.
        ends = {index: end for index in range(len(tokens)) if (end := self._site_end(index)) is not None}
        for sign in sorted(ends, key=ends.__getitem__):
            self._cut_one(sign)
        refuse_offsets_outside(tokens, [(start, end) for start, (end, _) in self.replaced.items()], self.source)
        host_sql = self._text(0, len(tokens) - 1)
        action = find_action(tokens)
        return Statement(self.source, self.dialect, tuple(self.relations), host_sql, self._bare_relation(), action)

    def _site_end(self, index: int) -> int | None:
        """The end of the place whose sign stands at the token, None if it is a sign of nothing."""
        name = word(self.tokens[index])
        if name in LANGUAGES:
            is_clause = index + 1 < len(self.tokens) and self.tokens[index + 1].token_type is TokenType.L_PAREN
            return closing(self.tokens, index + 1, self.source) if is_clause else None
        return claiming_language(name).site_end(self.tokens, index, self.source) if name in ELSEWHERE else None

    def _cut_one(self, sign: int) -> None:
        tokens = self.tokens
        placeholder = f"rex_{self.suffix}_{len(self.relations)}"
        keyword = word(tokens[sign])
        if keyword in LANGUAGES:
            site = from_item.claim(tokens, sign, self.source, self.replaced, placeholder)
        else:
            language = claiming_language(keyword)
            site = language.claim(tokens, sign, self.source, self.replaced, placeholder, self.dialect)
        if site.input is None:
            self._apply(site)
            return
        given = site.input
        expressions, is_recursive = common_table_expressions(tokens, given.first, self.source)
        expressions = self._named(expressions, site.first, site.last)
        common_names = {tokens[first].text.lower() for first, _ in expressions}
        is_common = given.table is not None and given.table.lower() in common_names
        self.relations.append(
            Relation(
                placeholder=placeholder,
                input_sql=self._input_text(site, given),
                input_table=None if is_common or site.input_condition or site.input_pieces else given.table,
                input_alias=given.alias,
                prefix=self._with_clause(expressions, is_recursive=is_recursive),
                clause=site.clause_span,
                tokens=site.tokens or tuple(tokens[index] for index in site.clause),
                span=site.span or Span(tokens[site.first].start, tokens[site.last].end + 1),
                column_aliases=site.columns,
                columns_span=site.columns_span,
                outer_names=outer_names(tokens, given.first, self.source),
                keyword=keyword,
                input_schema=given.schema,
                is_read_whole=site.is_read_whole,
                has_written_input=bool(site.input_pieces),
            )
        )
        self._apply(site)

    def _apply(self, site: Site) -> None:
        for edit in site.edits:
            # A placeholder that stood inside this place is part of it now.
            for start in [start for start in self.replaced if edit.first <= start <= edit.last]:
                del self.replaced[start]
            self.replaced[edit.first] = (edit.last, edit.text)

    def _named(self, expressions: list[tuple[int, int]], first: int, last: int) -> list[tuple[int, int]]:
        """The common table expressions that these tokens name, and those that they name in turn.

        Others could change what a host thinks of the input: one that reads a stream makes it one, to Spark.
        """
        words = {token.text.lower() for token in self.tokens[first : last + 1]}
        named: list[tuple[int, int]] = []
        while more := [one for one in expressions if one not in named and self.tokens[one[0]].text.lower() in words]:
            named += more
            words.update(token.text.lower() for start, end in more for token in self.tokens[start : end + 1])
        return [one for one in expressions if one in named]

    def _input_text(self, site: Site, given: Input) -> str:
        """The FROM item that a clause reads."""
        if site.input_pieces:
            pieces = [one if isinstance(one, str) else self._text(one.start, one.stop - 1) for one in site.input_pieces]
            return "".join(pieces)
        text = self._text(given.first, given.last)
        if site.input_condition is None:
            return text
        alias = given.alias
        is_plain = alias is not None and alias.isidentifier()
        return f"(SELECT * FROM {text} WHERE {site.input_condition})" + (f" AS {alias}" if is_plain else "")

    def _text(self, first: int, last: int) -> str:
        """The user's text of these tokens, with relations replaced."""
        pieces: list[str] = []
        position = self.tokens[first].start
        replaced = self.literals | self.replaced
        for start in sorted(replaced):
            end, replacement = replaced[start]
            # A literal inside a relation that was cut out is gone with it.
            if start < first or end > last or self.tokens[start].start < position:
                continue
            pieces.append(self.source.text[position : self.tokens[start].start])
            pieces.append(replacement)
            position = self.tokens[end].end + 1
        pieces.append(self.source.text[position : self.tokens[last].end + 1])
        return "".join(pieces)

    def _with_clause(self, expressions: list[tuple[int, int]], *, is_recursive: bool) -> str:
        if not expressions:
            return ""
        texts = [self._text(first, last) for first, last in expressions]
        return f"WITH {'RECURSIVE ' if is_recursive else ''}{', '.join(texts)} "

    def _bare_relation(self) -> int | None:
        tokens, last = self.tokens, len(self.tokens) - 1
        if len(self.replaced) != 1 or not self.relations:
            return None
        ((start, (end, text)),) = self.replaced.items()
        is_query = start == 0 and text == f"SELECT * FROM {self.relations[-1].placeholder}"
        is_item = start == 3 and [word(token) for token in tokens[:3]] == ["SELECT", "*", "FROM"]
        return len(self.relations) - 1 if end == last and (is_query or is_item) else None

