# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A specification in capDL, the language of seL4's capDL-tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from camkes.capdl.details import (
    ArmInterrupt,
    Bank,
    Core,
    Domain,
    IoApicInterrupt,
    IoSpace,
    MsiInterrupt,
    PciDevice,
    Ports,
    Scheduling,
)
from camkes.capdl.fill import BootRecord, FileData, Fill
from camkes.capdl.specification import (
    CSPACE,
    FAULT_ENDPOINT,
    IPC_BUFFER,
    SCHED_CONTROL,
    SCHEDULING_CONTEXT,
    VSPACE,
    AsidPool,
    ObjectDetails,
    SpecCap,
    Specification,
    SpecObject,
    StartState,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

#: what capDL calls the slots of a TCB
_TCB_SLOTS = {
    CSPACE: "cspace",
    VSPACE: "vspace",
    IPC_BUFFER: "ipc_buffer_slot",
    FAULT_ENDPOINT: "fault_ep_slot",
    SCHEDULING_CONTEXT: "sc_slot",
}


def capdl_text(spec: Specification) -> str:
    """The text that capDL-tool reads."""
    types = {item.name: item.type for item in spec.objects}
    text = [f"arch {spec.architecture.capdl}", "", "objects {"]
    text += sorted(declared(item, spec.children.get(item.name)) for item in spec.objects)
    text += ["}", "", "caps {"]
    for name in sorted(spec.caps):
        text += [f"{name} {{", *(held(cap, types[name]) for cap in spec.caps[name]), "}"]
    text += ["}", "", "irq maps {", *(f"{number}: {name}" for number, name in spec.irqs.items()), "}"]
    if spec.schedule:
        slots = ", ".join(f"({domain}, {ticks})" for domain, ticks in spec.schedule)
        text += ["", "domains {", f"schedule: [{slots}]", "domain_set_start: 0", "index_shift: 0", "}"]
    return "\n".join([*text, ""])


def declared(item: SpecObject, children: Sequence[str] | None = None) -> str:
    """The declaration of an object."""
    words: list[str] = []
    match item.type:
        case "cnode" | "ut":
            words.append(f"{item.bits} bits")
        case "frame":
            words.append(f"{1 << item.bits - 20}M" if item.bits >= 20 else f"{1 << item.bits - 10}k")
    if item.paddr is not None:
        words.append(f"paddr: {item.paddr:#x}")
    if item.type == "frame":
        words.append(f"fill: [{','.join(f'{{{_fill(each)}}}' for each in item.fill)}]")
    words += _words(item.details)
    inner = f" ({', '.join(words)})" if words else ""
    made = "" if children is None else f" {{ {''.join(f'{name} ' for name in children)}}}"
    return f"{item.name} = {item.type}{inner}{made}"


def held(cap: SpecCap, container: str) -> str:
    """A slot of an object of the type `container`."""
    words = [cap.rights] if cap.rights else []
    if cap.badge:
        words.append(f"badge: {cap.badge}")
    if cap.guard is not None:
        words.append(f"guard: 0, guard_size: {cap.guard}")
    if not cap.cached:
        words.append("uncached")
    if cap.mapping is not None:
        words.append(f"mapping: ({cap.mapping[0]}, {cap.mapping[1]})")
    if cap.object == SCHED_CONTROL:
        words.append(f"core: {cap.core}")
    slot = _TCB_SLOTS[cap.slot] if container == "tcb" else f"{cap.slot:#x}"
    inner = f" ({', '.join(words)})" if words else ""
    return f"{slot}: {cap.object}{inner}"


def _fill(fill: Fill) -> str:
    match fill.source:
        case BootRecord(name):
            source = f"CDL_FrameFill_BootInfo {name}"
        case FileData(name):
            source = f'CDL_FrameFill_FileData "{name}"'
    return f"{fill.start} {fill.length} {source} {fill.offset}"


def _words(details: ObjectDetails | None) -> tuple[str, ...]:
    """The parameters of an object besides its size and its place."""
    match details:
        case StartState():
            return _thread(details)
        case AsidPool():
            return (f"asid_high: {details.place:#x}",)
        case Scheduling():
            limits = (f"period: {details.period}", f"budget: {details.budget}", f"data: {details.data}")
            return (*limits, f"{details.size_bits} bits")
        case Ports():
            return (f"ports: [{details.first:#x}..{details.last:#x}]",)
        case PciDevice():
            where = f"{details.bus:#x}:{details.device}.{details.function}"
            return (f"domainID: {details.domain}", where)
        case IoSpace():
            return (f"iospace: {details.number}",)
        case Bank():
            return (f"bank: {details.number}",)
        case ArmInterrupt():
            return (f"trigger: {'edge' if details.edge else 'level'}", f"target: {details.target}")
        case IoApicInterrupt():
            pin = (f"ioapic_num: {details.ioapic}", f"ioapic_pin: {details.pin}")
            return (*pin, f"ioapic_level: {details.level}", f"ioapic_polarity: {details.polarity}")
        case MsiInterrupt():
            where = f"msi_pci_bus: {details.bus}"
            place = (f"msi_pci_dev: {details.device}", f"msi_pci_fun: {details.function}")
            return (f"msi_handle: {details.handle}", where, *place)
        case Domain() | Core() | None:  # in the state of a thread, and in a capability
            return ()


def _thread(state: StartState) -> tuple[str, ...]:
    words = [f"addr: {state.buffer:#x}", f"ip: {state.entry:#x}", f"sp: {state.stack:#x}"]
    words += [f"prio: {state.priority}", f"max_prio: {state.max_priority}", f"affinity: {state.affinity}"]
    words.append(f"init: [{', '.join(map(str, state.arguments))}]")
    if state.fault_slot:
        words.append(f"fault_ep: {state.fault_slot:#x}")
    if not state.started:
        words.append("resume: False")
    if state.domain:
        words.append(f"dom: {state.domain}")
    return tuple(words)
