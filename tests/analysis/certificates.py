# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Certificates of random systems, which have to be accepted, and damaged ones, which have to be refused or to
be true all the same: no bound that is certified may be below what the analysis knows to be needed.

    python -m tests.analysis.certificates --count 1000 --damage 10000
    python -m tests.analysis.certificates --count 0 --damage 0 --enumerate 300 --chains 1000

Half of the damages are those of a file: a number is changed, a price is lowered, a line is left out. The
others are lies: what writes the certificate leaves out a section, a task, a job, a phase or what an emitter
releases, takes times to be shorter, or is for another system, and all that follows agrees with that.

With --enumerate certified responses, and ends of chains, of small systems are compared with the longest ones
in all that can happen; with --chains those of tasks in chains with the results of the analysis.

Exit status: 1 if a certificate was refused, a damaged one that is not true was accepted, or a bound exceeded.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial, partialmethod
from math import ceil, inf
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest.mock import patch

from msgspec.structs import replace

from camkes.analysis import certificate as certificates
from camkes.analysis.assignment import changed
from camkes.analysis.blocking import PossibleWaits
from camkes.analysis.certificate import certificate, certificate_text
from camkes.analysis.chains import Chains, LevelWindow
from camkes.analysis.demand import Demands, Time, demands
from camkes.analysis.platform import FREE, EventCost, FixedCost, Halves, InheritanceCost, Platform, TimerCost
from camkes.analysis.supply import Supply, supply_of
from camkes.analysis.verdict import TaskResult, analyse
from camkes.analysis.workload import NEVER, Workload, WorkloadTask, with_emissions
from camkes.check_certificate import Checker, WrongError
from camkes.documents import json_text
from camkes.model.protocols import Protocol
from camkes.showing.workload_json import report_of
from tests.analysis.attacks import attacked_workload
from tests.analysis.enumeration import (
    Enumeration,
    TooLargeError,
    banded_workload,
    chained_workload,
    small_workload,
)
from tests.analysis.random_systems import RandomSystem

#: Damages of each kind count the same.
DAMAGES = (
    "number",
    "price",
    "line left out",
    "line twice",
    "lines exchanged",
    "step",
    "name",
    "field",
    "word",
)


class Certified(NamedTuple):
    """A system with its certificate, and (blocking, response, latest) below which none may be accepted."""

    workload: Workload
    plan: Any
    lines: list[Any]
    results: Mapping[str, TaskResult]
    least: Mapping[str, tuple[Time, Time, Time]]
    platform: Platform | None
    budgets: Mapping[str, int]


def random_certificate(seed: int) -> Certified:
    """Of small and larger systems, with chains, domains, bands, nested locks, and costs of operations."""
    rng = random.Random(seed)
    slots: list[tuple[int, int]] = []
    kind = seed % 8
    if kind == 0:
        workload = small_workload(rng)
    elif kind == 1:
        workload = chained_workload(rng)
    elif kind == 2:
        workload = RandomSystem(rng).workload
    elif kind == 3:
        workload, slots = _with_domains(rng)
    elif kind == 4:
        workload = many_chains(rng)
    elif kind == 5:
        workload = banded_workload(rng, chained=rng.random() < 0.1)
    else:
        workload = attacked_workload(rng)
        while len(workload.tasks) > 12:
            workload = attacked_workload(rng)
    workload = with_emissions(workload)
    platform = rng.choice((None, FREE, _random_platform(rng)))
    budgets = {}
    if rng.random() < 0.15:  # most of which last
        for task in rng.sample(workload.tasks, rng.randint(1, 2)):
            needed = demands(workload, platform or FREE).of_task[task.name].total
            budgets[task.name] = ceil(needed * rng.choice((0.9, 1, 1.5, 2, 3))) + 1
    return certified(workload, slots, platform, budgets)


def certified(
    workload: Workload,
    slots: list[tuple[int, int]] | None = None,
    platform: Platform | None = None,
    budgets: Mapping[str, int] = MappingProxyType({}),
) -> Certified:
    """`budgets`: see `camkes.analysis.overruns.lasting_budgets`."""
    analysis = analyse(workload, platform or FREE)
    lines = _lines(workload, platform, budgets)
    results = {each.task.name: each for each in analysis.tasks}
    chains = any(task.after for task in workload.tasks)
    least = {}
    for claim in lines:
        if claim["line"] == "task":
            found = results[claim["task"]]
            assert found.response is not None
            exact = found.blocking.exact is not None and not chains
            response, latest = claim["response"], claim["latest"]
            if not chains:  # else these are of the release of a segment
                response = found.response.time if exact else min(found.response.time, response)
                latest = found.response.latest if exact else min(found.response.latest, latest)
            least[claim["task"]] = (0 if chains else found.blocking.possible, response, latest)
    plan = {"tasks": [], "workload": json.loads(json_text(report_of(workload, slots or (), (), budgets)))}
    return Certified(workload, plan, lines, results, least, platform, budgets)


def _lines(workload: Workload, platform: Platform | None, budgets: Mapping[str, int]) -> list[Any]:
    analysis = analyse(workload, platform or FREE)
    text = certificate_text(certificate(workload, platform, analysis, budgets))
    return [*map(json.loads, text.splitlines())]


def _with_domains(rng: random.Random) -> tuple[Workload, list[tuple[int, int]]]:
    """Two systems in turns, the second one in several slots; a task of the first one can release one of the
    second one."""
    slots = [(rng.randrange(2), rng.randint(1, 6)) for _ in range(rng.randint(2, 5))]
    slots += [(0, rng.randint(2, 6)), (1, rng.randint(2, 6))]
    tasks: list[WorkloadTask] = []
    cpis = []
    for domain in (0, 1):
        one = rng.choice((small_workload, chained_workload))(rng)
        factor = {root: rng.choice((3, 5, 9)) for root in (task.name for task in one.tasks)}

        def renamed(requests: Mapping[str, int], end: str = f".{domain}") -> dict[str, int]:
            return {f"{name}{end}": count for name, count in requests.items()}

        for task in one.tasks:
            period = task.period * factor[_root(one, task)]
            tasks.append(
                replace(
                    task,
                    name=f"{task.name}.{domain}",
                    requests=renamed(task.requests),
                    domain=domain,
                    period=period,
                    deadline=period,
                    after=f"{task.after}.{domain}" if task.after else "",
                )
            )
        for cpi in one.cpis:
            named = f"{cpi.name}.{domain}"
            cpis.append(replace(cpi, name=named, requests=renamed(cpi.requests), domain=domain))
    if rng.random() < 0.5:
        before = rng.choice([task for task in tasks if task.domain == 0])
        whole = Workload(tuple(tasks), ())
        first = rng.choice([task for task in tasks if task.domain == 1 and not task.after])
        for i, task in enumerate(tasks):
            if task is first:
                tasks[i] = replace(task, after=before.name, timed=False)
            if _root(whole, task) == first.name:
                tasks[i] = replace(tasks[i], period=before.period, deadline=before.period)
    supplies = {domain: supply_of(slots, domain) for domain in (0, 1)}
    return Workload(tuple(tasks), tuple(cpis), supplies=supplies), slots


def _root(workload: Workload, task: WorkloadTask) -> str:
    """The first task of a chain."""
    while task.after:
        task = next(each for each in workload.tasks if each.name == task.after)
    return task.name


def many_chains(rng: random.Random) -> Workload:
    """Some chains of up to nine tasks in all, of few priorities, with CPIs."""
    small = small_workload(rng)
    names = [cpi.name for cpi in small.cpis]
    tasks: list[WorkloadTask] = []
    for i in range(rng.randint(4, 9)):
        before = rng.choice(tasks) if i and rng.random() < 0.75 else None
        wanted = {name: 1 for name in names if rng.random() < 0.2}
        period = rng.randint(25, 60) if before is None else before.period
        after = "" if before is None else before.name
        priority, work = rng.randint(1, 5), rng.randint(1, 3)
        tasks.append(
            WorkloadTask(f"t{i}", priority, period, period, work, wanted, after, timed=before is None)
        )
    return changed(replace(small, tasks=tuple(tasks)))


def _random_platform(rng: random.Random) -> Platform:
    def halves() -> Halves:
        return Halves(rng.randint(0, 2), rng.randint(0, 2))

    lock = InheritanceCost(
        *(halves(), halves()),
        **{name: rng.randint(0, 2) for name in ("queue", "acquire", "release", "update", "settle", "clear")},
    )
    return Platform(
        "random",
        runtime=rng.choice(("camkes-rt", "library")),
        clock=rng.choice((1_000_000_000, 3_000_000_000, 7_000_000)) if rng.random() < 0.5 else 1_000_000_000,
        plain=halves(),
        fixed=FixedCost(rng.randint(0, 2), rng.randint(0, 2), waiting=rng.randint(0, 2)),
        propagated=halves(),
        inherited=lock,
        timer=TimerCost(rng.randint(0, 1), uninterrupted=rng.randint(0, 2)),
        event=EventCost(rng.randint(0, 1), rng.randint(0, 2)),
    )


#: In which ways certificates are written that are not true.
LIES = (
    *("section left out", "shorter section", "section without surroundings", "section that excludes"),
    *("fewer requests", "task left out", "shorter blocking", "job left out", "shorter window", "no jitter"),
    *("phase left out", "other system", "other system", "other system"),
    "without budgets",
    *("emitter left out", "what an emitter releases left out", "longer period", "follower left out"),
)


def verdict(plan: Any, lines: list[Any]) -> str:
    """The result of the checker: "accepted", "wrong: ..." or "bad: ..."."""
    try:
        checker = Checker(plan, lines)
        checker.check()
    except WrongError as error:
        return f"wrong: {error}"
    except Exception as error:
        return f"bad: {error!r}"
    return "accepted"


def still_true(found: Certified, lines: list[Any]) -> bool:
    """Whether no bound that lines claim is below what is needed."""
    claims = [of for of in lines if of["line"] == "task"]
    return all(
        claimed >= least
        for of in claims
        if of["task"] in found.least
        for claimed, least in zip(
            (of.get("blocking", inf), of["response"], of["latest"]), found.least[of["task"]], strict=True
        )
    ) and all(of["task"] in found.least for of in claims)


def damaged(rng: random.Random, made: Certified) -> tuple[str, list[Any]]:
    """The kind of a damage, and lines with it."""
    for _ in range(8 if rng.random() < 0.5 else 0):
        kind = rng.choice(LIES)
        with ExitStack() as stack:
            workload = _lie(rng, kind, made.workload, stack)
            budgets = {} if kind == "without budgets" else made.budgets
            # costs are listed, not checked
            lies = [made.lines[0], *_lines(workload, made.platform, budgets)[1:]]
        if lies != made.lines:
            return kind, lies
    lines = made.lines
    while (found := _damaged(rng, kind := rng.choice(DAMAGES), lines)) == lines:
        pass
    return kind, found


def _lie(rng: random.Random, kind: str, workload: Workload, stack: ExitStack) -> Workload:
    """The system that a certificate is written for, where what writes it is wrong in one way."""

    def instead(name: str, other: Any, of: Any = certificates) -> None:
        stack.enter_context(patch.object(of, name, other))

    def shorter(time: int) -> int:
        return max(0, time - max(1, time // rng.choice((3, 10, 1000))))

    chosen = rng.random()
    waits, released, within = certificates.waits, certificates.released, certificates._ProvedBounds.within

    def other_waits(*of: Any) -> PossibleWaits:
        found = waits(*of)
        if not found.sections:
            return found
        sections = [*found.sections]
        place = int(chosen * len(sections))
        own = sections[place].priority
        if kind == "section left out":
            del sections[place]
        elif kind == "shorter section":
            sections[place] = replace(sections[place], duration=shorter(int(sections[place].duration)))
        elif kind == "section without surroundings":
            sections[place] = replace(sections[place], held=frozenset(), enters=())
        elif kind == "section that excludes":
            sections[place] = replace(sections[place], enters=((-1, own), (own, inf)))
        requests = found.requests
        if kind == "fewer requests":
            requests = {lock: each[:-1] for lock, each in requests.items()}
        return replace(found, sections=tuple(sections), requests=requests)

    def other(
        jobs: Callable[..., Iterator[certificates.JobLine]], *of: Any
    ) -> Iterator[certificates.JobLine]:
        bounds = of[3]
        for each in jobs(*of):
            window = each.window if kind == "job left out" else shorter(each.window)
            bounds.proved(window)
            yield replace(each, window=window)
            if kind == "job left out":
                break

    class OtherChains(Chains):
        def level(self, task: WorkloadTask, needed: Demands) -> LevelWindow:
            found = super().level(task, needed)
            ways, following = [*found.ways], [*found.following]
            place = int(chosen * len(ways))
            if kind == "emitter left out" and len(ways) > 1:
                del ways[place]
            elif kind == "what an emitter releases left out":
                fewer = [each for each in ways[place].others if each.period < NEVER]
                ways[place] = replace(ways[place], others=tuple(fewer))
            elif kind == "longer period":
                for i, way in enumerate(ways):
                    longer = [replace(each, period=2 * each.period) for each in way.others]
                    own = way.own if chosen < 0.5 else replace(way.own, period=2 * way.own.period)
                    ways[i] = replace(way, own=own, others=tuple(longer))
            elif kind == "follower left out" and following:
                del following[int(chosen * len(following))]
            return replace(found, ways=tuple(ways), following=tuple(following))

    instead("Chains", OtherChains)
    instead("waits", other_waits)
    instead("know", lambda *of: None, certificates._ProvedBounds)
    if kind == "task left out":
        instead("released", lambda loads, w: released([*loads][: int(chosen * len([*loads]))], w))
    elif kind == "shorter blocking":
        instead("within", lambda bounds, w: shorter(within(bounds, w)), certificates._ProvedBounds)
    elif kind in ("job left out", "shorter window"):
        instead("_jobs", partial(other, certificates._jobs))
        instead("_due", partialmethod(partial(other, certificates._Showing._due)), certificates._Showing)
    elif kind == "no jitter":
        instead("delayed", lambda workload, latest: workload)
    elif kind == "phase left out":
        supplies = {
            domain: Supply(each.share, each.phases[:-1] or each.phases, each.length)
            for domain, each in workload.supplies.items()
        }
        return replace(workload, supplies=supplies)
    elif kind == "other system":
        return _other(rng, workload)
    return workload


def _other(rng: random.Random, workload: Workload) -> Workload:
    """A system that is easier in one way."""
    tasks, cpis = [*workload.tasks], [*workload.cpis]
    of: list[Any] = rng.choice([each for each in (tasks, cpis) if each])
    place = rng.randrange(len(of))
    party = of[place]
    what = rng.choice(("work", "requests", "count", "priority", "period", "deadline", "protocol"))
    if what == "work":
        party = replace(party, work=max(0, party.work - max(1, party.work // 3)))
    elif what == "requests" and party.requests:
        gone = rng.choice([*party.requests])
        party = replace(party, requests={k: n for k, n in party.requests.items() if k != gone})
    elif what == "count":
        party = replace(party, requests={k: max(1, n - 1) for k, n in party.requests.items()})
    elif what == "priority" and of is tasks:
        party = replace(party, priority=max(1, party.priority + rng.choice((-1, 1))))
    elif what == "period" and of is tasks:
        party = replace(party, period=party.period + max(1, party.period // 5))
    elif what == "deadline" and of is tasks:
        party = replace(party, deadline=party.deadline + rng.choice((-1, 1)) * max(1, party.deadline // 5))
    elif what == "protocol" and of is cpis:
        party = replace(party, protocol=rng.choice([*Protocol]))
    of[place] = party
    return replace(workload, tasks=tuple(tasks), cpis=tuple(cpis))


def _damaged(rng: random.Random, kind: str, lines: list[Any]) -> list[Any]:
    lines = copy.deepcopy(lines)
    number = rng.randrange(len(lines))
    if kind == "line left out":
        del lines[number]
    elif kind == "line twice":
        lines.insert(rng.randrange(len(lines)), copy.deepcopy(lines[number]))
    elif kind == "lines exchanged":
        other = rng.randrange(len(lines))
        lines[number], lines[other] = lines[other], lines[number]
    elif kind == "step":
        proofs = [of["proof"] for of in lines if of.get("proof")]
        if proofs:
            proof = rng.choice(proofs)
            place = rng.randrange(len(proof))
            proof[place : place + 1] = rng.choice(([], [None], [0], [proof[place], None], [{}]))
    elif kind == "field":
        del lines[number][rng.choice([*lines[number]])]
    else:
        wanted = {"number": int, "price": int, "name": str, "word": bool}[kind]
        places = [place for of in lines for place in _places(of, wanted) if kind != "price" or place[2]]
        if places:
            holder, key, _ = rng.choice(places)
            holder[key] = _another(rng, kind, holder[key], places)
    return lines


def _another(rng: random.Random, kind: str, value: Any, places: list[Any]) -> Any:
    if kind == "word":
        return not value
    if kind == "name":
        return rng.choice([holder[key] for holder, key, _ in places])
    if kind == "price":
        return max(0, value - rng.choice((1, 1, value // 2, value)))
    near = value + rng.choice((-1, 1, -2, 2))
    return max(0, rng.choice((near, near, value // 2, 2 * value, 0, value - value // 10, 10**30)))


def _places(of: Any, wanted: type, price: bool = False) -> list[tuple[Any, Any, bool]]:
    """Where values of a type are: what has them, by which key, and whether it is in a price."""
    found: list[tuple[Any, Any, bool]] = []
    for key, value in of.items() if isinstance(of, dict) else enumerate(of):
        if isinstance(value, dict | list):
            found += _places(value, wanted, price or (isinstance(of, list) and isinstance(value, dict)))
        elif type(value) is wanted:
            found.append((of, key, price))
    return found


def compared(workload: Workload, states: int) -> list[tuple[str, int, int]] | None:
    """For each certified task the response that is certified, and the longest one, and the same for the end
    of its chain; None where no task is certified, or the system has more states."""
    claims = {of["task"]: of for of in certified(workload).lines if of["line"] == "task"}
    unknown = {"response": 10**9, "latest": 10**9}
    of_tasks = [claims.get(task.name, unknown) for task in workload.tasks]
    bounds = [(int(of["response"]), int(of["latest"])) for of in of_tasks]
    try:
        longest = Enumeration(workload, bounds, states).run() if claims else []
    except TooLargeError:
        return None
    return [
        (f"{end} of {task.name}", bound, worst)
        for task, bound_of, worst_of in zip(workload.tasks, bounds, longest, strict=bool(claims))
        for end, bound, worst in zip(("response", "latest"), bound_of, worst_of, strict=True)
        if task.name in claims
    ] or None


def enumerated(systems: int, states: int, first: int) -> int:
    """Compares so many systems with chains, and prints how many bounds are exceeded, which it returns."""
    every: list[tuple[str, int, int]] = []
    found, seed = 0, first
    while found < systems:
        rows = compared(chained_workload(random.Random(seed)), states)
        for name, bound, worst in rows or ():
            if worst > bound:
                print(f"seed {seed}: {name}: certified {bound}, longest {worst}", flush=True)
        every += rows or ()
        found, seed = found + (rows is not None), seed + 1
    wrong = sum(worst > bound for _, bound, worst in every)
    equal = sum(worst == bound for _, bound, worst in every)
    print(
        f"{systems} systems of {seed - first}, {len(every)} certified bounds: {equal} are the longest time, "
        f"{wrong} exceeded"
    )
    return wrong


def certified_chains(systems: int, first: int) -> str:
    """How many tasks in chains that have a bound are certified, and as the analysis has it."""
    found: Counter[str] = Counter()
    seed = first
    while found["systems"] < systems:
        workload = chained_workload(random.Random(seed))
        seed += 1
        emitters = {task.after for task in workload.tasks}
        if emitters == {""}:
            continue
        found["systems"] += 1
        made = certified(workload)
        claims = {of["task"]: of for of in made.lines if of["line"] == "task"}
        for name, result in made.results.items():
            if result.response is not None and (result.task.after or name in emitters):
                found["tasks"] += 1
                found["certified"] += name in claims
                claim = claims.get(name, {"response": inf, "latest": inf})
                found["response"] += claim["response"] <= result.response.time
                found["latest"] += claim["latest"] <= result.response.latest
    return (
        f"{systems} systems, {found['tasks']} tasks in chains: {found['certified']} certified, "
        f"{found['response']} with the response and {found['latest']} with the latency of the analysis"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100, metavar="CERTIFICATES")
    parser.add_argument("--damage", type=int, default=1000, metavar="DAMAGED")
    parser.add_argument("--seed", type=int, default=0, metavar="FIRST")
    parser.add_argument("--enumerate", type=int, default=0, metavar="SYSTEMS", help="with chains of events")
    parser.add_argument("--chains", type=int, default=0, metavar="SYSTEMS", help="beside the analysis")
    parser.add_argument("--states", type=int, default=60_000, metavar="MOST", help="of a system")
    given = parser.parse_args()
    every: list[tuple[int, Certified]] = []
    found: Counter[str] = Counter()
    kinds: Counter[tuple[str, bool]] = Counter()
    wrong = 0
    for seed in range(given.seed, given.seed + given.count):
        made = random_certificate(seed)
        said = verdict(made.plan, made.lines)
        found["tasks"] += len(made.results)
        found["certified"] += len(made.least)
        found["accepted"] += said == "accepted"
        if said != "accepted":
            wrong += 1
            print(f"seed {seed}: {said}", flush=True)
        every.append((seed, made))
    rng = random.Random(given.seed)
    for number in range(given.damage):
        seed, made = every[number % len(every)]
        kind, lines = damaged(rng, made)
        said = verdict(made.plan, lines)
        kinds[kind, said == "accepted"] += 1
        found["refused" if said != "accepted" else "taken"] += 1
        if said == "accepted" and not still_true(made, lines):
            wrong += 1
            print(f"seed {seed}: a damaged certificate was accepted ({kind})", flush=True)
    print(
        f"{given.count} systems, {found['certified']} of {found['tasks']} tasks certified: "
        f"{found['accepted']} certificates accepted"
    )
    print(
        f"{given.damage} damaged ones: {found['refused']} refused, {found['taken']} still true; {wrong} wrong"
    )
    for kind in dict.fromkeys((*DAMAGES, *LIES)):
        print(f"  {kind}: {kinds[kind, False]} refused, {kinds[kind, True]} still true")
    if given.enumerate:
        wrong += enumerated(given.enumerate, given.states, given.seed)
    if given.chains:
        print(certified_chains(given.chains, given.seed))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
