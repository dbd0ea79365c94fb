"""Ways to say the same query in other words.

Engine and oracle read the same analysed plan, so a mistake of the parser or of the analysis would escape their
comparison. Two texts of one meaning need not agree by mistake. Each rewording takes a query of the generator and gives
another text, or the same where it does not apply.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_QUANTIFIER = re.compile(r"(\{[\d,]+\}|[*+?])(\??)")
_SYMBOLS = {"?": "{0,1}", "*": "{0,}", "+": "{1,}"}
_LITERAL = re.compile(r"('[^']*')")
_CLAUSES = re.compile(r"\n  (?=[A-Z])")


def _changed(query: str, head: str, change: Callable[[str], str]) -> str:
    """The query with one clause changed; `head` is the clause's first word."""
    opening, *clauses = _CLAUSES.split(query)
    return "\n  ".join([opening, *(change(text) if text.startswith(head) else text for text in clauses)])


def _pattern_variables(query: str) -> list[str]:
    text = next(text for text in _CLAUSES.split(query) if text.startswith("PATTERN"))
    names = re.findall(r"[A-Za-z]+", text.removeprefix("PATTERN").replace("PERMUTE", ""))
    return sorted({name.upper() for name in names})


def skip_to_last(query: str) -> str:
    """`TO v` is `TO LAST v`."""
    return re.sub(r"SKIP TO (?!FIRST|LAST|NEXT)", "SKIP TO LAST ", query)


def running_said(query: str) -> str:
    """RUNNING is the default of FIRST and LAST, in DEFINE the only choice."""
    return re.sub(r"(?<!FINAL )(?<!RUNNING )\b(FIRST|LAST)\(", r"RUNNING \1(", query)


def offsets_said(query: str) -> str:
    """PREV and NEXT go one row, FIRST and LAST none."""
    query = re.sub(r"\b(FIRST|LAST)\(([\w.]+)\)", r"\1(\2, 0)", query)
    return re.sub(r"\b(PREV|NEXT)\(([\w.]+)\)", r"\1(\2, 1)", query)


def permutation_spelt_out(query: str) -> str:
    """PERMUTE is the alternation of all orders, in lexicographic order of positions."""

    def spelt_out(text: str) -> str:
        begin = text.find("PERMUTE(")
        if begin < 0:
            return text
        items, end = _arguments(text, begin + len("PERMUTE("))
        # A part that is an alternation needs parentheses.
        orders = itertools.permutations(f"({item})" if "|" in item else item for item in items)
        return spelt_out(f"{text[:begin]}({' | '.join(map(' '.join, orders))}){text[end:]}")

    return _changed(query, "PATTERN", spelt_out)


def _arguments(text: str, begin: int) -> tuple[list[str], int]:
    """What stands between the commas of the parenthesis that opened before `begin`, and where the text goes on."""
    items, depth, since = [], 0, begin
    for place in range(begin, len(text)):
        letter = text[place]
        if depth == 0 and letter in ",)":
            items.append(text[since:place].strip())
            since = place + 1
            if letter == ")":
                return items, since
        depth += (letter in "({") - (letter in ")}")
    raise ValueError(f"a parenthesis is not closed: {text}")


def quantifiers_in_braces(query: str) -> str:
    """`?`, `*` and `+` as bounds."""
    return _changed(
        query, "PATTERN", lambda text: _QUANTIFIER.sub(lambda found: _SYMBOLS.get(found[1], found[1]) + found[2], text)
    )


def quantifiers_unfolded(query: str) -> str:
    """`v{2}` is `v v`, `v{2,}` is `v v+` for a variable, which never matches empty."""

    def unfolded(found: re.Match[str]) -> str:
        return f"({found[1]} {found[1]}{'+' + found[3] if found[2] else ''})"

    return _changed(query, "PATTERN", lambda text: re.sub(r"\b([A-Ea-e])\{2(,?)\}(\??)", unfolded, text))


def grouped(query: str) -> str:
    """Parentheses around the whole pattern change nothing."""
    return _changed(query, "PATTERN", lambda text: re.sub(r"\APATTERN \((.*)\)(?=\)?\Z)", r"PATTERN ((\1))", text))


def small_letters(query: str) -> str:
    """Keywords, columns and unquoted variables in lower case."""
    return "".join(part if part.startswith("'") else part.lower() for part in _LITERAL.split(query))


def with_comments(query: str) -> str:
    """Comments and blanks between clauses."""
    return _CLAUSES.sub("\n/* a comment, MEASURES ( */\t  -- PATTERN (X)\n\n", query)


def over_a_subquery(query: str) -> str:
    """The input through a subquery."""
    return query.replace("FROM data ", "FROM (SELECT * FROM data) ")


def over_a_common_table(query: str) -> str:
    """The input through a common table expression."""
    return "WITH source AS (SELECT * FROM data) " + query.replace("FROM data ", "FROM source ")


def inside_a_statement(query: str) -> str:
    """The relation inside a larger statement."""
    return f"SELECT * FROM ({query}) AS inner_query WHERE true"


def qualified_by_the_table(query: str) -> str:
    """An alias of the input."""
    query = query.replace("FROM data ", "FROM data AS source ")
    return _changed(query, "PARTITION", lambda text: re.sub(r"\b([gk])\b", r"source.\1", text))


def everything_defined(query: str) -> str:
    """A variable without a condition maps any row."""
    defined = re.findall(r"(?:DEFINE |, )([A-E]) AS ", query)
    missing = [f"{name} AS true" for name in _pattern_variables(query) if name not in defined]
    if not missing:
        return query
    if "DEFINE " in query:
        return query.replace("DEFINE ", f"DEFINE {', '.join(missing)}, ")
    return f"{query.removesuffix(')')}\n  DEFINE {', '.join(missing)})"


def unions_of_one(query: str) -> str:
    """A union variable of one member is that member."""
    names = _pattern_variables(query)
    opening, *clauses = _CLAUSES.split(query.removesuffix(")"))
    renamed = []
    for text in clauses:
        if text.startswith(("MEASURES", "DEFINE")):
            text = re.sub(r"\b([A-E])\.", r"only_\1.", text)
            text = re.sub(r"CLASSIFIER\(([A-E])\)", r"CLASSIFIER(only_\1)", text)
        elif text.startswith("AFTER"):
            text = re.sub(r"\b([A-E])\Z", r"only_\1", text)
        renamed.append(text)
    subsets = ", ".join(f"only_{name} = ({name})" for name in names)
    place = next((index for index, text in enumerate(renamed) if text.startswith("SUBSET")), None)
    if place is not None:
        renamed[place] = f"{renamed[place]}, {subsets}"
    else:
        before = next((index for index, text in enumerate(renamed) if text.startswith("DEFINE")), len(renamed))
        renamed.insert(before, f"SUBSET {subsets}")
    return "\n  ".join([opening, *renamed]) + ")"


REWORDINGS: tuple[Callable[[str], str], ...] = (
    skip_to_last,
    running_said,
    offsets_said,
    permutation_spelt_out,
    quantifiers_in_braces,
    quantifiers_unfolded,
    grouped,
    small_letters,
    with_comments,
    over_a_subquery,
    over_a_common_table,
    inside_a_statement,
    qualified_by_the_table,
    everything_defined,
    unions_of_one,
)
