# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Static allocation: where every object is, where the kernel puts it when the loader asks for it."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, strategies

from camkes.backends.sel4.link import LinkError
from camkes.backends.sel4.memory import Memory, Untyped, placed, read_memory

SIZES = {
    "seL4_TCBObject": 10,
    "seL4_EndpointObject": 4,
    "seL4_NotificationObject": 4,
    "seL4_ASID_Pool": 12,
    "seL4_Slot": 4,
    "seL4_PageTableObject": 10,
    "seL4_PageDirectoryObject": 14,
}
RAM, DEVICES = 0x10047000, 0x02000000


def memory(*untypeds: tuple[int, int, bool]) -> Memory:
    return Memory(tuple(Untyped(*each) for each in untypeds), SIZES)


def boot(lines: list[str], objects: list[str], given: Memory) -> dict[str, tuple[int, int]]:
    """What the kernel makes when the loader works off a list: it puts each object at the next address
    that its size divides. Places of all objects, which are apart."""
    sizes = {each.name: each for line in [*objects, *lines] if (each := placed(strip(line), SIZES))}
    roots = {each.paddr: each for each in given.untypeds}
    places: dict[str, tuple[int, int]] = {}
    for line in lines:
        match = re.fullmatch(
            r"root_untyped_0x[0-9a-f]+ = ut \((\d+) bits, paddr: (0x[0-9a-f]+)\) \{ (.*) \}", line
        )
        if match is None:
            assert line.startswith("place_holder_")
            continue
        untyped = roots.pop(int(match[2], 16))
        assert untyped.bits == int(match[1])
        at = untyped.paddr
        for name in match[3].split():
            size = 1 << sizes[name].bits
            at = -(-at // size) * size
            assert name not in places, f"{name} is made twice"
            assert at + size <= untyped.end, f"{name} does not fit"
            wanted = sizes[name].paddr
            assert wanted in (None, at), f"{name} is at {at:#x}"
            assert not untyped.device or wanted is not None, f"{name} is made of a device"
            places[name] = at, size
            at += size
    return places


def strip(line: str) -> str:
    return re.sub(r" \{.*\}$", "", line)


def test_every_object_has_memory() -> None:
    objects = [
        "a = tcb (addr: 0x1000, ip: 0x0, sp: 0x0, prio: 1, max_prio: 1, affinity: 0, init: [0])",
        "a-cnode = cnode (5 bits)",
        "a-vspace = pd",
        "a-pt = pt",
        "e = ep",
        "n = notification",
        'f = frame (64k, fill: [{0 65536 CDL_FrameFill_FileData "a.elf" 0}])',
        "g = frame (4k, fill: [])",
        "uart = frame (4k, paddr: 0x2020000, fill: [])",
        "fixed = frame (1M, paddr: 0x10300000, fill: [])",
        "pool = ut (12 bits)",
        "line = arm_irq (trigger: level, target: 0)",
    ]
    given = memory((DEVICES, 20, True), (RAM, 12, False), (0x10048000, 15, False), (0x10200000, 21, False))
    places = boot(given.allocated(objects), objects, given)
    named = {name for name in places if not name.startswith("place_holder_")}
    assert named == {line.split()[0] for line in objects} - {"line"}, "an interrupt is made of no memory"
    assert places["uart"] == (0x2020000, 0x1000)
    assert places["fixed"] == (0x10300000, 0x100000)
    assert places["a-cnode"][1] == 1 << 5 + 4


bits = strategies.integers(4, 16)


@given(
    sizes=strategies.lists(bits, max_size=60), fixed=strategies.sets(strategies.integers(0, 31), max_size=5)
)
def test_any_sizes_have_places(sizes: list[int], fixed: set[int]) -> None:
    objects = [f"o{number} = ut ({size} bits)" for number, size in enumerate(sizes)]
    objects += [
        f"f{number} = frame (64k, paddr: {0x800000 + (number << 16):#x}, fill: [])" for number in fixed
    ]
    given = memory((0x47000, 12, False), (0x48000, 15, False), (0x800000, 21, False), (0xA00000, 23, False))
    places = boot(given.allocated(objects), objects, given)
    assert {name for name in places if name[0] in "of"} == {line.split()[0] for line in objects}
    spans = sorted(places.values())
    assert all(at + size <= after for (at, size), (after, _) in pairwise(spans))


def test_memory_of_a_device_only_is_for_what_is_there() -> None:
    given = memory((DEVICES, 20, True))
    with pytest.raises(LinkError, match="the machine has 1 KiB less memory than the system needs"):
        given.allocated(["a = tcb (addr: 0x0)"])


def test_an_address_without_memory() -> None:
    given = memory((RAM, 12, False))
    with pytest.raises(LinkError, match="`uart` is at 0x9000000, where the kernel has no memory"):
        given.allocated(["uart = frame (4k, paddr: 0x9000000, fill: [])"])


def test_two_objects_at_one_address() -> None:
    given = memory((DEVICES, 20, True))
    with pytest.raises(LinkError, match="`a` and `b` are both at 0x2000000"):
        given.allocated([f"{name} = frame (4k, paddr: 0x2000000, fill: [])" for name in "ba"])


def test_lists_of_the_kernels_build(tmp_path: Path) -> None:
    (tmp_path / "untyped.yaml").write_text(
        "- device: false\n  paddr: 268726272\n  size_bits: 12\n"
        "- device: true\n  paddr: 4096\n  size_bits: 5\n"
    )
    (tmp_path / "sizes.yaml").write_text("\n  \nseL4_TCBObject: 10\nseL4_Slot: 4\n")
    read = read_memory(str(tmp_path / "untyped.yaml"), str(tmp_path / "sizes.yaml"))
    assert read == Memory(
        (Untyped(4096, 5, True), Untyped(268726272, 12, False)), {"seL4_TCBObject": 10, "seL4_Slot": 4}
    )
