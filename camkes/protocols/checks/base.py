# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The inputs that all checks share, and helpers for their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, field

from camkes.diagnostics import Code, Diagnostic
from camkes.diagnostics.words import listing
from camkes.model.system import System
from camkes.protocols.cycles import path
from camkes.protocols.methods import MethodCalls
from camkes.protocols.plan import Plan
from camkes.protocols.requests import CallGraph, Chains, Request, RequestGraph
from camkes.protocols.signals import Operations


class Facts(Struct, frozen=True):
    """What a check may look at."""

    system: System
    graph: RequestGraph
    plan: Plan
    code: CallGraph
    chains: Chains = field(default_factory=dict)
    operations: Operations | None = None  # None: no code was read
    by_method: MethodCalls = field(default_factory=dict)  # in the code


class Check(Struct, frozen=True):
    """A check that can report `codes`, and is left out if a check named in `after` has failed."""

    name: str
    codes: tuple[Code, ...]
    find: Callable[[Facts], Iterator[Diagnostic]]
    after: tuple[str, ...] = ()


def number(count: int, thing: str) -> str:
    """A count with its noun: `1 thread`, `2 threads`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def strays_for_certain(graph: RequestGraph) -> list[Request]:
    """Calls of CPIs that belong to no task, without those that a handler only may make."""
    carried = {request.via for request in graph.requests}
    return [r for r in graph.strays if r.source != "all" or r.via not in carried]


def route(graph: RequestGraph, origin: str, target: str) -> list[Request]:
    """A shortest way for a request from one node to another."""
    found = graph.below([origin])
    return path(found, target) if target in found else []


def through(hops: Sequence[Request]) -> str:
    """The CPIs between the two ends of a route, as the tail of a sentence."""
    between = [request.callee for request in hops[:-1]]
    return f" through {listing(between)}" if between else ""
