# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Waits `with helpers` in the model of a case: the waits that have a lock in common are ended by one server,
which executes what the case has for each. Whoever waits writes its number into the server's queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.connectors import NATIVE_NOTIFICATION, NOTIFICATION, SHARED_DATA

#: For each component and wait that it makes a number, from 1 on.
Waits = Mapping[tuple[str, str], int]

#: The queue: how many numbers were written, and the last of these.
_PLACES = 1000


def waits_of(workload: Workload) -> Waits:
    """All waits, by task, monitor, server or CPI."""
    found: dict[tuple[str, str], int] = {}
    callers: tuple[WorkloadTask | WorkloadCpi, ...] = (*workload.tasks, *workload.cpis)
    for each in callers:
        for name in each.requests:
            if workload.cpi[name].wait:
                found.setdefault((workload.lock.get(each.name, each.name), name), len(found) + 1)
    return found


def shifted(workload: Workload, offsets: Mapping[str, int]) -> Mapping[str, int]:
    """The first releases, each so many nanoseconds later that the servers that were asked before it have
    begun: they are scheduled after all releases of an instant, which the model of the analysis is not."""
    servers = len({workload.lock[wait] for _, wait in waits_of(workload)})
    order = sorted(set(offsets.values()))
    return {name: time + servers * order.index(time) for name, time in offsets.items()}


def wait_code(workload: Workload, names: Mapping[str, str], wait: str, number: int) -> str:
    """Asks the server, and waits until it has ended the wait."""
    server = names[workload.lock[wait]]
    written = f"volatile unsigned *q = (void *)queue_{server}; q[1 + q[0] % {_PLACES}] = {number}; q[0]++;"
    return f"{{ {written} }} ask_{server}_emit(); done_{names[wait]}_wait();"


def waiting_items(workload: Workload, names: Mapping[str, str], component: str) -> str:
    """What a component has that waits."""
    waits = [wait for of, wait in waits_of(workload) if of == component]
    servers = dict.fromkeys(names[workload.lock[wait]] for wait in waits)
    items = [f"dataport Buf queue_{server}; emits Ask ask_{server}; " for server in servers]
    items += [f"consumes Done done_{names[wait]} with helpers; " for wait in waits]
    return "".join(items)


def server_items(workload: Workload, server: str) -> str:
    """What the server of a lock has."""
    numbers = [number for (_, wait), number in waits_of(workload).items() if workload.lock[wait] == server]
    emitted = "".join(f" emits Done done_{number};" for number in numbers)
    return f"control; requestor; dataport Buf queue; consumes Ask ask;{emitted}"


def server_priority(workload: Workload) -> int:
    """Below all tasks: a server executes for those that wait."""
    return max(0, min(task.priority for task in workload.tasks) - 1)


def server_code(workload: Workload, server: str, bodies: Mapping[str, str], waits: Waits) -> str:
    """Ends the waits in the queue, the most urgent first, or in the order of their arrival."""
    ended = {number: wait for (_, wait), number in waits.items() if workload.lock[wait] == server}
    urgency = [
        0
        if number not in ended or server in workload.any_order
        else max(workload.arrivals[ended[number]].values(), default=0)
        for number in range(len(waits) + 1)
    ]
    served = "".join(
        f"        case {number}:\n{bodies[wait]}        break;\n" for number, wait in ended.items()
    )
    ended_by = "".join(
        f"        case {number}:\n        done_{number}_emit();\n        break;\n" for number in ended
    )
    return f"""static const int urgency[] = {{{", ".join(map(str, urgency))}}};
static unsigned waiting[{_PLACES}], count, taken;

static unsigned next(void)
{{
    const volatile unsigned *q = (void *)queue;
    while (taken != q[0]) {{
        waiting[count++] = q[1 + taken++ % {_PLACES}];
    }}
    unsigned first = 0;
    for (unsigned i = 1; i < count; i++) {{
        if (urgency[waiting[i]] > urgency[waiting[first]]) {{
            first = i;
        }}
    }}
    if (count == 0) {{
        return 0;
    }}
    unsigned number = waiting[first];
    count--;
    for (unsigned i = first; i < count; i++) {{
        waiting[i] = waiting[i + 1];
    }}
    return number;
}}

int run(void)
{{
    unsigned number = 0;
    for (;;) {{
        unsigned ended = number;
        number = next();  // before others execute, as a lock goes to the next when it is released
        switch (ended) {{
        case 0:
            if (number == 0) {{
                ask_wait();
            }}
            break;
{ended_by}        }}
        switch (number) {{
{served}        }}
    }}
}}
"""


def wait_connections(workload: Workload, names: Mapping[str, str]) -> Iterator[str]:
    """The connections of those that wait to their servers."""
    waits = waits_of(workload)
    for lock in dict.fromkeys(workload.lock[wait] for _, wait in waits):
        server = names[lock]
        waiting = dict.fromkeys(names[of] for of, wait in waits if workload.lock[wait] == lock)
        asks = ", ".join(f"from {word}.ask_{server}" for word in waiting)
        queues = ", ".join(f"from {word}.queue_{server}" for word in waiting)
        yield f"connection {NATIVE_NOTIFICATION.name} asks_{server}({asks}, to {server}.ask);"
        yield f"connection {SHARED_DATA.name} queues_{server}({queues}, to {server}.queue);"
    for (of, wait), number in waits.items():
        server = names[workload.lock[wait]]
        ends = f"from {server}.done_{number}, to {names[of]}.done_{names[wait]}"
        yield f"connection {NOTIFICATION.name} done_{number}({ends});"
