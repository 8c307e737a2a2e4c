# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Contexts of threads: the record of each."""

from __future__ import annotations

from camkes.capdl import uses
from camkes.capdl.model import ALARM, Role, Thread
from camkes.capdl.overruns import HANDLER
from camkes.generate import contexts as ctx
from camkes.generate.facts import InstanceFacts, generates
from camkes.generate.names import c_string
from camkes.model.bands import scheduled_by
from camkes.model.connectors import Carries
from camkes.protocols.groups import group_of
from camkes.protocols.plan import PlannedCpi, PlannedTask


def thread_record(me: InstanceFacts, thread: Thread) -> ctx.ThreadContext:
    """The record of a thread; what it does follows from its role."""
    all_, interface = me.all, thread.interface
    fields = {
        "name": c_string(thread.name),
        "instance": "&camkes__instance",
        "number": str(all_.numbers[thread.name]),
        "priority": str(thread.priority),
        "tcb": str(me.slot_if_any(uses.Tcb, thread.index)),
    }
    if all_.system.mcs:
        fields["reply"] = str(me.slot(uses.OwnReply, thread.index))
        fields["passive"] = "false" if thread.scheduling_context else "true"
    cpi = next((c for c in me.cpis if c.interface == interface), None)
    match thread.role:
        case Role.CONTROL:
            fields["start"] = "camkes__control"
            if me.task is not None:
                fields["task"] = "&camkes__task"
                if me.task.priorities:
                    fields["priorities"] = "camkes__priorities"
                if me.task.rises:
                    fields["context"] = "&camkes__helper_context"
        case Role.MANAGER:
            fields |= _manager(me, thread, cpi)
        case Role.INTERFACE if scheduled_by(all_.plan.bands, me.instance.name) is not None:
            fields |= {"start": "camkes_schedule", "interface": f"&{interface}__band"}
        case Role.WORKER if cpi is not None:
            seat = "" if cpi.one_endpoint else thread.part
            fields |= {
                "start": f"{interface}__loop",
                "endpoint": str(me.slot(uses.Serve, interface, seat)),
                "cpi": f"&{interface}__cpi",
            }
            if seat:
                index = [each.name for each in cpi.seats].index(seat)
                fields["context"] = f"&{interface}__contexts[{index}]"
        case _:
            fields |= _interface_thread(me, interface)
    origin = origin_of(me, thread)
    fields |= {
        "origin": "CAMKES_NO_ROUTE" if origin is None else str(origin),
        "route": "CAMKES_NO_ROUTE" if origin is None else str(me.route(origin)),
        "label": task_label(me.task) if thread.role is Role.CONTROL and me.task else "CAMKES_LABEL_NONE",
    }
    fields |= {name: str(value) for name, value in me.instance.configured.thread(interface).members}
    return ctx.ThreadContext(
        thread.name,
        all_.thread_name(thread),
        f"{thread.role.value}, priority {thread.priority}",
        tuple(fields.items()),
    )


def _manager(me: InstanceFacts, thread: Thread, cpi: PlannedCpi | None) -> dict[str, str]:
    if thread.part == HANDLER:
        return {"start": "camkes_handle_overruns", "interface": "&camkes__budget"}
    if not thread.interface:
        return {"start": "camkes_manage_helper", "interface": "&camkes__helper"}
    if cpi is not None:
        kind = "cpi" if group_of(me.all.groups, cpi.name) is None else "member"
        return {"start": f"camkes_manage_{kind}", "cpi": f"&{thread.interface}__cpi"}
    if thread.part == ALARM:
        record = "group" if scheduled_by(me.all.plan.bands, me.instance.name) is None else "band"
        return {"start": "camkes_await_timer", "interface": f"&{thread.interface}__{record}.alarm"}
    return {"start": "camkes_manage_group", "interface": f"&{thread.interface}__group"}


def _interface_thread(me: InstanceFacts, interface: str) -> dict[str, str]:
    connection = me.connection(interface)
    declared = me.instance.type.interface(interface)
    if declared is not None and declared.kind == "consumes" and me.slot_if_any(uses.Handoff, interface):
        return {"start": "camkes_serve_event", "interface": f"&{interface}__event"}
    fields = {"start": "camkes_run_interface", "interface": f"&{interface}__interface"}
    served = declared is not None and declared.kind == "provides"
    if served and generates(connection, Carries.CALLS):
        endpoint = str(me.slot(uses.Serve, interface))
        fields |= {"start": f"{interface}__loop", "endpoint": endpoint}
    return fields


def task_label(task: PlannedTask) -> str:
    """The label of the requests of a task, as C."""
    return f"CAMKES_LABEL_OF({task.priority}, {task.id})"


def one_route(me: InstanceFacts) -> bool:
    """Whether whoever runs code of the instance makes requests of the same context."""
    origins = {origin_of(me, t) for t in me.threads if t.role is not Role.MANAGER}
    return len(origins) == 1 and None not in origins and not _is_called(me)


def one_label(me: InstanceFacts) -> str | None:
    """The label of all requests of an instance that makes only those of its task."""
    if me.task is None or me.task.rises or me.task.priorities:
        return None
    if len(me.contexts) != 1 or _is_called(me):
        return None
    return task_label(me.task)


def origin_of(me: InstanceFacts, thread: Thread) -> int | None:
    """The context whose requests a thread makes; None: none, or that of what a pool's thread serves."""
    if thread.role is Role.CONTROL:
        return None if me.task is None else me.task.context.id
    cpi = next((c for c in me.cpis if c.interface == thread.interface), None)
    if thread.role is not Role.WORKER or cpi is None or cpi.pooled:
        return None
    own = me.requesting(cpi)
    return next((c.id for c in own if cpi.protocol.own_priority or c.id == thread.context), None)


def _is_called(me: InstanceFacts) -> bool:
    """Whether threads of others in the address space run code of the instance."""
    provided = (i.name for i in me.instance.type.interfaces if i.kind == "provides")
    return any(generates(me.connection(name), Carries.FUNCTION_CALLS) for name in provided)
