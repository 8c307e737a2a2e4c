# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Bands of priorities whose tasks a component orders at user level."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from camkes.diagnostics import Span


class Order(Enum):
    """By what a scheduler orders tasks. The value is the name of its component."""

    DEADLINE = "EDFScheduler"
    FAIR = "FairScheduler"

    @property
    def moves_requests(self) -> bool:
        """Whether requests have the priority that the task has in the band, not always the band's highest.
        They may only rise, so this takes an order that does not change while jobs are active."""
        return self is Order.DEADLINE

    @property
    def measures(self) -> bool:
        """Whether it needs to know the execution times of tasks, as only an MCS kernel does."""
        return self is Order.FAIR


class Band(Struct, frozen=True, eq=False):
    """`instance` is the scheduler, which serves `interface`, and `tasks` are those that it orders. `priority`
    is its own, that of tasks between jobs, and of all that the band's tasks share with others; the active
    tasks have those from `lowest` on below it, one each. None: it is not stated. `slice` is in
    nanoseconds."""

    instance: str
    interface: str
    order: Order
    priority: int | None
    tasks: tuple[str, ...]
    slice: int
    span: Span

    @property
    def highest(self) -> int:
        return self.priority or 0

    @property
    def lowest(self) -> int:
        return max(0, self.highest - len(self.tasks))

    @property
    def base(self) -> int:
        """The lowest priority of requests."""
        return self.lowest if self.order.moves_requests else self.highest


def scheduled_by(bands: Sequence[Band], instance: str) -> Band | None:
    """The band whose scheduler an instance is."""
    return next((band for band in bands if band.instance == instance), None)


def bands_by_task(bands: Sequence[Band]) -> dict[str, Band]:
    """The bands of the tasks that are in one."""
    return {name: band for band in bands for name in band.tasks}
