# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks: their marks, priorities and ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.diagnostics.words import listing
from camkes.model.bands import bands_by_task
from camkes.model.configured import DEFAULTS
from camkes.model.limits import MAX_PRIORITY, TASK_IDS
from camkes.model.settings import PRIORITY
from camkes.model.system import Cpi, System, Task, in_digits
from camkes.model.units import duration
from camkes.protocols.checks.base import Check, Facts
from camkes.protocols.codes import (
    DUPLICATE_TASK_ID,
    NO_PRIORITY,
    NOT_RATE_MONOTONIC,
    PRIORITY_OF_NON_PREEMPTIVE,
    REQUESTOR_PROVIDES_CPI,
    TASK_ID_RANGE,
)
from camkes.protocols.jobs import find_jobs

_CLOSE = 0.8  # how alike a name is that may be a slip


def _no_priority(facts: Facts) -> Iterator[Diagnostic]:
    for task in facts.system.tasks:
        if task.priority is None and PRIORITY.name not in task.spans:
            slips = tuple(_slips(facts.system, task))
            yield Diagnostic(
                NO_PRIORITY,
                f"task `{task.instance}` has no priority",
                task.span,
                "the task of this control thread",
                slips,
                help=f"correct the name: `{task.instance}._priority = N;`"
                if slips
                else f"add `{task.instance}._priority = N;` to a configuration",
            )


def _slips(system: System, task: Task) -> Iterator[Label]:
    """Settings with a name like that of the priority, or of an instance with a name like the task's."""
    priority = PRIORITY.of("_")
    from difflib import get_close_matches  # slow to import, and only mistakes need it

    own = system.instance(task.instance)
    written = {} if own is None else own.settings
    for name in get_close_matches(priority, written, 1, _CLOSE):
        yield Label(written[name].span, f"the value of `{name}`; `{priority}` is meant?")
    for name in get_close_matches(task.instance, system.other_settings, 1, _CLOSE):
        setting = system.other_settings[name].get(priority)
        if setting is not None:
            yield Label(setting.span, f"the priority of `{name}`; `{task.instance}` is meant?")


def _non_preemptive(facts: Facts) -> Iterator[Diagnostic]:
    """Round robin at 255 would let another thread into a section that must not be preempted."""
    fixed = [c for c in facts.system.cpis if c.protocol.own_priority and c.stated_priority == MAX_PRIORITY]
    if not fixed:
        return
    stated = [(f"task `{t.instance}`", t.priority, t.spans, t.span) for t in facts.system.tasks]
    stated += [
        (f"CPI `{c.name}`", c.stated_priority, c.spans, c.span)
        for c in facts.system.cpis
        if not c.protocol.own_priority
    ]
    first = fixed[0]
    place = Label(first.spans.get("priority", first.span), f"`{first.name}` is non-preemptive")
    for name, priority, spans, span in stated:
        if priority == MAX_PRIORITY:
            yield Diagnostic(
                PRIORITY_OF_NON_PREEMPTIVE,
                f"priority {MAX_PRIORITY} of {name} is reserved for non-preemptive CPIs",
                spans.get("priority", span),
                "the maximum here is 254",
                (place,),
                ("threads of equal priority can preempt each other, and this CPI must not be preempted",),
                "use 254 or less, or remove the CPI's priority, and its ceiling is computed",
            )


def _duplicate_id(facts: Facts) -> Iterator[Diagnostic]:
    first: dict[int, Task] = {}
    for task in facts.system.tasks:
        if task.stated_id is None:
            continue
        other = first.setdefault(task.stated_id, task)
        if other is not task:
            yield Diagnostic(
                DUPLICATE_TASK_ID,
                f"tasks `{other.instance}` and `{task.instance}` both have id {task.stated_id}",
                task.spans.get("id", task.span),
                f"`{task.instance}` has {task.stated_id} as well",
                (Label(other.spans.get("id", other.span), f"`{other.instance}` has {task.stated_id}"),),
                help=f"remove the number, and an id is assigned; or set `{task.instance}.requestor = N;`",
            )


def _id_range(facts: Facts) -> Iterator[Diagnostic]:
    for planned in facts.plan.tasks:
        if 0 <= planned.id < TASK_IDS:
            continue
        task = facts.graph.tasks[planned.name]
        count = len(facts.plan.tasks)
        crowd = (f"the system has {count} tasks, more than there are ids",) if count > TASK_IDS else ()
        yield Diagnostic(
            TASK_ID_RANGE,
            f"id {in_digits(planned.id)} of task `{planned.name}` is not in 0..{TASK_IDS - 1}",
            task.spans.get("id", task.span),
            "does not fit the label of a message" if planned.id >= TASK_IDS else "not a valid id",
            notes=crowd,
            help="" if crowd else "remove the number, and an id is assigned",
        )


def _both(facts: Facts) -> Iterator[Diagnostic]:
    provided: dict[str, list[Cpi]] = {}
    for cpi in facts.system.cpis:
        provided.setdefault(cpi.instance, []).append(cpi)
    types = {instance.name: instance.type for instance in facts.system.instances}
    seen: set[Span] = set()
    for task in facts.system.tasks:
        cpis = provided.get(task.instance, [])
        places = [Label(c.spans.get("protocol", c.span), f"provides `{c.interface}`") for c in cpis]
        if seen.issuperset(place.span for place in places):
            continue  # another instance of the same component
        seen.update(place.span for place in places)
        yield Diagnostic(
            REQUESTOR_PROVIDES_CPI,
            f"`{task.instance}` is a requestor and provides CPI {listing(c.name for c in cpis)}",
            types[task.instance].requestor_span or task.span,
            "declared as a requestor",
            tuple(places),
            ("a request could then return to the component of its own task",),
            "put the CPI in a component of its own",
        )


class _Timed(NamedTuple):
    """A task with a priority and with a period, or with another deadline, which counts then (`word`)."""

    interval: int
    priority: int
    task: Task
    word: str


def _order(facts: Facts) -> Iterator[Diagnostic]:
    """Deadline-monotonic, which is rate-monotonic where no deadline is given; among the tasks of a core and a
    scheduling domain."""
    known: dict[tuple[int, int], list[_Timed]] = {}
    ordered = bands_by_task(facts.system.bands)  # by their schedulers
    jobs_of = find_jobs(facts.system, facts.plan)
    for task in facts.system.tasks:
        jobs = jobs_of[task.instance]
        if task.priority is not None and jobs.period is not None and task.instance not in ordered:
            if jobs.deadline is not None and jobs.deadline != jobs.period:
                timed = _Timed(jobs.deadline, task.priority, task, "deadline")
            else:
                timed = _Timed(jobs.period, task.priority, task, "period")
            instance = facts.system.instance(task.instance)
            assert instance is not None
            thread = instance.configured.control
            known.setdefault((DEFAULTS.affinity_of(thread), thread.domain), []).append(timed)
    for competing in known.values():
        yield from _out_of_order(competing)


def _out_of_order(known: Sequence[_Timed]) -> Iterator[Diagnostic]:
    higher: _Timed | None = None  # of longer interval, the first of highest priority
    group: list[_Timed] = []
    for this in sorted(known, key=lambda timed: timed.interval, reverse=True):
        if group and group[0].interval > this.interval:
            candidates = group if higher is None else [higher, *group]
            higher = max(candidates, key=lambda timed: timed.priority)
            group = []
        group.append(this)
        if higher is not None and this.priority < higher.priority:
            task, other = this.task, higher.task
            names = f"`{task.instance}` has a shorter {this.word} than `{other.instance}`"
            yield Diagnostic(
                NOT_RATE_MONOTONIC,
                f"task {names} but a lower priority",
                task.spans.get("priority", task.span),
                f"{this.word} {duration(this.interval)}, priority {this.priority}",
                (
                    Label(
                        other.spans.get("priority", other.span),
                        f"{higher.word} {duration(higher.interval)}, priority {higher.priority}",
                    ),
                ),
                ("the task with the shortest interval first is the best order of fixed priorities",),
                f"give `{task.instance}` a priority above {higher.priority}",
            )


CHECKS = (
    Check("task-priority", (NO_PRIORITY,), _no_priority),
    Check("non-preemptive", (PRIORITY_OF_NON_PREEMPTIVE,), _non_preemptive),
    Check("duplicate-task-id", (DUPLICATE_TASK_ID,), _duplicate_id),
    Check("task-id-range", (TASK_ID_RANGE,), _id_range),
    Check("requestor-provides-cpi", (REQUESTOR_PROVIDES_CPI,), _both),
    Check("priority-order", (NOT_RATE_MONOTONIC,), _order),
)
