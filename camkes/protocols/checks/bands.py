# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Bands of priorities, whose tasks are ordered at user level."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from camkes.diagnostics import Diagnostic, Label
from camkes.model.bands import Band, bands_by_task
from camkes.model.limits import MAX_PRIORITY
from camkes.model.overrun import OverrunPolicy
from camkes.model.settings import CRITICALITY, OVERRUN, SLICE, WEIGHT
from camkes.model.system import Task
from camkes.protocols.checks.base import Check, Facts, number
from camkes.protocols.codes import (
    BAND_PRIORITIES,
    BAND_WORD,
    DEADLINE_MISSING,
    FAIR_NEEDS_MCS,
    PRIORITY_IN_BAND,
    WEIGHT_UNUSED,
)

#: the highest priority of a band; one more is that of non-preemptive CPIs
_HIGHEST = MAX_PRIORITY - 1


def _priorities(facts: Facts) -> Iterator[Diagnostic]:
    for band in facts.system.bands:
        needed = len(band.tasks)
        if band.priority is None:
            yield Diagnostic(
                BAND_PRIORITIES,
                f"scheduler `{band.instance}` has no priority",
                band.span,
                "the scheduler of this connection",
                notes=(
                    f"it has the highest priority of its band, and its {number(needed, 'task')} those below",
                ),
                help=f"add `{band.instance}._priority = N;` to a configuration",
            )
        elif not needed <= band.priority <= _HIGHEST:
            yield Diagnostic(
                BAND_PRIORITIES,
                f"the band of `{band.instance}` does not fit below its priority of {band.priority}",
                band.span,
                f"{number(needed, 'task')} need as many priorities below it",
                help=f"give `{band.instance}` a priority from {needed} to {_HIGHEST}",
            )
    fitting = [b for b in facts.system.bands if len(b.tasks) <= b.highest <= _HIGHEST]
    for lower, upper in pairwise(sorted(fitting, key=lambda band: band.highest)):
        if upper.lowest <= lower.highest:
            yield Diagnostic(
                BAND_PRIORITIES,
                f"the bands of `{lower.instance}` and `{upper.instance}` overlap",
                upper.span,
                _range(upper),
                (Label(lower.span, _range(lower)),),
                help=f"give `{upper.instance}` a priority from {lower.highest + len(upper.tasks) + 1} on",
            )


def _others(facts: Facts) -> Iterator[Diagnostic]:
    members = bands_by_task(facts.system.bands)
    for task in facts.system.tasks:
        own = members.get(task.instance)
        span = task.spans.get("priority", task.span)
        if own is not None and "priority" in task.spans:
            yield Diagnostic(
                PRIORITY_IN_BAND,
                f"`{task.instance}` is in the band of `{own.instance}`, so it cannot have a priority",
                span,
                f"it gets those of the band, {own.lowest} to {own.highest}",
                (Label(own.span, f"`{own.instance}` has the highest"),),
                help="remove it",
            )
        for band in facts.system.bands if own is None else ():
            if task.priority is not None and band.lowest <= task.priority <= band.highest:
                yield Diagnostic(
                    PRIORITY_IN_BAND,
                    f"priority {task.priority} of task `{task.instance}` is in the band of `{band.instance}`",
                    span,
                    "not one of the tasks of the band",
                    (Label(band.span, _range(band)),),
                    help=f"give it a priority below {band.lowest} or above {band.highest}",
                )


def _range(band: Band) -> str:
    return f"the band of `{band.instance}` is {band.lowest} to {band.highest}"


def _members(facts: Facts) -> Iterator[tuple[Band, Task]]:
    for band in facts.system.bands:
        for name in band.tasks:
            yield band, facts.graph.tasks[name]


def _deadlines(facts: Facts) -> Iterator[Diagnostic]:
    for band, task in _members(facts):
        if band.order.moves_requests and task.relative_deadline is None:
            yield Diagnostic(
                DEADLINE_MISSING,
                f"`{task.instance}` has no deadline, by which `{band.instance}` orders its jobs",
                task.span,
                "this task",
                help=f"add `{task.instance}._period = N ms;` or `{task.instance}._deadline = N ms;`",
            )


def _words(facts: Facts) -> Iterator[Diagnostic]:
    """What else would set the priorities of a task, or take its time."""
    for band, task in _members(facts):
        planned = facts.plan.task(task.instance)
        found = []
        if task.criticality:
            found.append((task.spans[CRITICALITY.name], "a criticality"))
        if task.overrun is not OverrunPolicy.WAIT:
            found.append((task.spans[OVERRUN.name], f"the overrun policy `{task.overrun.value}`"))
        if planned is not None and planned.conditions:
            condition = facts.plan.condition(planned.conditions[0])
            assert condition is not None
            found.append((condition.span, f"priorities of those that wait for `{condition.name}`"))
        for span, what in found:
            yield Diagnostic(
                BAND_WORD,
                f"`{task.instance}` cannot have {what}: its priority is set by `{band.instance}`",
                span,
                related=(Label(band.span, _range(band)),),
                help=f"remove it, or give `{task.instance}` a priority of its own, outside of the band",
            )


def _raised(facts: Facts) -> Iterator[Diagnostic]:
    """Raised priorities are above those that tasks have, and a band's tasks have several."""
    ordered = bands_by_task(facts.system.bands)
    critical = [task for task in facts.system.tasks if task.criticality and task.instance not in ordered]
    for band in facts.system.bands[:1]:
        for task in critical:
            yield Diagnostic(
                BAND_WORD,
                f"`{task.instance}` cannot have a criticality in a system with a band",
                task.spans[CRITICALITY.name],
                related=(Label(band.span, _range(band)),),
                help="remove it, or give the tasks of the band priorities of their own",
            )


def _measures(facts: Facts) -> Iterator[Diagnostic]:
    for band in facts.system.bands:
        if band.order.measures and not facts.system.mcs:
            yield Diagnostic(
                FAIR_NEEDS_MCS,
                f"`{band.instance}` divides the processor by what its tasks have used of it, and this kernel"
                " does not measure that",
                band.span,
                "for an MCS kernel only",
                help="add `-DKernelIsMCS=ON`, or use an `EDFScheduler`",
            )


def _unused(facts: Facts) -> Iterator[Diagnostic]:
    fair = [band for band in facts.system.bands if band.order.measures]
    uses = {WEIGHT: {name for band in fair for name in band.tasks}, SLICE: {band.instance for band in fair}}
    for instance in facts.system.instances:
        for known, right in uses.items():
            span = instance.undeclared(known.of("_"))
            if span is None or instance.name in right:
                continue
            weight = known is WEIGHT
            yield Diagnostic(
                WEIGHT_UNUSED,
                f"the {'weight' if weight else 'time slice'} of `{instance.name}` has no effect: "
                + ("no `FairScheduler` orders it" if weight else "it is not a `FairScheduler` with tasks"),
                span,
                help=f"connect it to one, or remove the {known.name}",
            )


CHECKS = (
    Check("band-priorities", (BAND_PRIORITIES,), _priorities),
    Check("band-others", (PRIORITY_IN_BAND,), _others, ("band-priorities",)),
    Check("band-deadlines", (DEADLINE_MISSING,), _deadlines),
    Check("band-words", (BAND_WORD,), _words),
    Check("band-criticality", (BAND_WORD,), _raised),
    Check("band-kernel", (FAIR_NEEDS_MCS,), _measures),
    Check("band-weights", (WEIGHT_UNUSED,), _unused),
)
