# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Whatever program the tool waits for, and however it is ended, that program and all it started end too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.host.kernel import CC
from tests.host.systems import write_system
from tests.processes import PATIENCE, Marked, default_signals, wait_for

pytestmark = pytest.mark.requirement("HOST-8")

#: A program that does not end: it ignores all signals that it can, and starts others in its own
#: group, in another group and in another session (where a sandbox allows that).
STUB = f"""#!{sys.executable} -IS
import os, signal
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
for leave in (os.setsid, lambda: os.setpgid(0, 0), lambda: None):
    if os.fork() == 0:
        try:
            leave()
        except OSError:
            pass
        os.execlp("sleep", "sleep", "100000")
os.execlp("sleep", "sleep", "100000")
"""

CONDITIONAL = "#ifdef OTHER\n#endif\ncomponent C {}\nassembly { composition { component C c; } }\n"
#: CMake sees only those variables of the environment that its text names
ASKS = 'execute_process(COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/bin/stub" $ENV{CAMKES_TEST_MARK})\n'
CRASHES = "*(volatile int *)8 = 1;"
QEMU = """
import sys
from pathlib import Path
from camkes.backends.sel4.workspace import simulate
simulate(Path(sys.argv[1]), sys.stdout)
"""


def run(folder: Path) -> Sequence[str]:
    return ("-m", "camkes", "run", str(folder / "system.camkes"), "-o", str(folder / "out"))


def stubs(folder: Path, *names: str) -> None:
    (folder / "bin").mkdir()
    for name in ("stub", *names):
        (folder / "bin" / name).write_text(STUB)
        (folder / "bin" / name).chmod(0o755)


def preprocessor(folder: Path) -> Sequence[str]:
    stubs(folder, "cpp")
    (folder / "a.camkes").write_text(CONDITIONAL)
    return ("-m", "camkes", "check", "--cpp", str(folder / "a.camkes"))


def cmake(folder: Path) -> Sequence[str]:
    stubs(folder)
    write_system(folder, "")
    (folder / "CMakeLists.txt").write_text(f"{ASKS}DeclareCAmkESRootserver(system.camkes)\n")
    return ("-m", "camkes", "check", str(folder))


def kernel_make(folder: Path) -> Sequence[str]:
    stubs(folder, "make")
    write_system(folder, "")
    return run(folder)


def compiler(folder: Path) -> Sequence[str]:
    """Of a source that includes a pipe without a writer. Ninja gives it a group of its own. GCC starts a
    process for it, which Clang does not."""
    write_system(folder, "", '#include "pipe"')
    os.mkfifo(folder / "pipe")
    return run(folder)


def addresses(folder: Path) -> Sequence[str]:
    stubs(folder, "addr2line")
    write_system(folder, CRASHES)
    return run(folder)


def dot(folder: Path) -> Sequence[str]:
    stubs(folder, "dot")
    write_system(folder, "")
    return ("-m", "camkes", "graph", str(folder / "system.camkes"), "-o", str(folder / "graph.svg"))


def host_kernel(folder: Path) -> Sequence[str]:
    write_system(folder, "for (;;) { camkes_work(1000000); }")
    return (
        "-m",
        "camkes",
        "run",
        str(folder / "system.camkes"),
        "-o",
        str(folder / "out"),
        "--for",
        "1000000s",
    )


def task_sets(folder: Path) -> Sequence[str]:
    """Evaluated by processes that Python starts."""
    return ("-m", "benchmarks.papers", "nested", "--count", "100000", "--jobs", "2")


def qemu(folder: Path) -> Sequence[str]:
    stubs(folder)
    (folder / "simulate").write_text(STUB)
    return ("-c", QEMU, str(folder))


def environment(folder: Path, prepare: Callable[[Path], Sequence[str]], marked: Marked) -> dict[str, str]:
    result = {**marked.env, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    if prepare is kernel_make:
        result["XDG_CACHE_HOME"] = str(folder / "cache")
    return result


def is_running(marked: Marked) -> bool:
    """Whether all processes are there whose end is of interest."""
    alive = marked.alive()
    numbers = {"sleep 1": 4, "/bad.c -quiet": 1, "/camkes-host ": 3, "benchmarks.papers ": 3}
    return any(sum(word in line for line in alive) >= number for word, number in numbers.items())


PREPARED = [preprocessor, cmake, kernel_make, compiler, addresses, dot, host_kernel, task_sets, qemu]


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("prepare", PREPARED)
def test_an_ended_command_leaves_no_process(
    prepare: Callable[[Path], Sequence[str]], number: signal.Signals, tmp_path: Path
) -> None:
    if prepare is compiler and "clang" in CC:
        pytest.skip("Clang compiles in its own process")
    marked = Marked()
    words = prepare(tmp_path)
    with subprocess.Popen(
        [sys.executable, *words],
        env=environment(tmp_path, prepare, marked),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=default_signals,
    ) as running:
        try:
            wait_for(lambda: is_running(marked) or running.poll() is not None)
            assert running.poll() is None, running.communicate()
            running.send_signal(number)
            _, errors = running.communicate(timeout=PATIENCE)
        finally:
            running.kill()
    assert "Traceback" not in errors
    if number == signal.SIGINT and prepare is not qemu:
        assert running.returncode == 130
    marked.assert_none()
