# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The capability distribution of a system in capDL, in two steps.

Before the components are compiled, everything but addresses is known: the *unlinked* specification.
`camkes.backends.sel4.link` adds the frames, paging structures and thread addresses that linked images decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from camkes.backends.sel4.address_space import Frame, FrameCap
from camkes.backends.sel4.complete import TIMER_INTERRUPT, TIMER_SPACE, Completed
from camkes.backends.sel4.link import (
    MappedCap,
    Unlinked,
    UnlinkedMapping,
    UnlinkedSpace,
    UnlinkedThread,
    cdl_name,
    declare_frame,
    frame_cap,
)
from camkes.backends.sel4.timer import DeviceCaps, device_caps
from camkes.backends.sel4.words import declared, interrupt, words
from camkes.capdl.details import Domain
from camkes.capdl.model import Cap, KernelObject, ObjectKind, Role, Space, Thread
from camkes.model.architectures import ARCHITECTURES
from camkes.model.settings import DEFAULT_PRIORITY

#: kinds of objects that are declared by a word and the object's parameters
_TYPES = {
    ObjectKind.ENDPOINT: "ep",
    ObjectKind.NOTIFICATION: "notification",
    ObjectKind.REPLY: "rtreply",
    ObjectKind.SCHEDULING_CONTEXT: "sc",
    ObjectKind.IO_PORTS: "io_ports",
    ObjectKind.IO_SPACE: "io_device",
    ObjectKind.ARM_IO_SPACE: "arm_io_device",
    ObjectKind.VCPU: "vcpu",
    ObjectKind.SECURE_CALL: "smc",
    ObjectKind.STREAM_ID: "streamid",
    ObjectKind.CONTEXT_BANK: "contextbank",
}
_WITH_RIGHTS = frozenset({ObjectKind.ENDPOINT, ObjectKind.NOTIFICATION, ObjectKind.SECURE_CALL})

#: of a TCB that no thread of ours has; the component that holds it makes a thread of it
_SPARE_TCB = "addr: 0x0, ip: 0x0, sp: 0x0, prio: {0}, max_prio: {0}, affinity: 0, init: [], resume: False"
_SPARE_PRIORITY = DEFAULT_PRIORITY


def file_name(space: str) -> str:
    """What the loader's archive calls the image of an address space."""
    return f"{space}.elf"


def unlinked(
    completed: Completed,
    architecture: str,
    schedule: tuple[tuple[int, int], ...] = (),
    *,
    large_frames: bool = True,
    names: dict[str, tuple[str, str]] | None = None,
) -> Unlinked:
    """The specification of a completed model, without what depends on images. `names` are for proofs."""
    model = completed.model
    word = ARCHITECTURES[architecture].word_bits
    devices = {s.name: _device(s, completed) for s in model.spaces}
    bits = {s.cnode: _cnode_bits(s, completed, devices[s.name]) for s in model.spaces}
    kinds = {o.name: o for o in model.objects}
    pools = sorted(name for name, each in kinds.items() if each.kind is ObjectKind.ASID_POOL)
    threads = {thread.name for space in model.spaces for thread in space.threads}
    objects = [f"{cdl_name(name)} = cnode ({size} bits)" for name, size in bits.items()]
    for item in model.objects:
        if item.kind is ObjectKind.ASID_POOL:
            # the loader makes them in this order; the kernel gives the first one to the loader itself
            objects.append(f"{cdl_name(item.name)} = asid_pool (asid_high: {pools.index(item.name) + 1:#x})")
        elif item.kind is not ObjectKind.TCB:
            objects += _objects(item)
        elif item.name not in threads:
            objects.append(_spare_tcb(item, model.spaces))
    caps: dict[str, tuple[str, ...]] = {}
    for space in model.spaces:
        lines = [f"{c.slot:#x}: {_cap(c, kinds, bits, word)}" for c in space.caps if not c.mapped]
        lines += [f"{slot:#x}: {name}" for slot, name in devices[space.name].slots]
        caps[cdl_name(space.cnode)] = tuple(lines)
    irqs: list[str] = []
    for device in devices.values():
        objects += device.objects
        if device.irq:
            caps[device.irq] = (device.irq_binding,)
            irqs.append(f"{device.irq_number}: {device.irq}")
    for each in model.interrupts:
        badge = f", badge: {each.badge}" if each.badge else ""
        if each.notification:
            caps[cdl_name(each.object)] = (f"0x0: {cdl_name(each.notification)} (W{badge})",)
        irqs.append(f"{each.number}: {cdl_name(each.object)}")
    spaces = tuple(
        _space(s, completed, kinds, f"guard: 0, guard_size: {word - bits[s.cnode]}") for s in model.spaces
    )
    return Unlinked(
        architecture=architecture,
        objects=tuple(objects),
        caps=caps,
        spaces=spaces,
        irqs=tuple(irqs),
        schedule=schedule,
        large_frames=large_frames,
        names=names or {},
    )


def _spare_tcb(item: KernelObject, spaces: Iterable[Space]) -> str:
    """Where priorities are planned it gives no thread a priority that the component's threads cannot give."""
    priority = _SPARE_PRIORITY
    for space in spaces:
        planned = any(t.task is not None or t.role in (Role.WORKER, Role.MANAGER) for t in space.threads)
        if planned and any(cap.object == item.name for cap in space.caps):
            priority = min(priority, max(t.max_priority for t in space.threads))
    return f"{cdl_name(item.name)} = tcb ({', '.join([_SPARE_TCB.format(priority), *words(item.details)])})"


def _objects(item: KernelObject) -> list[str]:
    """The declarations of an object: one, or one for each frame of a region."""
    name = cdl_name(item.name)
    match item.kind:
        case ObjectKind.REGION:
            return [declare_frame(f) for f in _region_frames(item)]
        case ObjectKind.UNTYPED:
            paddr = "" if item.paddr is None else f", paddr: {item.paddr:#x}"
            return [f"{name} = ut ({item.size.bit_length() - 1} bits{paddr})"]
        case ObjectKind.INTERRUPT:
            return [f"{name} = {interrupt(item.details)}"]
        case kind if kind in _TYPES:
            return [f"{name} = {declared(_TYPES[kind], item.details)}"]
    return []


def _device(space: Space, completed: Completed) -> DeviceCaps:
    device = completed.device
    if device is None or space.name != TIMER_SPACE:
        return DeviceCaps()
    used = completed.extras[space.name].before_device
    return device_caps(device, space.name, cdl_name(TIMER_INTERRUPT), used)


def _cnode_bits(space: Space, completed: Completed, device: DeviceCaps) -> int:
    slots = [cap.slot for cap in space.caps] + [slot for slot, _ in device.slots]
    highest = max(slots, default=0)
    owned = (slot for use, slot in completed.model.slots.items() if use.instance in space.instances)
    asked = next((o.size for o in completed.model.objects if o.name == space.cnode), 0)
    return max(2, asked, max(highest, *owned, 0).bit_length())


def _cap(cap: Cap, kinds: Mapping[str, KernelObject], bits: Mapping[str, int], word: int) -> str:
    kind = kinds[cap.object].kind
    name = cdl_name(cap.object)
    if kind is ObjectKind.SCHED_CONTROL:
        return declared("sched_control", kinds[cap.object].details)
    if kind is ObjectKind.CNODE:
        return f"{name} (guard: 0, guard_size: {word - bits[cap.object]})"
    if kind is ObjectKind.REGION:
        return frame_cap(FrameCap(_frame_name(cap.object, cap.frame), str(cap.rights), cap.cached))
    if kind not in _WITH_RIGHTS:
        return name
    badge = [f"badge: {cap.badge}"] if cap.badge else []
    inner = ", ".join([*([str(cap.rights)] if cap.rights else []), *badge])
    return f"{name} ({inner})" if inner else name


def _space(
    space: Space, completed: Completed, kinds: Mapping[str, KernelObject], guard: str
) -> UnlinkedSpace:
    threads = tuple(
        UnlinkedThread(
            cdl_name(t.name),
            t.index,
            _thread_fields(t),
            (f"cspace: {cdl_name(space.cnode)} ({guard})", *_time(space, t, completed)),
        )
        for t in space.threads
    )
    mappings = tuple(
        UnlinkedMapping(
            space.symbol(m.use),
            tuple(f.name for f in _region_frames(kinds[m.region])),
            str(m.rights),
            m.cached,
            kinds[m.region].page,
            m.offset,
        )
        for m in space.mappings
    )
    mapped = tuple(
        MappedCap(c.slot, _frame_name(c.object, c.frame), str(c.rights), c.cached)
        for c in space.caps
        if c.mapped
    )
    names = cdl_name(space.vspace), cdl_name(space.cnode)
    return UnlinkedSpace(space.name, names[0], threads, mappings, names[1], mapped)


def _thread_fields(thread: Thread) -> str:
    fields = [f"prio: {thread.priority}", f"max_prio: {thread.max_priority}", f"affinity: {thread.affinity}"]
    fields.append(f"init: [{thread.index}]")
    if thread.fault_slot and thread.role is not Role.FAULT_HANDLER:
        fields.append(f"fault_ep: {thread.fault_slot:#x}")
    if thread.domain:
        fields += words(Domain(thread.domain))
    return ", ".join(fields)


def _time(space: Space, thread: Thread, completed: Completed) -> list[str]:
    """What an MCS kernel finds in a TCB."""
    context, fault = thread.scheduling_context, completed.extras[space.name].fault_caps.get(thread.index)
    lines = [f"sc_slot: {cdl_name(context)}"] if context else []
    if fault is not None:
        lines.append(f"fault_ep_slot: {cdl_name(fault.object)} ({fault.rights}, badge: {fault.badge})")
    return lines


def _frame_name(region: str, number: int) -> str:
    return f"{cdl_name(region)}-{number}"


def _region_frames(region: KernelObject) -> list[Frame]:
    page, paddr = region.page, region.paddr
    return [
        Frame(
            _frame_name(region.name, i),
            page,
            None if paddr is None else paddr + i * page,
            tuple(part for fill in region.fill if (part := fill.within(i * page, page)) is not None),
        )
        for i in range(-(-region.size // page))
    ]
