# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The sections of the greatest sum that can keep a job waiting together: branch and bound, with prices.

What excludes sections of different tasks are rows: a lock is requested so often, and one task at a time is
below it. With a price for each row, the tasks are independent of each other: each has the section that is
worth most after the prices of its rows. The sum of that and of what the rows cost is never less than the
greatest sum, whatever the prices are (Lagrangian relaxation); they are moved to where it is least
(subgradients with the steps of Polyak 1969). Of the sections at ceilings, which exclude most others, each is
tried by itself.

Sections that are worth so much less than the best of their task that with them the sum would be below one
that is known need not be looked at. What is left is divided, the part of the greatest bound first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import count as counter
from math import gcd, lcm

from msgspec import Struct

from camkes.analysis.demand import Time
from camkes.analysis.sections import Limits, RequestSection

#: Prices are moved so often, at first and in a branch.
FIRST_MOVES, MOVES = 250, 15

#: How many options are priced at first, and then in all branches before the search ends without the greatest
#: sum.
FIRST_WORK, WORK = 150_000, 100_000

#: How many choices are tried depth first in all, before branches are divided, and for how many tasks at most.
STEPS, DEEPEST = 20_000, 400

#: With more options, an assignment takes too long to be tried as a beginning.
LARGE = 2_000

#: Prices are whole numbers of this part of the unit of durations.
PARTS = 1024

#: Steps to better prices become shorter after so many without one, and end where they are that short.
_PATIENCE, _SHORTEST = 5, 1e-3

#: Sections that are possible together are looked for at each so many prices.
_LOOK = 25


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

    def choose(self, option: Candidate) -> Branch:
        """That one, too, and none that it excludes."""
        limits = list(self.limits)
        for row, count in option.rows:
            limits[row] -= count
        task = option.section.task
        left = {
            name: kept
            for name, of in self.options.items()
            if name != task and (kept := [each for each in of if not option.excludes(each)])
        }
        return Branch((*self.chosen, option), left, limits)


class Priced(Struct, frozen=True):
    """What prices lead to: the `bound` without a section at a ceiling that is not chosen yet; what is left of
    each row (less than 0: too much is taken), and what each task's best section is worth: 0 for none."""

    bound: int
    left: Sequence[int]
    worth: Mapping[str, int]
    picked: Mapping[str, Candidate]


def matched(values: Mapping[str, Mapping[str, Time]], limits: Limits) -> dict[str, str]:
    """A resource for each task, of the greatest sum of the values that resources have for tasks, no resource
    more often than its limit (1, if not stated): the assignment problem.

    Each resource is given out as often as its limit, once at a time: to the task where the sum gains most,
    one without a resource, or one that leaves another resource to the next (successive longest paths)."""
    taken: dict[str, str] = {}
    for resource, of_tasks in values.items():
        for _ in range(min(limits.get(resource, 1), len(of_tasks))):
            if not _given(resource, values, taken):
                break
    return taken


def _given(first: str, values: Mapping[str, Mapping[str, Time]], taken: dict[str, str]) -> bool:
    """Give a resource to one more task; False where that gains nothing."""
    gains: dict[str, Time] = {first: 0}  # of a free place at each resource, with the exchanges until there
    ways: dict[str, tuple[str, str]] = {}  # the resource before, and the task that comes from here to it
    end: tuple[Time, str, str] = (0, "", "")
    todo = [first]
    for resource in todo:
        gain = gains[resource]
        for task, value in values[resource].items():
            now = taken.get(task)
            if now is None:
                if gain + value > end[0]:
                    end = gain + value, resource, task
            elif now != resource:
                exchanged = gain + value - values[now][task]
                if now not in gains or exchanged > gains[now]:
                    gains[now], ways[now] = exchanged, (resource, task)
                    todo.append(now)
                    if exchanged > end[0]:  # the place there stays free
                        end = exchanged, now, ""
    _, resource, task = end
    if not resource:
        return False
    if task:
        taken[task] = resource
    while resource != first:
        before, task = ways[resource]
        taken[task] = before
        resource = before
    return True


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


class Choosing:
    """Looks for the sections of the greatest sum of which no task has two, no two exclude each other, and
    each lock is requested as often as it has sections: outside of sections, and as often as `inside` says in
    one request to a CPI. Prices are kept for the next search."""

    def __init__(self, sections: Sequence[RequestSection], inside: Mapping[str, Mapping[str, int]]) -> None:
        self._unit = PARTS * lcm(*{Fraction(section.duration).denominator for section in sections})
        self._rows: dict[tuple[str, str], int] = {}
        for section in sections:
            named = [("held", name) for name in section.held]
            if not section.at_ceiling:
                named.append(("requested", section.resource))
            for row in named:
                self._rows.setdefault(row, len(self._rows))
        requested = {name: row for (kind, name), row in self._rows.items() if kind == "requested"}
        self._adds = {
            cpi: tuple((requested[name], -count) for name, count in counts.items() if name in requested)
            for cpi, counts in inside.items()
        }
        options: dict[str, list[Candidate]] = {}
        self._at_ceiling: list[Candidate] = []
        for section in sorted(sections, key=lambda each: -each.duration):
            option = self._option(section)
            if section.at_ceiling:
                self._at_ceiling.append(option)
            else:
                options.setdefault(section.task, []).append(option)
        self._options: Candidates = options
        self._can_grow = {
            row for of in options.values() for each in of for row, count in each.rows if count < 0
        }
        self._can_grow |= {row for each in self._at_ceiling for row, count in each.rows if count < 0}
        self._entering = any(section.enters for section in sections)
        every = (each.duration for of in (self._at_ceiling, *options.values()) for each in of)
        self._divisor = gcd(*every) or 1  # of which all sums are multiples
        self._prices = [0] * len(self._rows)
        self._sections: tuple[RequestSection, ...] = ()
        self._best = self._work = self._steps = 0

    def _option(self, section: RequestSection) -> Candidate:
        rows = dict(self._adds.get(section.cpi, ()))
        for name in section.held:
            rows[self._rows["held", name]] = 1
        if not section.at_ceiling:
            row = self._rows["requested", section.resource]
            rows[row] = rows.get(row, 0) + 1
        return Candidate(section, int(section.duration * self._unit), tuple(rows.items()))

    def chosen(self, own: Limits, known: Sequence[RequestSection]) -> Chosen:
        """The sections if each lock is requested so often outside of sections. Some that are possible
        together are `known`."""
        self._sections = tuple(known)
        self._best = sum(int(section.duration * self._unit) for section in known)
        limits = [1 if kind == "held" else own[name] for kind, name in self._rows]
        root = Branch((), self._options, limits)
        moves = min(FIRST_MOVES, FIRST_WORK // max(root.size, 1))
        self._prices, _ = self._moved(root, self._prices, moves)
        self._work, self._steps = WORK, STEPS
        number = counter()  # of equal bounds the first is looked at first
        branches = [(-bound, next(number), branch, self._prices) for bound, branch in self._branches(root)]
        heapify(branches)
        while branches and not self._closed(-branches[0][0]) and self._work > 0:
            _, _, branch, prices = heappop(branches)
            prices, found = self._moved(branch, prices, MOVES)
            for part in () if self._closed(found.bound) else self._parts(branch, prices, found):
                heappush(branches, (-found.bound, next(number), part, prices))
        bound = -branches[0][0] // self._divisor * self._divisor if branches else 0
        least = Fraction(max(self._best, bound), self._unit)
        return Chosen(self._sections, int(least) if least.denominator == 1 else least)

    def _closed(self, bound: int) -> bool:
        """Whether nothing below the bound is above what is known."""
        return bound // self._divisor * self._divisor <= self._best

    def _branches(self, root: Branch) -> Iterator[tuple[int, Branch]]:
        """One without a section at a ceiling, and one for each, with their bounds."""
        prices = self._prices
        plain = priced(root, prices)
        yield plain.bound, root
        for option in self._at_ceiling:
            bound = plain.bound + worth_of(option, prices) - plain.worth.get(option.section.task, 0)
            if self._closed(bound):
                continue
            branch = root.choose(option)
            bound = priced(branch, prices).bound
            if not self._closed(bound):
                yield bound, branch

    def _moved(self, branch: Branch, prices: list[int], moves: int) -> tuple[list[int], Priced]:
        """Better prices for a branch, and what they lead to."""
        best, of_best = prices, priced(branch, prices)
        now, length, waited = of_best, 1.0, 0
        for move in range(moves):
            self._work -= branch.size
            if move % _LOOK == _LOOK - 1:
                self._look(branch, prices, now)
            if self._closed(of_best.bound):
                break
            wrong = [-left if left < 0 or price else 0 for left, price in zip(now.left, prices, strict=True)]
            square = sum(each * each for each in wrong)
            if not square:
                break
            step = length * max(now.bound - self._best, PARTS) / square
            prices = [max(0, price + round(step * each)) for price, each in zip(prices, wrong, strict=True)]
            now = priced(branch, prices)
            if now.bound < of_best.bound:
                best, of_best, waited = prices, now, 0
                continue
            waited += 1
            if waited == _PATIENCE:
                length, waited, prices, now = length / 2, 0, best, of_best
                if length < _SHORTEST:
                    break
        self._look(branch, best, of_best)
        return best, of_best

    def _look(self, branch: Branch, prices: Sequence[int], found: Priced) -> None:
        """Keep sections that are possible together, those that are worth most first, if they are better."""
        regrets = [
            (found.worth[task] - worth_of(option, prices), -option.duration, option)
            for task, options in branch.options.items()
            for option in options
        ]
        ordered = [option for _, _, option in sorted(regrets, key=lambda each: each[:2])]
        self._fill(branch, ordered)
        if branch.size > LARGE:
            return
        first = self._assigned(branch, prices)
        self._fill(branch, sorted(ordered, key=lambda each: each is not first.get(each.section.task)))

    def _fill(self, branch: Branch, ordered: Sequence[Candidate]) -> None:
        """Take each option that is possible with those before."""
        taken = {option.section.task: option for option in branch.chosen}
        left = list(branch.limits)
        entering = [option for option in branch.chosen if option.section.enters]
        before = -1
        while before < len(taken):  # what is taken can let in what was not possible before
            before = len(taken)
            for option in ordered:
                if option.section.task in taken or any(left[row] < count for row, count in option.rows):
                    continue
                others = taken.values() if option.section.enters else entering
                if any(option.excludes(each) for each in others):
                    continue
                taken[option.section.task] = option
                if option.section.enters:
                    entering.append(option)
                for row, count in option.rows:
                    left[row] -= count
            if not self._can_grow:
                break
        if all(each >= 0 for each in left):
            self._keep(taken.values())

    def _assigned(self, branch: Branch, prices: Sequence[int]) -> Mapping[str, Candidate]:
        """The options of the greatest sum, after all prices but those of requests, where each lock has as
        many sections as it is requested, outside of them, and each task one."""
        of_resource: dict[str, dict[str, Candidate]] = {}
        values: dict[str, dict[str, int]] = {}
        limits: dict[str, int] = {}
        for task, options in branch.options.items():
            for option in options:
                resource = option.section.resource
                value = worth_of(option, prices)
                row = self._rows.get(("requested", resource))
                if row is not None:
                    value += prices[row]
                    limits[resource] = branch.limits[row]
                tasks = values.setdefault(resource, {})
                if value > tasks.get(task, 0):
                    tasks[task] = value
                    of_resource.setdefault(resource, {})[task] = option
        return {task: of_resource[name][task] for task, name in matched(values, limits).items()}

    def _keep(self, options: Iterable[Candidate]) -> None:
        found = list(options)
        total = sum(option.duration for option in found)
        if total > self._best:
            self._best, self._sections = total, tuple(option.section for option in found)

    def _parts(self, branch: Branch, prices: Sequence[int], found: Priced) -> Iterator[Branch]:
        """The branch without the options of which it is known that nothing better has them, where it is too
        large to be searched: with one of the others, and without it."""
        regrets = {
            task: [
                (regret, each)
                for each in options
                if not self._closed(found.bound - (regret := found.worth[task] - worth_of(each, prices)))
            ]
            for task, options in branch.options.items()
        }
        options = {task: [each for _, each in of] for task, of in regrets.items() if of}
        left = Branch(branch.chosen, options, branch.limits)
        if not options:
            self._searched(left, {}, found)
            return
        if self._searched(left, regrets, found):
            return
        option = self._dividing(left, found)
        yield left.choose(option)
        task = option.section.task
        rest = [each for each in options[task] if each is not option]
        others = {name: of for name, of in options.items() if name != task}
        yield Branch(branch.chosen, {**others, task: rest} if rest else others, branch.limits)

    def _searched(
        self, branch: Branch, regrets: Mapping[str, list[tuple[int, Candidate]]], found: Priced
    ) -> bool:
        """Whether the branch has been searched depth first, in few steps."""
        ordered: list[list[tuple[int, Candidate | None]]] = []
        for task, options in regrets.items():
            choices = [*options, (found.worth[task], None)]
            choices.sort(key=lambda each: each[0])
            ordered.append(choices)
        ordered.sort(key=lambda each: -each[1][0] if len(each) > 1 else 0)
        if len(ordered) > DEEPEST or (ordered and self._steps <= 0):
            return False
        return self._try(ordered, 0, found.bound, list(branch.limits), list(branch.chosen))

    def _try(
        self,
        ordered: Sequence[Sequence[tuple[int, Candidate | None]]],
        depth: int,
        bound: int,
        left: list[int],
        taken: list[Candidate],
    ) -> bool:
        """Whether all choices of the tasks from here on were looked at."""
        if depth == len(ordered):
            if all(each >= 0 for each in left):
                self._keep(taken)
            return True
        for regret, option in ordered[depth]:
            if self._closed(bound - regret):
                break
            self._steps -= 1
            if self._steps < 0:
                return False
            if option is None:
                if not self._try(ordered, depth + 1, bound - regret, left, taken):
                    return False
                continue
            if any(left[row] < count and row not in self._can_grow for row, count in option.rows):
                continue
            if self._entering and any(option.excludes(each) for each in taken):
                continue
            for row, count in option.rows:
                left[row] -= count
            taken.append(option)
            ended = self._try(ordered, depth + 1, bound - regret, left, taken)
            taken.pop()
            for row, count in option.rows:
                left[row] += count
            if not ended:
                return False
        return True

    def _dividing(self, branch: Branch, found: Priced) -> Candidate:
        """An option about which it matters most whether it is chosen: the longest of the undecided ones."""
        return max(undecided(branch, found), key=lambda each: each.duration)


def undecided(branch: Branch, found: Priced) -> Sequence[Candidate]:
    """Options that tasks have at the prices and that cannot all be chosen, as they take too much or exclude
    others; or else all that tasks have, or can have."""
    now = [option for task, option in found.picked.items() if option in branch.options.get(task, ())]
    over = {row for row, left in enumerate(found.left) if left < 0}
    wrong = [each for each in now if any(count > 0 and row in over for row, count in each.rows)]
    entering = [each for each in now if each.section.enters]
    return wrong or entering or now or [option for of in branch.options.values() for option in of]
