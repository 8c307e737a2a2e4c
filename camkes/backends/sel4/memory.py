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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: names of objects of a specification that are not of the system
_ROOT_PREFIX = "root_untyped_"
_GAP_PREFIX = "place_holder_"

_DECLARED = re.compile(r"(?P<name>\S+) = (?P<type>\w+)(?: \((?P<rest>.*)\))?$")
_ADDRESS = re.compile(r"paddr: (0x[0-9a-f]+)")
_SHIFT = {"k": 10, "M": 20, "G": 30}

#: what the kernel's build calls the sizes of objects, by capDL's word for them
_SIZES = {
    "ep": "seL4_EndpointObject",
    "notification": "seL4_NotificationObject",
    "tcb": "seL4_TCBObject",
    "rtreply": "seL4_RTReplyObject",
    "vcpu": "seL4_VCPU",
    "asid_pool": "seL4_ASID_Pool",
    "pt": "seL4_PageTableObject",
    "pd": "seL4_PageDirectoryObject",
    "pud": "seL4_AARCH64_PUD",
    "pgd": "seL4_AARCH64_PGD",
}


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

    def allocated(self, declarations: Iterable[str]) -> list[str]:
        """Declarations of the untyped objects that all others are made of."""
        objects = [each for line in declarations if (each := placed(line, self.sizes)) is not None]
        fixed = sorted(
            (each for each in objects if each.paddr is not None),
            key=lambda each: (each.paddr or 0, each.name),
        )
        _check_apart(fixed)
        free: dict[int, deque[str]] = {}
        for each in sorted((each for each in objects if each.paddr is None), key=lambda each: each.name):
            free.setdefault(each.bits, deque()).append(each.name)
        rest = deque(fixed)
        lines: list[str] = []
        for untyped in self.untypeds:
            lines += _divide(untyped, rest, free)
        if rest:
            at = rest[0].paddr
            raise LinkError(f"`{rest[0].name}` is at {at:#x}, where the kernel has no memory for components")
        if free:
            missing = sum(len(names) << bits for bits, names in free.items())
            raise LinkError(f"the machine has {_size(missing)} less memory than the system needs")
        return lines


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
    with open(sizes, encoding="utf-8") as file:  # noqa: PTH123
        pairs = (line.split(": ") for line in file if ": " in line)
        return Memory(
            tuple(sorted(found, key=lambda each: each.paddr)), {name: int(bits) for name, bits in pairs}
        )


def placed(declaration: str, sizes: Mapping[str, int]) -> Placed | None:
    """The object of a declaration; None: it is not made of memory."""
    match = _DECLARED.match(declaration)
    assert match is not None, declaration
    name, type, rest = match["name"], match["type"], match["rest"] or ""
    address = _ADDRESS.search(rest)
    paddr = None if address is None else int(address[1], 16)
    first = rest.split(",", 1)[0]
    if type == "frame":
        bits = _SHIFT[first[-1]] + int(first[:-1]).bit_length() - 1
    elif type in ("ut", "cnode"):
        bits = int(first.split()[0]) + (sizes["seL4_Slot"] if type == "cnode" else 0)
    elif type == "sc":
        bits = int(rest.split(",")[-1].split()[0])
    elif type in _SIZES:
        # where the kernel has one size for all levels of tables, it names that only
        bits = sizes.get(_SIZES[type], sizes["seL4_PageTableObject"])
    else:
        return None
    return Placed(name, bits, paddr)


def _check_apart(fixed: list[Placed]) -> None:
    for before, after in pairwise(fixed):
        if (before.paddr or 0) + (1 << before.bits) > (after.paddr or 0):
            raise LinkError(
                f"`{before.name}` and `{after.name}` are both at {after.paddr:#x}: with static allocation, "
                "memory at an address is one object, which one connection can have"
            )


def _divide(untyped: Untyped, fixed: deque[Placed], free: dict[int, deque[str]]) -> Iterator[str]:
    """The declaration of an untyped object, if one of the system's is made of it, with those of its gaps."""
    children: list[str] = []
    gaps: dict[str, str] = {}
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
    if used:
        kept = children[:used]
        name = f"{_ROOT_PREFIX}{untyped.paddr:#x}"
        yield f"{name} = ut ({untyped.bits} bits, paddr: {untyped.paddr:#x}) {{ {' '.join(kept)} }}"
        yield from (gaps[child] for child in kept if child in gaps)


def _fill(
    at: int, end: int, free: dict[int, deque[str]], gaps: dict[str, str], *, whole: bool
) -> Iterator[str]:
    """What comes from `at` to `end`, in order; `whole`: to the end, else as far as there are objects."""
    pending: list[str] = []
    while at < end and (whole or free):
        room = min((at & -at).bit_length() if at else end.bit_length(), (end - at).bit_length()) - 1
        fitting = max((bits for bits in free if bits <= room), default=None)
        if fitting is None:
            name = f"{_GAP_PREFIX}{at:#x}"
            gaps[name] = f"{name} = ut ({room} bits, paddr: {at:#x}) {{ }}"
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
