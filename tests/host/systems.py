# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Two components for `camkes run`: one that does what a test says, and one that must not notice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.processes import PATIENCE, Marked

HEADERS = """#define _GNU_SOURCE
#include <camkes.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#pragma GCC diagnostic ignored "-Wunused-result"
"""

SYSTEM = """component Bad { control; }
component Good { control; }
assembly { composition { component Bad bad; component Good good; } }
"""

CMAKE = """DeclareCAmkESComponent(Bad SOURCES bad.c)
DeclareCAmkESComponent(Good SOURCES good.c)
DeclareCAmkESRootserver(system.camkes)
"""

GOOD = '#include <camkes.h>\n#include <stdio.h>\nint run(void) { puts("good ran"); return 0; }\n'


def write_system(folder: Path, body: str, outside: str = "", good: str = GOOD, system: str = SYSTEM) -> int:
    """Writes the system; `body` is that of `run` of the bad component. The line on which it is."""
    folder.mkdir(parents=True, exist_ok=True)
    before = f"{HEADERS}{outside}\nint run(void) {{\n"
    (folder / "bad.c").write_text(f"{before}{body}\nreturn 0;\n}}\n")
    (folder / "good.c").write_text(good)
    (folder / "system.camkes").write_text(system)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    return before.count("\n") + 1


def command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "camkes", "run", str(folder), "-o", str(folder / "out"), *options]


def camkes_run(folder: Path, *options: str, marked: Marked | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the system to its end, after which no process of it may be left."""
    marked = marked or Marked()
    done = subprocess.run(
        command(folder, *options),
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=PATIENCE,
        env=marked.env,
        check=False,
    )
    marked.assert_none()
    return done
