# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a bound rests on that is neither stated by the user nor read from code: all kinds of it are here.

A verdict names the assumptions that it rests on. What makes a bound wrong whatever is assumed is an obstacle
(`obstacles.py`): there is no bound then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import reduce
from operator import or_

from msgspec import Struct

from camkes.analysis.conditions import servers
from camkes.analysis.methods import called_methods
from camkes.analysis.obstacles import domain_of, in_slots
from camkes.analysis.platform import FREE, Platform
from camkes.analysis.supply import supply_of
from camkes.analysis.workload import Workload, WorkloadTask
from camkes.diagnostics import Span
from camkes.diagnostics.words import listing
from camkes.model.settings import REQUESTS, WCET, WITHIN
from camkes.model.substitutes import substituted
from camkes.model.system import System
from camkes.model.units import duration
from camkes.protocols.groups import find_groups
from camkes.protocols.jobs import Emission, find_jobs
from camkes.protocols.plan import Plan
from camkes.protocols.releases import emissions, emitting_ends
from camkes.protocols.requests import Counted, method_node
from camkes.protocols.signals import WAIT_UNTIL
from camkes.protocols.timers import other_timers


class AssumptionKind(StrEnum):
    """What is assumed."""

    OPERATIONS = "operations"  # kernel operations, and what the runtime does for requests, take no time
    EXECUTION_TIME = "execution time"  # of a job, a request or helpers: none, where none is stated
    REQUESTS = "requests"  # a job or a request calls an interface once
    EVENTS = "events"  # a job emits the event once that releases another task
    WAITS = "waits"  # a wait lasts until its signal
    SWITCHES = "switches"  # from one slot of a schedule to the next one take no time
    RELEASES = "releases"  # a timer releases jobs at their times, whatever slots there are
    DEVICES = "devices"  # the code of a device needs what its substitute needs


class Assumption(Struct, frozen=True, eq=False):
    """What is assumed of `subject`, a task, a CPI or a condition (empty: the system): `text` completes
    "met if"; `help` is what makes it known. It matters for bounds that depend on one of the tasks, CPIs and
    conditions `of`; None: for all."""

    kind: AssumptionKind
    subject: str
    text: str
    help: str
    span: Span | None = None
    of: frozenset[str] | None = None


def find_assumptions(
    system: System, plan: Plan, *, platform: Platform | None, unread: Mapping[str, str]
) -> tuple[Assumption, ...]:
    """All assumptions about a system. The user named `platform`. `unread` says why the code of instances
    and handlers was not read, "" that of all others."""
    found = [*of_operations(system, plan, platform), *_devices(system)]
    found += [*_execution_times(system, plan), *_requests(system, plan, unread), *_events(system, plan)]
    return (*found, *_waits(plan), *_releases(system, plan))


def of_operations(system: System, plan: Plan, platform: Platform | None) -> Iterator[Assumption]:
    """What is assumed of operations on a machine: where none is named, that they take no time."""
    if platform is None:
        yield _OPERATIONS
        return
    yield from _measured(system, platform)
    if platform != FREE:
        if in_slots(system):
            yield _switches(system)
        yield from _groups(plan, platform)
        yield from _operations_below(platform)
        yield from _events_without_cost(system, plan, platform)
        yield from _other_timers(system, plan)
        yield from _ends_of_budgets(plan, platform)


def _operations(text: str, help: str) -> Assumption:
    """About those of all tasks."""
    return Assumption(AssumptionKind.OPERATIONS, "", text, help)


_OPERATIONS = _operations(
    "operations of the kernel and the runtime take no time",
    "name a machine with `--platform NAME`, or `--platform none` if the stated times include them",
)


def _measured(system: System, platform: Platform) -> Iterator[Assumption]:
    """What samples of a board do not show, and what another kernel does."""
    measured = platform.measured
    if platform.bounded:
        parts = ", ".join(f"{each.kernel} of `{each.name}`" for each in platform.bounded)
        users = ", ".join(f"{each.user} of `{each.name}`" for each in platform.bounded)
        kernel = f"the kernel takes no more cycles than measured: {parts}"
        text = f"the bounds of paths are of the image, and {kernel}"
        help = f"`camkes paths` says what its bounds rest on; they are, in cycles, {users}"
        yield _operations(text, help)
    if measured is None:
        return
    if measured.figures == "maximum":
        text = f"no operation takes longer than the longest of {measured.samples} samples on that board"
        help = "no measurement replaces it: leave time to the deadlines"
        yield _operations(text, help)
    if measured.mcs != system.mcs:
        kernel = "an MCS kernel" if measured.mcs else "a kernel without MCS"
        text = f"operations take the time that they take on {kernel}, as in `{platform.name}`"
        help = "name a profile of the kernel that the system is for"
        yield _operations(text, help)


def _switches(system: System) -> Assumption:
    """What no profile has a cost for."""
    return Assumption(
        AssumptionKind.SWITCHES,
        "",
        "the kernel goes from one slot of the schedule to the next one in no time",
        "leave that time to the deadlines",
        system.schedule[0].span,
    )


def _other_timers(system: System, plan: Plan) -> Iterator[Assumption]:
    """What no profile has a cost for."""
    names = [name for name, _ in other_timers(system, plan)]
    if names:
        yield _operations(
            f"the timers of {listing(names)} take no time when they expire",
            "leave that time to the deadlines",
        )


def _groups(plan: Plan, platform: Platform) -> Iterator[Assumption]:
    """What no profile has a kernel's part for."""
    names = [group.name for group in find_groups(plan)]
    if platform.bounded and names:
        yield _operations(
            f"the kernel takes no longer for the group of {listing(names)} than for the manager of a CPI",
            "leave that time to the deadlines",
        )


def _operations_below(platform: Platform) -> Iterator[Assumption]:
    """What a profile that an older version measured has no cost for."""
    if platform.measured is not None and not platform.timer.uninterrupted:
        yield _operations(
            "no interrupt of a timer waits for what the kernel does for a thread below",
            "measure the machine again, or leave that time to the deadlines",
        )


def _events_without_cost(system: System, plan: Plan, platform: Platform) -> Iterator[Assumption]:
    """What a profile without it has no cost for, and events of which there is no count."""
    released = [task.instance for task in system.tasks if task.release]
    if released and not platform.event.release:
        yield _operations(
            f"the event that releases {listing(released)} takes no time to emit and to wait for",
            "measure the machine again, or add it to the stated execution times of both tasks",
        )
    releasing = {end for ends in emitting_ends(system).values() for end in ends}
    others = {
        name: [count for end, count in ends.items() if end not in releasing]
        for name, ends in emissions(system, plan).items()
    }
    if unknown := [name for name, counts in others.items() if None in counts]:
        yield _operations(
            f"the events that {listing(unknown)} can emit take no time, but for one to each task that they "
            "release (not counted)",
            "let the code be read, or leave that time to the deadlines",
        )
    elif not platform.event.emit and (emitting := [name for name, counts in others.items() if any(counts)]):
        yield _operations(
            f"the events that {listing(emitting)} can emit take no time",
            "measure the machine again, or add it to the stated execution times",
        )


def _ends_of_budgets(plan: Plan, platform: Platform) -> Iterator[Assumption]:
    """What a profile without it has no cost for; and what none has, if it does not state that of a thread."""
    limited = [t for t in plan.tasks if t.time is not None and t.time.budgets[0] < t.time.period]
    raising = [t.name for t in limited if t.time is not None and t.time.overrun.rules.raises]
    if platform.overrun.wait and raising and not platform.raised:
        yield _operations(
            f"the change of the criticality where the budget of {listing(raising)} ends takes no time",
            "state `raised` in a profile: docs/costs.md has what a change takes",
        )
    if limited and not platform.overrun.wait:
        names = listing([task.name for task in limited])
        yield _operations(
            f"the fault where the budget of {names} ends, and its handling, take no time",
            "name a profile that has it, or leave that time to the deadlines",
        )


def _devices(system: System) -> Iterator[Assumption]:
    """What was read, and is run, is not the code that an image has."""
    for instance, what in substituted(system):
        yield Assumption(
            AssumptionKind.DEVICES,
            instance.name,
            f"the code of `{instance.name}` for its device has the times and calls of its substitute, {what}",
            "no statement replaces it: measure on the machine, and leave that time to the deadlines",
            instance.span,
        )


def _execution_times(system: System, plan: Plan) -> Iterator[Assumption]:
    kind = AssumptionKind.EXECUTION_TIME
    serving = servers(system, plan)
    for task in system.tasks:
        name = task.instance
        if task.wcet is None and name not in serving:
            text = f"a job of `{name}` executes for no time outside of its requests"
            yield Assumption(kind, name, text, f"state `{name}._wcet`", task.span, frozenset({name}))
    requested = {cpi.name for cpi in plan.cpis if cpi.tasks}
    called = called_methods(system, plan) if any(cpi.method_times for cpi in system.cpis) else {}
    for cpi in system.cpis:
        if cpi.wcet is not None or cpi.name not in requested:
            continue
        no_time = "executes for no time outside of those that it makes"
        missing = [m for m in called.get(cpi.name, ()) if m not in cpi.method_times]
        if not cpi.method_times:
            text, help = f"a request to `{cpi.name}` {no_time}", f"state `{cpi.name}_wcet`"
            yield Assumption(kind, cpi.name, text, help, cpi.span, frozenset({cpi.name}))
        for method in missing if cpi.method_times else ():
            text = f"a request to `{method}` of `{cpi.name}` {no_time}"
            of = frozenset({method_node(cpi.name, method)})
            setting = WCET.of(f"{cpi.name}_{method}_")
            yield Assumption(kind, cpi.name, text, f"state `{setting}`", cpi.span, of)
    for condition in plan.conditions:
        stated = condition.lending.condition
        if stated.within is None and stated.kind != "condition" and condition.lending.waiters:
            setting = f"{condition.instance}.{WITHIN.of(f'{condition.interface}_')}"
            text = f"the helpers of `{condition.name}` execute for no time from a wait to the signal"
            span = stated.spans.get("helpers", stated.span)
            yield Assumption(kind, condition.name, text, f"state `{setting}`", span, frozenset({stated.name}))


def _requests(system: System, plan: Plan, unread: Mapping[str, str]) -> Iterator[Assumption]:
    serving = servers(system, plan)
    seen = set()
    for request in plan.requests:
        if request.counted is not Counted.TEXT or (request.caller, request.via) in seen:
            continue
        seen.add((request.caller, request.via))
        instance, _, used = request.via.rpartition(".")
        what = "a job of" if request.caller == instance else "a request to"
        why = _why(request.caller, instance, unread)
        ended = (each.name for each in plan.conditions if request.caller in each.lending.tasks())
        yield Assumption(
            AssumptionKind.REQUESTS,
            request.caller,
            f"{what} `{request.caller}` calls `{used}` at most once ({why})",
            f"state the most: `{instance}.{REQUESTS.of(f'{used}_')}`",
            request.span,
            frozenset(ended) if request.caller in serving else frozenset({request.caller}),
        )


def _why(caller: str, instance: str, unread: Mapping[str, str]) -> str:
    return next(
        (f"not counted: {unread[name]}" for name in (caller, instance, "") if name in unread), "not counted"
    )


def _events(system: System, plan: Plan) -> Iterator[Assumption]:
    for name, jobs in find_jobs(system, plan).items():
        if jobs.follows and _is_assumed(jobs.emission):
            yield Assumption(
                AssumptionKind.EVENTS,
                name,
                f"a job of `{jobs.emitter}` emits `{jobs.event}` at most once (not counted)",
                "let the code be read",
                jobs.span,
                frozenset({name}),
            )


def _is_assumed(emission: Emission | None) -> bool:
    return emission is not None and emission.counted is Counted.TEXT


def _waits(plan: Plan) -> Iterator[Assumption]:
    """Where code was not read, it may give up a wait at a time."""
    for condition in plan.conditions:
        stated = condition.lending.condition
        if condition.lending.known or stated.kind == "condition" or not condition.lending.waiters:
            continue
        yield Assumption(
            AssumptionKind.WAITS,
            condition.name,
            f"no code calls `{condition.interface}_{WAIT_UNTIL}()` for `{condition.name}` (not read)",
            "let the code be read",
            condition.span,
            frozenset({condition.name}),
        )


def _releases(system: System, plan: Plan) -> Iterator[Assumption]:
    """The driver of timers on seL4 is in domain 0."""
    if not in_slots(system):
        return
    driver = supply_of(system.slots, 0)
    timed = (task.instance for task in system.tasks if not task.release)
    others = [name for name in timed if domain_of(system, name) != 0]
    if others:
        late = "the next slot of domain 0" if driver.share else "a slot of domain 0, which there has to be"
        gap = f", up to {duration(driver.longest_gap)} later" if driver.share else ""
        yield Assumption(
            AssumptionKind.RELEASES,
            "",
            f"timers release jobs at their times (on seL4 it is in {late}{gap})",
            "leave that time to the deadlines",
            system.schedule[0].span,
            frozenset(others),
        )


def assumed_of_tasks(
    workload: Workload, waits_in: Mapping[str, Iterable[str]], assumptions: Sequence[Assumption]
) -> Mapping[str, tuple[Assumption, ...]]:
    """For each task the assumptions that its bound rests on: about tasks of its priority or a higher one, or
    of its band, about the CPIs that these request, about the CPIs that they wait in for others, and, where
    events release one of these tasks, all that the bound of the emitter rests on."""
    named = {task.name: task for task in workload.tasks}
    # sets are integers with a bit for each name that an assumption is about
    bits: dict[str, int] = {}
    for name in (name for each in assumptions for name in each.of or ()):
        bits.setdefault(name, 1 << len(bits))
    below: dict[str, int] = {}  # a request to each CPI, and what is requested in it
    for cpi in reversed(workload.order):
        below[cpi.name] = _any(bits.get(name, 0) for name in cpi.names) | _any(
            below[name] for name in cpi.requests
        )
    own = {t.name: bits.get(t.name, 0) | _any(below[name] for name in t.requests) for t in workload.tasks}
    sections = {name: _any(below[cpi] for cpi in waits_in.get(name, ())) for name in named}

    def depends_on(first: WorkloadTask) -> int:
        found = 0
        waiting, seen = [first], {first.name}
        for task in waiting:
            found |= sections[task.name]
            for other in workload.tasks:
                in_band = bool(task.band) and other.band == task.band
                if in_band:
                    found |= sections[other.name]
                if in_band or (other.domain == task.domain and other.priority >= task.priority):
                    found |= own[other.name]
                    if other.after and other.after not in seen:
                        seen.add(other.after)
                        waiting.append(named[other.after])
        return found

    about = [(each, _any(bits[name] for name in each.of or ())) for each in assumptions]
    matters = {task.name: depends_on(task) if bits else 0 for task in workload.tasks}
    return {
        name: tuple(each for each, of in about if of & found or each.of is None)
        for name, found in matters.items()
    }


def _any(sets: Iterable[int]) -> int:
    """What is in any of the sets."""
    return reduce(or_, sets, 0)
