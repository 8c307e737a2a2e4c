# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A process between us and the programs that we start: it ends all that a program has started.

It is the subreaper of its descendants (`prctl(2)`): a process whose parent has ended becomes its child,
whatever session, process group or environment it has. So all of them have ended when it has no child left.
It kills them when the program has ended, and when we close our end of a socket, which the kernel does if we
are killed. It runs one program after another, as it takes longer to start than most programs.

This file is run as a script, too: as a process of its own, and not a fork of ours, it has none of the
locks that our threads hold. So it imports nothing of the package.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import marshal
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_NUMBER = struct.Struct("i")
#: that a program is given; a supervisor's own have higher numbers, as far as `ulimit -n` permits
_MOST_DESCRIPTORS = 32
#: that no handler can get over
_FATAL = {signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}

_prctl = ctypes.CDLL(None).prctl


class Supervisor:
    """A supervisor, for one program at a time."""

    def __init__(self) -> None:
        self._socket, its = socket.socketpair()
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self._process = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", __file__, *(str(int(number)) for number in blocked)],
                os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, its.fileno(), 0)],
                setpgroup=0,  # what is sent to our group is not for it
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        its.close()

    def start(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        streams: Sequence[int],
        passed: Sequence[int],
        folder: int,
        limits: Mapping[int, int],
        terminal: bool,
    ) -> int:
        """Start a program in an open folder; its process. `streams` are its standard input, output and error,
        `passed` its further descriptors: 3, 4, ... `limits` are those of each process, by their number in
        the module `resource`. The program has a session of its own, with `terminal` the user's. Raises
        OSError."""
        group = os.getpgrp() if terminal else None
        request = marshal.dumps((list(command), dict(env), len(passed), dict(limits), group))
        socket.send_fds(self._socket, [_NUMBER.pack(len(request))], [*passed, *streams, folder])
        self._socket.sendall(request)
        answer = self._receive()
        if answer is None:
            raise ChildProcessError(errno.ECHILD, os.strerror(errno.ECHILD), command[0])
        if answer < 0:
            raise OSError(-answer, os.strerror(-answer), command[0])
        return answer

    def wait(self, timeout: float | None) -> int:
        """Wait until the program and all that it started have ended; its status, or -N after signal N. Raises
        TimeoutError after so many seconds."""
        if timeout is not None and not select.select([self._socket], [], [], timeout)[0]:
            raise TimeoutError
        status = self._receive()
        return -int(signal.SIGKILL) if status is None else status

    def end(self) -> int:
        """Kill the program and all that it started, and wait until that is done; its status. The supervisor
        ends as well."""
        with suppress(OSError):  # it was killed
            self._socket.shutdown(socket.SHUT_WR)
        status = self.wait(None)
        with suppress(ChildProcessError):  # two threads end it
            os.waitpid(self._process, 0)
        return status

    @property
    def has_ended(self) -> bool:
        """Whether an idle supervisor was killed: it sends nothing otherwise."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def _receive(self) -> int | None:
        """None: the supervisor has ended."""
        message = self._socket.recv(_NUMBER.size, socket.MSG_WAITALL)
        return int(_NUMBER.unpack(message)[0]) if message else None


def _supervise(connection: int, blocked: Collection[int]) -> None:
    """What a supervisor does until our end of the socket is closed. Does not return."""
    try:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        ours, woken, wake = _only_open(connection, *os.pipe())
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in signal.valid_signals() - _FATAL:
            if number == signal.SIGCHLD or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda *_: None)  # not ignored, which a program would inherit
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        with socket.socket(fileno=ours) as requests:
            while True:
                _run_next(requests, woken)
    finally:
        os._exit(0)


def _only_open(*descriptors: int) -> list[int]:
    """Close all others. The lowest numbers are left to what programs are passed."""
    kept = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, _MOST_DESCRIPTORS) for each in descriptors]
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        if int(name) not in kept:
            with suppress(OSError):
                os.close(int(name))
    for _ in ("standard input", "output", "error"):
        os.open(os.devnull, os.O_RDWR)
    return kept


def _run_next(requests: socket.socket, woken: int) -> None:
    """Run a program until it ends, or until our end of the socket is closed, and end all that it started."""
    data, descriptors, _, _ = socket.recv_fds(requests, _NUMBER.size, _MOST_DESCRIPTORS)
    (size,) = _NUMBER.unpack(data)
    command, env, passed, limits, group = marshal.loads(requests.recv(size, socket.MSG_WAITALL))
    stdin, stdout, stderr, folder = descriptors[passed:]
    try:
        os.fchdir(folder)
        program = subprocess.Popen(
            command,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=descriptors[:passed],
            start_new_session=group is None,
            process_group=group,
            preexec_fn=partial(_prepare, limits),
        )
    except (OSError, subprocess.SubprocessError) as error:
        _send(requests, -(getattr(error, "errno", None) or errno.EAGAIN))
        return
    finally:
        os.chdir("/")
        for each in descriptors:
            os.close(each)
    _send(requests, program.pid)
    while not os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
        if requests.fileno() in select.select([requests.fileno(), woken], [], [])[0]:
            os.kill(program.pid, signal.SIGKILL)
            os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
        else:
            os.read(woken, select.PIPE_BUF)
    if group is None:
        with suppress(OSError):  # at once, so that none of them starts others meanwhile
            os.killpg(program.pid, signal.SIGKILL)
    program.returncode = os.waitstatus_to_exitcode(_end_children(program.pid))
    _send(requests, program.returncode)


def _prepare(limits: Mapping[int, int]) -> None:
    """In the process that becomes the program."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # should the supervisor be killed
    for kind, limit in limits.items():
        hard = resource.getrlimit(kind)[1]
        least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (least, least))


def _send(requests: socket.socket, number: int) -> None:
    with suppress(OSError):  # we were killed
        requests.sendall(_NUMBER.pack(number))


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


if __name__ == "__main__":
    _supervise(0, [int(number) for number in sys.argv[1:]])
