# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Numbers that the C code has, too: widths of fields, sizes, limits of the kernels.

Python takes them from here and nowhere else; tests/capdl/test_limits.py compares them with the C headers.
"""

from __future__ import annotations

from msgspec import Struct


class Word(Struct, frozen=True):
    """Widths in a word of a kernel: of a task's id and of `detail`, an index into a pool, in a label
    (runtime/include/camkes/label.h), and of a badge."""

    bits: int
    task_bits: int
    detail_bits: int
    badge_bits: int

    @property
    def tasks(self) -> int:
        """How many ids of tasks there are, from 0 on; the highest number of the field means no task."""
        return (1 << self.task_bits) - 1

    @property
    def threads(self) -> int:
        """How many threads a pool can have."""
        return 1 << self.detail_bits

    @property
    def badge(self) -> int:
        """The highest badge."""
        return (1 << self.badge_bits) - 1


#: by bits of a word
WORDS = {
    32: Word(32, task_bits=6, detail_bits=8, badge_bits=28),
    64: Word(64, task_bits=12, detail_bits=16, badge_bits=64),
}

#: the most ids of tasks that any kernel can tell apart
TASK_IDS = WORDS[64].tasks

#: the highest priority of a kernel
MAX_PRIORITY = 255
#: the highest number of a scheduling domain
MAX_DOMAIN = 255
#: the highest number of a core
MAX_AFFINITY = 255
#: threads of one interface
MAX_THREADS = 1 << 16
#: on every kernel: 16-bit indexes of contexts and callers, of which the highest means none
INDEXES = (1 << 16) - 1
#: of a client of the virtual time server: a word has a bit for each that has completed
TIMERS = 32
#: in trace records: no thread
NO_NUMBER = 0xFFFF
#: calls that the host kernel records of a fault
FAULT_FRAMES = 32
#: bytes of the ring that records wait in on seL4
SEL4_TRACE_BYTES = 0x400000
#: bytes of a record of the host kernel, by default
RECORD_LIMIT = 1 << 26
