# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Stated thread counts against what the requests need."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.diagnostics import Diagnostic, Label
from camkes.diagnostics.words import listing
from camkes.protocols.checks.base import Check, Facts, number, route, through
from camkes.protocols.codes import TOO_FEW_THREADS, TOO_MANY_THREADS


def _find(facts: Facts) -> Iterator[Diagnostic]:
    for planned in facts.plan.cpis:
        fixed = planned.protocol.own_priority
        # A system that runs needs a thread even where no task is in sight.
        least = max(1, planned.threads_minimum)
        wanted = 1 if fixed else len(planned.contexts)
        stated = facts.graph.cpis[planned.name].stated_threads
        if stated is None:
            continue
        place = facts.graph.cpis[planned.name].spans.get("threads", planned.span)
        if stated < least:
            related = []
            for name in planned.tasks:
                task = facts.graph.tasks[name]
                way = through(route(facts.graph, name, planned.name))
                related.append(Label(task.span, f"`{name}` requests it{way}"))
            notes = []
            if least < wanted:
                notes.append(f"because of locks, only {least} of {wanted} origins can make requests at once")
            yield Diagnostic(
                TOO_FEW_THREADS,
                f"{number(stated, 'thread')} cannot serve the {number(least, 'request')} that "
                f"`{planned.name}` can receive at once",
                place,
                f"at least {least}",
                tuple(related),
                tuple(notes),
                f"remove the count: {number(wanted, 'thread')} are created, one for each origin of requests",
            )
        elif stated > wanted and planned.contexts:
            why = (
                "a fixed CPI serves one request at a time, with one thread"
                if fixed
                else f"requests come from {listing(context.name for context in planned.contexts)}"
            )
            yield Diagnostic(
                TOO_MANY_THREADS,
                f"`{planned.name}` needs {number(wanted, 'thread')}, not {stated}",
                place,
                f"{number(stated - wanted, 'thread')} would never run",
                notes=(why,),
                help=f"remove the count: {number(wanted, 'thread')} will be created",
            )


CHECKS = (Check("threads", (TOO_FEW_THREADS, TOO_MANY_THREADS), _find, ("deadlock",)),)
