# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Waits `with helpers` as requests: a waiting job lends its priority to tasks without a period, which end the
wait after a stated time. So a wait is a request to the lock of these servers (Cucinotta et al., Sect. 4)."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import NamedTuple

from camkes.model.system import System
from camkes.protocols.plan import Plan


def servers(system: System, plan: Plan) -> Set[str]:
    """The tasks without a period that help: they execute on behalf of waiting jobs. Those that help in a
    monitor alone are left out, as such a wait has no bound."""
    periodic = {task.instance for task in system.tasks if task.period is not None or task.release}
    outside = (each for each in plan.conditions if each.lending.condition.kind != "condition")
    return {name for each in outside for name in each.lending.tasks()} - periodic


class HelpedWait(NamedTuple):
    """A wait for `condition` as a request of the tasks and CPIs `waiting`, of `work` nanoseconds and with a
    `lock`. To serve it the `helpers` make requests of their own and wait for `conditions`."""

    condition: str
    waiting: tuple[str, ...]
    helpers: tuple[str, ...]
    conditions: tuple[str, ...]
    work: int
    lock: str


def helped_waits(plan: Plan, serving: Set[str]) -> Iterator[HelpedWait]:
    """All waits but those in monitors, which have no bound. Conditions with a helper in common have one
    lock; the helpers execute for no time where none is stated. What waits in a task that is `serving` others
    is counted with the waits that it ends."""
    lock: dict[str, str] = {}
    known = [each for each in plan.conditions if each.lending.condition.kind != "condition"]
    for each in known:
        helpers = each.lending.tasks()
        joined = {lock.setdefault(name, name) for name in helpers}
        lock = {name: min(joined) if of in joined else of for name, of in lock.items()}
    for each in known:
        helpers = each.lending.tasks()
        others = (o for o in known if o is not each and not o.lending.waiters.keys().isdisjoint(helpers))
        yield HelpedWait(
            each.name,
            tuple(name for name in each.lending.waiters if name not in serving),
            helpers,
            tuple(other.name for other in others),
            each.lending.condition.within or 0,
            lock[helpers[0]] if helpers else each.name,
        )
