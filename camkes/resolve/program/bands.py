# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks that a component orders at user level: the connections to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from camkes.diagnostics import Label, Sink
from camkes.model.bands import Band, Order, bands_by_task
from camkes.model.connectors import Carries, support
from camkes.model.settings import PRIORITY, SLICE
from camkes.model.system import Connection, Instance, Task
from camkes.model.units import NANOSECONDS
from camkes.resolve import codes
from camkes.resolve.program.reader import Reader


def find_bands(
    instances: Sequence[Instance],
    connections: Sequence[Connection],
    tasks: Sequence[Task],
    readers: Mapping[str, Reader],
    sink: Sink,
) -> tuple[Band, ...]:
    """The bands of a system, in the order of their connections."""
    named = {instance.name: instance for instance in instances}
    return tuple(_bands(named, connections, {task.instance for task in tasks}, readers, sink))


def _bands(
    named: dict[str, Instance],
    connections: Sequence[Connection],
    tasks: set[str],
    readers: Mapping[str, Reader],
    sink: Sink,
) -> Iterator[Band]:
    orders = {order.value: order for order in Order}
    first: dict[str, Connection] = {}
    no_tasks: set[str] = set()  # components without `requestor`, each an error
    for connection in connections:
        if support(connection.connector).carries is not Carries.JOBS:
            continue
        end = connection.to_ends[0]
        scheduler = named[end.instance]
        order = orders.get(scheduler.type.name)
        if order is None:
            sink.report(
                codes.NOT_A_SCHEDULER,
                f"`{scheduler.name}` cannot order tasks: `{scheduler.type.name}` is not a scheduler",
                end.span,
                related=[Label(scheduler.type.span, "its component")],
                help=f"connect an instance of {' or '.join(f'`{name}`' for name in orders)}",
            )
            continue
        ordered = dict.fromkeys(each.instance for each in connection.from_ends)
        for each in connection.from_ends:
            component = named[each.instance].type
            if each.instance not in tasks:
                if component.requestor or component.name in no_tasks:
                    continue  # a requestor without a control thread is an error already
                no_tasks.add(component.name)
                sink.report(
                    codes.NOT_A_TASK,
                    f"`{each.instance}` is not a task, so `{scheduler.name}` cannot order it",
                    each.span,
                    related=[Label(component.span, "its component")],
                    help=f"write `control; requestor;` in `{component.name}`",
                )
            elif first.setdefault(each.instance, connection) is not connection:
                sink.report(
                    codes.NOT_A_TASK,
                    f"`{each.instance}` is connected to a second scheduler",
                    each.span,
                    related=[Label(first[each.instance].span, "the first")],
                    help="a task is in one band: remove one of the connections",
                )
        control = scheduler.configured.control
        priority = control.priority
        if priority is None and PRIORITY.name in control.spans:
            priority = PRIORITY.default  # the stated one is wrong
        yield Band(
            scheduler.name,
            end.interface,
            order,
            priority,
            tuple(name for name in ordered if name in tasks),
            readers[scheduler.name].number(SLICE, "_") or SLICE.default * NANOSECONDS[SLICE.unit],
            control.spans.get(PRIORITY.name, end.span),
        )


def in_bands(tasks: Sequence[Task], bands: Sequence[Band]) -> tuple[Task, ...]:
    """The tasks, those of bands with their lowest priority."""
    of_task = bands_by_task(bands)
    return tuple(replace(t, priority=of_task[t.instance].base) if t.instance in of_task else t for t in tasks)
