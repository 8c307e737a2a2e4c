# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Stated ceilings are at least what the requests need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from camkes.diagnostics import Diagnostic, Label
from camkes.diagnostics.words import listing
from camkes.model.system import Cpi
from camkes.protocols.checks.base import Check, Facts, route, through
from camkes.protocols.codes import CEILING_BELOW_CALLER, CEILING_BELOW_REQUESTOR
from camkes.protocols.contexts import Context


def _highest(facts: Facts, context: Context) -> int:
    """The highest priority of a context's requests, as far as it is known: a task can help others."""
    task = facts.plan.task(context.name) if context.is_task else None
    known = all(condition.lending.known for condition in facts.plan.conditions)
    return task.highest if task is not None and known else context.base_priority


def _find(facts: Facts) -> Iterator[Diagnostic]:
    for planned in facts.plan.cpis:
        cpi = facts.graph.cpis[planned.name]
        stated = cpi.stated_priority
        if stated is None:
            continue
        above = [context for context in planned.contexts if _highest(facts, context) > stated]
        for is_task in (True, False):
            if chosen := [context for context in above if context.is_task is is_task]:
                yield _too_low(facts, cpi, stated, chosen, max(_highest(facts, c) for c in planned.contexts))


def _too_low(facts: Facts, cpi: Cpi, stated: int, above: Sequence[Context], needed: int) -> Diagnostic:
    is_task = above[0].is_task
    related = []
    for context in above:
        node = facts.graph.tasks[context.name] if is_task else facts.graph.cpis[context.name]
        way = through(route(facts.graph, context.name, cpi.name))
        span = node.spans.get("priority") or node.spans.get("protocol", node.span)
        highest = _highest(facts, context)
        helps = f", as a helper up to {highest}," if highest > context.base_priority else ""
        related.append(
            Label(span, f"`{context.name}` has priority {context.base_priority}{helps} and requests it{way}")
        )
    who = "task" if is_task else "fixed CPI"
    names = listing(context.name for context in above)
    return Diagnostic(
        CEILING_BELOW_REQUESTOR if is_task else CEILING_BELOW_CALLER,
        f"the ceiling of `{cpi.name}` is below the priority of {who}{'s' if len(above) > 1 else ''} {names}",
        cpi.spans.get("priority", cpi.span),
        f"{stated}, but requests can have {needed}",
        tuple(related),
        () if is_task else ("a fixed CPI serves all requests at its own priority",),
        f"remove this, and the ceiling is computed ({needed}); or write at least {needed}",
    )


CHECKS = (
    Check(
        "ceilings",
        (CEILING_BELOW_REQUESTOR, CEILING_BELOW_CALLER),
        _find,
        ("deadlock",),
    ),
)
