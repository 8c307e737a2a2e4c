# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a loader makes of a system: every kernel object, pages and paging structures included, and what each
of its slots holds.

`camkes.capdl.model` has what the tool decides; `camkes.backends.sel4.link` makes this of it when the images
are known. Two writers read it: `camkes.capdl.text` (capDL) and `camkes.capdl.loader_table` (the C that the
loader is built with).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from camkes.capdl.details import Details, Scheduling
from camkes.capdl.fill import Fill
from camkes.model.architectures import Architecture

#: slots of a TCB, by the loader's numbers
CSPACE, VSPACE, IPC_BUFFER, FAULT_ENDPOINT, SCHEDULING_CONTEXT = 0, 1, 4, 5, 6

#: in place of the name of an object: what there is one of, and what there is one of for each core
IRQ_CONTROL, ASID_CONTROL, SCHED_CONTROL = "irq_control", "asid_control", "sched_control"


class StartState(Struct, frozen=True, tag=True):
    """What a thread starts with; `arguments` are those of its entry function. `fault_slot`: of its own
    CSpace, 0: none. One that the loader does not start is for the component that holds it."""

    priority: int
    max_priority: int
    affinity: int = 0
    domain: int = 0
    buffer: int = 0
    entry: int = 0
    stack: int = 0
    arguments: tuple[int, ...] = ()
    fault_slot: int = 0
    started: bool = True


class AsidPool(Struct, frozen=True, tag=True):
    """The place of a pool of address spaces in the kernel's table, from 1 on: the loader's own is 0."""

    place: int


ObjectDetails: TypeAlias = Details | StartState | AsidPool


class SpecObject(Struct, frozen=True):
    """`type` is capDL's word for it. `bits`: of a CNode, 2 to the power of this many slots; of a frame or an
    untyped object, as many bytes."""

    name: str
    type: str
    bits: int = 0
    #: physical address, where it must have one
    paddr: int | None = None
    fill: tuple[Fill, ...] = ()
    details: ObjectDetails | None = None


class SpecCap(Struct, frozen=True):
    """A capability in a slot of an object; `rights` are letters (`details.Rights`), "" for kinds without."""

    slot: int
    object: str
    rights: str = ""
    badge: int = 0
    #: CNode: bits of addresses that are 0 before those which choose a slot
    guard: int | None = None
    cached: bool = True
    #: frame: paging structure and slot; the capability is the one with which the frame was mapped there
    mapping: tuple[str, int] | None = None
    #: SCHED_CONTROL
    core: int = 0


class Specification(Struct):
    """`caps` by container, `irqs` the objects of interrupts by number, `schedule` (domain, duration in the
    kernel's ticks) in turn. `children`: with static allocation, what untyped objects are divided into, in
    order."""

    architecture: Architecture
    objects: list[SpecObject]
    caps: dict[str, list[SpecCap]]
    irqs: dict[int, str]
    schedule: tuple[tuple[int, int], ...] = ()
    children: dict[str, tuple[str, ...]] = {}


#: what the kernel's build calls the sizes of objects
_SIZES = {
    "ep": "seL4_EndpointObject",
    "notification": "seL4_NotificationObject",
    "tcb": "seL4_TCBObject",
    "rtreply": "seL4_RTReplyObject",
    "vcpu": "seL4_VCPU",
    "asid_pool": "seL4_ASID_Pool",
    "pt": "seL4_PageTableObject",
    "pd": "seL4_PageDirectoryObject",
    "pud": "seL4_AARCH64_PUD",
    "pgd": "seL4_AARCH64_PGD",
    "pdpt": "seL4_X64_PDPT",
    "pml4": "seL4_X64_PML4",
}


def memory_bits(item: SpecObject, sizes: Mapping[str, int]) -> int | None:
    """The object is made of 2 to the power of this many bytes; None: of no memory. `sizes` are those of the
    kernel's build, as powers of two."""
    match item.type:
        case "frame" | "ut":
            return item.bits
        case "cnode":
            return item.bits + sizes["seL4_Slot"]
        case "sc":
            assert isinstance(item.details, Scheduling)
            return item.details.size_bits
        case type if type in _SIZES:
            # where the kernel has one size for all levels of tables, it names that only
            return sizes.get(_SIZES[type], sizes["seL4_PageTableObject"])
    return None


def read_sizes(path: str) -> dict[str, int]:
    """The list that capDL's `object_sizes` makes of the kernel's headers."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        pairs = (line.split(": ") for line in file if ": " in line)
        return {name: int(bits) for name, bits in pairs}
