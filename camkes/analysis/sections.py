# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Sections of lower tasks that can keep a job waiting."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from camkes.analysis.demand import Time

#: Represents the one section at a ceiling that a job can wait for.
_CEILING = "at a ceiling"


class RequestSection(Struct, frozen=True):
    """A section of `task`, of base priority `priority`, that can keep a job waiting: a request to `cpi`, with
    this `lock`, for `duration` nanoseconds. While it lasts, the task also has the locks `held`, which no
    task of the job's priority has need."""

    task: str
    cpi: str
    duration: Time
    held: frozenset[str] = frozenset()
    at_ceiling: bool = False
    priority: int = 0
    #: its priority before and after it enters each ceiling on the way there, while it inherits none
    enters: tuple[tuple[int, float], ...] = ()
    lock: str = ""

    def excludes(self, other: RequestSection) -> bool:
        """Whether a task cannot be in this section while another one is in `other`: on its way it enters a
        ceiling above the other's priority, with a priority that is below. Whoever of them is first, or keeps
        that one from ending, executes instead of the other."""
        return any(low < other.priority < high for low, high in self.enters)

    @property
    def resource(self) -> str:
        """What two sections of different tasks cannot both have."""
        return _CEILING if self.at_ceiling else self.lock or self.cpi


#: How often each resource can make a job wait; once, if not stated.
Limits = Mapping[str, int]
