"""What a stream is of that may come and go: the patterns of a workload.

A checkpoint goes on with other members where all else is the same. Beside the head stands whose the state is in more
detail: what is the same for all members, each member's own fingerprint, and the columns of the rows that are kept.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.modes.fingerprint import fingerprint

if TYPE_CHECKING:
    from sparkrex.modes.plan import Plan


@dataclass(frozen=True, slots=True)
class Members:
    """`base` is the fingerprint of the query without its members; `prints` are theirs, by name."""

    base: str
    prints: dict[str, str]

    @staticmethod
    def of(plan: Plan, n_buckets: int) -> Members | None:
        """Those of a plan, if it has some."""
        members = plan.members()
        if not members:
            return None
        base = f"{fingerprint(plan.without_members())} in {n_buckets}"
        return Members(base, {name: fingerprint(own) for name, own in members.items()})

    def write(self, schema: pa.Schema) -> bytes:
        """As bytes, with the columns of rows that are kept."""
        text = base64.b64encode(schema.serialize().to_pybytes()).decode()
        return json.dumps({"base": self.base, "prints": self.prints, "schema": text}).encode()

    @staticmethod
    def read(data: bytes) -> tuple[Members, pa.Schema]:
        """What was written."""
        found = json.loads(data)
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(found["schema"])))
        return Members(found["base"], found["prints"]), schema

    def staying(self, before: Members) -> set[str]:
        """The members that are what they were."""
        return {name for name, own in self.prints.items() if before.prints.get(name) == own}
