# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Searches of systems under a schedule of domains: what is followed, and what is listed as not searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import camkes
from tests.end_to_end.test_domains import FIGURES, application

pytestmark = pytest.mark.requirement("AN-22")


def test_the_schedule_is_followed_at_the_stated_times(tmp_path: Path) -> None:
    """q has the higher priority and waits for its slot, which violates nothing; a deadline that is shorter
    than its response time is violated."""
    settings, schedule, period, *_ = FIGURES["two"]
    options = ("--arrivals", "stated", "-o", tmp_path / "out")
    good = camkes("explore", application(tmp_path / "good", settings, schedule, period), *options)
    assert good.status == 0, good.output
    assert "properties M P H L Z S F D: no violation was found" in good.output
    assert "the schedule of domains" not in good.output
    settings += " q._deadline = 5 ms;"
    late = camkes("explore", application(tmp_path / "late", settings, schedule, period), *options)
    assert late.status == 1 and "violated: D" in late.output


def test_other_arrivals_are_not_searched_under_it(tmp_path: Path) -> None:
    settings, schedule, period, *_ = FIGURES["two"]
    folder = application(tmp_path / "any", settings, schedule, period)
    done = camkes("explore", folder, "--arrivals", "any", "-o", tmp_path / "out")
    assert done.status == 0
    assert (
        "the schedule of domains with other arrivals than the stated ones (--arrivals stated)" in done.output
    )
