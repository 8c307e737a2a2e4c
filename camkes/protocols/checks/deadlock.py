# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A cycle of requests waits for itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.protocols.checks.base import Check, Facts, listing, number
from camkes.protocols.codes import DEADLOCK
from camkes.protocols.cycles import has_cycle, shortest_cycle, strongly_connected
from camkes.protocols.requests import Request, RequestGraph


def _find(facts: Facts) -> Iterator[Diagnostic]:
    graph = facts.graph
    outgoing = _locking(graph)
    for component in strongly_connected({name: [r.callee for r in outgoing[name]] for name in graph.cpis}):
        cycle = shortest_cycle(outgoing, component)
        if not cycle:
            continue
        names = [request.caller for request in cycle]
        labels = list(_hops(graph, cycle))
        notes = ["a request that returns to a CPI waits for a thread that waits for this request"]
        others = [name for name in component if name not in names]
        if others:
            notes.append(f"there are more cycles through {listing(others)}; this is the shortest")
        if certain := _certain_cycle(outgoing, component):
            help = (
                "remove one of these requests,"
                " or split a CPI so that the part that is called makes no requests"
            )
        else:
            unsaid = dict.fromkeys(r.caller for r in cycle if r.source == "all")
            does = "does" if len(unsaid) == 1 else "do"
            notes.append(
                f"perhaps {listing(unsaid)} never {does} this: without `requests`, calls through every "
                "`uses` interface are assumed"
            )
            help = "list the interfaces that each CPI calls: `with requests (...)`, or `with requests ()` "
            "if it makes no calls"
        if certain and (said := [r.caller for r in cycle if r.source == "code"]):
            notes.append(f"the calls of {listing(dict.fromkeys(said))} were found in the compiled code")
        walk = " -> ".join(f"`{name}`" for name in [*names, names[0]])
        if len(walk) > 80:
            walk = f"a cycle of {number(len(cycle), 'request')}"
        yield Diagnostic(
            DEADLOCK,
            f"deadlock: {walk}",
            labels[0].span,
            labels[0].text,
            tuple(labels[1:]),
            tuple(notes),
            help,
            is_walk=True,
        )


def _locking(graph: RequestGraph) -> Mapping[str, Sequence[Request]]:
    """The requests ; one to a CPI of a monitor is one to each, since it needs their lock."""
    sharing: dict[str, list[str]] = {}
    for cpi in graph.cpis.values():
        if cpi.monitor is not None:
            sharing.setdefault(cpi.lock_name, []).append(cpi.name)
    if not sharing:
        return graph.outgoing
    return {
        name: [
            replace(request, callee=callee)
            for request in requests
            for callee in sharing.get(graph.cpis[request.callee].lock_name, [request.callee])
        ]
        for name, requests in graph.outgoing.items()
    }


def _certain_cycle(outgoing: Mapping[str, Sequence[Request]], component: Sequence[str]) -> bool:
    """Whether there is a cycle among the requests that do not just come from a missing clause."""
    sure = {name: [r.callee for r in outgoing[name] if r.source != "all"] for name in component}
    return has_cycle(sure)


def _hops(graph: RequestGraph, cycle: Sequence[Request]) -> Iterator[Label]:
    """The connection that makes each hop, and the clauses that state it."""
    clauses: dict[Span, list[Request]] = {}
    for request in cycle:
        clause = graph.cpis[request.caller].spans.get("requests")
        if clause is not None:
            clauses.setdefault(clause, []).append(request)
    for step, request in enumerate(cycle, 1):
        own = [r for r in graph.outgoing[request.caller] if r.via == request.via]
        callee, lock = request.callee, graph.cpis[request.callee].lock_name
        shared = ""
        if all(r.callee != callee for r in own):
            callee = next(r.callee for r in own if graph.cpis[r.callee].lock_name == lock)
            shared = f", which has the lock of `{request.callee}`: the monitor `{lock}`"
        yield Label(request.span, f"{step}. `{request.caller}` requests `{callee}`{shared}")
    for clause, said in clauses.items():
        names = listing(r.caller for r in said)
        called = listing(dict.fromkeys(r.via.rpartition(".")[2] for r in said))
        says = "says that it calls" if len(said) == 1 else "say that they call"
        yield Label(clause, f"{names} {says} {called}")


CHECKS = (Check("deadlock", (DEADLOCK,), _find),)
