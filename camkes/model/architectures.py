# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The architectures of seL4: their words, and how they map memory."""

from __future__ import annotations

from msgspec import Struct


class Architecture(Struct, frozen=True):
    """How an architecture maps memory. `levels` are (object type, bits of address below one of its
    entries), the root first; the last level maps pages of 4 KiB."""

    name: str
    capdl: str
    word_bits: int
    levels: tuple[tuple[str, int], ...]

    @property
    def large(self) -> int:
        """The size of a frame in the place of a whole structure of the last level."""
        return 1 << self.levels[-2][1]


#: by seL4's name of the architecture (`Machine.paging`)
ARCHITECTURES = {
    a.name: a
    for a in (
        Architecture("ia32", "ia32", 32, (("pd", 22), ("pt", 12))),
        Architecture("x86_64", "x86_64", 64, (("pml4", 39), ("pdpt", 30), ("pd", 21), ("pt", 12))),
        Architecture("aarch32", "arm11", 32, (("pd", 20), ("pt", 12))),
        Architecture("arm_hyp", "arm11", 32, (("pd", 21), ("pt", 12))),
        Architecture("aarch64", "aarch64", 64, (("pgd", 39), ("pud", 30), ("pd", 21), ("pt", 12))),
        # translations of a hypervisor kernel for physical addresses of 40 bits begin one level below
        Architecture("aarch64_hyp_40", "aarch64", 64, (("pud", 30), ("pd", 21), ("pt", 12))),
        Architecture("riscv32", "riscv", 32, (("pt", 22), ("pt", 12))),
        Architecture("riscv64", "riscv", 64, (("pt", 30), ("pt", 21), ("pt", 12))),
    )
}
