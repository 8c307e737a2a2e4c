# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Figures of systems like those whose responses are computed by hand or compared with simulations in the
other tests here: each comparison, term, ceiling and maximum of the analysis changes one of them."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from camkes.analysis.profiles import read_platform as real_platform
from camkes.model.protocols import Protocol
from tests.analysis.formulas import ANALYSIS, text
from tests.analysis.test_budgets import planned
from tests.analysis.test_deadlines import BANDED
from tests.golden import compare

pytestmark = pytest.mark.requirement("AN-4")

GOLDEN = Path(__file__).parent / "golden" / "figures.txt"
P, F, I = Protocol.PROPAGATED, Protocol.FIXED, Protocol.INHERITED  # noqa: E741

# -- figures ---------------------------------------------------------------------------------------


def _with_nested_locks(add: Any, workload: Any) -> None:
    clients = [(50, 10, 2, 2), (80, 12, 5, 4), (120, 20, 4, 1)]
    tasks = [(str(i), 9 - i, t, t, c, {f"S{i}": 1, f"Z{i}": 1}) for i, (t, c, _, _) in enumerate(clients)]
    cpis = [(f"S{i}", P, s, {"S": 1}) for i, (_, _, s, _) in enumerate(clients)]
    cpis += [(f"Z{i}", P, z, {"Z": 1}) for i, (_, _, _, z) in enumerate(clients)]
    add(workload(tasks, [*cpis, ("S", I, 1), ("Z", I, 1)]))
    locks = [("S", I, 3, {"E": 2}), ("Z", I, 5, {"E": 1}), ("E", I, 2)]
    nested = [
        ("a", 9, 90, 90, 3, {"S": 2}), ("b", 7, 150, 150, 4, {"S": 1, "Z": 1}),
        ("c", 7, 150, 150, 4, {"Z": 1}), ("d", 3, 400, 400, 6, {"S": 1, "Z": 2}),
        ("e", 2, 500, 500, 6, {"E": 1}),
    ]  # fmt: skip
    add(workload(nested, locks))
    add(workload(nested, [("S", F, 3, {"E": 2}), ("Z", I, 5, {"E": 1}), ("E", I, 2)]))
    add(workload(nested, [("S", I, 3, {"E": 2}), ("Z", F, 5, {"E": 1}), ("E", F, 2)]))


def _with_others(add: Any, workload: Any) -> None:
    # one that blocks is entered first: test_a_lower_ceiling_is_entered_first
    both, ceiling, lock = {"f": 1, "l": 1}, {"f": 1}, {"l": 1}
    for lower in (2, 1):
        tasks = [("a", 3, 99, 99, 4, both), ("b", lower, 99, 99, 5, lock), ("c", 1, 99, 99, 5, ceiling)]
        add(workload(tasks, [("f", F, 7), ("l", I, 3)]))
    # two lower tasks hold one lock below which each has another: not both
    tasks = [("a", 5, 99, 99, 1, {"x": 1, "y": 1})]
    tasks += [(name, priority, 99, 99, 1, {"o": 1}) for name, priority in (("b", 2), ("c", 1))]
    add(workload(tasks, [("o", I, 1, {"x": 1, "y": 1}), ("x", I, 4), ("y", I, 6)]))
    # the same with a lock and a ceiling of two tasks of equal priority, which do not exclude each other
    for lock_first in (2, 9):
        tasks = [("a", 5, 99, 99, 1, {"x": 1, "y": 1, "f": 1, "l": 1})]
        tasks += [(name, priority, 99, 99, 1, {"o": 1}) for name, priority in (("b", 2), ("c", 1))]
        tasks += [("d", 2, 99, 99, 1, {"f": 1}), ("e", 2, 99, 99, 1, {"l": 1})]
        cpis = [("o", I, 1, {"x": 1, "y": 1}), ("x", I, 4), ("y", I, 6), ("f", F, 7), ("l", I, lock_first)]
        add(workload(tasks, cpis))
    # several requests at each level
    tasks = [
        ("a", 3, 99, 99, 1, {"o": 1, "e": 1}),
        ("b", 2, 99, 99, 1, {"o": 2}),
        ("c", 1, 99, 99, 1, {"o": 1}),
    ]
    below = [("o", I, 1, {"x": 2, "e": 1}), ("x", P, 1, {"e": 3, "g": 1}), ("e", I, 1), ("g", I, 1)]
    add(workload(tasks, below))
    # deadlines after the period: Lehoczky's busy window of several jobs; sample of criticalities
    add(workload([("a", 2, 70, 70, 26), ("b", 1, 100, 200, 62)]))
    add(workload([("a", 2, 100, 99, 50), ("b", 1, 100, 100, 50)]))
    add(workload([("a", 2, 100, 100, 50), ("b", 1, 100, 100, 51)]))
    sample = [("5", 10, 2), ("4", 20, 7), ("3", 25, 5), ("2", 40, 4), ("1", 60, 6)]
    add(workload([(n, int(n), t, 2 * t, c) for n, t, c in sample]))
    add(workload([("a", 1, 10, 10, 1), ("b", 2, 20, 20, 1)]))  # not rate-monotonic
    add(workload([("a", 2, 10, 10, 1), ("b", 2, 20, 20, 1)]))
    # bounds at their limits
    add(workload([("a", 2, 100, 100, 100)]))
    add(workload([("a", 2, 10, 10, 10), ("b", 1, 20, 20, 0)]))


def _with_ceilings_on_the_way(add: Any, workload: Any) -> None:
    def task(name: str, priority: int, *names: str) -> tuple[Any, ...]:
        return (name, priority, 999, 999, 1, dict.fromkeys(names, 1))

    # b is in l2 or f2 through f, whose ceiling is that of t, or above
    for above in ((), (task("u", 3, "f"),)):
        for long in (7, 20):
            tasks = [task("a", 9, "l", "l2", "f2"), task("t", 2, "l", "f"), task("b", 1, "f"), *above]
            for end in ("l2", "f2"):
                cpis = [("f", F, 1, {end: 1}), ("l2", I, 10), ("f2", F, 10), ("l", I, long)]
                add(workload(tasks, cpis))
    # the same where two others hold a lock, so that the assignment is not possible
    rest = [("o", I, 1, {"x": 1, "y": 1}), ("x", I, 4), ("y", I, 6), ("l", I, 7), ("l2", I, 10)]
    tasks = [task("a", 9, "x", "y", "l", "l2"), task("b", 1, "f"), task("t", 2, "f", "l")]
    add(workload([*tasks, task("c", 2, "o"), task("d", 1, "o")], [("f", F, 1, {"l2": 1}), *rest]))
    # what the first section closes stays closed
    tasks = [task("a", 9, "k", "m", "n"), task("b", 1, "f"), task("c", 1, "g"), task("t", 3, "n")]
    cpis = [("f", F, 1, {"k": 1}), ("g", F, 1, {"m": 1}), ("k", I, 30), ("m", I, 20), ("n", I, 10)]
    add(workload([*tasks, task("u", 4, "f"), task("v", 2, "g")], cpis))
    # x is requested by a, and by whoever is in g: two sections of x if g is one too
    for long in (1, 50):
        tasks = [task("a", 9, "x", "z"), task("c", 2, "x"), task("d", 1, "x"), task("b", 3, "g", "z")]
        add(workload(tasks, [("g", F, 2, {"x": 1}, 255), ("x", I, 10), ("z", I, long)]))


def _with_monitors(add: Any, workload: Any) -> None:
    # p and q have one lock, m, which a requests once, and whoever is in g: so two sections of it if g is one
    # too, although each of p is longer than g
    tasks = [("a", 9, 999, 999, 1, {"p": 1}), ("b", 3, 999, 999, 1, {"g": 1})]
    tasks += [(name, 2, 999, 999, 1, {"p": 1}) for name in "cde"]
    monitor = [("p", I, 50, {}, 0, "m"), ("q", I, 5, {}, 0, "m")]
    for requests in ({"q": 1}, {"p": 1, "q": 1}):  # three sections of m
        add(workload(tasks, [("g", F, 2, requests, 255), *monitor]))


def _with_costs(a: SimpleNamespace, add: Any, workload: Any, library: Any, ours: Any) -> None:
    equal = [(name, 1, 10**6, 10**6, 100, {"A": 1}) for name in "ab"]
    add(workload(equal, [("A", P, 50)]), library)
    # the manager's step for a task that has no section, or executes with the same priority
    for cost in ({"acquire": 9}, {"release": 9}, {"update": 9}, {"settle": 9}, {"clear": 9, "queue": 7}):
        machine = a.Platform("machine", inherited=a.InheritanceCost(**cost))
        tasks = [(name, 9 - i, 10**6, 10**6, 100, {"A": 1}) for i, name in enumerate("abcd")]
        tasks += [("same", 9, 10**6, 10**6, 100, {"A": 1}), ("above", 10, 10**6, 10**6, 100)]
        add(workload(tasks, [("A", I, 50)]), machine)
    pooled = [("P", P, 5, {}, 0, "", False, 1)]
    for cost in ({"acquire": 20}, {"release": 20}, {"update": 90}):
        machine = a.Platform("machine", plain=a.Halves(60, 70), inherited=a.InheritanceCost(**cost))
        two = [(name, priority, 10**6, 10**6, 100, {"P": 1}) for name, priority in (("a", 9), ("b", 8))]
        add(workload(two, pooled), machine)
    # the manager of a CPI without a lock, below one with a lock, and one of a pool
    tasks = [
        (name, priority, 10**6, 10**6, 100, {on: 1}) for name, priority, on in (("a", 9, "P"), ("b", 2, "L"))
    ]
    for others, lock in itertools.product((0, 1), ("", "m")):
        for threads in (0, 1):
            more = [("c", 1, 10**6, 10**6, 100, {"L": 1})] * others
            below = [
                ("L", I, 5, {"P": 1}, 0, lock),
                ("P", P, 5, {"F": 1}, 0, "", False, threads),
                ("F", F, 1),
            ]
            add(workload([*tasks, *more], below), ours)
    # a priority goes down the longer of two chains
    chains = [("A", I, 5, {"B": 1, "D": 1}), ("B", I, 5, {"C": 1}), ("C", I, 5), ("D", I, 5)]
    add(workload([("1", 2, 9999, 9999, 9, {"A": 1}), ("2", 1, 9999, 9999, 9, {"A": 1})], chains), ours)


def _with_chains(a: SimpleNamespace, found: list[Any], ours: Any) -> None:
    """Releases by events and by timers, ages of data, and tasks for which no response is found."""
    task = a.WorkloadTask
    for work, last in ((20, 9), (20, 60), (160, 9), (40, 150), (75, 9)):
        chain = (
            task("first", 3, 100, 100, work, {"S": 1}),
            task("second", 5, 100, 400, 10, {"S": 1}, "first", 0, False),
            task("third", 1, 100, 400, last, {}, "second", 0, False),
            task("reads", 2, 150, 200, 20, {"S": 1}, reads=("first", "second", "third")),
            task("above", 6, 60, 60, 5, reads=("third",)),
        )
        for platform in (a.FREE, ours):
            result = a.analyse(a.Workload(chain, (a.WorkloadCpi("S", I, 3),)), platform)
            found.append([(each.task.jitter, each.response, each.at_least) for each in result.tasks])
            found.append([each.verdict.value for each in result.tasks])
            found.append(
                (result.chains, result.ages, result.release, round(result.utilisation, 9), result.good)
            )
            found.append(a.analyse_task(a.Workload(chain, ()), platform, "third").response)
    # all tasks are of the chain; no bound is found for one that executes as long as its deadline is
    for work in (40, 60, 10):
        pair = (task("a", 1, 100, 70, 60), task("b", 2, 100, work, work, {}, "a", 0, False))
        result = a.analyse(a.Workload(pair, ()), a.FREE)
        found.append((result.chains, [each.verdict.value for each in result.tasks]))
    # responses of a and b around two periods, after which an event can be lost
    for work in range(140, 196):
        three = (
            task("a", 1, 100, 900, 10), task("b", 2, 100, 900, 10, {}, "a", 0, False),
            task("c", 3, 100, 900, 0, {}, "b", 0, False),
            task("d", 4, 1000, 900, work, reads=("a", "b", "c")),
        )  # fmt: skip
        found.append(a.analyse(a.Workload(three, ()), a.FREE).ages)
        three = (replace(three[0], priority=5), *three[1:])
        found.append(a.analyse(a.Workload(three, ()), a.FREE).ages)


def _with_bands(a: SimpleNamespace, found: list[Any], ours: Any) -> None:
    """Tasks that are ordered by their deadlines, below another one and above one with which they share a
    lock."""

    def task(*given: Any) -> Any:
        return a.WorkloadTask(*given, band="edf")

    system, plan = planned(BANDED % (1, ""), mcs=False)
    found.append([(each.name, each.priority) for each in a.workload_of(system, plan).tasks])
    dear = replace(ours, raised=9)
    # around the longest times with which all deadlines are met
    for work, deadline, inside in itertools.product((1, 2, 3), (9, 10, 11, 20), (1, 2, 3)):
        tasks = [
            a.WorkloadTask("above", 50, 40, 40, work),
            task("a", 12, 10, 5, 2, {"x": 1}), task("b", 11, 20, deadline, 3, {"y": 1}),
            task("c", 11, 40, deadline, 2, {"x": 1}), task("d", 10, 40, 40, work, {"x": 2, "y": 1}),
            a.WorkloadTask("below", 1, 80, 80, 4, {"y": 1}),
        ]  # fmt: skip
        shared = a.Workload(tuple(tasks), (a.WorkloadCpi("x", I, inside), a.WorkloadCpi("y", I, 1)))
        for each in a.analyse(shared, a.FREE).tasks:
            found.append((each.verdict.value, each.response, each.at_least, each.blocking.least))
    # without blocking, or with a section of a task below that no other one requests
    rng = random.Random(1)
    for _ in range(60):
        count = rng.randint(1, 4)
        times = sorted((rng.choice((4, 5, 8, 10, 20)), rng.randint(1, 4)) for _ in range(count))
        tasks = [
            task(f"t{i}", 20 - i, period, rng.randint(work, period), work)
            for i, (period, work) in enumerate(times)
        ]
        ordered = sorted(tasks, key=lambda each: each.deadline)
        tasks = [replace(each, priority=20 - ordered.index(each)) for each in tasks]
        tasks.append(a.WorkloadTask("above", 50, 40, 40, rng.randint(0, 3)))
        tasks.append(a.WorkloadTask("below", 1, 80, 80, 1, {"f": 1}))
        shared = a.Workload(tuple(tasks), (a.WorkloadCpi("f", F, rng.choice((0, 3)), {}, 255),))
        found.append([each.verdict.value for each in a.analyse(shared, a.FREE).tasks])
    found.append(a.analyse(a.Workload((task("a", 2, 10, 10, 5), task("b", 1, 20, 20, 10)), ()), a.FREE).good)
    # only b is blocked, beyond the time that all need; all is done at 40, when a second job of `above` comes
    below = a.WorkloadTask("below", 1, 90, 90, 0, {"x": 1})
    blocked = (task("a", 12, 50, 9, 1), task("b", 11, 50, 10, 0, {"x": 1}), below)
    above = (a.WorkloadTask("above", 50, 40, 40, 3), task("a", 12, 80, 40, 37), task("b", 11, 80, 80, 5))
    for tasks in (blocked, above):
        shared = a.Workload(tuple(tasks), (a.WorkloadCpi("x", I, 8),))
        found.append([each.verdict.value for each in a.analyse(shared, a.FREE).tasks])
    for work, period in itertools.product(range(1, 9), (10, 12)):  # releases that come late
        other = task("c", 2, period, 10, 3)
        late = [task("a", 1, 20, 15, 1), task("b", 3, 20, 8, work, {}, "a", 0, False), other]
        for some in (late, late[:2]):
            found.append(
                [each.verdict.value for each in a.analyse(a.Workload(tuple(some), ()), a.FREE).tasks]
            )
        late = [task("a", 3, 20, 5, 1), task("b", 2, 20, 8, work, {}, "a", 0, False), other]
        found.append([each.verdict.value for each in a.analyse(a.Workload(tuple(late), ()), a.FREE).tasks])
    first, second = task("a", 3, 2000, 900, 10), task("b", 2, 2000, 990, 20, {"x": 2}, "a", 0, False)
    third, low = task("c", 1, 2000, 999, 30, {}, "b", 0, False), a.WorkloadTask("low", 0, 8000, 8000, 50)
    chain = a.Workload((first, second, third, low), (a.WorkloadCpi("x", I, 5),))
    for platform in (a.FREE, dear):
        result = a.analyse(chain, platform)
        found.append((result.chains, [(each.response, each.verdict.value) for each in result.tasks]))
        found.append([a.turn_cost(chain, platform, each) for each in chain.tasks])


def _formulas(a: SimpleNamespace, found: list[Any]) -> None:
    loads = [a.Load("a", 1, 100, 45), a.Load("b", 1, 100, 45), a.Load("c", 2, 100, 10)]
    found.append(
        [round(a.hyperbolic(load, loads, 0, equals), 9) for load in loads for equals in (True, False)]
    )
    lengths = {("b", "S"): 5, ("b", "Z"): 4, ("c", "S"): 4, ("c", "Z"): 1, ("d", "Y"): 2}
    sections = [a.RequestSection(task, cpi, length) for (task, cpi), length in lengths.items()]
    found.append(a.total(a.assign(sections, {"S": 0, "Z": 1, "Y": 0})))
    for limits in ({}, {"S": 2}):
        own = {"S": 1, "Z": 1, "Y": 1, **limits}
        exact = a.Choosing(sections, {}).chosen(own, ())
        chosen = exact.sections, a.assign(sections, limits)
        found.append((a.sums(sections).within(limits), *map(a.total, chosen), exact.bound))
    many = [a.RequestSection(f"t{i}", "S", 1) for i in range(9)]
    requests = {"S": ((-1, 100, 2, 0), (-1, 30, 1, 0))}
    through = (*many, a.RequestSection("t9", "X", 1), a.RequestSection("t8", "X", 1))
    counted = a.PossibleWaits(through, requests, inside={"S": {}, "X": {"S": 1}})
    twice = (*many[:3], a.RequestSection("t9", "X", 1), a.RequestSection("t9", "Y", 1))
    found.append(a.PossibleWaits(twice, {"S": ()}, inside={"X": {"S": 2}, "Y": {"S": 1}}).nested)
    found.append([counted.nested, a.PossibleWaits(through[:4], requests, inside={"S": {"S": 5}}).nested])
    found.append([counted.limits(window) for window in (1, 30, 31, 100, 101)])
    late = a.PossibleWaits(tuple(many), {"S": ((-1, 100, 2, 5), (-1, 30, 1, 40))})
    found.append([late.limits(window) for window in (1, 30, 95, 96)])
    found.append([a.requests_within(((-1, 100, 2, 5), (-1, 30, 1, 40)), w) for w in (1, 30, 95, 96)])
    inside = a.Together({"X": 0}, {"S": {"X": 1}})  # no section of X unless S is one
    found.append(inside.part_of([a.RequestSection("a", "S", 5), a.RequestSection("b", "X", 3)]))
    # three tasks come to c, on two ways
    tasks = tuple(a.WorkloadTask(f"t{i}", 9 - i, 99, 99, 1, {"o": 1, "c": 1}) for i in range(3))
    nested = a.Workload(tasks, (a.WorkloadCpi("o", P, 1, {"c": 1}), a.WorkloadCpi("c", I, 1)))
    for most in range(6):
        ways = a._Sections(nested, a.demands(nested, a.FREE), tasks[0], most)
        found.append((len(ways.of_all(tasks[1:])), ways.every_way))
    rest = a.Load("x", 1, 1000, 300)
    for enough in (None, 299, 300, 400, 450):
        response = a.response(rest, [a.Load("y", 2, 500, 100)], lambda window: 0, enough)
        found.append(None if response is None else (response.time > (enough or 0), response.job))
    # several jobs end after their period
    tasks = [a.Load("x", 1, 100, 42), a.Load("y", 2, 70, 35), a.Load("z", 3, 1000, 30)]
    for steps in range(30):
        response = a.response(tasks[0], tasks[1:], lambda window: 0, None, steps)
        found.append((type(response).__name__, response.time))
    # releases that can be late
    for one, other in (
        (a.Load("a", 1, 6, 2), a.Load("b", 2, 4, 2, 5)),
        (a.Load("a", 1, 6, 3, 12), a.Load("b", 2, 4, 2)),
        (a.Load("a", 1, 4, 2, 1), a.Load("b", 2, 8, 3, 15)),
        # two jobs at 7, and the next one at 12 ends at 7 + 18
        (a.Load("a", 1, 6, 6, 7), a.Load("b", 2, 8, 0)),
        # the second job can come at 5, and ends at 20
        (a.Load("a", 1, 10, 10, 5), a.Load("b", 2, 10, 0)),
    ):
        found.append(a.response(one, [other], lambda window: 0))
    # responses of the jobs are 114, 102, 116, 104, 118, 106 and 94
    for enough in (113, 114, 115, 116, 117, 118):
        response = a.response(a.Load("b", 1, 100, 62), [a.Load("a", 2, 70, 26)], lambda window: 0, enough)
        found.append(response.time > enough)


def figures(a: SimpleNamespace, found: list[Any]) -> None:
    """What this analysis says of systems that have all that there is."""

    def add(workload: Any, platform: Any = a.FREE) -> None:
        result = a.analyse(workload, platform)
        found.append(sorted((name, sorted(each.items())) for name, each in workload.below.items()))
        for each in result.tasks:
            found.append(each.demand.total)
            found.append((each.blocking.classic, each.blocking.assignment, each.blocking.exact))
            found.append((each.blocking.possible, each.blocking.gap))
            found.append(each.response)
            can_wait = a.waits(workload, a.demands(workload, platform), each.task)
            limits = [sorted(can_wait.limits(window).items()) for window in (1, 100, 101, 1000)]
            found.append((limits, sorted(can_wait.requests.items()), sorted(can_wait.nested.items())))
        for bound in result.bounds:
            found.append(
                (bound.applicable, bound.holds, [round(v, 9) for _, v in bound.values], bound.reason)
            )

    def workload(tasks: list[tuple[Any, ...]], cpis: list[tuple[Any, ...]] = []) -> Any:  # noqa: B006
        return a.changed(
            a.Workload(
                tuple(a.WorkloadTask(*each) for each in tasks), tuple(a.WorkloadCpi(*each) for each in cpis)
            )
        )

    intel = real_platform("sudvarg2024-intel")
    ours = a.Platform(
        "ours", "", "camkes-rt", 1_000_000_000, a.Halves(5, 3), a.FixedCost(7, 2), a.Halves(4, 4),
        a.InheritanceCost(acquire=1, release=2, queue=3, update=10, settle=20, clear=40),
        a.TimerCost(2, 1),
    )  # fmt: skip
    library = a.read_platform(intel.name)
    for platform in (a.FREE, ours, library):
        for one, two in ((F, F), (P, P), (I, I), (I, P), (P, I), (F, I), (I, F))[
            : 7 if platform is a.FREE else 4
        ]:
            tasks = [
                ("1", 30, 10_000, 10_000, 2000, {"A": 1}),
                ("2", 20, 20_000, 20_000, 4000, {"A": 1}),
                ("3", 10, 50_000, 50_000, 8000, {"B": 1}),
            ]
            add(workload(tasks, [("A", one, 500, {"B": 1}), ("B", two, 300)]), platform)
    add(workload([("0", 40, 50, 50, 5), ("1", 30, 99, 99, 9, {"A": 1}), ("2", 20, 200, 200, 9, {"A": 1})],
                 [("A", F, 8, {}, 255)]))  # fmt: skip
    _with_costs(a, add, workload, library, ours)
    for demand in (45, 60, 50):  # equal priorities
        add(workload([("a", 1, 100, 100, demand), ("b", 1, 100, 100, demand)]))
    _with_nested_locks(add, workload)
    _with_others(add, workload)
    _with_monitors(add, workload)
    _with_ceilings_on_the_way(add, workload)
    _with_chains(a, found, ours)
    _with_bands(a, found, ours)
    _formulas(a, found)


def test_results_of_all_formulas_are_those_of_the_file() -> None:
    found: list[Any] = []
    figures(ANALYSIS, found)
    compare(text(found), GOLDEN)
