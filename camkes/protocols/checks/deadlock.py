# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A cycle of requests waits for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.protocols.checks.base import Check, Facts, listing, number
from camkes.protocols.codes import DEADLOCK
from camkes.protocols.plan import Request
from camkes.protocols.requests import RequestGraph, strongly_connected


def shortest_cycle(graph: RequestGraph, component: Sequence[str]) -> list[Request]:
    """A shortest cycle within a strongly connected component, the first one in the order of the text."""
    members = set(component)
    best: list[Request] = []
    for start in component:
        steps: dict[str, Request] = {}
        level = [start]
        depth = 0
        while level and start not in steps and (not best or depth + 1 < len(best)):
            depth += 1
            following: list[str] = []
            for name in level:
                for request in graph.outgoing[name]:
                    if request.callee in members and request.callee not in steps:
                        steps[request.callee] = request
                        following.append(request.callee)
            level = following
        if start in steps:
            best = [steps[start]]
            while best[0].caller != start:
                best.insert(0, steps[best[0].caller])
    return best


def _find(facts: Facts) -> Iterator[Diagnostic]:
    graph = facts.graph
    for component in graph.components():
        if not graph.is_cycle(component):
            continue
        cycle = shortest_cycle(graph, component)
        names = [request.caller for request in cycle]
        labels = list(_hops(graph, cycle))
        notes = ["a request that comes back to a CPI waits for a thread that waits for this request"]
        others = [name for name in component if name not in names]
        if others:
            notes.append(f"more cycles go through {listing(others)}; this one is the shortest")
        if certain := _certain_cycle(graph, component):
            help = "take one of these requests out, or split a CPI so that what is called calls nobody"
        else:
            unsaid = dict.fromkeys(r.caller for r in cycle if r.source == "all")
            does = "does" if len(unsaid) == 1 else "do"
            notes.append(
                f"perhaps {listing(unsaid)} never {does} this: without `requests`, every `uses` counts"
            )
            help = "say what each CPI calls: `with requests (...)`, or `with requests ()` if it calls nothing"
        if certain and (said := [r.caller for r in cycle if r.source == "code"]):
            notes.append(f"what {listing(dict.fromkeys(said))} can call was read off the compiled code")
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


def _certain_cycle(graph: RequestGraph, component: Sequence[str]) -> bool:
    """Whether there is a cycle among the requests that do not just come from a missing clause."""
    members = set(component)
    sure = {
        name: [r.callee for r in graph.outgoing[name] if r.callee in members and r.source != "all"]
        for name in component
    }
    return any(len(found) > 1 or found[0] in sure[found[0]] for found in strongly_connected(sure))


def _hops(graph: RequestGraph, cycle: Sequence[Request]) -> Iterator[Label]:
    """The connection that makes each hop, and the clauses that say so."""
    clauses: dict[Span, list[Request]] = {}
    for request in cycle:
        clause = graph.cpis[request.caller].spans.get("requests")
        if request.source == "clause" and clause is not None:
            clauses.setdefault(clause, []).append(request)
    for step, request in enumerate(cycle, 1):
        yield Label(request.span, f"{step}. `{request.caller}` requests `{request.callee}`")
    for clause, said in clauses.items():
        names = listing(r.caller for r in said)
        called = listing(dict.fromkeys(r.via.rpartition(".")[2] for r in said))
        says = "says that it calls" if len(said) == 1 else "say that they call"
        yield Label(clause, f"{names} {says} {called}")


CHECKS = (Check("deadlock", (DEADLOCK,), _find),)
