"""SQL-TS queries as data: what the oracle evaluates and random queries are written from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Constant:
    value: int | str | None


@dataclass(frozen=True)
class Ref:
    """A column of an element's row; `end` is FIRST or LAST if it is written, `steps` are previous and next."""

    element: str
    column: str
    end: str = ""
    steps: int = 0


@dataclass(frozen=True)
class Agg:
    """COUNT(X), or a function of a column over the rows of an element."""

    function: str
    element: str
    column: str = ""


@dataclass(frozen=True)
class Sum:
    left: Term
    right: Term


Term: TypeAlias = Constant | Ref | Agg | Sum


@dataclass(frozen=True)
class Comparison:
    operator: str
    left: Term
    right: Term


@dataclass(frozen=True)
class Between:
    term: Term
    low: Term
    high: Term


@dataclass(frozen=True)
class Either:
    """OR of conditions, in parentheses."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    part: Condition


Condition: TypeAlias = Comparison | Between | Either | Not


@dataclass(frozen=True)
class Pattern:
    """A query: elements with their stars, the conjuncts of WHERE in order, what is selected."""

    elements: tuple[tuple[str, bool], ...]
    conjuncts: tuple[Condition, ...]
    selected: tuple[Term, ...]
    cluster: str | None = "name"


def term_text(term: Term) -> str:
    match term:
        case Constant(value):
            return "NULL" if value is None else repr(value)
        case Ref(element, column, end, steps):
            row = f"{end}({element})" if end else element
            return row + (".previous" * -steps if steps < 0 else ".next" * steps) + f".{column}"
        case Agg("count", element):
            return f"COUNT({element})"
        case Agg(function, element, column):
            return f"{function.upper()}({element}.{column})"
        case Sum(left, right):
            return f"{term_text(left)} + {term_text(right)}"


def condition_text(condition: Condition) -> str:
    match condition:
        case Comparison(operator, left, right):
            return f"{term_text(left)} {operator} {term_text(right)}"
        case Between(term, low, high):
            return f"{term_text(term)} BETWEEN {term_text(low)} AND {term_text(high)}"
        case Either(parts):
            return "(" + " OR ".join(condition_text(part) for part in parts) + ")"
        case Not(part):
            return f"NOT ({condition_text(part)})"


def query_text(pattern: Pattern) -> str:
    """The query in SQL-TS; the columns of its result are c0, c1 and so on."""
    selected = ", ".join(f"{term_text(term)} AS c{number}" for number, term in enumerate(pattern.selected))
    cluster = f"CLUSTER BY {pattern.cluster} " if pattern.cluster else ""
    elements = ", ".join(("*" if is_star else "") + name for name, is_star in pattern.elements)
    where = " AND ".join(condition_text(conjunct) for conjunct in pattern.conjuncts)
    query = f"SELECT {selected} FROM quote {cluster}SEQUENCE BY date AS ({elements})"
    return f"{query} WHERE {where}" if where else query


def elements_named(part: Condition | Term) -> set[str]:
    match part:
        case Constant():
            return set()
        case Ref(element) | Agg(_, element):
            return {element}
        case Sum(left, right) | Comparison(_, left, right):
            return elements_named(left) | elements_named(right)
        case Between(term, low, high):
            return elements_named(term) | elements_named(low) | elements_named(high)
        case Either(parts):
            return set().union(*map(elements_named, parts))
        case Not(inner):
            return elements_named(inner)


def references(part: Condition | Term) -> list[Ref | Agg]:
    match part:
        case Constant():
            return []
        case Ref() | Agg():
            return [part]
        case Sum(left, right) | Comparison(_, left, right):
            return references(left) + references(right)
        case Between(term, low, high):
            return references(term) + references(low) + references(high)
        case Either(parts):
            return [found for inner in parts for found in references(inner)]
        case Not(inner):
            return references(inner)
