# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Adds the objects and capabilities of an address space that exist only on seL4.

The host kernel reports faults, saves reply capabilities and keeps timers itself. On seL4 a space gets a
thread that waits for the faults of the others, a capability to its own CNode where it saves reply
capabilities, and, for every timer, an endpoint of the timer driver instead.
"""

from __future__ import annotations

from collections.abc import Mapping as Table

from msgspec import Struct, field
from msgspec.structs import replace

from camkes.backends.sel4.devices import REGISTERS_SYMBOL, Device
from camkes.capdl.details import Rights
from camkes.capdl.mcs import TimePlanner
from camkes.capdl.model import (
    Cap,
    CapabilityModel,
    KernelObject,
    Mapping,
    ObjectKind,
    Role,
    Space,
    Thread,
    Timer,
)
from camkes.capdl.time_manager import TIME_MANAGER
from camkes.capdl.uses import Variable
from camkes.model.limits import MAX_PRIORITY, SEL4_TRACE_BYTES
from camkes.model.settings import DEFAULT_STACK
from camkes.model.units import PAGE

#: a fault is reported before anything else runs
FAULT_PRIORITY = MAX_PRIORITY
TIMER_PRIORITY = MAX_PRIORITY
_STACK = DEFAULT_STACK

#: name of the address space of the timer driver, and of its endpoint; no user can choose them
TIMER_SPACE = "timer-driver"
TIMER_ENDPOINT = f"{TIMER_SPACE}:endpoint"
TIMER_INTERRUPT = f"{TIMER_SPACE}:interrupt"
TIMER_REPLY = f"{TIMER_SPACE}:reply"

#: a page in which the driver gives all spaces the instant at which time began
EPOCH = f"{TIMER_SPACE}:epoch"
EPOCH_SYMBOL = "_camkes_epoch"

#: the page of a device's registers
REGISTERS = f"{TIMER_SPACE}:registers"

#: where all spaces record what they do, and who prints it when no other thread runs
TRACE_SPACE = "trace-printer"
TRACE = f"{TRACE_SPACE}:records"
TRACE_SYMBOL = "_camkes_trace"


class Extras(Struct, frozen=True):
    """CSpace slots of what was added to a space; 0: was not."""

    cnode: int = 0
    #: the fault handler's end of the fault endpoint
    faults: int = 0
    #: the timer driver's: where it takes requests, what its device signals, itself, and its notifications by
    #: number of the timer
    requests: int = 0
    interrupt: int = 0
    tcb: int = 0
    notifications: tuple[int, ...] = ()
    #: on an MCS kernel: the timer driver's reply object, and of each thread by its index the capability to
    #: its fault endpoint, which is in its TCB there
    reply: int = 0
    fault_caps: Table[int, Cap] = field(default_factory=dict)

    @property
    def before_device(self) -> int:
        """The timer driver's last slot before those of its device."""
        return max(self.tcb, self.reply, *self.notifications)


class Completed(Struct, frozen=True):
    """A capability model as seL4 gets it. `timers` are what the driver keeps, in the order of their
    badges, which count from 1; `device` is what it drives."""

    model: CapabilityModel
    extras: dict[str, Extras]
    timers: tuple[Timer, ...]
    device: Device | None = None


def complete(
    model: CapabilityModel,
    device: Device | None = None,
    *,
    fault_handlers: bool = True,
    trace_frame: int = 0,
    time: TimePlanner | None = None,
) -> Completed:
    """The model with what seL4 needs besides. With `trace_frame`, events are recorded, in frames of this many
    bytes. `device` is behind the timers, or the clock of a system without any; None: it has neither. `time`
    decides the scheduling contexts of an MCS kernel, None: it is another."""
    driven = bool(model.timers) or device is not None
    shared = _shared(device) if driven else ()
    objects = [o for o in model.objects if o.kind is not ObjectKind.TIMER]
    badges = {timer.object: number for number, timer in enumerate(model.timers, 1)}
    used = model.slots_used()
    spaces: list[Space] = []
    extras: dict[str, Extras] = {}
    for space in model.spaces:
        first = space.kept or used.get(space.name, 0) + 1
        space, added = _complete_space(space, first - 1, badges, fault_handlers, mcs=time is not None)
        if fault_handlers:
            objects.append(KernelObject(_fault_endpoint(space), ObjectKind.ENDPOINT))
            objects.append(KernelObject(_fault_handler(space), ObjectKind.TCB))
        space = replace(space, mappings=(*space.mappings, *shared))
        spaces.append(space)
        extras[space.name] = added
    if driven:
        space, added = _timer_driver(model.timers, device, mcs=time is not None)
        objects += [
            *_space_objects(space),
            KernelObject(TIMER_ENDPOINT, ObjectKind.ENDPOINT),
            KernelObject(TIMER_INTERRUPT, ObjectKind.NOTIFICATION),
            KernelObject(EPOCH, ObjectKind.REGION, PAGE),
            *([KernelObject(TIMER_REPLY, ObjectKind.REPLY)] if time is not None else []),
        ]
        if device is not None and device.registers is not None:
            objects.append(KernelObject(REGISTERS, ObjectKind.REGION, PAGE, device.registers))
        spaces.append(space)
        extras[space.name] = added
    if trace_frame:
        mapping = Mapping(_variable(TRACE_SYMBOL), TRACE, Rights.RW)
        thread = Thread(TRACE_SPACE, 0, TRACE_SPACE, Role.INTERFACE, 0, 0, _STACK)
        spaces.append(Space(TRACE_SPACE, (TRACE_SPACE,), (), shared, (thread,)))
        spaces = [replace(space, mappings=(*space.mappings, mapping)) for space in spaces]
        extras[TRACE_SPACE] = Extras()
        objects += _space_objects(spaces[-1])
        objects.append(KernelObject(TRACE, ObjectKind.REGION, SEL4_TRACE_BYTES, page=trace_frame))
    if time is not None:
        spaces = [_with_time(space, time, objects) for space in spaces]
    completed = replace(model, objects=tuple(objects), spaces=tuple(spaces), timers=())
    return Completed(completed, extras, model.timers, device)


def _with_time(space: Space, time: TimePlanner, objects: list[KernelObject]) -> Space:
    """The space with scheduling contexts for the threads that were added."""
    threads = []
    for thread in space.threads:
        if not thread.scheduling_context and not time.passive(thread):
            context, granted = f"{thread.name}:sc", time.scheduling(thread)
            objects.append(KernelObject(context, ObjectKind.SCHEDULING_CONTEXT, details=granted))
            thread = replace(thread, scheduling_context=context)
        threads.append(thread)
    return replace(space, threads=tuple(threads))


def _variable(name: str) -> Variable:
    """A variable of the runtime, of which an address space has one."""
    return Variable("", name)


def _space_objects(space: Space) -> list[KernelObject]:
    """The objects of a space that is not in the model."""
    return [
        KernelObject(space.cnode, ObjectKind.CNODE),
        KernelObject(space.vspace, ObjectKind.VSPACE),
        *(KernelObject(thread.name, ObjectKind.TCB) for thread in space.threads),
    ]


def _shared(device: Device | None) -> tuple[Mapping, ...]:
    """What every space but the driver's can only read."""
    epoch = Mapping(_variable(EPOCH_SYMBOL), EPOCH, Rights.READ)
    if device is None or not device.clock:
        return (epoch,)
    return epoch, Mapping(_variable(REGISTERS_SYMBOL), REGISTERS, Rights.READ, cached=False)


def slots_of_completion(space: Space) -> int:
    """How many slots a space gets at most: its own CNode, a fault endpoint for each thread, and theirs."""
    return 2 + len(space.threads)


def _complete_space(
    space: Space, used: int, badges: dict[str, int], fault_handlers: bool, *, mcs: bool
) -> tuple[Space, Extras]:
    caps = [
        replace(cap, object=TIMER_ENDPOINT, rights=Rights.CALL, badge=badges[cap.object])
        if cap.object in badges
        else cap
        for cap in space.caps
    ]
    threads = list(space.threads)
    cnode = faults = 0
    fault_caps: dict[int, Cap] = {}
    if space.name == TIME_MANAGER if mcs else any(thread.role is Role.MANAGER for thread in threads):
        cnode = used = used + 1
        caps.append(Cap(cnode, space.cnode))
    if fault_handlers:
        for index, thread in enumerate(threads):
            if thread.fault_slot:  # a template's
                if mcs:
                    fault_caps[thread.index] = next(c for c in caps if c.slot == thread.fault_slot)
                    threads[index] = replace(thread, fault_slot=0)
                continue
            fault = Cap(used + 1, _fault_endpoint(space), Rights.CALL, thread.index + 1)
            if mcs:
                fault_caps[thread.index] = fault
                continue
            used += 1
            caps.append(fault)
            threads[index] = replace(thread, fault_slot=used)
        faults = used + 1
        caps.append(Cap(faults, _fault_endpoint(space), Rights.READ))
        threads.append(
            Thread(
                name=_fault_handler(space),
                index=len(threads),
                instance=space.instances[0],
                role=Role.FAULT_HANDLER,
                priority=FAULT_PRIORITY,
                max_priority=0,
                stack_size=_STACK,
                affinity=threads[0].affinity,
                domain=threads[0].domain,
            )
        )
    extras = Extras(cnode, faults, fault_caps=fault_caps)
    return replace(space, caps=tuple(caps), threads=tuple(threads)), extras


def _fault_endpoint(space: Space) -> str:
    return f"{space.name}:faults"


def _fault_handler(space: Space) -> str:
    return f"{space.name}!fault-handler"


def _timer_driver(timers: tuple[Timer, ...], device: Device | None, *, mcs: bool) -> tuple[Space, Extras]:
    """One thread, which signals the notification of each timer. What it needs of the device is added
    where the device is known: its slots are the last."""
    caps = [Cap(1, TIMER_ENDPOINT, Rights.READ), Cap(2, TIMER_INTERRUPT, Rights.READ), Cap(3, TIMER_SPACE)]
    if mcs:
        caps.append(Cap(len(caps) + 1, TIMER_REPLY))
    first = len(caps) + 1
    notifications = tuple(range(first, first + len(timers)))
    for slot, timer in zip(notifications, timers, strict=True):
        caps.append(Cap(slot, timer.notification, Rights.WRITE, timer.badge))
    thread = Thread(TIMER_SPACE, 0, TIMER_SPACE, Role.INTERFACE, TIMER_PRIORITY, 0, _STACK)
    mappings = [Mapping(_variable(EPOCH_SYMBOL), EPOCH, Rights.RW)]
    if device is not None and device.registers is not None:
        mappings.append(Mapping(_variable(REGISTERS_SYMBOL), REGISTERS, Rights.RW, cached=False))
    space = Space(TIMER_SPACE, (TIMER_SPACE,), tuple(caps), tuple(mappings), (thread,))
    return space, Extras(
        requests=1, interrupt=2, tcb=3, reply=first - 1 if mcs else 0, notifications=notifications
    )
