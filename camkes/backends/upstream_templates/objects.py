# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Allocations by templates: kernel objects, capabilities in the CSpace of a component, memory behind symbols.

Templates name what they allocate. The same name, in the same connection or instance, is the same object and
the same slot, so that both ends of a connection find each other. `Recorder.merged` is the model with
everything in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum, IntEnum, IntFlag
from typing import Any

from msgspec.structs import replace

from camkes.backends.upstream_templates.macros import PAGES, TemplateError
from camkes.capdl.details import (
    ArmInterrupt,
    Bank,
    Domain,
    InterruptLine,
    IoApicInterrupt,
    IoSpace,
    MsiInterrupt,
    PciDevice,
    Ports,
    Rights,
)
from camkes.capdl.fill import BootRecord, FileData, Fill
from camkes.capdl.model import (
    Cap,
    CapabilityModel,
    Interrupt,
    KernelObject,
    Mapping,
    ObjectKind,
    Space,
    Thread,
)
from camkes.capdl.uses import TemplateSlot
from camkes.model.units import PAGE

_TYPES = """
    UntypedObject TCBObject EndpointObject NotificationObject CapTableObject SmallPageObject
    LargePageObject HugePageObject ARM_SectionObject ARM_SuperSectionObject PageTableObject
    PageDirectoryObject X64_PDPT X64_PML4 IOPageTableObject IA32_IOPort IA32_IOSpace VCPU
    FrameObject IRQControl IRQHandler DomainControl ASID_Pool ASID_Control SchedContextObject
    SchedControl RTReplyObject ARM_IOSpace ARMSID ARMCB ARMSMC AARCH64_PGD AARCH64_PUD
"""

#: what `alloc_obj` takes, under the names of the seL4 API
ObjectType = Enum("ObjectType", [f"seL4_{name}" for name in _TYPES.split()])  # type: ignore[misc]


_RIGHTS = ("seL4_CanRead", "seL4_CanWrite", "seL4_CanGrant", "seL4_CanGrantReply")
_FLAGS = {"seL4_NoRights": 0} | {name: 1 << bit for bit, name in enumerate(_RIGHTS)} | {"seL4_AllRights": 15}

#: rights, where they are not given one by one
ObjectRights = IntFlag("ObjectRights", _FLAGS)  # type: ignore[misc]

ARMIRQMode = IntEnum("ARMIRQMode", {"seL4_ARM_IRQ_LEVEL": 0, "seL4_ARM_IRQ_EDGE": 1})


#: types of objects that are one of a kind of ours and have no settings
_PLAIN = {
    "seL4_EndpointObject": ObjectKind.ENDPOINT,
    "seL4_NotificationObject": ObjectKind.NOTIFICATION,
    "seL4_TCBObject": ObjectKind.TCB,
    "seL4_RTReplyObject": ObjectKind.REPLY,
    "seL4_ASID_Pool": ObjectKind.ASID_POOL,
    "seL4_VCPU": ObjectKind.VCPU,
    "seL4_ARMSMC": ObjectKind.SECURE_CALL,
    "seL4_ARMSID": ObjectKind.STREAM_ID,
}
_KERNEL = {
    "seL4_IRQControl": "irq_control",
    "seL4_ASID_Control": "asid_control",
    "seL4_DomainControl": "domain",
}
#: which of the sizes of frames a type is
_FRAMES = {
    "seL4_SmallPageObject": PAGE,
    "seL4_HugePageObject": 1 << 30,
    "seL4_ARM_SectionObject": 1 << 20,
    "seL4_ARM_SuperSectionObject": 1 << 24,
}

#: the interface of a component that a debugger works through, in the macros for it
GDB_DELEGATE = "delegate"

_RECORD = re.compile(r"(CDL_FrameFill_BootInfo|SEL4_BOOTINFO_HEADER)_\w+")


def fill_source(text: str) -> BootRecord | FileData:
    """What memory is filled with, as templates write it: `CDL_FrameFill_BootInfo CDL_FrameFill_BootInfo_FDT`,
    or `CDL_FrameFill_FileData "FILE"`."""
    kind, _, name = text.strip().partition(" ")
    if kind == "CDL_FrameFill_FileData":
        return FileData(name.strip().strip('"'))
    if kind == "CDL_FrameFill_BootInfo" and _RECORD.fullmatch(name.strip()):
        return BootRecord(name.strip())
    raise TemplateError(
        f"`{text}` cannot fill memory; expected `CDL_FrameFill_BootInfo RECORD`, a constant of "
        "the loader (CDL_FrameFill_BootInfo_FDT) or the kernel (SEL4_BOOTINFO_HEADER_FDT), "
        'or `CDL_FrameFill_FileData "FILE"`'
    )


def _fill(text: str) -> Fill:
    """Of a frame, as capDL writes it: `START LENGTH SOURCE OFFSET`."""
    match = re.fullmatch(r"(\d+) (\d+) (.+) (\d+)", text.strip(" {}"))
    if match is None:
        raise TemplateError(f"`{text}` cannot fill a frame; expected `START LENGTH SOURCE OFFSET`")
    return Fill(int(match[1]), int(match[2]), fill_source(match[3]), int(match[4]))


class Allocated:
    """An object as templates see it."""

    def __init__(self, name: str, frame: int = 0) -> None:
        self.name = name
        #: of a region
        self.frame = frame


class TCB(Allocated):
    """Of a thread that the component starts itself, or of one that it has."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.resume = False
        self.domain: int | None = None
        self.fault_slot = 0

    def set_fault_ep_slot(self, slot: int) -> None:
        """Its faults go to the endpoint in this slot, not to the component's fault handler."""
        self.fault_slot = slot


class AllocatedFrame(Allocated):
    def __init__(self, name: str, frame: int, size: int, paddr: int | None) -> None:
        super().__init__(name, frame)
        self.size = size
        self.paddr = paddr

    def get_size_bits(self) -> int:
        return self.size.bit_length() - 1


class Endpoint(Allocated):
    pass


class Notification(Allocated):
    pass


class CapHandle:
    """A capability; templates change it until the last of them is rendered."""

    def __init__(
        self,
        referent: Allocated,
        read: bool = False,
        write: bool = False,
        grant: bool = False,
        grantreply: bool = False,
        badge: int | None = None,
        cached: bool = True,
        rights: int | None = None,
        **_: Any,
    ) -> None:
        self.referent = referent
        self.read, self.write, self.grant, self.grantreply = read, write, grant, grantreply
        if rights is not None:
            self.read, self.write, self.grant, self.grantreply = (bool(rights >> n & 1) for n in range(4))
        self.badge = badge
        self.cached = cached
        self.mapped = False

    def set_badge(self, badge: int) -> None:
        self.badge = badge

    def set_mapping_deferred(self) -> None:
        self.mapped = True

    def add_rights(
        self, read: bool = False, write: bool = False, grant: bool = False, grantreply: bool = False, **_: Any
    ) -> None:
        self.read |= read
        self.write |= write
        self.grant |= grant
        self.grantreply |= grantreply

    def frozen(self, slot: int) -> Cap:
        memory = isinstance(self.referent, AllocatedFrame)
        rights = Rights.NONE
        for right, given in (
            (Rights.READ, self.read),
            (Rights.WRITE, self.write),
            (Rights.EXECUTE if memory else Rights.GRANT, self.grant),
            (Rights.GRANT_REPLY, self.grantreply and not memory),
        ):
            rights |= right if given else Rights.NONE
        return Cap(
            slot,
            self.referent.name,
            rights,
            self.badge or 0,
            self.referent.frame,
            self.mapped,
            self.cached,
        )


class CNode(Allocated):
    """The CSpace of an address space, with the slots that templates filled."""

    def __init__(self, space: Space, first: int) -> None:
        super().__init__(space.cnode)
        self.slots: dict[int, CapHandle | None] = {}
        #: the threads of the space
        self.threads: dict[int, CapHandle] = {}
        self.next = first
        #: of the slots that are not for templates; 0: they come last
        self.kept = 0
        #: a power of two of slots, or "auto": as many as are needed
        self.size_bits: int | str = "auto"
        self.update_guard_size_caps: list[CapHandle] = []

    def __getitem__(self, slot: int) -> CapHandle | None:
        return self.threads[slot] if slot in self.threads else self.slots[slot]

    def __iter__(self) -> Iterator[int]:
        return iter((*self.threads, *self.slots))

    def keep(self, count: int) -> None:
        """What templates take from now on comes after so many slots that they do not have."""
        if self.kept == 0:
            self.kept = self.next
            self.next += count

    def take(self, cap: CapHandle | None) -> int:
        slot = self.next
        self.next += 1
        self.slots[slot] = cap
        return slot


class CSpace:
    """What templates call `cap_space`."""

    def __init__(self, cnode: CNode) -> None:
        self.cnode = cnode

    def alloc(self, obj: Allocated | None, **rights: Any) -> int:
        return self.cnode.take(None if obj is None else CapHandle(obj, **rights))


class Recorder:
    """Everything that the templates of one system allocate."""

    def __init__(self, model: CapabilityModel, architecture: str) -> None:
        self.model = model
        self.architecture = architecture
        self.objects: dict[str, KernelObject] = {}
        self.handles: dict[str, Allocated] = {}
        self.interrupts: dict[str, Callable[[], Interrupt]] = {}
        used = model.slots_used()
        self.spaces = {s.name: CSpace(CNode(s, used[s.name] + 1)) for s in model.spaces}
        for space in model.spaces:
            threads = {thread.name: TCB(self._called(thread)) for thread in space.threads}
            self.handles |= threads
            for cap in space.caps:
                if cap.object in threads:
                    self.spaces[space.name].cnode.threads[cap.slot] = CapHandle(threads[cap.object])
        self.mappings: dict[str, list[tuple[str, Mapping]]] = {s.name: [] for s in model.spaces}
        self.owners: dict[tuple[str, int], str] = {}
        self._slots: dict[tuple[str, str, str], int] = {}
        #: memory that is in the model already: templates may ask for it by its name
        self.regions = {o.name: o for o in model.objects if o.kind is ObjectKind.REGION}
        self.vspaces = {space.name: space.vspace for space in model.spaces}

    @staticmethod
    def _called(thread: Thread) -> str:
        """The name of a thread for templates; some look for that of the thread that serves a debugger."""
        delegate = thread.interface == GDB_DELEGATE
        return f"{thread.instance}_tcb_GDB_delegate" if delegate else thread.name

    # objects

    def object(self, label: str, name: str, type: Any, **settings: Any) -> Allocated:
        """The object `name` of the connection or instance `label`."""
        full = _capdl_name(f"{label}::{name}")
        if full not in self.handles:
            self.handles[full] = self._new(full, type, settings)
        return self.handles[full]

    def _new(self, name: str, type: Any, settings: dict[str, Any]) -> Allocated:
        word = type.name if isinstance(type, ObjectType) else str(type)
        if word in _PLAIN:
            return self._plain(name, word)
        if word in _KERNEL:
            self.objects[_KERNEL[word]] = KernelObject(_KERNEL[word], ObjectKind.KERNEL)
            return Allocated(_KERNEL[word])
        if word == "seL4_FrameObject":
            return self._frame(name, int(settings.get("size", PAGE)), settings)
        if word == "seL4_LargePageObject":
            return self._frame(name, PAGES[self.architecture][1], settings)
        if word in _FRAMES:
            return self._frame(name, _FRAMES[word], settings)
        if word == "seL4_UntypedObject":
            size = 1 << int(settings.get("size_bits", 12))
            self.objects[name] = KernelObject(name, ObjectKind.UNTYPED, size, settings.get("paddr"))
        elif word == "seL4_IA32_IOPort":
            ports = Ports(_number(settings, "start_port"), _number(settings, "end_port") - 1)
            self.objects[name] = KernelObject(name, ObjectKind.IO_PORTS, details=ports)
        elif word == "seL4_IA32_IOSpace":
            device = PciDevice(*(_number(settings, key) for key in ("domainID", "bus", "dev", "fun")))
            self.objects[name] = KernelObject(name, ObjectKind.IO_SPACE, details=device)
        elif word == "seL4_ARM_IOSpace":
            space = IoSpace(_number(settings, "iospace"))
            self.objects[name] = KernelObject(name, ObjectKind.ARM_IO_SPACE, details=space)
        elif word == "seL4_ARMCB":
            number = sum(o.kind is ObjectKind.CONTEXT_BANK for o in self.objects.values())
            self.objects[name] = KernelObject(name, ObjectKind.CONTEXT_BANK, details=Bank(number))
        elif word == "seL4_IRQHandler":
            self._interrupt(name, settings)
        else:
            raise TemplateError(f"objects of type {word} cannot be allocated by a template")
        return Allocated(name)

    def _plain(self, name: str, word: str) -> Allocated:
        self.objects[name] = KernelObject(name, _PLAIN[word])
        match _PLAIN[word]:
            case ObjectKind.TCB:
                return TCB(name)
            case ObjectKind.ENDPOINT:
                return Endpoint(name)
            case ObjectKind.NOTIFICATION:
                return Notification(name)
        return Allocated(name)

    def _frame(self, name: str, size: int, settings: dict[str, Any]) -> AllocatedFrame:
        fill = tuple(_fill(text) for text in settings.get("fill") or ())
        self.objects[name] = KernelObject(name, ObjectKind.REGION, size, settings.get("paddr"), size, fill)
        return AllocatedFrame(name, 0, size, settings.get("paddr"))

    def _interrupt(self, name: str, settings: dict[str, Any]) -> None:
        line: InterruptLine | None = None
        number = settings.get("number", settings.get("vector"))
        if "trigger" in settings or "target" in settings:
            edge = settings.get("trigger") == ARMIRQMode["seL4_ARM_IRQ_EDGE"]
            line = ArmInterrupt(edge, _number({"target": 0, **settings}, "target"))
        elif "ioapic" in settings:
            keys: tuple[str, ...] = ("ioapic", "ioapic_pin", "level", "polarity")
            line = IoApicInterrupt(*(_number(settings, key) for key in keys))
        elif "handle" in settings:
            keys = ("handle", "pci_bus", "pci_dev", "pci_fun")
            line = MsiInterrupt(*(_number(settings, key) for key in keys))
        if not isinstance(number, int):
            raise TemplateError("an interrupt needs a number")
        self.objects[name] = KernelObject(name, ObjectKind.INTERRUPT, details=line)
        signalled = settings.get("notification")
        # the badge may be set later
        self.interrupts[name] = lambda: Interrupt(
            name,
            number,
            "" if signalled is None else signalled.referent.name,
            0 if signalled is None else signalled.badge or 0,
        )

    # capabilities

    def cap(self, space: str, owner: str, label: str, name: str, obj: Allocated | None, **rights: Any) -> int:
        """The slot of the capability `name` of `label`; asked for again, it may get more rights."""
        key = (space, label, name)
        if key in self._slots:
            known = self.spaces[space].cnode[self._slots[key]]
            if known is not None:
                known.add_rights(**rights)
            return self._slots[key]
        slot = self.spaces[space].alloc(obj, **rights)
        self._slots[key] = slot
        self.owners[space, slot] = owner
        return slot

    # memory

    def shared(
        self, name: str, size: int, page: int | None, paddr: int | None, fill: tuple[Fill, ...] = ()
    ) -> list[AllocatedFrame]:
        """The frames of the shared memory `name`."""
        region = _capdl_name(f"shared::{name}")
        whole = page or max((p for p in PAGES[self.architecture] if size >= p and size % p == 0), default=0)
        if whole == 0 and size > 0:
            raise TemplateError(f"shared memory must be whole pages, not {size} bytes")
        regions = self.regions if region in self.regions else self.objects
        known = regions.get(region)
        if known is None:
            known = KernelObject(region, ObjectKind.REGION, size, paddr, whole or PAGE, fill)
        elif known.size != size:
            raise TemplateError(
                f"shared memory {name} has {known.size} bytes at one end and {size} at another"
            )
        elif paddr is not None:
            known = replace(known, paddr=paddr)
        regions[region] = known
        return [
            AllocatedFrame(
                region, n, known.page, None if known.paddr is None else known.paddr + n * known.page
            )
            for n in range(-(-size // known.page))
        ]

    def map(self, space: str, instance: str, mapping: Mapping) -> None:
        self.mappings[space].append((instance, mapping))

    # the end

    def merged(self) -> CapabilityModel:
        """The model with all that was allocated."""
        spaces = []
        slots = dict(self.model.slots)
        for space in self.model.spaces:
            cnode = self.spaces[space.name].cnode
            caps = [cap.frozen(slot) for slot, cap in cnode.slots.items() if cap is not None]
            for slot, cap in cnode.slots.items():
                if cap is None:
                    owner = self.owners.get((space.name, slot), space.instances[0])
                    slots[TemplateSlot(owner, slot)] = slot
            spaces.append(
                replace(
                    space,
                    caps=(*space.caps, *caps),
                    mappings=(*space.mappings, *(mapping for _, mapping in self.mappings[space.name])),
                    threads=tuple(map(self._watched, space.threads)),
                    kept=cnode.kept,
                )
            )
        return replace(
            self.model,
            objects=(
                *map(self._sized, self.model.objects),
                *map(self._finished, self.objects.values()),
            ),
            spaces=tuple(spaces),
            slots=slots,
            interrupts=(*self.model.interrupts, *(make() for make in self.interrupts.values())),
        )

    def _watched(self, thread: Thread) -> Thread:
        """With the fault endpoint that templates gave it."""
        handle = self.handles.get(thread.name)
        return replace(thread, fault_slot=handle.fault_slot) if isinstance(handle, TCB) else thread

    def _sized(self, item: KernelObject) -> KernelObject:
        """A CNode or a region with what was asked for."""
        if item.name in self.regions:
            return self.regions[item.name]
        for cspace in self.spaces.values():
            if item.name == cspace.cnode.name and isinstance(cspace.cnode.size_bits, int):
                return replace(item, size=cspace.cnode.size_bits)
        return item

    def _finished(self, item: KernelObject) -> KernelObject:
        """With what templates set after it was allocated."""
        handle = self.handles.get(item.name)
        if isinstance(handle, TCB) and handle.domain is not None:
            return replace(item, details=Domain(int(handle.domain)))
        return item


def _number(settings: dict[str, Any], key: str) -> int:
    """A number that a template gives."""
    try:
        return int(settings[key])
    except (KeyError, TypeError, ValueError):
        raise TemplateError(f"`{key}` must be given as a whole number") from None


def _capdl_name(name: str) -> str:
    """With those characters only that a specification can have in names."""
    return re.sub(r"[^\w.@:]", "_", name)
