# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The text the host kernel boots from; the format is described in kernel/host/README.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from msgspec.structs import asdict

from camkes.capdl.details import Scheduling
from camkes.capdl.model import CapabilityModel, KernelObject, ObjectKind, Space, Thread
from camkes.protocols.time import LEAST_REFILLS

_HEADER = "camkes-host-table 1"
#: what the host kernel keeps without a capability: templates of connectors may ask for one, and get none
_IMPLICIT = frozenset({ObjectKind.CNODE, ObjectKind.VSPACE})


def host_table(
    model: CapabilityModel, images: Mapping[str, str], heaps: Mapping[str, int] | None = None
) -> str:
    """The boot table; `images` gives the file of each address space by its name, `heaps` the bytes of its
    heap."""
    lines = [_HEADER]
    threads = [thread for space in model.spaces for thread in space.threads]
    mcs = any(thread.scheduling_context for thread in threads)
    if mcs:
        lines.append("mcs")
    lines += [_object(o) for o in table_objects(model)]
    implicit = {o.name for o in model.objects if o.kind in _IMPLICIT}
    for space in model.spaces:
        lines += _space(space, images[space.name], (heaps or {}).get(space.name), implicit)
    if mcs:
        lines += _times(model, threads)
        lines += [_fault_handler(space, t) for space in model.spaces for t in space.threads if t.fault_slot]
    if model.schedule:
        lines += [f"slot {domain} {length}" for domain, length in model.schedule]
        lines += [f"domain {thread.name} {thread.domain}" for thread in threads if thread.domain]
    lines += [f"timer {t.object} {t.notification} {t.badge} {t.offset} {t.period}" for t in model.timers]
    return "\n".join(lines) + "\n"


def table_objects(model: CapabilityModel) -> tuple[KernelObject, ...]:
    """Objects by their number in the table, which is the number in a trace."""
    return tuple(o for o in model.objects if o.kind not in _IMPLICIT)


def _object(item: KernelObject) -> str:
    size = f" {item.size}" if item.kind is ObjectKind.REGION else ""
    if isinstance(item.details, Scheduling):
        size = f" {item.details.size_bits}"
    return f"object {item.name} {item.kind.value}{size}"


def _space(space: Space, image: str, heap: int | None, implicit: Set[str]) -> list[str]:
    lines = [f"space {space.name} {image}" + ("" if heap is None else f" {heap}")]
    caps = [c for c in space.caps if c.object not in implicit]
    lines += [f"cap {c.slot} {c.object} {str(c.rights) or '-'} {c.badge}" for c in caps]
    lines += [f"map {space.symbol(m.use)} {m.region} {m.rights}" for m in space.mappings]
    lines += [_thread(t) for t in space.threads]
    lines += [f"about {kind} {','.join(map(str, ids))}" for kind, ids in asdict(space.records).items() if ids]
    return lines


def _thread(thread: Thread) -> str:
    task = "-" if thread.task is None else str(thread.task)
    return (
        f"thread {thread.name} {thread.index} {thread.role.value} {thread.priority} {thread.max_priority} "
        f"{thread.stack_size} {thread.fault_slot} {task} {thread.instance}"
    )


def _times(model: CapabilityModel, threads: Sequence[Thread]) -> list[str]:
    """What each scheduling context grants at boot, as from the loader of seL4, and to which thread."""
    users = {thread.scheduling_context: thread.name for thread in threads}
    return [
        f"time {o.name} {users.get(o.name, '-')} {1_000 * granted.budget} {1_000 * granted.period} "
        f"{LEAST_REFILLS} {granted.data} constant"
        for o in model.objects
        if isinstance(granted := o.details, Scheduling)
    ]


def _fault_handler(space: Space, thread: Thread) -> str:
    """An MCS kernel keeps the capability in the TCB."""
    (cap,) = (cap for cap in space.caps if cap.slot == thread.fault_slot)
    return f"fault {thread.name} {cap.object} {cap.rights} {cap.badge}"
