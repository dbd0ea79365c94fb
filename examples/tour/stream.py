"""A short stream: guessed passwords, in files that arrive in turn. Matches reach from one file into the next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sparkrex as rex
from examples.tour.planting import BEGIN, after, in_order, moment, names, spells, utc
from examples.tour.stop import Scene, Stop

N_LOGINS = 320
CUTS = tuple(BEGIN + np.timedelta64(minutes, "m") for minutes in (40, 80))

QUERY = """SELECT *
FROM logins MATCH_RECOGNIZE (
  PARTITION BY account
  ORDER BY ts
  MEASURES
    FIRST(FAILED.ts) AS began,
    GOT_IN.ts        AS got_in_at,
    count(FAILED.*)  AS tries
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (FAILED{5,} GOT_IN) WITHIN INTERVAL '5' MINUTE
  DEFINE
    FAILED AS outcome = 'failed',
    GOT_IN AS outcome = 'ok')"""


def find(logins: Any) -> Any:
    return rex.sql(QUERY, logins=logins)


def plant(random: np.random.Generator, n_accounts: int) -> Scene:
    accounts, parts, planted = names("a", n_accounts), [], []
    for account in accounts:
        ts = after(np.cumsum(random.integers(15, 31, N_LOGINS)))
        outcome = np.where(spells(random, N_LOGINS), "failed", "ok")
        # One early in the first file, and one across each cut.
        for first in (20, *(int(np.searchsorted(ts, cut)) - 3 for cut in CUTS)):
            tries = int(random.integers(5, 9))
            outcome[first - 1 : first + tries + 1] = "ok"
            outcome[first : first + tries] = "failed"
            planted.append((account, moment(ts[first]), moment(ts[first + tries]), tries))
        parts.append(pa.table({"account": [account] * N_LOGINS, "ts": utc(ts), "outcome": outcome.tolist()}))
    return Scene(in_order(parts), planted, accounts[:3], tuple(moment(cut) for cut in CUTS))


STOP = Stop(
    title="Stream",
    about=(
        "The same text asks a stream: on Spark the rows arrive in three files, one for each batch, and answers come as "
        "they are decided. On each account somebody guesses a password, five wrong ones or more and then a right one, "
        "three times; two of them reach from one file into the next."
    ),
    decoys="Up to three wrong passwords at a time.",
    query=QUERY, key="account", n_keys=100, plant=plant, find=find,
    answers=lambda found: [
        (row["account"], row["began"], row["got_in_at"], row["tries"]) for row in found.to_pylist()
    ],
    draw=lambda logins, found: rex.plot(QUERY, logins=logins, y="outcome", title="Guessed passwords"),
    page="streaming.md",
)
