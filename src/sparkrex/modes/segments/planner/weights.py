"""How long operators and aggregates take on this engine: nanoseconds, as `rex profile` measured them.

Operators answer for a batch of search spaces at a time, so a call costs something by itself, however little it does,
and the paper's one weight per segment (Equation 1) is not enough: what comes in and what goes out cost differently.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from sparkrex.modes.segments.aggregates import registry
from sparkrex.modes.segments.aggregates.contract import Weights as AggregateWeights
from sparkrex.modes.segments.planner.physical_plan import Op

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

SHIPPED = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True)
class OperatorWeights:
    """f_op: `call` once for a batch, `input` for each segment that comes in, `output` for each one that is made."""

    call: float
    input: float
    output: float


@dataclass(frozen=True, slots=True)
class Weights:
    """All weights.

    `conditions` are those of a condition's operators: `call` and `input` for each node of its expression, `output`
    unused. `ends` are those of a leaf whose condition compares the values at both ends. `ordering` is what it costs to
    order a segment that carries bindings among the others of its batch.
    """

    operators: Mapping[Op, OperatorWeights]
    aggregates: Mapping[str, AggregateWeights]
    conditions: OperatorWeights
    ends: OperatorWeights
    ordering: float

    def aggregate(self, name: str) -> AggregateWeights:
        """Of an aggregate; a user's was measured when it was registered."""
        return self.aggregates.get(name) or registry.weights(name) or AggregateWeights(1000.0, 100.0, 1000.0)


@cache
def shipped_weights() -> Weights:
    """Those that came with the package, which may be a zip."""
    return read_weights(resources.files(__package__ or "") / SHIPPED.name)


def read_weights(path: Traversable) -> Weights:
    """From JSON."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Weights(
        {Op(name): OperatorWeights(**values) for name, values in data["operators"].items()},
        {name: AggregateWeights(**values) for name, values in data["aggregates"].items()},
        OperatorWeights(**data["conditions"]),
        OperatorWeights(**data["ends"]),
        data["ordering"],
    )


def write_weights(weights: Weights, path: Path) -> None:
    """As JSON."""
    data = {
        "operators": {op.value: asdict(found) for op, found in weights.operators.items()},
        "aggregates": {name: asdict(found) for name, found in sorted(weights.aggregates.items())},
        "conditions": asdict(weights.conditions),
        "ends": asdict(weights.ends),
        "ordering": weights.ordering,
    }
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
