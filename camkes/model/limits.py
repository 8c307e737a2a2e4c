# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Numbers that the C code knows, too: widths of fields, sizes, limits of the kernels.

Python takes them from here and nowhere else; tests/capdl/test_limits.py compares them with the C headers.
"""

from __future__ import annotations

from msgspec import Struct


class Word(Struct, frozen=True):
    """How many a word of a kernel can tell apart. `threads`: of a pool; `badge` is the highest."""

    bits: int
    tasks: int
    threads: int
    badge: int


#: by bits of a word: the fields of runtime/include/camkes/label.h, of which the highest number of a task's
#: stands for "no task", and badges
WORDS = {
    32: Word(32, tasks=(1 << 6) - 1, threads=1 << 8, badge=(1 << 28) - 1),
    64: Word(64, tasks=(1 << 12) - 1, threads=1 << 16, badge=(1 << 64) - 1),
}

#: the highest priority of a kernel
MAX_PRIORITY = 255
#: on every kernel: 16-bit indexes of contexts and callers, of which the highest stands for none
INDEXES = (1 << 16) - 1
#: on every kernel: the slot of a manager in the mark of a nested request
SLOTS = 1 << 16
#: of a client of the virtual time server: a word has a bit for each that has completed
TIMERS = 32
#: in trace records: no thread
NOBODY = 0xFFFF
#: calls that the host kernel records of a fault
FAULT_FRAMES = 32
#: bytes of the ring that records wait in on seL4
SEL4_TRACE_BYTES = 0x40000
#: bytes of a record of the host kernel, if nothing else is asked for
RECORD_LIMIT = 1 << 28
