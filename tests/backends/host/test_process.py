# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Programs that the tool starts: their results, their limits, and that none of them outlives it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from camkes import process
from tests.processes import PATIENCE, Marked, default_signals, wait_for

#: Starts a process of its own, says so in the file "ready", and would run for ever.
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


@pytest.mark.parametrize("limit", [None, 1 << 30])
def test_a_program_that_is_missing(limit: int | None) -> None:
    with pytest.raises(FileNotFoundError) as error:
        process.run(["camkes-no-such-program"], memory_limit=limit)
    assert error.value.filename == "camkes-no-such-program"


def test_limits_hold_for_a_program_and_what_it_starts() -> None:
    code = "import os; os.fork(); bytearray(1 << 30)"
    done = process.run([sys.executable, "-c", code], memory_limit=512 << 20)
    assert done.status == 1
    assert done.errors.count("MemoryError") == 2
    assert process.run([sys.executable, "-c", "bytearray(1 << 20)"], memory_limit=512 << 20).status == 0
    assert process.run(["sh", "-c", "while :; do :; done"], cpu_limit=1).status == -signal.SIGKILL


def test_a_timeout_ends_what_a_program_started(tmp_path: Path, marked: Marked) -> None:
    done = process.run(["sh", "-c", f"echo before; {ENDLESS}"], cwd=tmp_path, env=marked.env, timeout=0.2)
    assert done.timed_out
    assert done.output == "before\n"
    marked.assert_none()


def test_the_end_of_a_program_ends_what_it_started(marked: Marked) -> None:
    done = process.run(["sh", "-c", "sleep 100000 >/dev/null 2>&1 &"], env=marked.env)
    assert done == process.Finished(0, "", "")
    marked.assert_none()


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
            # Python, the shell and two that sleep, the second of which starts after the file was written
            wait_for(lambda: len(marked.alive()) == 4, lambda: f"not four: {marked.alive()}")
            python.send_signal(number)
            python.wait(PATIENCE)
        finally:
            python.kill()  # else a failure waits for it without an end
    marked.assert_none()
