# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Properties of a whole trace."""

from __future__ import annotations

from collections.abc import Iterable

from camkes.model.system import System
from camkes.protocols.plan import Plan
from camkes.report.trace.events import Event
from camkes.report.trace.names import TraceNames
from camkes.report.trace.properties import LIMIT, PropertyChecker, Violation


def check_trace(
    events: Iterable[Event], names: TraceNames, plan: Plan, limit: int = LIMIT, system: System | None = None
) -> list[Violation]:
    """All violations in the order in which they show, at most `limit`. Empty: the trace is right.

    Ceilings are computed from the priorities in `system`; without it they are taken from the plan.
    """
    checker = PropertyChecker(names, plan, system, limit)
    for event in events:
        checker.step(event)
    return checker.violations
