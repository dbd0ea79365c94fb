"""The queries of the paper's section 6: one template, with the predicate of the Kleene closure and the strategy."""

from __future__ import annotations

from dataclasses import dataclass

PREDICATES = {
    "p1": None,
    "p2": "a[i].price > a[i-1].price",
    "p3": "a[i].price > min(a[..i-1].price)",
    "p3max": "a[i].price > max(a[..i-1].price)",
    "p3avg": "a[i].price > avg(a[..i-1].price)",
    "p3*": "a[i].price > min(a[..i-1].price)",
}
"""p3 is that of the minimum, as in the paper; p3* has a third component behind it."""
STRATEGIES = {"s2": "partition_contiguity", "s3": "skip_till_next_match"}
QUERIES = ("p1s2", "p1s3", "p2s2", "p2s3", "p3s2", "p3s3")
"""The columns of Table 2."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One query: `name` is a predicate and a strategy, as p2s3."""

    name: str
    window: int
    is_non_overlapping: bool = False

    @property
    def predicate(self) -> str:
        """The name of its predicate."""
        return self.name[:-2]

    def text(self) -> str:
        """The query."""
        third = self.predicate == "p3*"
        conditions = [
            "[symbol]", "a[1].price % 500 = 0", PREDICATES[self.predicate], "b.volume < 150",
            "c.price > a[1].price AND c.price < a[a.LEN].price" if third else None,
        ]
        variables = "a[], b, c" if third else "a[], b"
        return "\n".join((
            f"PATTERN SEQ(Stock+ a[], Stock b{', Stock c' if third else ''})",
            f"WHERE {STRATEGIES[self.name[-2:]]}({variables}) {{ {' AND '.join(filter(None, conditions))} }}",
            f"WITHIN {self.window} EVENTS",
            "OUTPUT NON-OVERLAPPING" if self.is_non_overlapping else "OUTPUT ALL",
            "RETURN a[1].ts AS first, count(a[]) AS taken, b.ts AS last",
        ))
