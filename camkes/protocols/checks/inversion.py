# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Priority inversion that the text shows: by servers, locks and events without a protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.diagnostics.words import listing
from camkes.model.configured import DEFAULTS, ThreadSettings
from camkes.model.connectors import Carries, caller_waits, support
from camkes.model.settings import PRIORITY
from camkes.model.system import ConnectionEnd, Instance, Interface, Procedure, Sync, System
from camkes.protocols.codes import (
    DELAYED_BY_SERVER,
    INVERSION_AT_CALL,
    INVERSION_AT_WAIT,
    MAY_WAIT_FOR_LESS_URGENT,
)
from camkes.protocols.cycles import path, walk
from camkes.protocols.requests import CallGraph, Request, all_requests, procedures

#: places of one kind in a diagnostic
_SHOWN = 6


class _Origin(Struct, frozen=True):
    """A thread whose work is its own: a control thread, or one that handles events ("inst.iface")."""

    name: str
    instance: Instance
    priority: int
    span: Span


def inversions(system: System, code: CallGraph, *, read: bool) -> Iterator[Diagnostic]:
    """What less urgent work can do to more urgent threads where no protocol applies, by the priorities in
    the text. `code` is what handlers call, as far as it is known. `read`: what code waits for is known, too,
    and is reported by other checks.

    An origin is a thread that works for itself. A plain server works for those that call it, directly or
    through other servers, but at its own priority.
    """
    origins = sorted(_origins(system, code), key=lambda o: -o.priority)
    if not origins or origins[0].priority == origins[-1].priority:
        return
    finder = _InversionFinder(system, code, origins)
    yield from finder.at_servers()
    if not read:
        yield from finder.at_locks()
        yield from finder.at_events()


def _origins(system: System, code: CallGraph) -> Iterator[_Origin]:
    """Tasks of a band have no priority of their own. Of handlers of events those count that make calls, as
    far as code is known."""
    in_bands = {name for band in system.bands for name in band.tasks}
    for instance in system.instances:
        if instance.type.hardware or instance.name in in_bands:
            continue
        settings = instance.configured
        if instance.type.control:
            yield _origin(instance, instance.name, settings.control, instance.span)
        for interface in instance.type.interfaces:
            name = f"{instance.name}.{interface.name}"
            if interface.kind == "consumes" and code.get(name):
                yield _origin(instance, name, settings.interface(interface.name).thread, interface.span)


def _origin(instance: Instance, name: str, thread: ThreadSettings, span: Span) -> _Origin:
    place = thread.spans.get(PRIORITY.name, span)
    return _Origin(name, instance, DEFAULTS.priority_of(thread), place)


class _InversionFinder:
    def __init__(self, system: System, code: CallGraph, origins: Sequence[_Origin]) -> None:
        """`origins`: the most urgent first."""
        self.system, self.origins = system, origins
        self.cpis = {cpi.name: cpi for cpi in system.cpis}
        self.by_name = {origin.name: origin for origin in origins}
        self.callers: dict[str, dict[str, Request]] = {}
        self.servers: set[str] = set()  # with a thread of their own
        for request, link in all_requests(system, code):
            waits = caller_waits(link.connection.connector) or link.local
            if waits and request.caller != request.callee:
                self.callers.setdefault(request.callee, {}).setdefault(request.caller, request)
            if waits and not link.local:
                self.servers.add(request.callee)

    def ways_to(self, name: str) -> Mapping[str, tuple[str, Request] | None]:
        """All that leads to a request of an interface."""
        return walk([name], lambda callee: ((r.caller, r) for r in self.callers.get(callee, {}).values()))

    # ---- plain servers ----

    def at_servers(self) -> Iterator[Diagnostic]:
        for instance in (i for i in self.system.instances if not i.type.hardware):
            for interface in instance.type.interfaces:
                name = f"{instance.name}.{interface.name}"
                if name in self.servers and name not in self.cpis:
                    yield from self.at_server(instance, interface, name)

    def at_server(self, instance: Instance, interface: Interface, name: str) -> Iterator[Diagnostic]:
        own = DEFAULTS.priority_of(instance.configured.interface(interface.name).thread)
        ways = self.ways_to(name)
        calling = [origin for origin in self.origins if origin.name in ways]
        if not calling:
            return
        first, last = calling[0], calling[-1]
        between = [o for o in self.origins if own <= o.priority < first.priority]
        if between and not (self.system.mcs and instance.configured.interface(interface.name).passive):
            # (a passive thread below its callers is an error of its own)
            yield self.below_caller(instance, interface, own, first, between, path(ways, first.name))
        above = [o for o in self.origins if last.priority < o.priority <= own and o.name not in ways]
        delayed = [o for o in above if o.instance is not instance]  # it knows of its own server
        if own > first.priority and delayed:
            yield self.above_callers(instance, interface, own, calling, delayed, path(ways, last.name))

    def below_caller(
        self,
        instance: Instance,
        interface: Interface,
        own: int,
        caller: _Origin,
        between: Sequence[_Origin],
        way: Sequence[Request],
    ) -> Diagnostic:
        name = f"{instance.name}.{interface.name}"
        return Diagnostic(
            INVERSION_AT_CALL,
            f"`{caller.name}` ({caller.priority}) waits for `{name}`, whose thread has priority {own}: "
            "priority inversion",
            _place(instance, interface),
            f"served at priority {own}",
            (*_hops(way), *_labels([caller, *between])),
            (
                f"while `{caller.name}` waits, {listing(o.name for o in between)} can keep the server from "
                "running",
            ),
            f"{_with_protocol(instance, interface)}, or set `{name}_priority` to {caller.priority} or more",
        )

    def above_callers(
        self,
        instance: Instance,
        interface: Interface,
        own: int,
        calling: Sequence[_Origin],
        delayed: Sequence[_Origin],
        way: Sequence[Request],
    ) -> Diagnostic:
        name = f"{instance.name}.{interface.name}"
        return Diagnostic(
            DELAYED_BY_SERVER,
            f"`{name}` works at priority {own} for `{calling[-1].name}` ({calling[-1].priority}), and delays "
            f"{listing(o.name for o in delayed)}, which "
            f"{'does' if len(delayed) == 1 else 'do'} not call it",
            _place(instance, interface),
            f"served at priority {own}",
            (*_hops(way), *_labels([calling[-1], *delayed])),
            ("work for a less urgent thread goes before theirs: priority inversion",),
            f"{_with_protocol(instance, interface)}, or set `{name}_priority` to {calling[0].priority}, the "
            "highest of its callers",
        )

    # ---- mutexes and semaphores ----

    def at_locks(self) -> Iterator[Diagnostic]:
        for instance in self.system.instances:
            locks = [s for s in instance.type.syncs if s.kind != "condition" and s.helpers is None]
            for high, low in self.contenders(instance) if locks and not instance.type.hardware else ():
                between = [
                    o
                    for o in self.origins
                    if low.priority <= o.priority < high.priority and o not in (low.origin, high.origin)
                ]
                if between:
                    yield from (_at_lock(instance, sync, high, low, between) for sync in locks)
                    break

    def contenders(self, instance: Instance) -> Iterator[tuple[_LockUser, _LockUser]]:
        """Threads of an instance that can use its locks, and less urgent ones that can at the same time."""
        users = sorted(self.users(instance), key=lambda user: -user.priority)
        for high in users:
            lower = (u for u in reversed(users) if not u.lock or u.lock != high.lock)
            low = next(lower, high)
            if low.priority < high.priority:
                yield high, low

    def users(self, instance: Instance) -> Iterator[_LockUser]:
        """The threads of an instance that can use its locks."""
        for origin in self.origins:
            if origin.instance is instance:
                yield _LockUser(f"`{origin.name}`", origin.priority, origin, "")
        for interface in procedures(instance, "provides"):
            name = f"{instance.name}.{interface}"
            own = DEFAULTS.priority_of(instance.configured.interface(interface).thread)
            cpi = self.cpis.get(name)
            lock = cpi.lock_name if cpi is not None and cpi.protocol.lock else ""
            ways = self.ways_to(name)
            calling = [origin for origin in self.origins if origin.name in ways]
            for origin in calling:
                if cpi is not None:
                    own = calling[0].priority if cpi.protocol.own_priority else origin.priority
                yield _LockUser(f"`{name}`, for `{origin.name}`,", own, origin, lock)

    # ---- events ----

    def at_events(self) -> Iterator[Diagnostic]:
        tasks = {task.instance: task for task in self.system.tasks}
        for connection in self.system.connections:
            if support(connection.connector).carries is not Carries.EVENTS:
                continue
            emitters = [self.by_name.get(end.instance) for end in connection.from_ends]
            for end in connection.to_ends:
                task, waiter = tasks.get(end.instance), self.by_name.get(end.instance)
                if task is None or waiter is None or task.period is None or task.release == end.interface:
                    continue
                interface = waiter.instance.type.interface(end.interface)
                if interface is None or "helpers" in (interface.clause_spans or {}):
                    continue
                less = [o for o in emitters if o is not None and o.priority < waiter.priority]
                if not less or len(less) < len(emitters):
                    continue
                low = min(less, key=lambda origin: origin.priority)
                between = [
                    o for o in self.origins if low.priority < o.priority < waiter.priority and o not in less
                ]
                if between:
                    yield _at_event(end, waiter, low, between)


class _LockUser(Struct, frozen=True):
    """Code that can use a lock: its name in a sentence, the priority at which it executes, for which origin,
    and the lock of its CPI ("": none)."""

    words: str
    priority: int
    origin: _Origin
    lock: str


def _at_lock(
    instance: Instance, sync: Sync, high: _LockUser, low: _LockUser, between: Sequence[_Origin]
) -> Diagnostic:
    held = sync.kind == "mutex"
    return Diagnostic(
        INVERSION_AT_WAIT,
        f"{high.words} can wait for `{instance.name}.{sync.name}` "
        f"{'while' if held else 'until'} {low.words} {'holds' if held else 'posts'} it: priority inversion",
        sync.span,
        "has no protocol" if held else "waited for without helpers",
        tuple(_labels([high.origin, low.origin, *between])),
        (f"meanwhile {listing(o.name for o in between)} can keep the less urgent thread from running",),
        "put what it protects into a CPI `with priority_protocol inherited`"
        if held
        else f"write `has {sync.kind} {sync.name} with helpers;`",
    )


def _at_event(end: ConnectionEnd, waiter: _Origin, low: _Origin, between: Sequence[_Origin]) -> Diagnostic:
    others = listing(o.name for o in between)
    return Diagnostic(
        MAY_WAIT_FOR_LESS_URGENT,
        f"if a job of `{waiter.name}` waits for `{end.name}`, {others} can keep the less urgent "
        f"`{low.name}` from emitting it: priority inversion",
        end.span,
        f"emitted by `{low.name}`",
        tuple(_labels([waiter, low, *between])),
        ("`camkes build` finds out whether it waits, from the compiled code",),
        f"write `consumes ... {end.interface} with helpers;`, or, if the event begins jobs, state "
        f'`{waiter.name}.release = "{end.interface}";` in place of a period',
    )


def _place(instance: Instance, interface: Interface) -> Span:
    spans = instance.configured.interface(interface.name).thread.spans
    return spans.get(PRIORITY.name, interface.span)


def _hops(way: Sequence[Request]) -> Iterator[Label]:
    """The calls from an origin to a server; the path leads from the server back to it."""
    for request in list(reversed(way))[:_SHOWN]:
        yield Label(request.span, f"`{request.caller}` calls `{request.callee}`")


def _labels(origins: Iterable[_Origin]) -> Iterator[Label]:
    for origin in list({o.name: o for o in origins}.values())[:_SHOWN]:
        yield Label(origin.span, f"`{origin.name}` has priority {origin.priority}")


def _with_protocol(instance: Instance, interface: Interface) -> str:
    of = interface.type.name if isinstance(interface.type, Procedure) else str(interface.type)
    stated = PRIORITY.name in instance.configured.interface(interface.name).thread.spans
    rest = f" and remove `{instance.name}.{interface.name}_priority`" if stated else ""
    return f"write `provides {of} {interface.name} with priority_protocol inherited`{rest}"
