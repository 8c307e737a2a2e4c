# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the plan of a workload's model adds to it: as few threads as suffice, managers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from camkes import pipeline
from camkes.analysis.replay import write_model
from camkes.analysis.simulation import program
from camkes.analysis.workload import Workload
from camkes.diagnostics import Sink
from camkes.project.application import KERNEL_IS_MCS
from camkes.protocols.plan import Plan


def few_threads(plan: Plan) -> Mapping[str, int]:
    """For the CPIs that can have a pool, the least threads of one."""
    return {
        cpi.name: cpi.threads_minimum
        for cpi in plan.cpis
        if cpi.threads_minimum < len(cpi.contexts) and not cpi.protocol.own_priority and cpi.monitor is None
    }


def _planned(workload: Workload, folder: Path, *definitions: tuple[str, str]) -> Plan:
    """Of its model, which is written in the folder."""
    root = write_model(workload, program(workload), folder)
    found = pipeline.check(pipeline.Input(root, preprocess=False, definitions=definitions), Sink())
    assert found is not None
    return found.plan


def with_pools(workload: Workload, folder: Path) -> Workload:
    """The same workload, in which CPIs have as few threads as suffice."""
    plan = _planned(workload, folder)
    few = {name.partition(".")[0]: threads for name, threads in few_threads(plan).items()}
    cpis = (
        cpi if cpi.interface else replace(cpi, pool=few.get(cpi.name.replace(".", "_"), 0))
        for cpi in workload.cpis
    )
    return replace(workload, cpis=tuple(cpis))


def with_managers(workload: Workload, folder: Path) -> Workload:
    """The same workload on an MCS kernel, where `fixed` CPIs can have managers."""
    plan = _planned(workload, folder, (KERNEL_IS_MCS, "ON"))
    managed = {cpi.instance for cpi in plan.cpis if cpi.manager and len(cpi.contexts) > 1}
    cpis = (
        replace(cpi, managed=workload.lock[cpi.name].replace(".", "_") in managed) for cpi in workload.cpis
    )
    return replace(workload, cpis=tuple(cpis))
