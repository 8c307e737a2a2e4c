# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Additional objects of a system on an MCS kernel: scheduling contexts and reply objects.

Every thread gets a scheduling context with its budget and period, but the threads of a passive interface:
those run on the time of their callers. To initialise, they borrow a context that their instance keeps for
that, one after the other; see `runtime/src/passive_sel4.c`. Every thread gets a reply object, and its
fault endpoint is a capability of its TCB.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from camkes.backends.sel4.codes import PASSIVE_CONNECTOR, PROTOCOL_ON_MCS, SHORT_ON_MCS
from camkes.backends.sel4.complete import Completed, Extras, ThreadTime
from camkes.backends.sel4.timer import DEVICE_SLOTS
from camkes.capdl.callers import Wiring
from camkes.capdl.details import Details, Rights, Scheduling
from camkes.capdl.model import Cap, KernelObject, ObjectKind, Role, Space, Thread
from camkes.diagnostics import Label, Sink
from camkes.model.connectors import Carries, names, support
from camkes.model.settings import BUDGET, PASSIVE, PERIOD, SettingReader
from camkes.model.system import System
from camkes.resolve.program.scheduling import SHORTEST


def refuse_protocols(system: System, sink: Sink) -> None:
    """The manager of a CPI keeps reply capabilities, and an MCS kernel has none."""
    for cpi in system.cpis:
        sink.report(
            PROTOCOL_ON_MCS,
            f"`{cpi.name}` has a priority protocol, but the kernel is an MCS kernel",
            cpi.span,
            "protocols are not supported on MCS kernels yet",
            help="configure with -DKernelIsMCS=OFF",
        )


def add_time(completed: Completed, system: System, sink: Sink) -> Completed:
    """The model with what an MCS kernel needs besides; wrong settings are reported."""
    builder = _TimeAllocator(system, SettingReader(sink))
    spaces = tuple(builder.space(s, completed.extras[s.name]) for s in completed.model.spaces)
    model = replace(completed.model, objects=(*completed.model.objects, *builder.objects), spaces=spaces)
    return replace(completed, model=model, extras=builder.extras)


class _TimeAllocator:
    def __init__(self, system: System, reader: SettingReader) -> None:
        self.system = system
        self.reader = reader
        self.wiring = Wiring(system)
        self.objects: list[KernelObject] = []
        self.extras: dict[str, Extras] = {}
        self.tasks = {task.instance for task in system.tasks}

    def space(self, space: Space, extras: Extras) -> Space:
        """A space with reply objects and what its passive threads need; the slots follow the last used."""
        faults = {t.fault_slot: t.index for t in space.threads if t.fault_slot}
        fault_caps = {faults[c.slot]: c for c in space.caps if c.slot in faults}
        caps = [cap for cap in space.caps if cap.slot not in faults]
        used = extras.last
        if not space.kept:
            used = max((*(cap.slot for cap in space.caps), used), default=0)
        used += DEVICE_SLOTS if extras.notifications else 0

        def add(
            name: str, kind: ObjectKind, rights: Rights = Rights.NONE, details: Details | None = None
        ) -> int:
            nonlocal used
            used += 1
            self.objects.append(KernelObject(name, kind, details=details))
            caps.append(Cap(used, name, rights))
            return used

        shared: dict[str, tuple[int, int, int]] = {}
        times: dict[int, ThreadTime] = {}
        for thread in space.threads:
            reply = add(f"{thread.name}:reply", ObjectKind.REPLY)
            fault = fault_caps.get(thread.index)
            if not self.passive(thread):
                context = f"{thread.name}:sc"
                granted = self.scheduling(thread)
                self.objects.append(KernelObject(context, ObjectKind.SCHEDULING_CONTEXT, details=granted))
                times[thread.index] = ThreadTime(context, fault, reply)
                continue
            name = thread.instance
            if name not in shared:
                shared[name] = (
                    add(f"{name}:passive-sc", ObjectKind.SCHEDULING_CONTEXT, Rights.NONE, Scheduling()),
                    add(f"{name}:passive-done", ObjectKind.NOTIFICATION, Rights.RW),
                    add(f"{name}:passive-gate", ObjectKind.ENDPOINT, Rights.READ | Rights.CALL),
                )
            times[thread.index] = ThreadTime("", fault, reply, *shared[name])
        self.extras[space.name] = replace(extras, times=times)
        threads = tuple(replace(thread, fault_slot=0) for thread in space.threads)
        return replace(space, caps=tuple(caps), threads=threads)

    def passive(self, thread: Thread) -> bool:
        """Whether a thread is of a passive interface; without callers, it is as any other."""
        instance = self.system.instance(thread.instance)
        if thread.role is not Role.INTERFACE or instance is None:
            return False
        connection = self.wiring.connection(f"{thread.instance}.{thread.interface}")
        if connection is None or not self.reader.passive(instance, thread.interface):
            return False
        if support(connection.connector).carries is Carries.CALLS:
            return True
        self.reader.sink.report(
            PASSIVE_CONNECTOR,
            f"`{thread.instance}.{thread.interface}` is served through {connection.connector.name}, so it "
            "cannot be passive",
            self.reader.place(instance, PASSIVE.of(f"{thread.interface}_")),
            related=[Label(connection.span, "the connection")],
            help=f"connect it with {' or '.join(names(Carries.CALLS))}",
        )
        return False

    def scheduling(self, thread: Thread) -> Scheduling:
        """The values of the settings; a task may use all of its period, others 10 ms of it."""
        instance = self.system.instance(thread.instance)
        prefixes: Mapping[Role, str] = {Role.CONTROL: "_", Role.FAULT_HANDLER: "fault"}
        if instance is None:
            return Scheduling()  # the tool's own
        prefix = prefixes.get(thread.role, f"{thread.interface}_")
        default = Scheduling()
        stated = self.reader.period(instance, prefix)
        period = default.period if stated is None else stated
        task = thread.role is Role.CONTROL and thread.instance in self.tasks
        budget = self.reader.budget(instance, prefix) or (period if task else min(default.budget, period))
        if 1_000 * budget < SHORTEST:
            names = (BUDGET.of(prefix), BUDGET.name, PERIOD.of(prefix), PERIOD.name)
            self.reader.sink.report(
                SHORT_ON_MCS,
                f"thread `{thread.name}` has {budget} us in each period of {period} us",
                self.reader.place(instance, *names),
                "too short for an MCS kernel",
            )
        return Scheduling(
            period,
            budget,
            self.reader.data(instance, prefix),
            self.reader.context_bits(instance, prefix, default.size_bits),
        )
