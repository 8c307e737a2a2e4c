# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The costs of operations on a machine.

A profile (`camkes.analysis.profiles`) states cycles and the clock. `runtime = "library"` is the runtime of
the papers (Sudvarg et al. 2024, Table 2 and Eq. 8): its propagated requests block for the longer of their two
halves. `runtime = "camkes-rt"` is ours: they do not block, but one step of a manager does, as managers
execute at ceilings.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta, Struct

from camkes.model.overrun import OverrunPolicy
from camkes.model.protocols import Protocol

Cycles = Annotated[int, Meta(ge=0)]


class Halves(Struct, frozen=True, forbid_unknown_fields=True):
    """Cycles of a request and of its reply, at most."""

    call: Cycles = 0
    reply: Cycles = 0

    @property
    def both(self) -> int:
        return self.call + self.reply


class FixedCost(Halves, frozen=True, forbid_unknown_fields=True):
    """Cycles of a request to a `fixed` CPI; `waiting` is what one takes in addition that waits in the kernel
    until another one has been served; one that ends while a task above is ready takes no more than that."""

    waiting: Cycles = 0


class InheritanceCost(Struct, frozen=True, forbid_unknown_fields=True):
    """Cycles of a request to an `inherited` CPI.

    `unlocked` and `locked` are those of the papers' runtime; `queue` is what its longest queue adds, and
    `update_inherited` and `update_propagated` are one step of a priority down a chain. For ours: `acquire`,
    `release` and `queue` with contention, and `update`, `settle` and `clear` for each level of the chain.
    """

    unlocked: Halves = Halves()
    locked: Halves = Halves()
    queue: Cycles = 0
    update_inherited: Cycles = 0
    update_propagated: Cycles = 0
    acquire: Cycles = 0
    release: Cycles = 0
    update: Cycles = 0
    settle: Cycles = 0
    clear: Cycles = 0


class TimerCost(Struct, frozen=True, forbid_unknown_fields=True):
    """Cycles of a release by a timer: by how much the interrupt is late, the interrupt, the timer driver, and
    what a job does to begin and to wait for the next one. `each` is what the driver takes in addition for
    each timer in the system. An interrupt waits for what the kernel does for a thread below, `uninterrupted`
    at most: once in a busy window, in which threads below execute only in sections."""

    release: Cycles = 0
    each: Cycles = 0
    uninterrupted: Cycles = 0


class EventCost(Struct, frozen=True, forbid_unknown_fields=True):
    """Cycles of an event that releases a task: what emits it executes `emit`; all that a release takes is
    `release`, with the emission, the switch to the task, and what a job does to begin and to wait for the
    next one."""

    emit: Cycles = 0
    release: Cycles = 0


class TickCost(Struct, frozen=True, forbid_unknown_fields=True):
    """Cycles of an interrupt of the kernel's own clock, which comes `every` so many nanoseconds; a kernel
    with MCS has none."""

    cost: Cycles = 0
    every: Annotated[int, Meta(ge=1)] = 1_000_000


class OverrunCost(Struct, frozen=True, forbid_unknown_fields=True):
    """Cycles that an end of a budget takes at most on an MCS kernel, with all that follows until there
    is budget again, by the policy: `wait`, the kernel alone; `job_extend` and `job_stop`, the handler of a
    task; `extend`, `abort` and `help`, the manager of a CPI, without a roll-back."""

    wait: Cycles = 0
    job_extend: Cycles = 0
    job_stop: Cycles = 0
    extend: Cycles = 0
    abort: Cycles = 0
    help: Cycles = 0

    def of_job(self, policy: OverrunPolicy) -> int:
        """Of a task's own policy; without the change of the criticality."""
        if policy is OverrunPolicy.WAIT:
            return self.wait
        return self.job_extend if policy.rules.extends else self.job_stop

    def of_request(self, policy: OverrunPolicy) -> int:
        """Of a CPI's policy."""
        rules = policy.rules
        if rules.helps:
            return self.help
        return self.abort if rules.aborts else self.extend if rules.extends else self.wait


class Provenance(Struct, frozen=True, forbid_unknown_fields=True):
    """How `camkes measure --platform` found the figures: each is the `median` of so many `samples`, or the
    `maximum`, which is not a bound. `platform` is that of seL4, `kernel` its revision, `settings` those of
    the kernel, `counter` what was read, `longest_queue` the clients that waited for one lock."""

    machine: str = ""
    platform: str = ""
    kernel: str = ""
    settings: str = ""
    mcs: bool = False
    compiler: str = ""
    counter: str = ""
    version: str = ""
    samples: Cycles = 0
    figures: Literal["median", "maximum"] = "median"
    longest_queue: Cycles = 0


class UserPart(Struct, frozen=True, forbid_unknown_fields=True):
    """What of the figures is executed at user level: instructions of a processor of an `architecture`, at
    least, where these were counted: of a request and its reply, of a step of a manager and of the timer
    driver, of the end of a `job` with the begin of the next one, and of an emission. An instruction takes
    `cycles` at most; 0: that is not known. Bounds of paths (`camkes.paths.costs`) take their place."""

    architecture: str = ""
    cycles: Cycles = 0
    plain: Cycles = 0
    fixed: Cycles = 0
    propagated: Cycles = 0
    manager: Cycles = 0
    driver: Cycles = 0
    job: Cycles = 0
    emit: Cycles = 0


class BoundedFigure(Struct, frozen=True, forbid_unknown_fields=True):
    """A figure with a bound of paths: so many cycles are what was measured, less what user level executes of
    that at least, and so many are the bound."""

    name: str
    kernel: Cycles
    user: Cycles


class Platform(Struct, frozen=True, forbid_unknown_fields=True):
    """A machine and a runtime. `clock` is in Hz, `source` is where the figures are from. `raised` are the
    cycles for each thread that gets another priority when the criticality of the system changes. No file has
    `bounded`, the figures with bounds of the paths of one system."""

    name: str
    source: str = ""
    runtime: Literal["camkes-rt", "library"] = "camkes-rt"
    clock: Annotated[int, Meta(ge=1)] = 1_000_000_000
    plain: Halves = Halves()
    fixed: FixedCost = FixedCost()
    propagated: Halves = Halves()
    inherited: InheritanceCost = InheritanceCost()
    timer: TimerCost = TimerCost()
    event: EventCost = EventCost()
    tick: TickCost = TickCost()
    overrun: OverrunCost = OverrunCost()
    raised: Cycles = 0
    user: UserPart = UserPart()
    measured: Provenance | None = None
    bounded: tuple[BoundedFigure, ...] = ()

    def overhead_cycles(
        self,
        protocol: Protocol,
        levels: tuple[Protocol, ...] = (),
        *,
        pool: bool = False,
        managed: bool = False,
        waits: bool = False,
    ) -> int:
        """Cycles that one request costs beside the work of its CPI. `levels` are the protocols of the CPIs
        below in its longest chain, which a priority that is inherited passes through. A thread of a `pool`
        asks the manager at the begin and at the end of each request, as one does that waits for a lock. One
        that `waits` for a `fixed` CPI does so in the kernel, or else its manager has it wait (`managed`)."""
        lock = self.inherited
        if protocol.own_priority:
            if managed:
                return self.fixed.both + self.contention_cycles
            return self.fixed.both + (self.fixed.waiting if waits else 0)
        if not protocol.inherits:
            return self.propagated.both + (lock.acquire + lock.release if pool else 0)
        updates = self.update_cycles(levels)
        if self.runtime == "library":  # Sudvarg et al. 2024, Eq. 8
            return max(lock.unlocked.both, lock.locked.both + lock.queue + updates)
        contended = self.plain.both + self.contention_cycles + updates
        return max(self.plain.both, contended)

    @property
    def contention_cycles(self) -> int:
        """Cycles of a manager for a request that waits for the lock."""
        return self.inherited.acquire + self.inherited.release + self.inherited.queue

    def update_cycles(self, levels: tuple[Protocol, ...]) -> int:
        """Cycles that an inherited priority takes to pass through CPIs, none of which has its own."""
        lock = self.inherited
        if self.runtime == "library":
            return sum(lock.update_inherited if each.lock else lock.update_propagated for each in levels)
        return len(levels) * (lock.update + lock.settle + lock.clear)

    def blocking_cycles(
        self, protocol: Protocol, *, below_lock: bool = False, pool: bool = False, managed: bool = False
    ) -> int:
        """Cycles for which a request of a lower task to a CPI with this protocol, in which it does not keep
        the job waiting otherwise, executes before it: in the papers' runtime half of a `propagated` one, in
        ours one step of a manager. There is one if the CPI inherits, if priorities can come from a
        contended lock above, for a `pool`, whose threads do a part of a request at its ceiling, too, and
        where a `fixed` CPI is `managed`."""
        if self.runtime == "library":
            return 0 if protocol.lock else max(self.propagated.call, self.propagated.reply)
        needed = managed if protocol.own_priority else protocol.inherits or below_lock or pool
        if not needed:
            return 0
        lock, plain = self.inherited, self.plain
        step = max(lock.acquire, lock.release, lock.update, lock.settle, lock.clear)
        return max(step, plain.call + lock.acquire, lock.release + plain.reply) if pool else step

    def release_cycles(self, timers: int) -> int:
        """Cycles of a release by one of so many timers."""
        return self.timer.release + timers * self.timer.each

    def nanoseconds(self, cycles: int) -> int | Fraction:
        """Cycles as time."""
        time = Fraction(cycles * 1_000_000_000, self.clock)
        return time.numerator if time.denominator == 1 else time  # sums of integers are much faster


#: Nothing but the work costs time.
FREE = Platform("none")
