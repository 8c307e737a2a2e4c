# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Two components for `camkes run`: one with the code of a test, and one that must not notice."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from camkes import process
from tests.command import Result, camkes
from tests.processes import Marked

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
assembly {
    composition { component Bad bad; component Good good; }
    configuration { bad.heap_size = 0x40000000; }
}
"""

GOOD = '#include <camkes.h>\n#include <stdio.h>\nint run(void) { puts("good ran"); return 0; }\n'


@dataclass(frozen=True)
class Case:
    """How reports name the thread of a case, and its line."""

    thread: str
    place: str

    def report(self, errors: str) -> str:
        """What is reported of this case."""
        return errors.partition(self.thread)[2].partition("component bad, thread")[0]


def write_system(folder: Path, body: str, outside: str = "", good: str = GOOD, system: str = SYSTEM) -> int:
    """Writes the system; `body` is that of `run` of the bad component, and sources are found by the names of
    components. The line on which the body is."""
    folder.mkdir(parents=True, exist_ok=True)
    before = f"{HEADERS}{outside}\nint run(void) {{\n"
    (folder / "bad.c").write_text(f"{before}{body}\nreturn 0;\n}}\n")
    (folder / "good.c").write_text(good)
    (folder / "system.camkes").write_text(system)
    return before.count("\n") + 1


def write_cases(folder: Path, bodies: Sequence[str], outside: str = "") -> list[Case]:
    """Writes a system whose bad component has a thread for each body, that of an interface, which runs it
    when it starts."""
    names = [f"p{number}" for number in range(len(bodies))]
    ends = [" ".join(f"{kind} P {name};" for name in names) for kind in ("provides", "uses")]
    calls = "\n".join(f"connection seL4RPCCall {n}(from good.{n}, to bad.{n});" for n in names)
    system = "import <std_connector.camkes>;\nprocedure P { void go(); }\n"
    system += SYSTEM.replace("Bad { control; }", f"Bad {{ control; {ends[0]} }}")
    system = system.replace("Good { control; }", f"Good {{ control; {ends[1]} }}")
    system = system.replace("component Good good;", f"component Good good;\n{calls}")
    handlers = " ".join(f"void {name}_go(void) {{ }}" for name in names)
    code = "".join(f"void {n}__init(void) {{ {body} }}\n" for n, body in zip(names, bodies, strict=True))
    after = write_system(folder, "", f"{outside}\n{handlers}\n{code}", system=system)
    first = after - 2 - len(bodies)
    return [Case(f"component bad, thread bad.{n}: ", f"bad.c:{first + i}:") for i, n in enumerate(names)]


def command(folder: Path, *options: str) -> list[str]:
    path = folder if (folder / "CMakeLists.txt").exists() else folder / "system.camkes"
    return [sys.executable, "-m", "camkes", "run", str(path), "-o", str(folder / "out"), *options]


def camkes_run(folder: Path, *options: str) -> Result:
    """Runs the system to its end, after which no process of it may be left."""
    marked = Marked()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(*marked.variable)
        done = camkes(*command(folder, *options)[3:])
    if marked.alive():
        process.end_supervisors()  # one that was started for this run would wait for the next program of ours
    marked.assert_none()
    return done
