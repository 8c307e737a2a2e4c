# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A schedule of scheduling domains with which all deadlines are met, with one slot for each domain in a
round.

A longer round has fewer switches, so the longest one counts for which slots can be found. In a round of a
given length each domain has the shortest slot with which its tasks meet their deadlines, whatever the phase;
how the rest is divided makes no difference to them. Such a slot of length q leaves a gap of P - q, which is
not longer than a deadline D of the domain: with n domains of tasks, the sum of all gaps gives (n - 1) P <=
sum of D.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.platform import Platform
from camkes.analysis.supply import supply_of
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import Workload, workload_of
from camkes.model.system import DomainSlot, System
from camkes.protocols.plan import Plan

#: How many lengths of rounds are tried, at most.
ROUNDS = 200


class DomainNeed(Struct, frozen=True):
    """What a domain needs in a round: a `slot` of so many nanoseconds at least; None: no length suffices. A
    domain without tasks needs none, and gets a tick."""

    domain: int
    tasks: tuple[str, ...]
    slot: int | None


class ScheduleFound(Struct, frozen=True):
    """The slots of a `round`, (domain, nanoseconds), and what each domain needs of them. Without slots none
    was found, and the needs are those of the round in which least was missing. Rounds were tried in steps of
    `step` nanoseconds."""

    round: int
    slots: tuple[tuple[int, int], ...]
    needs: tuple[DomainNeed, ...]
    step: int

    @property
    def needed(self) -> float | None:
        """The part of the round that the domains need; None where some cannot have enough."""
        slots = [need.slot for need in self.needs]
        return None if None in slots else sum(slot or 0 for slot in slots) / self.round


def with_slots(system: System, slots: Sequence[tuple[int, int]]) -> System:
    """The system with another schedule; lengths are nanoseconds."""
    return replace(system, schedule=tuple(DomainSlot(domain, length, "ns") for domain, length in slots))


def find_schedule(
    system: System, plan: Plan, domains: Sequence[int], platform: Platform, tick: int
) -> ScheduleFound | None:
    """A schedule of `domains`, in ticks of so many nanoseconds; None where no task has a deadline. Tasks that
    have no bound whatever their slots are have none with which they meet their deadlines."""
    workload = workload_of(with_slots(system, [(domain, tick) for domain in domains]), plan)
    deadlines = {
        domain: min(t.deadline for t in workload.tasks if t.domain == domain and t.has_deadline)
        for domain in domains
        if any(t.domain == domain and t.has_deadline for t in workload.tasks)
    }
    if not deadlines:
        return None
    # all of them, in ticks, or as many as are tried
    most = max(sum(deadlines.values()) // max(len(deadlines) - 1, 1) // tick, len(domains))
    step = -(-most // ROUNDS)
    least: ScheduleFound | None = None
    for ticks in range(most, len(domains) - 1, -step):
        length = ticks * tick
        needs = tuple(_need(workload, platform, d, domains, length, tick) for d in domains)
        found = ScheduleFound(length, (), needs, step * tick)
        if least is None or (found.needed or inf) < (least.needed or inf):
            least = found
        if found.needed is None or found.needed > 1:
            continue
        slots = _divided([need.slot or 0 for need in needs], length, tick)
        found = replace(found, slots=tuple(zip(domains, slots, strict=True)))
        if analyse(workload_of(with_slots(system, found.slots), plan), platform, exact=False).good:
            return found
    return least


def _need(
    workload: Workload, platform: Platform, domain: int, domains: Sequence[int], length: int, tick: int
) -> DomainNeed:
    """The shortest slot of a domain in a round of this length, which leaves a tick for each of the others."""
    tasks = tuple(task.name for task in workload.tasks if task.domain == domain)
    if not tasks:
        return DomainNeed(domain, (), tick)

    def suffices(ticks: int) -> bool:
        supply = supply_of([(domain, ticks * tick), (-1, length - ticks * tick)], domain)
        own = replace(workload, supplies={domain: supply})
        return not any(each.fails for each in analyse(own, platform, exact=False).tasks)

    most = length // tick - (len(domains) - 1)
    ticks = bisect_left(range(1, most + 1), True, key=suffices) + 1
    return DomainNeed(domain, tasks, ticks * tick if ticks <= most else None)


def _divided(slots: Sequence[int], length: int, tick: int) -> list[int]:
    """The slots, made longer by what is left of the round: a tick for each, in turns."""
    spare = (length - sum(slots)) // tick
    each, more = divmod(spare, len(slots))
    return [slot + (each + (index < more)) * tick for index, slot in enumerate(slots)]
