# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a budget is, unit by unit: the oracle for refills.

A budget of n units is n tokens, each with the time from which on it counts. Tokens that follow each other
without a gap are one refill: they can be used when the time of the first of them has come. A token that is
used comes back one period after its time. A thread that wakes up (sporadic), or is switched to (constant
bandwidth), has its available tokens from now on, one after the other; those behind are pushed back by them.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Budget:
    """`most` is the number of refills that are kept apart."""

    size: int
    period: int
    most: int
    tokens: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tokens = list(range(self.size))

    def refills(self) -> list[tuple[int, int]]:
        """Times and amounts."""
        found: list[tuple[int, int]] = []
        for token in self.tokens:
            time, amount = found[-1] if found else (0, 0)
            if found and token == time + amount:
                found[-1] = (time, amount + 1)
            else:
                found.append((token, 1))
        return found

    def available(self, now: int) -> int:
        """Units that can be used without a break from now on."""
        time, amount = self.refills()[0]
        return amount if time <= now else 0

    def use(self, units: int) -> None:
        while units > 0:
            part = min(units, self.refills()[0][1])
            used, self.tokens = self.tokens[:part], self.tokens[part:]
            self.tokens += [token + self.period for token in used]
            units -= part
            self._join(part)

    def _join(self, added: int) -> None:
        """One refill too many: the one before the new one comes later, without a gap to that."""
        refills = self.refills()
        if len(refills) > self.most:
            _, amount = refills[-2]
            first = len(self.tokens) - added - amount
            for i in range(amount):
                self.tokens[first + i] = self.tokens[-added] - amount + i

    def begin(self, now: int) -> None:
        """The thread wakes up, or is switched to."""
        if self.available(now) == 0:
            return
        least = now
        for i in range(len(self.tokens)):
            own = now if i < self.refills()[0][1] and self.tokens[i] < now else self.tokens[i]
            self.tokens[i] = max(own, least) if i else now
            least = self.tokens[i] + 1


@dataclass(slots=True)
class Worker:
    """A thread with jobs (time of release, duration). What is released meanwhile waits, joined by `|`."""

    jobs: list[tuple[int, int]]
    work: int = 0
    pending: int = 0
    waits: bool = True

    def released(self, now: int) -> int:
        word = 0
        for time, duration in self.jobs:
            word |= duration if time == now else 0
        return word

    def finish(self) -> None:
        """Takes what is pending, or waits."""
        if not self.waits and self.work == 0:
            self.work, self.pending = self.pending, 0
            self.waits = self.work == 0

    def signal(self, now: int) -> bool:
        """Whether that woke it."""
        word = self.released(now)
        if word and self.waits:
            self.work, self.waits = word, False
            return True
        self.pending |= word
        return False


def simulate(
    budget: Budget, sporadic: bool, low: Worker, high: Worker, until: int
) -> list[tuple[int, int]]:  # fmt: skip
    """When `low` runs, which has the budget; `high` is above it and has all the time that it wants."""
    ran: list[tuple[int, int]] = []
    used, owner, postponed = 0, "", False
    for now in range(until):
        low.finish()
        if low.work and owner == "low" and used == budget.available(now):
            budget.use(used)  # it wants to go on
            used, postponed = 0, budget.available(now) == 0
        high.finish()
        if low.signal(now):
            if sporadic and owner != "low":
                budget.begin(now)
            postponed = owner != "low" and budget.available(now) == 0
            if owner == "low" and used == budget.available(now):
                budget.use(used)
                used, postponed = 0, budget.available(now) == 0
        high.signal(now)
        postponed = postponed and budget.available(now) == 0
        runs = "high" if high.work else "low" if low.work and not postponed else ""
        if runs != owner:
            budget.use(used)
            used = 0
            if runs == "low" and not sporadic:
                budget.begin(now)
        owner = runs
        if runs == "high":
            high.work -= 1
        elif runs == "low":
            low.work, used = low.work - 1, used + 1
            ran[-1:] = [(ran[-1][0], now + 1)] if ran and ran[-1][1] == now else [*ran[-1:], (now, now + 1)]
    return ran
