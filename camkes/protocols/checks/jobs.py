# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Values that are stated of jobs and do not count."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.diagnostics import Diagnostic, Label
from camkes.model.settings import PERIOD
from camkes.model.units import duration
from camkes.protocols.checks.base import Check, Facts
from camkes.protocols.codes import PERIOD_OVERRULED
from camkes.protocols.jobs import find_jobs


def _periods(facts: Facts) -> Iterator[Diagnostic]:
    """Where the period of the task that emits the event counts."""
    for name, jobs in find_jobs(facts.system, facts.plan).items():
        if jobs.overruled is None or jobs.period is None:
            continue
        task, emitter = facts.graph.tasks[name], facts.graph.tasks[jobs.emitter]
        budget = facts.plan.mcs and task.budget is not None
        yield Diagnostic(
            PERIOD_OVERRULED,
            f"the period of `{name}` is {duration(jobs.period)}, not {duration(jobs.overruled)}: jobs of"
            f" `{jobs.emitter}` emit `{jobs.event}`, which releases it",
            task.spans.get(PERIOD.name, task.span),
            "does not count",
            (Label(emitter.spans.get(PERIOD.name, emitter.span), f"the period of `{jobs.emitter}`"),)
            if emitter.period is not None
            else (),
            notes=("it is the time after which the kernel refills the budget all the same",)
            if budget
            else (),
            help=f"state {duration(jobs.period)}, too"
            if budget
            else f"remove `{name}.{PERIOD.of('_')}`, or state it as `{name}._deadline` if that is meant",
        )


CHECKS = (Check("periods", (PERIOD_OVERRULED,), _periods, ("deadlock",)),)
