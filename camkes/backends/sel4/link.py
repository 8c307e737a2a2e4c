# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The second step to a capability distribution: adds the contents of linked images to an unlinked
specification.

    python -c "from camkes.backends.sel4.link import main; main()" SPEC SYSTEM.cdl MOST SPACE=IMAGE ...

`MOST` is how many kernel objects the loader has space for, empty: as many as there are. It runs at each build
after one source file changed, so that it imports next to nothing. `allocated_link` does more.
"""

from __future__ import annotations

import marshal
import os
import sys
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict

from camkes.backends.sel4.address_space import (
    AddressSpace,
    Frame,
    FrameCap,
    ImagePart,
    OverlapError,
    Table,
    map_image,
)
from camkes.backends.sel4.elf import ElfError, Image, read_image
from camkes.capdl.fill import BootRecord, FileData, Fill
from camkes.model.architectures import ARCHITECTURES
from camkes.model.units import PAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

#: pages without a frame around every stack and IPC buffer
GUARD = PAGE

#: a page of an image that the loader fills with the kernel's data about the time stamp counter
BOOT_CLOCK = "_camkes_boot_clock"
_BOOT_CLOCK_FILL = Fill(0, PAGE, BootRecord("CDL_FrameFill_BootInfo_X86_TSC_Freq"))


def stack_symbol(index: int) -> str:
    return f"_camkes_stack_{index}"


def ipc_buffer_symbol(index: int) -> str:
    return f"_camkes_ipc_buffer_{index}"


class LinkError(Exception):
    """An image does not have what its address space needs, or the loader has not what the system needs."""


class UnlinkedThread(Struct, frozen=True):
    """`fields` is what a TCB has besides its addresses; `caps` what its own slots hold besides memory."""

    name: str
    index: int
    fields: str
    caps: tuple[str, ...]


class UnlinkedMapping(Struct, frozen=True):
    symbol: str
    frames: tuple[str, ...]
    rights: str
    cached: bool
    page: int = PAGE
    offset: int = 0


class MappedCap(Struct, frozen=True):
    """A capability to a frame, with the address at which it is mapped."""

    slot: int
    frame: str
    rights: str
    cached: bool


class UnlinkedSpace(Struct, frozen=True):
    name: str
    root: str
    threads: tuple[UnlinkedThread, ...]
    mappings: tuple[UnlinkedMapping, ...]
    cnode: str = ""
    mapped: tuple[MappedCap, ...] = ()


class Unlinked(Struct, frozen=True):
    """A specification without addresses. `objects` and `caps` are lines of capDL; `caps` by container."""

    architecture: str
    objects: tuple[str, ...]
    caps: dict[str, tuple[str, ...]]
    spaces: tuple[UnlinkedSpace, ...]
    irqs: tuple[str, ...] = ()
    #: (domain, duration in the kernel's ticks)
    schedule: tuple[tuple[int, int], ...] = ()
    large_frames: bool = True
    #: for proofs: name in theories and label of each object, see `labels`; else empty
    names: dict[str, tuple[str, str]] = {}

    def write(self) -> bytes:
        return marshal.dumps(_plain(self), 2)

    @classmethod
    def read(cls, written: bytes) -> Unlinked:
        data = marshal.loads(written)
        spaces = tuple(
            UnlinkedSpace(
                s["name"],
                s["root"],
                tuple(
                    UnlinkedThread(t["name"], t["index"], t["fields"], tuple(t["caps"])) for t in s["threads"]
                ),
                tuple(UnlinkedMapping(**{**m, "frames": tuple(m["frames"])}) for m in s["mappings"]),
                s["cnode"],
                tuple(MappedCap(**m) for m in s["mapped"]),
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
            data["large_frames"],
            {name: (own, label) for name, (own, label) in data["names"].items()},
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


class Distribution(Struct):
    """A specification with the contents of images: lines of capDL. `made` are, of each space, its root, its
    frames and its tables with their types."""

    architecture: str
    objects: list[str]
    caps: dict[str, list[str]]
    irqs: list[str]
    schedule: tuple[tuple[int, int], ...]
    made: dict[str, tuple[str, list[str], list[tuple[str, str]]]]

    def text(self, most: int) -> str:
        """As capDL-tool reads it; the loader has space for `most` objects."""
        if len(self.objects) > most:
            raise LinkError(_too_many(len(self.objects), most))
        text = [f"arch {self.architecture}", "", "objects {", *sorted(self.objects), "}", "", "caps {"]
        for name in sorted(self.caps):
            text += [f"{name} {{", *self.caps[name], "}"]
        text += ["}", "", "irq maps {", *self.irqs, "}"]
        if self.schedule:
            slots = ", ".join(f"({domain}, {ticks})" for domain, ticks in self.schedule)
            text += ["", "domains {", f"schedule: [{slots}]", "domain_set_start: 0", "index_shift: 0", "}"]
        return "\n".join([*text, ""])


def link(spec: Unlinked, images: Mapping[str, Image]) -> Distribution:
    """The whole specification; `images` by address space."""
    architecture = ARCHITECTURES[spec.architecture]
    objects = list(spec.objects)
    caps = {name: list(lines) for name, lines in spec.caps.items()}
    made = {}
    for space in spec.spaces:
        image = images[space.name]
        parts = []
        for thread in space.threads:
            buffer = Frame(f"{thread.name}-ipc-buffer")
            objects.append(declare_frame(buffer))
            parts += _thread_parts(image, thread, buffer)
            objects.append(_tcb(image, thread))
            caps[thread.name] = [
                *thread.caps,
                f"vspace: {space.root}",
                f"ipc_buffer_slot: {buffer.name} (RW)",
            ]
        parts += [_mapped(image, mapping) for mapping in space.mappings]
        frames = []
        if BOOT_CLOCK in image.symbols:
            clock = Frame(cdl_name(f"{space.name}:boot-clock"), fill=(_BOOT_CLOCK_FILL,))
            objects.append(declare_frame(clock))
            frames.append(clock.name)
            parts.append(ImagePart(_symbol(image, BOOT_CLOCK)[0], (FrameCap(clock.name, "R"),)))
        memory = map_image(
            image, parts, architecture, cdl_name(space.name), space.root, large_frames=spec.large_frames
        )
        _add(memory, objects, caps)
        if space.mapped:
            caps[space.cnode] += _mapped_caps(space.mapped, memory)
        frames += [frame.name for frame in memory.frames]
        made[space.name] = space.root, frames, [(table.name, table.type) for table in memory.tables]
    return Distribution(architecture.capdl, objects, caps, list(spec.irqs), spec.schedule, made)


def _too_many(objects: int, most: int) -> str:
    """Slots: the loader keeps copies of some capabilities, and has what the kernel gave it."""
    enough = -(-objects // 10_000) * 10_000
    bits = (4 * enough).bit_length()
    return (
        f"the system has {objects:,} kernel objects, each page of memory included, and the loader has space "
        f"for {most:,}: build with -DCapDLLoaderMaxObjects={enough} -DKernelRootCNodeSizeBits={bits}"
    )


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


def _thread_parts(image: Image, thread: UnlinkedThread, buffer: Frame) -> list[ImagePart]:
    """The guards of a stack, and an IPC buffer between its guards. The stack itself is the image's own."""
    stack, size = _symbol(image, stack_symbol(thread.index))
    ipc, _ = _symbol(image, ipc_buffer_symbol(thread.index))
    return [
        ImagePart(stack, (None,)),
        ImagePart(stack + size - GUARD, (None,)),
        ImagePart(ipc, (None, FrameCap(buffer.name, "RW"), None)),
    ]


def _mapped(image: Image, mapping: UnlinkedMapping) -> ImagePart:
    start, size = _symbol(image, mapping.symbol)
    page = mapping.page
    if start % page or size < mapping.offset + len(mapping.frames) * page:
        of = "" if page == PAGE else f" of {page:#x} bytes"
        raise LinkError(f"{image.name}: {mapping.symbol!r} must be {len(mapping.frames)} whole pages{of}")
    caps = tuple(FrameCap(f, mapping.rights, mapping.cached) for f in mapping.frames)
    return ImagePart(start + mapping.offset, caps, page)


def _add(memory: AddressSpace, objects: list[str], caps: dict[str, list[str]]) -> None:
    objects += [declare_frame(frame) for frame in memory.frames]
    for table in memory.tables:
        objects.append(f"{table.name} = {table.type}")
        caps[table.name] = [f"{slot:#x}: {_entry(table, slot)}" for slot in sorted(table.slots)]


def _entry(table: Table, slot: int) -> str:
    entry = table.slots[slot]
    return entry if isinstance(entry, str) else frame_cap(entry)


def frame_cap(cap: FrameCap, place: str = "") -> str:
    words = [cap.rights, *([] if cap.cached else ["uncached"]), *([place] if place else [])]
    return f"{cap.frame} ({', '.join(words)})"


def _mapped_caps(caps: tuple[MappedCap, ...], memory: AddressSpace) -> list[str]:
    places = {
        entry.frame: f"mapping: ({table.name}, {slot})"
        for table in memory.tables
        for slot, entry in table.slots.items()
        if isinstance(entry, FrameCap)
    }
    return [f"{c.slot:#x}: {frame_cap(FrameCap(c.frame, c.rights, c.cached), places[c.frame])}" for c in caps]


def _fill(fill: Fill) -> str:
    """As capDL writes it."""
    match fill.source:
        case BootRecord(name):
            source = f"CDL_FrameFill_BootInfo {name}"
        case FileData(name):
            source = f'CDL_FrameFill_FileData "{name}"'
    return f"{fill.start} {fill.length} {source} {fill.offset}"


def declare_frame(frame: Frame) -> str:
    paddr = "" if frame.paddr is None else f", paddr: {frame.paddr:#x}"
    fill = ",".join(f"{{{_fill(f)}}}" for f in frame.fill)
    size = f"{frame.size >> 20}M" if frame.size >= 1 << 20 else f"{frame.size >> 10}k"
    return f"{frame.name} = frame ({size}{paddr}, fill: [{fill}])"


def _plain(item: Any) -> Any:
    """An object as what a file can hold."""
    if isinstance(item, Struct):
        item = asdict(item)
    if isinstance(item, dict):
        return {key: _plain(value) for key, value in item.items()}
    return [_plain(value) for value in item] if isinstance(item, tuple) else item


def linked(specification: str, named: Sequence[str]) -> tuple[Unlinked, Distribution]:
    """What the command line names, linked."""
    files = dict(each.split("=", 1) for each in named)
    with open(specification, "rb") as file:  # noqa: PTH123
        spec = Unlinked.read(file.read())
    images = {space.name: read_image(files[space.name], symbols_of(space)) for space in spec.spaces}
    return spec, link(spec, images)


def finish(make: Callable[[], str], output: str) -> None:
    """Write what is made, and end the process."""
    try:
        text = make()
    except (ElfError, LinkError, OverlapError) as error:
        sys.stderr.write(f"camkes: error: {error}\n")
        sys.exit(1)
    with open(output, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)
    os._exit(0)


def main() -> None:
    """Read what the command line names, write the distribution, and end the process."""
    specification, output, most, *named = sys.argv[1:]
    finish(lambda: linked(specification, named)[1].text(int(most or sys.maxsize)), output)
