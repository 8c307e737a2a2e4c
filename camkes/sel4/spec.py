# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The capability distribution of a system in capDL, in two steps.

Before the components are compiled, everything but addresses is known: the *unlinked* specification.
`link` adds to it the frames, paging structures and thread addresses that linked images decide. It is
kept as JSON between the two, so that the second step needs neither the system nor the model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from camkes.capdl.address_space import (
    ARCHITECTURES,
    PAGE,
    AddressSpace,
    Frame,
    FrameCap,
    Part,
    Table,
    map_image,
)
from camkes.capdl.elf import Image
from camkes.capdl.model import Cap, KernelObject, ObjectKind, Role, Space, Thread
from camkes.records import as_dict, dataclass
from camkes.sel4.complete import TIMER_INTERRUPT, TIMER_SPACE, Completed
from camkes.sel4.image import GUARD, ipc_buffer_symbol, stack_symbol
from camkes.sel4.timer import DeviceCaps, device_caps

_TYPES = {ObjectKind.ENDPOINT: "ep", ObjectKind.NOTIFICATION: "notification"}


#: a page of an image that the loader fills with what the kernel knows of the time stamp counter
BOOT_CLOCK = "_camkes_boot_clock"
_BOOT_CLOCK_FILL = f"0 {PAGE} CDL_FrameFill_BootInfo CDL_FrameFill_BootInfo_X86_TSC_Freq 0"


class LinkError(Exception):
    """An image does not have what its address space needs."""


@dataclass(frozen=True, slots=True)
class UnlinkedThread:
    """`fields` is what a TCB has besides its addresses; `caps` what its own slots hold besides memory."""

    name: str
    index: int
    fields: str
    caps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnlinkedMapping:
    symbol: str
    frames: tuple[str, ...]
    rights: str
    cached: bool


@dataclass(frozen=True, slots=True)
class UnlinkedSpace:
    name: str
    root: str
    threads: tuple[UnlinkedThread, ...]
    mappings: tuple[UnlinkedMapping, ...]


@dataclass(frozen=True, slots=True)
class Unlinked:
    """A specification without addresses. `objects` and `caps` are lines of capDL; `caps` by container."""

    architecture: str
    objects: tuple[str, ...]
    caps: dict[str, tuple[str, ...]]
    spaces: tuple[UnlinkedSpace, ...]
    irqs: tuple[str, ...] = ()
    #: (domain, duration in the kernel's ticks)
    schedule: tuple[tuple[int, int], ...] = ()

    def write(self) -> str:
        return json.dumps(self, indent=1, default=as_dict)

    @classmethod
    def read(cls, path: Path) -> Unlinked:
        data = json.loads(path.read_text())
        spaces = tuple(
            UnlinkedSpace(
                s["name"],
                s["root"],
                tuple(
                    UnlinkedThread(t["name"], t["index"], t["fields"], tuple(t["caps"])) for t in s["threads"]
                ),
                tuple(
                    UnlinkedMapping(m["symbol"], tuple(m["frames"]), m["rights"], m["cached"])
                    for m in s["mappings"]
                ),
            )
            for s in data["spaces"]
        )
        return cls(
            data["architecture"],
            tuple(data["objects"]),
            {name: tuple(lines) for name, lines in data["caps"].items()},
            spaces,
            tuple(data["irqs"]),
            tuple((domain, ticks) for domain, ticks in data["schedule"]),
        )


def symbols_of(space: UnlinkedSpace) -> set[str]:
    """The names in the image of a space that its description may need."""
    names = {BOOT_CLOCK, *(mapping.symbol for mapping in space.mappings)}
    for thread in space.threads:
        names |= {stack_symbol(thread.index), ipc_buffer_symbol(thread.index)}
    return names


def cdl_name(name: str) -> str:
    """capDL's names may have "." and "@" but neither "!" nor ":"; no name of a user has "-"."""
    return name.replace("!", "-").replace(":", "-")


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
            objects += [_declare(f) for f in _region_frames(item)]
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


# Linking -------------------------------------------------------------------------------------------


def link(spec: Unlinked, images: Mapping[str, Image]) -> str:
    """The whole specification as capDL-tool reads it; `images` by address space."""
    architecture = ARCHITECTURES[spec.architecture]
    objects = list(spec.objects)
    caps = {name: list(lines) for name, lines in spec.caps.items()}
    for space in spec.spaces:
        image = images[space.name]
        parts = []
        for thread in space.threads:
            buffer = Frame(f"{thread.name}-ipc-buffer")
            objects.append(_declare(buffer))
            parts += _thread_parts(image, thread, buffer)
            objects.append(_tcb(image, thread))
            caps[thread.name] = [
                *thread.caps,
                f"vspace: {space.root}",
                f"ipc_buffer_slot: {buffer.name} (RW)",
            ]
        parts += [_mapped(image, mapping) for mapping in space.mappings]
        if BOOT_CLOCK in image.symbols:
            clock = Frame(cdl_name(f"{space.name}:boot-clock"), fill=(_BOOT_CLOCK_FILL,))
            objects.append(_declare(clock))
            parts.append(Part(_symbol(image, BOOT_CLOCK)[0], (FrameCap(clock.name, "R"),)))
        memory = map_image(image, parts, architecture, cdl_name(space.name), space.root)
        _add(memory, objects, caps)
    text = [f"arch {architecture.capdl}", "", "objects {", *sorted(objects), "}", "", "caps {"]
    for name in sorted(caps):
        text += [f"{name} {{", *caps[name], "}"]
    text += ["}", "", "irq maps {", *spec.irqs, "}"]
    if spec.schedule:
        slots = ", ".join(f"({domain}, {ticks})" for domain, ticks in spec.schedule)
        text += ["", "domains {", f"schedule: [{slots}]", "domain_set_start: 0", "index_shift: 0", "}"]
    return "\n".join([*text, ""])


def _symbol(image: Image, name: str) -> tuple[int, int]:
    symbol = image.symbols.get(name)
    if symbol is None:
        raise LinkError(f"{image.name} has no symbol {name!r}")
    return symbol.value, symbol.size


def _tcb(image: Image, thread: UnlinkedThread) -> str:
    stack, size = _symbol(image, stack_symbol(thread.index))
    buffer, _ = _symbol(image, ipc_buffer_symbol(thread.index))
    addresses = f"addr: {buffer + GUARD:#x}, ip: {image.entry:#x}, sp: {stack + size - GUARD:#x}"
    return f"{thread.name} = tcb ({addresses}, {thread.fields})"


def _thread_parts(image: Image, thread: UnlinkedThread, buffer: Frame) -> list[Part]:
    """The guards of a stack, and an IPC buffer between its guards. The stack itself is the image's own."""
    stack, size = _symbol(image, stack_symbol(thread.index))
    ipc, _ = _symbol(image, ipc_buffer_symbol(thread.index))
    return [
        Part(stack, (None,)),
        Part(stack + size - GUARD, (None,)),
        Part(ipc, (None, FrameCap(buffer.name, "RW"), None)),
    ]


def _mapped(image: Image, mapping: UnlinkedMapping) -> Part:
    start, size = _symbol(image, mapping.symbol)
    if start % PAGE or size < len(mapping.frames) * PAGE:
        raise LinkError(f"{image.name}: {mapping.symbol!r} must be {len(mapping.frames)} whole pages")
    return Part(start, tuple(FrameCap(f, mapping.rights, mapping.cached) for f in mapping.frames))


def _add(memory: AddressSpace, objects: list[str], caps: dict[str, list[str]]) -> None:
    objects += [_declare(frame) for frame in memory.frames]
    for table in memory.tables:
        objects.append(f"{table.name} = {table.type}")
        caps[table.name] = [f"{slot:#x}: {_entry(table, slot)}" for slot in sorted(table.slots)]


def _entry(table: Table, slot: int) -> str:
    entry = table.slots[slot]
    if isinstance(entry, str):
        return entry
    return f"{entry.frame} ({entry.rights}{'' if entry.cached else ', uncached'})"


def _declare(frame: Frame) -> str:
    paddr = "" if frame.paddr is None else f", paddr: {frame.paddr:#x}"
    fill = ",".join(f"{{{f}}}" for f in frame.fill)
    size = f"{frame.size >> 20}M" if frame.size >= 1 << 20 else f"{frame.size >> 10}k"
    return f"{frame.name} = frame ({size}{paddr}, fill: [{fill}])"
