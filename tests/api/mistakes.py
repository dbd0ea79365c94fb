"""Mistakes that new users make, and what they must be told: the code, the place, words of the message or hint.

The place is written into the query: `«...»` encloses what the caret must stand under.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

TABLE = pa.table({
    "id": [1, 2, 3, 4],
    "sym": ["a", "a", "b", "b"],
    "price": [1.0, 2.0, 3.0, 1.5],
    "vol": [1, 2, 3, 4],
    "kind": ["Buy", "Sell", "Buy", "Sell"],
})


@dataclass(frozen=True)
class Mistake:
    """One mistake; with `is_events` the text is an event query over TABLE with time id and type kind."""

    name: str
    marked: str
    code: str
    words: tuple[str, ...]
    is_events: bool = False

    @property
    def text(self) -> str:
        """The query without the marks."""
        return self.marked.replace("«", "").replace("»", "")

    @property
    def place(self) -> tuple[int, int]:
        """Where the marked part begins and ends."""
        start = self.marked.index("«")
        return start, self.marked.index("»") - 1


def _clause(name: str, body: str, code: str, *words: str) -> Mistake:
    return Mistake(name, f"SELECT * FROM t MATCH_RECOGNIZE (\n{body}\n)", code, words)


def _statement(name: str, text: str, code: str, *words: str) -> Mistake:
    return Mistake(name, text, code, words)


def _events(name: str, text: str, code: str, *words: str) -> Mistake:
    return Mistake(name, text, code, words, is_events=True)


_REST = "ORDER BY id PATTERN (A+) DEFINE A AS price > 0"
_ALL = "ORDER BY id ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS price > 0"
_ANY = "WHERE skip_till_any_match(a, b)"
_MANY = "PATTERN SEQ(Buy a, Sell+ b[])\nWHERE skip_till_any_match(a, b[])"

STATEMENTS = [
    _statement("clause_alone", "«MATCH_RECOGNIZE» (ORDER BY id PATTERN (A))", "REX101", "rex.match"),
    _statement(
        "column_of_the_input", "SELECT «vol» FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES count(*) AS n PATTERN (A))",
        "REX201", "measures", "ALL ROWS PER MATCH",
    ),
    _statement("recognise", f"SELECT * FROM t «MATCH_RECOGNISE» ({_REST})", "REX101", "did you mean MATCH_RECOGNIZE?"),
    _statement("regonize", f"SELECT * FROM t «MATCH_REGONIZE» ({_REST})", "REX101", "did you mean MATCH_RECOGNIZE?"),
    _statement("no_underscore", f"SELECT * FROM t «MATCHRECOGNIZE» ({_REST})", "REX101", "MATCH_RECOGNIZE?"),
    _statement("two_words", f"SELECT * FROM t «MATCH RECOGNIZE» ({_REST})", "REX101", "MATCH_RECOGNIZE?"),
    _statement("alias_before", f"SELECT * FROM t AS u «MATCH_RECOGNISE» ({_REST})", "REX101", "MATCH_RECOGNIZE?"),
    _statement(
        "match_event", "SELECT * FROM t «MATCH_EVENT» (TIME id TYPE kind PATTERN SEQ(Buy a, Sell b))", "REX101",
        "did you mean MATCH_EVENTS?",
    ),
    _statement("no_parentheses", f"SELECT * FROM t «MATCH_RECOGNIZE» {_REST}", "REX101", "in parentheses"),
    _statement("in_select", f"SELECT «MATCH_RECOGNIZE» ({_REST}) FROM t", "REX101", "must follow", "FROM t MATCH_"),
    _statement(
        "after_where", f"SELECT * FROM t WHERE price > 0 «MATCH_RECOGNIZE» ({_REST})", "REX101", "must follow",
        "WHERE comes after",
    ),
    _statement(
        "parenthesis_in_measures",
        "SELECT * FROM t MATCH_RECOGNIZE (\n ORDER BY id\n MEASURES LAST«(»A.price AS p\n PATTERN (A+)\n"
        " DEFINE A AS price > 0)", "REX101", "never closed", "PATTERN",
    ),
    _statement(
        "parenthesis_in_pattern",
        "SELECT * FROM t MATCH_RECOGNIZE (\n ORDER BY id\n PATTERN «(»A (B+)\n DEFINE B AS price > 0)", "REX101",
        "never closed", "DEFINE",
    ),
    _statement(
        "parenthesis_between_definitions",
        "SELECT * FROM t MATCH_RECOGNIZE (\n ORDER BY id\n PATTERN (A B+)\n DEFINE A AS price > «(»1 + 2,\n"
        " B AS price > 0)", "REX101", "never closed", "B AS",
    ),
    _statement(
        "parenthesis_at_the_end",
        "SELECT * FROM t MATCH_RECOGNIZE «(»\n ORDER BY id\n PATTERN (A B+)\n DEFINE B AS price > PREV(price)",
        "REX101", "never closed", "the last ) of the text closes the ( at 4:26",
    ),
    _statement(
        "parenthesis_too_many",
        "SELECT * FROM t MATCH_RECOGNIZE (\n ORDER BY id\n PATTERN (A B+)«)»\n DEFINE B AS price > 0)", "REX101",
        "too early", "DEFINE",
    ),
    _statement("prev_outside", "SELECT «PREV»(price) FROM t", "REX207", "LAG"),
    _statement("next_outside", "SELECT id FROM t WHERE «NEXT»(price) > 0", "REX207", "LEAD"),
    _statement(
        "classifier_outside", f"SELECT «CLASSIFIER»() AS c FROM t MATCH_RECOGNIZE ({_ALL})", "REX207",
        "MEASURES CLASSIFIER() AS",
    ),
    _statement(
        "match_number_outside", f"SELECT «MATCH_NUMBER»() AS c FROM t MATCH_RECOGNIZE ({_ALL})", "REX207",
        "MEASURES MATCH_NUMBER() AS",
    ),
    _statement(
        "first_outside", f"SELECT FIRST(«A».price) AS c FROM t MATCH_RECOGNIZE ({_ALL})", "REX207",
        "pattern variable", "MEASURES",
    ),
    _statement("last_outside", f"SELECT «LAST»(price, 1) AS c FROM t MATCH_RECOGNIZE ({_ALL})", "REX207", "MEASURES"),
    _statement("variable_outside", f"SELECT «A».price FROM t MATCH_RECOGNIZE ({_ALL})", "REX207", "MEASURES"),
    _statement(
        "sql_around", f"SELECT id FROM t MATCH_RECOGNIZE ({_ALL}) WHERE price > «)» 0", "REX101",
    ),
]

CLAUSES = [
    _clause("window_of_a_row", "ORDER BY id PATTERN (A) DEFINE A AS «window(2, 5)»", "REX213", "DEFINE SEGMENT"),
    _clause("call_of_a_variable", "ORDER BY id PATTERN (A) DEFINE A AS A.«PREV(price)» > 1", "REX213", "PREV(A.x)"),
    _clause("parameter_in_pattern", "ORDER BY id PATTERN (A{«:»n})", "REX103", "no parameters"),
    _clause("or_in_pattern", "ORDER BY id PATTERN (A «OR» B) DEFINE A AS price > 0", "REX103", "A | B", '"OR"'),
    _clause("and_in_pattern", "ORDER BY id PATTERN (A «and» B) DEFINE A AS price > 0", "REX103", "PATTERN (A B)"),
    _clause("not_in_pattern", "ORDER BY id PATTERN (A «NOT» B) DEFINE A AS price > 0", "REX103", "opposite condition"),
    _clause(
        "pattern_without_parentheses", " ORDER BY id\n «PATTERN A+»\n DEFINE A AS price > 0", "REX102",
        "in parentheses", "PATTERN (A+)",
    ),
    _clause(
        "comma_before_pattern", " ORDER BY id\n MEASURES FIRST(price) AS p«,»\n PATTERN (A+)\n DEFINE A AS price > 0",
        "REX102", "comma", "PATTERN",
    ),
    _clause("comma_at_the_end", " ORDER BY id\n PATTERN (A+)\n DEFINE A AS price > 0«,»", "REX102", "comma"),
    _clause(
        "comma_in_define", " ORDER BY id\n PATTERN (A B+)\n DEFINE A AS price > 0\n «B» AS price > 1", "REX102",
        "a comma is missing before B",
    ),
    _clause(
        "comma_in_later_definition",
        " ORDER BY id\n PATTERN (A B C)\n DEFINE A AS price > 0, B AS price > PREV(price)\n «C» AS price > 1", "REX102",
        "a comma is missing before C",
    ),
    _clause(
        "comma_before_a_segment",
        " ORDER BY id ALL MATCHES\n PATTERN (S R)\n DEFINE SEGMENT S AS avg(price) > 2 «SEGMENT» R AS avg(price) < 2",
        "REX102", "a comma is missing before SEGMENT",
    ),
    _clause(
        "comma_in_measures", " ORDER BY id\n MEASURES FIRST(price) AS p «LAST»(price) AS q\n PATTERN (A+)", "REX102",
        "a comma is missing before LAST",
    ),
    _clause("comma_in_a_union", " ORDER BY id\n PATTERN (A B)\n SUBSET U = (A «B»)", "REX102", "before B"),
    _clause(
        "comma_between_unions", " ORDER BY id\n PATTERN (A B)\n SUBSET U = (A, B) «V» = (A)", "REX102", "before V"
    ),
    _clause("comma_in_order", " ORDER BY id «price»\n PATTERN (A B)", "REX102", "a comma is missing before price"),
    _clause("comma_in_partition", " PARTITION BY sym «kind» ORDER BY id\n PATTERN (A B)", "REX102", "before kind"),
    _clause("where_first", " ORDER BY id\n «WHERE» price > 0\n PATTERN (A B)", "REX102", "WHERE", "FROM (SELECT"),
    _clause(
        "where_last", " ORDER BY id\n PATTERN (A B)\n DEFINE A AS price > 0\n «WHERE» price > 0", "REX102", "WHERE",
        "FROM (SELECT",
    ),
    _clause(
        "group_by", " ORDER BY id\n PATTERN (A B)\n DEFINE A AS price > 0\n «GROUP BY» sym", "REX102", "GROUP BY",
        "PARTITION BY",
    ),
    _clause("group_by_measures", " ORDER BY id\n MEASURES COUNT(*) AS n\n «GROUP BY» sym\n PATTERN (A)", "REX102"),
    _clause("having", " ORDER BY id\n PATTERN (A B)\n DEFINE A AS price > 0\n «HAVING» n > 2", "REX102", "WHERE"),
    _clause("limit", " ORDER BY id\n PATTERN (A B)\n DEFINE A AS price > 0\n «LIMIT» 3", "REX102", "after"),
    _clause("select_first", " «SELECT» price ORDER BY id\n PATTERN (A B)", "REX102", "MEASURES"),
    _clause("select_later", " ORDER BY id\n «SELECT» price AS p\n PATTERN (A B)", "REX102", "MEASURES"),
    _clause("from_inside", " «FROM» t ORDER BY id\n PATTERN (A B)", "REX102", "before MATCH_RECOGNIZE"),
    _clause("commas_in_pattern", " ORDER BY id\n PATTERN (A«,» B)", "REX103", "a blank"),
    _clause("any_rows", " ORDER BY id\n PATTERN (A «.*» B)", "REX103", "no condition"),
    _clause("any_row", " ORDER BY id\n PATTERN (A «.» B)", "REX103", "no condition"),
    _clause("brackets", " ORDER BY id\n PATTERN (A «[»AB]+ B)", "REX103", "(A | B)"),
    _clause("bang", " ORDER BY id\n PATTERN (A «!»B)", "REX103", "DEFINE"),
    _clause("arrow", " ORDER BY id\n PATTERN (A «->» B)", "REX103", "a blank"),
    _clause("quoted_pattern", " ORDER BY id\n PATTERN («'»A B+')", "REX103", "without quotes"),
    _clause("double_pipe", " ORDER BY id\n PATTERN (A |«|» B)", "REX103", "one |"),
    _clause("text_with_number", " ORDER BY id\n PATTERN (A+)\n DEFINE A AS «sym > 5»", "REX214", "CAST(sym AS"),
    _clause("text_with_prev", " ORDER BY id\n PATTERN (A B+)\n DEFINE B AS «sym > PREV(price)»", "REX214", "CAST(sym"),
    _clause("text_with_match", " ORDER BY id\n PATTERN (A B+)\n DEFINE B AS «sym = FIRST(A.vol)»", "REX214", "CAST("),
    _clause("text_in_numbers", " ORDER BY id\n PATTERN (A B+)\n DEFINE B AS «sym IN (1, 2)»", "REX214", "CAST("),
    _clause(
        "text_between_numbers", " ORDER BY id\n PATTERN (A B+)\n DEFINE B AS «sym BETWEEN 1 AND 2»", "REX214", "CAST("
    ),
    _clause("text_plus", " ORDER BY id\n PATTERN (A B+)\n DEFINE B AS «sym + 1» > 0", "REX214", "CAST(sym AS"),
    _clause(
        "text_in_measure", " ORDER BY id\n MEASURES «LAST(sym) > 5» AS m\n PATTERN (A B+)", "REX214",
        "CAST(LAST(sym) AS",
    ),
    _clause(
        "text_of_segment", " ORDER BY id ALL MATCHES\n PATTERN (S)\n DEFINE SEGMENT S AS «first(sym) > 2»", "REX214",
        "CAST(first(sym) AS",
    ),
    _clause(
        "references_without_order",
        " ORDER BY id ALL MATCHES\n PATTERN ((A B)+ & (C D)+)\n DEFINE SEGMENT A AS last(price) > last(D.price),"
        " SEGMENT B AS true,\n SEGMENT C AS last(price) < last(«B.price»), SEGMENT D AS true", "REX301",
        "no order of evaluation serves the references to B, D",
    ),
]

EVENTS = [
    _events("equivalence_without_brackets", f"PATTERN SEQ(Buy a, Sell b) {_ANY} {{ «vol» }}", "REX214", "[vol]"),
    _events("type_in_quotes", f"PATTERN SEQ(«'»Buy' a, Sell b) {_ANY}", "REX108", "without quotes"),
    _events("two_columns_of_one_name", f"PATTERN SEQ(Buy a, Sell b) {_ANY} RETURN «a.id», b.id", "REX205", "id_2"),
    _events("median_of_events", f"{_MANY} {{\n «median(b[].price)» > 2\n}}", "REX301", "median", "WHERE", "RETURN"),
    _events("mode_of_events", f"{_MANY} {{\n a.price > 0 AND «mode(b[].price)» > 2\n}}", "REX301", "mode"),
    _events(
        "text_with_number_of_event", f"PATTERN SEQ(Buy a, Sell b)\n{_ANY} {{\n a.price > 0 AND «a.sym > 5»\n}}",
        "REX214", "CAST(a.sym AS",
    ),
    _events(
        "text_with_other_event", f"PATTERN SEQ(Buy a, Sell b)\n{_ANY} {{\n a.price > 0 AND «a.sym > b.price»\n}}",
        "REX214", "CAST(a.sym AS",
    ),
    _events("sum_of_text", f"{_MANY} {{ «sum(b[].sym)» > 3 }}", "REX214", "sum", "CAST"),
    _events("text_returned", f"{_MANY}\nRETURN «a.sym > 5» AS s", "REX214", "CAST(a.sym AS"),
    _events(
        "strategy_without_variables", "PATTERN SEQ(Buy a, Sell b)\nWHERE «skip_till_any_match» {\n a.price > 2\n}",
        "REX223", "skip_till_any_match(a, b)",
    ),
    _events(
        "strategy_misspelt_without_variables",
        "PATTERN SEQ(Buy a, Sell b)\nWHERE «skip_til_any_match» {\n a.price > 2\n}", "REX223",
        "did you mean skip_till_any_match",
    ),
    _events(
        "and_behind_strategy", f"PATTERN SEQ(Buy a, Sell b)\n{_ANY} «AND» a.price > 2", "REX107", "braces",
        "skip_till_any_match(a, b) { a.price > 2 }",
    ),
    _events(
        "comma_between_conjuncts", f"PATTERN SEQ(Buy a, Sell b)\n{_ANY} {{ a.price > 2«,» b.price > 3 }}", "REX104",
        "AND",
    ),
    _events("returned_without_comma", f"{_MANY}\nRETURN a.price AS p «count»(b[]) AS n", "REX107", "before count"),
    _events("return_star", f"{_MANY}\nRETURN «*»", "REX104", "RETURN EVENTS"),
    _events("bang_negation", f"PATTERN SEQ(Buy a, «!»(Sell b), Buy c)\n{_ANY}", "REX108", "~(Type variable)"),
    _events("not_negation", f"PATTERN SEQ(Buy a, «NOT» Sell b, Buy c)\n{_ANY}", "REX108", "~(Sell b)"),
    _events("group_by_events", f"PATTERN SEQ(Buy a, Sell b)\n{_ANY}\n«GROUP BY» a.sym", "REX107", "[sym]"),
    _events("order_by_events", f"PATTERN SEQ(Buy a, Sell b)\n{_ANY}\n«ORDER BY» a.id", "REX107", "time"),
    _events("partition_by_events", f"PATTERN SEQ(Buy a, Sell b)\n«PARTITION BY» sym\n{_ANY}", "REX107", "[sym]"),
    _events("select_events", "«SELECT» * FROM t", "REX107", "PATTERN SEQ("),
    _events(
        "pattern_not_closed", f"PATTERN SEQ«(»Buy a, Sell b\n{_ANY}", "REX108", "never closed", "WHERE",
    ),
    _events(
        "parenthesis_in_conjunct", f"PATTERN SEQ(Buy a, Sell b)\n{_ANY} {{\n a.price > «(»b.price + 1\n}}", "REX104",
        "never closed",
    ),
    _events("parenthesis_returned", f"{_MANY}\nRETURN abs«(»a.price AS p", "REX104", "never closed"),
    _events("long_window", f"{_MANY}\nWITHIN «99999999999999999999»", "REX226", "64 bits"),
    _events("long_window_of_events", f"{_MANY}\nWITHIN «99999999999999999999 EVENTS»", "REX226", "64 bits"),
]

MISTAKES = STATEMENTS + CLAUSES + EVENTS
