# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What operations of the kernel and the runtime take on a machine, for the boot table.

A platform profile has figures for requests, steps of a manager and releases. Those of a request are taken by
the client before it is sent, and by the server before the reply; those of a step by the manager, and those of
a release by the task, after they have received what they wait for. The emission of an event is a part of its
release. There are none for the managers of groups of conditions and their members.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from camkes.analysis.profiles import find_platform
from camkes.backends.host.options import Costs
from camkes.capdl.model import CapabilityModel
from camkes.capdl.uses import CapUse, CpiManager, CpiWake, Release, Serve
from camkes.diagnostics import Sink
from camkes.model.protocols import Protocol
from camkes.protocols.groups import Group, find_groups, group_of
from camkes.protocols.plan import Plan, PlannedCpi

if TYPE_CHECKING:
    from camkes.analysis.platform import Halves, Platform

#: messages to a manager, as runtime/include/camkes/label.h has them
ACQUIRE, RELEASE, BEGIN, END, SETTLE, UPDATE, CLEAR = range(1, 8)


def find_costs(name: str | None, plan: Plan, capabilities: CapabilityModel, sink: Sink) -> Costs | None:
    """By the platform profile of this name, or in this file; None without one or after an error."""
    if name is None:
        return None
    platform = find_platform(name, sink)
    return None if platform is None else costs_on(platform, plan, capabilities)


def costs_on(platform: Platform, plan: Plan, capabilities: CapabilityModel) -> Costs:
    """Times are rounded down to nanoseconds."""
    found: dict[tuple[str, str], int] = {}
    groups = find_groups(plan)
    timers = capabilities.timers
    by_timers = {timer.notification for timer in timers}
    for use, item in _objects(capabilities):
        release = platform.release_cycles(len(timers)) if item in by_timers else platform.event.release
        for what, cycles in _costs(platform, plan, groups, use, release).items():
            found[item, str(what)] = int(platform.nanoseconds(cycles))
    lines = (f"cost {item} {what} {time}" for (item, what), time in sorted(found.items()) if time)
    return Costs(platform.name, tuple(lines))


def _objects(capabilities: CapabilityModel) -> Iterator[tuple[CapUse, str]]:
    """What instances use, and the object that it is."""
    held = capabilities.uses()
    for space in capabilities.spaces:
        for cap in space.caps:
            for use in held[space.name].get(cap.slot, ()):
                yield use, cap.object


def _costs(
    platform: Platform, plan: Plan, groups: Sequence[Group], use: CapUse, release: int
) -> Mapping[str | int, int]:
    """Cycles of the operations at an object; of a `release`, if it is one that tasks wait at."""
    match use:
        case Serve() if (cpi := plan.cpi(use.end)) is not None:
            halves = _request(platform, cpi.protocol)
            return {"call": halves.call, "reply": halves.reply}
        case CpiManager() if (cpi := plan.cpi(use.end)) is not None and group_of(groups, cpi.name) is None:
            return _steps(platform, cpi)
        case CpiWake() if (cpi := plan.cpi(use.end)) is not None:
            return {0: _steps(platform, cpi)[RELEASE]}
        case Release():
            return {0: release}
    return {}


def _request(platform: Platform, protocol: Protocol) -> Halves:
    if protocol.own_priority:
        return platform.fixed
    if not protocol.inherits:
        return platform.propagated
    return platform.inherited.unlocked if platform.runtime == "library" else platform.plain


def _steps(platform: Platform, cpi: PlannedCpi) -> Mapping[str | int, int]:
    """Those of a manager. The library has none: a request that waits costs more, and an update costs what one
    step down a chain does; what a request with a free lock costs beyond one that waits is paid already."""
    lock = platform.inherited
    if platform.runtime == "library":
        waits = lock.locked.both + lock.queue - lock.unlocked.both
        update = lock.update_inherited if cpi.protocol.lock else lock.update_propagated
        return {ACQUIRE: max(0, waits), RELEASE: 0, UPDATE: max(0, update + min(0, waits))}
    several = 0 if cpi.manager_keeps_reply else lock.queue
    pool = cpi.pooled and not cpi.protocol.inherits
    return {
        ACQUIRE: lock.acquire + several,
        RELEASE: lock.release,
        BEGIN: lock.acquire if pool else 0,
        END: lock.release if pool else 0,
        SETTLE: lock.settle,
        UPDATE: lock.update,
        CLEAR: lock.clear,
    }
