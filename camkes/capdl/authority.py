# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Who holds which capability, why, and which priorities it can set: to check that nobody has too much."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from msgspec import Struct

from camkes.capdl.callers import Wiring
from camkes.capdl.model import CapabilityModel, Role, Space
from camkes.diagnostics import Span
from camkes.model.system import System
from camkes.protocols.plan import Plan


class Holding(Struct, frozen=True):
    """One capability or mapping of an instance. `slot` is None for memory; `reason` says what needs it and
    `span` where the user asked for that (None: the tool's own, every thread has it)."""

    space: str
    instance: str
    slot: int | None
    object: str
    rights: str
    badge: int
    reason: str
    span: Span | None


def authority(system: System, plan: Plan, model: CapabilityModel) -> tuple[Holding, ...]:
    """Every capability with its reason, by address space and slot. A capability without a reason does not
    occur: it would be a ValueError, for it would be a capability that nobody needs."""
    explainer = _Explainer(system, plan)
    return tuple(h for space in model.spaces for h in _of_space(space, model, explainer))


class ThreadAuthority(Struct, frozen=True):
    """What the code of a component can do with priorities. `max_priority` is the highest that can be set with
    the thread's own capability as the authority. All threads of an address space share its capabilities:
    each can set every thread in `sets` to priorities up to `reach`, the highest maximum among them."""

    space: str
    instance: str
    name: str
    role: Role
    priority: int
    max_priority: int
    sets: tuple[str, ...]
    reach: int


def thread_authority(model: CapabilityModel) -> tuple[ThreadAuthority, ...]:
    """All threads, by address space and index."""
    threads = {thread.name: thread for space in model.spaces for thread in space.threads}
    result: list[ThreadAuthority] = []
    for space in model.spaces:
        held = [threads[cap.object] for cap in space.caps if cap.object in threads]
        reach = max((thread.max_priority for thread in held), default=0)
        for thread in space.threads:
            result.append(
                ThreadAuthority(
                    space.name,
                    thread.instance,
                    thread.name,
                    thread.role,
                    thread.priority,
                    thread.max_priority,
                    tuple(other.name for other in held),
                    reach,
                )
            )
    return tuple(result)


def threads_to_text(threads: Sequence[ThreadAuthority]) -> str:
    """A table for people: each thread, and how far the threads of its address space can be set."""
    head = ("component", "thread", "role", "priority", "maximum", "threads it can set")
    rows = [head]
    for thread in threads:
        others = ", ".join(name for name in thread.sets if name != thread.name)
        sets = f"itself{', ' * bool(others)}{others}: up to {thread.reach}" if thread.sets else "-"
        values = (thread.instance, thread.name, thread.role.value, str(thread.priority))
        rows.append((*values, str(thread.max_priority), sets))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head) - 1)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    )


def to_text(holdings: Sequence[Holding]) -> str:
    """A table for people: for each address space what it holds, with which rights, and why."""
    lines: list[str] = []
    width = max((len(h.object) for h in holdings), default=0)
    space = None
    for holding in holdings:
        if holding.space != space:
            lines += [*([""] if lines else []), f"{holding.space}:"]
            space = holding.space
        slot = "memory" if holding.slot is None else str(holding.slot)
        badge = f" badge {holding.badge}" if holding.badge else ""
        lines.append(
            f"  {slot:>6}  {holding.object:<{width}}  {holding.rights or '-':<3}  {holding.reason}{badge}"
        )
    return "\n".join(lines)


def to_json(holdings: Sequence[Holding], threads: Sequence[ThreadAuthority] = ()) -> str:
    """Both tables for programs: "thread" of a thread's capability in its own address space is its row."""
    by_name = {thread.name: thread for thread in threads}
    records = [_record(h, by_name.get(h.object)) for h in holdings]
    return json.dumps(records, indent=2, ensure_ascii=False)


def _record(holding: Holding, thread: ThreadAuthority | None) -> dict[str, object]:
    sets = None
    if thread is not None:
        sets = {
            "role": thread.role.value,
            "priority": thread.priority,
            "max_priority": thread.max_priority,
            "sets": list(thread.sets),
            "reach": thread.reach,
        }
    place = None
    if holding.span is not None:
        place = {"file": str(holding.span.file.path), "line": holding.span.line}
    return {
        "space": holding.space,
        "instance": holding.instance,
        "slot": holding.slot,
        "object": holding.object,
        "rights": holding.rights,
        "badge": holding.badge,
        "reason": holding.reason,
        "place": place,
        "thread": sets,
    }


def _of_space(space: Space, model: CapabilityModel, explainer: _Explainer) -> Iterator[Holding]:
    symbols: dict[int, list[tuple[str, str]]] = {}
    for (instance, symbol), slot in model.slots.items():
        if instance in space.instances:
            symbols.setdefault(slot, []).append((instance, symbol))
    for cap in space.caps:
        if cap.slot not in symbols:
            raise ValueError(f"nothing asks for slot {cap.slot} of {space.name}")
        why = [explainer.cap(instance, symbol, cap.object) for instance, symbol in symbols[cap.slot]]
        reason = "; ".join(dict.fromkeys(r for r, _ in why))
        span = next((s for _, s in why if s is not None), None)
        instance = symbols[cap.slot][0][0]
        yield Holding(space.name, instance, cap.slot, cap.object, cap.rights, cap.badge, reason, span)
    for mapping in space.mappings:
        symbol = mapping.symbol
        instance = space.instances[0]
        for name in space.instances:
            if symbol.startswith(f"{name}.") and len(space.instances) > 1:
                instance, symbol = name, symbol.removeprefix(f"{name}.")
        reason, span = explainer.memory(instance, symbol)
        yield Holding(space.name, instance, None, mapping.region, mapping.rights, 0, reason, span)


class _Explainer:
    """Reads symbols back; `camkes.capdl.allocate` says what each means."""

    def __init__(self, system: System, plan: Plan) -> None:
        self._system = system
        self._plan = plan
        self._wiring = Wiring(system)

    def cap(self, instance: str, symbol: str, target: str) -> tuple[str, Span | None]:
        name, mark, what = symbol.partition("!")
        if mark and not name:
            return self._own(instance, what, target)
        if mark:
            return self._role(instance, name, what)
        name, at, context = symbol.partition("@")
        end = f"{instance}.{name.partition('#')[0]}"
        cpi = self._plan.cpi(end)
        if cpi is not None:
            origin = f" of {context}" if at else ""
            return f"serves requests{origin} at {end}", cpi.span
        return self._interface(instance, name.partition("#")[0], context)

    def memory(self, instance: str, symbol: str) -> tuple[str, Span | None]:
        interface = symbol.rpartition("_")[0]
        connection = self._wiring.connection(f"{instance}.{interface}")
        if connection is None:
            raise ValueError(f"nothing asks for memory {symbol} of {instance}")
        what = "dataport" if symbol.endswith("_data") else "counts events of"
        return f"{what} {interface}, connection {connection.name}", connection.span

    def _own(self, instance: str, what: str, target: str) -> tuple[str, Span | None]:
        """Symbols of the instance itself."""
        task = next((t for t in self._system.tasks if t.instance == instance), None)
        if what.startswith("tcb:"):
            cpi, _, rest = target.partition("!")
            planned = self._plan.cpi(cpi)
            span = planned.span if rest and planned is not None else None
            return f"thread {target} itself", span
        if what in ("gate", "ready"):
            return "start-up of its threads", None
        if what in ("release", "timer") and task is not None:
            return f"releases of task {instance}", task.span
        raise ValueError(f"nothing asks for !{what} of {instance}")

    def _role(self, instance: str, interface: str, what: str) -> tuple[str, Span | None]:
        """Symbols "IFACE!what": managers, timers, events."""
        kind, _, context = what.partition("@")
        end = f"{instance}.{interface}"
        cpi = self._plan.cpi(end)
        connection = self._wiring.connection(end)
        match kind:
            case "manager" if cpi is not None:
                who = f"worker of {context} asks" if context else "serves as"
                return f"{who} the manager of {end}", cpi.span
            case "manager" if connection is not None:
                return f"passes on the priority of {context} through {end}", connection.span
            case "tcb" | "authority" if cpi is not None:
                return f"the manager of {end} sets priorities", cpi.span
            case "timer" if connection is not None:
                return f"time of {interface}, connection {connection.name}", connection.span
            case "handoff" if connection is not None:
                return f"hands events of {interface} to component code", connection.span
        raise ValueError(f"nothing asks for {interface}!{what} of {instance}")

    def _interface(self, instance: str, name: str, context: str) -> tuple[str, Span | None]:
        """Plain symbols: interfaces and things to synchronise with."""
        connection = self._wiring.connection(f"{instance}.{name}")
        owner = self._system.instance(instance)
        if owner is not None and connection is None:
            sync = next((s for s in owner.type.syncs if s.name == name), None)
            if sync is not None:
                return f"{sync.kind.replace('_', ' ')} {name}", sync.span
        interface = owner.type.interface(name) if owner is not None else None
        if connection is None or interface is None:
            raise ValueError(f"nothing asks for {name} of {instance}")
        others = ", ".join(e.name for e in connection.to_ends)
        what = {
            "uses": f"requests {others} through {name}",
            "provides": f"serves {name}",
            "emits": f"signals {others} through {name}",
            "consumes": f"waits for {name}",
        }[interface.kind]
        origin = f" for {context}" if context else ""
        return f"{what}{origin}, connection {connection.name}", connection.span
