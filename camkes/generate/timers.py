# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Contexts of connections to the virtual time server."""

from __future__ import annotations

from camkes.capdl import uses
from camkes.diagnostics import Label
from camkes.generate import contexts as ctx
from camkes.generate.codes import TIMER_METHOD
from camkes.generate.facts import InstanceFacts
from camkes.generate.procedures import procedure
from camkes.model.system import Interface, Procedure

#: the methods of a time server, and what they are in the runtime
_TIMER_BODIES = {
    "periodic": "camkes_timers_periodic(&{0}__timers, {1}, {2})",
    "oneshot_absolute": "camkes_timers_oneshot_absolute(&{0}__timers, {1}, {2})",
    "oneshot_relative": "camkes_timers_oneshot_relative(&{0}__timers, {1}, {2})",
    "stop": "camkes_timers_stop(&{0}__timers, {1})",
    "completed": "camkes_timers_completed(&{0}__timers)",
    "time": "camkes_platform_now()",
}
_TIMER_PARAMETERS: dict[str, tuple[str, ...]] = {
    "periodic": ("in int tid", "in uint64_t ns"),
    "oneshot_absolute": ("in int tid", "in uint64_t ns"),
    "oneshot_relative": ("in int tid", "in uint64_t ns"),
    "stop": ("in int tid",),
    "completed": (),
    "time": (),
}


def timer(me: InstanceFacts, interface: Interface) -> ctx.TimerContext:
    assert isinstance(interface.type, Procedure)
    timers = [me.slot(uses.ClientTimer, interface.name, 0)]
    while (slot := me.slot_if_any(uses.ClientTimer, interface.name, len(timers))) != 0:
        timers.append(slot)
    bodies: list[tuple[ctx.MethodContext, str]] = []
    for method in procedure(interface.type, interface.name, me.places).methods:
        body = _TIMER_BODIES.get(method.name)
        plain = all(p.direction == "in" and p.shape is ctx.Shape.SCALAR for p in method.parameters)
        if body is None or not plain or len(method.parameters) != len(_TIMER_PARAMETERS[method.name]):
            source = interface.type.methods[method.index]
            me.all.sink.report(
                TIMER_METHOD,
                f"the virtual time server has no method `{method.name}`"
                + ("" if body is None else " with these parameters"),
                source.span,
                related=[Label(interface.span, "connected to the virtual time server")],
                help=f"its methods are {', '.join(_TIMER_PARAMETERS)}"
                if body is None
                else f"write `{method.name}({', '.join(_TIMER_PARAMETERS[method.name])})`",
            )
            continue
        bodies.append((method, body.format(interface.name, *(p.name for p in method.parameters))))
    return ctx.TimerContext(
        interface.name,
        me.places.of(interface.span),
        me.slot(uses.TimerEvent, interface.name),
        tuple(timers),
        tuple(bodies),
    )
