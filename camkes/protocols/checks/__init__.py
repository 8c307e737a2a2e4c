# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""All checks of the protocols, in one registry."""

from __future__ import annotations

from camkes.diagnostics import Severity, Sink
from camkes.protocols.checks import (
    bands,
    callers,
    ceilings,
    clauses,
    conditions,
    criticality,
    deadlock,
    domains,
    jobs,
    nesting,
    tasks,
    threads,
    time,
)
from camkes.protocols.checks.base import Check, Facts

__all__ = ["CHECKS", "Check", "Facts", "run_checks"]

#: Every check. One comes after those that it names as prerequisites.
CHECKS: tuple[Check, ...] = (
    *deadlock.CHECKS,
    *tasks.CHECKS,
    *jobs.CHECKS,
    *callers.CHECKS,
    *nesting.CHECKS,
    *ceilings.CHECKS,
    *threads.CHECKS,
    *clauses.CHECKS,
    *callers.UNREACHED,
    *conditions.CHECKS,
    *time.CHECKS,
    *criticality.CHECKS,
    *bands.CHECKS,
    *domains.CHECKS,
)


def run_checks(facts: Facts, sink: Sink) -> bool:
    """Report everything that is wrong, and whether nothing is.

    A check is left out where one of its prerequisites has found an error, because it would only echo that.
    """
    failed: set[str] = set()
    for check in CHECKS:
        if not failed.isdisjoint(check.after):
            continue
        for diagnostic in check.find(facts):
            sink.add(diagnostic)
            if diagnostic.severity is Severity.ERROR:
                failed.add(check.name)
    return not failed
