# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Static allocation: which memory each kernel object is made of, decided when the system is built.

The kernel's build tells which untyped objects its boot leaves; the loader makes the objects of a
specification out of them in the order in which it lists them, and computes nothing. An object with a physical
address has its place; all others go where they fit, the largest first, from the lowest address on.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from camkes.backends.sel4.link import LinkError
from camkes.capdl.specification import SpecObject, memory_bits, read_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: names of objects of a specification that are not of the system
_ROOT_PREFIX = "root_untyped_"
_GAP_PREFIX = "place_holder_"


class Untyped(Struct, frozen=True):
    """Memory of 2^`bits` bytes; `device`: nothing but frames of its addresses can be made of it."""

    paddr: int
    bits: int
    device: bool

    @property
    def end(self) -> int:
        return self.paddr + (1 << self.bits)


class Memory(Struct, frozen=True):
    """What the kernel leaves, by address, and the sizes of objects as powers of two, under its names."""

    untypeds: tuple[Untyped, ...]
    sizes: Mapping[str, int]

    def allocated(self, given: Iterable[SpecObject]) -> tuple[list[SpecObject], dict[str, tuple[str, ...]]]:
        """The untyped objects that all others are made of, and what each is divided into."""
        objects = [each for item in given if (each := _placed(item, self.sizes)) is not None]
        fixed = sorted(
            (each for each in objects if each.paddr is not None),
            key=lambda each: (each.paddr or 0, each.name),
        )
        _check_apart(fixed)
        free: dict[int, deque[str]] = {}
        for each in sorted((each for each in objects if each.paddr is None), key=lambda each: each.name):
            free.setdefault(each.bits, deque()).append(each.name)
        rest = deque(fixed)
        roots: list[SpecObject] = []
        children: dict[str, tuple[str, ...]] = {}
        for untyped in self.untypeds:
            made, gaps = _divide(untyped, rest, free)
            if made:
                name = f"{_ROOT_PREFIX}{untyped.paddr:#x}"
                children[name] = made
                roots += [SpecObject(name, "ut", untyped.bits, untyped.paddr), *gaps]
        if rest:
            at = rest[0].paddr
            raise LinkError(f"`{rest[0].name}` is at {at:#x}, where the kernel has no memory for components")
        if free:
            missing = sum(len(names) << bits for bits, names in free.items())
            raise LinkError(f"the machine has {_size(missing)} less memory than the system needs")
        return roots, children


class Placed(Struct, frozen=True):
    """An object that needs memory; without `paddr`, any."""

    name: str
    bits: int
    paddr: int | None = None


def read_memory(untyped: str, sizes: str) -> Memory:
    """From the lists that capDL's `untyped_gen.py` and `object_sizes` write."""
    found = []
    with open(untyped, encoding="utf-8") as file:  # noqa: PTH123
        items = re.split(r"^- ", file.read(), flags=re.MULTILINE)[1:]
    for item in items:
        device, paddr, bits = (line.split(": ")[1] for line in item.strip().splitlines())
        found.append(Untyped(int(paddr), int(bits), device == "true"))
    return Memory(tuple(sorted(found, key=lambda each: each.paddr)), read_sizes(sizes))


def _placed(item: SpecObject, sizes: Mapping[str, int]) -> Placed | None:
    """None: it is not made of memory."""
    bits = memory_bits(item, sizes)
    return None if bits is None else Placed(item.name, bits, item.paddr)


def _check_apart(fixed: list[Placed]) -> None:
    for before, after in pairwise(fixed):
        if (before.paddr or 0) + (1 << before.bits) > (after.paddr or 0):
            raise LinkError(
                f"`{before.name}` and `{after.name}` are both at {after.paddr:#x}: with static allocation, "
                "memory at an address is one object, which one connection can have"
            )


def _divide(
    untyped: Untyped, fixed: deque[Placed], free: dict[int, deque[str]]
) -> tuple[tuple[str, ...], list[SpecObject]]:
    """What an untyped object is divided into, in order, and those of it that are gaps; nothing where no
    object of the system is made of it."""
    children: list[str] = []
    gaps: dict[str, SpecObject] = {}
    used = 0  # up to the last that is not a gap

    def add(names: Iterable[str]) -> None:
        nonlocal used
        children.extend(names)
        used = len(children)

    at = untyped.paddr
    while fixed and fixed[0].paddr is not None and fixed[0].paddr < untyped.end:
        item = fixed[0]
        start = item.paddr or 0
        if start < untyped.paddr or start + (1 << item.bits) > untyped.end:
            break
        for name in _fill(at, start, {} if untyped.device else free, gaps, whole=True):
            children.append(name)
        add([fixed.popleft().name])
        at = start + (1 << item.bits)
    if not untyped.device:
        add(_fill(at, untyped.end, free, gaps, whole=False))
    kept = tuple(children[:used])
    return kept, [gaps[child] for child in kept if child in gaps]


def _fill(
    at: int, end: int, free: dict[int, deque[str]], gaps: dict[str, SpecObject], *, whole: bool
) -> Iterator[str]:
    """What comes from `at` to `end`, in order; `whole`: to the end, else as far as there are objects."""
    pending: list[str] = []
    while at < end and (whole or free):
        room = min((at & -at).bit_length() if at else end.bit_length(), (end - at).bit_length()) - 1
        fitting = max((bits for bits in free if bits <= room), default=None)
        if fitting is None:
            name = f"{_GAP_PREFIX}{at:#x}"
            gaps[name] = SpecObject(name, "ut", room, at)
            pending.append(name)
            at += 1 << room
            continue
        yield from pending
        pending.clear()
        yield free[fitting].popleft()
        if not free[fitting]:
            del free[fitting]
        at += 1 << fitting
    if whole:
        yield from pending


def _size(count: int) -> str:
    return f"{-(-count >> 20)} MiB" if count >= 1 << 20 else f"{-(-count >> 10)} KiB"
