# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""This process, and the programs that it starts.

Each program is started here, in a session of its own and with a mark in its environment. All that it starts
inherits both, whatever process groups it makes. When the program has ended, when its time is over, when the
user interrupts us and when we are killed ourselves, every process of the session and every process with the
mark is killed. The last is done by a watcher: a shell that reads from a pipe whose other end closes when this
process ends, for any reason.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
import time
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO

#: Errors of a system call that speak of what is written to, not of us.
CANNOT_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE})


def in_english() -> dict[str, str]:
    """The environment for a program whose messages are read."""
    return {**os.environ, "LC_ALL": "C", "LANGUAGE": ""}


_TOO_LARGE = "File size limit exceeded"  # that a program was ended for it, as compilers and linkers say
_LITTLE_ROOM = 1 << 20  # bytes; a compiler that fails with less may have needed more


def no_room(said: str, *folders: str | os.PathLike[str], mistake: bool = False) -> OSError | None:
    """Why a program failed that writes in these folders, and in that for temporary files, if that is because
    one of them is full. `said` is what it printed; where that tells of a `mistake` in its input, only what it
    says of free space counts."""
    places = [os.fspath(folder) for folder in (*folders, os.environ.get("TMPDIR") or "/tmp")]
    room = {}
    for place in places:
        with suppress(OSError):
            status = os.statvfs(place)
            room[place] = status.f_bavail * status.f_frsize
    least = min(room, key=room.__getitem__, default=places[0])
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO):
        if os.strerror(number) in said or (number == errno.EFBIG and _TOO_LARGE in said):
            full = number == errno.ENOSPC and room.get(least, _LITTLE_ROOM) < _LITTLE_ROOM
            return OSError(number, os.strerror(number), least if full else places[0])
    if not mistake and room.get(least, _LITTLE_ROOM) < _LITTLE_ROOM:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), least)
    return None


# Programs that are started -----------------------------------------------------------------------

_SHELL = "/bin/sh"
_MOST_LOOKS = 1000  # at a process that becomes a program
_LOOKS_AT_START = 5  # at what was interrupted while it was started, 10 ms apart
_STEP = 0.05  # seconds between two checks of whether a program may go on

#: Reads "+ WORD" and "- WORD": a mark or the number of a session, of a program that is being started or of
#: one that is gone with all that it started. At the end of its input it kills what the words left stand for,
#: until it finds nothing several times: a process has no mark before it becomes the program. It gives up in
#: the end.
_WATCHER = r"""
trap '' HUP INT QUIT TERM
words=' '
while read -r what word; do
    case $what in
        +) words="$words$word " ;;
        -) case $words in *" $word "*) words="${words%% $word *} ${words#* $word }" ;; esac ;;
    esac
done
marks= sessions=none
for word in $words; do
    case $word in
        *=*) marks="$marks -e $word" ;;
        *) sessions="$sessions|$word"; kill -s KILL -- "-$word" ;;
    esac
done
[ "$marks" ] || exit
quiet=0 looks=100
while [ $quiet -lt 5 ] && [ $looks -gt 0 ]; do
    found=$(grep -lszFx $marks /proc/[0-9]*/environ
        grep -lsE "\) [^XZ] [0-9]+ [0-9]+ ($sessions) " /proc/[0-9]*/stat)
    for file in $found; do
        process=${file#/proc/}
        kill -s KILL "${process%%/*}"
    done
    [ "$found" ] && quiet=0 || quiet=$((quiet + 1))
    looks=$((looks - 1))
    sleep 0.05
done
"""

#: Sets the limits and becomes the program, so that they hold from its first instruction on.
_LIMITED = 'ulimit -v "$1" && ulimit -t "$2" && shift 2 && exec "$@"'


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
    cpu_limit: int | None = None,
    memory_limit: int | None = None,
    merged: bool = False,
    log: Path | None = None,
    within: Callable[[int], bool] | None = None,
    undecodable: str = "replace",
) -> Finished:
    """Run a program to its end.

    `env` is by default ours, but with messages in English. `timeout` is in seconds of elapsed time,
    `cpu_limit` in seconds of processor time and `memory_limit` in bytes of address space, both of each
    process. `merged` puts standard error into `output` too, `log` writes both to that file instead. `within`
    is asked again and again whether the process group may go on; if not, its time is over. It needs a
    `log`, and no `input`. `undecodable` is how `bytes.decode` treats what is not UTF-8. Raises OSError when
    the program cannot be started, with its name as `filename`.
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
        limits=(cpu_limit, memory_limit),
    )
    timed_out = False
    with file or nullcontext(), program as popen:
        try:
            timed_out = within is not None and not _went_on(popen, within, timeout)
            if timed_out:
                program.stop()
            output, errors = popen.communicate(input.encode(errors="surrogateescape"), timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            program.stop()
            output, errors = popen.communicate()
    said = (_text(output, undecodable), _text(errors, undecodable))
    return Finished(popen.returncode, *said, timed_out)


def _went_on(popen: subprocess.Popen[bytes], within: Callable[[int], bool], timeout: float | None) -> bool:
    """Wait for a program that needs no one to read from it; False where it has to be stopped."""
    import subprocess

    end = None if timeout is None else time.monotonic() + timeout
    before = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        with suppress(OSError):  # only root may, and only root's processes have no limit of the kernel
            os.setpriority(os.PRIO_PROCESS, 0, -20)
        while end is None or time.monotonic() < end:
            try:
                popen.wait(_STEP)
                return True
            except subprocess.TimeoutExpired:
                if not within(popen.pid):
                    return False
        return False
    finally:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, before)


class StartedProgram:
    """A program that runs while a `with` statement does, which gives its `subprocess.Popen`. At the end of
    the statement nothing is left of the program and of all that it started. For the arguments see `run`
    and `subprocess.Popen`; entering raises OSError as `run` does."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | IO[bytes] | None = None,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
        limits: tuple[int | None, int | None] = (None, None),
        pass_fds: Sequence[int] = (),
        terminal: bool = False,
    ) -> None:
        """`terminal`: the program has the user's terminal, and its signals."""
        self._terminal = terminal
        self._command = list(arguments)
        self._cwd, self._env = cwd, in_english() if env is None else env
        self._stdin, self._stdout, self._stderr = stdin, stdout, stderr
        self._limits, self._pass_fds = limits, pass_fds
        self._mark = _ProcessMark()
        self._popen: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def __enter__(self) -> subprocess.Popen[bytes]:
        import subprocess

        command = self._limited()
        try:  # an interruption can come at any step, also when the program is there and we do not know it yet
            self._mark.register()
            self._popen = subprocess.Popen(
                command,
                cwd=self._cwd,
                env={**self._env, **self._mark.variable},
                stdin=self._stdin,
                stdout=self._stdout,
                stderr=self._stderr,
                start_new_session=not self._terminal,
                pass_fds=self._pass_fds,
            )
            _tell_watcher(f"+ {self._popen.pid}\n")
        except OSError:
            self._mark.forget()
            raise
        except BaseException:
            if self._popen is None:
                self._mark.end_unknown()
            self.stop()
            raise
        return self._popen

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._popen is not None:
            for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
                if stream is not None:
                    with suppress(BrokenPipeError):
                        stream.close()

    def stop(self) -> None:
        """Kill what is left of the program and of all that it started, and wait until it has ended."""
        import signal

        popen = self._popen
        if self._stopped:
            return
        if popen is not None:
            again = popen.poll() is None
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(popen.pid, signal.SIGKILL)  # at once, whatever it is starting meanwhile
                again = True
            self._mark.end(popen.pid)
            if again:  # a process may have been missed while it became a program
                self._mark.end_unknown()
            popen.wait()
            _tell_watcher(f"- {popen.pid}\n")
        self._stopped = True

    def _limited(self) -> list[str]:
        """The command that sets the limits first."""
        if self._limits == (None, None):
            return self._command
        import shutil

        name, *words = self._command
        program = shutil.which(name, path=self._env.get("PATH"))
        if program is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        seconds, size = self._limits
        limits = ("unlimited" if size is None else str(size // 1024), str(seconds or "unlimited"))
        return [_SHELL, "-c", _LIMITED, _SHELL, *limits, program, *words]


class _ProcessMark:
    """A variable that marks all processes whose environment has it. The watcher knows it before there is one,
    so that none is ever unknown."""

    def __init__(self) -> None:
        self._name = f"CAMKES_STARTED_{os.urandom(8).hex()}"

    @property
    def variable(self) -> dict[str, str]:
        return {self._name: "1"}

    def register(self) -> None:
        _tell_watcher(f"+ {self._name}=1\n")

    def end(self, session: int = 0) -> None:
        """Kill the processes that have the mark, or belong to the session."""
        self._kill_all(session)
        self.forget()

    def end_unknown(self) -> None:
        """Kill the processes that have the mark, and one that does not have it yet: until a process that
        `vfork` made has become the program, it has our environment. When we end, the watcher looks again."""
        for _ in range(_LOOKS_AT_START):
            self._kill_all(0)
            time.sleep(0.01)

    def _kill_all(self, session: int) -> None:
        import signal

        killed: set[int] = set()
        while found := self._find(session) - killed:  # again: those may have started others
            for number in found:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(number, signal.SIGKILL)
            killed |= found

    def forget(self) -> None:
        _tell_watcher(f"- {self._name}=1\n")

    def _find(self, session: int) -> set[int]:
        found = set()
        for name in os.listdir("/proc"):  # noqa: PTH208
            if name.isdecimal():
                with suppress(OSError):  # it has ended, or is another user's
                    if self._is_in(f"/proc/{name}/environ") or (session and os.getsid(int(name)) == session):
                        found.add(int(name))
        return found

    def _is_in(self, environment: str) -> bool:
        variable = f"\0{self._name}=1\0".encode()
        file = os.open(environment, os.O_RDONLY)
        try:
            text = b"\0"
            while part := os.read(file, 1 << 20):
                text += part
                if len(part) < 1 << 20:
                    break
            return variable in text
        finally:
            os.close(file)


def _environment(process: str) -> bytes:
    """The environment of a process. While it becomes another program, neither its environment nor its
    arguments can be read. OSError where it has ended, or is the kernel's."""
    looks = complete = 0
    while True:
        if environment := _process_file(process, "environ"):
            return environment
        os.readlink(f"/proc/{process}/exe")  # noqa: PTH115
        complete += bool(_process_file(process, "cmdline"))
        looks += 1
        if complete > 1 or looks > _MOST_LOOKS:
            return b""  # it has none
        time.sleep(0.001)


def _process_file(process: str, name: str) -> bytes:
    with open(f"/proc/{process}/{name}", "rb") as file:  # noqa: PTH123
        return file.read()


@contextmanager
def ending_with_us() -> Iterator[None]:
    """Processes that are started meanwhile, by whatever means, end when this one is killed, and when the body
    does not come to its end."""
    mark = _ProcessMark()
    try:
        mark.register()
        os.environ.update(mark.variable)
        yield
        mark.forget()
    except BaseException:
        mark.end()
        raise
    finally:
        for name in mark.variable:
            os.environ.pop(name, None)


@cache
def _watcher() -> tuple[int, int]:
    """The process that watches this one, and where it reads; -1 and -1 if there is no shell."""
    reading, writing = os.pipe()
    try:
        silent = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
        actions = [(os.POSIX_SPAWN_DUP2, reading, 0), *silent]
        path = {"PATH": os.environ.get("PATH", os.defpath)}
        process = os.posix_spawn(_SHELL, [_SHELL, "-c", _WATCHER], path, file_actions=actions, setpgroup=0)
    except OSError:
        os.close(writing)
        process = writing = -1
    os.close(reading)
    return process, writing


def _tell_watcher(text: str) -> None:
    with suppress(OSError):  # it was killed
        os.write(_watcher()[1], text.encode())


def _end_all() -> None:
    """At the end of this process: let the watcher kill what interruptions have left."""
    if _watcher.cache_info().currsize:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        process, writing = _watcher()
        with suppress(OSError):
            os.close(writing)
            os.waitpid(process, 0)


def _text(data: bytes | None, undecodable: str) -> str:
    return (data or b"").decode(errors=undecodable).replace("\r\n", "\n").replace("\r", "\n")


# This process ------------------------------------------------------------------------------------


def prepare_streams() -> None:
    """What goes to a file or a program is UTF-8, as our files are; a terminal gets what it can show."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    if not isinstance(sys.stdout, io.TextIOWrapper):
        return
    if sys.stdout.isatty():
        sys.stdout.reconfigure(errors="backslashreplace")
    else:
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # not tab and newline


def for_terminal(text: str) -> str:
    """Output of another program with its control characters made visible, so that it does not control the
    user's terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


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
    was printed cannot be written, the status says so."""
    import atexit

    _end_all()
    try:
        sys.stdout.flush()
    except OSError as error:
        status = max(status, no_output(error))
    with suppress(OSError):
        sys.stderr.flush()
    if atexit._ncallbacks() == 0:
        os._exit(status)
    sys.exit(status)
