# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Draws task sets as the papers do.

Utilisations come from UUniSort (Bini and Buttazzo 2005), periods from a list of harmonic ones or
log-uniformly from 5 ms to 1 s (Emberson et al. 2010), priorities are rate-monotonic, and equal periods get
equal priorities. What a job executes is its utilisation times its period, the overheads of its requests
included; what they leave is shared by UUniSort among its own work and the CPIs that it reaches. Tasks are
taken with the least work first, and a CPI keeps the load that it has. Where that is more than a task has,
the whole set is drawn anew.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp, log

from benchmarks.papers.topologies import NON_PREEMPTIVE, Topology
from camkes.analysis.assignment import changed
from camkes.analysis.demand import overheads_of
from camkes.analysis.platform import Platform
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.limits import MAX_PRIORITY
from camkes.model.protocols import Protocol

MILLISECOND = 1_000_000
LOG_UNIFORM = (5 * MILLISECOND, 1000 * MILLISECOND)

#: How often a set is drawn before that is given up.
DRAWS = 100_000


def uunisort(rng: random.Random, count: int, total: float) -> list[float]:
    """So many values of a given sum, uniformly distributed."""
    marks = sorted(rng.random() for _ in range(count - 1))
    return [(high - low) * total for low, high in zip([0.0, *marks], [*marks, 1.0], strict=True)]


def periods(rng: random.Random, count: int, harmonic: Sequence[int]) -> list[int]:
    """Nanoseconds: from the list, in milliseconds, or log-uniform where it is empty."""
    if harmonic:
        return [rng.choice(harmonic) * MILLISECOND for _ in range(count)]
    low, high = map(log, LOG_UNIFORM)
    return [round(exp(rng.uniform(low, high))) for _ in range(count)]


def reach(topology: Topology) -> Mapping[str, Counter[str]]:
    """How often a job of each task requests each CPI."""
    found = {}
    for name, callees in topology.tasks.items():
        counts = Counter(callees)
        for cpi, below in topology.cpis.items():  # callers first
            for callee in below:
                counts[callee] += counts[cpi]
        found[name] = counts
    return found


def empty(topology: Topology, configuration: str) -> Workload:
    """The topology without any work."""
    protocols = topology.configurations[configuration]
    tasks = tuple(
        WorkloadTask(n, 1, 1, 1, 0, dict(Counter(callees))) for n, callees in topology.tasks.items()
    )
    cpis = tuple(_cpi(name, protocols[name], callees) for name, callees in topology.cpis.items())
    return Workload(tasks, cpis)


def _cpi(name: str, protocol: str, callees: Sequence[str]) -> WorkloadCpi:
    if protocol == NON_PREEMPTIVE:
        protocol_of_ceilings = next(each for each in Protocol if each.own_priority)
        return WorkloadCpi(name, protocol_of_ceilings, 0, dict(Counter(callees)), MAX_PRIORITY)
    return WorkloadCpi(name, Protocol(protocol), 0, dict(Counter(callees)))


def draw(
    topology: Topology,
    configuration: str,
    utilisation: float,
    platform: Platform,
    rng: random.Random,
    harmonic: Sequence[int],
) -> Workload:
    """A task set. Raises ValueError where none is found, as for a utilisation below what requests cost."""
    base = empty(topology, configuration)
    overheads = {name: int(cost) + 1 for name, cost in overheads_of(base, platform).items()}
    counts = reach(topology)
    for _ in range(DRAWS):
        found = _loads(topology, utilisation, overheads, counts, rng, harmonic)
        if found is not None:
            return _workload(base, *found)
    raise ValueError(f"no task set of utilisation {utilisation} was found in {DRAWS} draws")


def _loads(
    topology: Topology,
    utilisation: float,
    overheads: Mapping[str, int],
    counts: Mapping[str, Counter[str]],
    rng: random.Random,
    harmonic: Sequence[int],
) -> tuple[dict[str, int], dict[str, int], dict[str, int]] | None:
    """Periods and own work of tasks and work of CPIs; None where a task has less than what it requests."""
    shares = uunisort(rng, len(topology.tasks), utilisation)
    of = dict(zip(topology.tasks, periods(rng, len(shares), harmonic), strict=True))
    whole = {name: int(share * of[name]) for name, share in zip(of, shares, strict=True)}
    work: dict[str, int] = {}
    own: dict[str, int] = {}
    for name in sorted(whole, key=lambda each: whole[each]):
        count = counts[name]
        left = whole[name] - sum(n * (overheads[cpi] + work.get(cpi, 0)) for cpi, n in count.items())
        if left < 0:
            return None
        new = [cpi for cpi in count if cpi not in work]
        own[name] = left
        for cpi, part in zip(new, uunisort(rng, len(new) + 1, left), strict=False):
            work[cpi] = int(part / count[cpi])
            own[name] -= work[cpi] * count[cpi]
    return of, own, work


def _workload(
    base: Workload, of: Mapping[str, int], own: Mapping[str, int], work: Mapping[str, int]
) -> Workload:
    ordered = sorted(set(of.values()), reverse=True)
    priority = {period: 10 * (index + 1) for index, period in enumerate(ordered)}
    tasks = tuple(
        WorkloadTask(t.name, priority[of[t.name]], of[t.name], of[t.name], own[t.name], t.requests)
        for t in base.tasks
    )
    cpis = tuple(WorkloadCpi(c.name, c.protocol, work[c.name], c.requests, c.ceiling) for c in base.cpis)
    return changed(Workload(tasks, cpis))
