# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the loader copies into memory before the system starts."""

from __future__ import annotations

from msgspec import Struct


class BootRecord(Struct, frozen=True, tag=True):
    """A record of the kernel's boot information, by the constant of C that the loader knows it by: one of
    capdl_loader (`CDL_FrameFill_BootInfo_FDT`) or the kernel's own (`SEL4_BOOTINFO_HEADER_FDT`)."""

    name: str


class FileData(Struct, frozen=True, tag=True):
    """A file in the loader's archive."""

    name: str


class Fill(Struct, frozen=True):
    """`length` bytes of `source`, from its byte `offset` on, are copied to byte `start` of memory."""

    start: int
    length: int
    source: BootRecord | FileData
    offset: int = 0

    def within(self, start: int, length: int) -> Fill | None:
        """The part that goes to these bytes, counted from the first of them; None if there is none."""
        begin = max(self.start, start)
        end = min(self.start + self.length, start + length)
        if begin >= end:
            return None
        return Fill(begin - start, end - begin, self.source, self.offset + begin - self.start)
