# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The protocols that a component procedure interface (CPI) can have, and what each means: one table.

Sudvarg et al., Real-Time Systems 2024, Sect. 4. Other modules use these properties and compare no names.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Rules(Struct, frozen=True, kw_only=True):
    """How a CPI serves the requests of several tasks.

    `lock`: one request at a time. `inherits`: while others wait for the lock, its holder has the highest of
    their priorities, which the CPI's manager thread provides for. `own_priority`: one thread serves all
    requests at the ceiling, and what it requests has this priority too: the CPI is the context of these
    requests, not the task that they are for.
    """

    about: str  # for a user
    lock: bool
    inherits: bool = False
    own_priority: bool = False


class Protocol(Enum):
    """The value is the word for it in `.camkes` files."""

    PROPAGATED = "propagated"
    INHERITED = "inherited"
    FIXED = "fixed"

    @property
    def lock(self) -> bool:
        return TABLE[self].lock

    @property
    def inherits(self) -> bool:
        return TABLE[self].inherits

    @property
    def own_priority(self) -> bool:
        return TABLE[self].own_priority


TABLE = {
    Protocol.PROPAGATED: Rules(
        about="requests are served concurrently, each at its own effective priority", lock=False
    ),
    Protocol.INHERITED: Rules(
        about="one request at a time; the holder inherits the priorities of waiting requests",
        lock=True,
        inherits=True,
    ),
    Protocol.FIXED: Rules(
        about="one request at a time at the ceiling; at 255: non-preemptive", lock=True, own_priority=True
    ),
}
