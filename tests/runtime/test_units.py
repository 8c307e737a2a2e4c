# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Parts of the runtime by themselves, with the sanitizers on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from camkes.resources import HOST_KERNEL, RUNTIME

_UNIT = Path(__file__).parent / "unit"


@pytest.mark.parametrize(
    ("test", "sources", "mcs"),
    [
        ("queue_test.c", ("protocols/queue.c",), False),
        ("message_test.c", ("message.c", "message_error.c"), False),
        ("shared_memory_test.c", (), False),
        ("error_test.c", ("error.c",), False),
        ("semaphore_test.c", ("semaphore.c",), False),
        ("group_test.c", ("protocols/group.c", "protocols/lending.c"), False),
        ("condition_test.c", ("protocols/condition.c",), False),
        ("start_test.c", ("start.c",), False),
        ("manager_test.c", ("protocols/manager.c", "protocols/queue.c"), False),
        ("nested_test.c", ("protocols/nested.c",), False),
        ("nested_test.c", ("protocols/nested.c",), True),
        ("budget_test.c", ("protocols/budget.c",), True),
    ],
)
def test_unit(test: str, sources: tuple[str, ...], mcs: bool, tmp_path: Path) -> None:
    program = tmp_path / "test"
    subprocess.run(
        [
            *("cc", "-std=c11", "-O0", "-g1", "-Wall", "-Wextra", "-Werror", "-DCAMKES_KERNEL_HOST=1"),
            *(("-DCONFIG_KERNEL_MCS",) if mcs else ()),
            *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
            *(f"-I{RUNTIME}/include", f"-I{HOST_KERNEL}/include", "-o", str(program), str(_UNIT / test)),
            *(str(RUNTIME / "src" / s) for s in sources),
        ],
        check=True,
    )
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("good\n", "", 0)
