# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A cycle of requests waits for itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

from msgspec import Struct
from msgspec.structs import replace

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.diagnostics.words import listing
from camkes.protocols.checks.base import Check, Facts, number
from camkes.protocols.codes import DEADLOCK
from camkes.protocols.cycles import has_cycle, path, shortest_cycle, strongly_connected, walk
from camkes.protocols.methods import MethodNode, MethodRequests
from camkes.protocols.requests import Request, RequestGraph


class _LockingRequest(Struct, frozen=True):
    """A request from one CPI to another; by methods where these are known and matter, else empty."""

    caller: str
    callee: str
    request: Request
    method: str = ""
    called: str = ""

    @property
    def start(self) -> str:
        return f"{self.caller}.{self.method}" if self.method else self.caller

    @property
    def end(self) -> str:
        """What is requested itself, also where it has its lock in common with `callee`."""
        return f"{self.request.callee}.{self.called}" if self.called else self.request.callee


def _find(facts: Facts) -> Iterator[Diagnostic]:
    graph = facts.graph
    outgoing = _locking(graph, {name: _hops_of(requests) for name, requests in graph.outgoing.items()})
    for component in _components(outgoing):
        if not shortest_cycle(outgoing, component):
            continue
        if not facts.plan.by_method or facts.plan.mcs:
            yield _cycle(facts, outgoing, component, shortest_cycle(outgoing, component))
            continue
        by_method = _locking(graph, _called(facts, component))
        for part in _components(by_method):
            cycle = shortest_cycle(by_method, part)
            if cycle and _waits(facts, part):
                yield _cycle(facts, by_method, part, _in_one_job(by_method, part) or cycle)
            elif cycle and (cycle := _in_one_job(by_method, part)):
                yield _cycle(facts, by_method, part, cycle)


def _hops_of(requests: Iterable[Request]) -> list[_LockingRequest]:
    return [_LockingRequest(request.caller, request.callee, request) for request in requests]


def _components(outgoing: Mapping[str, Sequence[_LockingRequest]]) -> list[list[str]]:
    return strongly_connected({name: [hop.callee for hop in hops] for name, hops in outgoing.items()})


def _called(facts: Facts, component: Sequence[str]) -> dict[str, list[_LockingRequest]]:
    """The requests among these CPIs that methods make which can be called; those of a CPI that no task
    requests may all be."""
    plan, cpis = facts.plan, facts.graph.cpis
    methods = MethodRequests(facts.system, plan.requests, plan.by_method, plan.counts)
    called = set(methods.called)
    unused = {cpi.name for cpi in plan.cpis if not cpi.tasks}
    every = [MethodNode(name, frozenset({m})) for name in cpis if name in unused for m in cpis[name].methods]
    called |= set(walk(every, methods.single))
    found: dict[str, list[_LockingRequest]] = {name: [] for name in cpis}
    members = set(component)
    for name in component:
        several = len(cpis[name].methods) > 1
        for method in cpis[name].methods or ("",):
            node = MethodNode(name, frozenset({method} if method else ()))
            if node not in called:
                continue
            for callee, request in methods.single(node):
                if callee.name in members:
                    named = next(iter(callee.methods)) if len(cpis[callee.name].methods) > 1 else ""
                    found[name].append(
                        _LockingRequest(name, callee.name, request, method if several else "", named)
                    )
    return found


def _waits(facts: Facts, part: Sequence[str]) -> bool:
    """Whether different jobs can wait for each other in a cycle: for a lock, or its manager for another one.
    Else each task has threads of its own there, and can only wait for itself."""
    planned = {cpi.name: cpi for cpi in facts.plan.cpis}
    return any(planned[name].protocol.lock or planned[name].manager for name in part)


def _in_one_job(
    outgoing: Mapping[str, Sequence[_LockingRequest]], part: Sequence[str]
) -> list[_LockingRequest]:
    """Requests of one job that come back to a CPI, by any of its methods; the fewest."""

    def steps(node: tuple[str, str]) -> Iterator[tuple[tuple[str, str], _LockingRequest]]:
        name, method = node
        for hop in outgoing[name]:
            if hop.method == method and hop.request.callee == hop.callee and hop.callee in part:
                yield (hop.callee, hop.called), hop

    best: list[_LockingRequest] = []
    for name in part:
        for hop in outgoing[name]:
            found = walk([(name, hop.method)], steps)
            for node in found:
                again = (step for step in outgoing[node[0]] if step.method == node[1] and step.callee == name)
                way = [*path(found, node), *islice(again, 1)]
                if way and way[-1].callee == name and (not best or len(way) < len(best)):
                    best = way
    return best


def _cycle(
    facts: Facts,
    outgoing: Mapping[str, Sequence[_LockingRequest]],
    component: Sequence[str],
    cycle: Sequence[_LockingRequest],
) -> Diagnostic:
    graph = facts.graph
    names = [hop.caller for hop in cycle]
    labels = list(_hops(graph, cycle))
    notes = ["a request that returns to a CPI waits for a thread that waits for this request"]
    following = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
    if any(hop.called != after.method for hop, after in following if hop.called and after.method):
        notes = ["a request that returns to a CPI, by whatever method, waits for one that waits for it"]
        if any(hop.called != after.method for hop, after in pairwise(cycle) if hop.called and after.method):
            locks = {graph.cpis[name].lock_name for name in names if graph.cpis[name].protocol.lock}
            notes = ["no job makes all of these requests, but jobs of several tasks wait for each other"]
            if len(locks) < 2:
                planned = {cpi.name: cpi for cpi in facts.plan.cpis}
                name = next((n for n in names if planned[n].protocol.lock or planned[n].manager), names[0])
                why = "managers, which pass priorities on along requests, must not wait for each other"
                notes = [f"no job makes all of these requests, but `{name}` has a lock or a manager: {why}"]
    elif not facts.plan.by_method and any(len(graph.cpis[name].methods) > 1 for name in names):
        notes.append("which methods make these requests is not known without the code")
    others = [name for name in component if name not in names]
    if others:
        notes.append(f"there are more cycles through {listing(others)}; this is the shortest")
    if certain := _certain_cycle(outgoing, component):
        help = (
            "remove one of these requests, or split a CPI so that the part that is called makes no requests"
        )
    else:
        unsaid = dict.fromkeys(hop.caller for hop in cycle if hop.request.source == "all")
        does = "does" if len(unsaid) == 1 else "do"
        notes.append(
            f"perhaps {listing(unsaid)} never {does} this: without `requests`, calls through every "
            "`uses` interface are assumed"
        )
        help = (
            "list the interfaces that each CPI calls: `with requests (...)`, or `with requests ()` if it"
            " makes no calls"
        )
    if certain and (said := [hop.caller for hop in cycle if hop.request.source == "code"]):
        notes.append(f"the calls of {listing(dict.fromkeys(said))} were found in the compiled code")
    starts = [hop.start for hop in cycle]
    last = cycle[-1].end if cycle[-1].request.callee == names[0] and cycle[-1].called else starts[0]
    text = " -> ".join(f"`{name}`" for name in [*starts, last])
    if len(text) > 80:
        text = f"a cycle of {number(len(cycle), 'request')}"
    return Diagnostic(
        DEADLOCK,
        f"deadlock: {text}",
        labels[0].span,
        labels[0].text,
        tuple(labels[1:]),
        tuple(notes),
        help,
        is_walk=True,
    )


def _locking(
    graph: RequestGraph, outgoing: Mapping[str, Sequence[_LockingRequest]]
) -> Mapping[str, Sequence[_LockingRequest]]:
    """The requests; one to a CPI of a monitor is one to each, since it needs their lock."""
    sharing: dict[str, list[str]] = {}
    for cpi in graph.cpis.values():
        if cpi.monitor is not None:
            sharing.setdefault(cpi.lock_name, []).append(cpi.name)
    found = {}
    for name in graph.cpis:
        hops = outgoing.get(name, ())
        found[name] = [
            replace(hop, callee=callee)
            for hop in hops
            for callee in sharing.get(graph.cpis[hop.callee].lock_name, [hop.callee])
        ]
    return found


def _certain_cycle(outgoing: Mapping[str, Sequence[_LockingRequest]], component: Sequence[str]) -> bool:
    """Whether there is a cycle among the requests that do not just come from a missing clause."""
    sure = {name: [h.callee for h in outgoing[name] if h.request.source != "all"] for name in component}
    return has_cycle(sure)


def _hops(graph: RequestGraph, cycle: Sequence[_LockingRequest]) -> Iterator[Label]:
    """The connection that makes each hop, and the clauses that state it."""
    clauses: dict[Span, list[_LockingRequest]] = {}
    for hop in cycle:
        clause = graph.cpis[hop.caller].spans.get("requests")
        if clause is not None:
            clauses.setdefault(clause, []).append(hop)
    for step, hop in enumerate(cycle, 1):
        shared = ""
        if hop.request.callee != hop.callee:
            lock = graph.cpis[hop.callee].lock_name
            shared = f", which has the lock of `{hop.callee}`: the monitor `{lock}`"
        yield Label(hop.request.span, f"{step}. `{hop.start}` requests `{hop.end}`{shared}")
    for clause, said in clauses.items():
        names = listing(hop.caller for hop in said)
        called = listing(dict.fromkeys(hop.request.via.rpartition(".")[2] for hop in said))
        says = "says that it calls" if len(said) == 1 else "say that they call"
        yield Label(clause, f"{names} {says} {called}")


CHECKS = (Check("deadlock", (DEADLOCK,), _find),)
