# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The second step to a capability distribution: adds the contents of linked images to an unlinked
specification.

    python -c "from camkes.backends.sel4.link import main; main()" \\
        SPEC SYSTEM.cdl TABLES.c MOST SIZES.yaml SPACE=IMAGE ...

`MOST` is how many kernel objects the loader has space for, empty: as many as there are; `SIZES.yaml` is the
kernel's list of their sizes. It runs at each build after one source file changed, so that it imports next to
nothing. `allocated_link` does more.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from msgspec import Struct, field, msgpack
from msgspec.structs import replace

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
from camkes.capdl.fill import BootRecord, Fill
from camkes.capdl.loader_table import loader_table
from camkes.capdl.specification import (
    IPC_BUFFER,
    VSPACE,
    SpecCap,
    Specification,
    SpecObject,
    StartState,
    read_sizes,
)
from camkes.capdl.text import capdl_text
from camkes.model.architectures import ARCHITECTURES
from camkes.model.units import PAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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
    """`state` has no addresses yet; `caps` are what the TCB's own slots hold besides memory."""

    name: str
    index: int
    state: StartState
    caps: tuple[SpecCap, ...]


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
    #: its instances and the bytes of their heaps; of what the tool adds there are none
    instances: tuple[str, ...] = ()
    heap: int | None = None


class Unlinked(Struct, frozen=True):
    """A specification without addresses; `caps` by container, `irqs` (number, object)."""

    architecture: str
    objects: tuple[SpecObject, ...]
    caps: dict[str, tuple[SpecCap, ...]]
    spaces: tuple[UnlinkedSpace, ...]
    irqs: tuple[tuple[int, str], ...] = ()
    #: (domain, duration in the kernel's ticks)
    schedule: tuple[tuple[int, int], ...] = ()
    large_frames: bool = True
    #: for proofs: name in theories and label of each object, see `labels`; else empty
    names: dict[str, tuple[str, str]] = {}

    def write(self) -> bytes:
        return msgpack.encode(self)

    @classmethod
    def read(cls, written: bytes) -> Unlinked:
        return msgpack.decode(written, type=cls)


def symbols_of(space: UnlinkedSpace) -> set[str]:
    """The names in the image of a space that its description may need."""
    names = {BOOT_CLOCK, *(mapping.symbol for mapping in space.mappings)}
    for thread in space.threads:
        names |= {stack_symbol(thread.index), ipc_buffer_symbol(thread.index)}
    return names


def cdl_name(name: str) -> str:
    """capDL's names may have "." and "@" but neither "!" nor ":"; no name of a user has "-"."""
    return name.replace("!", "-").replace(":", "-")


class Distribution(Specification):
    """A specification with the contents of images. `made` are, of each space, its root, its frames and its
    tables with their types."""

    made: dict[str, tuple[str, list[str], list[tuple[str, str]]]] = field(default_factory=dict)

    def check(self, most: int) -> None:
        """The loader has space for `most` objects."""
        if len(self.objects) > most:
            raise LinkError(_too_many(len(self.objects), most))


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
            objects.append(frame_object(buffer))
            parts += _thread_parts(image, thread, buffer)
            objects.append(_tcb(image, thread))
            caps[thread.name] = [
                *thread.caps,
                SpecCap(VSPACE, space.root),
                SpecCap(IPC_BUFFER, buffer.name, "RW"),
            ]
        parts += [_mapped(image, mapping) for mapping in space.mappings]
        frames = []
        if BOOT_CLOCK in image.symbols:
            clock = Frame(cdl_name(f"{space.name}:boot-clock"), fill=(_BOOT_CLOCK_FILL,))
            objects.append(frame_object(clock))
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
    return Distribution(architecture, objects, caps, _interrupts(spec.irqs), spec.schedule, made=made)


def _interrupts(irqs: Iterable[tuple[int, str]]) -> dict[int, str]:
    """The objects of interrupts by their numbers."""
    found: dict[int, str] = {}
    for number, name in irqs:
        if number in found:
            both = f"`{found[number]}` and `{name}`"
            raise LinkError(f"{both} are both for interrupt {number}, which one component can handle")
        found[number] = name
    return found


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


def _tcb(image: Image, thread: UnlinkedThread) -> SpecObject:
    stack, size = _symbol(image, stack_symbol(thread.index))
    buffer, _ = _symbol(image, ipc_buffer_symbol(thread.index))
    state = replace(thread.state, buffer=buffer + GUARD, entry=image.entry, stack=stack + size - GUARD)
    return SpecObject(thread.name, "tcb", details=state)


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


def _add(memory: AddressSpace, objects: list[SpecObject], caps: dict[str, list[SpecCap]]) -> None:
    objects += [frame_object(frame) for frame in memory.frames]
    for table in memory.tables:
        objects.append(SpecObject(table.name, table.type))
        caps[table.name] = [_entry(table, slot) for slot in sorted(table.slots)]


def _entry(table: Table, slot: int) -> SpecCap:
    entry = table.slots[slot]
    if isinstance(entry, str):
        return SpecCap(slot, entry)
    return SpecCap(slot, entry.frame, entry.rights, cached=entry.cached)


def _mapped_caps(caps: tuple[MappedCap, ...], memory: AddressSpace) -> list[SpecCap]:
    places = {
        entry.frame: (table.name, slot)
        for table in memory.tables
        for slot, entry in table.slots.items()
        if isinstance(entry, FrameCap)
    }
    return [SpecCap(c.slot, c.frame, c.rights, cached=c.cached, mapping=places[c.frame]) for c in caps]


def frame_object(frame: Frame) -> SpecObject:
    return SpecObject(frame.name, "frame", frame.size.bit_length() - 1, frame.paddr, frame.fill)


def linked(specification: str, named: Sequence[str]) -> tuple[Unlinked, Distribution]:
    """What the command line names, linked."""
    files = dict(each.split("=", 1) for each in named)
    with open(specification, "rb") as file:  # noqa: PTH123
        spec = Unlinked.read(file.read())
    images = {space.name: read_image(files[space.name], symbols_of(space)) for space in spec.spaces}
    return spec, link(spec, images)


def finish(make: Callable[[], Mapping[str, str]]) -> None:
    """Write the files that are made, by name, and end the process."""
    try:
        files = make()
    except (ElfError, LinkError, OverlapError) as error:
        sys.stderr.write(f"camkes: error: {error}\n")
        sys.exit(1)
    for name, text in files.items():
        with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(text)
    os._exit(0)


def main() -> None:
    """Read what the command line names, write the distribution, and end the process."""
    specification, text, tables, most, sizes, *named = sys.argv[1:]

    def make() -> Mapping[str, str]:
        _, distribution = linked(specification, named)
        distribution.check(int(most or sys.maxsize))
        return {text: capdl_text(distribution), tables: loader_table(distribution, read_sizes(sizes))}

    finish(make)
