# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Scheduling contexts of threads on an MCS kernel.

Every thread has a context with its budget and period, but workers of CPIs with a protocol and the threads
of passive interfaces: these run on the time of their callers. To start, they borrow a context that their
instance keeps for that, one after the other; see `runtime/src/time/passive.c`.
"""

from __future__ import annotations

from camkes.capdl.callers import Wiring
from camkes.capdl.codes import PASSIVE_CONNECTOR, SHORT_ON_MCS
from camkes.capdl.details import Scheduling
from camkes.capdl.model import Role, Thread
from camkes.diagnostics import Label, Sink
from camkes.model.connectors import Carries, names, support
from camkes.model.settings import BUDGET, PASSIVE, PERIOD, SHORTEST_TIME
from camkes.model.system import System


class TimePlanner:
    """Decides on whose time each thread runs."""

    def __init__(self, system: System, sink: Sink) -> None:
        self.system = system
        self.sink = sink
        self.wiring = Wiring(system)
        self.tasks = {task.instance for task in system.tasks}

    def passive(self, thread: Thread) -> bool:
        """Whether a thread runs on the time of its callers. Without callers it cannot."""
        if thread.role is Role.WORKER:
            return True
        instance = self.system.instance(thread.instance)
        if thread.role is not Role.INTERFACE or instance is None:
            return False
        connection = self.wiring.connection(f"{thread.instance}.{thread.interface}")
        settings = instance.configured.interface(thread.interface)
        if connection is None or not settings.passive:
            return False
        if support(connection.connector).carries is Carries.CALLS:
            return True
        self.sink.report(
            PASSIVE_CONNECTOR,
            f"`{thread.instance}.{thread.interface}` is served through {connection.connector.name}, so it "
            "cannot be passive",
            settings.spans[PASSIVE.name],
            related=[Label(connection.span, "the connection")],
            help=f"connect it with {' or '.join(names(Carries.CALLS))}",
        )
        return False

    def scheduling(self, thread: Thread) -> Scheduling:
        """The values of the settings; a task may use all of its period, others 10 ms of it. A manager is
        never short of time: it decides who gets the time of others."""
        instance = self.system.instance(thread.instance)
        if instance is None or thread.role is Role.MANAGER:
            return Scheduling()
        configured, default = instance.configured, Scheduling()
        settings = (
            configured.fault if thread.role is Role.FAULT_HANDLER else configured.thread(thread.interface)
        )
        period = default.period if settings.period is None else round(settings.period / 1_000)
        task = thread.role is Role.CONTROL and thread.instance in self.tasks
        budget = period if task else min(default.budget, period)
        if settings.budget is not None:
            budget = round(settings.budget / 1_000)
        if 1_000 * budget < SHORTEST_TIME:
            self.sink.report(
                SHORT_ON_MCS,
                f"thread `{thread.name}` has {budget} us in each period of {period} us",
                settings.spans.get(BUDGET.name) or settings.spans.get(PERIOD.name),
                "too short for an MCS kernel",
            )
        size_bits = default.size_bits if settings.size_bits is None else settings.size_bits
        return Scheduling(period, budget, settings.data, size_bits)
