# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Waits `with helpers` as requests: a waiting job lends its priority to tasks without a period, which end the
wait after a stated time. So a wait is a request to the lock of these servers (Cucinotta et al., Sect. 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from camkes.analysis.codes import MAY_WAIT, NO_WCET
from camkes.diagnostics import Label, Sink
from camkes.model.settings import WITHIN
from camkes.model.system import System
from camkes.protocols.plan import Plan, PlannedCondition
from camkes.protocols.signals import WAIT_UNTIL


def servers(system: System, plan: Plan) -> Set[str]:
    """The tasks without a period that help: they execute on behalf of waiting jobs."""
    periodic = {task.instance for task in system.tasks if task.period is not None or task.release}
    return {name for each in plan.conditions for name in each.lending.tasks()} - periodic


class HelpedWait(NamedTuple):
    """A wait for `condition` as a request of the tasks and CPIs `waiting`, of `work` nanoseconds and with a
    `lock`. To serve it the `helpers` make requests of their own and wait for `conditions`."""

    condition: str
    waiting: tuple[str, ...]
    helpers: tuple[str, ...]
    conditions: tuple[str, ...]
    work: int
    lock: str


def helped_waits(plan: Plan) -> Iterator[HelpedWait]:
    """The waits whose helpers have a time. Conditions with a helper in common have one lock."""
    lock: dict[str, str] = {}
    for each in plan.conditions:
        helpers = each.lending.tasks()
        joined = {lock.setdefault(name, name) for name in helpers}
        lock = {name: min(joined) if of in joined else of for name, of in lock.items()}
    known = [each for each in plan.conditions if each.lending.condition.within is not None]
    for each in known:
        helpers = each.lending.tasks()
        others = (o for o in known if o is not each and not o.lending.waiters.keys().isdisjoint(helpers))
        yield HelpedWait(
            each.name,
            tuple(name for name in each.lending.waiters if name not in lock),
            helpers,
            tuple(other.name for other in others),
            each.lending.condition.within or 0,
            lock[helpers[0]] if helpers else each.name,
        )


def check_conditions(system: System, plan: Plan, sink: Sink) -> None:
    """Report conditions whose waits have no bound."""
    tasks = {task.instance: task for task in system.tasks}
    for each in plan.conditions:
        condition = each.lending.condition
        span = condition.spans.get("helpers", condition.span)
        if condition.kind == "condition":
            sink.report(
                MAY_WAIT,
                f"a wait for `{each.name}` has no bound: it ends when the lock of its monitor is free again",
                span,
                help="wait for a semaphore or an event `with helpers`, outside of the monitor",
            )
        elif condition.within is None:
            sink.report(
                NO_WCET,
                f"the helpers of `{each.name}` have no execution time",
                span,
                notes=["a job waits until they have sent the signal"],
                help="write for how long they execute from the wait to the signal: in the component"
                " `with helpers, within 500 us`, or in the configuration"
                f" `{condition.instance}.{WITHIN.of(f'{condition.interface}_')} = 500 us;`",
            )
        _check_timed(each, sink)
        lowest = min((tasks[n].priority or 0 for n in _waiting_tasks(plan, each) if n in tasks), default=0)
        for name in each.lending.tasks():
            helper = plan.task(name)
            spans = tasks[name].spans if name in tasks else {}
            if (period := spans.get("period") or spans.get("release")) is not None:
                sink.report(
                    MAY_WAIT,
                    f"a wait for `{each.name}` has no bound: its helper `{name}` waits for its next release",
                    span,
                    related=[Label(period, "its jobs are released one after the other")],
                    help="let a task without a period end the wait, which waits for requests alone",
                )
            elif helper is not None and helper.priority > lowest:
                sink.report(
                    MAY_WAIT,
                    f"the helper `{name}` of `{each.name}` has priority {helper.priority}, above that of"
                    " a task that waits",
                    span,
                    notes=["its execution is counted as work of the waiting jobs, at their priorities"],
                    help=f"give `{name}` a priority of at most {lowest}",
                )


def _check_timed(condition: PlannedCondition, sink: Sink) -> None:
    """Report code that may give up a wait: its helpers then do later, for no one, what was asked for."""
    lending = condition.lending
    function = f"{condition.interface}_{WAIT_UNTIL}"
    for caller, chain in lending.waiters.items():
        if lending.known and chain is not None and chain.functions[-1] == function:
            sink.report(
                MAY_WAIT,
                f"`{caller}` can give up its wait for `{condition.name}`: what its helpers have left to do"
                " then delays the next one, by a time that has no bound",
                chain.calls[-1] or condition.span,
                related=[Label(condition.span, "it is waited for here")],
                help=f"call `{condition.interface}_wait()`, which ends with the signal",
            )


def _waiting_tasks(plan: Plan, condition: PlannedCondition) -> Iterable[str]:
    for name in condition.lending.waiters:
        cpi = plan.cpi(name)
        yield from (name,) if cpi is None else cpi.tasks
