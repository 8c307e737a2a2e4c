# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The lines of a failed build that are shown are those of what failed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from camkes.backends.sel4.build_log import NINJA_STATUS, failing_lines

pytestmark = pytest.mark.requirement("SEL4-12")

NOISE = [f"checking whether the compiler accepts -Werror={number}... yes" for number in range(100)]


def ninja_log(*commands: tuple[str, bool, list[str]]) -> str:
    lines = []
    for number, (target, fails, output) in enumerate(commands, 1):
        lines.append(f"[ninja {number}/{len(commands)}] Building {target}")
        if fails:
            lines += [f"FAILED: [code=2] {target} {target}.d ", f"cd somewhere && make {target} -Werror"]
        lines += output
    return "\n".join([*lines, "ninja: build stopped: subcommand failed.", ""])


def test_the_output_of_the_command_that_failed() -> None:
    log = ninja_log(
        ("error.o", False, ["error.c:1: warning: an error is near"]),
        ("a.o", True, ["a.c:1: in function f", "a.c:2: error: no"]),
        ("b.o", False, ["b.c:7: warning: unused"]),
    )
    assert failing_lines(log) == ["FAILED: a.o", "a.c:1: in function f", "a.c:2: error: no"]


def test_each_command_that_failed() -> None:
    log = ninja_log(("a.o", True, ["one"]), ("b.o", False, ["good"]), ("c.o", True, ["two"]))
    assert failing_lines(log) == ["FAILED: a.o", "one", "FAILED: c.o", "two"]


def test_of_long_output_the_first_error() -> None:
    log = ninja_log(("libc.a", True, [*NOISE, "x.c:3: error: no", "make: *** [x.o] Error 1"]))
    assert failing_lines(log) == ["FAILED: libc.a", "x.c:3: error: no", "make: *** [x.o] Error 1"]


def test_of_long_output_without_an_error_the_end() -> None:
    log = ninja_log(("libc.a", True, [*NOISE, "it went wrong"]))
    assert failing_lines(log) == ["FAILED: libc.a", *NOISE[-19:], "it went wrong"]


def test_a_long_line_is_cut() -> None:
    log = ninja_log(("a", True, [f"collect2: {'x' * 1000}"]))
    assert all(len(line) < 410 for line in failing_lines(log))


def test_errors_of_cmake() -> None:
    log = "\n".join([*NOISE, "CMake Error at x.cmake:1 (message):", "  no", ""])
    assert failing_lines(log) == ["CMake Error at x.cmake:1 (message):", "  no"]


def test_errors_of_ninja_itself() -> None:
    log = "ninja: error: 'a.c', needed by 'a.o', missing and no known rule to make it\n"
    assert failing_lines(log) == [log.strip()]


@pytest.mark.skipif(shutil.which("ninja") is None, reason="ninja is not installed")
def test_an_error_in_the_output_of_ninja(tmp_path: Path) -> None:
    (tmp_path / "build.ninja").write_text(
        "rule sh\n  command = $script\n"
        "build good: sh\n  script = echo '[1/2] error: none'\n"
        "build bad also-bad: sh good\n  script = echo reason; echo second >&2; exit 3\n"
    )
    done = subprocess.run(
        ["ninja", "-C", str(tmp_path)],
        env={**os.environ, "NINJA_STATUS": NINJA_STATUS},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert failing_lines(done.stdout) == ["FAILED: bad", "reason", "second"]
