# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The sections of the greatest sum that can keep a job waiting together: branch and bound, with prices.

What excludes sections of different tasks are rows: a lock is requested so often, one task at a time is
below it, one is at a ceiling, and a task is in no section while another one that is in one excludes it. With
a price for each row, the tasks are independent of each other: each has the section that is worth most after
the prices of its rows. The sum of that and of what the rows cost is never less than the greatest sum,
whatever the prices are (Lagrangian relaxation). The best prices are those of a linear program, and what it
takes is most often the greatest sum.

Sections that are worth so much less than the best of their task that with them the sum would be below one
that is known need not be looked at. What is left is divided, the part of the greatest bound first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count as counter
from math import gcd, lcm

from msgspec import Struct

from camkes.analysis.demand import Time
from camkes.analysis.linear import LinearProgram
from camkes.analysis.sections import Limits, RequestSection

#: How many numbers of linear programs are computed before the search ends without the greatest sum; to price
#: an option counts as so many.
WORK, PRICING = 1_000_000, 6

#: Prices are whole numbers of this part of the unit of durations.
PARTS = 1 << 18


class Chosen(Struct, frozen=True):
    """Sections that are possible together, and a bound of the greatest sum of such; they are of the greatest
    sum where it is theirs."""

    sections: tuple[RequestSection, ...]
    bound: Time


class Candidate(Struct, frozen=True):
    """A section, its duration in parts, and how much it takes of each row; less than 0 where it adds."""

    section: RequestSection
    duration: int
    rows: tuple[tuple[int, int], ...]

    def excludes(self, other: Candidate) -> bool:
        one, two = self.section, other.section
        return bool((one.enters and one.excludes(two)) or (two.enters and two.excludes(one)))


#: For each task the sections that it can have.
Candidates = Mapping[str, Sequence[Candidate]]


class Branch(Struct, frozen=True):
    """Some sections are chosen, `base` is their sum, and others are left, with what is left of each row."""

    chosen: tuple[Candidate, ...]
    options: Candidates
    limits: Sequence[int]

    @property
    def base(self) -> int:
        return sum(option.duration for option in self.chosen)

    @property
    def size(self) -> int:
        return sum(map(len, self.options.values()))

    def choose(self, option: Candidate, growing: Set[int]) -> Branch:
        """That one, too, and none that it excludes or that takes too much, but of rows that can grow."""
        limits = list(self.limits)
        for row, count in option.rows:
            limits[row] -= count

        def fits(other: Candidate) -> bool:
            return not option.excludes(other) and all(
                limits[row] >= count or row in growing for row, count in other.rows
            )

        left = {
            task: kept
            for task, of in self.options.items()
            if task != option.section.task and (kept := [each for each in of if fits(each)])
        }
        return Branch((*self.chosen, option), left, limits)

    def without(self, option: Candidate) -> Branch:
        task = option.section.task
        options = {**self.options, task: [each for each in self.options[task] if each is not option]}
        return Branch(self.chosen, {name: of for name, of in options.items() if of}, self.limits)


class Priced(Struct, frozen=True):
    """What prices lead to: the `bound` without a section at a ceiling that is not chosen yet; what is left of
    each row (less than 0: too much is taken), and what each task's best section is worth: 0 for none."""

    bound: int
    left: Sequence[int]
    worth: Mapping[str, int]
    picked: Mapping[str, Candidate]


def matched(values: Mapping[str, Mapping[str, Time]], limits: Limits) -> dict[str, str]:
    """For tasks a resource, of the greatest sum of the values that resources have for tasks, no resource more
    often than its limit (1, if not stated): the assignment problem.

    The tasks come one after the other, each with the exchanges that lose least (Kuhn 1955, Jonker and
    Volgenant 1987). What is full has a price, and each task has the resource that is worth most after it."""
    matching = _Matching(
        {
            task: sorted(
                ((each, name) for name, each in of.items() if limits.get(name, 1)),
                key=lambda of_task: -of_task[0],
            )
            for task, of in values.items()
        },
        limits,
    )
    for task in values:
        matching.give(task)
    return matching.taken


class _Matching:
    """The resources that tasks have `taken`; `values` are those of each task, the greatest first."""

    def __init__(self, values: Mapping[str, Sequence[tuple[Time, str]]], limits: Limits) -> None:
        self._values = values
        self._limits = limits
        self._prices: dict[str, Time] = {}
        self._holders: dict[str, dict[str, Time]] = {}  # with the values for them
        self.taken: dict[str, str] = {}

    def give(self, task: str) -> None:
        """A resource for one more task, or none."""
        prices, holders = self._prices, self._holders
        worth = max((value - prices.get(name, 0) for value, name in self._values[task]), default=0)
        least = worth  # what is lost if this task has none
        end: tuple[str, str] | None = None  # the resource with a place, or with the task that leaves it
        losses: dict[str, Time] = {}
        before: dict[str, tuple[str, Time]] = {}  # the task that comes to a resource
        todo: list[tuple[Time, str]] = []
        full: list[str] = []

        def look(other: str, of_best: Time) -> None:
            for value, name in self._values[other]:
                if of_best - value >= least:
                    break
                loss = of_best - value + prices.get(name, 0)
                if loss < losses.get(name, least):
                    losses[name], before[name] = loss, (other, value)
                    heappush(todo, (loss, name))

        look(task, worth)
        while todo and todo[0][0] < least:
            loss, name = heappop(todo)
            if loss > losses[name]:
                continue
            of = holders.setdefault(name, {})
            if len(of) < self._limits.get(name, 1):
                least, end = loss, (name, "")
                break
            full.append(name)
            for other, value in of.items():
                profit = value - prices.get(name, 0)
                if loss + profit < least:
                    least, end = loss + profit, (name, other)
                look(other, loss + profit)
        for name in full:
            prices[name] = prices.get(name, 0) + max(least - losses[name], 0)
        if end is not None:
            self._exchange(task, end, before)

    def _exchange(self, task: str, end: tuple[str, str], before: Mapping[str, tuple[str, Time]]) -> None:
        name, leaving = end
        if leaving:
            del self._holders[name][leaving], self.taken[leaving]
        while True:
            comes, value = before[name]
            place = self.taken.get(comes, "")
            self._holders[name][comes] = value
            self.taken[comes] = name
            if comes == task:
                return
            del self._holders[place][comes]
            name = place


def worth_of(option: Candidate, prices: Sequence[int]) -> int:
    """The duration after the prices of the rows."""
    worth = option.duration
    for row, count in option.rows:
        worth -= count * prices[row]
    return worth


def priced(branch: Branch, prices: Sequence[int]) -> Priced:
    bound = branch.base + sum(price * limit for price, limit in zip(prices, branch.limits, strict=True))
    left = list(branch.limits)
    worth, picked = {}, {}
    for task, options in branch.options.items():
        best = 0
        for option in options:
            value = option.duration
            for row, count in option.rows:
                value -= count * prices[row]
            if value > best:
                best, picked[task] = value, option
        worth[task] = best
        if best:
            bound += best
            for row, count in picked[task].rows:
                left[row] -= count
    return Priced(bound, left, worth, picked)


class Relaxed(Struct, frozen=True):
    """Prices for a branch, what they lead to, and how much of which options a linear program takes."""

    prices: Sequence[int]
    priced: Priced
    values: Mapping[int, float]

    def regret(self, option: Candidate) -> int:
        """How much less the bound is with an option."""
        return self.priced.worth[option.section.task] - worth_of(option, self.prices)


class _Clique(Struct, frozen=True):
    """Options of which two are possible together nowhere, with the task of each priority that has some."""

    tasks: dict[int, str]
    options: list[Candidate]

    def admits(self, section: RequestSection, excluded: frozenset[int]) -> bool:
        """Whether no section of these tasks, of no lower priority, is possible beside one."""
        own = self.tasks.get(section.priority, section.task)
        return own == section.task and all(p in excluded for p in self.tasks if p != section.priority)


def takes_no_more(one: Candidate, two: Candidate) -> bool:
    """Whether an option takes no more than another one of any row."""
    rows, others = dict(one.rows), dict(two.rows)
    return all(count <= others.get(row, 0) for row, count in rows.items()) and all(
        count >= 0 or row in rows for row, count in others.items()
    )


def undominated(options: Candidates) -> Candidates:
    """The options without those in whose place one that is not shorter can be: it is for the same lock, or at
    a ceiling, too, takes no more, and its task has no section beside the other one, or is the same."""
    found: dict[str, list[Candidate]] = {}
    alike: dict[tuple[str, str], list[Candidate]] = {}
    every = [each for of in options.values() for each in of]
    for option in sorted(every, key=lambda each: (-each.duration, len(each.rows))):
        section, task = option.section, option.section.task
        others = alike.setdefault(("" if section.at_ceiling else task, section.resource), [])
        if not any(
            (task == each.section.task or section.excludes(each.section)) and takes_no_more(each, option)
            for each in others
        ):
            others.append(option)
            found.setdefault(task, []).append(option)
    return found


class Choosing:
    """Looks for the sections of the greatest sum of which no task has two, no two exclude each other, and
    each lock is requested as often as it has sections: outside of sections, and as often as `inside` says in
    one request to a CPI."""

    def __init__(self, sections: Sequence[RequestSection], inside: Mapping[str, Mapping[str, int]]) -> None:
        self._unit = PARTS * lcm(*{Fraction(section.duration).denominator for section in sections})
        self._rows: dict[tuple[str, str], int] = {}
        for section in sections:
            for row in self._rows_of(section):
                self._rows.setdefault(row, len(self._rows))
        requested = {name: row for (kind, name), row in self._rows.items() if kind == "requested"}
        self._adds = {
            cpi: tuple((requested[name], -count) for name, count in counts.items() if name in requested)
            for cpi, counts in inside.items()
        }
        self._options: dict[str, list[Candidate]] = {}
        for section in sorted(sections, key=lambda each: -each.duration):
            self._options.setdefault(section.task, []).append(self._option(section))
        every = [each for of in self._options.values() for each in of]
        self._can_grow = {row for each in every for row, count in each.rows if count < 0}
        self._divisor = gcd(*(each.duration for each in every)) or 1  # of which all sums are multiples
        self._sections: tuple[RequestSection, ...] = ()
        self._best = self._work = 0

    def _rows_of(self, section: RequestSection) -> list[tuple[str, str]]:
        """The rows that a section takes one of."""
        own = ("ceiling", "") if section.at_ceiling else ("requested", section.resource)
        return [*(("held", name) for name in sorted(section.held)), own]

    def _option(self, section: RequestSection) -> Candidate:
        rows = dict(self._adds.get(section.cpi, ()))
        for each in self._rows_of(section):
            row = self._rows[each]
            rows[row] = rows.get(row, 0) + 1
        return Candidate(section, int(section.duration * self._unit), tuple(rows.items()))

    def _needed(self) -> tuple[Candidates, int]:
        """All options but those in whose place others can be, and the number of rows for what excludes them,
        which follow the others."""
        alone = {of[0].section.task: of[0].section.priority for of in self._options.values()}
        levels = sorted({*alone.values()})
        passing: dict[int, list[_Clique]] = {level: [] for level in levels}
        rows: dict[int, list[int]] = {}
        entering = [each for of in self._options.values() for each in of if each.section.enters]
        entering.sort(key=lambda each: -each.section.priority)
        covers: dict[tuple[int, tuple[tuple[int, float], ...]], frozenset[int]] = {}
        for each in entering:
            section = each.section
            key = section.priority, section.enters
            if key not in covers:
                covers[key] = frozenset(
                    level for level in levels if any(low < level < high for low, high in section.enters)
                )
            for level in covers[key]:
                cliques = passing[level]
                for clique in cliques:
                    if clique.admits(section, covers[key]):
                        break
                else:
                    clique = _Clique({}, [])
                    cliques.append(clique)
                clique.tasks[section.priority] = section.task
                clique.options.append(each)
        row = len(self._rows)
        for task, level in alone.items():
            for clique in passing[level]:
                for each in (*clique.options, *self._options[task]):
                    rows.setdefault(id(each), []).append(row)
                row += 1
        found = {
            task: [
                Candidate(
                    each.section, each.duration, (*each.rows, *((r, 1) for r in rows.get(id(each), ())))
                )
                for each in of
            ]
            for task, of in self._options.items()
        }
        return undominated(found), row - len(self._rows)

    def chosen(self, own: Limits, known: Sequence[RequestSection]) -> Chosen:
        """The sections if each lock is requested so often outside of sections. Some that are possible
        together are `known`."""
        self._sections = tuple(known)
        self._best = sum(int(section.duration * self._unit) for section in known)
        options, excluding = self._needed()
        limits = [own[name] if kind == "requested" else 1 for kind, name in self._rows] + [1] * excluding
        self._work = WORK
        waiting: list[tuple[int, int, Branch, Relaxed]] = []
        number = counter()  # of equal bounds the first is looked at first
        root = Branch((), options, limits)
        prices: Sequence[int] = [0] * len(limits)
        parts: tuple[Branch, ...] = (root,)
        bound = priced(root, prices).bound
        while True:
            for part in parts:
                found = self._relaxed(part, prices)
                bound_of_part = min(bound, found.priced.bound)
                if not self._closed(bound_of_part):
                    heappush(waiting, (-bound_of_part, next(number), part, found))
            if not waiting or self._closed(-waiting[0][0]) or self._work <= 0:
                break
            before, _, branch, found = heappop(waiting)
            bound, prices = -before, found.prices
            parts = self._parts(branch, found)
        bound = -waiting[0][0] // self._divisor * self._divisor if waiting else 0
        least = Fraction(max(self._best, bound), self._unit)
        return Chosen(self._sections, int(least) if least.denominator == 1 else least)

    def _closed(self, bound: int) -> bool:
        """Whether nothing below the bound is above what is known."""
        return bound // self._divisor * self._divisor <= self._best

    def _relaxed(self, branch: Branch, prices: Sequence[int]) -> Relaxed:
        """The best prices for a branch. The linear program has the options that are worth most at the prices
        before, until these are all."""
        rows = len(branch.limits)
        tasks = {task: rows + number for number, task in enumerate(branch.options)}
        program = LinearProgram([*(max(limit, 0) for limit in branch.limits), *(1 for _ in tasks)])
        columns: dict[int, None] = {}
        found = Relaxed(prices, priced(branch, prices), {})
        now = priced(branch, [0] * rows)
        self._work -= PRICING * branch.size
        while not self._closed(found.priced.bound) and self._work > 0:
            more = [each for each in now.picked.values() if id(each) not in columns]
            if not more:
                break
            columns |= dict.fromkeys(map(id, more))
            program.add([(each.duration, {**dict(each.rows), tasks[each.section.task]: 1}) for each in more])
            self._work -= PRICING * branch.size + program.solve(self._work)
            prices = [round(price) for price in program.prices()[:rows]]
            now = priced(branch, prices)
            if now.bound <= found.priced.bound:
                found = Relaxed(prices, now, dict(zip(columns, program.values(), strict=True)))
        self._fill(branch, found)
        return found

    def _fill(self, branch: Branch, found: Relaxed) -> None:
        """Keep the options of which the program takes most, then those that are worth most, each that is
        possible with those before, if they are better."""
        every = [each for of in branch.options.values() for each in of]
        regrets = {id(each): found.regret(each) for each in every}
        values = found.values
        every.sort(key=lambda each: (-round(values.get(id(each), 0), 3), regrets[id(each)], -each.duration))
        taken = {option.section.task: option for option in branch.chosen}
        left = list(branch.limits)
        before = -1
        while before < len(taken):  # what is taken can let in what was not possible before
            before = len(taken)
            for option in every:
                if option.section.task in taken or any(left[row] < count for row, count in option.rows):
                    continue
                taken[option.section.task] = option
                for row, count in option.rows:
                    left[row] -= count
            if not self._can_grow:
                break
        if all(each >= 0 for each in left):
            total = sum(option.duration for option in taken.values())
            if total > self._best:
                self._best, self._sections = total, tuple(option.section for option in taken.values())

    def _parts(self, branch: Branch, found: Relaxed) -> tuple[Branch, ...]:
        """The branch without the options of which it is known that nothing better has them: with one of the
        others, and without it."""
        options = {
            task: kept
            for task, of in branch.options.items()
            if (kept := [e for e in of if not self._closed(found.priced.bound - found.regret(e))])
        }
        left = Branch(branch.chosen, options, branch.limits)
        every = [each for of in options.values() for each in of]
        if not every:
            return ()

        def parted(option: Candidate) -> tuple[float, int]:
            value = found.values.get(id(option), 0.0)
            return round(min(value, 1 - value), 3), option.duration

        option = max(every, key=parted)
        return left.choose(option, self._can_grow), left.without(option)
