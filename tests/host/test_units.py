# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Parts of the host kernel by themselves, with the sanitizers on."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from camkes.resources import HOST_KERNEL, RUNTIME
from tests.units import build, check, requirement_of

pytestmark = pytest.mark.requirement("HOST-24")

_UNIT = Path(__file__).parent / "unit"


_UNITS = (
    ("integrity_test.c", ("integrity.c",)),
    ("arrivals_test.c", ("arrivals.c",)),
    ("handover_test.c", ("handover.c",)),
    ("oracle_blocking_test.c", ("oracle_blocking.c",)),
    (
        "oracle_test.c",
        (
            "oracle.c",
            "oracle_blocking.c",
            "oracle_budgets.c",
            "oracle_liveness.c",
            "oracle_locks.c",
            "oracle_messages.c",
            "oracle_state.c",
            "oracle_turns.c",
            "oracle_way_home.c",
            "oracle_words.c",
        ),
    ),
    ("oracle_liveness_test.c", ("oracle_liveness.c", "wakes.c")),
    ("oracle_table_test.c", ("oracle_table.c",)),
    ("pages_test.c", ("pages.c",)),
    ("snapshot_test.c", ("snapshot.c",)),
    ("trace_test.c", ("trace.c",)),
    ("visited_test.c", ("visited.c",)),
)


@pytest.mark.parametrize(
    ("test", "sources"),
    [
        pytest.param(*unit, id=unit[0].removesuffix("_test.c"), marks=requirement_of(_UNIT / unit[0]))
        for unit in _UNITS
    ],
)
def test_unit(test: str, sources: tuple[str, ...], tmp_path: Path) -> None:
    kernel = HOST_KERNEL / "src"
    includes = (kernel, kernel / platform.machine(), HOST_KERNEL / "include", RUNTIME / "include")
    flags = ("-D_GNU_SOURCE", "-DCAMKES_SANITIZED")
    check(build(tmp_path, _UNIT / test, [next(kernel.rglob(source)) for source in sources], includes, *flags))
