# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kernel objects and capabilities of a system: the contract between the tool and a kernel.

Two modules read it: `camkes.backends.sel4.spec` (the specification for seL4's loader) and
`camkes.capdl.host_table` (the table the host kernel boots from). Both kernels receive exactly this set.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, field

from camkes.capdl.details import Details, Rights
from camkes.capdl.fill import Fill
from camkes.capdl.uses import CapUse, MemoryUse
from camkes.model.units import PAGE

#: C variables in front of the memory
DMA_VARIABLE = "camkes_dma_memory"
TREE_VARIABLE = "dtb_symbol"


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
    #: of an MCS kernel: the right to configure scheduling contexts that are used on one core
    SCHED_CONTROL = "sched-control"

    # only on machines, asked for by templates of connectors and by settings
    UNTYPED = "untyped"
    INTERRUPT = "interrupt"
    IO_PORTS = "io-ports"
    IO_SPACE = "io-space"
    ASID_POOL = "asid-pool"
    VCPU = "vcpu"
    SECURE_CALL = "secure-call"
    STREAM_ID = "stream-id"
    ARM_IO_SPACE = "arm-io-space"
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
    #: REGION: what the loader copies into it
    fill: tuple[Fill, ...] = ()
    #: of a device, a scheduling context or a TCB
    details: Details | None = None


class Cap(Struct, frozen=True):
    """A capability in a slot of a CSpace; `rights` is NONE for kinds without rights."""

    slot: int
    object: str
    rights: Rights = Rights.NONE
    badge: int = 0
    #: REGION: which of its frames
    frame: int = 0
    #: REGION: the capability is the one that the space's mapping of this region was made with
    mapped: bool = False
    cached: bool = True


class Mapping(Struct, frozen=True):
    """A region behind a page-aligned variable of a component's image, from byte `offset` on."""

    use: MemoryUse
    region: str
    rights: Rights
    cached: bool = True
    offset: int = 0


#: the part of a group's interface whose thread waits for the timer of the group
ALARM = "timer"

#: behind the name of a CPI or task, that of what its overrun policy `extend` and roll-backs execute on
EXTENSION = "!extension"


class Role(Enum):
    """What a thread is there for."""

    CONTROL = "control"
    INTERFACE = "interface"  # one thread of an interface without a protocol
    WORKER = "worker"  # serves requests of a protocol CPI
    #: owns the queue of a protocol CPI or those of a group, or the priority of a task that helps
    MANAGER = "manager"
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
    #: of several threads of one interface: the context that it serves, or its number
    part: str = ""
    context: int | None = None
    task: int | None = None
    #: CSpace slot of the fault endpoint, 0: none
    fault_slot: int = 0
    #: on an MCS kernel the scheduling context that is bound to it; "": it is passive, and runs on that of its
    #: callers
    scheduling_context: str = ""


class Timer(Struct, frozen=True):
    """A TIMER object's settings: signals `notification` with `badge` at `offset + k * period` ns.
    Period 0: once, at `offset`; both 0: only when armed by its holder."""

    object: str
    notification: str
    badge: int
    offset: int
    period: int


class Interrupt(Struct, frozen=True):
    """An INTERRUPT object's settings: interrupt `number` of the kernel signals `notification` ("": the thread
    that holds it decides that later) with `badge`."""

    object: str
    number: int
    notification: str
    badge: int = 0


class RecordIds(Struct, frozen=True):
    """What records that the runtime of an address space writes into a trace may name, beside its own threads:
    the CPIs that it serves and those that it requests, the contexts and tasks of both; as the manager of a
    group its conditions and the threads (by number) that wait for them; as a scheduler the contexts that it
    gives turns; as the time manager the criticalities of the system."""

    serves: tuple[int, ...] = ()
    requests: tuple[int, ...] = ()
    contexts: tuple[int, ...] = ()
    tasks: tuple[int, ...] = ()
    conditions: tuple[int, ...] = ()
    waiters: tuple[int, ...] = ()
    turns: tuple[int, ...] = ()
    levels: tuple[int, ...] = ()


class Space(Struct, frozen=True):
    """An address space (an instance, or a group of instances) with its CSpace."""

    name: str
    instances: tuple[str, ...]
    caps: tuple[Cap, ...]
    mappings: tuple[Mapping, ...]
    threads: tuple[Thread, ...]
    #: the first of the slots that are kept for what a kernel adds, 0: it adds after all others
    kept: int = 0
    records: RecordIds = RecordIds()

    @property
    def cnode(self) -> str:
        """The name of its CNode."""
        return f"{self.name}:cnode"

    @property
    def vspace(self) -> str:
        """The name of the root of its paging structures."""
        return f"{self.name}:vspace"

    def symbol(self, use: MemoryUse) -> str:
        """The name of a variable in its image: in a group, where two instances can have the same names, the
        instance's name comes before it."""
        shared = use.instance and len(self.instances) > 1
        return f"{use.instance}.{use.variable}" if shared else use.variable


class DmaPool(Struct, frozen=True):
    """Memory of `size` bytes in frames of `page` bytes; `slots` have capabilities to them."""

    size: int
    page: int
    cached: bool
    slots: tuple[int, ...]


class PoolEntry(Struct, frozen=True):
    """An object that camkes_alloc() hands out: its type in C, its slot, its bytes and its rights."""

    type: str
    slot: int
    size: int = 0
    rights: int = 0


class Pools(Struct, frozen=True):
    """Everything that one instance asks for. `tree` is the size of its device tree in memory, 0: none, or
    another instance of its address space has it. `secure_calls`: number of a function, and slot."""

    name: str
    dma: DmaPool | None
    tree: int
    secure_calls: tuple[tuple[int, int], ...]
    entries: tuple[PoolEntry, ...]

    def variables(self) -> tuple[str, ...]:
        """The variables that memory is mapped behind."""
        return (*([DMA_VARIABLE] if self.dma else []), *([TREE_VARIABLE] if self.tree else []))


class CapabilityModel(Struct, frozen=True):
    objects: tuple[KernelObject, ...]
    spaces: tuple[Space, ...]
    timers: tuple[Timer, ...]
    #: where generated code finds what it uses; several uses may share one slot
    slots: dict[CapUse, int] = field(default_factory=dict)
    interrupts: tuple[Interrupt, ...] = ()
    pools: tuple[Pools, ...] = ()
    #: (domain, nanoseconds): each has the processor in turn; empty where no schedule is stated
    schedule: tuple[tuple[int, int], ...] = ()

    def uses(self) -> dict[str, dict[int, list[CapUse]]]:
        """What each slot is for, by space."""
        owner = {name: space.name for space in self.spaces for name in space.instances}
        found: dict[str, dict[int, list[CapUse]]] = {space.name: {} for space in self.spaces}
        for use, slot in self.slots.items():
            if use.instance in owner:
                found[owner[use.instance]].setdefault(slot, []).append(use)
        return found

    def slots_used(self) -> dict[str, int]:
        """The highest slot of each space, empty ones that are kept for reply capabilities included."""
        uses = self.uses()
        return {
            space.name: max((*uses[space.name], *(cap.slot for cap in space.caps)), default=0)
            for space in self.spaces
        }
