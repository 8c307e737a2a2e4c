# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What keeps jobs from having a bound: each with its place, what to write instead, and whom it concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from camkes.analysis.codes import (
    BAND_NOT_ANALYSED,
    MAY_WAIT,
    NO_PERIOD,
    OTHER_THREAD,
    SEVERAL_PROCESSORS,
)
from camkes.analysis.conditions import servers
from camkes.diagnostics import Diagnostic, Label, Span
from camkes.diagnostics.words import listing
from camkes.model.bands import Order, scheduled_by
from camkes.model.configured import DEFAULTS, ThreadSettings
from camkes.model.connectors import carries_time, interface_threads, support
from camkes.model.settings import AFFINITY, DOMAIN, PRIORITY, Known
from camkes.model.system import Instance, System
from camkes.protocols.jobs import TaskJobs, find_jobs
from camkes.protocols.plan import Plan, PlannedCondition
from camkes.protocols.signals import WAIT_UNTIL


class Obstacle(Struct, frozen=True):
    """Why there is no bound: in full, and in a few words that complete "no bound:". It concerns what
    `callers` execute, tasks and CPIs ("inst.iface"), and all tasks up to `priority` (-1: none), before which
    something else executes: those of the scheduling `domain`, None: of all. `frees`: a request to one of
    these CPIs does not have its lock while it waits."""

    problem: Diagnostic
    brief: str
    callers: tuple[str, ...] = ()
    priority: int = -1
    frees: bool = False
    domain: int | None = None


def find_obstacles(system: System, plan: Plan) -> tuple[Obstacle, ...]:
    """All obstacles of a system with tasks."""
    found = [
        *_bands(plan),
        *_periods(system, plan),
        *_uncounted(system, plan),
        *_waits(system, plan),
        *_helped_waits(system, plan),
        *_plain_calls(system, plan),
    ]
    return (*found, *_other_threads(system, plan), *_processors(system, plan))


def endless_wait(plan: Plan, name: str) -> Obstacle:
    """That of a wait which has to end before it can end."""
    condition = plan.condition(name)
    assert condition is not None
    problem = Diagnostic(
        MAY_WAIT,
        f"a wait for `{name}` has no bound: what its helpers do can wait for it, too",
        _span(condition),
        help="let a task end the wait whose own waits and requests do not depend on it",
    )
    return Obstacle(problem, f"waits for {name}", tuple(condition.lending.waiters))


def _bands(plan: Plan) -> Iterator[Obstacle]:
    """Those whose order is that of deadlines have an analysis."""
    for band in plan.bands:
        if band.order is not Order.DEADLINE:
            problem = Diagnostic(
                BAND_NOT_ANALYSED,
                f"the tasks of `{band.instance}` cannot be analysed: their order is not that of deadlines",
                band.span,
                help="run the system, or give them priorities of their own",
            )
            yield Obstacle(problem, f"the order of {band.instance}", band.tasks)


def _periods(system: System, plan: Plan) -> Iterator[Obstacle]:
    helping, jobs = servers(system, plan), find_jobs(system, plan)
    for task in system.tasks:
        name = task.instance
        if name in helping or jobs[name].period is not None:
            continue  # a server executes while others wait
        problem = Diagnostic(
            NO_PERIOD,
            f"the time between two events `{name}.{task.release}` is not known"
            if task.release
            else f"task `{name}` has no period",
            task.span,
            notes=(_not_derived(jobs[name]),) if task.release else (),
            help=f"add for example `{name}._period = 20 ms;` to the configuration"
            + (": the least time between two events" if task.release else ""),
        )
        yield Obstacle(problem, "no period", (name,))


def _not_derived(jobs: TaskJobs) -> str:
    """Why the period of a task is not that of the one that releases it."""
    emission = jobs.emission
    if emission is None:
        return "it is the period of the task that emits them, if that is one alone"
    if emission.count is None:
        return f"nothing limits how often a job of `{jobs.emitter}` emits them"
    if emission.count == 1:
        return f"the period of `{jobs.emitter}`, which emits them, is not known"
    if not emission.count:
        return f"a job of `{jobs.emitter}` emits none, as its code shows"
    return f"a job of `{jobs.emitter}` emits {emission.count} of them, as its code shows"


def _uncounted(system: System, plan: Plan) -> Iterator[Obstacle]:
    """Requests in a loop, for example, whose number has no bound; and loops that do not end."""
    for request in plan.requests:
        if request.uncounted is not None:
            brief = f"number of requests to {request.callee}"
            yield Obstacle(request.uncounted, brief, (request.caller,))
    jobs = find_jobs(system, plan)
    for caller, problem in plan.endless.items():
        if caller in jobs and jobs[caller].release == "boot":
            continue  # it has one job, as a server
        yield Obstacle(problem, f"{caller} does not end", (caller,))


def _waits(system: System, plan: Plan) -> Iterator[Obstacle]:
    """Events, mutexes and semaphores of components that tasks execute in."""
    execute = {task.name: [task.name] for task in plan.tasks}
    for cpi in plan.cpis:
        if cpi.tasks:
            execute.setdefault(cpi.instance, []).append(cpi.name)
    helping = servers(system, plan)
    releases = {task.instance: task.release for task in system.tasks}
    emitters = {
        end.name: [system.instance(other.instance) for other in connection.from_ends]
        for connection in system.connections
        for end in connection.to_ends
    }
    for instance in system.instances:
        own = execute.get(instance.name, [])
        for kind, name, span in _waited_for(instance) if own else ():
            full = f"{instance.name}.{name}"
            callers = [each for each in own if plan.can_wait(full, each)]
            if plan.condition(full) is not None or not callers:
                continue  # with helpers; or no code waits for it
            if releases.get(instance.name) == name:
                callers = [each for each in callers if each != instance.name]  # between its jobs
            by = emitters.get(full, [])
            from_tasks = all(each is not None and each.name in execute for each in by)
            if not callers or (instance.name in helping and kind == "event" and from_tasks):
                continue  # until there is a request
            problem = Diagnostic(
                MAY_WAIT,
                f"`{instance.name}` can wait for the {kind} `{name}` without a bound",
                span,
                related=(Label(instance.span, "tasks execute code of this instance"),),
                notes=("its code, which was not read, may never wait for it",)
                if plan.waiting is None and kind != "mutex"
                else (),
                help="let tasks share data through a CPI with a protocol, or wait `with helpers`",
            )
            yield Obstacle(problem, f"waits for {full}", tuple(callers))


def _waited_for(instance: Instance) -> Iterable[tuple[str, str, Span]]:
    others = any(interface.kind in ("provides", "consumes") for interface in instance.type.interfaces)
    for sync in instance.type.syncs:
        if sync.kind != "mutex" or others:  # one thread never waits for its own mutex
            yield sync.kind.replace("_", " "), sync.name, sync.span
    for interface in instance.type.interfaces:
        if interface.kind == "consumes":
            yield "event", interface.name, interface.span


def _helped_waits(system: System, plan: Plan) -> Iterator[Obstacle]:
    """Conditions whose waits have no bound."""
    tasks = {task.instance: task for task in system.tasks}
    for each in plan.conditions:
        waiters, span, brief = tuple(each.lending.waiters), _span(each), f"waits for {each.name}"
        if each.lending.condition.kind == "condition":
            problem = Diagnostic(
                MAY_WAIT,
                f"a wait for `{each.name}` has no bound: it ends when the lock of its monitor is free again",
                span,
                help="wait for a semaphore or an event `with helpers`, outside of the monitor",
            )
            yield Obstacle(problem, brief, waiters, frees=True)
            continue
        yield from _timed(each, brief)
        released = {
            name: place
            for name in each.lending.tasks()
            if name in tasks
            and (place := tasks[name].spans.get("period") or tasks[name].spans.get("release")) is not None
        }
        if released:
            which = "its helper" if len(released) == 1 else "each of its helpers"
            problem = Diagnostic(
                MAY_WAIT,
                f"a wait for `{each.name}` has no bound: {which} {listing(released)} waits for its next"
                " release",
                span,
                related=tuple(
                    Label(place, f"jobs of `{name}` are released one after the other")
                    for name, place in released.items()
                ),
                help="let a task without a period end the wait, which waits for requests alone",
            )
            yield Obstacle(problem, brief, waiters)
        lowest = min((tasks[n].priority or 0 for n in _waiting_tasks(plan, each) if n in tasks), default=0)
        for helper in filter(None, map(plan.task, each.lending.tasks())):
            if helper.name not in released and helper.priority > lowest:
                problem = Diagnostic(
                    MAY_WAIT,
                    f"the helper `{helper.name}` of `{each.name}` has priority {helper.priority}, above that"
                    " of a task that waits",
                    span,
                    notes=("its execution is counted as work of the waiting jobs, at their priorities",),
                    help=f"give `{helper.name}` a priority of at most {lowest}",
                )
                yield Obstacle(problem, f"its helper {helper.name} is above it", waiters, helper.priority)


def _timed(condition: PlannedCondition, brief: str) -> Iterator[Obstacle]:
    """Code that may give up a wait: its helpers then do later, for no one, what was asked for."""
    lending = condition.lending
    function = f"{condition.interface}_{WAIT_UNTIL}"
    for caller, chain in lending.waiters.items():
        if lending.known and chain is not None and chain.functions[-1] == function:
            problem = Diagnostic(
                MAY_WAIT,
                f"`{caller}` can give up its wait for `{condition.name}`: what its helpers have left to do"
                " then delays the next one, by a time that has no bound",
                chain.calls[-1] or condition.span,
                related=(Label(condition.span, "it is waited for here"),),
                help=f"call `{condition.interface}_wait()`, which ends with the signal",
            )
            yield Obstacle(problem, brief, tuple(lending.waiters))


def _waiting_tasks(plan: Plan, condition: PlannedCondition) -> Iterable[str]:
    for name in condition.lending.waiters:
        cpi = plan.cpi(name)
        yield from (name,) if cpi is None else cpi.tasks


def _span(condition: PlannedCondition) -> Span:
    return condition.lending.condition.spans.get("helpers", condition.span)


def _plain_calls(system: System, plan: Plan) -> Iterator[Obstacle]:
    """Calls of interfaces without a protocol."""
    timers = {each.name for each in system.connections if carries_time(each)}
    reached = {cpi.name for cpi in plan.cpis if cpi.tasks} | {task.name for task in plan.tasks}
    for call in plan.plain_calls:
        if call.caller not in reached:
            continue
        time = call.connection in timers
        problem = Diagnostic(
            MAY_WAIT,
            f"`{call.caller}` can call `{call.callee}`, which has no protocol",
            call.span,
            notes=(
                "a job that waits for a time can execute later than response times allow for"
                if time
                else f"`{call.callee}` serves one call at a time, at a fixed priority",
            ),
            help="let the job end, and set the period or the offset of its task"
            if time
            else f"give `{call.callee}` a protocol: `with priority_protocol inherited`",
        )
        yield Obstacle(problem, f"calls {call.callee}", (call.caller,))


class _OtherThread(Struct, frozen=True):
    """A thread that is neither of a task nor of a CPI, of the interface `name` or in control of the instance
    of this name; `interface` is empty then."""

    name: str
    instance: Instance
    interface: str
    words: str
    span: Span
    help: str


def _others(system: System, plan: Plan) -> Iterator[_OtherThread]:
    tasks = {task.name for task in plan.tasks}
    cpis = {cpi.name for cpi in plan.cpis}
    by_end = {end.name: each for each in system.connections for end in (*each.from_ends, *each.to_ends)}
    for instance in system.instances:
        if instance.type.control and instance.name not in tasks:
            words = f"the control thread of `{instance.name}`"
            help_ = f"write `requestor;` in `{instance.type.name}`"
            yield _OtherThread(instance.name, instance, "", words, instance.span, help_)
        for interface in () if instance.type.hardware else instance.type.interfaces:
            name = f"{instance.name}.{interface.name}"
            connection = by_end.get(name)
            if name in cpis or connection is None or not interface_threads(connection, interface, name):
                continue
            if plan.condition(name) is not None or support(connection.connector).without_thread:
                continue  # the first takes a step of a manager for each signal
            if scheduled_by(plan.bands, instance.name) is not None:
                continue  # it executes when a job begins or ends
            calls = interface.kind == "provides"
            help_ = "give the interface a protocol" if calls else "let a task look for the event"
            words = f"the thread of `{name}`"
            yield _OtherThread(name, instance, interface.name, words, interface.span, help_)


def _other_threads(system: System, plan: Plan) -> Iterator[Obstacle]:
    """Threads that are not of tasks, where one of at most their priority is."""
    slots = in_slots(system)
    lowest_of: dict[int | None, int] = {}
    for task in plan.tasks:
        domain = domain_of(system, task.name) if slots else None
        lowest_of[domain] = min(task.priority, lowest_of.get(domain, task.priority))
    tasks = filter(None, map(system.instance, (task.name for task in plan.tasks)))
    cores = {DEFAULTS.affinity_of(part.configured.control) for part in tasks}
    for thread in _others(system, plan):
        settings = thread.instance.configured.thread(thread.interface)
        priority = DEFAULTS.priority_of(settings)
        domain = settings.domain if slots else None
        lowest = lowest_of.get(domain)
        if lowest is None or priority < lowest or DEFAULTS.affinity_of(settings) not in cores:
            continue
        setting = PRIORITY.of(f"{thread.interface}_")
        problem = Diagnostic(
            OTHER_THREAD,
            f"{thread.words} has priority {priority} but does not belong to a task",
            thread.span,
            notes=(f"the lowest priority of a task is {lowest}",),
            help=f"{thread.help}, or set `{thread.instance.name}.{setting}` to less than {lowest}",
        )
        yield Obstacle(
            problem, f"the thread of {thread.name}, at {priority}", priority=priority, domain=domain
        )


def domain_of(system: System, instance: str, interface: str = "") -> int:
    """The scheduling domain of the threads of an interface, or of the control thread of an instance."""
    found = system.instance(instance)
    return DOMAIN.default if found is None else found.configured.thread(interface).domain


def in_slots(system: System) -> bool:
    """Whether each domain is analysed by itself, in the slots that a schedule gives it: budgets, which an MCS
    kernel has, are not."""
    return not system.mcs and len({slot.domain for slot in system.schedule}) > 1


def _processors(system: System, plan: Plan) -> Iterator[Obstacle]:
    """Tasks and CPIs have to share one processor, at all times or in the slots of their domain."""
    yield from _differing(system, plan, AFFINITY, DEFAULTS.affinity_of)
    if in_slots(system):
        yield from _requests_across_domains(system, plan)
        yield from _waits_across_domains(system, plan)
        yield from _bands_in_slots(plan)
    else:
        yield from _differing(system, plan, DOMAIN, lambda settings: settings.domain)
        yield from _slots_of_others(system, plan)


def _differing(
    system: System, plan: Plan, known: Known, value_of: Callable[[ThreadSettings], int]
) -> Iterator[Obstacle]:
    """Threads of tasks and CPIs that do not have the same value of a setting."""
    threads = [(task.name, "", task.name) for task in plan.tasks]
    threads += [(cpi.instance, cpi.interface, cpi.name) for cpi in plan.cpis if cpi.tasks]
    first: tuple[int, str] | None = None
    for instance_name, interface, name in threads:
        instance = system.instance(instance_name)
        assert instance is not None
        settings = instance.configured.thread(interface)
        value = value_of(settings)
        first = first or (value, name)
        if value != first[0]:
            problem = Diagnostic(
                SEVERAL_PROCESSORS,
                f"`{name}` has {known.name} {value}, but `{first[1]}` has {first[0]}",
                settings.spans.get(known.name, instance.span),
                notes=("response times are computed for tasks and CPIs that share one processor",),
                help=f"give all tasks and CPIs the same {known.name}",
            )
            yield Obstacle(problem, "several processors", _everyone(plan))


def _everyone(plan: Plan) -> tuple[str, ...]:
    return tuple(task.name for task in plan.tasks)


def _slots_of_others(system: System, plan: Plan) -> Iterator[Obstacle]:
    """A schedule with slots of domains that the tasks are not in."""
    one = system.instance(plan.tasks[0].name)
    assert one is not None
    control = one.configured.control
    if any(slot.domain != control.domain for slot in system.schedule):
        problem = Diagnostic(
            SEVERAL_PROCESSORS,
            f"the tasks execute only in slots of domain {control.domain}, and the schedule has others",
            control.spans.get(DOMAIN.name, one.span),
            notes=("response times are computed for tasks that have the processor at all times",),
            help="leave the schedule out, or run the system: reports show what its slots cost",
        )
        yield Obstacle(problem, "slots of other domains", _everyone(plan))


def _requests_across_domains(system: System, plan: Plan) -> Iterator[Obstacle]:
    """They wait for slots of the other domain, and delay others there."""
    domains = {task.name: domain_of(system, task.name) for task in plan.tasks}
    domains |= {cpi.name: domain_of(system, cpi.instance, cpi.interface) for cpi in plan.cpis}
    ceilings = {cpi.name: cpi.ceiling for cpi in plan.cpis}
    for request in plan.requests:
        caller, callee = request.caller, request.callee
        own, other = domains[caller], domains[callee]
        if own == other:
            continue
        problem = Diagnostic(
            SEVERAL_PROCESSORS,
            f"`{caller}` has domain {own}, and `{callee}`, which it requests, has {other}",
            request.span,
            notes=("a request to another domain waits for its slots",),
            help="give both the same domain; or run the system: reports show what slots cost",
        )
        brief = f"requests {callee} of another domain"
        yield Obstacle(problem, brief, (caller, callee), ceilings[callee], domain=other)


def _waits_across_domains(system: System, plan: Plan) -> Iterator[Obstacle]:
    """Waits with helpers of another domain."""
    for condition in plan.conditions:
        own = domain_of(system, condition.instance)
        for name in condition.lending.tasks():
            if (other := domain_of(system, name)) != own:
                problem = Diagnostic(
                    SEVERAL_PROCESSORS,
                    f"a wait for `{condition.name}` has domain {own}, and its helper `{name}` has {other}",
                    _span(condition),
                    help="give both the same domain",
                )
                brief = f"its helper {name} is in another domain"
                yield Obstacle(problem, brief, tuple(condition.lending.waiters))


def _bands_in_slots(plan: Plan) -> Iterator[Obstacle]:
    for band in plan.bands:
        problem = Diagnostic(
            BAND_NOT_ANALYSED,
            f"the tasks of `{band.instance}` cannot be analysed: they have slots of a schedule, and are"
            " ordered by their deadlines",
            band.span,
            help="run the system, or give them priorities of their own",
        )
        yield Obstacle(problem, f"the order of {band.instance}, in slots", band.tasks)
