# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Names, roles and priorities behind the numbers in a trace, kept beside it as JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert
from msgspec.structs import asdict

from camkes.capdl.allocate import event_notification, release_event
from camkes.capdl.details import Rights
from camkes.capdl.host_table import table_objects
from camkes.capdl.model import CapabilityModel, Role
from camkes.diagnostics import Sink
from camkes.files import write_whole
from camkes.model.protocols import Protocol
from camkes.model.system import System
from camkes.protocols.jobs import find_jobs
from camkes.protocols.plan import Plan
from camkes.protocols.releases import emitters, writers
from camkes.protocols.signals import Signallers
from camkes.running.codes import TRACE_NAMES, TRACE_UNREADABLE

FORMAT = "camkes-trace-names 3"


class NamedThread(Struct, frozen=True):
    """A thread. `priority` is the one it starts with; `context` and `task` are ids; `cpi` is the id of the
    CPI it serves or manages. `service` is "inst.iface" for a thread that serves an interface."""

    number: int
    name: str
    space: str
    instance: str
    role: Role
    priority: int
    service: str = ""
    cpi: int | None = None
    context: int | None = None
    task: int | None = None
    domain: int = 0


class NamedTask(Struct, frozen=True):
    """A task. Times are nanoseconds, None: not given. `timer` is the number of the timer object that releases
    its jobs, `event` that of the notification that does; neither: the only job is released at boot. `after`
    is the task that emits the event, if it is one alone; `reads` are tasks that write what its jobs read;
    `overrun` is its policy on an MCS kernel."""

    id: int
    name: str
    priority: int
    context: int
    period: int | None = None
    deadline: int | None = None
    offset: int = 0
    timer: int | None = None
    event: int | None = None
    after: str = ""
    reads: tuple[str, ...] = ()
    overrun: str = ""


class NamedContext(Struct, frozen=True):
    id: int
    name: str
    is_task: bool
    priority: int


class NamedCpi(Struct, frozen=True):
    """`lock` names its lock: "inst.monitor" for the CPIs of a monitor; "": its own. `overrun` is its policy
    on an MCS kernel."""

    id: int
    name: str
    protocol: Protocol
    ceiling: int
    lock: str = ""
    overrun: str = ""


class NamedCondition(Struct, frozen=True):
    """What threads wait for with helpers: `helpers` are the tasks that can end the wait, `lends` those of
    them that get the priority of waiting threads, by their ids. `alone`: nothing else can end one, such as
    time."""

    id: int
    name: str
    helpers: tuple[str, ...]
    lends: tuple[int, ...]
    alone: bool = False


class NamedSync(Struct, frozen=True):
    """What threads wait for at the notification `object`: `kind` is "mutex", "semaphore", "binary semaphore"
    or "event". A mutex or semaphore has this `value` at the start. `senders` are the threads that can signal,
    None: others than threads can, too. `free` are those of them that can without having waited for it before;
    the others give back what they have taken."""

    object: int
    name: str
    kind: str
    value: int = 0
    senders: tuple[int, ...] | None = None
    free: tuple[int, ...] = ()


class TraceNames(Struct, frozen=True):
    """Everything a report needs besides the trace. Each tuple is in the order of its numbers, which count
    from 0 (ids of tasks can have gaps: a user may state them). `objects` are those of the kernel's boot
    table, in its order; `services` has for each the interface ("inst.iface") that answers, "": none, and
    `senders` which threads can send or signal there; none, if timers or interrupts can, too."""

    threads: tuple[NamedThread, ...] = ()
    tasks: tuple[NamedTask, ...] = ()
    contexts: tuple[NamedContext, ...] = ()
    cpis: tuple[NamedCpi, ...] = ()
    objects: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    senders: tuple[tuple[int, ...], ...] = ()
    conditions: tuple[NamedCondition, ...] = ()
    syncs: tuple[NamedSync, ...] = ()
    #: (domain, nanoseconds): each has the processor in turn, from boot on
    schedule: tuple[tuple[int, int], ...] = ()

    def thread(self, number: int | None) -> NamedThread | None:
        return _at(self.threads, number)

    def thread_name(self, number: int | None) -> str:
        thread = self.thread(number)
        return thread.name if thread else ("no thread" if number is None else f"thread {number}")

    def task(self, id: int | None) -> NamedTask | None:
        return next((task for task in self.tasks if task.id == id), None)

    def context(self, id: int | None) -> NamedContext | None:
        return _at(self.contexts, id)

    def context_name(self, id: int) -> str:
        context = self.context(id)
        return context.name if context else f"context {id}"

    def cpi(self, id: int | None) -> NamedCpi | None:
        return _at(self.cpis, id)

    def cpi_name(self, id: int) -> str:
        cpi = self.cpi(id)
        return cpi.name if cpi else f"CPI {id}"

    def lock(self, cpi: int) -> int:
        """The CPI (id) that represents a lock: the first of a monitor."""
        own = self.cpi(cpi)
        return cpi if own is None or not own.lock else next(c.id for c in self.cpis if c.lock == own.lock)

    def lock_name(self, cpi: int) -> str:
        """The name of the lock of a CPI (id)."""
        own = self.cpi(cpi)
        return own.lock if own is not None and own.lock else self.cpi_name(cpi)

    def condition(self, name: str) -> NamedCondition | None:
        return next((c for c in self.conditions if c.name == name), None)

    def condition_name(self, id: int) -> str:
        condition = _at(self.conditions, id)
        return condition.name if condition else f"condition {id}"

    def object_name(self, number: int) -> str:
        return self.objects[number] if number < len(self.objects) else f"object {number}"

    def sync(self, number: int | None) -> NamedSync | None:
        """The mutex, semaphore or event at whose object threads wait."""
        return next((sync for sync in self.syncs if sync.object == number), None)

    def senders_at(self, number: int) -> tuple[int, ...]:
        return _at(self.senders, number) or ()

    def object_service(self, number: int) -> str:
        """The interface that answers behind an object; the object's name if no interface does."""
        return (self.services[number] if number < len(self.services) else "") or self.object_name(number)


_Item = TypeVar("_Item")


def _at(items: tuple[_Item, ...], number: int | None) -> _Item | None:
    return items[number] if number is not None and 0 <= number < len(items) else None


def trace_names(model: CapabilityModel, plan: Plan, system: System | None = None) -> TraceNames:
    """Names for a run of this system. Threads count in table order through all spaces, objects likewise;
    `system` adds the timing of tasks."""
    cpis = {cpi.name: cpi for cpi in plan.cpis}
    task_ids = {task.name: task.id for task in plan.tasks}
    threads: list[NamedThread] = []
    for space in model.spaces:
        for thread in space.threads:
            service = f"{thread.instance}.{thread.interface}" if thread.interface else ""
            cpi = cpis.get(service)
            threads.append(
                NamedThread(
                    number=len(threads),
                    name=thread.name,
                    space=space.name,
                    instance=thread.instance,
                    role=thread.role,
                    priority=thread.priority,
                    service=service,
                    cpi=cpi.id if cpi else None,
                    context=thread.context,
                    task=task_ids.get(thread.instance) if thread.role is Role.CONTROL else None,
                    domain=thread.domain,
                )
            )
    objects = [item.name for item in table_objects(model)]
    numbers = {name: number for number, name in enumerate(objects)}
    senders = _senders(objects, model)
    return TraceNames(
        threads=tuple(threads),
        tasks=tuple(_tasks(numbers, model, plan, system)),
        contexts=tuple(NamedContext(c.id, c.name, c.is_task, c.base_priority) for c in plan.contexts),
        cpis=tuple(
            NamedCpi(
                c.id,
                c.name,
                c.protocol,
                c.ceiling,
                "" if c.monitor is None else c.lock_name,
                c.overrun.value if plan.mcs else "",
            )
            for c in plan.cpis
        ),
        objects=tuple(objects),
        services=_services(objects, plan, system),
        senders=senders,
        conditions=tuple(
            NamedCondition(
                c.id,
                c.name,
                c.lending.tasks(),
                tuple(task_ids[task] for task in c.tasks),
                c.lending.known and not c.lending.timed and not c.lending.others,
            )
            for c in plan.conditions
        ),
        syncs=() if system is None else tuple(_syncs(numbers, threads, senders, plan, system)),
        schedule=model.schedule,
    )


def _syncs(
    numbers: Mapping[str, int],
    threads: Sequence[NamedThread],
    senders: Sequence[Sequence[int]],
    plan: Plan,
    system: System,
) -> Iterator[NamedSync]:
    """The mutexes and semaphores of a system, and its events, where the code of a consumer waits for them:
    its thread for the interface waits at another notification."""
    served = {
        f"{i.name}.{each.name}"
        for i in system.instances
        for each in i.type.interfaces
        if each.kind == "provides"
    }
    for instance in system.instances:
        for sync in instance.type.syncs:
            name = f"{instance.name}.{sync.name}"
            if (number := numbers.get(f"{name}:{sync.kind}")) is not None:
                value = 1 if sync.kind == "mutex" else instance.configured.semaphores.get(sync.name, 0)
                known = _signalling(number, plan.signallers.get(name), threads, senders, served)
                yield NamedSync(number, name, sync.kind.replace("_", " "), value, *known)
    for connection in system.connections:
        for end in connection.to_ends:
            if plan.condition(end.name) is not None:
                continue  # its manager keeps the waiting threads
            waited = (event_notification(connection, end), f"{end.name}:handoff")
            found = [numbers[name] for name in waited if name in numbers]
            if found:
                known = _signalling(found[0], plan.signallers.get(end.name), threads, senders, served)
                yield NamedSync(found[-1], end.name, "event", 0, *known)


def _signalling(
    number: int,
    found: Signallers | None,
    threads: Sequence[NamedThread],
    senders: Sequence[Sequence[int]],
    served: Collection[str],
) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """The threads that can signal at an object, None: others can, too; and those that can without having
    waited. Where no code was read, or threads of others execute an interface of those that are `served`, all
    with a capability can."""
    able = tuple(senders[number])
    if not able or (found is not None and found.outside):
        return None, able
    executing = {code: _executing(code, threads) for code in (() if found is None else found.callers)}
    if found is None or any(code in served and not own for code, own in executing.items()):
        return able, able
    of = [
        [t for code in found.callers if code not in left for t in executing[code]]
        for left in ((), found.takers)
    ]
    return tuple(sorted(set(of[0]))), tuple(sorted(set(of[1])))


def _executing(code: str, threads: Sequence[NamedThread]) -> tuple[int, ...]:
    """The threads that begin with some code: a control thread ("inst") or an interface ("inst.iface")."""
    own = (Role.WORKER, Role.INTERFACE) if "." in code else (Role.CONTROL,)
    return tuple(
        t.number for t in threads if t.role in own and code == (t.service if "." in code else t.instance)
    )


def _tasks(
    numbers: Mapping[str, int], model: CapabilityModel, plan: Plan, system: System | None
) -> Iterator[NamedTask]:
    """The tasks with what releases their jobs; `numbers` are those of objects."""
    timing = {task.instance: task for task in system.tasks} if system else {}
    after = emitters(system, plan) if system else {}
    reads = writers(system, plan) if system else {}
    jobs = find_jobs(system, plan) if system else {}
    released = {timer.object for timer in model.timers if timer.offset > 0 or timer.period > 0}
    for task in plan.tasks:
        t = timing.get(task.name)
        timer = f"{task.name}:timer"
        yield NamedTask(
            id=task.id,
            name=task.name,
            priority=task.priority if task.band is None else task.band.highest,
            context=task.context.id,
            period=t.period if t else None,
            deadline=jobs[task.name].deadline if t else None,
            offset=t.offset if t else 0,
            timer=numbers[timer] if timer in released else None,
            event=numbers.get(release_event(system, t)) if system and t else None,
            after=after.get(task.name, ""),
            reads=reads.get(task.name, ()),
            overrun="" if task.time is None else task.time.overrun.value,
        )


def _senders(objects: Sequence[str], model: CapabilityModel) -> tuple[tuple[int, ...], ...]:
    """For each object the threads that can send or signal there."""
    timed = {timer.notification for timer in model.timers} | {i.notification for i in model.interrupts}
    senders: dict[str, list[int]] = {name: [] for name in objects}
    first = 0
    for space in model.spaces:
        numbers = range(first, first + len(space.threads))
        first += len(space.threads)
        for name in sorted({cap.object for cap in space.caps if Rights.WRITE in cap.rights} - timed):
            if name in senders:
                senders[name] += numbers
    return tuple(tuple(senders[name]) for name in objects)


def _services(objects: Sequence[str], plan: Plan, system: System | None) -> tuple[str, ...]:
    """For each object the interface that answers behind it: endpoints of CPIs and of connections."""
    known = {}
    for cpi in plan.cpis:
        for part in (cpi.name, *(f"{cpi.name}@{seat.name}" for seat in cpi.seats)):
            known[f"{part}:endpoint"] = cpi.name
        known[f"{cpi.name}!manager:endpoint"] = cpi.name
    for condition in plan.conditions:
        known[f"{condition.name}!manager:endpoint"] = condition.name
    for connection in system.connections if system else ():
        if connection.to_ends:
            end = connection.to_ends[0]
            known[f"{connection.name}:endpoint"] = f"{end.instance}.{end.interface}"
    return tuple(known.get(name, "") for name in objects)


def names_path(trace: Path) -> Path:
    """Where the names of a trace file are kept."""
    return trace.with_name(trace.name + ".names.json")


def names_to_json(names: TraceNames) -> str:
    return json.dumps({"format": FORMAT, **asdict(names)}, indent=1, default=_plain) + "\n"


def _plain(item: Any) -> Any:
    return item.value if isinstance(item, Enum) else asdict(item)


def names_from_json(text: str) -> TraceNames:
    """Raises ValueError if this is not a file of names."""
    try:
        document = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError("it is not valid JSON") from error
    if not isinstance(document, dict) or "format" not in document:
        raise ValueError(f"it needs format, {', '.join(TraceNames.__match_args__)}")
    if document["format"] != FORMAT:
        raise ValueError("it was written by another version of the tool")
    try:
        names = convert(document, TraceNames)
    except ValidationError as error:
        raise ValueError(str(error)) from error
    if not _agree(names):
        raise ValueError("its numbers are not those of its threads, contexts and interfaces")
    return names


def _agree(names: TraceNames) -> bool:
    """Whether numbers are places in the tuples of what they are numbers of."""
    threads, contexts, cpis, tasks = names.threads, names.contexts, names.cpis, {t.id for t in names.tasks}
    numbers = [[thread.number for thread in threads]]
    numbers += [[item.id for item in of] for of in (contexts, cpis, names.conditions)]
    return (
        all(of == list(range(len(of))) for of in numbers)
        and len(tasks) == len(names.tasks)
        and all(_in(thread.cpi, cpis) and _in(thread.context, contexts) for thread in threads)
        and all(thread.task is None or thread.task in tasks for thread in threads)
        and all(_in(task.context, contexts) for task in names.tasks)
        and all(_in(thread, threads) for senders in names.senders for thread in senders)
        and all(_in(sync.object, names.objects) for sync in names.syncs)
        and all(_in(t, threads) for sync in names.syncs for t in (*(sync.senders or ()), *sync.free))
    )


def _in(number: int | None, items: Sequence[object]) -> bool:
    return number is None or 0 <= number < len(items)


def save_names(trace: Path, names: TraceNames, sink: Sink) -> None:
    """Keep the names beside the trace file."""
    path = names_path(trace)
    try:
        write_whole(path, names_to_json(names).encode())
    except OSError as error:
        sink.report(TRACE_UNREADABLE, f"cannot write {path}: {error.strerror}")


def load_names(trace: Path, sink: Sink) -> TraceNames | None:
    """The names kept beside a trace file."""
    path = names_path(trace)
    try:
        return names_from_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        sink.report(TRACE_UNREADABLE, f"cannot read {path}: {error.strerror}")
    except ValueError as error:
        sink.report(
            TRACE_NAMES,
            f"{path} is not a valid file of trace names: {error}",
            help="build the system again, in an empty folder",
        )
    return None
