# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Contexts of schedulers at user level, and of the tasks that they order."""

from __future__ import annotations

from camkes.capdl import uses
from camkes.generate import contexts as ctx
from camkes.generate.facts import InstanceFacts
from camkes.generate.names import c_string
from camkes.model.bands import Band, scheduled_by


def band(me: InstanceFacts) -> ctx.BandContext | None:
    """The band that the instance is the scheduler of."""
    found = scheduled_by(me.all.plan.bands, me.instance.name)
    if found is None:
        return None
    name = found.interface
    fields = {
        "endpoint": str(me.slot(uses.Serve, name)),
        "lowest": str(found.lowest),
        "highest": str(found.highest),
        "members": str(len(found.tasks)),
        "member": f"{name}__members",
    }
    if found.order.measures:
        fired, caller = me.slot(uses.AlarmWake, name), me.slot(uses.AlarmCall, name)
        fields |= {
            "slice": str(found.slice),
            "timer": str(me.slot(uses.AlarmTimer, name)),
            "alarm": f"{{.fired = {fired}, .manager = {caller}}}",
        }
    members = tuple(tuple(_member(me, found, task).items()) for task in found.tasks)
    return ctx.BandContext(name, tuple(fields.items()), members)


def _member(me: InstanceFacts, band: Band, name: str) -> dict[str, str]:
    stated = next(task for task in me.all.system.tasks if task.instance == name)
    planned = next(task for task in me.all.plan.tasks if task.name == name)
    return {
        "name": c_string(name),
        "context": str(planned.context.id),
        "manager": str(me.slot(uses.SchedulerLend, band.interface, name)),
        "weight": str(stated.weight),
        "time": str(me.slot_if_any(uses.SchedulerTime, band.interface, name)),
        "priority": str(band.highest),
    }


def turns(me: InstanceFacts) -> tuple[tuple[str, int], ...]:
    """What the task of the instance needs to ask its scheduler."""
    if me.task is None or me.task.band is None:
        return ()
    stated = next(task for task in me.all.system.tasks if task.instance == me.instance.name)
    return ("scheduler", me.slot(uses.Turn)), ("deadline", stated.relative_deadline or 0)
