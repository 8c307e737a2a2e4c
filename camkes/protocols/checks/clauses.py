# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Clauses that say nothing, say something wrong, or are missing."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.protocols.checks.base import Check, Facts, listing
from camkes.protocols.codes import REQUESTS_CONTRADICTED, REQUESTS_MISSING, UNUSED_CLAUSE
from camkes.protocols.requests import procedures


def _contradicted(facts: Facts) -> Iterator[Diagnostic]:
    for cpi in facts.system.cpis:
        if cpi.requests is None:
            continue
        extra = sorted(facts.code.get(cpi.name, frozenset()) - set(cpi.requests))
        if extra:
            yield Diagnostic(
                REQUESTS_CONTRADICTED,
                f"the code of `{cpi.name}` can call {listing(extra)}, which its `requests` clause leaves out",
                cpi.spans.get("requests", cpi.span),
                "the clause",
                notes=("ceilings, threads and the search for deadlocks rely on this clause",),
                help=f"write `requests ({', '.join([*cpi.requests, *extra])})`, or take out the call",
            )


def _unused(facts: Facts) -> Iterator[Diagnostic]:
    """On an interface that has a protocol in no instance of its component."""
    graph = facts.graph
    callers_of_cpis = {r.via.rpartition(".")[0] for r in (*graph.requests, *graph.strays)}
    used: dict[Span, bool] = {}
    found: list[tuple[Span, str, str]] = []
    for instance in facts.system.instances:
        for interface in instance.type.interfaces:
            if interface.kind != "provides":
                continue
            has_protocol = f"{instance.name}.{interface.name}" in graph.cpis
            for word, span in (interface.clause_spans or {}).items():
                if word == "requests":
                    says = has_protocol or instance.name in callers_of_cpis
                elif word == "threads":
                    says = has_protocol
                else:
                    continue
                if span not in used:
                    found.append((span, word, f"{instance.type.name}.{interface.name}"))
                used[span] = says or used.get(span, False)
    for span, word, name in found:
        if not used[span]:
            yield Diagnostic(
                UNUSED_CLAUSE,
                f"`{word}` of `{name}` says nothing: the interface has no protocol",
                span,
                "not used",
                help="add `priority_protocol propagated`, or take the clause out",
            )
    for connection in facts.system.connections:
        if connection.threads is None or any(end.name in graph.cpis for end in connection.to_ends):
            continue
        yield Diagnostic(
            UNUSED_CLAUSE,
            f"the thread count of connection `{connection.name}` says nothing: no protocol is at its end",
            connection.threads_span or connection.span,
            "not used",
            tuple(Label(end.span, f"`{end.name}` has no protocol") for end in connection.to_ends),
            help="give the interface a protocol, or take the clause out",
        )


def _missing(facts: Facts) -> Iterator[Diagnostic]:
    """Several handlers in a component, and all of its `uses` interfaces count for each."""
    graph = facts.graph
    guessed = {request.caller for request in graph.requests if request.source == "all"}
    seen: set[Span] = set()
    for instance in facts.system.instances:
        provided = procedures(instance, "provides")
        unsaid = [n for n in (f"{instance.name}.{name}" for name in provided) if n in guessed]
        if len(provided) < 2 or not unsaid or instance.type.span in seen:
            continue
        seen.add(instance.type.span)
        cpis = [graph.cpis[name] for name in unsaid]
        called = dict.fromkeys(r.via.rpartition(".")[2] for r in graph.outgoing[unsaid[0]])
        yield Diagnostic(
            REQUESTS_MISSING,
            f"nothing says which of {listing(called)} the CPIs of component `{instance.type.name}` call",
            cpis[0].span,
            "counts as calling all of them",
            tuple(Label(cpi.span, "so does this one") for cpi in cpis[1:]),
            ("ceilings and thread counts can come out higher than needed, and a deadlock may be none",),
            f"add `requests (...)` after `with` to {listing(cpi.interface for cpi in cpis)}",
        )


CHECKS = (
    Check("requests-contradicted", (REQUESTS_CONTRADICTED,), _contradicted),
    Check("unused-clause", (UNUSED_CLAUSE,), _unused),
    Check("requests-missing", (REQUESTS_MISSING,), _missing),
)
