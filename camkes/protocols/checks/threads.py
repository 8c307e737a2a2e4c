# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Stated thread counts against what the requests need."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.diagnostics import Diagnostic, Label
from camkes.model.system import Protocol
from camkes.protocols.checks.base import Check, Facts, listing, number, route, through
from camkes.protocols.codes import CONFLICTING_THREADS, TOO_FEW_THREADS, TOO_MANY_THREADS


def _conflict(facts: Facts) -> Iterator[Diagnostic]:
    for name, stated in facts.graph.stated_threads.items():
        for other in stated[1:]:
            if other.threads != stated[0].threads:
                yield Diagnostic(
                    CONFLICTING_THREADS,
                    f"`{name}` is said to have {stated[0].threads} and {number(other.threads, 'thread')}",
                    other.span,
                    f"{other.threads} here",
                    (Label(stated[0].span, f"{stated[0].threads} here"),),
                    help="state the count once, or not at all: it is computed",
                )


def _find(facts: Facts) -> Iterator[Diagnostic]:
    for planned in facts.plan.cpis:
        fixed = planned.protocol is Protocol.FIXED
        # A system that runs needs a thread even where no task is in sight.
        least = max(1, planned.threads_minimum)
        wanted = 1 if fixed else len(planned.contexts)
        for stated in facts.graph.stated_threads[planned.name][:1]:
            if stated.threads < least:
                related = []
                for name in planned.tasks:
                    task = facts.graph.tasks[name]
                    way = through(route(facts.graph, name, planned.name))
                    related.append(Label(task.span, f"`{name}` requests it{way}"))
                notes = []
                if least < wanted:
                    notes.append(f"locks on the way let {least} of {wanted} origins through at once")
                yield Diagnostic(
                    TOO_FEW_THREADS,
                    f"{number(stated.threads, 'thread')} cannot serve the "
                    f"{number(least, 'request')} that `{planned.name}` can have at once",
                    stated.span,
                    f"at least {least}",
                    tuple(related),
                    tuple(notes),
                    f"leave the count out: {number(wanted, 'thread')}, one for each origin of requests",
                )
            elif stated.threads > wanted and planned.contexts:
                why = (
                    "a fixed CPI serves one request at a time, with one thread"
                    if fixed
                    else f"requests come from {listing(context.name for context in planned.contexts)}"
                )
                yield Diagnostic(
                    TOO_MANY_THREADS,
                    f"`{planned.name}` needs {number(wanted, 'thread')}, not {stated.threads}",
                    stated.span,
                    f"{number(stated.threads - wanted, 'thread')} would never run",
                    notes=(why,),
                    help=f"{number(wanted, 'thread')} will be made; leave the count out",
                )


CHECKS = (
    Check("thread-conflict", (CONFLICTING_THREADS,), _conflict),
    Check("threads", (TOO_FEW_THREADS, TOO_MANY_THREADS), _find, ("deadlock", "thread-conflict")),
)
