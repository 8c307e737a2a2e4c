# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The frames and paging structures of a linked image.

A part of an image is a range of addresses that is not the linker's to fill: guard pages (no frame at
all), an IPC buffer (a frame that a TCB names too), memory shared with other address spaces. The rest of
each segment gets frames of its own, filled from the file as far as the file goes.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from msgspec import Struct, field

from camkes.capdl.fill import FileData, Fill
from camkes.model.architectures import Architecture
from camkes.model.units import PAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from camkes.backends.sel4.elf import ElfSegment, Image


class Frame(Struct, frozen=True):
    """Physical memory. `fill` is what the loader copies into it before the system starts."""

    name: str
    size: int = PAGE
    paddr: int | None = None
    fill: tuple[Fill, ...] = ()


class FrameCap(Struct, frozen=True):
    """A frame in a slot of a paging structure."""

    frame: str
    rights: str
    cached: bool = True


class ImagePart(Struct, frozen=True):
    """Addresses `start` .. `start + len(frames) * page` of an image with a frame for each page, or none
    for a guard page."""

    start: int
    frames: tuple[FrameCap | None, ...]
    page: int = PAGE

    @property
    def end(self) -> int:
        return self.start + len(self.frames) * self.page


class Table(Struct):
    """A paging structure with what its slots hold: the name of the next structure, or a frame."""

    name: str
    type: str
    slots: dict[int, str | FrameCap] = field(default_factory=dict)


class AddressSpace(Struct, frozen=True):
    """The root is the first table."""

    frames: tuple[Frame, ...]
    tables: tuple[Table, ...]


class OverlapError(Exception):
    """Two segments, or a segment and a part, want the same page for different things."""


def map_image(
    image: Image,
    parts: Iterable[ImagePart],
    architecture: Architecture,
    space: str,
    root: str,
    *,
    large_frames: bool = True,
) -> AddressSpace:
    """The address space `space` of a linked image; `root` is the name of its top-level structure. With
    `large_frames`, pages of one kind that fill a large frame get one."""
    builder = _TableAllocator(image.name, architecture, space, root)
    taken = sorted(parts, key=lambda part: part.start)
    for before, after in pairwise(taken):
        if before.end > after.start:
            raise OverlapError(f"{image.name}: two segments overlap at {after.start:#x}")
    for part in taken:
        for number, cap in enumerate(part.frames):
            if cap is not None:
                builder.map(part.start + number * part.page, part.page, cap)
    pages = _pages(image.segments, taken)
    for start, size in _chunks(pages, architecture.large if large_frames else PAGE):
        rights, segments = pages[start]
        builder.own(start, size, rights, segments)
    return builder.build()


def _chunks(pages: Mapping[int, tuple[str, tuple[ElfSegment, ...]]], large: int) -> Iterator[tuple[int, int]]:
    """Where the frames of an image begin, and their sizes. A large one is for one segment, so that one piece
    of the file fills it."""
    for base, group in groupby(pages, key=lambda page: page // large * large):
        found = list(group)
        if len(found) * PAGE == large and len({pages[page] for page in found}) == 1:
            yield base, large
        else:
            yield from ((page, PAGE) for page in found)


def _pages(
    segments: Sequence[ElfSegment], taken: Sequence[ImagePart]
) -> dict[int, tuple[str, tuple[ElfSegment, ...]]]:
    """The pages that segments need, with their rights and the segments in them, without those of parts."""
    pages: dict[int, tuple[str, tuple[ElfSegment, ...]]] = {}
    skip = {page for part in taken for page in range(part.start, part.end, PAGE)}
    for segment in segments:
        first = segment.vaddr // PAGE * PAGE
        for page in range(first, segment.vaddr + segment.memory_size, PAGE):
            if page in skip:
                continue
            rights, others = pages.get(page, ("", ()))
            merged = "".join(r for r in "RWX" if r in rights + segment.rights)
            pages[page] = merged, (*others, segment)
    return dict(sorted(pages.items()))


class _TableAllocator:
    def __init__(self, image: str, architecture: Architecture, space: str, root: str) -> None:
        self.image = image
        self.architecture = architecture
        self.space = space
        self.frames: list[Frame] = []
        self.root = Table(root, architecture.levels[0][0])
        #: by level and the address where the structure's range begins
        self.tables: dict[tuple[int, int], Table] = {(0, 0): self.root}

    def own(self, page: int, size: int, rights: str, segments: Iterable[ElfSegment]) -> None:
        """A frame of the image's own, filled from the segments that reach into it."""
        parts = [
            Fill(s.vaddr, s.file_size, FileData(self.image), s.offset).within(page, size) for s in segments
        ]
        fill = tuple(part for part in parts if part is not None)
        frame = Frame(f"{self.space}-{page:x}", size, fill=fill)
        self.frames.append(frame)
        self.map(page, size, FrameCap(frame.name, rights))

    def map(self, address: int, size: int, cap: FrameCap) -> None:
        """Put a frame where the walk from the root to its size ends, with the structures on the way."""
        table, level = self.root, 0
        levels = self.architecture.levels
        while size < 1 << levels[level][1]:
            slot = self._slot(address, level)
            level += 1
            base = address >> levels[level - 1][1] << levels[level - 1][1]
            child = self.tables.get((level, base))
            if child is None:
                child = Table(f"{self.space}-{levels[level][0]}{level}-{base:x}", levels[level][0])
                self.tables[level, base] = child
                if slot in table.slots:
                    raise OverlapError(f"{self.image}: there is already a large frame at {address:#x}")
                table.slots[slot] = child.name
            table = child
        slot = self._slot(address, level)
        if slot in table.slots:
            raise OverlapError(f"{self.image}: the page at {address:#x} is mapped twice")
        table.slots[slot] = cap

    def _slot(self, address: int, level: int) -> int:
        bits = self.architecture.levels[level][1]
        if level == 0:
            return address >> bits
        return (address >> bits) & ((1 << (self.architecture.levels[level - 1][1] - bits)) - 1)

    def build(self) -> AddressSpace:
        return AddressSpace(tuple(self.frames), tuple(self.tables.values()))
