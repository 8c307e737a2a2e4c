# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""This process, and the programs that it starts.

Each program is started here, by a supervisor (`camkes.process.supervisor`): when the program has ended,
when its time is over, when the user interrupts us and when we are killed, all that it started is killed.
"""

from __future__ import annotations

import atexit
import errno
import io
import os
import sys
import time
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from msgspec import Struct

from camkes.process.limits import error_of_limit, raise_if_limited
from camkes.visible import visible_colored, visible_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import IO, Self

    from camkes.process.supervisor import Supervisor

#: Errors of a system call that are about the file that is written to, not about this process.
CANNOT_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE})


def in_english() -> dict[str, str]:
    """The environment for a program whose messages are read."""
    return {**os.environ, "LC_ALL": "C", "LANGUAGE": ""}


#: In the output of a compiler or linker one of whose programs was ended for that.
_TOO_LARGE = "File size limit exceeded"
_LITTLE = 1 << 20  # bytes; a compiler that fails with less may have needed more


def disk_error(said: str, *folders: str | os.PathLike[str], mistake: bool = False) -> OSError | None:
    """Why a program failed that writes in these folders, and in that for temporary files, if that is because
    one of them is full. `said` is what it printed; where that tells of a `mistake` in its input, only what it
    says of free space counts. Raises LimitError where a low limit is the reason."""
    if not mistake:
        raise_if_limited(said)
    places = [os.fspath(folder) for folder in (*folders, os.environ.get("TMPDIR") or "/tmp")]
    free = {}
    for place in places:
        with suppress(OSError):
            status = os.statvfs(place)
            free[place] = status.f_bavail * status.f_frsize
    least = min(free, key=free.__getitem__, default=places[0])
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO):
        if os.strerror(number) in said or (number == errno.EFBIG and _TOO_LARGE in said):
            full = number == errno.ENOSPC and free.get(least, _LITTLE) < _LITTLE
            return OSError(number, os.strerror(number), least if full else places[0])
    if not mistake and free.get(least, _LITTLE) < _LITTLE:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), least)
    return None


# Programs that are started -----------------------------------------------------------------------

FIRST_PASSED = 3  # the first descriptor after standard input, output and error
_STEP = 0.05  # seconds between two checks of whether a program may go on


class Finished(Struct, frozen=True):
    """A program that has ended. `status` is its exit status, or -N after signal N; `output` and `errors` are
    what it wrote to standard output and standard error."""

    status: int
    output: str
    errors: str
    timed_out: bool = False


def run(
    arguments: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    input: str = "",
    timeout: float | None = None,
    limits: Mapping[int, int] | None = None,
    merged: bool = False,
    log: Path | None = None,
    within: Callable[[int], bool] | None = None,
    undecodable: str = "replace",
) -> Finished:
    """Run a program to its end.

    `env` is by default ours, but with messages in English. `timeout` is in seconds of elapsed time, `limits`
    are those of each process, by their number in the module `resource`. `merged` puts standard error into
    `output` too, `log` writes both to that file instead. `within` is called repeatedly for whether the
    process group may go on; if not, its time is over. It needs a `log`, and no `input`. `undecodable` is how
    `bytes.decode` treats what is not UTF-8. Raises OSError when
    the program cannot be started, with its name as `filename`, LimitError where that comes of a low limit.
    """
    import subprocess

    file = None if log is None else log.open("wb")
    program = StartedProgram(
        arguments,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE if input else subprocess.DEVNULL,
        stdout=file or subprocess.PIPE,
        stderr=subprocess.STDOUT if merged or file else subprocess.PIPE,
        limits=limits,
    )
    said = {"stdout": b"", "stderr": b""}

    def read(name: str, stream: IO[bytes]) -> None:
        with suppress(ValueError):  # closed, after Ctrl-C
            said[name] = stream.read()

    with file or nullcontext(), program:
        threads = [
            Thread(target=read, args=(name, stream)) for name in said if (stream := getattr(program, name))
        ]
        if program.stdin is not None:
            threads.append(
                Thread(target=_write, args=(program.stdin, input.encode(errors="surrogateescape")))
            )
        for thread in threads:
            thread.start()
        timed_out = not _ended(program, within, timeout)
        if timed_out:
            program.stop()
        for thread in threads:
            thread.join()
    assert program.returncode is not None
    output, errors = (_text(data, undecodable) for data in said.values())
    return Finished(program.returncode, output, errors, timed_out)


def _write(stream: IO[bytes], data: bytes) -> None:
    with suppress(BrokenPipeError, ValueError), stream:
        stream.write(data)


def _ended(program: StartedProgram, within: Callable[[int], bool] | None, timeout: float | None) -> bool:
    """Wait for a program; False where it has to be stopped."""
    if within is not None:
        return _went_on(program, partial(within, program.process), timeout)
    try:
        program.wait(timeout)
    except TimeoutError:
        return False
    return True


def _went_on(program: StartedProgram, within: Callable[[], bool], timeout: float | None) -> bool:
    end = None if timeout is None else time.monotonic() + timeout
    before = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        with suppress(OSError):  # only root may, and only root's processes have no limit of the kernel
            os.setpriority(os.PRIO_PROCESS, 0, -20)
        while end is None or time.monotonic() < end:
            try:
                program.wait(_STEP)
                return True
            except TimeoutError:
                if not within():
                    return False
        return False
    finally:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, before)


_idle: list[Supervisor] = []  # each of which has ended a program
os.register_at_fork(after_in_child=_idle.clear)


def _supervisor() -> Supervisor:
    from camkes.process.supervisor import Supervisor

    with suppress(IndexError):  # none is idle
        while (supervisor := _idle.pop()).has_ended:
            supervisor.end()
        return supervisor
    return Supervisor()


def end_supervisors() -> None:
    """What idle supervisors have used counts as used by our children."""
    while _idle:
        _idle.pop().end()


class StartedProgram:
    """A program that runs while a `with` statement does. At the end of the statement nothing is left of the
    program and of what it started. For the arguments see `run` and `subprocess.Popen`; entering raises
    OSError and LimitError as `run` does.

    `process` is its process, and its process group unless it has the user's terminal. `stdin`, `stdout` and
    `stderr` are our ends of pipes, and `returncode` is its status, or -N after signal N, when it has ended.
    """

    process: int

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | IO[bytes] | None = None,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
        pass_fds: Sequence[int] = (),
        limits: Mapping[int, int] | None = None,
        terminal: bool = False,
    ) -> None:
        """`terminal`: the program has the user's terminal, and its signals. `pass_fds` are its descriptors
        `FIRST_PASSED` and those that follow."""
        self._command = list(arguments)
        self._cwd, self._env = cwd, in_english() if env is None else env
        self._given = (stdin, stdout, stderr)
        self._pass_fds = pass_fds
        self._limits, self._terminal = limits or {}, terminal
        self._supervisor: Supervisor | None = None
        self._stopped = False
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.stderr: IO[bytes] | None = None
        self.returncode: int | None = None

    def __enter__(self) -> Self:
        with ExitStack() as its:
            try:  # an interruption can come at any step, also when there is a program that we do not know yet
                self._supervisor = _supervisor()
                folder = os.open(self._cwd or ".", os.O_PATH | os.O_DIRECTORY)
                its.callback(os.close, folder)
                self.process = self._supervisor.start(
                    self._command,
                    self._env,
                    self._descriptors(its),
                    self._pass_fds,
                    folder,
                    self._limits,
                    self._terminal,
                )
            except BaseException as error:
                self.__exit__()
                if isinstance(error, OSError):
                    what = f"cannot run `{self._command[0]}`: {error.strerror}"
                    raise error_of_limit(error.errno, what) or error from None
                raise
        return self

    def _descriptors(self, its: ExitStack) -> list[int]:
        """Standard input, output and error of the program; `its` closes what we do not need."""
        import subprocess

        found: list[int] = []
        for number, given in enumerate(self._given):
            if given is None:
                found.append(number)
            elif given == subprocess.STDOUT:
                found.append(found[1])
            elif given == subprocess.DEVNULL:
                found.append(os.open(os.devnull, os.O_RDWR))
                its.callback(os.close, found[-1])
            elif given == subprocess.PIPE:
                reading, writing = os.pipe()
                if number == 0:
                    self.stdin = os.fdopen(writing, "wb")
                elif number == 1:
                    self.stdout = os.fdopen(reading, "rb")
                else:
                    self.stderr = os.fdopen(reading, "rb")
                found.append(writing if number else reading)
                its.callback(os.close, found[-1])
            else:
                found.append(given if isinstance(given, int) else given.fileno())
        return found

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._supervisor is not None and not self._stopped:
            _idle.append(self._supervisor)
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the program and all that it started have ended; its status. Raises TimeoutError after so
        many seconds."""
        if self.returncode is None:
            assert self._supervisor is not None, "it has not been started"
            self.returncode = self._supervisor.wait(timeout)
        return self.returncode

    def send_signal(self, number: int, *, group: bool = False) -> None:
        """Send a signal to the program, or to its process group, if it has not ended."""
        if self.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                (os.killpg if group else os.kill)(self.process, number)

    def stop(self) -> None:
        """Kill what is left of the program and of all that it started, and wait until it has ended."""
        if self._supervisor is not None and (self.returncode is None or self._stopped):
            self._stopped = True
            status = self._supervisor.end()
            if self.returncode is None:
                self.returncode = status


def _text(data: bytes, undecodable: str) -> str:
    return data.decode(errors=undecodable).replace("\r\n", "\n").replace("\r", "\n")


# This process ------------------------------------------------------------------------------------


def prepare_streams() -> None:
    """What goes to a file or a program is UTF-8, as our files are; a terminal gets what it can show."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    if isinstance(sys.stdout, io.TextIOWrapper) and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stdout = VisibleStream(sys.stdout, None if sys.stdout.isatty() else "utf-8")
        sys.stderr = VisibleStream(sys.stderr, by_line=True)


class VisibleStream(io.TextIOWrapper):
    """A stream for people, in place of another one: what is hidden in a text is spelled out."""

    def __init__(
        self, stream: io.TextIOWrapper, encoding: str | None = None, *, by_line: bool = False
    ) -> None:
        by_line, encoding = by_line or stream.line_buffering, encoding or stream.encoding
        super().__init__(stream.detach(), encoding, "backslashreplace", line_buffering=by_line)

    def write(self, text: str) -> int:
        return super().write(visible_colored(text))

    def write_over(self, text: str) -> None:
        """Write over the last line, which did not end."""
        super().write(f"\r{visible_line(text)}")
        self.flush()

    def write_exactly(self, text: str) -> None:
        """Write a text that another program reads as it is; a terminal shows it."""
        if self.isatty():
            self.write(text)
        else:
            self.flush()
            self.buffer.write(text.encode(errors="surrogateescape"))


def no_output(error: OSError) -> int:
    """What we print cannot be written; the exit status. A reader that has closed its end is not an error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())  # or Python complains while it closes stdout
    if isinstance(error, BrokenPipeError):
        return 0
    print(f"camkes: cannot write {error.filename or 'the output'}: {error.strerror}", file=sys.stderr)
    return 1


def leave(status: int) -> None:
    """End the process. There is nothing left to be torn down, except registered exit handlers. Where what
    was printed cannot be written, the status shows it."""
    try:
        sys.stdout.flush()
    except OSError as error:
        status = max(status, no_output(error))
    with suppress(OSError):
        sys.stderr.flush()
    end_supervisors()
    if atexit._ncallbacks() == 0:
        os._exit(status)
    sys.exit(status)
