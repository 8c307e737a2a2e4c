# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes explore` finds everyday mistakes, and reports none where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.explore.everyday import ALL, explore, verdict

pytestmark = pytest.mark.requirement("AN-24")

#: one of each kind; the others are searched at night
SHORT = (
    *("right_double_checked", "right_dataport_volatile_flag", "right_initialised_before_requests"),
    *("wrong_dataport_without_protocol", "wrong_flag_and_semaphore", "wrong_initialised_in_run"),
    *("wrong_lock_order", "wrong_lost_update", "wrong_phase", "wrong_torn_memcpy", "wrong_two_plain_servers"),
)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.mostly_long(*SHORT)
def test_the_verdict_of_a_search(name: str, tmp_path: Path) -> None:
    system = ALL[name]
    found = verdict(explore(system, tmp_path, "--json", "--limit", "60s"))
    assert found in (system.finds or ("",)), system.what


def test_there_are_enough_of_them() -> None:
    wrong = [name for name, system in ALL.items() if system.finds]
    assert len(wrong) >= 40 and len(ALL) - len(wrong) >= 20
    assert all(name.startswith("wrong_" if system.finds else "right_") for name, system in ALL.items())
    assert set(SHORT) <= set(ALL)
