# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What it costs that budgets end: the kernel, the handler of a task, the managers of CPIs.

A budget ends once for each part of it that comes back by itself, in each period; a request in which it ends
can be one of several that are nested, whose CPIs each have a policy. docs/mcs.md has what is counted where.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import ceil

from camkes.analysis.demand import Time
from camkes.analysis.overruns import ONCE, OverrunModel
from camkes.analysis.response import Load
from camkes.analysis.workload import WorkloadTask
from camkes.model.limits import MAX_PRIORITY
from camkes.model.settings import SHORTEST_TIME
from camkes.protocols.time import LEAST_REFILLS


class EndsModel(OverrunModel):
    """The tasks of a workload, and what the ends of their budgets cost others."""

    def ends(self, task: WorkloadTask, *, trusted: bool) -> list[Load]:
        """What can delay a job of a task because budgets end: of its own ones, and those of tasks of its
        priority or above, all that follows. Of lower ones that they are there again, once if these execute in
        sections alone, which is in `ended_in`; and what had begun when the job was released."""
        if not self._platform.overrun.wait:
            return []
        ending = {
            other.name: other
            for other in self.workload.tasks
            if self._can_end(other.name, trusted=trusted or other is task)  # it keeps its own times
        }
        # while it is without time itself, or waits for one who is, lower tasks execute
        alone = task.name not in ending and not self.kept(task, trusted=trusted, aborted=True)
        found = [load for other in ending.values() for load in self._of_task(other, task.priority, alone)]
        for cpi in self._cpis.values():
            users = [ending[name].priority for name in cpi.tasks if name in ending]
            rules = cpi.overrun.rules
            if cpi.extension is not None and users and (rules.extends or rules.aborts):
                of_requests = (self._of_request[n] for n, each in self._planned_cpi.items() if each is cpi)
                above = max(users) >= task.priority
                costs = max(of_requests) if above else self._platform.overrun.wait, LEAST_REFILLS
                found.append(
                    self._load(
                        f"the extension of {cpi.name}", cpi.extension.period, *costs, once=alone and not above
                    )
                )
        lower = [other for other in ending.values() if other.priority < task.priority]
        begun = max((self._begun(other.name, task.priority) for other in lower), default=0)
        return [*found, *([self._load("a budget", ONCE, begun, 1)] if begun else ())]

    def ended_in(self, task: str, name: str, duration: Time, *, trusted: bool) -> Time:
        """What ends of the budget of a task cost in a request to a CPI that lasts so long."""
        if not self._can_end(task, trusted=trusted):
            return 0
        most = 1 + ceil(duration / SHORTEST_TIME)
        often = min(self._parts(task), most) + min(LEAST_REFILLS, most)  # and of an extension
        return self._platform.nanoseconds(often * self._of_request[name])

    def _can_end(self, name: str, *, trusted: bool) -> bool:
        """Whether the budget of a task can end, in its own jobs or as it pays for others."""
        return name in self.times and (
            self.lacks(name, trusted=trusted) or (self.limited(name) and self.pays(name, trusted=trusted))
        )

    def _parts(self, name: str) -> int:
        """How often the budget of a task can end in a period."""
        most = max(self.times[name].budgets) // SHORTEST_TIME
        return max(1, min(self._planned[name].refills, most))

    def _of_task(self, other: WorkloadTask, priority: int, alone: bool) -> Iterator[Load]:
        """What ends of the budget of a task, and of its extension, cost at a priority."""
        name, time, costs = other.name, self.times[other.name], self._platform.overrun
        requests = max((self._of_request[each] for each in other.requests), default=0)
        # an end in a request can end that, the next one around it, and the job
        above = other.priority >= priority
        each, once = costs.of_job(time.overrun) + requests if above else costs.wait, alone and not above
        yield self._load(f"the budget of {name}", time.period, each, self._parts(name), once=once)
        if time.overrun.rules.extends and time.extension is not None:
            extension = time.extension.period
            yield self._load(f"the extension of {name}", extension, each, LEAST_REFILLS, once=once)

    def _load(self, name: str, period: int, cycles: int, often: int, *, once: bool = False) -> Load:
        """So many ends in each period, or a single one."""
        demand = self._platform.nanoseconds(cycles * (1 if once else often))
        return Load(f"ends of {name}", MAX_PRIORITY, ONCE if once else period, demand, interrupts=True)

    @cached_property
    def _of_request(self) -> Mapping[str, int]:
        """Cycles of an end of a budget in a request to each CPI of the workload, or in one that it makes. A
        manager can ask all that could pay."""
        found: dict[str, int] = {}
        for cpi in reversed(self.workload.order):
            below = max((found[name] for name in cpi.requests), default=0)
            planned = self._planned_cpi.get(cpi.name)
            own = 0
            if planned is not None:
                own = self._platform.overrun.of_request(planned.overrun)
                own *= max(1, len(planned.payers)) if planned.overrun.rules.helps else 1
            found[cpi.name] = own + below
        return found

    def _begun(self, name: str, priority: int) -> int:
        """Cycles of what executes at this priority or above because the budget of a lower task ended."""
        own = self._platform.overrun.of_job(self.times[name].overrun)
        found = [own if self._planned[name].highest >= priority else 0]
        for part in self.needed.of_task[name].parts:
            planned = self._planned_cpi.get(part.cpi)
            if planned is not None and planned.ceiling >= priority:
                found.append(self._of_request[part.cpi])
        return max(found)
