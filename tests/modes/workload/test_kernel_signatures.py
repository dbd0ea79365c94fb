"""Every kernel of workloads is compiled for one kind of arguments, whatever is asked and however it is fed."""

from __future__ import annotations

import random
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest
from tests.matching.schedules import disturb, scattered
from tests.modes.events.engine_runs import evaluator_of
from tests.modes.workload.draws import drawn_workload
from tests.modes.workload.running import arranged, fed, new_runner, shared_forms

from sparkrex.kernels.lazy import Kernel
from sparkrex.matching.feeding import feeds_of
from sparkrex.modes.workload import kernels


def compiled() -> dict[str, list[Any]]:
    """The signatures of all kernels that Python calls."""
    found = {}
    for module in iter_modules(kernels.__path__, f"{kernels.__name__}."):
        for name, kernel in vars(import_module(module.name)).items():
            is_called = isinstance(kernel, Kernel) and "no_cpython_wrapper" not in kernel._options
            if is_called and kernel._dispatcher is not None and kernel.__module__ == module.name:
                found[f"{module.name.rpartition('.')[2]}.{name}"] = kernel.dispatcher.signatures
    return found


@pytest.mark.slow
def test_each_kernel_has_one_signature() -> None:
    for seed in range(40):
        draw = random.Random(seed)
        workload = drawn_workload(draw)
        shared = shared_forms(workload.queries)
        if not shared.forms:
            continue
        runner = new_runner(shared.prepared("sa-edge", draw), evaluator_of(shared.forms[0].query))
        table, arrangement = arranged(runner.queries, workload.rows)
        fed(runner, feeds_of(table, arrangement, None))
        fed(runner, feeds_of(table, arrangement, 3))
        if table.num_rows:
            state = runner.open()
            for feed in scattered(table, arrangement, draw, "t"):
                runner.decide(state, feed)
                disturb(state, draw)
    signatures = compiled()
    assert set(signatures) == {"search.run", "matches.reject", "matches.write_matches"}
    for name, found in signatures.items():
        for arguments in zip(*found, strict=True):
            assert len({str(one) for one in arguments}) == 1, (name, set(map(str, arguments)))
