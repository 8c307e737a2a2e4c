# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Nothing is left of a program whichever step of starting or stopping it an interruption falls on."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import default_signals

pytestmark = pytest.mark.requirement("TOOL-22")

#: Runs a program once for each step in `camkes.process`: a call, a line
#: or a return that is reached for the first time. The process of that run raises KeyboardInterrupt at its
#: step, or sends itself the signal, and ends as the command does. The program starts others in its group, in
#: another group and in another session.
SCRIPT = r"""
import os, signal, subprocess, sys, time
from camkes import process
from camkes.process import supervisor

number, first, stride, ready = int(sys.argv[1]), *map(int, sys.argv[2:4]), sys.argv[4]
FILES = {process.__file__, supervisor.__file__}
PROGRAM = '''
import os, sys
for leave in (os.setsid, lambda: os.setpgid(0, 0), lambda: None):
    if os.fork() == 0:
        leave()
        os.write(1, b"x")
        os.execlp("sleep", "sleep", "100000")
os.execlp("sleep", "sleep", "100000")
'''

def step_of(step):
    seen, tool = set(), os.getpid()
    def trace(frame, event, argument):
        if frame.f_code.co_filename not in FILES or os.getpid() != tool:
            return None
        place = (frame.f_code, frame.f_lineno, event)
        if place in seen:
            return trace
        seen.add(place)
        if len(seen) == step:
            sys.settrace(None)
            if number:
                os.kill(os.getpid(), number)
                return None  # the signal is held back, and comes later
            raise KeyboardInterrupt
        return trace
    return trace

def run(step):
    program = process.StartedProgram(
        [sys.executable, "-IS", "-c", PROGRAM],
        env={**os.environ, "STEP": f"{ready}/{step}"}, stdout=subprocess.PIPE)
    status = 0
    try:
        sys.settrace(step_of(step))
        with program as popen:
            left = 3
            while left:
                left -= len(os.read(popen.stdout.fileno(), left))
    except KeyboardInterrupt:
        status = 130
    sys.settrace(None)
    process.leave(status)

def alive(step):
    mark, found = f"STEP={ready}/{step}".encode(), []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            pass
    return found

step, status = first, None
while status != 0:
    child = os.fork()
    if child == 0:
        run(step)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    end = time.monotonic() + 30
    while (left := alive(step)) and time.monotonic() < end:
        time.sleep(0.002)
    if left:
        print(f"step {step}: {len(left)} left")
        for one in left:
            os.kill(one, signal.SIGKILL)
    if status not in (0, 130, -number):
        print(f"step {step}: status {status}")
    step += stride
print(f"{(step - first) // stride} steps")
"""


@pytest.mark.mostly_long("15-20")
@pytest.mark.parametrize(
    ("number", "stride"),
    [
        pytest.param(0, 1, marks=pytest.mark.long),
        (0, 5),
        (signal.SIGKILL, 2),
        (signal.SIGTERM, 20),
        (signal.SIGHUP, 20),
    ],
)
def test_nothing_is_left_at_any_step(number: int, stride: int, tmp_path: Path) -> None:
    words = [str(int(number)), "1", str(stride), str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
        preexec_fn=default_signals,
    )
    assert done.returncode == 0, done.stderr
    *wrong, steps = done.stdout.splitlines()
    assert wrong == []
    assert int(steps.split()[0]) > 80 // stride
