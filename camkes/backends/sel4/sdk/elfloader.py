# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where seL4's ELF loader begins in memory: behind what it unpacks, as in images of a workspace."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from camkes.backends.sel4.elf import ElfError, read_image
from camkes.model.units import PAGE

#: the header that says it to its sources, and the definition in that
HEADER = "image_start_addr.h"
_DEFINITION = "#define IMAGE_START_ADDR {:#x}\n"
#: a bootloader can have put it at the begin of memory, from where it must not move into itself
_OWN_CODE = 128 * 1024
#: its linker script, when it is preprocessed
SCRIPT = "linker.lds_pp"
#: members of its archive: the kernel, a device tree, the system
KERNEL, TREE, SYSTEM = "kernel.elf", "kernel.dtb", "rootserver"


def header(address: int) -> str:
    return _DEFINITION.format(address)


def start(memory: Iterable[tuple[int, int]], members: Sequence[tuple[str, Path]], archive: Path) -> int:
    """The address: in the first region of `memory` (first address, the one after the last) that has space for
    the unpacked `members` of its archive and, behind them, for the object `archive`. Raises ElfError if there
    is none."""
    size = sum(_unpacked(name, path) for name, path in members)
    for first, end in memory:
        # the device tree and what follows begin on pages, as regions do
        address = _to_page(first) + size + _OWN_CODE
        if address + os.path.getsize(archive) <= end:  # noqa: PTH202
            return address
    raise ElfError("the system does not fit into the memory of the machine, together with its unpacked copy")


def _unpacked(name: str, path: Path) -> int:
    """The memory of a member, in whole pages."""
    if name == TREE:
        return _to_page(path.stat().st_size)
    segments = read_image(path, ()).segments
    if not segments:
        raise ElfError(f"{path} has nothing that is loaded")
    first = min(each.vaddr for each in segments)
    return _to_page(max(each.vaddr + each.memory_size for each in segments) - first)


def _to_page(address: int) -> int:
    return -(-address // PAGE) * PAGE
