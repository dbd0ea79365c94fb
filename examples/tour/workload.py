"""Workload: four rules over one stream of doors, answered by one plan that shares what they have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sparkrex as rex
from examples.tour.planting import after, in_order, moment, names, utc
from examples.tour.stop import Scene, Stop

RULES = {
    "intruder": "PATTERN SEQ(Lobby a, Stairs b, Vault c) WHERE [visitor] WITHIN 10 minutes",
    "unguarded": "PATTERN SEQ(Lobby a, Stairs b, NOT(Guard g), Vault c) WHERE [visitor] WITHIN 10 minutes",
    "lost": "PATTERN SEQ(Lobby a, Stairs b, NOT(Exit e)) WHERE [visitor] WITHIN 30 minutes",
    "both": "PATTERN AND(Lab a, NOT(Guard g), Vault c) WHERE [visitor] WITHIN 10 minutes",
}
# Where a visitor goes, the rules that must say so, and the door at which each of their matches ends.
WALKS: dict[tuple[str, ...], dict[str, str]] = {
    ("Lobby", "Desk", "Stairs", "Vault", "Exit"): {"intruder": "Vault", "unguarded": "Vault"},
    ("Lobby", "Stairs", "Guard", "Vault", "Exit"): {"intruder": "Vault"},
    ("Lobby", "Desk", "Stairs", "Desk"): {"lost": "Stairs"},
    ("Vault", "Desk", "Lab"): {"both": "Lab"},
    ("Lab", "Vault"): {"both": "Vault"},
    ("Lab", "Guard", "Vault"): {},
    ("Stairs", "Lobby", "Vault", "Exit"): {},
    ("Lobby", "Stairs", "Desk", "Exit"): {},
    ("Desk", "Guard", "Desk", "Exit"): {},
}
N_WALKS = 12


def find(doors: Any) -> Any:
    return rex.workload(RULES, time="ts", type="door").detect(doors).table


def plant(random: np.random.Generator, n_visitors: int) -> Scene:
    visitors, parts, planted = names("v", n_visitors), [], []
    walks = list(WALKS.items())
    for visitor in visitors:
        seconds: list[int] = []
        doors: list[str] = []
        for number in range(N_WALKS):
            walk, rules = walks[int(random.integers(len(walks)))]
            # An hour for each walk, and a minute or so from door to door: no rule can join two walks.
            times = 3600 * number + np.cumsum(random.integers(30, 91, len(walk)))
            planted += [(rule, visitor, moment(after(times[[walk.index(door)]])[0])) for rule, door in rules.items()]
            seconds += times.tolist()
            doors += walk
        parts.append(pa.table({"visitor": [visitor] * len(doors), "ts": utc(after(np.array(seconds))), "door": doors}))
    return Scene(in_order(parts), planted, visitors[:3])


def matches(found: pa.Table) -> pa.Table:
    """A row for each match, from a row for each of its events."""
    grouped = found.group_by(["pattern", "visitor", "match_id"]).aggregate([("ts", "min"), ("ts", "max")])
    return grouped.rename_columns({"ts_min": "began", "ts_max": "ended"})


def draw(doors: pa.Table, found: pa.Table) -> Any:
    shown = matches(found).sort_by("began")
    return rex.plot(
        shown, doors, x="ts", y="door", start="began", end="ended", label="pattern", key="visitor",
        title="Four rules about doors",
    )


STOP = Stop(
    title="Workload",
    about=(
        "Many rules over one stream, answered by one plan: what they have in common is searched once. Visitors walk "
        "through doors, and each kind of walk is known to break certain rules, or none."
    ),
    decoys="Walks with a guard in between, in another order, or that end at the exit.",
    query="\n".join(f"{name:10} {text}" for name, text in RULES.items()),
    key="visitor", n_keys=300, plant=plant, find=find,
    answers=lambda found: [(row["pattern"], row["visitor"], row["ended"]) for row in matches(found).to_pylist()],
    draw=draw,
    page="workloads.md",
)
