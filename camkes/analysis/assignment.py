# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Priorities for the tasks of a workload: rate-monotonic, deadline-monotonic, and Audsley's.

Audsley's algorithm looks for a task that meets its deadline at the lowest level with all others above, then
for one at the next. It finds priorities if there are any under which the analysis accepts the system, as long
as the response of a task depends on the sets of those above and below it and not on their orders. That holds
with blocking too: which sections block a task depends on which tasks are below it, and on whether a task of
its level or above can request a CPI. It does not where `fixed` CPIs and locks are mixed: a section at a
ceiling can exclude that of a task below, and not that of one above. Then other orders of the tasks below are
tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec.structs import replace

from camkes.analysis.platform import Platform
from camkes.analysis.verdict import Verdict, analyse_task
from camkes.analysis.workload import Workload, WorkloadTask
from camkes.model.limits import MAX_PRIORITY

#: Tasks that are tried at their levels after the algorithm would have ended.
MORE_TRIALS = 400


class Policy(StrEnum):
    """How priorities are assigned."""

    RATE_MONOTONIC = "rm"
    DEADLINE_MONOTONIC = "dm"
    AUDSLEY = "audsley"


def changed(workload: Workload, priorities: Mapping[str, int] = {}) -> Workload:
    """The workload with other priorities of tasks, and the ceilings that follow, one for all methods of a
    CPI. The highest ceiling, which makes a CPI non-preemptive, stays."""
    lock = workload.lock
    tasks = tuple(replace(t, priority=priorities.get(t.name, t.priority)) for t in workload.tasks)
    highest: dict[str, int] = {}
    for task in (*tasks, *workload.background):
        for name in task.requests:
            highest[lock[name]] = max(task.priority, highest.get(lock[name], 0))
    cpis = {}
    for cpi in workload.order:
        ceiling = highest.get(lock[cpi.name], cpi.ceiling)
        if cpi.protocol.own_priority and cpi.ceiling == MAX_PRIORITY:
            ceiling = MAX_PRIORITY
        cpis[cpi.name] = replace(cpi, ceiling=ceiling)
        for name in cpi.requests:
            highest[lock[name]] = max(ceiling, highest.get(lock[name], 0))
    return replace(workload, tasks=tasks, cpis=tuple(cpis[cpi.name] for cpi in workload.cpis))


def assign(workload: Workload, platform: Platform, policy: Policy) -> Mapping[str, int] | None:
    """A priority for each task; None where Audsley's algorithm finds none. Tasks of equal periods (deadlines)
    get equal priorities, but with Audsley's each its own."""
    if policy is Policy.AUDSLEY:
        return _audsley(workload, platform)

    def key(task: WorkloadTask) -> int:
        return task.period if policy is Policy.RATE_MONOTONIC else task.deadline

    levels = sorted({key(task) for task in workload.tasks}, reverse=True)
    values = dict(zip(levels, values_for(workload, len(levels)), strict=True))
    return {task.name: values[key(task)] for task in workload.tasks}


def values_for(workload: Workload, count: int) -> Sequence[int]:
    """So many priorities in rising order: those that tasks have now, where they suffice."""
    now = sorted({task.priority for task in workload.tasks})
    if len(now) >= count:
        return now[len(now) - count :]
    step = max(1, min(10, (MAX_PRIORITY - 5) // count))
    return [step * (index + 1) for index in range(count)]


def _audsley(workload: Workload, platform: Platform) -> Mapping[str, int] | None:
    # the least demanding deadline first: most often that is right at once
    names = [task.name for task in sorted(workload.tasks, key=lambda task: (-task.deadline, task.name))]
    count = len(names)
    # those that keep their priorities, and have no bound, are below all levels
    others = [*(task.priority for task in workload.background), *(o.priority for o in workload.obstacles)]
    base = max((0, *others))
    given: list[str] = []  # from the lowest level up
    untried = [iter(names)]  # at each of these levels, and at the next
    trials = count * count + MORE_TRIALS
    while len(given) < count and trials:
        name = next((each for each in untried[-1] if each not in given), None)
        if name is None:  # no task fits here
            if not given or not _depends_on_order(workload):
                return None
            untried.pop()
            given.pop()
            continue
        trials -= 1
        trial = dict.fromkeys(names, base + count)
        trial |= {each: level for level, each in enumerate([*given, name], base + 1)}
        if analyse_task(changed(workload, trial), platform, name).verdict is Verdict.MET:
            given.append(name)
            untried.append(iter(names))
    if len(given) < count:
        return None
    return dict(zip(given, values_for(workload, count), strict=True))


def _depends_on_order(workload: Workload) -> bool:
    """Whether the order of the tasks below one can decide about its blocking."""
    rules = workload.rules.values()
    return any(each.own_priority for each in rules) and any(
        each.lock and not each.own_priority for each in rules
    )
