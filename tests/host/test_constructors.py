# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Constructors are confined as code that runs is: one list of attacks, tried from both."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.host.kernel import SANITIZE, Workplace
from tests.host.systems import HEADERS
from tests.host.test_confinement import KERNEL_MEMORY

pytestmark = [
    pytest.mark.requirement("HOST-6"),
    pytest.mark.skipif(bool(os.environ.get("CAMKES_HOST_RUNNER")), reason="another machine's programs"),
    pytest.mark.skipif(SANITIZE, reason="nothing is confined with the sanitizers"),
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="names of calls differ between machines"),
]

#: what code tries, and the system call that is refused
ATTACKS = {
    # other processes
    "struct rlimit one = {1, 1}; prlimit(getppid(), RLIMIT_CPU, &one, NULL);": "prlimit64",
    "struct rlimit limit; prlimit(getppid(), RLIMIT_NPROC, NULL, &limit);": "prlimit64",
    "kill(getppid(), SIGKILL);": "kill",
    "kill(-1, SIGKILL);": "kill",
    "raise(SIGSTOP);": "tgkill",
    "ptrace(PTRACE_ATTACH, getppid(), 0, 0);": "ptrace",
    "process_vm_writev(getppid(), NULL, 0, NULL, 0, 0);": "process_vm_writev",
    "syscall(SYS_pidfd_open, getppid(), 0);": "pidfd_open",
    "cpu_set_t s; sched_getaffinity(getppid(), sizeof s, &s);": "sched_getaffinity",
    "struct timespec t; clock_gettime(~getppid() * 8 + 2, &t);": "clock_gettime",
    "setpriority(PRIO_PROCESS, getppid(), 19);": "setpriority",
    "syscall(SYS_sched_setaffinity, getppid(), 0, NULL);": "sched_setaffinity",
    "fork();": "clone",
    'execl("/bin/sh", "sh", "-c", "echo escaped", NULL);': "execve",
    # its own process
    "struct rlimit more = {1, 1}; setrlimit(RLIMIT_DATA, &more);": "prlimit64",
    "prctl(PR_SET_PDEATHSIG, 0);": "prctl",
    "prctl(PR_SET_DUMPABLE, 1);": "prctl",
    "syscall(SYS_seccomp, 1, 0, NULL);": "seccomp",
    "syscall(SYS_seccomp, 0, 0, NULL);": "seccomp",
    "syscall(SYS_capset, NULL, NULL);": "capset",
    "setuid(0);": "setuid",
    "unshare(CLONE_NEWUSER);": "unshare",
    "pause();": "pause",
    # files, network, memory of others
    'open("/etc/passwd", O_RDONLY | O_CLOEXEC);': "openat",
    'open("/lib64/ld-linux-x86-64.so.2", O_RDONLY | O_CLOEXEC);': "openat",
    'open("/proc/self/mem", O_RDWR);': "openat",
    'access("/etc/passwd", R_OK);': "access",
    'char b[99]; readlink("/proc/self/exe", b, 99);': "readlink",
    "char b[999]; getcwd(b, sizeof b);": "getcwd",
    'struct stat s; stat("/etc/passwd", &s);': "newfstatat",
    "socket(AF_INET, SOCK_STREAM, 0);": "socket",
    'shm_open("/camkes", O_RDWR | O_CREAT, 0600);': "openat",
    "syscall(SYS_shmget, 0, 4096, 01600);": "shmget",
    "syscall(SYS_shmat, 0, NULL, 0);": "shmat",
    'syscall(SYS_memfd_create, "x", 0);': "memfd_create",
    # mappings
    "mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);": "mmap",
    "for (int f = 0; f < 64; f++) { mmap(NULL, 4096, PROT_READ, MAP_SHARED, f, 0); }": "mmap",
    "for (int f = 0; f < 64; f++) { mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, f, 0); }": "mmap",
    "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);": "mmap",
    "mmap((void *)4096, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);": "mmap",
    "mmap(kernel_memory(), 4096, 0, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);": "mmap",
    "mprotect(kernel_memory(), 4096, PROT_NONE);": "mprotect",
    "mprotect(kernel_memory() - 4096, 3UL << 30, PROT_READ);": "mprotect",
    "mprotect(kernel_memory() - (3UL << 30), (3UL << 30) + 1, PROT_READ);": "mprotect",
    "munmap(kernel_memory(), 4096);": "munmap",
    "munmap((void *)4096, 0x7ffffffff000);": "munmap",
    "munmap((void *)4096, -8192UL);": "munmap",
    "madvise(kernel_memory(), 4096, MADV_REMOVE);": "madvise",
    "mremap(kernel_memory(), 4096, 8192, MREMAP_MAYMOVE);": "mremap",
    "mremap(malloc(4096), 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, kernel_memory());": "mremap",
}

#: how code gets memory, a MiB each time: `p` is what it gets, NULL: no more
MEMORY = {
    "malloc": "p = malloc(MIB);",
    "mmap": "p = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);",
    "without reserve": "p = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);",
    "stack": "p = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK);",
    "brk": "p = sbrk(MIB); p = p == (void *)-1 ? NULL : p;",
    "opened later": "p = map(PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS);"
    " p = p && mprotect(p, MIB, PROT_READ | PROT_WRITE) == 0 ? p : NULL;",
    "closed when it is full": "if (last) { mprotect(last, MIB, PROT_READ); }"
    " p = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);",
    "grown": "p = n == 0 ? map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS)"
    " : mremap(first, n * MIB, (n + 1) * MIB, MREMAP_MAYMOVE);"
    " p = p == MAP_FAILED || !p ? NULL : (first = p, p + n * MIB);",
}
LIMIT = 64  # MiB
#: what counts as address space only
BESIDE = 80

TABLE = """camkes-host-table 1
object memory region 4096
object t tcb
object u tcb
space a {name}.so
map shared memory R
thread t 0 control 100 100 65536 0 - a
space b {name}.so
thread u 0 control 99 99 65536 0 - b
"""

CODE = """
#include <camkes/host.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
char shared[4096] __attribute__((aligned(4096)));
static unsigned long number;
%s
__attribute__((constructor)) static void before(void) {
    const char *chosen = getenv("ATTACK");
    number = chosen ? strtoul(chosen + 1, NULL, 10) : 0;
    if (chosen && *chosen == 'c') { attack(number); }
}
void _camkes_thread(unsigned index) {
    const char *chosen = getenv("ATTACK");
    if (index == 0 && *chosen == 'r') { attack(number); }
}
"""

#: of a search, which has to know what the threads are
SEARCH_TABLE = "thread t control 100 - - -\nthread u control 99 - - -\n"

MODES = {
    "default": (),
    "hardened": ("--hardened",),
    "fast": ("--fast",),
    "search": ("--arrivals", "1", "--search", "search.table"),
}
WHEN = {"constructor": "c", "running": "r"}


def compile_attacks(workplace: Workplace, name: str, bodies: list[str], outside: str = "") -> Path:
    cases = "\n".join(f"case {n}: {{ {body} }} break;" for n, body in enumerate(bodies))
    functions = (
        f"{KERNEL_MEMORY}\n{outside}\nstatic void attack(unsigned long n) {{ switch (n) {{ {cases} }} }}"
    )
    source = workplace.folder / f"{name}.c"
    source.write_text(HEADERS.replace("#include <camkes.h>\n", "") + CODE % functions)
    workplace.compile(source, workplace.folder / f"{name}.so", "-w")
    (workplace.folder / "search.table").write_text(SEARCH_TABLE)
    table = workplace.folder / f"{name}.table"
    table.write_text(TABLE.format(name=name))
    return table


def try_attack(
    workplace: Workplace, table: Path, when: str, number: int, *options: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(workplace.host), str(table), *options], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "ATTACK": f"{WHEN[when]}{number}"}, cwd=workplace.folder,
    )  # fmt: skip


def verdict(done: subprocess.CompletedProcess[str]) -> str:
    """The system call that was refused, in a constructor or where code runs."""
    said = done.stdout + done.stderr
    found = re.search(
        r"\bt(?:: | stops at a fault: )system call of the workstation: (\w+)\b"
        r"|^camkes-host: (\w+) is not allowed to components while",
        said,
        re.MULTILINE,
    )
    return next(filter(None, found.groups()), "") if found else said


def promised(mode: str) -> Mapping[str, str]:
    """With --fast, as in a search, there is one process: its own memory is the kernel's."""
    alone = mode in ("fast", "search")
    return {body: call for body, call in ATTACKS.items() if not (alone and "kernel_memory" in body)}


@pytest.mark.mostly_long("constructor-fast")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("when", WHEN)
def test_the_same_calls_are_refused(workplace: Workplace, when: str, mode: str) -> None:
    wanted = promised(mode)
    table = compile_attacks(workplace, f"attacks_{when}_{mode}", list(wanted))
    for number, (body, call) in enumerate(wanted.items()):
        done = try_attack(workplace, table, when, number, *MODES[mode])
        assert verdict(done) == call, body
        assert done.returncode == (2 if when == "constructor" else 1), body
        assert "escaped" not in done.stdout + done.stderr, body


GRAB = """
#define MIB (1UL << 20)
static char *map(int protection, int flags) {
    char *place = mmap(NULL, MIB, protection, flags, -1, 0);
    return place == MAP_FAILED ? NULL : place;
}
"""


@pytest.mark.long
@pytest.mark.parametrize("when", WHEN)
def test_memory_is_limited_in_all_ways_to_get_it(workplace: Workplace, when: str) -> None:
    bodies = [
        f"char *p, *first = NULL, *last = NULL; unsigned long n = 0; (void)first; (void)last;"
        f" for (; n < 1024; n++) {{ {body} if (!p) {{ break; }} memset(p, 1, MIB); last = p; }} "
        f'printf("%lu MiB\\n", n); fflush(stdout);'
        for body in MEMORY.values()
    ]
    table = compile_attacks(workplace, f"memory_{when}", bodies, GRAB)
    for number, how in enumerate(MEMORY):
        done = try_attack(workplace, table, when, number, "--memory-limit", str(LIMIT << 20))
        most = LIMIT + (BESIDE if how == "closed when it is full" else 0)
        assert done.stdout, (how, done.stderr)
        assert LIMIT / 2 < int(done.stdout.split()[0]) <= most, how


#: what code tries with dataports
DATAPORTS = (
    'printf("%d", mprotect(shared, 4096, PROT_READ | PROT_WRITE));',
    # what there is of shared regions in the list of its memory, which it can read
    "static char maps[1 << 16]; long used = 0, n;"
    " while ((n = pread(3, maps + used, sizeof maps - 1 - used, used)) > 0) { used += n; }"
    ' int found = 0; for (char *at = maps; (at = strstr(at, "camkes-regions")); at++) { found++; }'
    ' printf("%d", found);',
)


@pytest.mark.parametrize("when", WHEN)
def test_dataports_of_others_and_read_only_ones_stay_as_they_are(workplace: Workplace, when: str) -> None:
    table = compile_attacks(workplace, f"dataports_{when}", [f'{b} puts("");' for b in DATAPORTS])
    # both address spaces run the constructor, the first has the region
    wanted = {"constructor": ("0\n0\n", "1\n0\n"), "running": ("-1\n0\n", "1\n0\n")}[when]
    for number, output in enumerate(wanted):
        assert try_attack(workplace, table, when, number).stdout == output
