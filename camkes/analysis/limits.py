# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How many tasks of lower priority can keep a job waiting, and how long. A search of schedules checks it."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.blocking import PossibleWaits, waits
from camkes.analysis.demand import demands
from camkes.analysis.platform import FREE
from camkes.analysis.verdict import responses
from camkes.analysis.workload import workload_of
from camkes.model.system import System
from camkes.protocols.plan import Plan


class BlockingLimit(Struct, frozen=True):
    """While a job could execute, or waits for a lock, at most so many tasks of lower priority work, for
    `time` nanoseconds in all; None: that is not known."""

    tasks: int
    time: int | None = None


def blocking_limits(system: System, plan: Plan, jobs: int) -> Mapping[str, BlockingLimit]:
    """For each task its limit if each task has so many `jobs`; 0: as many as its period lets it have, and
    operations of the runtime take no time. There is none for a task without enough others of lower priority
    to exceed it, for a system with conditions, whose helpers execute at priorities that are lent, for one
    with a task whose period is not known or that a component schedules, and for an MCS kernel, where budgets
    can end."""
    workload = workload_of(system, plan)
    if plan.mcs or plan.bands or plan.conditions or len(workload.tasks) < len(plan.tasks):
        return {}
    needed = demands(workload, FREE)
    stated = None if jobs else responses(system, plan)
    times = {
        result.task.name: floor(result.blocking.least)
        for result in (stated.tasks if stated is not None else ())
        if result.response is not None
    }
    found = {}
    for task in workload.tasks:
        most = _most(waits(workload, needed, task), task.priority, jobs)
        lower = sum(other.priority < task.priority for other in workload.tasks)
        if lower and (most < lower or task.name in times):
            found[task.name] = BlockingLimit(most, times.get(task.name))
    return found


def _most(possible: PossibleWaits, priority: int, jobs: int) -> int:
    """The greatest number of sections of tasks of lower priority that can keep one job waiting."""
    sections = tuple(replace(each, duration=1) for each in possible.sections if each.priority < priority)
    requests = {
        lock: tuple((each[0], 1, jobs * each[2], 0) for each in requests)
        for lock, requests in possible.requests.items()
    }
    counted = replace(possible, sections=sections, requests=requests if jobs else possible.requests)
    return int(counted.within(1 if jobs else _EVER).least)


#: Nanoseconds in which each task requests each lock as often as makes a difference.
_EVER = 1 << 100
