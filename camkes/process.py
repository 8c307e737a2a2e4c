# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""This process, and the programs that it starts.

Each program is started here, in a process group of its own. The whole group is killed when the program has
ended, when its time is over, when the user interrupts us, and when we are killed ourselves. The last is done
by a watcher: a shell that reads from a pipe whose other end closes when this process ends, for any reason.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from contextlib import nullcontext, suppress
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import IO

#: Errors of a system call that speak of what is written to, not of us.
CANNOT_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE})


def in_english() -> dict[str, str]:
    """The environment for a program whose messages are read."""
    return {**os.environ, "LC_ALL": "C", "LANGUAGE": ""}


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
        if os.strerror(number) in said:
            full = number == errno.ENOSPC and room.get(least, _LITTLE_ROOM) < _LITTLE_ROOM
            return OSError(number, os.strerror(number), least if full else places[0])
    if not mistake and room.get(least, _LITTLE_ROOM) < _LITTLE_ROOM:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), least)
    return None


# Programs that are started -----------------------------------------------------------------------

_SHELL = "/bin/sh"
_STEP = 0.05  # seconds after which it is asked again whether a program may go on

#: Reads "+ GROUP" and "- GROUP": a process group was started, or has ended. At the end of its input it kills
#: those that are left.
_WATCHER = """
trap '' HUP INT QUIT TERM
groups=' '
while read -r what group; do
    case $what in
        +) groups="$groups$group " ;;
        -) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
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
) -> Finished:
    """Run a program to its end.

    `env` is by default ours, but with messages in English. `timeout` is in seconds of elapsed time,
    `cpu_limit` in seconds of processor time and `memory_limit` in bytes of address space, both of each
    process. `merged` puts standard error into `output` too, `log` writes both to that file instead. `within`
    is asked again and again whether the process group may go on; if not, its time is over. It needs a
    `log`, and no `input`. Raises OSError when the program cannot be started, with its name as `filename`.
    """
    import subprocess

    file = None if log is None else log.open("wb")
    with file or nullcontext():
        popen = start(
            arguments,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE if input else subprocess.DEVNULL,
            stdout=file or subprocess.PIPE,
            stderr=subprocess.STDOUT if merged or file else subprocess.PIPE,
            limits=(cpu_limit, memory_limit),
        )
        timed_out = False
        try:
            timed_out = within is not None and not _went_on(popen, within, timeout)
            if timed_out:
                stop(popen)
            output, errors = popen.communicate(input.encode(errors="surrogateescape"), timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            stop(popen)
            output, errors = popen.communicate()
        finally:
            stop(popen)
    return Finished(popen.returncode, _text(output), _text(errors), timed_out)


def _went_on(popen: subprocess.Popen[bytes], within: Callable[[int], bool], timeout: float | None) -> bool:
    """Wait for a program that needs no one to read from it; False where it has to be stopped."""
    import subprocess
    import time

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


def start(
    arguments: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | IO[bytes] | None = None,
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
    limits: tuple[int | None, int | None] = (None, None),
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a program that is to be ended with `stop`; for the arguments see `run` and `subprocess.Popen`."""
    import shutil
    import subprocess

    command = list(arguments)
    if limits != (None, None):
        program = shutil.which(command[0], path=None if env is None else env.get("PATH"))
        if program is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
        seconds, size = limits
        words = ("unlimited" if size is None else str(size // 1024), str(seconds or "unlimited"))
        command = [_SHELL, "-c", _LIMITED, _SHELL, *words, program, *command[1:]]
    watcher = _watcher()
    popen = subprocess.Popen(
        command,
        cwd=cwd,
        env=in_english() if env is None else env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        process_group=0,
        pass_fds=pass_fds,
    )
    _write(watcher, f"+ {popen.pid}\n")
    return popen


def stop(popen: subprocess.Popen[bytes]) -> None:
    """Kill what is left of a program and of all that it started, and wait until the program has ended."""
    import signal

    with suppress(ProcessLookupError, PermissionError):
        os.killpg(popen.pid, signal.SIGKILL)
    popen.wait()
    _write(_watcher(), f"- {popen.pid}\n")


@cache
def _watcher() -> int:
    """Where the watcher of this process reads; -1 if there is no shell."""
    reading, writing = os.pipe()
    try:
        silent = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
        actions = [(os.POSIX_SPAWN_DUP2, reading, 0), *silent]
        os.posix_spawn(_SHELL, [_SHELL, "-c", _WATCHER], {}, file_actions=actions, setpgroup=0)
    except OSError:
        os.close(writing)
        writing = -1
    os.close(reading)
    return writing


def _write(watcher: int, text: str) -> None:
    with suppress(OSError):  # it was killed
        os.write(watcher, text.encode())


def _text(data: bytes | None) -> str:
    return (data or b"").decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")


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

    try:
        sys.stdout.flush()
    except OSError as error:
        status = max(status, no_output(error))
    with suppress(OSError):
        sys.stderr.flush()
    if atexit._ncallbacks() == 0:
        os._exit(status)
    sys.exit(status)
