# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems whose CPIs have methods: each takes at most the time of the CPI and makes at most its requests, so
that the system without methods, in which all are as long as the longest, has longer bounds.

    python -m tests.analysis.random_methods [--count SYSTEMS] [--seed FIRST] [--enumerate STATES]
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Mapping

from msgspec.structs import replace

from camkes.analysis.assignment import changed
from camkes.analysis.platform import FREE
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.protocols import Protocol
from tests.analysis.attacks import above_bounds, attacked_workload
from tests.analysis.enumeration import report, small_workload


def with_methods(rng: random.Random, workload: Workload, *, joined: bool = False) -> Workload:
    """Some CPIs have two or three methods. `joined`: also two CPIs that do not request each other have a lock
    in common, as in a monitor; then bounds can be longer than without."""
    names = {
        cpi.name: [f"{cpi.name}.{index}" for index in range(rng.randint(1, 3) if not cpi.lock else 1)]
        for cpi in workload.cpis
    }
    lock = {cpi.name: cpi.lock for cpi in workload.cpis}
    inherited = [cpi for cpi in workload.cpis if cpi.protocol.inherits and not cpi.lock]
    if joined and len(inherited) > 1:
        one, two = rng.sample(inherited, 2)
        above = {one.name, *workload.below[one.name]} & {two.name, *workload.below[two.name]}
        if (
            one.name not in workload.below[two.name]
            and two.name not in workload.below[one.name]
            and not above
        ):
            lock[one.name] = lock[two.name] = "monitor"

    def some(requests: Mapping[str, int], share: float) -> dict[str, int]:
        """As many of these requests at most, to any methods."""
        counts = {name: count for name, count in requests.items() if rng.random() < share}
        found = [
            rng.choice(names[name]) for name, most in counts.items() for _ in range(rng.randint(1, most))
        ]
        return dict(Counter(found))

    cpis = []
    for cpi in workload.cpis:
        longest = rng.choice(names[cpi.name])
        for name in names[cpi.name]:
            own = lock[cpi.name] or (cpi.name if len(names[cpi.name]) > 1 and cpi.protocol.lock else "")
            work = cpi.work if name == longest else rng.randint(min(1, cpi.work), cpi.work)
            cpis.append(
                replace(
                    cpi,
                    name=name,
                    interface=cpi.name,
                    methods=(name,),
                    work=work,
                    requests=some(cpi.requests, 0.6),
                    lock=own,
                )
            )
    tasks = tuple(replace(task, requests=some(task.requests, 1)) for task in workload.tasks)
    return changed(replace(workload, tasks=tasks, cpis=tuple(cpis)))


def passing_on(rng: random.Random) -> Workload:
    """A lock, of several methods or of a monitor, is requested by tasks of which only some request another
    one meanwhile: a lower task that has that one delays all of them."""
    lock = rng.choice(("o", "monitor"))
    protocol = Protocol.INHERITED if lock == "monitor" else rng.choice((Protocol.INHERITED, Protocol.FIXED))
    inner = rng.choice((Protocol.INHERITED, Protocol.INHERITED, Protocol.FIXED))
    cpis = (
        WorkloadCpi("o.0", protocol, rng.randint(1, 2), lock=lock, interface="o", methods=("0",)),
        WorkloadCpi("o.1", protocol, rng.randint(1, 2), {"x": 1}, lock=lock, interface="o", methods=("1",)),
        WorkloadCpi("x", inner, rng.randint(1, 3)),
    )
    wanted = [{"o.0": 1}, {"o.1": 1}, {"x": 1}, rng.choice(({"o.0": 1, "x": 1}, {"o.1": 1}, {}))]
    tasks = []
    for index, requests in enumerate(wanted[: rng.randint(3, 4)]):
        period = rng.randint(10, 30)
        tasks.append(WorkloadTask(f"t{index}", rng.randint(1, 4), period, period, 1, requests))
    return changed(Workload(tuple(tasks), cpis))


def random_system(rng: random.Random) -> Workload:
    """A small one, with methods or a monitor."""
    if rng.random() < 0.5:
        return passing_on(rng)
    return with_methods(rng, small_workload(rng), joined=rng.random() < 0.3)


def longer(workload: Workload, plain: Workload) -> list[str]:
    """The tasks whose bound is longer with methods than without."""
    found = {each.task.name: each.response for each in analyse(plain, FREE).tasks}
    return [
        each.task.name
        for each in analyse(workload, FREE).tasks
        if (before := found[each.task.name]) is not None
        and (each.response is None or each.response.time > before.time)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=300, metavar="SYSTEMS")
    parser.add_argument("--seed", type=int, default=0, metavar="FIRST")
    parser.add_argument(
        "--enumerate", type=int, default=0, metavar="STATES", help="all states of small systems"
    )
    given = parser.parse_args()
    if given.enumerate:
        report(random_system, given.count, given.enumerate, given.seed)
        return
    wrong: list[str] = []
    shorter = bounds = 0
    for seed in range(given.seed, given.seed + given.count):
        rng = random.Random(seed)
        plain = attacked_workload(rng)
        joined = rng.random() < 0.3
        workload = with_methods(rng, plain, joined=joined)
        wrong += above_bounds(rng, workload, f"seed {seed}")
        if not joined:
            wrong += [
                f"seed {seed}: {name} has a longer bound with methods" for name in longer(workload, plain)
            ]
        before = {each.task.name: each.response for each in analyse(plain, FREE).tasks}
        for each in analyse(workload, FREE).tasks:
            if each.response is not None:
                bounds += 1
                old = before[each.task.name]
                shorter += old is None or each.response.time < old.time
    print(
        f"{given.count} systems, {bounds} bounds, {shorter} shorter by methods: {len(wrong)} wrong",
        *wrong[:20],
        sep="\n",
    )


if __name__ == "__main__":
    main()
