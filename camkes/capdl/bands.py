# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The capabilities with which a component at user level orders the tasks of a band."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.capdl import uses
from camkes.capdl.details import Rights
from camkes.capdl.model import ALARM, KernelObject, ObjectKind, Timer
from camkes.model.bands import Band, scheduled_by
from camkes.protocols.plan import Plan, PlannedTask

#: use, object, rights, badge
_Cap = tuple[uses.CapUse, KernelObject, Rights, int]


def band_caps(plan: Plan, instance: str) -> Iterator[_Cap]:
    """Those of an instance that is a scheduler, or a task that one orders."""
    band, task = scheduled_by(plan.bands, instance), plan.task(instance)
    if band is not None:
        yield from _of_scheduler(band)
    if task is not None and task.band is not None:
        yield from _of_task(task, task.band)


def slice_timer(band: Band) -> Timer:
    """What ends time slices."""
    return Timer(_timer(band).name, _fired(band).name, 1, 0, 0)


def _of_scheduler(band: Band) -> Iterator[_Cap]:
    """Its own endpoint, and for each task the manager of that; to divide the processor, also the scheduling
    contexts, and a thread that waits for the timer."""
    own = band.instance, band.interface
    yield uses.Serve(*own), _endpoint(band), Rights.READ, 0
    for task in band.tasks:
        yield uses.SchedulerLend(*own, task), _manager(task), Rights.CALL, 2
        if band.order.measures:
            time = KernelObject(f"{task}:sc", ObjectKind.SCHEDULING_CONTEXT)
            yield uses.SchedulerTime(*own, task), time, Rights.NONE, 0
    if band.order.measures:
        yield uses.AlarmWake(*own), _fired(band), Rights.READ, 0
        yield uses.AlarmTimer(*own), _timer(band), Rights.NONE, 0
        yield uses.AlarmCall(*own), _endpoint(band), Rights.CALL, 1 + len(band.tasks)


def _of_task(task: PlannedTask, band: Band) -> Iterator[_Cap]:
    """Its manager's own endpoint, and the calls of its control thread."""
    yield uses.TaskManager(task.name), _manager(task.name), Rights.READ, 0
    yield uses.Settle(task.name), _manager(task.name), Rights.CALL, 1
    badge = 1 + band.tasks.index(task.name)
    yield uses.Turn(task.name), _endpoint(band), Rights.CALL, badge


def _endpoint(band: Band) -> KernelObject:
    return KernelObject(f"{band.instance}.{band.interface}:endpoint", ObjectKind.ENDPOINT)


def _manager(task: str) -> KernelObject:
    return KernelObject(f"{task}!manager:endpoint", ObjectKind.ENDPOINT)


def _timer(band: Band) -> KernelObject:
    return KernelObject(f"{band.instance}!{ALARM}:timer", ObjectKind.TIMER)


def _fired(band: Band) -> KernelObject:
    return KernelObject(f"{band.instance}!{ALARM}:notification", ObjectKind.NOTIFICATION)
