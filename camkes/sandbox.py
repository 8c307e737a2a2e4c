# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs a program on untrusted input, with resource limits and, if the kernel supports it, in a sandbox.

A confined program (Linux with Landlock and seccomp) reads what its user may read and writes only one folder
and /dev/null. It has no network, changes no attributes of files and does not reach other processes. Limits
count for all programs: wall-clock time, and for each process CPU time, memory and the size of a file.

This file is run as a script, too: it confines itself, then becomes the program. So it imports nothing of
the package.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Landlock (linux/landlock.h). Only what writes is restricted: reading and executing are free.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # on all architectures
_WRITE_FILE, _REFER, _TRUNCATE, _IOCTL_DEV = 1 << 1, 1 << 13, 1 << 14, 1 << 15
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_TCP = 0b11  # bind, connect
_SCOPES = 0b11  # abstract sockets, signals

# seccomp (linux/seccomp.h, linux/bpf_common.h)
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in seccomp_data
_O_ACCESS, _O_TRUNC = 0o3, 0o1000
_X32 = 0x40000000

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2
_MORE_THREADS = 500  # that a program, and what else the user does meanwhile, may start

#: System calls by architecture: their numbers, in the same order for each. The first column is AUDIT_ARCH.
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_DENIED = {
    "socket": (41, 198),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "io_uring_setup": (425, 425),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "setsid": (112, 157),
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "shmget": (29, 194),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgctl": (71, 187),
    "msgsnd": (69, 189),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "truncate": (76, 45),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
}
#: Denied where Landlock (before ABI 6) does not keep signals inside.
_SIGNALS = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
}
#: Landlock does not cover them, and programs end where they fail: they succeed and change nothing.
_IGNORED = {
    "setpgid": (109, 154),  # the group is what is counted and killed; Ninja gives each command its own
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}
#: Opening to read with O_TRUNC: Landlock before ABI 3 lets it through. The place of the flags.
_OPENS = {"open": ((2, None), 1), "openat": ((257, 56), 2)}
_OPENAT2 = (437, 437)  # its flags are in memory, which a filter cannot see
_PRLIMIT = (302, 261)
#: They put characters into the input of the user's terminal, for which it need not be open to write.
_IOCTL, _TIOCSTI, _TIOCLINUX = (16, 29), 0x5412, 0x541C


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_, _layout_ = 1, "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


class _FilterInstruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.POINTER(_FilterInstruction)))


@lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return int(_libc().syscall(ctypes.c_long(number), *words))


def _landlock_version() -> int:
    """The ABI of the kernel's Landlock; below 1 where there is none."""
    return _call(_CREATE_RULESET, None, 0, 1)


def available() -> bool:
    """Whether programs can be confined on this machine."""
    if sys.platform != "linux" or os.uname().machine not in _ARCHITECTURES:
        return False
    if os.environ.get("CAMKES_SANDBOX") == "0":  # as on a machine without one
        return False
    return _landlock_version() >= 1 and os.path.exists("/proc/sys/kernel/seccomp")  # noqa: PTH110


def command(
    program: Sequence[str], *, writable: str | None, cpu_seconds: int, memory: int, file_size: int
) -> list[str]:
    """The command that runs `program` with limits (`memory` and `file_size` in bytes), confined to write in
    the folder `writable`, or not confined if that is None."""
    limits = f"{cpu_seconds},{memory},{file_size}"
    return [sys.executable, "-I", "-S", __file__, limits, writable or "", *program]


def _filter(version: int) -> list[tuple[int, int, int, int]]:
    """The instructions that judge a system call: (code, jump if true, jump if false, value)."""
    audit, column = _ARCHITECTURES[os.uname().machine]

    def answer(number: int | None, value: int) -> Iterable[tuple[int, int, int, int]]:
        return () if number is None else ((_EQUAL, 0, 1, number), (_RETURN, 0, 0, value))

    refuse = _ERRNO | _EPERM
    code = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, audit), (_RETURN, 0, 0, refuse)]
    code += [(_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, refuse)]
    denied = _DENIED if version >= 6 else _DENIED | _SIGNALS
    for numbers in denied.values():
        code += answer(numbers[column], refuse)
    for ignored in _IGNORED.values():
        code += answer(ignored[column], _ERRNO)
    code += answer(_OPENAT2[column], _ERRNO | _ENOSYS)
    # the limits of another process; 0 is one's own
    own = [(_LOAD, 0, 0, _ARGUMENTS), (_EQUAL, 1, 0, 0), (_RETURN, 0, 0, refuse), (_RETURN, 0, 0, _ALLOW)]
    code += [(_EQUAL, 0, len(own), _PRLIMIT[column]), *own]
    typed = [(_LOAD, 0, 0, _ARGUMENTS + 8), (_EQUAL, 1, 0, _TIOCSTI), (_EQUAL, 0, 1, _TIOCLINUX)]
    typed += [(_RETURN, 0, 0, refuse), (_RETURN, 0, 0, _ALLOW)]
    code += [(_EQUAL, 0, len(typed), _IOCTL[column]), *typed]
    for opens, place in _OPENS.values():
        number = opens[column]
        if number is not None:
            flags = (_LOAD, 0, 0, _ARGUMENTS + 8 * place)
            judge = [flags, (_ANY_BIT, 0, 2, _O_TRUNC), (_ANY_BIT, 1, 0, _O_ACCESS), (_RETURN, 0, 0, refuse)]
            judge.append((_RETURN, 0, 0, _ALLOW))
            code += [(_EQUAL, 0, len(judge), number), *judge]
    return [*code, (_RETURN, 0, 0, _ALLOW)]


def _confine(writable: str) -> None:
    """Confine this process irrevocably; OSError if the kernel cannot."""
    version = _landlock_version()
    files = _WRITE_FILE | _REMOVE_AND_MAKE
    files |= (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    files |= _IOCTL_DEV if version >= 5 else 0
    rules = _Ruleset(files, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _checked(_call(_CREATE_RULESET, ctypes.byref(rules), size, 0), "landlock")
    for path, allowed in ((writable, files), ("/dev/null", files & (_WRITE_FILE | _TRUNCATE | _IOCTL_DEV))):
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        beneath = _Beneath(allowed, folder)
        _checked(_call(_ADD_RULE, ruleset, 1, ctypes.byref(beneath), 0), "landlock")
        os.close(folder)
    _checked(_call(_RESTRICT_SELF, ruleset, 0), "landlock")
    os.close(ruleset)
    code = _filter(version)
    instructions = (_FilterInstruction * len(code))(*(_FilterInstruction(*each) for each in code))
    program = _FilterProgram(len(code), instructions)
    _checked(_libc().prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0), "seccomp")


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def _own_threads() -> int:
    """How many threads the user has now: the limit of the kernel counts them all."""
    total = 0
    for name in os.listdir("/proc"):  # noqa: PTH208
        try:
            if name.isdecimal() and os.stat(f"/proc/{name}").st_uid == os.getuid():  # noqa: PTH116
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    total += int(file.read().rpartition(b") ")[2].split()[17])
        except (OSError, LookupError):
            continue  # it has ended
    return total


def _become(limits: str, writable: str, program: list[str]) -> int:
    """Become the program; the exit status where that fails."""
    import resource

    cpu_seconds, memory, file_size = map(int, limits.split(","))
    for kind, limit in (
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_CORE, 0),
        *([(resource.RLIMIT_NPROC, _own_threads() + _MORE_THREADS)] if os.getuid() else []),  # none for root
    ):
        hard = resource.getrlimit(kind)[1]
        least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (least, least))
    try:
        if writable:
            _checked(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
            _confine(writable)
        os.execvp(program[0], program)
    except OSError as error:
        print(f"camkes: cannot run {program[0]}: {error.strerror}", file=sys.stderr)
    return 126


if __name__ == "__main__":
    sys.exit(_become(sys.argv[1], sys.argv[2], sys.argv[3:]))
