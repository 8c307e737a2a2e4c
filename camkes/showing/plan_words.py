# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Parts of a plan in words: the same in tables and graphs."""

from __future__ import annotations

from collections.abc import Iterable

from camkes.model.overrun import OverrunPolicy
from camkes.model.units import duration
from camkes.protocols.plan import PlannedTask
from camkes.protocols.time import Reservation


def priority_words(task: PlannedTask) -> str:
    return str(task.priority) if task.band is None else f"{task.band.lowest} to {task.band.highest - 1}"


def levels(values: Iterable[str]) -> str:
    """Values at each criticality of the system."""
    shown = list(values)
    return shown[0] if len(set(shown)) == 1 else " / ".join(shown)


def policy_words(policy: OverrunPolicy, extension: Reservation | None) -> str:
    if extension is None:
        return policy.value
    return f"{policy.value} ({duration(extension.budget)} / {duration(extension.period)})"
