# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The request graph, whose nodes are tasks and CPIs, not components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from camkes.diagnostics import Diagnostic, Span
from camkes.model.connectors import support
from camkes.model.system import Connection, ConnectionEnd, Cpi, Instance, System, Task
from camkes.protocols.cycles import strongly_connected, walk

#: What the compiled code calls: "inst.iface" (a handler) or "inst" (the control thread) -> `uses` names.
CallGraph = Mapping[str, Set[str]]


class Chain(Struct, frozen=True):
    """How code gets from a handler to a stub: the names of its functions, and the lines of the calls
    between them. It is not `sure` if one of the calls is through a pointer."""

    functions: tuple[str, ...]
    calls: tuple[Span | None, ...]
    sure: bool


#: A handler or control thread and the name of one of its `uses` interfaces -> how its code gets there.
Chains = Mapping[tuple[str, str], Chain]

#: A task, a CPI or a method of one (`method_node`), and the name of an interface that it uses or emits, or
#: "iface.method" -> the most calls in a job, or a request; a diagnostic where these have no bound.
Counts = Mapping[tuple[str, str], int | Diagnostic]


def method_node(caller: str, method: str) -> str:
    """What names a method of a handler, or without one a control thread."""
    return f"{caller}:{method}"


class Counted(StrEnum):
    """How the number of calls is known."""

    STATED = "stated"
    CODE = "code"
    TEXT = "text"  # it is not: one is assumed


class Request(Struct, frozen=True):
    """An edge of the request graph: `caller` (a task's instance name, or a CPI "inst.iface") can
    request the CPI `callee` through its `uses` interface `via` ("inst.iface").

    `source` is how it was determined: "control" (a task's own code), "clause" (`requests`), "code" (the
    compiler's call graph), "all" (every `uses` interface of the component, which can over-count). `count` is
    how often a job of the task, or a request to the CPI, makes it at most: what is stated, or counted in the
    code, or else 1, and `counted` which. `uncounted` is why the code has no bound for it, where none is
    stated.
    """

    caller: str
    via: str
    callee: str
    connection: str
    source: str
    span: Span
    count: int = 1
    counted: Counted = Counted.TEXT
    uncounted: Diagnostic | None = None


class Link(NamedTuple):
    """One `to` end as one `from` end sees it."""

    connection: Connection
    user: ConnectionEnd
    provider: ConnectionEnd

    @property
    def prioritised(self) -> bool:
        return support(self.connection.connector).protocols

    @property
    def local(self) -> bool:
        connector = self.connection.connector
        return support(connector).local or connector.to_end.hardware


class RequestGraph(Struct, frozen=True):
    """Everything that can call a procedure, as far as it matters for tasks and CPIs.

    `requests` lead from tasks and CPIs to CPIs. `plain_calls` lead from tasks and CPIs to interfaces
    without a protocol, `local_calls` from any code to that of an instance in the same address space.
    `strays` lead to CPIs from what is neither: a control thread that originates no task, the handler of an
    interface without a protocol, or one of events ("inst" or "inst.iface").
    """

    tasks: Mapping[str, Task]
    cpis: Mapping[str, Cpi]
    requests: tuple[Request, ...]
    plain_calls: tuple[Request, ...]
    local_calls: tuple[Request, ...]
    strays: tuple[Request, ...]
    outgoing: Mapping[str, tuple[Request, ...]]
    incoming: Mapping[str, tuple[Request, ...]]
    links: Mapping[str, tuple[Link, ...]]  # by the name of the `provides` end

    def below(self, roots: Iterable[str]) -> dict[str, tuple[str, Request] | None]:
        """All that requests of `roots` can reach, each with the request that first led there."""
        return walk(roots, lambda name: ((r.callee, r) for r in self.outgoing.get(name, ())))

    def components(self) -> list[list[str]]:
        """The strongly connected components of the CPIs, callers before what they call."""
        successors = {name: [r.callee for r in self.outgoing.get(name, ())] for name in self.cpis}
        return strongly_connected(successors)

    def is_cycle(self, component: Sequence[str]) -> bool:
        """Whether this strongly connected component has a cycle: requests that lead from it into it."""
        return any(r.callee in component for name in component for r in self.outgoing[name])


def build_graph(system: System, code: CallGraph | None = None, counts: Counts | None = None) -> RequestGraph:
    """The request graph of a system.

    A handler's calls are those of its `requests` clause, or else those of `code`, or else every `uses`
    interface of its component, as often as is stated, or else as in `counts`. In the order of the text
    throughout.
    """
    tasks = {task.instance: task for task in system.tasks}
    cpis = {cpi.name: cpi for cpi in system.cpis}
    requests: list[Request] = []
    plain_calls: list[Request] = []
    local_calls: list[Request] = []
    strays: list[Request] = []
    for request, link in all_requests(system, code or {}, counts or {}):
        carries_task = request.caller in tasks or request.caller in cpis
        if not carries_task and request.callee in cpis:
            strays.append(request)
        elif request.callee in cpis:
            requests.append(request)
        elif link.local:
            local_calls.append(request)
        elif carries_task:
            plain_calls.append(request)
    outgoing: dict[str, list[Request]] = {name: [] for name in (*tasks, *cpis)}
    incoming: dict[str, list[Request]] = {name: [] for name in cpis}
    for request in requests:
        outgoing[request.caller].append(request)
        incoming[request.callee].append(request)
    return RequestGraph(
        tasks=tasks,
        cpis=cpis,
        requests=tuple(requests),
        plain_calls=tuple(plain_calls),
        local_calls=tuple(local_calls),
        strays=tuple(strays),
        outgoing={name: tuple(found) for name, found in outgoing.items()},
        incoming={name: tuple(found) for name, found in incoming.items()},
        links=_by_provider(system),
    )


def all_requests(
    system: System, code: CallGraph, counts: Counts | None = None
) -> Iterator[tuple[Request, Link]]:
    """Everything that can call a procedure, in the order of the text, with how it is connected."""
    tasks = {task.instance: task for task in system.tasks}
    cpis = {cpi.name: cpi for cpi in system.cpis}
    by_user: dict[str, list[Link]] = {}
    for link in _links(system):
        by_user.setdefault(link.user.name, []).append(link)
    for instance in system.instances:
        for caller, source, names in _callers(instance, tasks, cpis, code):
            for name in names:
                via = f"{instance.name}.{name}"
                count, counted, uncounted = _count(instance, caller, name, counts or {})
                for link in by_user.get(via, ()):
                    request = Request(
                        caller=caller,
                        via=via,
                        callee=link.provider.name,
                        connection=link.connection.name,
                        source=source,
                        span=link.user.span,
                        count=count,
                        counted=counted,
                        uncounted=uncounted,
                    )
                    yield request, link


def _count(
    instance: Instance, caller: str, name: str, counts: Counts
) -> tuple[int, Counted, Diagnostic | None]:
    """How often a caller calls an interface, how that is known, and why it is not."""
    stated = instance.configured.interface(name).requests
    if stated:
        return stated, Counted.STATED, None
    found = counts.get((caller, name))
    if isinstance(found, Diagnostic):
        return 1, Counted.CODE, found
    return (1, Counted.TEXT, None) if found is None else (max(1, found), Counted.CODE, None)


def procedures(instance: Instance, kind: str) -> list[str]:
    """The names of an instance's `uses` or `provides` interfaces."""
    found = instance.type.interfaces
    return [i.name for i in found if i.kind == kind]


def _links(system: System) -> Iterator[Link]:
    """All pairs of ends that a connection between procedures makes."""
    for connection in system.connections:
        if {connection.connector.from_end.kind, connection.connector.to_end.kind} == {"Procedure"}:
            for user in connection.from_ends:
                for provider in connection.to_ends:
                    yield Link(connection, user, provider)


def _by_provider(system: System) -> dict[str, tuple[Link, ...]]:
    found: dict[str, list[Link]] = {}
    for link in _links(system):
        found.setdefault(link.provider.name, []).append(link)
    return {name: tuple(links) for name, links in found.items()}


def _callers(
    instance: Instance, tasks: Mapping[str, Task], cpis: Mapping[str, Cpi], code: CallGraph
) -> Iterator[tuple[str, str, Iterable[str]]]:
    """Everything in an instance that can call: its name, how its calls were determined, and the calls."""
    uses = procedures(instance, "uses")
    if not uses:
        return
    claimed: set[str] = set()
    handlers: list[tuple[str, str, Iterable[str]]] = []
    for interface in instance.type.interfaces:
        if interface.kind != "provides":
            continue
        name = f"{instance.name}.{interface.name}"
        stated = cpis[name].requests if name in cpis else interface.requests
        known = code.get(name)
        if stated is not None:
            called, source = [u for u in uses if u in stated], "clause"
        elif known is not None:
            called, source = [u for u in uses if u in known], "code"
        else:
            called, source = uses, "all"
        claimed.update(called)
        handlers.append((name, source, called))
    known = code.get(instance.name)
    if known is not None:
        yield instance.name, "control", [u for u in uses if u in known]
    elif instance.name in tasks:
        yield instance.name, "control", uses
    elif instance.type.control or any(i.kind == "consumes" for i in instance.type.interfaces):
        # Not a task: it must be the caller of what no handler can call; of the rest we cannot tell.
        yield instance.name, "control", [u for u in uses if u not in claimed]
    yield from handlers
    for interface in instance.type.interfaces:
        known = code.get(f"{instance.name}.{interface.name}")
        if interface.kind != "provides" and known is not None:
            # of events and interrupts, in a thread of the interface
            yield f"{instance.name}.{interface.name}", "code", [u for u in uses if u in known]
