# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What each component of a system takes: threads, stacks, kernel objects, memory, and what was not counted.

`planned_size` counts what is known before anything is compiled. `camkes.backends.sel4.size` counts the same
of a capability distribution, where all is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from camkes.capdl.details import Rights
from camkes.capdl.model import CapabilityModel, ObjectKind
from camkes.model.units import PAGE

#: what belongs to no component alone; no instance can have this name
SHARED = "(shared)"

# the parts of memory, in the order in which they are shown
CODE, STACKS, BUFFERS, HEAP = "code and data", "stacks", "IPC buffers", "heap"
REGIONS, TABLES, OBJECTS = "shared memory", "page tables", "kernel objects"
PARTS = (CODE, STACKS, BUFFERS, HEAP, REGIONS, TABLES, OBJECTS)

# what objects are called
TCB, ENDPOINT, NOTIFICATION, CNODE = "TCB", "endpoint", "notification", "CNode"
REPLY, CONTEXT, FRAME, TABLE = "reply object", "scheduling context", "frame", "page table"
OTHER = "other"

_KINDS = {
    ObjectKind.TCB: TCB,
    ObjectKind.ENDPOINT: ENDPOINT,
    ObjectKind.NOTIFICATION: NOTIFICATION,
    ObjectKind.CNODE: CNODE,
    ObjectKind.REPLY: REPLY,
    ObjectKind.SCHEDULING_CONTEXT: CONTEXT,
}
#: of which there are none of a component: a timer is the host kernel's, the others the kernel's own
_OF_KERNEL = (ObjectKind.TIMER, ObjectKind.KERNEL, ObjectKind.SCHED_CONTROL, ObjectKind.VSPACE)


#: why a function is not part of a bound: only the linker sees it
OUTSIDE = "code that is not compiled here"


class StackUse(Struct, frozen=True):
    """Bytes of a stack: `seen` in a run, None without one, and the most that the thread's known code uses, on
    the way through the functions `path`. `left_out` is what the bound is without, in words; `bound` is None
    if the code could not be read."""

    seen: int | None
    bound: int | None
    path: tuple[str, ...]
    left_out: tuple[str, ...]


class ThreadSize(Struct, frozen=True):
    """A thread, and the bytes of its stack; `use` if that was measured."""

    name: str
    stack: int
    use: StackUse | UnsetType = UNSET


class ObjectCount(Struct, frozen=True):
    """How many objects of a kind there are."""

    kind: str
    count: int


class MemoryPart(Struct, frozen=True):
    """Bytes that are used for something."""

    part: str
    bytes: int


class ComponentSize(Struct, frozen=True):
    """What an address space takes: an instance, or a group of `instances`; none for what the tool adds and
    for what is shared. `slots` are those of its CNode; before a build, those that are used."""

    name: str
    instances: tuple[str, ...]
    threads: tuple[ThreadSize, ...]
    slots: int
    objects: tuple[ObjectCount, ...]
    memory: tuple[MemoryPart, ...]

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.memory)

    @property
    def seen(self) -> int:
        """Bytes of stacks that were used in a run; 0 without one."""
        return sum(thread.use.seen or 0 for thread in self.threads if isinstance(thread.use, StackUse))

    def count(self, kind: str) -> int:
        return next((each.count for each in self.objects if each.kind == kind), 0)

    def part(self, name: str) -> int:
        return next((each.bytes for each in self.memory if each.part == name), 0)


class SystemSize(Struct, frozen=True):
    """The components of a system, what they share, and what was not counted of it."""

    components: tuple[ComponentSize, ...]
    not_counted: tuple[str, ...]


class SizeCounter:
    """Counts what belongs to each of some address spaces, and what they share."""

    def __init__(self, spaces: Iterable[str]) -> None:
        self.objects: dict[str, Counter[str]] = {name: Counter() for name in (*spaces, SHARED)}
        self.memory: dict[str, Counter[str]] = {name: Counter() for name in self.objects}

    def add(self, owner: str, kind: str, part: str = "", size: int = 0, count: int = 1) -> None:
        self.objects[owner][kind] += count
        if size:
            self.memory[owner][part] += size

    def component(
        self, name: str, instances: Sequence[str], threads: Sequence[ThreadSize], slots: int
    ) -> ComponentSize:
        objects, memory = self.objects[name], self.memory[name]
        return ComponentSize(
            name,
            tuple(instances),
            tuple(threads),
            slots,
            tuple(ObjectCount(kind, objects[kind]) for kind in sorted(objects)),
            tuple(MemoryPart(part, memory[part]) for part in PARTS if memory[part]),
        )

    def shared(self) -> ComponentSize:
        return self.component(SHARED, (), (), 0)


def owner_of(holders: Set[str], receivers: Set[str]) -> str:
    """Whose an object is: of the only address space that has a capability to it, or else of the only one that
    receives from it."""
    for found in (holders, receivers):
        if len(found) == 1:
            return next(iter(found))
    return SHARED


def with_stacks(size: SystemSize, uses: Mapping[str, StackUse]) -> SystemSize:
    """The same with what is known of stacks, by the names of threads."""
    components = tuple(
        replace(
            each,
            threads=tuple(replace(thread, use=uses.get(thread.name, UNSET)) for thread in each.threads),
        )
        for each in size.components
    )
    return replace(size, components=components)


def planned_size(model: CapabilityModel, heaps: Mapping[str, int]) -> SystemSize:
    """What is known before anything is compiled. `heaps` are bytes by address space."""
    counter = SizeCounter(space.name for space in model.spaces)
    threads = {thread.name: space.name for space in model.spaces for thread in space.threads}
    contexts = {thread.scheduling_context: space.name for space in model.spaces for thread in space.threads}
    cnodes = {space.cnode: space.name for space in model.spaces}
    holders, receivers = _holders(model)
    for each in model.objects:
        owner = (
            threads.get(each.name)
            or cnodes.get(each.name)
            or contexts.get(each.name)
            or owner_of(holders.get(each.name, set()), receivers.get(each.name, set()))
        )
        if each.kind is ObjectKind.REGION:
            memory = each.size if each.paddr is None else 0
            counter.add(owner, FRAME, REGIONS, memory, -(-each.size // each.page))
        elif each.kind not in _OF_KERNEL:
            counter.add(owner, _KINDS.get(each.kind, OTHER))
    slots = model.slots_used()
    for space in model.spaces:
        pages = sum(thread.stack_size // PAGE for thread in space.threads)
        counter.add(space.name, FRAME, STACKS, sum(t.stack_size for t in space.threads), pages)
        counter.add(space.name, FRAME, BUFFERS, PAGE * len(space.threads), len(space.threads))
        heap = heaps.get(space.name, 0)
        counter.add(space.name, FRAME, HEAP, heap, -(-heap // PAGE))
    return SystemSize(
        (
            *(
                counter.component(
                    space.name,
                    space.instances,
                    [ThreadSize(thread.name, thread.stack_size) for thread in space.threads],
                    slots[space.name],
                )
                for space in model.spaces
            ),
            counter.shared(),
        ),
        _NOT_PLANNED,
    )


def _holders(model: CapabilityModel) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The address spaces that have capabilities to each object, and those that can receive from it."""
    holders: dict[str, set[str]] = {}
    receivers: dict[str, set[str]] = {}
    for space in model.spaces:
        for cap in space.caps:
            holders.setdefault(cap.object, set()).add(space.name)
            if Rights.READ in cap.rights:
                receivers.setdefault(cap.object, set()).add(space.name)
        for mapping in space.mappings:
            holders.setdefault(mapping.region, set()).add(space.name)
    return holders, receivers


#: behind both kinds of counts
NOT_OF_THE_SYSTEM = ("the kernel and its loader", "memory that is left over between objects")
_NOT_PLANNED = (
    "code and data of components, and page tables",
    "bytes of kernel objects",
    "what a build for seL4 adds: handlers of faults, the timer driver",
    *NOT_OF_THE_SYSTEM,
)
