# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A cycle of requests waits for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.protocols.checks.base import Check, Facts, listing, number
from camkes.protocols.codes import DEADLOCK
from camkes.protocols.cycles import has_cycle, shortest_cycle
from camkes.protocols.requests import Request, RequestGraph


def _find(facts: Facts) -> Iterator[Diagnostic]:
    graph = facts.graph
    for component in graph.components():
        if not graph.is_cycle(component):
            continue
        cycle = shortest_cycle(graph.outgoing, component)
        names = [request.caller for request in cycle]
        labels = list(_hops(graph, cycle))
        notes = ["a request that returns to a CPI waits for a thread that waits for this request"]
        others = [name for name in component if name not in names]
        if others:
            notes.append(f"there are more cycles through {listing(others)}; this is the shortest")
        if certain := _certain_cycle(graph, component):
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


def _certain_cycle(graph: RequestGraph, component: Sequence[str]) -> bool:
    """Whether there is a cycle among the requests that do not just come from a missing clause."""
    sure = {name: [r.callee for r in graph.outgoing[name] if r.source != "all"] for name in component}
    return has_cycle(sure)


def _hops(graph: RequestGraph, cycle: Sequence[Request]) -> Iterator[Label]:
    """The connection that makes each hop, and the clauses that state it."""
    clauses: dict[Span, list[Request]] = {}
    for request in cycle:
        clause = graph.cpis[request.caller].spans.get("requests")
        if clause is not None:
            clauses.setdefault(clause, []).append(request)
    for step, request in enumerate(cycle, 1):
        yield Label(request.span, f"{step}. `{request.caller}` requests `{request.callee}`")
    for clause, said in clauses.items():
        names = listing(r.caller for r in said)
        called = listing(dict.fromkeys(r.via.rpartition(".")[2] for r in said))
        says = "says that it calls" if len(said) == 1 else "say that they call"
        yield Label(clause, f"{names} {says} {called}")


CHECKS = (Check("deadlock", (DEADLOCK,), _find),)
