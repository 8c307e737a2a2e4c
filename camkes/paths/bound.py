# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The most instructions and kernel calls of a path: implicit path enumeration (Li and Malik, DAC 1995).

The flow of one execution goes from the begin to an end. How often each edge is taken are the variables of an
integer linear program; what goes into a step comes out of it, and a loop goes back as often as its bound
allows for each time that it is entered. HiGHS solves it (`scipy.optimize.milp`); the result is its dual
bound, which no execution exceeds, also where it had to stop early.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import floor

import numpy
from msgspec import Struct
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from camkes.paths.codes import UNBOUNDED_LOOP
from camkes.paths.graph import WayFinder
from camkes.paths.steps import Path, PathError, PathStep, Ways

#: what the dual bound, a float, can be below a whole number
_TOLERANCE = 1e-6


class PathBound(Struct, frozen=True):
    """What any execution of a path takes at most: instructions of user level, and kernel calls by their
    names. `functions` are those that it can execute, by their names in sources."""

    instructions: int
    kernel: Mapping[str, int]
    functions: tuple[str, ...] = ()


class _Rows:
    """Constraints of an integer linear program."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.values: list[float] = []
        self.least: list[float] = []
        self.most: list[float] = []

    def add(self, terms: Mapping[int, float], least: float, most: float) -> None:
        self.rows += [len(self.least)] * len(terms)
        self.columns += terms.keys()
        self.values += terms.values()
        self.least.append(least)
        self.most.append(most)


class Bounder:
    """Bounds the ways of a path."""

    def __init__(self, ways: Ways) -> None:
        self._ways = ways
        #: the variables: edges, and for each end that the execution ends there
        self._columns = {
            edge: column for column, edge in enumerate([*ways.edges, *((e, None) for e in ways.ends)])
        }
        into: dict[int, dict[int, float]] = {number: {} for number in ways.steps}
        out: dict[int, dict[int, float]] = {number: {} for number in ways.steps}
        for (source, target), column in self._columns.items():
            if target is not None:
                into[target][column] = 1.0
            if source in out:
                out[source][column] = 1.0
        self._into = into
        rows = _Rows()
        rows.add({c: 1.0 for (source, _), c in self._columns.items() if source not in ways.steps}, 1, 1)
        for number in ways.steps:
            columns = into[number].keys() | out[number].keys()
            rows.add({c: into[number].get(c, 0) - out[number].get(c, 0) for c in sorted(columns)}, 0, 0)
        for loop in ways.loops:
            back = {self._columns[edge]: 1.0 for edge in loop.back}
            rows.add(back | {self._columns[edge]: -float(loop.times) for edge in loop.enters}, -numpy.inf, 0)
        for calls in ways.calls.values():
            rows.add({c: 1.0 for n in calls for c in into[n]}, 1, numpy.inf)
        shape = (len(rows.least), len(self._columns))
        matrix = coo_array((rows.values, (rows.rows, rows.columns)), shape=shape)
        self._constraints = LinearConstraint(matrix.tocsr(), rows.least, rows.most)

    def most(self, weight: Callable[[PathStep], int]) -> int:
        """The greatest sum of the weights of the steps of an execution."""
        weights = numpy.zeros(len(self._columns))
        for number, step in self._ways.steps.items():
            for column in self._into[number]:
                weights[column] += weight(step)
        if not weights.any():
            return 0
        done = milp(
            -weights, integrality=numpy.ones(len(weights)), bounds=Bounds(0), constraints=self._constraints
        )
        if done.status == 3 or done.mip_dual_bound is None:
            raise PathError(UNBOUNDED_LOOP, "the path has no longest execution", None)
        dual: float = -done.mip_dual_bound
        return floor(dual + _TOLERANCE)


def _is_of(kind: str, step: PathStep) -> int:
    return int(step.kernel == kind)


def bound(finder: WayFinder, path: Path) -> PathBound:
    """What a path takes at most. Raises PathError."""
    ways = finder.ways(path)
    bounder = Bounder(ways)
    kinds = sorted({step.kernel for step in ways.steps.values() if step.kernel})
    kernel = {kind: bounder.most(partial(_is_of, kind)) for kind in kinds}
    functions = sorted({step.function.name for step in ways.steps.values()})
    return PathBound(bounder.most(lambda step: len(step.block.instructions)), kernel, tuple(functions))
