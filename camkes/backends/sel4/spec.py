# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The specification of a system for seL4's loader, in two steps.

Before the components are compiled, everything but addresses is known: the *unlinked* specification.
`camkes.backends.sel4.link` adds the frames, paging structures and thread addresses that linked images decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from camkes.backends.sel4.address_space import Frame
from camkes.backends.sel4.complete import TIMER_INTERRUPT, TIMER_SPACE, Completed
from camkes.backends.sel4.link import (
    MappedCap,
    Unlinked,
    UnlinkedMapping,
    UnlinkedSpace,
    UnlinkedThread,
    cdl_name,
    frame_object,
)
from camkes.backends.sel4.timer import DeviceCaps, device_caps, interrupt_object
from camkes.capdl.details import Core, Domain
from camkes.capdl.model import Cap, KernelObject, ObjectKind, Role, Space, Thread
from camkes.capdl.specification import (
    CSPACE,
    FAULT_ENDPOINT,
    SCHED_CONTROL,
    SCHEDULING_CONTEXT,
    AsidPool,
    SpecCap,
    SpecObject,
    StartState,
)
from camkes.model.architectures import ARCHITECTURES
from camkes.model.settings import DEFAULT_PRIORITY

#: capDL's words for kinds of objects that have no more than their details
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
    heaps: Mapping[str, int] | None = None,
) -> Unlinked:
    """The specification of a completed model, without what depends on images. `names` are for proofs, `heaps`
    the bytes of those of the user's address spaces."""
    model = completed.model
    word = ARCHITECTURES[architecture].word_bits
    devices = {s.name: _device(s, completed) for s in model.spaces}
    bits = {s.cnode: _cnode_bits(s, completed, devices[s.name]) for s in model.spaces}
    kinds = {o.name: o for o in model.objects}
    pools = sorted(name for name, each in kinds.items() if each.kind is ObjectKind.ASID_POOL)
    threads = {thread.name for space in model.spaces for thread in space.threads}
    objects = [SpecObject(cdl_name(name), "cnode", size) for name, size in bits.items()]
    for item in model.objects:
        if item.kind is ObjectKind.ASID_POOL:
            # the loader makes them in this order; the kernel gives the first one to the loader itself
            place = AsidPool(pools.index(item.name) + 1)
            objects.append(SpecObject(cdl_name(item.name), "asid_pool", details=place))
        elif item.kind is not ObjectKind.TCB:
            objects += _objects(item)
        elif item.name not in threads:
            objects.append(_spare_tcb(item, model.spaces))
    caps: dict[str, tuple[SpecCap, ...]] = {}
    for space in model.spaces:
        own = (_cap(c, kinds, bits, word) for c in space.caps if not c.mapped)
        caps[cdl_name(space.cnode)] = (*own, *devices[space.name].caps)
    irqs: list[tuple[int, str]] = []
    for device in devices.values():
        objects += device.objects
        if device.irq_binding is not None:
            caps[device.irq] = (device.irq_binding,)
            irqs.append((device.irq_number, device.irq))
    for each in model.interrupts:
        name = cdl_name(each.object)
        if each.notification:
            caps[name] = (SpecCap(0, cdl_name(each.notification), "W", each.badge),)
        irqs.append((each.number, name))
    heaps = heaps or {}
    spaces = tuple(_space(s, completed, kinds, word - bits[s.cnode], heaps.get(s.name)) for s in model.spaces)
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


def _spare_tcb(item: KernelObject, spaces: Iterable[Space]) -> SpecObject:
    """Where priorities are planned it gives no thread a priority that the component's threads cannot give."""
    priority = _SPARE_PRIORITY
    for space in spaces:
        planned = any(t.task is not None or t.role in (Role.WORKER, Role.MANAGER) for t in space.threads)
        if planned and any(cap.object == item.name for cap in space.caps):
            priority = min(priority, max(t.max_priority for t in space.threads))
    domain = item.details.number if isinstance(item.details, Domain) else 0
    state = StartState(priority, priority, domain=domain, started=False)
    return SpecObject(cdl_name(item.name), "tcb", details=state)


def _objects(item: KernelObject) -> list[SpecObject]:
    """One, or one for each frame of a region."""
    name = cdl_name(item.name)
    match item.kind:
        case ObjectKind.REGION:
            return [frame_object(f) for f in _region_frames(item)]
        case ObjectKind.UNTYPED:
            return [SpecObject(name, "ut", item.size.bit_length() - 1, item.paddr)]
        case ObjectKind.INTERRUPT:
            return [interrupt_object(name, item.details)]
        case kind if kind in _TYPES:
            return [SpecObject(name, _TYPES[kind], details=item.details)]
    return []


def _device(space: Space, completed: Completed) -> DeviceCaps:
    device = completed.device
    if device is None or space.name != TIMER_SPACE:
        return DeviceCaps()
    used = completed.extras[space.name].before_device
    return device_caps(device, space.name, cdl_name(TIMER_INTERRUPT), used)


def _cnode_bits(space: Space, completed: Completed, device: DeviceCaps) -> int:
    slots = [*(cap.slot for cap in space.caps), *(cap.slot for cap in device.caps)]
    highest = max(slots, default=0)
    owned = (slot for use, slot in completed.model.slots.items() if use.instance in space.instances)
    asked = next((o.size for o in completed.model.objects if o.name == space.cnode), 0)
    return max(2, asked, max(highest, *owned, 0).bit_length())


def _cap(cap: Cap, kinds: Mapping[str, KernelObject], bits: Mapping[str, int], word: int) -> SpecCap:
    item = kinds[cap.object]
    name = cdl_name(cap.object)
    match item.kind:
        case ObjectKind.SCHED_CONTROL:
            core = item.details.number if isinstance(item.details, Core) else 0
            return SpecCap(cap.slot, SCHED_CONTROL, core=core)
        case ObjectKind.CNODE:
            return SpecCap(cap.slot, name, guard=word - bits[cap.object])
        case ObjectKind.REGION:
            frame = _frame_name(cap.object, cap.frame)
            return SpecCap(cap.slot, frame, str(cap.rights), cached=cap.cached)
        case kind if kind in _WITH_RIGHTS:
            return SpecCap(cap.slot, name, str(cap.rights), cap.badge)
    return SpecCap(cap.slot, name)


def _space(
    space: Space, completed: Completed, kinds: Mapping[str, KernelObject], guard: int, heap: int | None
) -> UnlinkedSpace:
    cspace = SpecCap(CSPACE, cdl_name(space.cnode), guard=guard)
    threads = tuple(
        UnlinkedThread(cdl_name(t.name), t.index, _state(t), (cspace, *_time(space, t, completed)))
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
    instances = () if heap is None else space.instances
    return UnlinkedSpace(
        name=space.name,
        root=names[0],
        threads=threads,
        mappings=mappings,
        cnode=names[1],
        mapped=mapped,
        instances=instances,
        heap=heap,
    )


def _state(thread: Thread) -> StartState:
    return StartState(
        thread.priority,
        thread.max_priority,
        thread.affinity,
        thread.domain,
        arguments=(thread.index,),
        fault_slot=0 if thread.role is Role.FAULT_HANDLER else thread.fault_slot,
    )


def _time(space: Space, thread: Thread, completed: Completed) -> list[SpecCap]:
    """What an MCS kernel finds in a TCB."""
    context, fault = thread.scheduling_context, completed.extras[space.name].fault_caps.get(thread.index)
    caps = [SpecCap(SCHEDULING_CONTEXT, cdl_name(context))] if context else []
    if fault is not None:
        caps.append(SpecCap(FAULT_ENDPOINT, cdl_name(fault.object), str(fault.rights), fault.badge))
    return caps


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
