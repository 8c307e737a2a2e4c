# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Clauses that have no effect, contradict the code, or are missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.diagnostics.words import listing
from camkes.protocols.checks.base import Check, Facts
from camkes.protocols.codes import (
    MAYBE_CONTRADICTED,
    REQUESTS_CONTRADICTED,
    REQUESTS_MISSING,
    UNUSED_CLAUSE,
    UNUSED_REQUEST,
)
from camkes.protocols.methods import stated_calls
from camkes.protocols.requests import Chain, method_node, procedures


class _Clause(Struct):
    """A `requests` clause, and what the code of those handlers calls that it is about."""

    said: tuple[str, ...]
    span: Span
    handlers: list[str]
    called: set[str]


def _clauses(facts: Facts) -> list[_Clause]:
    """The clauses whose handlers' code is known. Several instances share the clause of their component."""
    found: dict[Span, _Clause] = {}
    for instance in facts.system.instances:
        for interface in instance.type.interfaces:
            name = f"{instance.name}.{interface.name}"
            span = (interface.clause_spans or {}).get("requests")
            if interface.requests is None or span is None or name not in facts.code:
                continue
            clause = found.setdefault(span, _Clause(interface.requests, span, [], set()))
            clause.handlers.append(name)
            clause.called |= facts.code[name]
    return list(found.values())


def _contradicted(facts: Facts) -> Iterator[Diagnostic]:
    # what stays in the caller's thread, as asking for the time, need not be stated
    graph = facts.graph
    remote = {
        link.user.name
        for links in graph.links.values()
        for link in links
        if not link.local or link.provider.name in graph.cpis
    }
    for clause in _clauses(facts):
        surely: dict[str, tuple[str, Chain | None]] = {}
        perhaps: dict[str, tuple[str, Chain | None]] = {}
        for name in clause.handlers:
            instance = name.rpartition(".")[0]
            for called in sorted(facts.code[name] - set(clause.said)):
                if f"{instance}.{called}" not in remote:
                    continue
                chain = facts.chains.get((name, called))
                found = surely if chain is None or chain.sure else perhaps
                found.setdefault(called, (name, chain))
        if surely:
            name = next(iter(surely.values()))[0]
            yield Diagnostic(
                REQUESTS_CONTRADICTED,
                f"the code of `{name}` calls {listing(surely)}, but its `requests` clause does not list it",
                clause.span,
                "this clause",
                tuple(label for _, chain in surely.values() for label in chain_steps(chain)),
                (*_walks(surely), "ceilings, thread counts and the deadlock check use this clause"),
                f"write `requests ({', '.join([*clause.said, *surely])})`, or remove the call",
            )
        perhaps = {called: way for called, way in perhaps.items() if called not in surely}
        if perhaps:
            name = next(iter(perhaps.values()))[0]
            yield Diagnostic(
                MAYBE_CONTRADICTED,
                f"the code of `{name}` may call {listing(perhaps)} through a pointer, but its `requests` "
                "clause does not list it",
                clause.span,
                "the analysis uses this clause",
                tuple(label for _, chain in perhaps.values() for label in chain_steps(chain)),
                _walks(perhaps),
                f"if it can, write `requests ({', '.join([*clause.said, *perhaps])})`",
            )


def _methods_contradicted(facts: Facts) -> Iterator[Diagnostic]:
    """Methods that call others than a clause lists which names methods."""
    listed = stated_calls(facts.system)
    found: dict[tuple[Span, bool], list[tuple[str, str, str]]] = {}
    for cpi in facts.system.cpis:
        for method in cpi.methods if cpi.calls else ():
            node = method_node(cpi.name, method)
            for name in sorted(facts.by_method.get(node, frozenset()) - listed[node]):
                used = name.partition(".")[0]
                if used in (cpi.requests or ()):  # else the interface is not listed at all
                    chain = facts.chains.get((cpi.name, used))
                    sure = chain is None or chain.sure
                    found.setdefault((cpi.spans["requests"], sure), []).append((cpi.name, method, name))
    for (span, sure), calls in found.items():
        name, method, _ = calls[0]
        called = listing(dict.fromkeys(c for each, of, c in calls if (each, of) == (name, method)))
        can = "calls" if sure else "may call, through a pointer,"
        yield Diagnostic(
            REQUESTS_CONTRADICTED if sure else MAYBE_CONTRADICTED,
            f"the method `{method}` of `{name}` {can} {called}, but its `requests` clause does not list it",
            span,
            "this clause",
            help="list for example `"
            + ", ".join(dict.fromkeys(f"{of}: {call}" for each, of, call in calls if each == name))
            + "` as well, or remove the call",
        )


def _walks(ways: Mapping[str, tuple[str, Chain | None]]) -> tuple[str, ...]:
    return tuple(" -> ".join(chain.functions) for _, chain in ways.values() if chain is not None)


def chain_steps(chain: Chain | None) -> Iterator[Label]:
    """The calls of a chain."""
    if chain is None:
        return
    hops = zip(chain.functions, chain.functions[1:], chain.calls, strict=False)
    for number, (caller, callee, span) in enumerate(hops, 1):
        if span is not None:
            step = f"{number}. " if len(chain.calls) > 1 else ""
            yield Label(span, f"{step}`{caller}` calls `{callee}`")


def _unused_requests(facts: Facts) -> Iterator[Diagnostic]:
    for clause in _clauses(facts):
        unused = [name for name in clause.said if name not in clause.called]
        if unused:
            rest = ", ".join(name for name in clause.said if name in clause.called)
            yield Diagnostic(
                UNUSED_REQUEST,
                f"the code of {listing(clause.handlers)} never calls {listing(unused)}",
                clause.span,
                "listed here",
                notes=("it is analysed as a call: ceilings and thread counts can be higher than needed",),
                help=f"write `requests ({rest})`",
            )


def _unused(facts: Facts) -> Iterator[Diagnostic]:
    """On an interface that has a protocol in no instance of its component."""
    graph = facts.graph
    used: dict[Span, bool] = {}
    found: list[tuple[Span, str, str]] = []
    for instance in facts.system.instances:
        for interface in instance.type.interfaces:
            if interface.kind != "provides":
                continue
            has_protocol = f"{instance.name}.{interface.name}" in graph.cpis
            for word, span in (interface.clause_spans or {}).items():
                if word == "requests":
                    # also of an interface without a protocol: it keeps requests out of cycles
                    says = has_protocol or any(each.kind == "uses" for each in instance.type.interfaces)
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
                f"`{word}` of `{name}` has no effect: the interface has no protocol",
                span,
                "not used",
                help="add `priority_protocol propagated`, or remove the clause",
            )
    for connection in facts.system.connections:
        if connection.threads is None or any(end.name in graph.cpis for end in connection.to_ends):
            continue
        yield Diagnostic(
            UNUSED_CLAUSE,
            f"the thread count of connection `{connection.name}` has no effect: the interface it connects "
            "to has no protocol",
            connection.threads_span or connection.span,
            "not used",
            tuple(Label(end.span, f"`{end.name}` has no protocol") for end in connection.to_ends),
            help="give the interface a protocol, or remove the clause",
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
            f"the CPIs of component `{instance.type.name}` have no `requests` clauses, so each may call "
            f"any of {listing(called)}",
            cpis[0].span,
            "this one is analysed as if it called all of them",
            tuple(Label(cpi.span, "so is this one") for cpi in cpis[1:]),
            (
                "ceilings and thread counts can be higher than needed, and a reported deadlock may be "
                "impossible",
            ),
            f"add `requests (...)` after `with` to {listing(cpi.interface for cpi in cpis)}",
        )


CHECKS = (
    Check("requests-contradicted", (REQUESTS_CONTRADICTED, MAYBE_CONTRADICTED), _contradicted),
    Check("methods-contradicted", (REQUESTS_CONTRADICTED, MAYBE_CONTRADICTED), _methods_contradicted),
    Check("unused-request", (UNUSED_REQUEST,), _unused_requests),
    Check("unused-clause", (UNUSED_CLAUSE,), _unused),
    Check("requests-missing", (REQUESTS_MISSING,), _missing),
)
