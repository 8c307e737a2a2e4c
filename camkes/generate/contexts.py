# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The contexts of templates. All values are computed here; templates only render them.

`origin` is where in the user's text a thing comes from, for a comment: "adder.camkes:12". A slot is a
number of the instance's CSpace. Names ending in `c_name` are C identifiers.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Shape(Enum):
    """How a parameter or result travels in a message."""

    SCALAR = "scalar"
    STRING = "string"
    ARRAY = "array"
    STRINGS = "strings"


class ParameterContext(Struct, frozen=True):
    """`type` is the C type of one element ("char *" for strings), `declarations` those of the prototype."""

    name: str
    direction: str  # in refin inout out
    shape: Shape
    type: str
    declarations: tuple[str, ...]

    @property
    def goes(self) -> bool:
        """Is it in the request?"""
        return self.direction != "out"

    @property
    def comes(self) -> bool:
        """Is it in the reply?"""
        return self.direction in ("out", "inout")

    @property
    def by_pointer(self) -> bool:
        """Does the prototype have a pointer to the scalar, string or array?"""
        return self.direction != "in"

    @property
    def viewed(self) -> bool:
        """Does the server look at it in place, not on the heap?"""
        return self.direction == "in" and self.shape in (Shape.STRING, Shape.ARRAY)

    @property
    def from_locals(self) -> str:
        """The argument, made of locals with the parameter's names."""
        sign = "&" if self.by_pointer else ""
        size = f"{sign}{self.name}_sz, " if self.shape in (Shape.ARRAY, Shape.STRINGS) else ""
        return f"{size}{sign}{self.name}"

    @property
    def forwarded(self) -> str:
        """The argument, made of the same parameter of another method."""
        size = f"{self.name}_sz, " if self.shape in (Shape.ARRAY, Shape.STRINGS) else ""
        return size + self.name


def _layout(parameters: tuple[ParameterContext, ...], first: str | None) -> str:
    """The layout of a message of scalars and a value of so many bytes, `first`, as C; "" if there is another
    parameter."""
    if any(p.shape is not Shape.SCALAR for p in parameters):
        return ""
    sizes = [] if first is None else [first]
    sizes += [f"sizeof({p.type})" for p in parameters]
    words = " + ".join(f"CAMKES_WORDS({size})" for size in sizes)
    return f"camkes_layout({' + '.join(sizes) or 0}, {words or 0})"


class MethodContext(Struct, frozen=True):
    """`thread` and what follows it are names for locals that no parameter has."""

    name: str
    index: int
    origin: str
    prototype: str  # without the semicolon
    declarations: str  # of the parameters
    pointers: bool
    returns: str | None  # C type
    return_shape: Shape | None
    parameters: tuple[ParameterContext, ...]
    thread: str
    error: str
    message: str
    registers: str
    storage: str
    request: str
    reply: str
    result: str
    number: str
    scratch: str
    asked: str
    answered: str

    @property
    def goes(self) -> tuple[ParameterContext, ...]:
        """The parameters in the request."""
        return tuple(p for p in self.parameters if p.goes)

    @property
    def comes(self) -> tuple[ParameterContext, ...]:
        """The parameters in the reply."""
        return tuple(p for p in self.parameters if p.comes)

    @property
    def scalars_out(self) -> tuple[ParameterContext, ...]:
        """Parameters that have the value 0 after a request without a reply; strings and arrays are NULL."""
        return tuple(p for p in self.parameters if p.direction == "out" and p.shape is Shape.SCALAR)

    def request_layout(self, index_type: str | None) -> str:
        """The layout of the request as C, "" where its size is not always the same."""
        return _layout(self.goes, None if index_type is None else f"CAMKES_METHOD_SIZE({index_type})")

    @property
    def reply_layout(self) -> str:
        """The layout of the reply, likewise."""
        varies = self.return_shape is not None and self.return_shape is not Shape.SCALAR
        return "" if varies else _layout(self.comes, self.returns and f"sizeof({self.returns})")


class ProcedureContext(Struct, frozen=True):
    """A procedure as one interface has it. `index_type`: that of a method's number where a message has one,
    None if there is one method."""

    name: str
    methods: tuple[MethodContext, ...]
    index_type: str | None


class RouteContext(Struct, frozen=True):
    context: str
    endpoint: int
    manager: int


class RpcFromContext(Struct, frozen=True):
    """A `uses` interface. Without a protocol it has an `endpoint`, with one `routes` (one a context).
    `buffer` is the dataport that messages are in, None: the message registers."""

    interface: str
    origin: str
    target: str
    procedure: ProcedureContext
    endpoint: int
    cpi: int | None
    routes: tuple[RouteContext, ...]
    buffer: str | None


class DispatchContext(Struct, frozen=True):
    """The methods that from ends of one type can call. `senders` are sender ids; empty: all others."""

    suffix: str
    procedure: ProcedureContext
    senders: tuple[int, ...]


class CpiContextContext(Struct, frozen=True):
    """A context of a CPI. `held` is the lock word while it has the lock. `worker` is a thread's C name, None
    in a pool."""

    name: str
    id: int
    held: int
    route: int
    base: int
    effective: int
    reply: int
    manager: int
    worker: str | None
    time: tuple[tuple[str, str], ...]  # members for overruns


class CallerContext(Struct, frozen=True):
    """`tasks` are the bytes of a set of bits."""

    sender_id: int
    context: int
    base: int
    bound: int
    is_task: bool
    tasks: tuple[int, ...]
    comment: str


class CpiContext(Struct, frozen=True):
    """`lock` is a C expression for its lock word, "NULL": it has none. `monitor` is that of its monitor, "":
    it is in none."""

    name: str
    id: int
    lock: str
    monitor: str
    ceiling: int
    pooled: bool
    contexts: tuple[CpiContextContext, ...]
    callers: tuple[CallerContext, ...]
    manager: int
    wake: int
    authority: int
    pool: tuple[str, ...]
    time: tuple[tuple[str, str], ...]  # members for overruns
    payers: tuple[tuple[int, int], ...]  # id of a task's context, slot of its scheduling context
    members: tuple[tuple[str, int], ...]  # of its record, from settings
    methods: tuple[str, ...]  # which records name by their index


class RpcToContext(Struct, frozen=True):
    """A `provides` interface that is connected. `senders` are sender ids with the names of from ends;
    `buffer` as for `RpcFromContext`."""

    interface: str
    origin: str
    senders: tuple[tuple[int, str], ...]
    dispatches: tuple[DispatchContext, ...]
    cpi: CpiContext | None
    buffer: str | None


class EmitContext(Struct, frozen=True):
    """`targets` are notification slots, with the queue's symbol where events are counted. With `underlying`
    a template of the connector's own has the code, in IFACE_emit_underlying()."""

    interface: str
    origin: str
    targets: tuple[tuple[int, SharedContext | None], ...]
    underlying: bool


class ConsumeContext(Struct, frozen=True):
    """`handoff` None: component code waits on the notification itself."""

    interface: str
    origin: str
    notification: int
    handoff: int | None
    queue: SharedContext | None
    helped: bool


class SharedContext(Struct, frozen=True):
    """Shared memory behind `variable`, which is `symbol` to the linker."""

    variable: str
    symbol: str
    size: int


class DataportContext(Struct, frozen=True):
    """`type` is what the pointer points to; `size` an expression for the size of it."""

    interface: str
    origin: str
    type: str
    size: str
    memory: SharedContext | None
    id: int
    optional: bool
    rendered: bool  # from a template of the connector's own


class TimerContext(Struct, frozen=True):
    """A connection to the virtual time server. `bodies`: method and what it returns."""

    interface: str
    origin: str
    notification: int
    timers: tuple[int, ...]
    bodies: tuple[tuple[MethodContext, str], ...]


class DirectContext(Struct, frozen=True):
    """A from end in the same address space as its to end: a call is a call."""

    interface: str
    origin: str
    procedure: ProcedureContext
    target: str  # C prefix of the other side's methods


class SyncContext(Struct, frozen=True):
    kind: str
    name: str
    origin: str
    slot: int
    value: int
    limit: str
    helped: bool


class UserContext(Struct, frozen=True):
    """A thread that may wait; `thread` is its C name."""

    thread: str
    manager: int


class ConditionContext(Struct, frozen=True):
    """What threads of the instance wait for with helpers."""

    interface: str
    name: str
    origin: str
    value: int
    users: tuple[UserContext, ...]


class MemberContext(Struct, frozen=True):
    """A task or a context of a CPI; `lock` is the first member of the CPI, None: it is a task. `highest`: the
    highest priority of requests of a task in a band, 0: it does not make these."""

    name: str
    comment: str
    context: int
    index: int
    lock: int | None
    base: int
    highest: int
    manager: int
    reply: int


class PathContext(Struct, frozen=True):
    """Requests of one member to another; `slot` is in the instance of the first."""

    start: int
    end: int
    slot: int


class LenderContext(Struct, frozen=True):
    """A condition of a group, `in_monitor`: a wait for it gives up a lock. `helpers` are members."""

    name: str
    id: int
    in_monitor: bool
    helpers: tuple[int, ...]


class WaiterContext(Struct, frozen=True):
    """A thread that may wait for a condition, by its index; `member` None: its priority never changes."""

    comment: str
    condition: int
    thread: int
    origin: int | None
    member: int | None
    members: int
    priority: int
    reply: int


class GroupContext(Struct, frozen=True):
    """A group whose manager is in the instance. `timer`: its slots for that, its notification and the manager
    as the thread that waits for it calls it, if waits may end at a time."""

    manager: int
    timer: tuple[int, int, int] | None
    members: tuple[MemberContext, ...]
    paths: tuple[PathContext, ...]
    conditions: tuple[LenderContext, ...]
    waiters: tuple[WaiterContext, ...]


class HelperContext(Struct, frozen=True):
    """The task of the instance, if its priority is set while it executes; `settle` is its control thread's
    slot of the group's manager, or in a band of its own, `thread` the C name of that thread."""

    name: str
    thread: str
    context: int
    route: int
    base: int
    lowest: int
    highest: int
    scheduled: bool
    manager: int
    settle: int
    authority: int


class BandContext(Struct, frozen=True):
    """The band that the instance orders: initialisers of its record, and of those of its tasks."""

    interface: str
    fields: tuple[tuple[str, str], ...]
    members: tuple[tuple[tuple[str, str], ...], ...]


class AttributeContext(Struct, frozen=True):
    """`macro` are the lines of the value, None: it has none."""

    name: str
    origin: str
    declaration: str  # "const int sizes[3]"
    macro: tuple[str, ...] | None


class StructContext(Struct, frozen=True):
    name: str
    members: tuple[str, ...]


class ThreadContext(Struct, frozen=True):
    """`fields` are initialisers of its record: (field, C expression)."""

    name: str
    c_name: str
    comment: str
    fields: tuple[tuple[str, str], ...]


class StartContext(Struct, frozen=True):
    """`inits` are CPIs that the control thread initialises, `run` whether the component has run(); `lent` are
    slots for passive threads."""

    gate: int
    ready: int
    interfaces: int
    lent: tuple[tuple[str, int], ...]
    inits: tuple[str, ...]
    run: bool


class TaskContext(Struct, frozen=True):
    """`members` of its record are from settings. `timer` 0: an event releases its jobs. `budget`
    are members of the record of its handler of overruns, if there is one, `turns` those for its scheduler at
    user level; `priorities` are those at each criticality of the system, as C, if they differ."""

    release: int
    timer: int
    members: tuple[tuple[str, int], ...]
    budget: tuple[tuple[str, str], ...]
    turns: tuple[tuple[str, int], ...]
    priorities: str


class InterfaceContext(Struct, frozen=True):
    """An interface as the header declares it."""

    kind: str
    name: str
    type: str
    origin: str
    optional: bool
    methods: tuple[MethodContext, ...]
    helped: bool
    rendered: bool  # from a template of the connector's own, which may define anything
    registers: int  # blocks of a device's registers that a device tree gives it
    suspends: bool  # on an MCS kernel tasks can be suspended there


class InstanceContext(Struct, frozen=True):
    """Everything about an instance: for its header and its glue. `headers` are rendered by others; `members`
    of its record are from settings."""

    name: str
    c_name: str
    origin: str
    component: str
    declared: str  # where the component is
    source: str  # the file of the system
    affinity: int
    members: tuple[tuple[str, int], ...]
    sets_criticality: bool
    system_includes: tuple[str, ...]  # with <> or ""
    headers: tuple[str, ...]
    structs: tuple[StructContext, ...]
    attributes: tuple[AttributeContext, ...]
    interfaces: tuple[InterfaceContext, ...]
    syncs: tuple[SyncContext, ...]
    rpc_from: tuple[RpcFromContext, ...]
    rpc_to: tuple[RpcToContext, ...]
    direct: tuple[DirectContext, ...]
    direct_to: tuple[InterfaceContext, ...]
    emits: tuple[EmitContext, ...]
    consumes: tuple[ConsumeContext, ...]
    dataports: tuple[DataportContext, ...]
    timers: tuple[TimerContext, ...]
    plain_interfaces: tuple[str, ...]  # that have threads that initialise them
    threads: tuple[ThreadContext, ...]
    #: as (C name, name), in the glue of the first instance of the address space
    space_threads: tuple[tuple[str, str], ...] | None
    task: TaskContext | None
    conditions: tuple[ConditionContext, ...]
    monitors: tuple[str, ...]  # the names of their lock words
    groups: tuple[tuple[str, GroupContext], ...]  # by what they are named after
    helper: HelperContext | None
    band: BandContext | None
    start: StartContext
    one_route: bool  # all threads that run its code make requests of the same context
    label: str | None  # of all its requests, as C, if they are all those of its task
