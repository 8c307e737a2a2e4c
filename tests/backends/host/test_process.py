# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Programs that the tool starts: their results, their limits, and that none of them outlives it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from camkes import process
from tests.processes import PATIENCE, Marked, default_signals, wait_for

pytestmark = pytest.mark.requirement("TOOL-22")

#: Starts a process of its own, writes the file "ready", and would run for ever.
ENDLESS = "sleep 100000 & echo yes > ready; sleep 100000"


@pytest.fixture
def marked() -> Marked:
    return Marked()


def test_a_program_runs_to_its_end(tmp_path: Path) -> None:
    done = process.run(["sh", "-c", "cat; pwd; echo wrong >&2; exit 3"], input="text\n", cwd=tmp_path)
    assert done == process.Finished(3, f"text\n{tmp_path}\n", "wrong\n")


def test_messages_are_in_english() -> None:
    assert process.run(["sh", "-c", "echo $LC_ALL"]).output == "C\n"


def test_output_and_errors_can_be_one(tmp_path: Path) -> None:
    command = ["sh", "-c", "echo one; echo two >&2; echo three"]
    assert process.run(command, merged=True).output == "one\ntwo\nthree\n"
    log = tmp_path / "log"
    assert process.run(command, log=log) == process.Finished(0, "", "")
    assert log.read_text() == "one\ntwo\nthree\n"


def test_a_signal_is_a_negative_status() -> None:
    assert process.run(["sh", "-c", "kill -TERM $$"]).status == -signal.SIGTERM


def test_a_program_that_is_missing() -> None:
    with pytest.raises(FileNotFoundError) as error:
        process.run(["camkes-no-such-program"])
    assert error.value.filename == "camkes-no-such-program"


def test_one_supervisor_runs_one_program_after_another_and_several_at_once() -> None:
    parent = ["sh", "-c", "echo $PPID"]
    first = process.run(parent).output
    assert process.run(parent).output == first
    with process.StartedProgram(["cat"], stdin=subprocess.PIPE):
        assert process.run(parent).output != first
    with process.StartedProgram(["cat"], stdin=subprocess.PIPE) as one:
        assert one.stdin is not None
        with process.StartedProgram(["cat"], stdin=subprocess.PIPE) as other:
            pass
        assert (one.returncode, other.returncode) == (None, -signal.SIGKILL)
        one.stdin.close()
        assert one.wait(PATIENCE) == 0


def test_a_supervisor_that_was_killed_is_replaced() -> None:
    parent = ["sh", "-c", "echo $PPID"]
    first = process.run(parent).output
    os.kill(int(first), signal.SIGKILL)
    os.waitid(os.P_PID, int(first), os.WEXITED | os.WNOWAIT)
    assert process.run(parent).output.strip().isdecimal()


def test_few_descriptors_suffice() -> None:
    code = "from camkes import process; print(process.run(['echo', 'good']).output)"
    done = process.run([sys.executable, "-c", code], limits={resource.RLIMIT_NOFILE: 48})
    assert done.output == "good\n\n", done.errors


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_program_has_the_descriptors_that_it_is_passed(count: int) -> None:
    with ExitStack() as stack:
        files = [stack.enter_context(TemporaryFile()) for _ in range(count)]
        for number, file in enumerate(files):
            file.write(b"%d" % number)
            file.seek(0)
        code = (
            "import os\nfor d in range(3, 99):\n if os.path.exists(f'/dev/fd/{d}'): print(d, os.read(d, 9))"
        )
        passed = [file.fileno() for file in files]
        program = process.StartedProgram(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, pass_fds=passed[::-1]
        )
        with program:
            assert program.stdout is not None
            said = program.stdout.read().decode()
    found = [f"{process.FIRST_PASSED + i} b'{count - 1 - i}'\n" for i in range(count)]
    assert said == "".join(found)


def test_a_program_starts_with_the_usual_signals() -> None:
    code = (
        "from signal import *\nprint([getsignal(n) for n in valid_signals()], pthread_sigmask(SIG_BLOCK, ()))"
    )
    command = [sys.executable, "-c", code]
    usual = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert process.run(command).output == usual


def test_a_command_and_an_environment_of_any_size() -> None:
    words = ["word"] * 20_000
    done = process.run(["sh", "-c", "echo $# ${#LONG}", "sh", *words], env={"LONG": "x" * 100_000})
    assert done.output == "20000 100000\n"


@pytest.mark.long
def test_limits_hold_for_a_program_and_what_it_starts() -> None:
    code = "import os; child = os.fork()\ntry: bytearray(1 << 30)\nfinally: child and os.wait()"
    done = process.run([sys.executable, "-c", code], limits={resource.RLIMIT_AS: 512 << 20})
    assert done.status == 1
    assert done.errors.count("MemoryError") == 2
    assert (
        process.run(
            [sys.executable, "-c", "bytearray(1 << 20)"], limits={resource.RLIMIT_AS: 512 << 20}
        ).status
        == 0
    )
    assert (
        process.run(["sh", "-c", "while :; do :; done"], limits={resource.RLIMIT_CPU: 1}).status
        == -signal.SIGKILL
    )


def test_a_timeout_ends_what_a_program_started(tmp_path: Path, marked: Marked) -> None:
    done = process.run(["sh", "-c", f"echo before; {ENDLESS}"], cwd=tmp_path, env=marked.env, timeout=0.2)
    assert done.timed_out
    assert done.output == "before\n"
    marked.assert_none()


def test_the_end_of_a_program_ends_what_it_started(marked: Marked) -> None:
    done = process.run(["sh", "-c", "sleep 100000 >/dev/null 2>&1 &"], env=marked.env)
    assert done == process.Finished(0, "", "")
    marked.assert_none()


#: Leaves a process that has nothing in common with it: another session, no environment, its parent has ended.
DAEMON = """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve("/bin/sleep", ["sleep", "765432.1"], {})
    os._exit(0)
os.wait()
"""


def sleeping() -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if b"765432.1" in file.read_bytes():
                found.append(file.parent.name)
    return found


@pytest.mark.parametrize("then", ["", "import time; time.sleep(1000)"])
def test_a_daemon_ends_with_the_program(then: str) -> None:
    code = f"{DAEMON}print('ready', flush=True)\n{then}"
    program = process.StartedProgram([sys.executable, "-c", code], stdout=subprocess.PIPE)
    with program as popen:
        assert popen.stdout is not None
        assert popen.stdout.readline() == b"ready\n"
        if not then:
            assert popen.wait(PATIENCE) == 0
    assert not sleeping()


#: Each process starts the next one, in a session of its own, and ends.
CHAIN = """
import os, sys
print("ready", flush=True)
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
"""


def test_a_chain_of_processes_is_caught() -> None:
    code = f"import os, sys\nif os.fork() == 0: exec({CHAIN!r})\nimport time; time.sleep(1000)"
    program = process.StartedProgram([sys.executable, "-c", code], stdout=subprocess.PIPE)
    with program as popen:
        assert popen.stdout is not None
        assert popen.stdout.readline() == b"ready\n"
    assert popen.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
)
def test_programs_end_with_the_process_that_started_them(
    number: signal.Signals, tmp_path: Path, marked: Marked
) -> None:
    code = f"from camkes import process; process.run(['sh', '-c', {ENDLESS!r}])"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=tmp_path, env=marked.env, preexec_fn=default_signals) as python:
        try:
            wait_for((tmp_path / "ready").exists)
            # Python, the supervisor, the shell and two that sleep, the second of which starts after the file
            # was written
            wait_for(lambda: len(marked.alive()) == 5, lambda: f"not five: {marked.alive()}")
            python.send_signal(number)
            python.wait(PATIENCE)
        finally:
            python.kill()  # else a failure waits for it without an end
    marked.assert_none()
