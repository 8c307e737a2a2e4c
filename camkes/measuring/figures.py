# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What operations cost, from what images printed, and the platform profile that has it.

Where QEMU counts instructions a run repeats to the digit, and a figure is the median of its samples. A board
has caches and interrupts: a figure is then the greatest that its samples make possible, and what is
subtracted from it the least. A greater one can still come.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil

from msgspec import Struct

from camkes.measuring.log import (
    CLOCK,
    CONTENDED,
    COUNTER,
    EMITTED,
    GAP,
    HOLDER,
    LOCK,
    NESTED,
    OVERRUN_ROWS,
    OVERRUNS,
    PLAIN,
    QUEUED,
    RELEASED,
    RELEASES,
    REQUESTS,
    WAITED,
    Boot,
    Sample,
    releases_part,
)
from camkes.model.overrun import OverrunPolicy
from camkes.model.protocols import Protocol

#: nanoseconds between two releases, so that they come in all parts of a step of a timer
APART = 4_999_037

#: the rows of ends of budgets, by the keys of profiles
OVERRUN_KEYS = {row.removesuffix("s"): row for row in OVERRUN_ROWS[1:]}

#: the part of the usual distance of ticks below which two interrupts are not of one clock
_REGULAR = Fraction(9, 10)


class Spread(Struct, frozen=True):
    """The least and the greatest of what was measured."""

    least: int
    most: int

    def __add__(self, other: Spread) -> Spread:
        return Spread(self.least + other.least, self.most + other.most)

    def __sub__(self, other: Spread) -> Spread:
        return Spread(self.least - other.most, self.most - other.least)


def spread(values: Sequence[int], *, exact: bool) -> Spread:
    """Of samples; if they are `exact`, their median."""
    if exact:
        middle = round(statistics.median(values))
        return Spread(middle, middle)
    return Spread(min(values), max(values))


class Cost(Struct, frozen=True):
    """A request and its two halves, without the readings of the counter; None: not known."""

    both: Spread
    call: Spread | None
    reply: Spread | None


def counter_of(rows: Mapping[str, Sequence[Sample]], *, exact: bool) -> Spread:
    """What a reading of the counter takes."""
    return spread([s.middle - s.begin for s in rows[COUNTER]], exact=exact)


def cost(samples: Sequence[Sample], counter: Spread, *, exact: bool) -> Cost:
    """Of the samples of a row."""
    both = spread([s.end - s.begin for s in samples], exact=exact)
    if any(s.middle == 0 for s in samples):
        return Cost(both - counter, None, None)
    call = spread([s.middle - s.begin for s in samples], exact=exact)
    reply = spread([s.end - s.middle for s in samples], exact=exact)
    return Cost(both - counter - counter, call - counter, reply - counter)


class ReleaseCost(Struct, frozen=True):
    """Cycles of a release: the usual ones, and the `most`; by how many its interrupt is `late` at most.
    `tick` are those of an interrupt of the kernel's clock, at most, which comes `every` so many nanoseconds;
    0: none came. `rate` is in cycles for a nanosecond."""

    cost: int
    most: int
    late: int
    tick: int
    every: int
    rate: Fraction


def of_releases(
    gaps: Sequence[Sample], first: Sample, last: Sample, apart: int, *, exact: bool = True, mcs: bool = False
) -> ReleaseCost:
    """From the times in which a thread of the lowest priority did not execute. The longest around each
    multiple of `apart` nanoseconds is a release, all others are ticks; but a kernel with MCS has none, and
    interrupts that thread only where its own budget ends. `first` and `last`: the counter and the time when
    the gaps began and ended."""
    rate = Fraction(last.begin - first.begin, last.end - first.end)
    between = apart * rate
    begun = first.begin - first.end * rate

    def length(gap: Sample) -> int:
        return gap.end - gap.begin

    longest: dict[int, Sample] = {}
    for gap in gaps:
        number = round((gap.begin - begun) / between)
        if number not in longest or length(gap) > length(longest[number]):
            longest[number] = gap
    enough = statistics.median(map(length, longest.values())) / 2  # less is a tick, at the begin or the end
    released = {number: gap for number, gap in longest.items() if length(gap) > enough}
    of_timers = set(released.values())
    others = [gap for gap in gaps if gap not in of_timers]
    # the last reading before an interrupt can be before its time
    late = max(0, *(ceil(gap.begin - begun - number * between) for number, gap in released.items()))
    # a tick that comes in a release is counted by itself; other work of the kernel in it is not
    lengths = spread([length(gap) for gap in released.values()], exact=exact and not mcs)
    usual = round(statistics.median(length(gap) for gap in released.values()))
    if mcs:
        return ReleaseCost(usual, lengths.most, late, 0, 0, rate)
    tick = max(map(length, others), default=0)
    # a tick can be hidden by a release, and on a board other interrupts come between two
    distances = [after.begin - before.begin for before, after in pairwise(others)]
    distances = distances or [last.begin - first.begin]
    middle = statistics.median(distances)
    every = min(distance for distance in distances if distance >= _REGULAR * middle)
    return ReleaseCost(usual, lengths.most, late, tick, int(every / rate) if others else 0, rate)


class Figures(Struct, frozen=True):
    """What a profile states, in cycles; `clock` in Hz, `every` in nanoseconds. `late`: a timer's
    interrupt, by the number of timers. `waiting`: what a request takes in addition that waits in the kernel,
    by the protocol. See `camkes.analysis.platform.Platform`."""

    clock: int
    halves: Mapping[str, tuple[int, int]]
    waiting: Mapping[str, int]
    acquire: int
    release: int
    queue: int
    update: int
    #: of an event: its emission, and all that a release takes
    emit: int
    event: int
    late: Mapping[int, int]
    timer: int
    each: int
    tick: int
    every: int
    #: of an end of a budget, by policies, with MCS
    overrun: Mapping[str, int]

    @property
    def uninterrupted(self) -> int:
        """For how long an interrupt waits for a call of the kernel, at most: the longest operation of threads
        that was measured, which consists of several."""
        halves = (cycles for each in self.halves.values() for cycles in each)
        end = self.overrun.get(OverrunPolicy.WAIT.value, 0)
        return max(*halves, *self.waiting.values(), self.acquire, self.release, self.emit, end)


def of_overruns(rows: Mapping[str, Sequence[Sample]], *, exact: bool) -> dict[str, int]:
    """What an end of a budget costs with each policy: what was not used for work in a round with one, beyond
    that in a round without."""
    return {
        name: max(
            0,
            (
                spread([s.end for s in rows[row]], exact=exact)
                - spread([s.middle for s in rows[row]], exact=exact)
            ).most,
        )
        for name, row in OVERRUN_KEYS.items()
    }


def figures(boots: Sequence[Boot], *, exact: bool, mcs: bool) -> Figures:
    """From all images of a measurement; `mcs`: of a kernel with MCS."""
    of = {boot.part: boot for boot in boots}
    rows = of[REQUESTS].rows
    counter = counter_of(rows, exact=exact)
    found = {row: cost(samples, counter, exact=exact) for row, samples in rows.items()}
    pairs = list(zip(rows[CONTENDED + LOCK], rows[HOLDER + LOCK], strict=True))
    asked = spread([held.middle - s.begin for s, held in pairs], exact=exact) - counter
    granted = spread([s.middle - held.middle for s, held in pairs], exact=exact) - counter
    halves = {}
    for row in (PLAIN, *sorted(each.value for each in Protocol if not each.inherits)):
        call, reply = found[row].call, found[row].reply
        assert call is not None and reply is not None
        halves[row] = (call.most, reply.most)
    waited = found[CONTENDED + WAITED].both - found[WAITED].both
    plain = found[PLAIN].call
    assert plain is not None
    contended, nested = found[CONTENDED + LOCK].both, found[CONTENDED + NESTED].both
    level = nested - contended - (found[NESTED].both - found[LOCK].both)
    few, many = RELEASES
    released = {}
    for timers in RELEASES:
        boot = of[releases_part(timers)]
        first, last = boot.rows[CLOCK]
        apart = APART * (2 if timers == 1 else 1)
        released[timers] = of_releases(boot.rows[GAP], first, last, apart, exact=exact, mcs=mcs)
    whole = {timers: r.cost + r.late for timers, r in released.items()}
    alone = {timers: r.cost for timers, r in released.items()}
    each = max(0, *(-(-(taken[many] - taken[few]) // (many - few)) for taken in (whole, alone)))
    return Figures(
        clock=1_000_000_000 if exact else int(min(r.rate for r in released.values()) * 1_000_000_000),
        halves=halves,
        waiting={} if mcs else {WAITED: max(0, waited.most)},
        acquire=max(0, (asked - plain).most),
        release=max(0, granted.most),
        queue=max(0, (found[QUEUED].both - contended).most),
        update=max(0, level.most),
        emit=found[EMITTED].both.most,
        event=max(found[EMITTED].both.most, found[RELEASED].both.most),
        late={timers: r.late for timers, r in released.items()},
        timer=max(0, *(r.most + r.late - timers * each for timers, r in released.items())),
        each=each,
        tick=max(r.tick for r in released.values()),
        every=min((r.every for r in released.values() if r.every), default=0),
        overrun=of_overruns(of[OVERRUNS].rows, exact=exact) if mcs else {},
    )
