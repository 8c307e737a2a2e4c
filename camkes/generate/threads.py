# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Contexts of threads: the record of each."""

from __future__ import annotations

from camkes.capdl.model import Purpose, Role, Thread
from camkes.generate import contexts as ctx
from camkes.generate.facts import InstanceFacts, generates
from camkes.generate.names import c_string
from camkes.model.connectors import Carries


def thread_record(me: InstanceFacts, thread: Thread) -> ctx.ThreadContext:
    """The record of a thread; what it does follows from its role."""
    all_, interface = me.all, thread.interface
    fields = {
        "name": c_string(thread.name),
        "instance": "&camkes__instance",
        "number": str(all_.numbers[thread.name]),
        "priority": str(thread.priority),
        "tcb": str(me.slot_if_any(Purpose.THREAD, number=thread.index)),
    }
    origin, route, task_id = "CAMKES_NO_ROUTE", "CAMKES_NO_ROUTE", "CAMKES_NO_TASK"
    cpi = next((c for c in me.cpis if c.interface == interface), None)
    match thread.role:
        case Role.CONTROL:
            fields["start"] = "camkes__control"
            if me.task is not None:
                fields["task"] = "&camkes__task"
                origin, route = str(me.task.context.id), str(me.route(me.task.context.id))
                task_id = str(me.task.id)
        case Role.MANAGER:
            fields |= {"start": "camkes_manage_cpi", "cpi": f"&{interface}__cpi"}
        case Role.WORKER if cpi is not None:
            own = next((c for c in me.requesting(cpi) if c.id == thread.context), None)
            context = "" if cpi.one_endpoint or own is None else own.name
            fields |= {
                "start": "camkes_serve_cpi",
                "serve": f"{interface}__serve",
                "endpoint": str(me.slot(Purpose.INTERFACE, interface, context)),
                "cpi": f"&{interface}__cpi",
            }
            if own is not None and cpi.protocol.own_priority:
                origin, route = str(own.id), str(me.route(own.id))
        case _:
            fields |= _interface_thread(me, interface)
    fields |= {"origin": origin, "route": route, "task_id": task_id}
    return ctx.ThreadContext(
        thread.name,
        all_.thread_name(thread),
        f"{thread.role.value}, priority {thread.priority}",
        tuple(fields.items()),
    )


def _interface_thread(me: InstanceFacts, interface: str) -> dict[str, str]:
    connection = me.connection(interface)
    declared = me.instance.type.interface(interface)
    if declared is not None and declared.kind == "consumes" and me.slot_if_any(Purpose.HANDOFF, interface):
        return {"start": "camkes_serve_event", "interface": f"&{interface}__event"}
    fields = {"start": "camkes_serve_plain", "interface": f"&{interface}__interface"}
    served = declared is not None and declared.kind == "provides"
    if served and generates(connection, Carries.CALLS):
        fields |= {"serve": f"{interface}__serve", "endpoint": str(me.slot(Purpose.INTERFACE, interface))}
    return fields
