# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The functions of the kernel's library: each is there, or says at the call why it is not."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.host.kernel import (
    CC,
    HERE,
    ROOT,
)

pytestmark = pytest.mark.requirement("HOST-10")


@pytest.mark.parametrize("kind", [[], ["-DCONFIG_KERNEL_MCS=1"]], ids=["master", "mcs"])
def test_every_function_of_the_user_library_exists_or_has_a_reason(kind: list[str]) -> None:
    """libsel4_functions.txt lists what the kernel's own library declares."""
    lines = (HERE / "libsel4_functions.txt").read_text().splitlines()
    names = [line for line in lines if line and not line.startswith("#")]
    words = [CC, "-std=gnu11", "-E", *kind, f"-I{ROOT}/kernel/host/include", "-include", "sel4/sel4.h", "-"]
    text = subprocess.run(words, input="", capture_output=True, text=True, check=True).stdout
    assert [name for name in names if not re.search(rf"\b{name}\(", text)] == []


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("seL4_CNode_Copy(1, 2, 3, 4, 5, 6, 7)", "capabilities and threads stay as the build made them"),
        ("seL4_SchedContext_Consumed(1)", "not an MCS kernel"),
        ("seL4_X86_IOPort_In8(1, 2)", "no devices"),
        ("seL4_BenchmarkResetLog()", "its time is virtual"),
    ],
)
def test_a_function_missing_on_the_host_kernel_is_an_error_at_the_call(
    call: str, why: str, tmp_path: Path
) -> None:
    source = tmp_path / "call.c"
    source.write_text(f"#include <sel4/sel4.h>\nvoid f(void);\nvoid f(void)\n{{\n    (void){call};\n}}\n")
    done = subprocess.run(
        [CC, "-std=gnu11", "-Wall", "-c", f"-I{ROOT}/kernel/host/include", "-o", "/dev/null", str(source)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert re.search(rf"call\.c:5:.*error.*{why}", done.stderr), done.stderr
