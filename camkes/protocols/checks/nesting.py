# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What may not be called while a lock is held."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.diagnostics import Diagnostic, Label
from camkes.protocols.checks.base import Check, Facts, strays_for_certain
from camkes.protocols.codes import PLAIN_BELOW_LOCK
from camkes.protocols.cycles import path


def _find(facts: Facts) -> Iterator[Diagnostic]:
    """A thread without a protocol would run at a priority that has nothing to do with the lock's."""
    graph = facts.graph
    locked = graph.below(name for name, cpi in graph.cpis.items() if cpi.protocol.lock)
    types = {instance.name: instance.type for instance in facts.system.instances}
    # that these have no protocol is an error already
    reported = {request.caller for request in strays_for_certain(graph)}
    for call in graph.plain_calls:
        if call.caller not in locked or call.callee in reported:
            continue
        hops = path(locked, call.caller)
        related = [Label(hop.span, f"`{hop.caller}` requests `{hop.callee}`") for hop in hops]
        lock = hops[0].caller if hops else call.caller
        cpi = graph.cpis[lock]
        span = cpi.spans.get("protocol", cpi.span)
        related.insert(0, Label(span, f"`{lock}` is {cpi.protocol.value}: a lock"))
        component, _, name = call.callee.rpartition(".")
        interface = types[component].interface(name) if component in types else None
        if interface is not None:
            related.append(Label(interface.span, f"`{call.callee}` has no protocol"))
        notes = [
            "a thread without a protocol does not inherit priorities, and the holder of the lock waits for it"
        ]
        help = f"give `{call.callee}` a protocol; if one request at a time is enough, `fixed`"
        if call.source == "all":
            uses = call.via.rpartition(".")[2]
            notes.append(
                f"without a `requests` clause, `{call.caller}` is assumed to call every `uses` interface; "
                f"a clause can leave out `{uses}`"
            )
        where = "" if lock == call.caller else f", while `{lock}` is held"
        yield Diagnostic(
            PLAIN_BELOW_LOCK,
            f"invalid nesting: `{call.caller}` calls `{call.callee}`, which has no protocol{where}",
            call.span,
            "called while a lock is held",
            tuple(related),
            tuple(notes),
            help,
        )


CHECKS = (Check("nesting", (PLAIN_BELOW_LOCK,), _find),)
