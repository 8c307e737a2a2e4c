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
    ("test", "sources"),
    [
        ("queue_test.c", ("protocols/queue.c",)),
        ("message_test.c", ("message.c", "message_error.c")),
        ("shared_memory_test.c", ()),
        ("error_test.c", ("error.c",)),
        ("semaphore_test.c", ("semaphore.c",)),
        ("group_test.c", ("protocols/group.c", "protocols/lending.c")),
        ("condition_test.c", ("protocols/condition.c",)),
        ("start_test.c", ("start.c",)),
        ("manager_test.c", ("protocols/manager.c", "protocols/queue.c")),
        ("nested_test.c", ("protocols/nested.c",)),
    ],
)
def test_unit(test: str, sources: tuple[str, ...], tmp_path: Path) -> None:
    program = tmp_path / "test"
    subprocess.run(
        [
            *("cc", "-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-DCAMKES_KERNEL_HOST=1"),
            "-DCAMKES_INLINE=static inline",
            *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
            *(f"-I{RUNTIME}/include", f"-I{HOST_KERNEL}/include", "-o", str(program), str(_UNIT / test)),
            *(str(RUNTIME / "src" / s) for s in sources),
        ],
        check=True,
    )
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("good\n", "", 0)
