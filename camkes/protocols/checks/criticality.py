# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Criticality, and words for time that have no effect where they are."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.model.limits import MAX_PRIORITY
from camkes.model.overrun import OverrunPolicy
from camkes.model.settings import (
    BUDGETS,
    CRITICALITY,
    DEGRADED,
    EXTENSION,
    EXTENSION_PERIOD,
    OVERRUN,
    REFILLS,
    SERVER,
    WCETS,
)
from camkes.model.system import Cpi, Instance, Task
from camkes.protocols.checks.base import Check, Facts
from camkes.protocols.checks.time import subjects
from camkes.protocols.codes import (
    BANDS_RANGE,
    CRITICAL_WAITS,
    NEEDS_MCS,
    RAISE_WITHOUT_LEVEL,
    TIME_WORD_UNUSED,
)

#: what only an MCS kernel does; budgets are accepted for either kernel, as camkes-tool does
_MCS_WORDS = (OVERRUN, SERVER, REFILLS, EXTENSION, EXTENSION_PERIOD, CRITICALITY, DEGRADED, *BUDGETS)
_OF_TASKS = (*_MCS_WORDS, *WCETS)
_OF_CPIS = (OVERRUN, EXTENSION, EXTENSION_PERIOD, *WCETS)


def _waits(facts: Facts) -> Iterator[Diagnostic]:
    """Under `wait` a critical task would wait for the budget of one that may have none for long."""
    for planned in facts.plan.cpis if facts.plan.mcs else ():
        cpi = facts.graph.cpis[planned.name]
        tasks = sorted((facts.graph.tasks[name] for name in planned.tasks), key=lambda task: task.criticality)
        if cpi.overrun is not OverrunPolicy.WAIT or not cpi.protocol.lock or not tasks:
            continue
        low, high = tasks[0], tasks[-1]
        if low.criticality == high.criticality:
            continue
        yield Diagnostic(
            CRITICAL_WAITS,
            f"`{high.instance}` of criticality {high.criticality} shares `{planned.name}` with"
            f" `{low.instance}` of criticality {low.criticality}, and the overrun policy is `wait`",
            cpi.spans.get("overrun", cpi.span),
            f"waits for the next budget of `{low.instance}`",
            (
                Label(high.spans.get("criticality", high.span), f"criticality {high.criticality}"),
                Label(low.spans.get("criticality", low.span), f"criticality {low.criticality}"),
            ),
            (
                f"while `{low.instance}` holds the lock without a budget, `{high.instance}` cannot have it; a"
                " raised criticality gives none",
            ),
            f"write `overrun abort`, or `extend`{', or `help`' if cpi.protocol.inherits else ''}",
        )


def _bands(facts: Facts) -> Iterator[Diagnostic]:
    highest = MAX_PRIORITY - any(
        cpi.protocol.own_priority and cpi.stated_priority == MAX_PRIORITY for cpi in facts.system.cpis
    )
    raised = [(max(task.priorities), task.name) for task in facts.plan.tasks if task.priorities]
    for task in facts.system.tasks if raised else ():
        if task.priority == 0:
            yield Diagnostic(
                BANDS_RANGE,
                f"`{task.instance}` has the priority of the thread that sees that the processor is idle",
                task.spans.get("priority", task.span),
                "when this executes, the criticality of the system falls",
                help="use a priority of at least 1",
            )
    if not raised or max(raised)[0] <= highest:
        return
    priority, name = max(raised)
    task = facts.graph.tasks[name]
    planned = next(each for each in facts.plan.tasks if each.name == name)
    steps = ", ".join(f"{each} at {level}" for level, each in enumerate(planned.priorities))
    yield Diagnostic(
        BANDS_RANGE,
        f"`{name}` needs priority {priority} while the criticality is raised, and the highest is {highest}",
        task.spans.get("criticality", task.span),
        f"priorities {steps}",
        notes=("tasks of the system's criticality have priorities above all others, in the same order",),
        help="use priorities that are closer together: less criticality need not mean less priority",
    )


def _raise(facts: Facts) -> Iterator[Diagnostic]:
    for task in facts.system.tasks:
        if task.overrun is OverrunPolicy.RAISE and task.criticality == 0:
            yield Diagnostic(
                RAISE_WITHOUT_LEVEL,
                f"`{task.instance}` raises the criticality of the system when its budget is used up, but has"
                " criticality 0 itself",
                task.spans.get("overrun", task.span),
                "it would be degraded by its own overrun",
                help=f"set `{task.instance}.{CRITICALITY.of('_')} = 1;`, or write `stop`",
            )


def _no_effect(facts: Facts) -> Iterator[Diagnostic]:
    """Words for tasks and CPIs on what is neither, and values that never hold."""
    for instance in facts.system.instances:
        yield from _misplaced(facts, instance)
    most = max((task.criticality for task in facts.system.tasks), default=0)
    for subject in subjects(facts):
        yield from _unused(subject, most)
    seen: set[Span] = set()
    for instance in facts.system.instances:
        span = instance.type.criticality_span
        if span is not None and most == 0 and span not in seen:
            seen.add(span)
            yield _nothing("`criticality_control` has no effect: all tasks have criticality 0", span)


def _misplaced(facts: Facts, instance: Instance) -> Iterator[Diagnostic]:
    places = [("_", instance.name in facts.graph.tasks, _OF_TASKS, "task")]
    for interface in instance.type.interfaces:
        cpi = f"{instance.name}.{interface.name}" in facts.graph.cpis
        places.append((f"{interface.name}_", cpi, _OF_CPIS, "CPI with a protocol"))
        clause = (interface.clause_spans or {}).get(OVERRUN.name)
        if clause is not None and not cpi and interface.name not in instance.type.exported:
            yield _nothing(
                f"`overrun` of `{instance.type.name}.{interface.name}` has no effect: the interface has no"
                " protocol",
                clause,
            )
    for prefix, right, words, what in places:
        for known in () if right else words:
            span = instance.undeclared(known.of(prefix))
            if span is not None:
                name = f"{instance.name}.{prefix}".rstrip("._")
                yield _nothing(
                    f"`{instance.name}.{known.of(prefix)}` has no effect: `{name}` is not a {what}",
                    span,
                )


def _unused(subject: Task | Cpi, most: int) -> Iterator[Diagnostic]:
    name = subject.name if isinstance(subject, Cpi) else subject.instance
    rules = subject.overrun.rules
    if not (rules.extends or rules.aborts):
        for known in (EXTENSION, EXTENSION_PERIOD):
            if (span := subject.spans.get(known.name)) is not None:
                policy = f"the overrun policy of `{name}` is `{subject.overrun.value}`"
                yield _nothing(
                    f"this {known.name.replace('_', ' ')} has no effect: {policy}",
                    span,
                )
    limit = subject.criticality if isinstance(subject, Task) else most
    for level, known in ((i + 1, known) for levels in (BUDGETS, WCETS) for i, known in enumerate(levels)):
        span = subject.spans.get(known.name)
        if span is not None and level > limit:
            why = (
                f"`{name}` has criticality {limit}"
                if isinstance(subject, Task)
                else f"no task has criticality {level}"
            )
            yield _nothing(f"`{known.name}` of `{name}` has no effect: {why}", span)
    if isinstance(subject, Task) and "degraded" in subject.spans and subject.criticality == most:
        yield _nothing(
            f"`{name}` is never degraded: no task has a criticality above {most}", subject.spans["degraded"]
        )


def _nothing(message: str, span: Span) -> Diagnostic:
    return Diagnostic(TIME_WORD_UNUSED, message, span, "not used")


def _kernel(facts: Facts) -> Iterator[Diagnostic]:
    """One warning for all that another kernel would be needed for."""
    if facts.plan.mcs:
        return
    words = {known.name for known in _MCS_WORDS}
    places = [
        (f"`{word}` of `{subject.name if isinstance(subject, Cpi) else subject.instance}`", span)
        for subject in subjects(facts)
        for word, span in subject.spans.items()
        if word in words
    ]
    controls = (
        (f"`criticality_control` of `{i.type.name}`", i.type.criticality_span) for i in facts.system.instances
    )
    places += [(what, span) for what, span in controls if span is not None]
    spans = {span: what for what, span in reversed(places)}
    if spans:
        (span, what), *others = sorted(spans.items(), key=lambda each: (str(each[0].file.path), each[0][1:]))
        yield Diagnostic(
            NEEDS_MCS,
            f"{what} has no effect: the kernel is not an MCS kernel",
            span,
            "needs budgets, which only an MCS kernel has",
            tuple(Label(place, "so does this") for place, _ in others[:5]),
            help="build and run with -DKernelIsMCS=ON",
        )


CHECKS = (
    Check("critical-task-waits", (CRITICAL_WAITS,), _waits, ("deadlock",)),
    Check("bands", (BANDS_RANGE,), _bands),
    Check("raise-without-level", (RAISE_WITHOUT_LEVEL,), _raise),
    Check("time-word-unused", (TIME_WORD_UNUSED,), _no_effect),
    Check("needs-mcs", (NEEDS_MCS,), _kernel),
)
