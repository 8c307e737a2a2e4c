# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems whose CPIs have as few threads as suffice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from camkes import pipeline
from camkes.analysis.replay import write_model
from camkes.analysis.simulation import program
from camkes.analysis.workload import Workload
from camkes.diagnostics import Sink
from camkes.protocols.plan import Plan


def few_threads(plan: Plan) -> Mapping[str, int]:
    """For the CPIs that can have a pool, the least threads of one."""
    return {
        cpi.name: cpi.threads_minimum
        for cpi in plan.cpis
        if cpi.threads_minimum < len(cpi.contexts) and not cpi.protocol.own_priority and cpi.monitor is None
    }


def with_pools(workload: Workload, folder: Path) -> Workload:
    """The same workload with pools; its model is written in `folder` to be planned."""
    found = pipeline.check(
        pipeline.Input(write_model(workload, program(workload), folder), preprocess=False), Sink()
    )
    assert found is not None
    few = {name.partition(".")[0]: threads for name, threads in few_threads(found.plan).items()}
    cpis = (
        cpi if cpi.interface else replace(cpi, pool=few.get(cpi.name.replace(".", "_"), 0))
        for cpi in workload.cpis
    )
    return replace(workload, cpis=tuple(cpis))
