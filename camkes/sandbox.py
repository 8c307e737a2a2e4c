# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs a program on untrusted input, with resource limits and, if the kernel supports it, in a sandbox.

A confined program (Linux with Landlock and seccomp) reads the files that its user may read, but no devices,
and writes only one folder and /dev/null. The system calls that it has are a list of what CMake, Ninja,
compilers, shells, Python and Git need, with their arguments: no network, no other processes, no attributes
of files, no locks that others see. It has no capability. Where the user is root it becomes an unprivileged
user, who owns the folder, and keeps one capability: to read what root reads, as a checkout below /root.
Limits count for all programs: wall-clock time, and for each process CPU time, memory and the size of a file.

This file is run as a script, too: it confines itself, then becomes the program. So it imports nothing of
the package.
"""

from __future__ import annotations

import ctypes
import os
import sys

TYPE_CHECKING = False  # as that of typing, which takes a third of the time of a start to import
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Landlock (linux/landlock.h). Folders are listed and programs are executed freely.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # on all architectures
_WRITE_FILE, _READ_FILE, _REFER, _TRUNCATE, _IOCTL_DEV = 1 << 1, 1 << 2, 1 << 13, 1 << 14, 1 << 15
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_DEVICES_AND_SOCKETS = 1 << 6 | 1 << 9 | 1 << 11  # among what is made
_TCP = 0b11  # bind, connect
_SCOPES = 0b11  # abstract sockets, signals

#: Where reading has effects: a terminal's input is taken away, a tape moves.
_NOT_READ = ("dev", "sys")
_BUT_READ = (
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm"),
    *("/sys/devices/system", "/sys/fs/cgroup"),
)

# seccomp (linux/seccomp.h, linux/bpf_common.h)
_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in seccomp_data
_EPERM, _ENOTTY, _EINVAL, _ENOSYS, _ENOTSUP = 1, 25, 22, 38, 95

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_SECUREBITS = 1, 22, 24, 28
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _RAISE, _FILTER, _SIGKILL = 38, 47, 2, 2, 9

# linux/capability.h
_CAP_CHOWN, _CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH, _CAP_SETGID, _CAP_SETUID, _CAP_SETPCAP = 0, 1, 2, 6, 7, 8
#: Root gets none by its number, and another user loses none by its own, not even in access(2).
_NO_ROOT_AND_NO_SETUID_FIXUP = 0b1111
_CAPABILITIES_3 = 0x20080522
_UNPRIVILEGED = 65534

_MORE_THREADS = 500  # that a program, and what else the user does meanwhile, may start
_SIGNALS_QUEUED = 256  # of all that the user has

#: AUDIT_ARCH of the architectures, and the place of their numbers in what follows: NAME:x86_64:aarch64, "-"
#: where there is none. A call that is not named fails.
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_ALLOWED = """
    read:0:63 write:1:64 readv:19:65 writev:20:66 pread64:17:67 pwrite64:18:68 preadv:295:69 pwritev:296:70
    preadv2:327:286 pwritev2:328:287 lseek:8:62 close:3:57 close_range:436:436 dup:32:23 dup2:33:- dup3:292:24
    pipe:22:- pipe2:293:59 fsync:74:82 fdatasync:75:83 sync_file_range:277:84 ftruncate:77:46 fallocate:285:47
    fadvise64:221:223 sendfile:40:71 copy_file_range:326:285
    stat:4:- fstat:5:80 lstat:6:- newfstatat:262:79 statx:332:291 statfs:137:43 fstatfs:138:44 access:21:-
    faccessat:269:48 faccessat2:439:439 readlink:89:- readlinkat:267:78 getdents:78:- getdents64:217:61
    getcwd:79:17 chdir:80:49 fchdir:81:50 umask:95:166 rename:82:- renameat:264:38 mkdir:83:- mkdirat:258:34
    rmdir:84:- unlink:87:- unlinkat:263:35 symlink:88:- symlinkat:266:36 link:86:- linkat:265:37
    getxattr:191:8 lgetxattr:192:9 fgetxattr:193:10 listxattr:194:11 llistxattr:195:12 flistxattr:196:13
    getxattrat:464:464 listxattrat:465:465
    poll:7:- ppoll:271:73 select:23:- pselect6:270:72 epoll_create:213:- epoll_create1:291:20 epoll_ctl:233:21
    epoll_wait:232:- epoll_pwait:281:22 epoll_pwait2:441:441 eventfd:284:- eventfd2:290:19 sendmsg:46:211
    recvmsg:47:212 sendto:44:206 recvfrom:45:207 shutdown:48:210 getsockopt:55:209 getsockname:51:204
    getpeername:52:205
    brk:12:214 mmap:9:222 munmap:11:215 mremap:25:216 mprotect:10:226 madvise:28:233 msync:26:227
    fork:57:- vfork:58:- execve:59:221 execveat:322:281 exit:60:93 exit_group:231:94 wait4:61:260
    waitid:247:95 getpid:39:172 getppid:110:173 gettid:186:178 getpgrp:111:- getpgid:121:155 getsid:124:156
    getuid:102:174 geteuid:107:175 getgid:104:176 getegid:108:177 getgroups:115:158 getresuid:118:148
    getresgid:120:150 getpriority:140:141 getrusage:98:165 times:100:153 getrlimit:97:163 setrlimit:160:164
    sched_yield:24:124 sched_getaffinity:204:123 sched_getscheduler:145:120 sched_getparam:143:121
    sched_get_priority_max:146:125 sched_get_priority_min:147:126 getcpu:309:168 uname:63:160 sysinfo:99:179
    getrandom:318:278
    futex:202:98 set_tid_address:218:96 set_robust_list:273:99 rseq:334:293 membarrier:324:283
    arch_prctl:158:- restart_syscall:219:128
    rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigsuspend:130:133 rt_sigpending:127:136
    rt_sigtimedwait:128:137 sigaltstack:131:132 pause:34:-
    nanosleep:35:101 clock_nanosleep:230:115 clock_gettime:228:113 clock_getres:229:114 gettimeofday:96:169
    time:201:- alarm:37:- setitimer:38:103 getitimer:36:102 timer_create:222:107 timer_settime:223:110
    timer_gettime:224:108 timer_getoverrun:225:109 timer_delete:226:111
"""
#: Allowed where Landlock (from ABI 6 on) keeps signals inside.
_SIGNALS = """
    kill:62:129 tkill:200:130 tgkill:234:131 rt_sigqueueinfo:129:138 rt_tgsigqueueinfo:297:240
    pidfd_send_signal:424:424
"""
#: Landlock does not cover them, and programs end where they fail: they succeed and change nothing. The
#: process group is what is counted and killed; Ninja gives each command its own.
_IGNORED = """
    setpgid:109:154 flock:73:32 chmod:90:- fchmod:91:52 fchmodat:268:53 fchmodat2:452:452 chown:92:-
    lchown:94:- fchown:93:55 fchownat:260:54 utime:132:- utimes:235:- futimesat:261:- utimensat:280:88
"""
#: Programs go on without them.
_UNSUPPORTED = """
    setxattr:188:5 lsetxattr:189:6 fsetxattr:190:7 removexattr:197:14 lremovexattr:198:15 fremovexattr:199:16
"""
#: Their arguments are judged, see `_judges`.
_JUDGED = """
    open:2:- openat:257:56 creat:85:- mknod:133:- mknodat:259:33 renameat2:316:276 clone:56:220 fcntl:72:25
    ioctl:16:29 prctl:157:167 personality:135:92 prlimit64:302:261 socketpair:53:199
"""
#: From this number on calls are the same on all architectures, and programs know kernels without them.
_NEW_CALLS = 424

# Arguments (asm-generic/fcntl.h, linux/sched.h and others)
_O_ACCESS, _O_CREAT, _O_TRUNC, _O_TMPFILE = 0o3, 0o100, 0o1000, 0o20000000
_SET_ID, _S_IFMT, _S_IFIFO, _S_IFREG = 0o6000, 0o170000, 0o010000, 0o100000
_NOREPLACE_OR_EXCHANGE = 0b11
#: a signal at the end (8 bits), VM, FS, FILES, SIGHAND; VFORK; THREAD; SYSVSEM, SETTLS, PARENT_SETTID,
#: CHILD_CLEARTID, DETACHED; CHILD_SETTID
_CLONE = sum(1 << bit for bit in (*range(12), 14, 16, *range(18, 23), 24))
#: DUPFD, GETFD, SETFD, GETFL, SETFL, GETLK, GETOWN, OFD_GETLK, DUPFD_QUERY, DUPFD_CLOEXEC, GETPIPE_SZ
_FCNTL = (0, 1, 2, 3, 4, 5, 9, 36, 1027, 1030, 1032)
_LOCKS = (6, 7, 37, 38)  # SETLK, SETLKW, OFD_SETLK, OFD_SETLKW
#: TCGETS, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FICLONE
_IOCTL = (0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x40049409)
#: SET_PDEATHSIG, GET_PDEATHSIG, GET_DUMPABLE, SET_NAME, GET_NAME, CAPBSET_READ, SET_NO_NEW_PRIVS,
#: GET_NO_NEW_PRIVS, SET_VMA
_PRCTL = (1, 2, 3, 15, 16, 23, 38, 39, 0x53564D41)
_PERSONALITY_IS = 0xFFFFFFFF
_AF_UNIX, _SOCK_TYPE, _SOCK_STREAM = 1, 0xF, 1


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


_libc = ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return int(_libc.syscall(ctypes.c_long(number), *words))


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


_Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, value


def calls(table: str, machine: str) -> dict[str, int]:
    """The numbers of system calls of one of the tables above on an architecture."""
    place = _ARCHITECTURES[machine][1] + 1
    words = (word.split(":") for word in table.split())
    return {word[0]: int(word[place]) for word in words if word[place] != "-"}


def _one_of(place: int, values: Iterable[int], otherwise: int, mask: int = 0) -> list[_Instruction]:
    """Go on if the lower half of an argument is one of these values, or fail."""
    code = [(_LOAD, 0, 0, _ARGUMENTS + 8 * place), *([(_AND, 0, 0, mask)] if mask else [])]
    values = list(values)
    code += [(_EQUAL, left, 0, value) for left, value in zip(range(len(values), 0, -1), values, strict=True)]
    return [*code, (_RETURN, 0, 0, _ERRNO | otherwise)]


def _none_of(place: int, bits: int) -> list[_Instruction]:
    """Go on if the lower half of an argument has none of these bits, or fail."""
    load = (_LOAD, 0, 0, _ARGUMENTS + 8 * place)
    return [load, (_ANY_BIT, 0, 1, bits), (_RETURN, 0, 0, _ERRNO | _EPERM)]


def _opening(flags: int) -> list[_Instruction]:
    """Go on unless a file is opened to read and truncated, which Landlock before ABI 3 lets through, or is
    made with the rights of its owner."""
    load, refuse = (_LOAD, 0, 0, _ARGUMENTS + 8 * flags), (_RETURN, 0, 0, _ERRNO | _EPERM)
    code = [load, (_ANY_BIT, 0, 2, _O_TRUNC), (_ANY_BIT, 1, 0, _O_ACCESS), refuse]
    made = _none_of(flags + 1, _SET_ID)
    return [*code, load, (_ANY_BIT, 0, len(made), _O_CREAT | _O_TMPFILE), *made]


def _judges() -> dict[str, list[_Instruction]]:
    """How the arguments of calls are judged; a call whose instructions come to their end is allowed."""
    kinds = (0, _S_IFREG, _S_IFIFO)
    ignored = [(_EQUAL, 0, 1, each) for each in _LOCKS]
    locks = [(_LOAD, 0, 0, _ARGUMENTS + 8)]
    for equal in ignored:
        locks += [equal, (_RETURN, 0, 0, _ERRNO)]  # they succeed and change nothing, as flock
    return {
        "open": _opening(1),
        "openat": _opening(2),
        "creat": _none_of(1, _SET_ID),
        "mknod": _one_of(1, kinds, _EPERM, _S_IFMT) + _none_of(1, _SET_ID),
        "mknodat": _one_of(2, kinds, _EPERM, _S_IFMT) + _none_of(2, _SET_ID),
        "renameat2": _none_of(4, ~_NOREPLACE_OR_EXCHANGE & 0xFFFFFFFF),
        "clone": _none_of(0, ~_CLONE & 0xFFFFFFFF),  # no namespaces, no sibling
        "fcntl": locks + _one_of(1, _FCNTL, _EPERM),
        "ioctl": _one_of(1, _IOCTL, _ENOTTY),
        "prctl": _one_of(0, _PRCTL, _EINVAL),
        "personality": _one_of(0, [_PERSONALITY_IS], _EPERM),
        "prlimit64": _one_of(0, [0], _EPERM),  # one's own
        "socketpair": _one_of(0, [_AF_UNIX], _EPERM) + _one_of(1, [_SOCK_STREAM], _EPERM, _SOCK_TYPE),
    }


def filter_of(machine: str, version: int) -> list[_Instruction]:
    """The instructions that judge a system call, on an architecture with this ABI of Landlock."""
    audit, _ = _ARCHITECTURES[machine]
    code: list[_Instruction] = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, audit)]
    code += [(_RETURN, 0, 0, _ERRNO | _EPERM), (_LOAD, 0, 0, _NUMBER)]
    allowed = _ALLOWED + (_SIGNALS if version >= 6 else "")
    for table, answer in ((allowed, _ALLOW), (_IGNORED, _ERRNO), (_UNSUPPORTED, _ERRNO | _ENOTSUP)):
        for number in calls(table, machine).values():
            code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer)]
    judges = _judges()
    for name, number in calls(_JUDGED, machine).items():
        judge = [*judges[name], (_RETURN, 0, 0, _ALLOW)]
        code += [(_EQUAL, 0, len(judge), number), *judge]
    return [*code, (_AT_LEAST, 0, 1, _NEW_CALLS), *((_RETURN, 0, 0, _ERRNO | e) for e in (_ENOSYS, _EPERM))]


def _confine(writable: str) -> None:
    """Confine this process irrevocably; OSError if the kernel cannot."""
    version = _landlock_version()
    files = _READ_FILE | _WRITE_FILE | _REMOVE_AND_MAKE
    files |= (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    files |= _IOCTL_DEV if version >= 5 else 0
    rules = _Ruleset(files, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _checked(_call(_CREATE_RULESET, ctypes.byref(rules), size, 0), "landlock")

    def let(path: str, allowed: int) -> None:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        beneath = _Beneath(files & allowed, folder)
        _checked(_call(_ADD_RULE, ruleset, 1, ctypes.byref(beneath), 0), "landlock")
        os.close(folder)

    for path in (*(f"/{name}" for name in os.listdir("/") if name not in _NOT_READ), *_BUT_READ):  # noqa: PTH208
        try:
            let(path, _READ_FILE)
        except OSError:
            continue  # it is not there, or not for this user
    let("/dev/null", _READ_FILE | _WRITE_FILE | _TRUNCATE)
    let(writable, files & ~_DEVICES_AND_SOCKETS & ~_IOCTL_DEV)
    _checked(_call(_RESTRICT_SELF, ruleset, 0), "landlock")
    os.close(ruleset)
    code = filter_of(os.uname().machine, version)
    instructions = (_FilterInstruction * len(code))(*(_FilterInstruction(*each) for each in code))
    program = _FilterProgram(len(code), instructions)
    _checked(_libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0), "seccomp")


def _give_up_privileges(writable: str) -> None:
    """Become an unprivileged user where this is root, and give up all capabilities. Root without those that
    this needs, or in a user namespace that has no such user, is what other users are, and stays that."""
    held = _capabilities()
    reading = next((1 << each for each in (_CAP_DAC_READ_SEARCH, _CAP_DAC_OVERRIDE) if held & 1 << each), 0)
    needed = 1 << _CAP_CHOWN | 1 << _CAP_SETGID | 1 << _CAP_SETUID | 1 << _CAP_SETPCAP
    kept = 0
    if os.geteuid() == 0 and reading and not needed & ~held and _handed_over(writable):
        kept = reading
        _set_capabilities(held, kept)
        _checked(_libc.prctl(_PR_SET_SECUREBITS, _NO_ROOT_AND_NO_SETUID_FIXUP, 0, 0, 0), "capabilities")
    number = 0
    while _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) == 0:
        number += 1
    if kept:
        os.setgroups([])
        os.setresgid(_UNPRIVILEGED, _UNPRIVILEGED, _UNPRIVILEGED)
        os.setresuid(_UNPRIVILEGED, _UNPRIVILEGED, _UNPRIVILEGED)
        _libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)  # lost with the user
        # Git uses no repository of another user otherwise
        os.environ.update(GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")
    _set_capabilities(kept, kept)
    if kept:
        number = kept.bit_length() - 1
        _checked(_libc.prctl(_PR_CAP_AMBIENT, _RAISE, number, 0, 0), "capabilities")


def _handed_over(folder: str) -> bool:
    """Whether the unprivileged user owns a folder now and all that it contains."""
    try:
        if os.lstat(folder).st_uid == _UNPRIVILEGED:  # the last that is handed over
            return True
        for place, folders, files in os.walk(folder):
            for name in (*folders, *files):
                os.lchown(f"{place}/{name}", _UNPRIVILEGED, _UNPRIVILEGED)
        os.lchown(folder, _UNPRIVILEGED, _UNPRIVILEGED)
    except OSError:
        return False
    return True


def _capabilities() -> int:
    """Those that are permitted."""
    header, data = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()
    _checked(_libc.capget(header, data), "capabilities")
    return data[1] | data[4] << 32


def _set_capabilities(permitted: int, inheritable: int) -> None:
    """Those that are permitted are effective."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
    words = [each >> shift & 0xFFFFFFFF for shift in (0, 32) for each in (permitted, permitted, inheritable)]
    _checked(_libc.capset(header, (ctypes.c_uint32 * 6)(*words)), "capabilities")


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
    try:
        if writable:
            _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
            _give_up_privileges(writable)
        for kind, limit in (
            (resource.RLIMIT_CPU, cpu_seconds),
            (resource.RLIMIT_AS, memory),
            (resource.RLIMIT_FSIZE, file_size),
            (resource.RLIMIT_CORE, 1),  # with 0, a program that collects core dumps is started
            (resource.RLIMIT_SIGPENDING, _SIGNALS_QUEUED),
            (resource.RLIMIT_NPROC, _own_threads() + _MORE_THREADS),
        ):
            hard = resource.getrlimit(kind)[1]
            least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (least, least))
        if writable:
            _confine(writable)
        os.execvp(program[0], program)
    except OSError as error:
        print(f"camkes: cannot run {program[0]}: {error.strerror}", file=sys.stderr)
    return 126


if __name__ == "__main__":
    sys.exit(_become(sys.argv[1], sys.argv[2], sys.argv[3:]))
