# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What is around a sandbox: something of each kind that a program could change, and how it is now."""

from __future__ import annotations

import ctypes
import fcntl
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.processes import wait_for

_IPC_PRIVATE, _IPC_CREAT, _IPC_RMID, _IPC_STAT, _SEM_GETVAL = 0, 0o1000, 0, 2, 12
_FS_IOC_GETFLAGS, _FS_IOC_FSGETXATTR = 0x80086601, 0x801C581F
_SECRET = b"precious"

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


class World:
    """A file in a folder, a process, a terminal, a socket of datagrams, objects of System V and POSIX. All
    users may write to them."""

    def __init__(self, folder: Path, its: ExitStack, user: int | None) -> None:
        folder.mkdir()
        self.folder, self.file = folder, folder / "victim"
        self.file.write_bytes(_SECRET)
        self.process = subprocess.Popen(["sleep", "1000"], user=user, start_new_session=True)
        its.callback(_ended, self.process)
        wait_for(lambda: self._name() == b"sleep\n")
        self.keyboard, self.terminal = pty.openpty()
        its.callback(os.close, self.keyboard)
        its.callback(os.close, self.terminal)
        if user is not None:
            for path in (self.file, folder, os.ttyname(self.terminal)):
                os.chown(path, user, -1)
        self.file.chmod(0o666)
        folder.chmod(0o777)
        self.segment = self._made(libc.shmget(_IPC_PRIVATE, 4096, _IPC_CREAT | 0o666))
        its.callback(libc.shmctl, self.segment, _IPC_RMID, None)
        self._memory = libc.shmat(self.segment, None, 0)
        its.callback(libc.shmdt, ctypes.c_void_p(self._memory))
        ctypes.memmove(self._memory, _SECRET, len(_SECRET))
        self.queue = self._made(libc.msgget(_IPC_PRIVATE, _IPC_CREAT | 0o666))
        its.callback(libc.msgctl, self.queue, _IPC_RMID, None)
        libc.msgsnd(self.queue, struct.pack("l8s", 1, _SECRET), 8, 0)
        self.semaphore = self._made(libc.semget(_IPC_PRIVATE, 1, _IPC_CREAT | 0o666))
        its.callback(libc.semctl, self.semaphore, 0, _IPC_RMID)
        self.posix_queue = f"camkes-{os.getpid()}"
        before = os.umask(0)
        self._posix = libc.mq_open(f"/{self.posix_queue}".encode(), os.O_RDWR | os.O_CREAT, 0o666, None)
        os.umask(before)
        if self._posix >= 0:  # not on all machines
            its.callback(os.close, self._posix)
            its.callback(libc.mq_unlink, f"/{self.posix_queue}".encode())
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        its.callback(self.socket.close)
        self.socket.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o777)

    @staticmethod
    def _made(number: int) -> int:
        assert number >= 0, os.strerror(ctypes.get_errno())
        return number

    @property
    def words(self) -> list[str]:
        """As the attack takes them."""
        paths = (self.file, self.folder, self.folder / "socket", os.ttyname(self.terminal))
        numbers = (self.process.pid, self.segment, self.queue, self.semaphore, self.posix_queue)
        return [*map(str, paths), *map(str, numbers)]

    def now(self) -> dict[str, object]:
        """How everything is that an attack could change."""
        return dict(self._now())

    def _now(self) -> Iterator[tuple[str, object]]:
        process = self.process.pid
        status = self.file.stat()
        yield "what the folder contains", sorted(os.listdir(self.folder))  # noqa: PTH208
        yield "mode and owner", (status.st_mode, status.st_uid, status.st_gid, status.st_nlink)
        yield "times and size", (status.st_mtime_ns, status.st_ctime_ns, status.st_blocks)
        yield "content", self.file.read_bytes()
        yield "extended attributes", os.listxattr(self.file)
        with self.file.open("rb") as file:
            for name, number in (("flags", _FS_IOC_GETFLAGS), ("project", _FS_IOC_FSGETXATTR)):
                with suppress(OSError):  # not on all file systems
                    yield name, fcntl.ioctl(file, number, bytes(28))
            yield "lease", fcntl.fcntl(file, fcntl.F_GETLEASE)
        yield "locks", self._locks()
        yield "process", (self.process.poll(), os.getpgid(process), os.getsid(process))
        yield "limits", Path(f"/proc/{process}/limits").read_bytes()
        yield "affinity", sorted(os.sched_getaffinity(process))
        yield "scheduling", (os.sched_getscheduler(process), os.getpriority(os.PRIO_PROCESS, process))
        yield "name of process", self._name()
        yield "score", Path(f"/proc/{process}/oom_score_adj").read_bytes()
        yield "segment", ctypes.string_at(self._memory, 16)
        info = ctypes.create_string_buffer(256)
        yield "segment is there", libc.shmctl(self.segment, _IPC_STAT, info)
        yield "messages", (libc.msgctl(self.queue, _IPC_STAT, info), struct.unpack_from("10Q", info, 48)[4])
        yield "semaphore", libc.semctl(self.semaphore, 0, _SEM_GETVAL)
        yield "datagrams", select.select([self.socket], [], [], 0)[0]
        yield "typed", select.select([self.terminal], [], [], 0)[0]
        yield "mode of terminal", termios.tcgetattr(self.terminal)
        yield "size of terminal", os.get_terminal_size(self.terminal)
        yield "names", (os.uname().nodename, Path("/proc/sys/kernel/domainname").read_bytes())
        yield "clock", self._tick()
        yield "shared memory", sorted(n for n in os.listdir("/dev/shm") if "camkes-attack" in n)  # noqa: PTH208

    def _name(self) -> bytes:
        return Path(f"/proc/{self.process.pid}/comm").read_bytes()

    def _locks(self) -> list[str]:
        """What cannot be locked by us."""
        found = []
        with self.file.open("r+b") as file:
            for name, lock in (("flock", fcntl.flock), ("fcntl", fcntl.lockf)):
                try:
                    lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    found.append(name)
        return found

    @staticmethod
    def _tick() -> int:
        """Microseconds between two ticks of the clock, which a struct timex has after 11 words."""
        words = (ctypes.c_long * 40)()
        libc.adjtimex(words)
        return int(words[11])


def _ended(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.wait()


@contextmanager
def world(folder: Path, user: int | None = None) -> Iterator[World]:
    """A world in a new folder that belongs to a user, by default to us."""
    with ExitStack() as its:
        yield World(folder, its, user)
