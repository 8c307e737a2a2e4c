# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Ceilings of CPIs by their definition, for the judge of runs, which does not take the planner's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from camkes.model.system import System
from camkes.protocols.requests import Request
from camkes.protocols.signals import Lending


def ceilings(
    system: System,
    requests: Iterable[Request],
    lending: Sequence[Lending] = (),
    raised: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """The ceiling of each CPI by its name: the highest priority at which a request can arrive, or what the
    text states if that is higher. A request arrives at a priority that its task can have, or at the ceiling
    of the fixed CPI that it came through last. `raised` are the highest priorities of tasks whose priorities
    depend on the criticality of the system. `requests` are the possible requests. A task that helps can
    have the priority of every task that waits for it, and one of a band the highest of that."""
    requests = tuple(requests)
    highest = {task.instance: task.priority or 0 for task in system.tasks} | dict(raised or {})
    highest |= {task: band.highest for band in system.bands for task in band.tasks}
    while True:
        found = _ceilings(system, requests, highest)
        lent = dict(highest)
        for each in lending:
            above = max([highest.get(waiter, found.get(waiter, 0)) for waiter in each.waiters], default=0)
            for task in each.tasks():
                lent[task] = max(lent[task], above)
        if lent == highest:
            return found
        highest = lent


def _ceilings(system: System, requests: Iterable[Request], tasks: Mapping[str, int]) -> dict[str, int]:
    """The same, with the highest priority that each task can have."""
    callers: dict[str, list[str]] = {cpi.name: [] for cpi in system.cpis}
    cpis = {cpi.name: cpi for cpi in system.cpis}
    sharing: dict[str, list[str]] = {}
    for cpi in system.cpis:
        sharing.setdefault(cpi.lock_name, []).append(cpi.name)
    for request in requests:
        for name in sharing[cpis[request.callee].lock_name]:
            callers[name].append(
                request.caller
            )  # the holder of a monitor's lock inherits at each of its CPIs

    def arriving(name: str, path: tuple[str, ...]) -> list[int]:
        """The priorities at which requests arrive; those around a cycle add none."""
        found = []
        for caller in callers[name]:
            if caller in tasks:
                found.append(tasks[caller])
            elif caller in path:
                continue
            elif above := arriving(caller, (*path, caller)):
                stated = cpis[caller].stated_priority or 0
                fixed = cpis[caller].protocol.own_priority
                found += [max(stated, *above)] if fixed else above
        return found

    return {name: max([cpi.stated_priority or 0, *arriving(name, (name,))]) for name, cpi in cpis.items()}
