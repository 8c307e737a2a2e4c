# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Rights of capabilities, and what kernel objects of a machine have besides a name and a size."""

from __future__ import annotations

from enum import Flag, auto
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from camkes.model.settings import BUDGET, DATA, PERIOD, SIZE_BITS


class Rights(Flag):
    """What a capability permits: EXECUTE with memory, GRANT and GRANT_REPLY with endpoints."""

    NONE = 0
    READ = auto()
    WRITE = auto()
    EXECUTE = auto()
    GRANT = auto()
    GRANT_REPLY = auto()

    #: to call an endpoint, and to get a reply
    CALL = WRITE | GRANT_REPLY
    RW = READ | WRITE

    def __str__(self) -> str:
        """As in capDL and in the boot table, without a sign for none."""
        return "".join(letter for letter, right in _LETTERS.items() if right in self)

    @classmethod
    def of(cls, letters: str) -> Rights:
        """The rights of letters. Raises KeyError for others."""
        found = cls.NONE
        for letter in letters:
            found |= _LETTERS[letter]
        return found


#: in the order in which they are written
_LETTERS = {
    "R": Rights.READ,
    "W": Rights.WRITE,
    "X": Rights.EXECUTE,
    "G": Rights.GRANT,
    "P": Rights.GRANT_REPLY,
}


#: of a scheduling context of seL4: what is not refills, and a refill
_CONTEXT_BYTES = 96
_REFILL_BYTES = 16


class Scheduling(Struct, frozen=True, tag=True):
    """What a scheduling context grants: `budget` microseconds in each `period`; `data` is the number
    that a timeout fault has for it. `sporadic`: what is used comes back one period later, in up to `refills`
    parts, for which an object of 2^`size_bits` bytes is large enough."""

    period: int = PERIOD.default
    budget: int = BUDGET.default
    data: int = DATA.default
    size_bits: int = SIZE_BITS.default
    sporadic: bool = False
    refills: int = 2

    def with_server(self, sporadic: bool, refills: int) -> Scheduling:
        """The same for a server, in an object that is large enough."""
        needed = (_CONTEXT_BYTES + _REFILL_BYTES * refills - 1).bit_length()
        size_bits = max(self.size_bits, needed)
        return replace(self, sporadic=sporadic, refills=refills, size_bits=size_bits)


class Domain(Struct, frozen=True, tag=True):
    """The scheduling domain of a TCB that no thread of ours has."""

    number: int


class Core(Struct, frozen=True, tag=True):
    """The core whose processor time a SCHED_CONTROL controls."""

    number: int


class Ports(Struct, frozen=True, tag=True):
    """I/O ports `first` to `last`, both included."""

    first: int
    last: int

    def overlaps(self, other: Ports) -> bool:
        return self.first <= other.last and other.first <= self.last


class PciDevice(Struct, frozen=True, tag=True):
    """A device with an address space of its own, in the domain of an IOMMU."""

    domain: int
    bus: int
    device: int
    function: int


class IoSpace(Struct, frozen=True, tag=True):
    """An address space for devices of an Arm machine, by its number at the system's MMU."""

    number: int


class Bank(Struct, frozen=True, tag=True):
    """A context bank of an SMMU."""

    number: int


class ArmInterrupt(Struct, frozen=True, tag=True):
    """An interrupt of a GIC, sent to the core `target`."""

    edge: bool = False
    target: int = 0


class IoApicInterrupt(Struct, frozen=True, tag=True):
    """A pin of an I/O APIC. `level` 1: triggered by level, `polarity` 1: active low."""

    ioapic: int
    pin: int
    level: int = 0
    polarity: int = 0


class MsiInterrupt(Struct, frozen=True, tag=True):
    """A message of a PCI device."""

    handle: int
    bus: int
    device: int
    function: int


InterruptLine: TypeAlias = ArmInterrupt | IoApicInterrupt | MsiInterrupt
Details: TypeAlias = Scheduling | Domain | Core | Ports | PciDevice | IoSpace | Bank | InterruptLine
