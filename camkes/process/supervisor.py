# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A process between us and a program that we start: it ends all that the program has started.

It is the subreaper of its descendants (`prctl(2)`): a process whose parent has ended becomes its child,
whatever session, process group or environment it has. So all of them have ended when it has no child left.
It kills them when the program has ended, and when we close a pipe, which the kernel does if we are killed.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
from contextlib import suppress
from io import FileIO
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_PROCESS = struct.Struct("i")

_prctl = ctypes.CDLL(None).prctl


class Supervisor:
    """The supervisor of one program."""

    def __init__(self) -> None:
        self._until_closed, self._open = _pipe()  # it supervises until this is closed
        self._messages, self._message_to_us = _pipe()  # the number of the program; closed when all has ended

    def split(self, limits: Mapping[int, int], terminal: bool) -> None:
        """To be called in a new process, which goes on as the supervisor and does not return. The call
        returns in its child, which is to become the program. `limits` are those of each process, by their
        number in the module `resource`. The program has a session of its own, with `terminal` the user's."""
        _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        program = os.fork()
        if program:
            self._supervise(program, terminal)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # should the supervisor be killed
        if not terminal:
            os.setsid()
        for kind, limit in limits.items():
            hard = resource.getrlimit(kind)[1]
            least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (least, least))
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def program(self) -> int:
        """The process of the program. OSError if the supervisor was killed."""
        self._message_to_us.close()
        message = self._messages.read(_PROCESS.size) or b""
        if len(message) < _PROCESS.size:
            raise ChildProcessError
        return int(_PROCESS.unpack(message)[0])

    def end(self) -> None:
        """Kill the program and all that it started, and wait until that is done."""
        self._message_to_us.close()
        self._open.close()
        while self._messages.read(_PROCESS.size):
            pass

    def _supervise(self, program: int, terminal: bool) -> None:
        try:
            os.setpgid(0, 0)  # what is sent to our group is not for it
            os.chdir("/")
            message, end = self._message_to_us.fileno(), self._until_closed.fileno()
            for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
                if int(name) not in (message, end):
                    with suppress(OSError):
                        os.close(int(name))
            with suppress(OSError):  # we were killed
                os.write(message, _PROCESS.pack(program))
            Thread(target=_kill_when_closed, args=(end, program), daemon=True).start()
            os.waitid(os.P_PID, program, os.WEXITED | os.WNOWAIT)
            if not terminal:
                with suppress(OSError):  # at once, so that none of them starts others meanwhile
                    os.killpg(program, signal.SIGKILL)
            _end_as(_end_children(program))
        finally:
            os._exit(1)


def _kill_when_closed(end: int, program: int) -> None:
    os.read(end, 1)
    os.kill(program, signal.SIGKILL)


def _pipe() -> tuple[FileIO, FileIO]:
    reading, writing = os.pipe()
    return FileIO(reading, "r"), FileIO(writing, "w")


def _end_children(program: int) -> int:
    """Kill children until there are none, or none that we may kill; how the program ended (see `wait(2)`)."""
    status = int(signal.SIGKILL)
    while True:
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                status = ended[1] if ended[0] == program else status
        except ChildProcessError:
            return status
        children = _children()
        killed = [child for child in children if _kill(child)]
        if killed:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        elif children:
            return status


def _children() -> list[int]:
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            if int(file.read().rpartition(b") ")[2].split()[1]) == os.getpid():
                found.append(int(name))
    return found


def _kill(process: int) -> bool:
    try:
        os.kill(process, signal.SIGKILL)
    except PermissionError:  # another user's
        return False
    return True


def _end_as(status: int) -> None:
    """End as the program did, since our status is read as its."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        _prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)  # only the program's memory is of interest
        with suppress(OSError):  # SIGKILL
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    os._exit(code)
