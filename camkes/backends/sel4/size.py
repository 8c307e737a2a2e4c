# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Counts what a build for seL4 made: every kernel object of its capability distribution, in bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from camkes.backends.sel4.build import SPEC
from camkes.backends.sel4.elf import Image, read_image
from camkes.backends.sel4.link import GUARD, Distribution, Unlinked, link, stack_symbol, symbols_of
from camkes.backends.sel4.spec import file_name
from camkes.capdl import size
from camkes.capdl.size import ComponentSize, SizeCounter, SystemSize, ThreadSize, owner_of
from camkes.capdl.specification import SpecObject, memory_bits, read_sizes
from camkes.model.units import PAGE

#: the sizes of kernel objects, in the folder of a build
SIZES = "object_sizes.yaml"

#: where the tool in a workspace is an older one
_HEAPS_UNKNOWN = "heaps apart from code and data, which this build does not tell"

_KINDS = {
    "tcb": size.TCB,
    "ep": size.ENDPOINT,
    "notification": size.NOTIFICATION,
    "cnode": size.CNODE,
    "rtreply": size.REPLY,
    "sc": size.CONTEXT,
    "frame": size.FRAME,
    **dict.fromkeys(("pt", "pd", "pdpt", "pml4", "pud", "pgd"), size.TABLE),
}


def built_size(out: Path) -> SystemSize:
    """What the images in the folder of a build take. Raises OSError, ElfError, LinkError, OverlapError."""
    spec = Unlinked.read((out / SPEC).read_bytes())
    images = {space.name: read_image(out / file_name(space.name), symbols_of(space)) for space in spec.spaces}
    sizes = read_sizes(str(next(out.rglob(SIZES))))
    return count_objects(spec, images, sizes)


def count_objects(spec: Unlinked, images: Mapping[str, Image], sizes: Mapping[str, int]) -> SystemSize:
    """What a specification takes with the `images` of its address spaces. `sizes` are those of kernel
    objects, as powers of two."""
    distribution = link(spec, images)
    stacks = {
        (space.name, thread.index): images[space.name].symbols[stack_symbol(thread.index)].size - 2 * GUARD
        for space in spec.spaces
        for thread in space.threads
    }
    counter = SizeCounter(space.name for space in spec.spaces)
    owners = _owners(spec, distribution)
    own_frames = {frame for _, frames, _ in distribution.made.values() for frame in frames}
    buffers = {f"{thread.name}-ipc-buffer" for space in spec.spaces for thread in space.threads}
    slots: dict[str, int] = {}
    for each in distribution.objects:
        bits = memory_bits(each, sizes)
        memory = 0 if bits is None or _is_device(each) else 1 << bits
        kind = _KINDS.get(each.type, size.OTHER)
        if kind != size.FRAME:
            part = size.TABLES if kind == size.TABLE else size.OBJECTS
        elif each.name in own_frames:
            part = size.CODE  # of which stacks and heaps are taken below
        else:
            part = size.BUFFERS if each.name in buffers else size.REGIONS
        counter.add(owners[each.name], kind, part, memory)
        if each.type == "cnode":
            slots[each.name] = 1 << each.bits
    for space in spec.spaces:
        own = counter.memory[space.name]
        own[size.STACKS] = sum(bytes for (name, _), bytes in stacks.items() if name == space.name)
        own[size.HEAP] = -(-(space.heap or 0) // PAGE) * PAGE
        own[size.CODE] -= own[size.STACKS] + own[size.HEAP]
    told = any(space.heap is not None for space in spec.spaces)
    return SystemSize(
        (*_components(spec, counter, stacks, slots), counter.shared()),
        (*(() if told else (_HEAPS_UNKNOWN,)), *size.NOT_OF_THE_SYSTEM),
    )


def _components(
    spec: Unlinked,
    counter: SizeCounter,
    stacks: Mapping[tuple[str, int], int],
    slots: Mapping[str, int],
) -> Iterator[ComponentSize]:
    for space in spec.spaces:
        threads = [ThreadSize(each.name, stacks[space.name, each.index]) for each in space.threads]
        yield counter.component(space.name, space.instances, threads, slots[space.cnode])


def _is_device(item: SpecObject) -> bool:
    """Whether it is at an address that is stated: of a device, or of memory that is kept for it."""
    return item.type == "frame" and item.paddr is not None


def _owners(spec: Unlinked, distribution: Distribution) -> dict[str, str]:
    """Whose each object is."""
    containers: dict[str, str] = {}
    for space in spec.spaces:
        root, frames, tables = distribution.made[space.name]
        names = [space.cnode, root, *frames, *(name for name, _ in tables)]
        names += [name for each in space.threads for name in (each.name, f"{each.name}-ipc-buffer")]
        containers |= dict.fromkeys(names, space.name)
    holders: dict[str, set[str]] = {}
    receivers: dict[str, set[str]] = {}
    for container, caps in distribution.caps.items():
        owner = containers.get(container)
        for cap in caps if owner is not None else ():
            holders.setdefault(cap.object, set()).add(owner or "")
            if "R" in cap.rights:
                receivers.setdefault(cap.object, set()).add(owner or "")
    return {
        each.name: containers.get(each.name)
        or owner_of(holders.get(each.name, set()), receivers.get(each.name, set()))
        for each in distribution.objects
    }
