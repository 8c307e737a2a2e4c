# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the frames and paging structures of an image amount to, read back as the processor would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.backends.sel4.address_space import (
    PAGE,
    AddressSpace,
    FrameCap,
    ImagePart,
    OverlapError,
    map_image,
)
from camkes.backends.sel4.elf import ElfSegment, Image
from camkes.capdl.fill import FileData, Fill
from camkes.model.architectures import ARCHITECTURES, Architecture

pytestmark = pytest.mark.requirement("SEL4-10")


def mapped(space: AddressSpace, architecture: Architecture) -> dict[int, FrameCap]:
    """Pages by address, found by walking from the root."""
    tables = {table.name: table for table in space.tables}
    pages: dict[int, FrameCap] = {}

    def walk(name: str, level: int, base: int) -> None:
        table = tables[name]
        assert table.type == architecture.levels[level][0]
        for slot, entry in table.slots.items():
            address = base + (slot << architecture.levels[level][1])
            if isinstance(entry, str):
                walk(entry, level + 1, address)
            else:
                pages[address] = entry

    walk(space.tables[0].name, 0, 0)
    return pages


@st.composite
def segments(draw: st.DrawFn) -> tuple[ElfSegment, ...]:
    made = []
    page = draw(st.integers(1, 600))
    offset = 0
    for _ in range(draw(st.integers(1, 4))):
        start = page * PAGE + draw(st.integers(0, PAGE - 1))
        memory = draw(st.integers(1, 5 * PAGE))
        file = draw(st.integers(0, memory))
        made.append(ElfSegment(start, memory, offset, file, draw(st.sampled_from(["R", "RW", "RX"]))))
        offset += file
        page = (start + memory - 1) // PAGE + draw(st.integers(0, 700))
    return tuple(made)


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=lambda a: a.name)
@given(made=segments())
def test_mapped_memory_equals_the_segments(architecture: Architecture, made: tuple[ElfSegment, ...]) -> None:
    image = Image("x.elf", 0, made, {})
    space = map_image(image, (), architecture, "x", "root")
    pages = mapped(space, architecture)
    frames = {frame.name: frame for frame in space.frames}
    assert len(frames) == len(space.frames) == len(pages)

    # byte by byte where the file's content goes
    content: dict[int, int] = {}
    for address, cap in pages.items():
        for fill in frames[cap.frame].fill:
            assert fill.source == FileData("x.elf")
            assert fill.start + fill.length <= PAGE
            for i in range(0, fill.length, 97):
                content[address + fill.start + i] = fill.offset + i
    for segment in made:
        first = segment.vaddr // PAGE * PAGE
        for page in range(first, segment.vaddr + segment.memory_size, PAGE):
            assert set(segment.rights) <= set(pages[page].rights)
    for at, offset in content.items():
        assert any(s.vaddr <= at < s.vaddr + s.file_size and offset == s.offset + at - s.vaddr for s in made)


def test_parts_replace_the_linkers_pages() -> None:
    image = Image("x.elf", 0, (ElfSegment(0x400000, 6 * PAGE, 0, 6 * PAGE, "RW"),), {})
    shared = FrameCap("shared", "R", False)
    parts = (ImagePart(0x401000, (None, shared)), ImagePart(0x404000, (None,)))
    pages = mapped(map_image(image, parts, ARCHITECTURES["x86_64"], "x", "root"), ARCHITECTURES["x86_64"])
    assert sorted(pages) == [0x400000, 0x402000, 0x403000, 0x405000]
    assert pages[0x402000] == shared


def test_overlapping_parts() -> None:
    image = Image("x.elf", 0, (ElfSegment(0x400000, 4 * PAGE, 0, 0, "RW"),), {})
    parts = (ImagePart(0x400000, (None, None)), ImagePart(0x401000, (None,)))
    with pytest.raises(OverlapError):
        map_image(image, parts, ARCHITECTURES["aarch64"], "x", "root")


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=lambda a: a.name)
def test_large_frames_where_pages_of_one_kind_fill_one(architecture: Architecture) -> None:
    large = architecture.large
    code = ElfSegment(PAGE, large - PAGE, 0, large - PAGE, "RX")
    data = ElfSegment(large, 3 * large, large, 2 * large + 5, "RW")
    image = Image("x.elf", 0, (code, data), {})
    guard = ImagePart(3 * large, (None,))
    space = map_image(image, (guard,), architecture, "x", "root")
    frames = {frame.name: frame for frame in space.frames}
    pages = {at: frames[cap.frame] for at, cap in mapped(space, architecture).items()}
    assert pages[large].size == pages[2 * large].size == large
    assert pages[2 * large].fill == (Fill(0, large, FileData("x.elf"), 2 * large),)
    assert {pages[at].size for at in pages if at < large or at > 3 * large} == {PAGE}
    assert 3 * large not in pages
    small = map_image(image, (guard,), architecture, "x", "root", large_frames=False)
    assert {frame.size for frame in small.frames} == {PAGE}
    assert len(small.frames) == len(space.frames) + 2 * (large // PAGE - 1)
