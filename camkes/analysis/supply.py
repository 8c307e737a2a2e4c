# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The processor time that a schedule of domains gives one of them, at least.

The supply bound function of a domain is the least time that it has the processor for in any window of some
length (Shin and Lee 2003). Its inverse takes the place of the demand itself where a window has to be long
enough for it. No window has less than one of the same length that begins where a slot of the domain ends, so
that windows which begin there, the phases, are all that have to be looked at.

Work that ends with a slot has ended. But a job that makes requests can be preempted where a request of it
ends, and then has something to do that takes no time: it does that in the next slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import groupby

from msgspec import Struct


class Phase(Struct, frozen=True):
    """Windows that begin at `begin`, in nanoseconds from the beginning of the table: `slots` are (beginning
    from there, length) of the slots of the domain, in one round of a table of `length` nanoseconds."""

    begin: int
    slots: tuple[tuple[int, int], ...]
    length: int

    def finish(self, demand: int | Fraction, *, goes_on: bool = False) -> int | Fraction:
        """How long after the beginning the domain has had the processor for `demand` nanoseconds; or, where
        it `goes_on`, until when it has it again. These differ where the demand ends with a slot."""
        given = sum(length for _, length in self.slots)
        rounds, rest = divmod(demand, given)
        if demand and not rest and not goes_on:
            rounds, rest = rounds - 1, given
        for begin, length in self.slots:
            if rest < length or (rest == length and not goes_on):
                return rounds * self.length + begin + rest
            rest -= length
        raise AssertionError("the rest is not more than one round gives")

    def at(self, time: int) -> tuple[bool, int]:
        """Whether the domain has the processor at a time, counted as `begin` is, and until when."""
        passed = (time - self.begin) % self.length
        for begin, length in self.slots:
            if passed < begin:
                return False, time + begin - passed
            if passed < begin + length:
                return True, time + begin + length - passed
        raise AssertionError("a round ends with a slot")

    def spans(self, begin: int, end: int) -> Iterator[tuple[bool, int, int]]:
        """From one time to another, counted as `self.begin` is: whether the domain has the processor, from
        when, and until when."""
        while begin < end:
            has, until = self.at(begin)
            yield has, begin, min(until, end)
            begin = until

    def from_zero(self) -> tuple[tuple[bool, int], ...]:
        """The slots of a round that begins at time 0: whether the domain has each, and their lengths."""
        found: list[tuple[bool, int]] = []
        for has, start, stop in self.spans(0, self.length):
            before = found.pop()[1] if found and found[-1][0] == has else 0
            found.append((has, before + stop - start))
        return tuple(found)


class Supply(Struct, frozen=True):
    """What a domain gets of the processor: its `share`, and all phases; there is none where the share is 0
    or 1."""

    share: Fraction = Fraction(1)
    phases: tuple[Phase, ...] = ()
    #: nanoseconds of one round of the table; 1 where there is none
    length: int = 1

    @property
    def longest_gap(self) -> int:
        """The longest time without the processor."""
        return max((phase.slots[0][0] for phase in self.phases), default=0)


ALWAYS = Supply()
NOTHING = Supply(Fraction(0))


def supply_of(slots: Iterable[tuple[int, int]], domain: int) -> Supply:
    """What slots of (domain, nanoseconds), repeated for ever, give a domain."""
    runs = [
        (own, sum(length for _, length in each))
        for own, each in groupby(slots, key=lambda slot: slot[0] == domain)
    ]
    table = sum(length for _, length in runs)
    given = sum(length for own, length in runs if own)
    if given in (0, table):
        return ALWAYS if given else NOTHING
    begin, ends, own_slots = 0, [], []
    for own, length in runs:
        if own:
            own_slots.append((begin, length))
            ends.append(begin + length)
        begin += length
    if own_slots[0][0] == 0 and ends[-1] == table:  # one slot across the end of the table
        ends.pop()
    phases = tuple(Phase(end % table, _after(end, own_slots, table), table) for end in ends)
    return Supply(Fraction(given, table), phases, table)


def _after(end: int, slots: Iterable[tuple[int, int]], table: int) -> tuple[tuple[int, int], ...]:
    """The slots of a round that begins where one ends."""
    return tuple(sorted(((begin - end) % table, length) for begin, length in slots))
