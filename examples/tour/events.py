"""Event query: stolen cards. The events of a match have others between them, and one must be absent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sparkrex as rex
from examples.tour.planting import after, in_order, moment, names, places, utc
from examples.tour.stop import Scene, Stop

N_PAYMENTS = 400

QUERY = """PATTERN SEQ(Small a, Small b, Small c, ~(Pin p), Large d)
WHERE   skip_till_next_match(a, b, c, d) { [card] }
WITHIN  10 minutes
RETURN  a.card AS card, a.ts AS tried_at, d.ts AS taken_at, d.amount AS amount"""

TYPES = {
    "Small": "kind = 'payment' AND amount < 5",
    "Large": "kind = 'payment' AND amount > 500",
    "Pin": "kind = 'pin'",
}
STOLEN = rex.events(QUERY, time="ts", types=TYPES)


def find(payments: Any) -> Any:
    return rex.events(QUERY, payments, time="ts", types=TYPES)


def plant(random: np.random.Generator, n_cards: int) -> Scene:
    cards, parts, planted = names("c", n_cards), [], []
    for card in cards:
        ts = after(np.cumsum(random.integers(30, 61, N_PAYMENTS)))
        kind = np.full(N_PAYMENTS, "payment")
        amount = random.uniform(10, 300, N_PAYMENTS)
        for number, place in enumerate(places(random, N_PAYMENTS, 4, 30)):
            # Three small payments with others between them, and a large one: after 25 payments it is too late.
            amount[[place, place + 2, place + 3]] = random.uniform(1, 4, 3)
            large = place + (25 if number == 3 else 8)
            amount[large] = random.uniform(600, 2_000)
            if number == 2:
                kind[place + 5] = "pin"  # the owner
            if number < 2:
                planted.append((card, moment(ts[place]), moment(ts[large])))
        parts.append(pa.table({
            "card": [card] * N_PAYMENTS, "ts": utc(ts), "kind": kind.tolist(), "amount": np.round(amount, 2),
        }))
    return Scene(in_order(parts), planted, cards[:3])


STOP = Stop(
    title="Events",
    about=(
        "An event query says which events may be passed over, and which must not be there. Twice on each card a thief "
        "tries three small payments, and then takes a large sum within ten minutes; ordinary payments lie between "
        "them, and no PIN."
    ),
    decoys="The same with a PIN before the large sum, and the same with the large sum too late.",
    query="\n".join([QUERY, *(f"-- {name}: {condition}" for name, condition in TYPES.items())]),
    key="card", n_keys=100, plant=plant, find=find,
    answers=lambda found: [(row["card"], row["tried_at"], row["taken_at"]) for row in found.to_pylist()],
    draw=lambda payments, found: rex.plot(STOLEN, payments, y="amount", title="Stolen cards"),
    page="events.md",
)
