# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Exact blocking as an integer program, solved by HiGHS (SciPy): the choice that `camkes.analysis.choice`
looks for, as a second opinion.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from camkes.analysis.sections import Limits, RequestSection

#: Solutions are within this part of the greatest sum.
TOLERANCE = 1e-7


class _Rows:
    """Rows of the program, each a sum of variables that must not be above a limit."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.columns: list[int] = []
        self.starts = [0]
        self.limits: list[float] = []

    def add(self, row: Mapping[int, float], limit: float) -> None:
        self.values += row.values()
        self.columns += row.keys()
        self.starts.append(len(self.values))
        self.limits.append(limit)

    def at_most_one(self, columns: Sequence[int]) -> None:
        if len(columns) > 1:
            self.add(dict.fromkeys(columns, 1.0), 1)


def solve(
    sections: Sequence[RequestSection],
    limits: Limits,
    own: Limits,
    inside: Mapping[str, Mapping[str, int]],
) -> tuple[RequestSection, ...] | None:
    """The sections of the greatest sum that can keep a job waiting together; None if none is found. `limits`
    is how often each lock can make the job wait, `own` and `inside` are those of `choice.Choosing`."""
    if not sections:
        return ()
    rows = _Rows()
    of_task: dict[Hashable, list[int]] = {}
    of_resource: dict[str, list[int]] = {}
    of_lock: dict[str, list[int]] = {}
    outside: dict[str, list[int]] = {}  # of ceilings
    excluding: dict[tuple[str, tuple[tuple[int, float], ...]], list[int]] = {}
    for index, section in enumerate(sections):
        of_task.setdefault(section.task, []).append(index)
        of_resource.setdefault(section.resource, []).append(index)
        if not section.at_ceiling:
            outside.setdefault(section.resource, []).append(index)
        for name in section.held:
            of_lock.setdefault(name, []).append(index)
        if section.enters:
            excluding.setdefault((section.task, section.enters), []).append(index)
    for columns in (*of_task.values(), *of_lock.values()):
        rows.at_most_one(columns)
    for name, columns in of_resource.items():
        rows.add(dict.fromkeys(columns, 1.0), limits.get(name, 1))
    for name, columns in outside.items():  # requested outside of sections, or in others
        if name in own:
            row = dict.fromkeys(columns, 1.0)
            for index, section in enumerate(sections):
                more = inside.get(section.cpi, {}).get(name, 0)
                if more:
                    row[index] = row.get(index, 0.0) - more
            rows.add(row, own[name])
    for columns in excluding.values():
        for others in of_task.values():
            if sections[columns[0]].excludes(sections[others[0]]):
                rows.at_most_one([*columns, *others])
    durations = np.array([float(section.duration) for section in sections])
    shape = (len(rows.limits), len(sections))
    matrix = csr_array((rows.values, rows.columns, rows.starts), shape=shape)
    found = milp(
        -durations,
        integrality=np.ones(len(sections)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, ub=rows.limits),
        options={"mip_rel_gap": TOLERANCE},
    )
    if found.status != 0:
        return None
    return tuple(section for section, chosen in zip(sections, found.x, strict=True) if chosen > 0.5)
