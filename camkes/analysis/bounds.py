# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Utilisation bounds with blocking: sufficient, for rate-monotonic priorities and deadlines that are
periods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod

from msgspec import Struct

from camkes.analysis.demand import Time
from camkes.analysis.response import Load


class Bound(Struct, frozen=True):
    """A bound and its result. `applicable` is false where its assumptions do not hold, for `reason`;
    then `holds` and `value` mean nothing. Each value is for one task, or, for a sum, the only one; none
    may be above `limit`."""

    name: str
    source: str
    applicable: bool
    reason: str = ""
    values: tuple[tuple[str, float], ...] = ()
    limit: float = 0.0

    @property
    def holds(self) -> bool:
        return self.applicable and all(value <= self.limit for _, value in self.values)


def bounds(loads: Sequence[Load], blocking: Mapping[str, Time], reason: str) -> tuple[Bound, ...]:
    """All bounds for these tasks; `reason` is why they do not apply, empty if they do."""
    reason = reason or ("" if loads else "there is no task")
    unique = len({load.priority for load in loads}) == len(loads)
    shared = "two tasks have the same priority" if not unique else ""
    return (
        _hyperbolic(
            "hyperbolic, unique priorities", "Sudvarg et al. 2024, Eq. 2", loads, blocking, reason or shared
        ),
        _hyperbolic("hyperbolic", "Sudvarg et al. 2024, Eq. 4", loads, blocking, reason),
        _liu_layland(loads, blocking, reason),
    )


def hyperbolic(load: Load, loads: Sequence[Load], blocking: Time, equals: bool = True) -> float:
    """The product of Eq. 4 for one task; without `equals` that of Eq. 2, which leaves out tasks of its
    priority."""
    least = load.priority if equals else load.priority + 1
    above = (other for other in loads if other.name != load.name and other.priority >= least)
    own = float((load.demand + blocking) / load.period) + 1
    return prod((float(other.demand / other.period) + 1 for other in above), start=own)


def liu_layland_limit(count: int) -> float:
    """The utilisation that so many tasks may have, whatever their periods are."""
    return count * (2 ** (1 / count) - 1)


def _hyperbolic(
    name: str, source: str, loads: Sequence[Load], blocking: Mapping[str, Time], reason: str
) -> Bound:
    if reason:
        return Bound(name, source, False, reason)
    values = tuple((load.name, hyperbolic(load, loads, blocking[load.name])) for load in loads)
    return Bound(name, source, True, "", values, 2.0)


def _liu_layland(loads: Sequence[Load], blocking: Mapping[str, Time], reason: str) -> Bound:
    name, source = "Liu and Layland", "Sudvarg et al. 2024, Eq. 3"
    if reason:
        return Bound(name, source, False, reason)
    used = sum(float(load.demand / load.period) for load in loads)
    value = used + max(float(blocking[load.name] / load.period) for load in loads)
    return Bound(name, source, True, "", (("sum", value),), liu_layland_limit(len(loads)))


def not_rate_monotonic(loads: Sequence[Load], deadlines: Mapping[str, int]) -> str:
    """Why the bounds do not apply to these tasks; empty if they do."""
    for load in loads:
        if load.jitter:
            return f"{load.name} is released by events of another task"
        if deadlines[load.name] != load.period:
            return f"the deadline of {load.name} differs from its period"
    ordered = sorted(loads, key=lambda load: -load.priority)
    for higher, lower in pairwise(ordered):
        if higher.period > lower.period:
            return f"{higher.name} has a longer period than {lower.name} and a higher priority"
        if higher.priority == lower.priority and higher.period != lower.period:
            return f"{higher.name} and {lower.name} have the same priority and different periods"
    return ""
