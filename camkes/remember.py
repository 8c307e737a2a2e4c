# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Answers of commands that only read, kept until something that they looked at changes.

While a command runs, everything that it asks the file system is noted: files that it opens, those that it
asks for and that are not there, folders that it lists. Its answer is kept with the notes, and given again to
the same command line, in the same folder and environment, while the file system still gives the same
replies. A command that writes a file, talks to somebody or starts a program is never answered from memory,
but for the preprocessor where it is known what it looks for (`camkes.parser.searched`).

This module is all that a remembered answer costs, so it imports as little as it can.
"""

from __future__ import annotations

import marshal
import os
import stat
import sys
import time

from camkes.cache import cache_folder, forget_older
from camkes.process import ONLY_READ, no_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: Commands whose answer is what they print. `CAMKES_REMEMBER=0` in the environment makes them work it out.
COMMANDS = frozenset({"check", "plan", "dump"})

#: A file changed less than this long before a command began may change again without its times showing it.
FRESH = 2_000_000_000  # nanoseconds: the coarsest clock of a file system

MOST_KEPT = 1000  # answers
LONGEST = 1 << 20  # bytes of one answer with its notes

_FORMAT = 1  # of a kept answer
_SUM_BYTES = 8  # of the checksum before it
_REMEMBERED = (0, 1)  # exit statuses that follow from the input: good, and mistakes of the user

# Events of `sys.audit`: a command that only reads causes none of these, and of those of `os` no others.
_EFFECTS = ("os.", "socket.", "tempfile.", "ctypes.", "pty.")
_READING = frozenset({"os.listdir", "os.scandir", "os.walk", "os.posix_spawn"})  # the last: by subprocess
_STARTED = "subprocess.Popen"

_stat, _lstat, _access = os.stat, os.lstat, os.access


# Replies of the file system -------------------------------------------------------------------------


def _reply(status: os.stat_result) -> tuple[int, ...]:
    """What tells a file from a changed one, and a folder from another. Nanoseconds last."""
    if stat.S_ISDIR(status.st_mode):
        return (status.st_mode, status.st_ino, status.st_dev)
    return _whole_reply(status)


def _whole_reply(status: os.stat_result) -> tuple[int, ...]:
    """As `_reply`, and it tells a folder from the same one with other entries."""
    whose = (status.st_mode, status.st_ino, status.st_dev, status.st_uid, status.st_gid)
    return (*whose, status.st_size, status.st_ctime_ns, status.st_mtime_ns)


def _ask(question: str, path: str, mode: int) -> object:
    """The reply to a question: `follow` is stat, `link` lstat, `entries` lists, `access` is access."""
    try:
        if question == "access":
            return _access(path, mode)
        status = _lstat(path) if question == "link" else _stat(path)
    except OSError as error:
        return error.errno
    except ValueError:  # a name that cannot be one
        return None
    return _whole_reply(status) if question == "entries" else _reply(status)


class Notes:
    """What a command asks the file system, and the replies at its first asking."""

    def __init__(self) -> None:
        self.replies: dict[tuple[str, str, int], object] = {}
        self.wrote = False
        self.unknown_programs = 0

    @property
    def only_reads(self) -> bool:
        return not self.wrote and not self.unknown_programs

    def begin(self) -> None:
        """From now on questions are noted: Python asks all of them through `os`, or tells the auditor."""
        questions = {"stat": "follow", "lstat": "link", "readlink": "link", "access": "access"}
        for call, question in {**questions, "scandir": "entries", "listdir": "entries"}.items():
            setattr(os, call, self._noting(getattr(os, call), question))
        sys.addaudithook(self._heard)

    def note(self, question: str, path: str, mode: int = 0) -> None:
        key = (question, path, mode)
        if key not in self.replies:
            self.replies[key] = _ask(question, path, mode)

    def note_modules(self) -> None:
        """The tool itself is among what an answer depends on."""
        library = os.path.dirname(os.__file__)  # noqa: PTH120 - the interpreter is in the key
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if file and (not file.startswith(library) or "-packages" in file):
                self.note("follow", file)

    def newest(self) -> int:
        """When the newest of the files was changed."""
        times = [r[-1] for r in self.replies.values() if isinstance(r, tuple) and len(r) > 3]
        return max(times, default=0)

    def _noting(self, call: Callable[..., Any], question: str) -> Callable[..., Any]:
        def noted(path: Any = ".", *rest: Any, **options: Any) -> Any:
            if not isinstance(path, int):
                self.wrote = self.wrote or options.get("dir_fd") is not None  # not a path that we know
                mode = (rest[0] if rest else options["mode"]) if question == "access" else 0
                as_link = question == "follow" and options.get("follow_symlinks") is False
                self.note("link" if as_link else question, os.fsdecode(path), mode)
            return call(path, *rest, **options)

        return noted

    def _heard(self, event: str, details: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = details
            if isinstance(path, int):  # it was heard of when it was opened
                return
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND):
                self.wrote = True
            elif not os.fsdecode(path).endswith(".pyc"):
                self.note("follow", os.fsdecode(path))
        elif event == _STARTED:
            self.unknown_programs += 1
        elif event == ONLY_READ:
            self.unknown_programs -= 1
        elif event.startswith(_EFFECTS) and event not in _READING:
            self.wrote = True


# Answers ----------------------------------------------------------------------------------------------


class _Recorder:
    """A stream that keeps what is written to it."""

    def __init__(self, stream: Any, name: str, said: list[tuple[str, str]]) -> None:
        self._stream, self._name, self._said = stream, name, said

    def write(self, text: str) -> int:
        self._said.append((self._name, text))
        written: int = self._stream.write(text)
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _sum(data: bytes) -> int:
    """A checksum that needs no module."""
    return int.from_bytes(b"\1" + data) % (2**61 - 1)


def _key() -> bytes:
    """All that an answer depends on, but files."""
    terminals = [stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr) if stream is not None]
    size = tuple(os.get_terminal_size(1)) if len(terminals) == 3 and terminals[1] else ()
    environment = sorted(item for item in os.environ.items() if item[0] != "_")
    question = (sys.orig_argv, os.getcwd(), os.geteuid(), environment, terminals, size)  # noqa: PTH109
    return marshal.dumps((_FORMAT, sys.version, sys.executable, question))


def _recall(place: str, key: bytes) -> tuple[int, list[tuple[str, str]]] | None:
    """The answer at a place, if it is one to this question and nothing that it looked at has changed."""
    try:
        with open(place, "rb") as file:  # noqa: PTH123
            data = file.read()
    except OSError:
        return None
    kept = data[_SUM_BYTES:]
    if data[:_SUM_BYTES] != _sum(kept).to_bytes(_SUM_BYTES):  # damaged: marshal trusts what it reads
        return None
    kept_key, replies, answer = marshal.loads(kept)
    if kept_key != key or any(_ask(*asked) != reply for asked, reply in replies.items()):
        return None
    return answer  # type: ignore[no-any-return]


def _keep(place: str, key: bytes, notes: Notes, answer: tuple[int, list[tuple[str, str]]]) -> None:
    """Keep an answer; a disk that takes no more is no reason to complain."""
    data = marshal.dumps((key, notes.replies, answer))
    if len(data) > LONGEST:
        return
    whole = f"{place}.{os.getpid()}"
    folder = os.path.dirname(place)  # noqa: PTH120
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        try:
            with open(whole, "wb") as file:  # noqa: PTH123
                file.write(_sum(data).to_bytes(_SUM_BYTES) + data)
            os.replace(whole, place)  # noqa: PTH105
            forget_older(folder, MOST_KEPT)
        except OSError:
            os.unlink(whole)  # noqa: PTH108
    except OSError:
        return


def answer(run: Callable[[], int]) -> int:
    """Give the answer of a command from memory, or run it and keep its answer; returns its exit status.

    `run` takes the command line from `sys.argv`. The process must do nothing else: what it asks the file
    system is noted from here on.
    """
    folder = cache_folder("answers")
    if folder is None or os.environ.get("CAMKES_REMEMBER") == "0" or not (sys.stdout and sys.stderr):
        return run()
    try:
        key = _key()
    except OSError:  # the folder that we are in is gone
        return run()
    place = f"{folder}/{_sum(key):016x}"
    known = _recall(place, key)
    return _say(*known) if known is not None else _run(run, place, key)


def _say(status: int, said: list[tuple[str, str]]) -> int:
    """Give an answer again."""
    try:
        for name, text in said:
            getattr(sys, name).write(text)
        sys.stdout.flush()
    except OSError as error:
        return no_output(error)
    return status


def _run(run: Callable[[], int], place: str, key: bytes) -> int:
    """Run a command, and keep its answer if that depends on nothing but what it reads."""
    began = time.time_ns()
    notes, said = Notes(), list[tuple[str, str]]()
    notes.begin()
    for name in ("stdout", "stderr"):
        setattr(sys, name, _Recorder(getattr(sys, name), name, said))
    status = run()
    sys.stdout.flush()
    sys.stderr.flush()
    # output that could not be written went to /dev/null instead (`no_output`): then it is not read only
    if status in _REMEMBERED and notes.only_reads:
        notes.note_modules()
        if notes.newest() < began - FRESH:
            _keep(place, key, notes, (status, said))
    return status
