# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What is set for the parts of a system: each setting that the tool knows, read once by `camkes.resolve`.

Fields have the names of rows of `camkes.model.settings`, and values in base units: bytes, nanoseconds. None:
nothing is set, or something wrong, which was reported; then the default of a build or of a user of the field
holds. `spans` has the place of each value by the name of its row, wrong ones too. `members` are those of the
record of the runtime that rows of the table name.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from camkes.diagnostics import Span
from camkes.model.settings import (
    ACROSS_DOMAINS,
    AFFINITY,
    DATA,
    DEFAULT_PRIORITY,
    DEFAULT_STACK,
    DMA_POOL,
    DMA_POOL_CACHED,
    DMA_POOL_PADDR,
    DOMAIN,
    EP_POOL,
    NOTIFICATION_POOL,
    PASSIVE,
    TCB_POOL,
    TIMERS_PER_CLIENT,
    URGENT_FIRST,
)
from camkes.model.units import round_up

Members = tuple[tuple[str, int], ...]


class ThreadSettings(Struct, frozen=True, eq=False):
    """A thread, or all threads of an interface. `period` and `budget` are those of its scheduling context."""

    priority: int | None = None
    max_priority: int | None = None
    stack_size: int | None = None
    affinity: int | None = None
    domain: int = DOMAIN.default
    period: int | None = None
    budget: int | None = None
    data: int = DATA.default
    size_bits: int | None = None
    urgent_first: int = URGENT_FIRST.default
    members: Members = ()
    spans: Mapping[str, Span] = field(default_factory=dict)


class DeviceTreeAnswer(Struct, frozen=True):
    """What a query found in a device tree: bytes of the tree, and how many blocks of registers the device
    has."""

    size: int = 0
    registers: int = 0


class InterfaceSettings(Struct, frozen=True, eq=False):
    """An interface. `attributes` is the badge of capabilities to it, `access` some of the letters "RWX"."""

    attributes: int | None = None
    requests: int | None = None
    passive: int = PASSIVE.default
    across_domains: int = ACROSS_DOMAINS.default
    access: str = "RW"
    dtb: DeviceTreeAnswer | None = None
    thread: ThreadSettings = ThreadSettings()
    members: Members = ()
    spans: Mapping[str, Span] = field(default_factory=dict)


class UntypedPool(Struct, frozen=True):
    """`count` untypeds of 2^`bits` bytes; `name` is that of the setting."""

    name: str
    bits: int
    count: int


class InstanceSettings(Struct, frozen=True, eq=False):
    """An instance. `semaphores` are the values that its locks start with; `conditions` are for the threads of
    conditions that are not interfaces, `task_members` for the record of its task."""

    heap_size: int | None = None
    affinity: int = AFFINITY.default
    timers_per_client: int = TIMERS_PER_CLIENT.default
    dma_pool: int = DMA_POOL.default
    dma_pool_cached: int = DMA_POOL_CACHED.default
    dma_pool_paddr: int = DMA_POOL_PADDR.default
    tcb_pool: int = TCB_POOL.default
    ep_pool: int = EP_POOL.default
    notification_pool: int = NOTIFICATION_POOL.default
    tcb_pool_domains: tuple[int, ...] = ()
    allowed_smc_functions: tuple[int, ...] = ()
    untyped_pools: tuple[UntypedPool, ...] = ()
    dtb: DeviceTreeAnswer | None = None
    control: ThreadSettings = ThreadSettings()
    fault: ThreadSettings = ThreadSettings()
    interfaces: Mapping[str, InterfaceSettings] = field(default_factory=dict)
    conditions: Mapping[str, ThreadSettings] = field(default_factory=dict)
    semaphores: Mapping[str, int] = field(default_factory=dict)
    members: Members = ()
    task_members: Members = ()
    spans: Mapping[str, Span] = field(default_factory=dict)

    def interface(self, name: str) -> InterfaceSettings:
        return self.interfaces.get(name, _NOTHING)

    def thread(self, member: str) -> ThreadSettings:
        """The threads of an interface or a condition; of an empty name: the control thread."""
        if not member:
            return self.control
        return self.conditions.get(member) or self.interface(member).thread


_NOTHING = InterfaceSettings()


class ConnectionSettings(Struct, frozen=True, eq=False):
    """A connection. `buffer` has the dataports, by the instances of its two ends, that its messages are
    stored in."""

    size: int | None = None
    paddr: int | None = None
    buffer: Mapping[str, str] = field(default_factory=dict)
    spans: Mapping[str, Span] = field(default_factory=dict)


class Defaults(Struct, frozen=True, kw_only=True):
    """The values that a build gives to threads without settings."""

    priority: int = DEFAULT_PRIORITY
    stack: int = DEFAULT_STACK
    affinity: int = AFFINITY.default

    def priority_of(self, thread: ThreadSettings) -> int:
        return self.priority if thread.priority is None else thread.priority

    def stack_of(self, thread: ThreadSettings) -> int:
        """Bytes, in whole pages."""
        return round_up(self.stack if thread.stack_size is None else thread.stack_size)

    def affinity_of(self, thread: ThreadSettings) -> int:
        return self.affinity if thread.affinity is None else thread.affinity


DEFAULTS = Defaults()
