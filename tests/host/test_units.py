# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Parts of the host kernel by themselves, with the sanitizers on."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from camkes.resources import HOST_KERNEL, RUNTIME

_UNIT = Path(__file__).parent / "unit"


@pytest.mark.parametrize(
    ("test", "sources"),
    [
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
                "oracle_locks.c",
                "oracle_state.c",
                "oracle_turns.c",
            ),
        ),
        ("oracle_table_test.c", ("oracle_table.c",)),
        ("pages_test.c", ("pages.c",)),
        ("snapshot_test.c", ("snapshot.c",)),
        ("trace_test.c", ("trace.c",)),
    ],
    ids=[
        *("integrity", "arrivals", "handover", "oracle_blocking", "oracle", "oracle_table", "pages"),
        *("snapshot", "trace"),
    ],
)
def test_unit(test: str, sources: tuple[str, ...], tmp_path: Path) -> None:
    program = tmp_path / "test"
    kernel = HOST_KERNEL / "src"
    includes = (kernel, kernel / platform.machine(), HOST_KERNEL / "include", RUNTIME / "include")
    subprocess.run(
        [
            *("cc", "-std=c11", "-D_GNU_SOURCE", "-O0", "-g1", "-Wall", "-Wextra", "-Werror"),
            *("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DCAMKES_SANITIZED"),
            *(f"-I{folder}" for folder in includes),
            *("-o", str(program), str(_UNIT / test), *(str(kernel / source) for source in sources)),
        ],
        check=True,
    )
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("good\n", "", 0)
