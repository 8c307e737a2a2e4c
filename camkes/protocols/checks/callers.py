# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Checks the callers of CPIs: each request must belong to a task, through connectors that support
protocols."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.diagnostics import Diagnostic, Label
from camkes.model.connectors import RPC_CALL
from camkes.model.system import ComponentType, ConnectionEnd, Cpi, Interface, Procedure
from camkes.protocols.checks.base import Check, Facts
from camkes.protocols.codes import (
    CALL_WITHOUT_TASK,
    CONNECTOR_WITHOUT_PROTOCOLS,
    MAYBE_WITHOUT_TASK,
    MIXED_CALLERS,
    NO_TASK_REACHES,
    UNMARKED_CONTROL,
)
from camkes.protocols.requests import Request

_SHOWN = 4  # places of one mistake


def _connectors(facts: Facts) -> Iterator[Diagnostic]:
    for cpi in facts.system.cpis:
        connections = {link.connection.name: link for link in facts.graph.links.get(cpi.name, ())}
        for link in connections.values():
            if link.prioritised:
                continue
            connector = link.connection.connector.name
            yield Diagnostic(
                CONNECTOR_WITHOUT_PROTOCOLS,
                f"connector `{connector}` does not support the protocol of `{cpi.name}`",
                link.connection.span,
                "this connector has no protocols",
                (_protocol(cpi),),
                (
                    f"`{connector}` does not send requests to a thread"
                    if link.local
                    else f"the code of `{connector}` does not send a priority and a task id",
                ),
                f"connect it with `{RPC_CALL.name}`, or remove the protocol of `{cpi.name}`",
            )


def _strays(facts: Facts) -> Iterator[Diagnostic]:
    """Calls of CPIs that belong to no task: certain ones are errors, possible ones are warnings."""
    graph = facts.graph
    types = {instance.name: instance.type for instance in facts.system.instances}
    carried = {request.via: request for request in reversed(graph.requests)}
    unmarked: dict[int, tuple[ComponentType, list[Request]]] = {}  # requests of control threads
    for request in graph.strays:
        cpi = graph.cpis[request.callee]
        instance = request.via.rpartition(".")[0]
        if request.caller == instance:
            component = types[instance]
            unmarked.setdefault(id(component), (component, []))[1].append(request)
            continue
        interface = types[instance].interface(request.caller.rpartition(".")[2])
        assert interface is not None
        if interface.kind != "provides":
            yield _event(facts, request, instance, interface)
            continue
        if request.source == "all" and request.via in carried:
            yield _maybe(request, interface, carried[request.via])
            continue
        others = [r for r in graph.incoming[cpi.name] if r.caller != request.caller]
        if others:
            message = f"`{cpi.name}` has callers with and without a protocol"
            related = [Label(others[0].span, f"`{others[0].caller}` sends its priority")]
        else:
            message = f"`{request.caller}` has no protocol but calls `{cpi.name}`, which has one"
            related = []
        yield Diagnostic(
            MIXED_CALLERS if others else CALL_WITHOUT_TASK,
            message,
            request.span,
            f"`{request.caller}` has no protocol and calls this",
            (*related, Label(interface.span, f"`{request.caller}` has no protocol"), _protocol(cpi)),
            ("a handler without a protocol has no task to send the request for",),
            _help(interface),
        )
    for component, requests in unmarked.values():
        yield _unmarked(facts, component, requests)


def _unmarked(facts: Facts, component: ComponentType, requests: list[Request]) -> Diagnostic:
    """A component whose instances make requests like tasks, but which is not a requestor."""
    first = requests[0]
    callers = list(dict.fromkeys(f"`{request.caller}._priority`" for request in requests))
    if not component.control:
        help = "make the request from the control thread of a component with `control; requestor;`"
    else:
        help = f"add `requestor;` to component `{component.name}` and set {' and '.join(callers[:_SHOWN])}"
    who = "its control thread makes" if component.control else "its handlers of events make"
    return Diagnostic(
        UNMARKED_CONTROL,
        f"component `{component.name}` requests `{first.callee}` but is not a requestor",
        component.span,
        "not a requestor",
        (
            *(Label(r.span, f"`{r.caller}` requests `{r.callee}`") for r in requests[:_SHOWN]),
            _protocol(facts.graph.cpis[first.callee]),
        ),
        (f"{who} the request, but a request to a CPI with a protocol must belong to a task",),
        help,
    )


def _event(facts: Facts, request: Request, instance: str, interface: Interface) -> Diagnostic:
    """A handler of events or interrupts, which has a thread of its own, makes a request."""
    chain = facts.chains.get((request.caller, request.via.rpartition(".")[2]))
    place = next((s for s in reversed(chain.calls) if s is not None), None) if chain is not None else None
    sure = chain is None or chain.sure or instance not in facts.graph.tasks
    ways = (" -> ".join(chain.functions),) if chain is not None else ()
    return Diagnostic(
        UNMARKED_CONTROL if sure else MAYBE_WITHOUT_TASK,
        f"the handler of `{request.caller}` {'requests' if sure else 'may request'} `{request.callee}` "
        "outside of any task",
        place or request.span,
        "this request" if place is not None else "",
        (
            Label(interface.span, "its handler runs in a thread of this interface"),
            *((Label(request.span, "connected here"),) if place is not None else ()),
            _protocol(facts.graph.cpis[request.callee]),
        ),
        (
            *ways,
            "a request to a CPI with a protocol must belong to a task, and only run() executes jobs of "
            "a task",
        ),
        f"make the request in run(): wait there with `{interface.name}_wait()` or poll with "
        f"`{interface.name}_poll()`"
        if interface.kind == "consumes"
        else "make the request in run()",
    )


def _maybe(request: Request, interface: Interface, carried: Request) -> Diagnostic:
    component, _, name = request.caller.rpartition(".")
    return Diagnostic(
        MAYBE_WITHOUT_TASK,
        f"`{request.caller}` has no protocol and may call `{request.callee}`, which has one",
        interface.span,
        "it has no `requests` clause",
        (Label(request.span, f"called by `{carried.caller}`; also by `{name}` of `{component}`?"),),
        ("a handler without a protocol has no task to send the request for",),
        f"if it does not call it, write `provides {_type(interface)} {name} with requests ()`",
    )


def _help(interface: Interface) -> str:
    return f"write `provides {_type(interface)} {interface.name} with priority_protocol propagated`"


def _type(interface: Interface) -> str:
    return interface.type.name if isinstance(interface.type, Procedure) else str(interface.type)


def _protocol(cpi: Cpi) -> Label:
    return Label(cpi.spans.get("protocol", cpi.span), f"`{cpi.name}` is {cpi.protocol.value}")


def _unreached(facts: Facts) -> Iterator[Diagnostic]:
    for cpi in facts.plan.cpis:
        if cpi.tasks:
            continue
        callers = facts.graph.incoming[cpi.name]
        links = facts.graph.links.get(cpi.name) or ()
        users = [link.user.instance for link in links if _calls(facts, link.user)]
        marked = {instance.name for instance in facts.system.instances if instance.type.requestor}
        users = [user for user in users if user not in marked]
        if not links:
            help = f"connect it: `connection {RPC_CALL.name} name(from task.interface, to {cpi.name});`"
        elif callers:
            help = f"`{callers[0].caller}` is not reachable from a task either: begin there"
        elif not users:
            help = f"no code of `{links[0].user.instance}` that executes jobs calls it"
        elif any(other.instance == users[0] for other in facts.system.cpis):
            help = f"if a CPI of `{users[0]}` calls it, add it to that CPI's `requests` clause"
        else:
            help = f"mark the component of `{users[0]}` with `requestor;`"
        yield Diagnostic(
            NO_TASK_REACHES,
            f"`{cpi.name}` is not reachable from any task",
            cpi.span,
            "connected, but not to a task" if links else "not connected",
            notes=("it has no threads",),
            help=help,
        )


def _calls(facts: Facts, user: ConnectionEnd) -> bool:
    """Whether code of an instance may call through this interface of it, as far as code is known."""
    if user.instance not in facts.code:
        return True
    handlers = f"{user.instance}."
    own = (c for name, c in facts.code.items() if name == user.instance or name.startswith(handlers))
    return any(user.interface in called for called in own)


CHECKS = (
    Check("connectors", (CONNECTOR_WITHOUT_PROTOCOLS,), _connectors),
    Check("callers", (UNMARKED_CONTROL, CALL_WITHOUT_TASK, MIXED_CALLERS, MAYBE_WITHOUT_TASK), _strays),
)

#: what can be why no task reaches a CPI
_REACHING = ("callers", "connectors", "deadlock", "requests-contradicted")

#: after those of clauses
UNREACHED = (Check("unreached", (NO_TASK_REACHES,), _unreached, _REACHING),)
