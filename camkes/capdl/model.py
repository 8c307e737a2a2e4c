# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kernel objects and capabilities of a system: the contract between the tool and a kernel.

Two writers read it: `camkes.backends.sel4.spec` (text for capDL-tool) and `camkes.capdl.host_table` (the
table the host kernel boots from). Both kernels receive exactly this set.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, field

from camkes.model.units import PAGE


class ObjectKind(Enum):
    ENDPOINT = "endpoint"
    NOTIFICATION = "notification"
    TCB = "tcb"
    CNODE = "cnode"
    VSPACE = "vspace"
    #: shared memory behind a dataport
    REGION = "region"
    #: a source of releases and timeouts: the host kernel's timer, a timer driver's client on seL4
    TIMER = "timer"
    #: of an MCS kernel: processor time, and the right to answer a Call
    SCHEDULING_CONTEXT = "scheduling-context"
    REPLY = "reply"

    # only on machines, asked for by templates of connectors and by settings
    UNTYPED = "untyped"
    INTERRUPT = "interrupt"
    IO_PORTS = "io-ports"
    IO_SPACE = "io-space"
    ASID_POOL = "asid-pool"
    VCPU = "vcpu"
    SECURE_CALL = "secure-call"
    STREAM_ID = "stream-id"
    CONTEXT_BANK = "context-bank"
    #: what there is one of: irq_control, asid_control, ...
    KERNEL = "kernel"


class KernelObject(Struct, frozen=True):
    """`name` is unique in the system and stable: it is made of the user's names only."""

    name: str
    kind: ObjectKind
    #: REGION: bytes; UNTYPED: bytes, a power of two; CNODE: at least 2 to the power of this many slots
    size: int = 0
    #: physical address, where one is asked for
    paddr: int | None = None
    #: REGION: bytes of each of its frames
    page: int = PAGE
    #: REGION: what the loader copies into it, in the words of capDL, without the offset
    fill: str = ""
    #: a device or a scheduling context: what capDL says of it, in its words
    parameters: tuple[str, ...] = ()


class Cap(Struct, frozen=True):
    """A capability in a slot of a CSpace. `rights` is a subset of "RWGP" (read write grant grant-reply)
    in that order, of "RWX" for memory; empty for kinds without rights."""

    slot: int
    object: str
    rights: str = ""
    badge: int = 0
    #: REGION: which of its frames
    frame: int = 0
    #: REGION: the capability is the one that the space's mapping of this region was made with
    mapped: bool = False
    cached: bool = True


class Mapping(Struct, frozen=True):
    """A region behind a page-aligned symbol of a component's image, from byte `offset` on. `rights` is a
    subset of "RWX"."""

    symbol: str
    region: str
    rights: str
    cached: bool = True
    offset: int = 0


class Role(Enum):
    """What a thread is there for."""

    CONTROL = "control"
    INTERFACE = "interface"  # one thread of an interface without a protocol
    WORKER = "worker"  # serves requests of a protocol CPI
    MANAGER = "manager"  # owns the queue of a protocol CPI
    FAULT_HANDLER = "fault"


class Thread(Struct, frozen=True):
    """A thread with its TCB object (of the same name).

    `name` is for people: "t1" (control), "lock.p@t1" (worker for context t1), "lock.p@0" (pool),
    "lock.p!manager", "echo.e" (interface). `index` is its number within its address space and the
    argument of the entry function. Priorities are 0..255; `max_priority` is the
    highest priority that may be set with this thread's capability as the authority.
    """

    name: str
    index: int
    instance: str
    role: Role
    priority: int
    max_priority: int
    stack_size: int
    affinity: int = 0
    domain: int = 0
    interface: str = ""
    context: int | None = None
    task: int | None = None
    #: CSpace slot of the fault endpoint, 0: none
    fault_slot: int = 0


class Timer(Struct, frozen=True):
    """A TIMER object's settings: signals `notification` with `badge` at `offset + k * period` ns.
    Period 0: once, at `offset`; both 0: only when armed by its holder."""

    object: str
    notification: str
    badge: int
    offset: int
    period: int


class Interrupt(Struct, frozen=True):
    """An INTERRUPT object's settings: interrupt `number` of the kernel signals `notification` ("": who holds
    it decides that later) with `badge`. `type` is capDL's word for where it comes from: irq, arm_irq,
    ioapic_irq, msi_irq."""

    object: str
    type: str
    number: int
    notification: str
    badge: int = 0


class Space(Struct, frozen=True):
    """An address space (an instance, or a group of instances) with its CSpace."""

    name: str
    instances: tuple[str, ...]
    caps: tuple[Cap, ...]
    mappings: tuple[Mapping, ...]
    threads: tuple[Thread, ...]
    #: the first of the slots that are kept for what a kernel adds, 0: it adds after all others
    kept: int = 0


class CapabilityModel(Struct, frozen=True):
    objects: tuple[KernelObject, ...]
    spaces: tuple[Space, ...]
    timers: tuple[Timer, ...]
    #: (instance, symbolic name) -> slot, the names generated code uses; see camkes.capdl.allocate
    slots: dict[tuple[str, str], int] = field(default_factory=dict)
    interrupts: tuple[Interrupt, ...] = ()

    def slots_used(self) -> dict[str, int]:
        """The highest slot of each space, empty ones that are kept for reply capabilities included."""
        owner = {name: space.name for space in self.spaces for name in space.instances}
        used = {space.name: max((cap.slot for cap in space.caps), default=0) for space in self.spaces}
        for (instance, _), slot in self.slots.items():
            space = owner.get(instance)
            if space is not None:
                used[space] = max(used[space], slot)
        return used
