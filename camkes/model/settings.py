# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Settings that the tool itself reads: one table, for the reader, the editor and the documentation."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from camkes.model.limits import MAX_AFFINITY, MAX_DOMAIN, MAX_PRIORITY, MAX_THREADS, TASK_IDS, TIMERS
from camkes.model.overrun import LEVELS, OF_CPIS, OF_TASKS, Degraded, ServerKind
from camkes.model.protocols import Protocol
from camkes.model.units import DEFAULT_UNIT, NANOSECONDS, PAGE, duration

DEFAULT_PRIORITY = 254
DEFAULT_MAX_PRIORITY = 254
DEFAULT_STACK = 16384
#: bytes, of an instance (CAmkESDefaultHeapSize)
DEFAULT_HEAP = 1 << 20
#: Nanoseconds: on seL4 no budget and no period is shorter, and a thread with less left makes no kernel call.
SHORTEST_TIME = 20_000


_UNLIMITED = (1 << 63) - 1


class Known(Struct, frozen=True):
    """A setting: `owner` is what it can be set on (thread, interface, instance, ...), `about` what it means,
    `unit` that of a value without one, `low` and `high` its range; the shortest time is in nanoseconds.

    `shared`: the name without a prefix holds for all threads. `mcs`: of scheduling contexts, which only an
    MCS kernel has. `up`: a time that is rounded up to nanoseconds, not down. `record` (instance, cpi, task,
    thread) names the struct of the runtime with a member of this name, to which generated code gives the
    value, times in nanoseconds. `form` describes values that are not numbers. `example` is a value for
    messages, where neither the default nor `low` is a good one. `own`: camkes-tool has no such setting.
    """

    name: str
    owner: str
    about: str
    low: int = 0
    high: int = _UNLIMITED
    unit: str = ""
    default: int = 0
    shared: bool = False
    mcs: bool = False
    up: bool = False
    record: str = ""
    form: str = ""
    example: str = ""
    own: bool = False

    @property
    def is_time(self) -> bool:
        """Whether its values are times: nanoseconds, once they are read."""
        return self.unit == DEFAULT_UNIT

    @property
    def limits(self) -> tuple[int, int]:
        """The lowest and the highest value, times in nanoseconds."""
        return self.low, self.high * NANOSECONDS[self.unit] if self.is_time else self.high

    @property
    def range(self) -> str:
        """Its range, in words."""
        if self.is_time:
            return " to ".join(map(duration, self.limits))
        if self.high == _UNLIMITED:
            return f"{self.low:,} or more"
        return f"{self.low:,} to {self.high:,}{f' {self.unit}' if self.unit else ''}"

    @property
    def values(self) -> str:
        """The values that it can have, in words."""
        return self.form or self.range

    @property
    def kind(self) -> str:
        """What a value of it is, in words."""
        if self.form:
            return f"a {self.form}"
        return f"a {'time' if self.is_time else 'whole number'}, {self.range}"

    @property
    def instead(self) -> str:
        """What can be written in place of a wrong value."""
        return self.example or ("10 ms" if self.is_time else str(self.default or self.low))

    @property
    def usual(self) -> str:
        """The value where none is given, in words; empty: 0, or it depends on others."""
        if self.is_time and self.default:
            return duration(self.default * NANOSECONDS[self.unit])
        return f"{self.default:,}" if self.default else ""

    def names(self, prefix: str) -> tuple[str, ...]:
        """What can set it for a thread, the first that has a value does."""
        return (self.of(prefix), self.name) if self.shared else (self.of(prefix),)

    def of(self, prefix: str) -> str:
        """Its name for a thread, an interface or a semaphore: "_priority", "IFACE_priority"."""
        return f"{prefix}{self.name}"


def _choice(words: Iterable[Enum]) -> str:
    return " or ".join(f'"{word.value}"' for word in words)


_HOUR = 3_600_000_000

#: Settings with a number. The defaults are those where a build gives no others; periods and budgets are those
#: of scheduling contexts.
PRIORITY = Known(
    "priority",
    "thread",
    "priority of the thread; of a CPI: its ceiling, which is computed, and checked if stated",
    0,
    MAX_PRIORITY,
    default=DEFAULT_PRIORITY,
    example="200",
    shared=True,
)
MAXIMUM_PRIORITY = Known(
    "max_priority",
    "thread",
    "the highest priority that the thread may give to threads",
    0,
    MAX_PRIORITY,
    default=DEFAULT_MAX_PRIORITY,
    shared=True,
)
STACK_SIZE = Known(
    "stack_size",
    "thread",
    "stack, in whole pages",
    PAGE,
    1 << 30,
    "bytes",
    DEFAULT_STACK,
    example="65536",
)
AFFINITY = Known(
    "affinity", "thread", "number of the core that the thread executes on", 0, MAX_AFFINITY, shared=True
)
DOMAIN = Known("domain", "thread", "scheduling domain of the thread", 0, MAX_DOMAIN)
OFFSET = Known(
    "offset",
    "thread",
    "first release of the task",
    0,
    _HOUR,
    DEFAULT_UNIT,
    record="task",
    shared=True,
    own=True,
)
PERIOD = Known(
    "period",
    "thread",
    "shortest time between two jobs of the task; after this time an MCS kernel refills the budget",
    1,
    _HOUR,
    DEFAULT_UNIT,
    10_000,
    record="task",
    shared=True,
    mcs=True,
)
RELEASE = Known(
    "release",
    "thread",
    "event that releases the jobs of the task, instead of a timer",
    form="string",
    shared=True,
    example='"more"',
    own=True,
)
BUDGET = Known(
    "budget",
    "thread",
    "processor time in a period, which an MCS kernel enforces",
    SHORTEST_TIME,
    _HOUR,
    DEFAULT_UNIT,
    10_000,
    shared=True,
    mcs=True,
)
REFILLS = Known(
    "refills",
    "thread",
    "replenishments that are kept of its scheduling context; computed where not given",
    2,
    1 << 16,
    own=True,
)
CRITICALITY = Known(
    "criticality",
    "thread",
    "while the system is above this criticality, the task is degraded",
    0,
    LEVELS - 1,
    own=True,
)
EXTENSION = Known(
    "extension",
    "thread",
    "processor time in each extension period, for the policy extend and for roll-backs",
    SHORTEST_TIME,
    _HOUR,
    DEFAULT_UNIT,
    own=True,
)
EXTENSION_PERIOD = Known(
    "extension_period",
    "thread",
    "after this time the extension is refilled",
    1,
    _HOUR,
    DEFAULT_UNIT,
    10_000,
    own=True,
)
DEADLINE = Known(
    "deadline",
    "thread",
    "deadline of a job, relative to its release; the period where not given",
    1,
    _HOUR,
    DEFAULT_UNIT,
    shared=True,
    own=True,
)
WCET = Known(
    "wcet",
    "thread",
    "worst-case execution time of a job or a request, without the requests it makes",
    0,
    _HOUR,
    DEFAULT_UNIT,
    shared=True,
    up=True,
    own=True,
)
#: from each criticality above the lowest on
BUDGETS = tuple(
    Known(
        f"budget_{level}",
        "thread",
        f"the budget from criticality {level} of the system on",
        SHORTEST_TIME,
        _HOUR,
        DEFAULT_UNIT,
        own=True,
    )
    for level in range(1, LEVELS)
)
WCETS = tuple(
    Known(
        f"wcet_{level}",
        "thread",
        f"the worst-case execution time from criticality {level} of the system on",
        0,
        _HOUR,
        DEFAULT_UNIT,
        up=True,
        own=True,
    )
    for level in range(1, LEVELS)
)
WEIGHT = Known(
    "weight",
    "thread",
    "share of the processor time that a fair scheduler gives to its tasks",
    1,
    1_000,
    default=1,
    own=True,
)
SLICE = Known(
    "slice",
    "thread",
    "of a fair scheduler: after this time the order of its tasks is determined anew",
    SHORTEST_TIME,
    _HOUR,
    DEFAULT_UNIT,
    1_000,
    own=True,
)
DATA = Known(
    "data",
    "thread",
    "word that names the scheduling context in timeout faults",
    0,
    (1 << 64) - 1,
    shared=True,
    mcs=True,
)
SIZE_BITS = Known(
    "size_bits",
    "thread",
    "size of the scheduling context, as a power of two",
    7,
    20,
    default=8,
    shared=True,
    mcs=True,
)
NUM_THREADS = Known(
    "num_threads",
    "interface",
    "threads that serve the interface; computed, and checked if stated",
    1,
    MAX_THREADS,
    own=True,
)
REQUESTS = Known(
    "requests",
    "interface",
    "the most calls in a job or a request; 1, or what is counted in the code, where not given",
    1,
    1_000_000,
    own=True,
)
PASSIVE = Known(
    "passive",
    "interface",
    "on an MCS kernel: 1 if the threads of the interface execute on the time of its callers",
    0,
    1,
    mcs=True,
)
ACROSS_DOMAINS = Known(
    "across_domains",
    "interface",
    "1 if tasks of other scheduling domains may request the interface, which has a protocol",
    0,
    1,
    own=True,
)
ATTRIBUTES = Known(
    "attributes",
    "interface",
    "badge of the capability to the interface; to some connectors, other text",
    0,
    (1 << 64) - 1,
)
VALUE = Known(
    "value",
    "semaphore",
    "value that the semaphore starts with; 1, of a binary one 0, where not given",
    0,
    (1 << 31) - 1,
)
REQUESTOR = Known(
    "requestor", "instance", "id of the task; assigned where it is not stated", 0, TASK_IDS - 1, own=True
)
HEAP_BYTES = Known("heap_size", "instance", "heap for malloc()", 0, 1 << 40, "bytes", example="65536")
DMA_POOL = Known("dma_pool", "instance", "memory for camkes_dma_alloc()", 0, 1 << 40, "bytes", example="4096")
DMA_POOL_CACHED = Known("dma_pool_cached", "instance", "1 if the memory for DMA is mapped with cache", 0, 1)
DMA_POOL_PADDR = Known(
    "dma_pool_paddr",
    "instance",
    "physical address of the memory for DMA; 0: any",
    0,
    (1 << 64) - 1,
)
TCB_POOL = Known("tcb_pool", "instance", "number of TCBs for camkes_alloc()")
TCB_POOL_DOMAINS = Known(
    "tcb_pool_domains",
    "instance",
    "list of the scheduling domains of these TCBs",
    0,
    MAX_DOMAIN,
    form="list of numbers",
    example="[0]",
)
EP_POOL = Known("ep_pool", "instance", "number of endpoints for camkes_alloc()")
NOTIFICATION_POOL = Known("notification_pool", "instance", "number of notifications for camkes_alloc()")
UNTYPED_POOL = Known(
    "untyped_pool",
    "instance",
    "number of untypeds for camkes_alloc(); the name has their size, a power of two: `untyped12_pool`",
)
ALLOWED_SMC_FUNCTIONS = Known(
    "allowed_smc_functions",
    "instance",
    "functions that the component may call in the secure monitor of an Arm processor",
    0,
    (1 << 64) - 1,
    form="list of numbers",
    example="[1]",
)
TIMERS_PER_CLIENT = Known(
    "timers_per_client",
    "instance",
    "of a time server: timers of each client",
    1,
    TIMERS,
    default=1,
)
SIZE = Known(
    "size",
    "connection",
    "memory of a dataport connection, in whole pages",
    1,
    1 << 40,
    "bytes",
    example="4096",
)
PADDR = Known("paddr", "connection", "physical address of the memory of the connection", 0, (1 << 64) - 1)

#: nanoseconds of a scheduling context's period, where nothing is set
DEFAULT_TIME = PERIOD.default * NANOSECONDS[PERIOD.unit]

#: Settings with a text, and with what a query found.
PRIORITY_PROTOCOL = Known(
    "priority_protocol",
    "interface",
    f"{_choice(Protocol)}; wins over the component's clause",
    form="string",
    own=True,
)
ACCESS = Known(
    "access",
    "interface",
    'what the component may do with the dataport: letters of "RWX"; "RW" where not given',
    form="string",
    example='"RW"',
)
BUFFER = Known(
    "buffer",
    "connection",
    "name of a dataport connection of the same instances, which the messages of this one are stored in",
    form="string",
    example='"memory"',
)
DTB = Known(
    "dtb",
    "interface",
    "node of the device tree that describes the device, as `dtb({...})` finds it",
    form="answer of a query",
)
HELPERS = Known(
    "helpers",
    "condition",
    "tasks that can end a wait for it, stated instead of computed",
    form="list of strings",
    example='["producer"]',
    own=True,
)
OVERRUN = Known(
    "overrun",
    "thread",
    f"what happens when the budget is used up: {_choice(OF_CPIS)} of a CPI, {_choice(OF_TASKS)} of a task",
    form="string",
    own=True,
)
SERVER = Known(
    "server", "thread", f"how the budget comes back: {_choice(ServerKind)}", form="string", own=True
)
DEGRADED = Known(
    "degraded",
    "thread",
    f"what the task does above its criticality: {_choice(Degraded)}, which has a factor",
    form="string",
    own=True,
)

#: for how long helpers execute from a wait to the signal
WITHIN = Known(
    "within",
    "condition",
    "for how long helpers execute from a wait to the signal, for the analysis",
    1,
    _HOUR,
    DEFAULT_UNIT,
    up=True,
    own=True,
)

#: whether a task ends, of all waits of others that it has to end, that of the most urgent task first
URGENT_FIRST = Known(
    "urgent_first",
    "thread",
    "true if the task ends the wait of the most urgent task first, of those that wait for it",
    0,
    1,
    own=True,
)

TABLE = {
    known.name: known
    for each in list(globals().values())
    for known in (each if isinstance(each, tuple) else (each,))
    if isinstance(known, Known)
}
