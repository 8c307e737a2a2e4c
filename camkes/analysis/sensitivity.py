# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Margins and possible improvements of a system: how far each execution time can grow, and which response
times
another protocol of a CPI would make shorter or longer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.assignment import changed
from camkes.analysis.platform import Platform
from camkes.analysis.verdict import Analysis, analyse
from camkes.analysis.workload import Workload
from camkes.model.protocols import Protocol


class Margin(Struct, frozen=True):
    """The execution time of a task (without requests) or of a request to a CPI: now, and the longest with
    which no deadline is missed, alone; both in nanoseconds. `longest` is None where one is missed already."""

    name: str
    is_task: bool
    now: int
    longest: int | None


class ResponseTimeChange(Struct, frozen=True):
    """What happens to response times when a CPI gets another protocol: (task, before, after) in nanoseconds,
    None for no bound. `shares`: requests then no longer exclude each other, so that the code has to
    be reentrant."""

    cpi: str
    before: Protocol
    after: Protocol
    responses: tuple[tuple[str, int | None, int | None], ...]
    good: bool

    @property
    def shares(self) -> bool:
        return not self.after.lock


def margins(workload: Workload, platform: Platform) -> tuple[Margin, ...]:
    """How far each execution time can grow."""
    good = analyse(workload, platform).good
    found = []
    for index, task in enumerate(workload.tasks):

        def of_task(work: int, index: int = index) -> Workload:
            tasks = list(workload.tasks)
            tasks[index] = replace(tasks[index], work=work)
            return Workload(tuple(tasks), workload.cpis)

        longest = _longest(of_task, task.work, task.deadline, platform) if good else None
        found.append(Margin(task.name, True, task.work, longest))
    latest = max((task.deadline for task in workload.tasks), default=0)
    for index, cpi in enumerate(workload.cpis):
        if not workload.arrivals[cpi.name]:
            continue

        def of_cpi(work: int, index: int = index) -> Workload:
            cpis = list(workload.cpis)
            cpis[index] = replace(cpis[index], work=work)
            return Workload(workload.tasks, tuple(cpis))

        longest = _longest(of_cpi, cpi.work, latest, platform) if good else None
        found.append(Margin(cpi.name, False, cpi.work, longest))
    return tuple(found)


def _longest(make: Callable[[int], Workload], good: int, bad: int, platform: Platform) -> int:
    """The greatest value, from one that is good to one that may be bad, for which all deadlines are met."""
    bad = max(bad, good) + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        if analyse(make(middle), platform, exact=False).good:
            good = middle
        else:
            bad = middle
    return good


def changes(workload: Workload, analysis: Analysis) -> Iterator[ResponseTimeChange]:
    """For each CPI that tasks reach, what each other protocol does; only where some response gets shorter."""
    before = _responses(analysis)
    for cpi in workload.cpis:
        if not workload.arrivals[cpi.name] or cpi.lock:  # of a wait the protocol is what it is
            continue
        for protocol in Protocol:
            if protocol is cpi.protocol:
                continue
            other = analyse(changed(workload, protocols={cpi.name: protocol}), analysis.platform)
            after = _responses(other)
            rows = tuple((n, before[n], after[n]) for n in before if before[n] != after[n])
            if any(now is None or (then is not None and then < now) for _, now, then in rows):
                yield ResponseTimeChange(cpi.name, cpi.protocol, protocol, rows, other.good)


def _responses(analysis: Analysis) -> dict[str, int | None]:
    return {
        each.task.name: None if each.response is None else ceil(each.response.time) for each in analysis.tasks
    }
