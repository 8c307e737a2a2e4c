# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The capability distribution of a system in capDL, in two steps.

Before the components are compiled, everything but addresses is known: the *unlinked* specification.
`camkes.sel4.link` adds to it the frames, paging structures and thread addresses that linked images decide.
"""

from __future__ import annotations

from collections.abc import Mapping

from camkes.capdl.address_space import ARCHITECTURES, PAGE, Frame
from camkes.capdl.model import Cap, KernelObject, ObjectKind, Role, Space, Thread
from camkes.sel4.complete import TIMER_INTERRUPT, TIMER_SPACE, Completed
from camkes.sel4.link import (
    Unlinked,
    UnlinkedMapping,
    UnlinkedSpace,
    UnlinkedThread,
    cdl_name,
    declare_frame,
)
from camkes.sel4.timer import DeviceCaps, device_caps

_TYPES = {ObjectKind.ENDPOINT: "ep", ObjectKind.NOTIFICATION: "notification"}


def file_name(space: str) -> str:
    """What the loader's archive calls the image of an address space."""
    return f"{space}.elf"


def unlinked(completed: Completed, architecture: str, schedule: tuple[tuple[int, int], ...] = ()) -> Unlinked:
    """The specification of a completed model, without what depends on images."""
    model = completed.model
    word = ARCHITECTURES[architecture].word_bits
    devices = {s.name: _device(s, completed) for s in model.spaces}
    bits = {f"{s.name}:cnode": _cnode_bits(s, completed, devices[s.name]) for s in model.spaces}
    kinds = {o.name: o for o in model.objects}
    objects = [f"{cdl_name(o.name)} = {_TYPES[o.kind]}" for o in model.objects if o.kind in _TYPES]
    objects += [f"{cdl_name(name)} = cnode ({size} bits)" for name, size in bits.items()]
    for item in model.objects:
        if item.kind is ObjectKind.REGION:
            objects += [declare_frame(f) for f in _region_frames(item)]
    caps: dict[str, tuple[str, ...]] = {}
    for space in model.spaces:
        lines = [f"{c.slot:#x}: {_cap(c, kinds, bits, word)}" for c in space.caps]
        lines += [f"{slot:#x}: {name}" for slot, name in devices[space.name].slots]
        caps[cdl_name(f"{space.name}:cnode")] = tuple(lines)
    irqs: list[str] = []
    for device in devices.values():
        objects += device.objects
        if device.irq:
            caps[device.irq] = (device.irq_binding,)
            irqs.append(f"{device.irq_number}: {device.irq}")
    spaces = tuple(
        _space(s, kinds, f"guard: 0, guard_size: {word - bits[f'{s.name}:cnode']}") for s in model.spaces
    )
    return Unlinked(architecture, tuple(objects), caps, spaces, tuple(irqs), schedule)


def _device(space: Space, completed: Completed) -> DeviceCaps:
    device = completed.device
    if device is None or space.name != TIMER_SPACE:
        return DeviceCaps()
    used = max(cap.slot for cap in space.caps)
    return device_caps(device, space.name, cdl_name(TIMER_INTERRUPT), used)


def _cnode_bits(space: Space, completed: Completed, device: DeviceCaps) -> int:
    slots = [cap.slot for cap in space.caps] + [slot for slot, _ in device.slots]
    highest = max(slots, default=0)
    owned = (slot for (instance, _), slot in completed.model.slots.items() if instance in space.instances)
    return max(2, max(highest, *owned, 0).bit_length())


def _cap(cap: Cap, kinds: Mapping[str, KernelObject], bits: Mapping[str, int], word: int) -> str:
    kind = kinds[cap.object].kind
    name = cdl_name(cap.object)
    if kind is ObjectKind.CNODE:
        return f"{name} (guard: 0, guard_size: {word - bits[cap.object]})"
    if kind is ObjectKind.TCB:
        return name
    badge = f", badge: {cap.badge}" if cap.badge else ""
    return f"{name} ({cap.rights}{badge})"


def _space(space: Space, kinds: Mapping[str, KernelObject], guard: str) -> UnlinkedSpace:
    threads = tuple(
        UnlinkedThread(
            cdl_name(t.name),
            t.index,
            _thread_fields(t),
            (f"cspace: {cdl_name(f'{space.name}:cnode')} ({guard})",),
        )
        for t in space.threads
    )
    mappings = tuple(
        UnlinkedMapping(m.symbol, tuple(f.name for f in _region_frames(kinds[m.region])), m.rights, m.cached)
        for m in space.mappings
    )
    return UnlinkedSpace(space.name, cdl_name(f"{space.name}:vspace"), threads, mappings)


def _thread_fields(thread: Thread) -> str:
    fields = [f"prio: {thread.priority}", f"max_prio: {thread.max_priority}", f"affinity: {thread.affinity}"]
    fields.append(f"init: [{thread.index}]")
    if thread.fault_slot and thread.role is not Role.FAULT_HANDLER:
        fields.append(f"fault_ep: {thread.fault_slot:#x}")
    if thread.domain:
        fields.append(f"dom: {thread.domain}")
    return ", ".join(fields)


def _region_frames(region: KernelObject) -> list[Frame]:
    count = -(-region.size // PAGE)
    paddr = region.paddr
    return [
        Frame(f"{cdl_name(region.name)}-{i}", PAGE, None if paddr is None else paddr + i * PAGE)
        for i in range(count)
    ]
