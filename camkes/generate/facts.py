# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The inputs of the contexts of templates: a system and its model, and one instance, with shared look-ups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeGuard, TypeVarTuple

from msgspec import Struct, field

from camkes.capdl.callers import Wiring
from camkes.capdl.model import CapabilityModel, Role, Space, Thread
from camkes.capdl.uses import CapUse, MemoryUse
from camkes.diagnostics import Sink
from camkes.generate import contexts as ctx
from camkes.generate.names import Places, c_name, fresh
from camkes.model.connectors import Carries, support
from camkes.model.system import INSTANCE_PREFIX, Connection, Instance, System
from camkes.protocols.contexts import Context
from camkes.protocols.groups import find_groups
from camkes.protocols.plan import Plan, PlannedCpi


class Rendered(Struct, frozen=True):
    """What templates of connectors' own have been rendered to: the connectors, and the names of the headers
    of each instance."""

    connectors: frozenset[str] = frozenset()
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


NOTHING_RENDERED = Rendered()


class SystemFacts:
    """A system with its plan and its capabilities."""

    def __init__(
        self,
        system: System,
        plan: Plan,
        model: CapabilityModel | None,
        sink: Sink,
        rendered: Rendered = NOTHING_RENDERED,
    ) -> None:
        """Without a model there are no slots and no threads: enough for headers."""
        self.rendered = rendered
        self.system = system
        self.plan = plan
        self.groups = find_groups(plan)
        self.model = model or CapabilityModel((), (), ())
        self.allocated = model is not None
        model = self.model
        self.sink = sink
        self.places = Places(system.root.path.parent)
        self.source = system.root.path.name
        self.wiring = Wiring(system)
        threads = [t for space in model.spaces for t in space.threads]
        self.numbers = {t.name: number for number, t in enumerate(threads)}
        self._thread_names = _thread_names(threads)
        self.threads: dict[str, list[Thread]] = {}
        for thread in threads:
            self.threads.setdefault(thread.instance, []).append(thread)
        self.spaces: dict[str, Space] = {name: space for space in model.spaces for name in space.instances}
        self.regions = {mapping.use: mapping.region for space in model.spaces for mapping in space.mappings}
        self.sizes = {o.name: o.size for o in model.objects}

    def instances(self) -> tuple[InstanceFacts, ...]:
        return tuple(InstanceFacts(self, i) for i in self.system.instances if not i.type.hardware)

    def is_rendered(self, connection: Connection | None) -> bool:
        """Does a template of the connector's own have the code?"""
        return connection is not None and connection.connector.name in self.rendered.connectors

    def space_threads(self, instance: str) -> tuple[tuple[str, str], ...]:
        """The threads of its address space, as (C name, name)."""
        return tuple((self.thread_name(t), t.name) for t in self.spaces[instance].threads)

    def thread_name(self, thread: Thread) -> str:
        """The C name of a thread's record."""
        return self._thread_names[thread.name]


def _thread_names(threads: Iterable[Thread]) -> dict[str, str]:
    """C names by names: `a.b__p` and `a__b.p` have different ones, too."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for thread in threads:
        part = f"__for_{thread.part}" if thread.part else ""
        manager = "__manager" if thread.role is Role.MANAGER else ""
        own = c_name((thread.interface or "control") + part + manager)
        names[thread.name] = fresh(f"{INSTANCE_PREFIX}{c_name(thread.instance)}__{own}", taken)
        taken.add(names[thread.name])
    return names


#: of a record for what an instance uses, those after the instance
_Fields = TypeVarTuple("_Fields")


class InstanceFacts:
    """An instance of a system."""

    def __init__(self, all_: SystemFacts, instance: Instance) -> None:
        self.all = all_
        self.instance = instance
        self.places = all_.places
        self.threads = all_.threads.get(instance.name, [])
        self.cpis = [c for c in all_.plan.cpis if c.instance == instance.name]
        self.task = next((t for t in all_.plan.tasks if t.name == instance.name), None)
        self.contexts = self._own_contexts()

    def connection(self, interface: str) -> Connection | None:
        return self.all.wiring.connection(f"{self.instance.name}.{interface}")

    def slot(self, use: Callable[[str, *_Fields], CapUse], *fields: *_Fields) -> int:
        """The slot of what the instance must have."""
        return self.all.model.slots[use(self.instance.name, *fields)] if self.all.allocated else 0

    def slot_if_any(self, use: Callable[[str, *_Fields], CapUse], *fields: *_Fields) -> int:
        """The slot of what the instance may have; 0: it has not."""
        return self.all.model.slots.get(use(self.instance.name, *fields), 0)

    def memory(self, kind: Callable[[str, *_Fields], MemoryUse], *fields: *_Fields) -> ctx.SharedContext:
        use = kind(self.instance.name, *fields)
        if not self.all.allocated:
            return ctx.SharedContext(use.variable, use.variable, 0)
        symbol = self.all.spaces[self.instance.name].symbol(use)
        return ctx.SharedContext(use.variable, symbol, self.all.sizes[self.all.regions[use]])

    def _own_contexts(self) -> dict[int, str]:
        """The contexts under which threads of this instance make requests: plan id -> name."""
        contexts: dict[int, str] = {}
        if self.task is not None:
            contexts[self.task.context.id] = self.task.context.name
        for cpi in self.cpis:
            for context in self.requesting(cpi):
                contexts[context.id] = context.name
        return contexts

    def requesting(self, cpi: PlannedCpi) -> tuple[Context, ...]:
        if not cpi.protocol.own_priority:
            return cpi.contexts
        return tuple(c for c in self.all.plan.contexts if c.name == cpi.name and not c.is_task)

    def route(self, context: int) -> int:
        return list(self.contexts).index(context)


def generates(connection: Connection | None, what: Carries) -> TypeGuard[Connection]:
    """Is there generated code for a connection that carries this?"""
    if connection is None:
        return False
    connector = support(connection.connector)
    return connector.generated and connector.carries is what
