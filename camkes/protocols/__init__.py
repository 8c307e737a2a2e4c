# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The real-time protocols as a matter of the whole system: requests, plan and checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from camkes.diagnostics import Severity
from camkes.protocols.checks import Facts, run_checks
from camkes.protocols.checks.domains import check_domains
from camkes.protocols.checks.inversion import inversions
from camkes.protocols.checks.plain import plain_cycles
from camkes.protocols.codes import CALL_WITHOUT_TASK, DELAYED_BY_SERVER, MIXED_CALLERS, PLAIN_BELOW_LOCK
from camkes.protocols.cycles import shortest_cycle
from camkes.protocols.methods import stated_calls
from camkes.protocols.plan import Plan, plan_requests
from camkes.protocols.requests import build_graph
from camkes.protocols.signals import find_lending, find_signallers, stated_helpers, waiting_code

if TYPE_CHECKING:
    from camkes.diagnostics import Sink
    from camkes.model.system import System
    from camkes.protocols.methods import MethodCalls
    from camkes.protocols.plan import Plan
    from camkes.protocols.requests import CallGraph, Chains, Counts, RequestGraph
    from camkes.protocols.signals import Lending, Operations


def analyse(
    system: System,
    sink: Sink,
    code: CallGraph | None = None,
    chains: Chains | None = None,
    operations: Operations | None = None,
    counts: Counts | None = None,
    by_method: MethodCalls | None = None,
) -> Plan | None:
    """Build the request graph, plan the system and check it. The plan, or None where an error was found.

    `code` is what compiled handlers call ("inst.iface" -> names of `uses` interfaces), `chains` how;
    `operations` is the same for functions that wait and signal, `counts` how often they call, and `by_method`
    which methods single methods call.
    """
    if _can_cycle(system):
        for diagnostic in plain_cycles(system, code or {}):
            sink.add(diagnostic)
    schedulable = True
    for diagnostic in check_domains(system):
        sink.add(diagnostic)
        schedulable = schedulable and diagnostic.severity is not Severity.ERROR
    for diagnostic in inversions(system, code or {}, read=operations is not None):
        sink.add(diagnostic)
    signallers = {} if operations is None else find_signallers(system, operations)
    if not _is_real_time(system):
        return None if not schedulable else Plan((), (), (), (), mcs=system.mcs, signallers=signallers)
    graph = build_graph(system, code, counts)
    plan = plan_requests(system, graph, _lending(system, graph, operations or {}))
    plan = replace(plan, counts=counts or {}, by_method={**(by_method or {}), **stated_calls(system)})
    facts = Facts(system, graph, plan, code or {}, chains or {}, operations, by_method or {})
    good = run_checks(facts, sink)
    _forget_delays(sink)
    if operations is not None:
        waiting = waiting_code(system, graph, operations)
        plan = replace(plan, waiting=waiting, signallers=signallers)
    return plan if good and schedulable else None


def _forget_delays(sink: Sink) -> None:
    """Forget whom servers delay because they have no protocol, where that is an error."""
    errors = (CALL_WITHOUT_TASK, MIXED_CALLERS, PLAIN_BELOW_LOCK)
    unprotected = {label.span for d in sink.diagnostics if d.code in errors for label in d.related}
    sink.keep(lambda d: d.code is not DELAYED_BY_SERVER or d.span not in unprotected)


def _lending(system: System, graph: RequestGraph, operations: Operations) -> list[Lending]:
    """The lending at each condition: helpers are those that are stated, or else computed."""
    found = (find_lending(system, graph, operations, condition) for condition in system.conditions)
    return [stated_helpers(lending) for lending in found]


def sketch(system: System) -> tuple[Plan, tuple[str, ...]]:
    """A plan for a picture of a system, which may have mistakes; and the CPIs of a cycle, if there is one."""
    graph = build_graph(system)
    cycles = (shortest_cycle(graph.outgoing, part) for part in graph.components() if graph.is_cycle(part))
    found = next(cycles, [])
    return plan_requests(system, graph, _lending(system, graph, {})), tuple(
        request.caller for request in found
    )


def _can_cycle(system: System) -> bool:
    """Whether a component provides procedures and uses some."""
    kinds = [{interface.kind for interface in i.type.interfaces} for i in system.instances]
    return any({"provides", "uses"} <= kind for kind in kinds)


def _is_real_time(system: System) -> bool:
    """Whether something in a system concerns the protocols: without, there is nothing to plan or check."""
    return (
        bool(system.mcs or system.tasks or system.cpis or system.conditions)
        or any(connection.threads is not None for connection in system.connections)
        or any(interface.clause_spans for i in system.instances for interface in i.type.interfaces)
    )
