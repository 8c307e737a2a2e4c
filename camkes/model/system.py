# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A resolved CAmkES system: every name followed, every level of the hierarchy flattened.

Order is the order of the user's text everywhere (imports depth first), so output never depends on a
hash. Nothing here is computed: see `camkes.protocols` for what follows from it. Types and values compare by
their contents; what is in the text once (an instance, a task) is only equal to itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import force_setattr

from camkes.diagnostics import SourceFile, Span
from camkes.model.bands import Band
from camkes.model.configured import ConnectionSettings, InstanceSettings
from camkes.model.overrun import LEVELS, Degradation, OverrunPolicy, ServerKind, from_level
from camkes.model.protocols import Protocol
from camkes.model.units import DEFAULT_TICK, NANOSECONDS, TICKS

if TYPE_CHECKING:
    from typing import TypeAlias

#: What a setting or an attribute's default can be once references and expressions are gone.
Value: TypeAlias = "int | float | str | list[Value] | dict[str, Value]"

#: what C names begin with that the generated code of an instance has for the rest of its address space
INSTANCE_PREFIX = "camkes_instance_"


def in_digits(value: Value) -> str:
    """The value itself; of a long number, how long it is."""
    text = str(value)
    long = isinstance(value, int) and len(text) > 40
    return f"a number of {len(text.removeprefix('-'))} digits" if long else text


def in_words(value: Value) -> str:
    """What kind of value it is."""
    match value:
        case str():
            return "a string"
        case int():
            return "an integer"
        case float():
            return "a fraction"
        case list():
            return "a list"
        case dict():
            return "a dictionary"


class CType(Struct, frozen=True):
    """A scalar type as C knows it. `string` is `char *`; `struct` asks for the word `struct`."""

    name: str
    struct: bool = False


class Include(Struct, frozen=True):
    path: str
    system: bool


class Parameter(Struct, frozen=True):
    direction: str  # in out inout refin
    type: CType
    array: bool
    name: str


class Method(Struct, frozen=True, eq=False):
    name: str
    return_type: CType | None
    parameters: tuple[Parameter, ...]
    span: Span


class Procedure(Struct, frozen=True, eq=False):
    name: str
    methods: tuple[Method, ...]
    includes: tuple[Include, ...]
    span: Span


class DataportType(Struct, frozen=True):
    """`name` is a C type, or `Buf`; `size` is in bytes and known only for Buf (4096) and Buf(N)."""

    name: str
    size: int | None


class StructMember(Struct, frozen=True):
    name: str
    type: AttributeType
    array: bool


class StructType(Struct, frozen=True):
    """A struct of attributes. An anonymous one has the generated name that C code sees."""

    name: str
    members: tuple[StructMember, ...]


AttributeType: TypeAlias = CType | StructType


class Attribute(Struct, frozen=True):
    name: str
    type: AttributeType
    array: bool
    default: Value | None
    span: Span


class CalledMethod(Struct, frozen=True):
    """What a `requests` clause lists: a `method` of the `uses` interface `interface`, empty: any; where a
    request to the method `of` is served, empty: to any."""

    interface: str
    method: str = ""
    of: str = ""


class Interface(Struct, frozen=True, eq=False):
    """An interface of a component type.

    `kind`: uses provides emits consumes dataport. `type`: the procedure, the event's name, or the
    dataport's type. `protocol`, `requests`, `threads` are what a `with` clause of the
    component states (None: nothing stated), likewise `monitor`; the spans of these clauses are in
    `clause_spans` under "priority_protocol", "requests", "threads", "monitor", and "helpers" of a `consumes`
    interface, whose `within` is for how long helpers execute from a wait to the signal.
    """

    kind: str
    name: str
    type: Procedure | str | DataportType
    optional: bool
    span: Span
    protocol: Protocol | None = None
    requests: tuple[str, ...] | None = None
    threads: int | None = None
    monitor: str | None = None
    clause_spans: Mapping[str, Span] | None = None
    within: Setting | None = None
    #: what an `overrun` clause states
    overrun: OverrunPolicy | None = None
    #: what `requests` lists, if it names methods
    calls: tuple[CalledMethod, ...] = ()


class Sync(Struct, frozen=True, eq=False):
    kind: str  # mutex semaphore binary_semaphore condition
    name: str
    span: Span
    #: where `with helpers` is written
    helpers: Span | None = None
    within: Setting | None = None


class ComponentType(Struct, frozen=True, eq=False):
    name: str
    control: bool
    hardware: bool
    interfaces: tuple[Interface, ...]
    syncs: tuple[Sync, ...]
    attributes: tuple[Attribute, ...]
    includes: tuple[Include, ...]
    span: Span
    #: `requestor;` was written; `requestor N;` also gives the id
    requestor: bool = False
    requestor_id: int | None = None
    requestor_span: Span | None = None
    #: interfaces that are aliases of one of a part of this component (`export`); no code of its own serves
    #: them
    exported: tuple[str, ...] = ()
    #: where `criticality_control;` is written: its code may set the criticality of the system
    criticality_span: Span | None = None

    def interface(self, name: str) -> Interface | None:
        return next((i for i in self.interfaces if i.name == name), None)


class Setting(Struct, frozen=True):
    """A setting with references followed and expressions folded; `unit` is ns, us, ms or s if written."""

    value: Value
    span: Span
    unit: str | None = None


class Instance(Struct, frozen=True, eq=False):
    """`name` is dotted for a nested instance. Instances of one group share `address_space`.

    `settings` holds what configurations (and `<-`) gave this instance, as it is written; defaults of
    attributes are not among them. Of these, `configured` is what the tool itself knows.
    """

    name: str
    type: ComponentType
    address_space: str
    settings: Mapping[str, Setting]
    span: Span
    configured: InstanceSettings = InstanceSettings()

    def value(self, attribute: Attribute) -> Setting | None:
        """What C code sees of an attribute: what is set, or its default."""
        setting = self.settings.get(attribute.name)
        if setting is None and attribute.default is not None:
            return Setting(attribute.default, attribute.span)
        return setting

    def undeclared(self, name: str) -> Span | None:
        """Where a configuration sets what the component does not declare; None: it does not."""
        setting = self.settings.get(name)
        declared = setting is None or any(attribute.name == name for attribute in self.type.attributes)
        return None if declared or setting is None else setting.span


class ConnectorEnd(Struct, frozen=True):
    hardware: bool
    kind: str  # Event Procedure Dataport
    many: bool
    threads: int


class Connector(Struct, frozen=True):
    name: str
    from_end: ConnectorEnd
    to_end: ConnectorEnd
    attributes: tuple[Attribute, ...]
    span: Span


class ConnectionEnd(Struct, frozen=True):
    instance: str
    interface: str
    span: Span

    @property
    def name(self) -> str:
        return f"{self.instance}.{self.interface}"


class Connection(Struct, frozen=True, eq=False):
    """A connection after those that share an end were joined. `names` are the names as written;
    `name` is the joined one (upstream: sorted, joined by dots). `threads` is a stated `with N threads`.
    `settings` are as they are written; `configured` is what the tool itself knows of them."""

    name: str
    names: tuple[str, ...]
    connector: Connector
    from_ends: tuple[ConnectionEnd, ...]
    to_ends: tuple[ConnectionEnd, ...]
    settings: Mapping[str, Setting]
    span: Span
    threads: int | None = None
    threads_span: Span | None = None
    configured: ConnectionSettings = ConnectionSettings()


class KernelDomains(Struct, frozen=True):
    """How a kernel is configured, as far as that is stated: a tick of its timer in nanoseconds
    (KernelTimerTickMS; not of an MCS kernel), the number of its domains (KernelNumDomains). `file`: the
    schedule is that of a C file (KernelDomainSchedule), and not of the text."""

    tick: int | None = None
    count: int | None = None
    file: SourceFile | None = None

    @property
    def tick_or_default(self) -> int:
        return DEFAULT_TICK if self.tick is None else self.tick


class DomainSlot(Struct, frozen=True, eq=False):
    """An entry of the schedule of scheduling domains: `duration` in the unit that is written; ticks of the
    kernel's timer where there is none."""

    domain: int
    duration: int
    unit: str | None
    span: Span | None = None

    @property
    def in_ticks(self) -> bool:
        return self.unit in (None, TICKS)

    def length(self, tick: int) -> int:
        """In nanoseconds, as `tick` is."""
        unit = tick if self.in_ticks else NANOSECONDS[self.unit or ""]
        return self.duration * unit


class Task(Struct, frozen=True, eq=False):
    """An originating control thread (Sudvarg et al. 2024, Sect. 3.1); times in nanoseconds, None: not given.

    `period` is the minimum interarrival time, `release` the event that releases jobs, instead of a timer: the
    name of a `consumes` interface of the instance, empty for none. `deadline` is relative (None: the period),
    `offset` the first release (0 where not given), `budget` a limit an MCS kernel enforces.
    """

    instance: str
    stated_id: int | None
    priority: int | None
    period: int | None
    deadline: int | None
    wcet: int | None
    budget: int | None
    offset: int
    span: Span
    spans: Mapping[str, Span]  # "id", "priority", "period", ... where each was stated
    release: str = ""
    overrun: OverrunPolicy = OverrunPolicy.WAIT
    #: None: sporadic where an MCS kernel limits it at all
    server: ServerKind | None = None
    refills: int | None = None
    criticality: int = 0
    degraded: Degradation = Degradation()
    #: the reservation of the policy `extend`: so much in each period
    extension: int | None = None
    extension_period: int | None = None
    #: its part of the processor, among the tasks of a band
    weight: int = 1
    #: budgets and execution times stated for the criticalities 1, 2 and 3
    raised_budgets: tuple[int | None, ...] = ()
    raised_wcets: tuple[int | None, ...] = ()

    @property
    def relative_deadline(self) -> int | None:
        """From the release of a job: its period where no other is stated."""
        return self.period if self.deadline is None else self.deadline

    @property
    def budgets(self) -> tuple[int | None, ...]:
        """The budget at each criticality of the system."""
        return _levels(self.budget, self.raised_budgets)

    @property
    def wcets(self) -> tuple[int | None, ...]:
        """The worst-case execution time at each criticality of the system."""
        return _levels(self.wcet, self.raised_wcets)


def _levels(low: int | None, raised: tuple[int | None, ...]) -> tuple[int | None, ...]:
    return tuple(from_level((low, *raised), level) for level in range(LEVELS))


class MethodTimes(Struct, frozen=True):
    """The execution times of one method that are stated: at the lowest criticality of the system, and at
    those from 1 on; None, or less of them, where none is. `spans` has "wcet", "wcet_1", ..."""

    wcet: int | None = None
    raised: tuple[int | None, ...] = ()
    spans: Mapping[str, Span] = field(default_factory=dict)


class Cpi(Struct, frozen=True, eq=False):
    """A component procedure interface with a protocol: `instance.interface`.

    `monitor` is the name of the lock that it shares with others of the instance; None: it has its own.
    `requests` are names of `uses` interfaces of the same instance; None: not declared. `wcet` is the
    worst-case execution time of one request without what it calls, in nanoseconds, to any of the `methods`
    that has no time of its own in `method_times`.
    """

    instance: str
    interface: str
    protocol: Protocol
    stated_priority: int | None
    stated_threads: int | None
    requests: tuple[str, ...] | None
    wcet: int | None
    span: Span
    spans: Mapping[str, Span]  # "protocol", "priority", "threads", "requests", "wcet", "monitor"
    monitor: str | None = None
    #: what happens when the budget of a request is used up
    overrun: OverrunPolicy = OverrunPolicy.WAIT
    #: the reservation that `extend` and roll-backs execute on: so much in each period
    extension: int | None = None
    extension_period: int | None = None
    raised_wcets: tuple[int | None, ...] = ()
    #: of its procedure, and of the procedures of its callers
    methods: tuple[str, ...] = ()
    #: by method, in the order of the text
    method_times: Mapping[str, MethodTimes] = {}
    #: what `requests` lists, if it names methods
    calls: tuple[CalledMethod, ...] = ()

    @property
    def wcets(self) -> tuple[int | None, ...]:
        """The execution time of a request at each criticality of the system."""
        return _levels(self.wcet, self.raised_wcets)

    def wcet_of(self, method: str, level: int = 0) -> int | None:
        """The execution time of a request to a method at a criticality of the system. What is not stated of
        the method is that of the interface; it is never less than at a lower criticality."""
        own = self.method_times.get(method, MethodTimes())
        default = (self.wcet, *self.raised_wcets)
        found = None
        for time, other in zip_longest((own.wcet, *own.raised), default):
            if level < 0:
                break
            level -= 1
            time = other if time is None else time
            if time is not None:
                found = time if found is None else max(found, time)
        return found

    @property
    def name(self) -> str:
        return f"{self.instance}.{self.interface}"

    @property
    def lock_name(self) -> str:
        """What names its lock: "inst.monitor", or its own name."""
        return self.name if self.monitor is None else f"{self.instance}.{self.monitor}"


class Condition(Struct, frozen=True, eq=False):
    """What threads wait for `with helpers`: an event that `instance` consumes, a semaphore of it, or, also
    without helpers, a condition of a monitor.

    `kind`: event semaphore binary_semaphore condition. `helpers` are the names of the tasks that are stated
    to end such a wait; None: they are computed. `within` is for how long they execute from a wait to the
    signal, in nanoseconds. `spans` has "helpers" and "within" where they are written.
    """

    instance: str
    interface: str
    kind: str
    helpers: tuple[str, ...] | None
    span: Span
    spans: Mapping[str, Span]
    within: int | None = None

    @property
    def name(self) -> str:
        return f"{self.instance}.{self.interface}"


class System(Struct, frozen=True, eq=False):
    """A whole system. `root` is the file that was asked for; `files` all that were read. `mcs`: it is for an
    MCS kernel."""

    root: SourceFile
    files: tuple[SourceFile, ...]
    instances: tuple[Instance, ...]
    connections: tuple[Connection, ...]
    schedule: tuple[DomainSlot, ...]
    tasks: tuple[Task, ...]
    cpis: tuple[Cpi, ...]
    #: settings whose instance is neither an instance nor a connection ("inst.iface" of templates, typos)
    other_settings: Mapping[str, Mapping[str, Setting]]
    conditions: tuple[Condition, ...] = ()
    mcs: bool = False
    bands: tuple[Band, ...] = ()
    #: what is known of the kernel's domains beside the schedule
    kernel: KernelDomains = KernelDomains()
    _by_name: Mapping[str, Instance] = field(default_factory=dict)

    def __post_init__(self) -> None:
        force_setattr(self, "_by_name", {instance.name: instance for instance in self.instances})

    def instance(self, name: str) -> Instance | None:
        return self._by_name.get(name)

    @property
    def slots(self) -> tuple[tuple[int, int], ...]:
        """The schedule of scheduling domains: (domain, nanoseconds) of each slot."""
        tick = self.kernel.tick_or_default
        return tuple((slot.domain, slot.length(tick)) for slot in self.schedule)

    @property
    def types(self) -> Mapping[str, ComponentType]:
        """The types of the instances, by name."""
        return {instance.type.name: instance.type for instance in self.instances}
