# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Static allocation: where every object is, where the kernel puts it when the loader asks for it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, strategies

from camkes.backends.sel4.link import LinkError
from camkes.backends.sel4.memory import Memory, Untyped, read_memory
from camkes.capdl.details import ArmInterrupt
from camkes.capdl.specification import SpecObject, StartState, memory_bits

pytestmark = pytest.mark.requirement("SEL4-10")

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


def boot(objects: list[SpecObject], given: Memory) -> dict[str, tuple[int, int]]:
    """What the kernel makes when the loader works off what objects are made of: it puts each object at the
    next address that its size divides. Places of all objects, which are apart."""
    roots, children = given.allocated(objects)
    items = {item.name: item for item in (*objects, *roots)}
    untypeds = {each.paddr: each for each in given.untypeds}
    places: dict[str, tuple[int, int]] = {}
    for root, names in children.items():
        paddr = items[root].paddr
        assert paddr is not None
        untyped = untypeds.pop(paddr)
        assert untyped.bits == items[root].bits
        at = untyped.paddr
        for name in names:
            bits = memory_bits(items[name], SIZES)
            assert bits is not None
            size = 1 << bits
            at = -(-at // size) * size
            assert name not in places, f"{name} is made twice"
            assert at + size <= untyped.end, f"{name} does not fit"
            wanted = items[name].paddr
            assert wanted in (None, at), f"{name} is at {at:#x}"
            assert not untyped.device or wanted is not None, f"{name} is made of a device"
            places[name] = at, size
            at += size
    return places


def frame(name: str, bits: int, paddr: int | None = None) -> SpecObject:
    return SpecObject(name, "frame", bits, paddr)


def test_every_object_has_memory() -> None:
    objects = [
        SpecObject("a", "tcb", details=StartState(1, 1)),
        SpecObject("a-cnode", "cnode", 5),
        SpecObject("a-vspace", "pd"),
        SpecObject("a-pt", "pt"),
        SpecObject("e", "ep"),
        SpecObject("n", "notification"),
        frame("f", 16),
        frame("g", 12),
        frame("uart", 12, 0x2020000),
        frame("fixed", 20, 0x10300000),
        SpecObject("pool", "ut", 12),
        SpecObject("line", "arm_irq", details=ArmInterrupt()),
    ]
    given = memory((DEVICES, 20, True), (RAM, 12, False), (0x10048000, 15, False), (0x10200000, 21, False))
    places = boot(objects, given)
    named = {name for name in places if not name.startswith("place_holder_")}
    assert named == {item.name for item in objects} - {"line"}, "an interrupt is made of no memory"
    assert places["uart"] == (0x2020000, 0x1000)
    assert places["fixed"] == (0x10300000, 0x100000)
    assert places["a-cnode"][1] == 1 << 5 + 4


bits = strategies.integers(4, 16)


@given(
    sizes=strategies.lists(bits, max_size=60), fixed=strategies.sets(strategies.integers(0, 31), max_size=5)
)
def test_any_sizes_have_places(sizes: list[int], fixed: set[int]) -> None:
    objects = [SpecObject(f"o{number}", "ut", size) for number, size in enumerate(sizes)]
    objects += [frame(f"f{number}", 16, 0x800000 + (number << 16)) for number in fixed]
    given = memory((0x47000, 12, False), (0x48000, 15, False), (0x800000, 21, False), (0xA00000, 23, False))
    places = boot(objects, given)
    assert {name for name in places if name[0] in "of"} == {item.name for item in objects}
    spans = sorted(places.values())
    assert all(at + size <= after for (at, size), (after, _) in pairwise(spans))


def test_memory_of_a_device_only_is_for_what_is_there() -> None:
    given = memory((DEVICES, 20, True))
    with pytest.raises(LinkError, match="the machine has 1 KiB less memory than the system needs"):
        given.allocated([SpecObject("a", "tcb", details=StartState(1, 1))])


def test_an_address_without_memory() -> None:
    given = memory((RAM, 12, False))
    with pytest.raises(LinkError, match="`uart` is at 0x9000000, where the kernel has no memory"):
        given.allocated([frame("uart", 12, 0x9000000)])


def test_two_objects_at_one_address() -> None:
    given = memory((DEVICES, 20, True))
    with pytest.raises(LinkError, match="`a` and `b` are both at 0x2000000"):
        given.allocated([frame(name, 12, 0x2000000) for name in "ba"])


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
