# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""All names of the modules of the analysis, and figures as lines of a golden file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from camkes.analysis import (
    assignment,
    blocking,
    bounds,
    budgets,
    choice,
    criticality,
    deadlines,
    demand,
    feasibility,
    limits,
    overruns,
    platform,
    profiles,
    response,
    sections,
    sensitivity,
    verdict,
    workload,
)

_MODULES = (
    *(platform, profiles, workload, demand, sections, choice, blocking, response, deadlines, bounds, verdict),
    *(assignment, limits, overruns, budgets, criticality, sensitivity, feasibility),
)

#: Of a name that several modules have, that of the first one counts.
ANALYSIS = SimpleNamespace(
    **{name: value for module in reversed(_MODULES) for name, value in vars(module).items()}
)


def text(figures: list[Any]) -> str:
    """A line for each figure."""
    return "".join(f"{each}\n" for each in figures).replace("Fraction", "")
