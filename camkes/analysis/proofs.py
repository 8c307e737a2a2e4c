# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Proofs that no choice of sections is longer than some time, which can be checked without a search.

With prices for rows (see `choice.py`) each task has its best section by itself, and the sum is a bound. Where
no prices are good enough, the choices are divided into those with a section and those without it, and each
part has prices and a bound of its own. Of the sections at ceilings there is one at most: that is a row, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count as counter

from msgspec import Struct

from camkes.analysis.choice import PARTS, Branch, Candidate, Choosing, Priced, priced, worth_of
from camkes.analysis.sections import Limits, RequestSection

#: How many options are priced before what is shown then is the bound.
WORK = 250_000

#: Prices of rows in nanoseconds, by kinds ("held", "lock" or "ceiling") and names.
Prices = dict[str, dict[str, int]]


class Proof(Struct, frozen=True):
    """No choice is longer than `bound`. A step is the number of a section, which divides a part into the
    choices with that section, whose steps come first, and without it; or prices, for all of a part; or None,
    which ends a part: its bound follows."""

    bound: int
    steps: tuple[int | Prices | None, ...]


class _Node:
    """A part of the choices, with its prices and the bound that they lead to. If it is divided, that is by an
    `option` into `parts`."""

    def __init__(self, branch: Branch, prices: Sequence[int]) -> None:
        self.branch = branch
        self.prices = prices
        self.bound = priced(branch, prices).bound
        self.option: Candidate | None = None
        self.parts: tuple[_Node, ...] = ()


class Proving(Choosing):
    """Looks for a proof that no choice of sections is longer than a time, where each lock is requested as
    often as `own` says outside of sections. All times are whole nanoseconds."""

    def __init__(
        self,
        sections: Sequence[RequestSection],
        inside: Mapping[str, Mapping[str, int]],
        own: Limits,
        wanted: int,
    ) -> None:
        super().__init__(sections, inside)
        self._numbers = {id(section): number for number, section in enumerate(sections)}
        self._locks = {row for (kind, _), row in self._rows.items() if kind == "requested"}
        limits = [own[name] if kind == "requested" else 1 for kind, name in self._rows]
        self._best = wanted * PARTS
        self._work = WORK
        self._root = self._node(Branch((), self._options, limits))

    def proof(self) -> Proof:
        """That of the time that is wanted, or of the least that was found."""
        number = counter()
        waiting = [(-self._root.bound, next(number), self._root)]
        while not self._closed(-waiting[0][0]) and waiting[0][2].branch.options and self._work > 0:
            _, _, node = heappop(waiting)
            for part in self._divided(node):
                heappush(waiting, (-part.bound, next(number), part))
        bound = max(-waiting[0][0] // self._divisor * self._divisor, 0)
        return Proof(bound // PARTS, tuple(self._steps_of(self._root)))

    def _fill(self, *_: object) -> None:
        """Choices that are possible are known."""

    def _node(self, branch: Branch) -> _Node:
        """A part with prices and a bound."""
        if not branch.options:
            return _Node(branch, self._excluding(branch))
        return _Node(branch, self._rounded(branch, self._relaxed(branch, [0] * len(branch.limits)).prices))

    def _excluding(self, branch: Branch) -> Sequence[int]:
        """Prices where nothing more can be chosen: if there is too much of a row, the choice is none."""
        prices = [0] * len(branch.limits)
        row = min(range(len(prices)), key=lambda row: branch.limits[row])
        if branch.limits[row] < 0:
            prices[row] = PARTS * -(-branch.base // PARTS)
        return prices

    def _rounded(self, branch: Branch, prices: Sequence[int]) -> Sequence[int]:
        """Prices of whole nanoseconds: the nearest ones, or multiples of what all sums are multiples of."""
        units = self._divisor, PARTS
        rounded = ([unit * ((each + unit // 2) // unit) for each in prices] for unit in units)
        return min(rounded, key=lambda each: priced(branch, each).bound)

    def _divided(self, node: _Node) -> tuple[_Node, ...]:
        """The parts with an option and without it."""
        branch = node.branch
        option = node.option = self._deciding(branch, node.prices)
        node.parts = self._node(branch.choose(option, self._locks)), self._node(branch.without(option))
        return node.parts

    def _deciding(self, branch: Branch, prices: Sequence[int]) -> Candidate:
        """Of the undecided options the one without which the bound is least."""

        def loss(option: Candidate) -> int:
            others = (each for each in branch.options[option.section.task] if each is not option)
            return worth_of(option, prices) - max([0, *(worth_of(each, prices) for each in others)])

        return max(undecided(branch, priced(branch, prices)), key=lambda each: (loss(each), each.duration))

    def _steps_of(self, root: _Node) -> Iterator[int | Prices | None]:
        todo: list[tuple[_Node, Sequence[int]]] = [(root, [0] * len(self._rows))]
        while todo:
            node, before = todo.pop()
            if node.prices != before:
                yield self._named(node.prices)
            if node.option is None:
                yield None
                continue
            yield self._numbers[id(node.option.section)]
            todo += [(part, node.prices) for part in reversed(node.parts)]

    def _named(self, prices: Sequence[int]) -> Prices:
        found: Prices = {}
        for (kind, name), row in self._rows.items():
            if prices[row]:
                found.setdefault("lock" if kind == "requested" else kind, {})[name] = prices[row] // PARTS
        return found


def undecided(branch: Branch, found: Priced) -> Sequence[Candidate]:
    """Options that tasks have at the prices and that cannot all be chosen, as they take too much or exclude
    others; or else all that tasks have, or can have."""
    now = [option for task, option in found.picked.items() if option in branch.options.get(task, ())]
    over = {row for row, left in enumerate(found.left) if left < 0}
    wrong = [each for each in now if any(count > 0 and row in over for row, count in each.rows)]
    entering = [each for each in now if each.section.enters]
    return wrong or entering or now or [option for of in branch.options.values() for option in of]
