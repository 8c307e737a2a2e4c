# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a component cannot do to the workstation, to the tool and to other components."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.host.systems import camkes_run, write_cases, write_system
from tests.processes import PATIENCE

pytestmark = [
    pytest.mark.requirement("HOST-6"),
    pytest.mark.skipif(
        bool(os.environ.get("CAMKES_HOST_RUNNER")), reason="another machine's programs are not confined"
    ),
]

#: finds the kernel's memory in the list of the process's own
KERNEL_MEMORY = """
static char *kernel_memory(void) {
    static char maps[1 << 16];
    unsigned long start, end;
    long used = 0, n;
    while ((n = pread(3, maps + used, sizeof maps - 1 - used, used)) > 0) { used += n; }
    for (char *line = maps; line && *line; line = strchr(line, 10) + 1) {
        char how[5];
        int fields = sscanf(line, "%lx-%lx %4s", &start, &end, how);
        if (fields == 3 && (strchr("w-", how[1]) && how[3] == 115) && end - start == 1UL << 30) {
            return (char *)start;
        }
    }
    abort();
}
"""

#: the kernel's memory, open to the component where the processor has protection keys, too
OPENED_MEMORY = (
    """
#ifdef __x86_64__
#include <cpuid.h>
#endif
"""
    + KERNEL_MEMORY
    + """
static char *opened_memory(void) {
    char *memory = kernel_memory();
#ifdef __x86_64__
    unsigned eax, ebx, ecx, edx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ecx & bit_OSPKE)) {
        __asm__ volatile("wrpkru" : : "a"(0), "c"(0), "d"(0));
    }
#endif
    return memory;
}
"""
)

#: what a component does, and the system call that the fault names
FORBIDDEN = {
    "pause();": "pause",
    "sleep(100);": "clock_nanosleep",
    "raise(SIGSTOP);": "tgkill",
    "raise(SIGUSR1);": "tgkill",
    "kill(getppid(), SIGKILL);": "kill",
    "kill(0, SIGKILL);": "kill",
    "kill(-1, SIGKILL);": "kill",
    "fork();": "clone",
    "vfork();": "vfork",
    'execl("/bin/sh", "sh", "-c", "echo escaped", NULL);': "execve",
    "socket(AF_UNIX, SOCK_STREAM, 0);": "socket",
    "socket(AF_INET, SOCK_STREAM, 0);": "socket",
    "ptrace(PTRACE_ATTACH, getppid(), 0, 0);": "ptrace",
    "process_vm_writev(getppid(), NULL, 0, NULL, 0, 0);": "process_vm_writev",
    'open("/proc/self/mem", O_RDWR);': "openat",
    'fopen("/etc/passwd", "r");': "openat",
    "for (int file = 0; file < 1000; file++) { close(file); }": "close",
    'write(7, "x", 1);': "write",
    "char c; read(7, &c, 1);": "read",
    "sigset_t all; int n; sigfillset(&all); sigwait(&all, &n);": "rt_sigtimedwait",
    "alarm(1);": "alarm",
    "int status; wait(&status);": "wait4",
    "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); pthread_mutex_lock(&m);": "futex",
    "signal(SIGSEGV, SIG_IGN);": "rt_sigaction",
    "mmap((void *)0x10000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);": "mmap",
    "mprotect(kernel_memory(), 4096, PROT_NONE);": "mprotect",
    "syscall(SYS_pkey_mprotect, kernel_memory(), 4096, 3, 0);": "pkey_mprotect",
    "mremap(kernel_memory(), 4096, 8192, MREMAP_MAYMOVE);": "mremap",
    "madvise(kernel_memory(), 4096, MADV_REMOVE);": "madvise",
    "syscall(SYS_exit, 0);": "exit",
    'asm volatile("int $0x80" ::"a"(20) : "memory");': "another ABI's",
    'asm volatile("int $0x80" ::"a"(1), "b"(0) : "memory");': "another ABI's",
    "syscall(0x40000000 | SYS_getpid);": "another ABI's",
    "struct rlimit limit; prlimit(getppid(), RLIMIT_NPROC, NULL, &limit);": "prlimit64",
    "struct rlimit none = {1, 1}; setrlimit(RLIMIT_DATA, &none);": "prlimit64",
    "stack_t none = {.ss_flags = SS_DISABLE}; sigaltstack(&none, NULL);": "sigaltstack",
    "timer_t timer; timer_create(CLOCK_REALTIME, NULL, &timer);": "timer_create",
    "syscall(SYS_io_uring_setup, 8, NULL);": "io_uring_setup",
    "syscall(SYS_bpf, 0, NULL, 0);": "bpf",
    "syscall(SYS_keyctl, 0, -3, 0);": "keyctl",
    "syscall(SYS_clone3, NULL, 0);": "clone3",
    "mprotect(kernel_memory() - 4096, 3UL << 30, PROT_READ);": "mprotect",
    "munmap(kernel_memory(), 4096);": "munmap",
}


@pytest.mark.long
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="names of calls differ between machines")
def test_each_forbidden_call_is_a_fault_at_its_line(tmp_path: Path) -> None:
    """All in one component, a thread for each; the others come to theirs all the same."""
    cases = write_cases(tmp_path, list(FORBIDDEN), KERNEL_MEMORY)
    done = camkes_run(tmp_path)
    assert done.status == 1, done.errors
    assert "good ran\n" in done.output
    assert "escaped" not in done.output
    for case, (body, call) in zip(cases, FORBIDDEN.items(), strict=True):
        report = case.report(done.errors)
        assert report.startswith(f"system call of the workstation: {call}\n"), body
        assert case.place in report, body


@pytest.mark.long
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the flag is one of that machine")
def test_a_thread_that_traps_at_each_instruction_is_stopped_at_the_first(tmp_path: Path) -> None:
    write_system(tmp_path, 'asm volatile("pushf; orl $0x100, (%rsp); popf");')
    done = camkes_run(tmp_path)
    assert done.status == 1
    assert "component bad, thread bad: illegal instruction\n" in done.errors
    assert "bad.c:" in done.errors
    assert "good ran\n" in done.output


#: what a component does to the processor's state, and then; the fault that this is
DAMAGED_STATE = {
    'asm volatile("wrfsbase %0" ::"r"(0UL)); puts("text");': "invalid read at",
    'asm volatile("wrfsbase %0" ::"r"(0x123456UL)); *(volatile int *)8 = 1;': "invalid write at 0x8",
    'asm volatile("wrfsbase %0" ::"r"(0UL)); for (;;) { asm(""); }': "loops without consuming virtual time",
    'asm volatile("wrfsbase %0" ::"r"(0UL)); camkes_work(1000); abort();': "abort",
    'asm volatile("wrfsbase %0" ::"r"(8UL)); syscall(SYS_pause);': "system call of the workstation: pause",
    'asm volatile("pushf; orl $0x40000, (%rsp); popf"); camkes_work(1000); abort();': "abort",
    'asm volatile("pushf; orl $0x40000, (%rsp); popf"); *(volatile long *)8 = 1;': "invalid write at 0x8",
    'asm volatile("std"); camkes_work(1000); abort();': "abort",
}


@pytest.mark.long
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the instructions differ between machines")
def test_registers_that_the_kernel_relies_on_are_restored(tmp_path: Path) -> None:
    """The base of thread-local variables and flags: what follows is a fault at its line all the same."""
    known = "fsgsbase" in Path("/proc/cpuinfo").read_text()
    bodies = [body for body in DAMAGED_STATE if known or "wrfsbase" not in body]
    cases = write_cases(tmp_path, bodies)
    for options in ((), ("--fast",), ("--hardened",)):
        done = camkes_run(tmp_path, "--loop-limit", "100", *options)
        assert done.status == 1, (options, done.errors)
        assert "good ran\n" in done.output, options
        for case, body in zip(cases, bodies, strict=True):
            report = case.report(done.errors)
            assert report.startswith(DAMAGED_STATE[body]), (options, body)
            assert case.place in report, (options, body)


@pytest.mark.long
def test_no_status_of_a_component_ends_the_run(tmp_path: Path) -> None:
    cases = write_cases(tmp_path, [f"syscall(SYS_exit_group, {n});" for n in (0, 1, 2, 3, 4, 5, 134)])
    done = camkes_run(tmp_path)
    assert done.status == 1, done.errors
    assert "good ran\n" in done.output
    for case in cases:
        report = case.report(done.errors)
        assert report.startswith("system call of the workstation: exit_group\n"), case
        assert case.place in report, case


@pytest.mark.long
def test_constructors_cannot_end_the_run_with_a_status_of_their_own(tmp_path: Path) -> None:
    code = "__attribute__((constructor)) static void before(void) { syscall(SYS_exit_group, 4); }"
    write_system(tmp_path, "", code)
    done = camkes_run(tmp_path)
    assert done.status == 1
    assert "exit_group is not allowed to components while they are loaded" in done.errors
    assert "wrote into the kernel's memory" not in done.errors


@pytest.mark.long
def test_system_calls_are_refused_without_processes_too(tmp_path: Path) -> None:
    cases = write_cases(tmp_path, ["pause();", "fork();", 'execl("/bin/sh", "sh", NULL);'])
    done = camkes_run(tmp_path, "--fast")
    assert done.status == 1, done.errors
    assert "good ran\n" in done.output
    for case in cases:
        report = case.report(done.errors)
        assert report.startswith("system call of the workstation: "), case
        assert case.place in report, case


@pytest.mark.mostly_long("pause();")
@pytest.mark.parametrize("body", ["socket(AF_INET, SOCK_STREAM, 0);", "pause();", 'open("/etc/passwd", 2);'])
def test_constructors_are_confined(tmp_path: Path, body: str) -> None:
    write_system(tmp_path, "", f"__attribute__((constructor)) static void before(void) {{ {body} }}")
    done = camkes_run(tmp_path)
    assert done.status == 1
    assert "is not allowed to components while they are loaded" in done.errors
    assert "component bad" in done.errors
    assert "Traceback" not in done.errors


@pytest.mark.long
def test_a_confined_component_can_use_memory_and_output(tmp_path: Path) -> None:
    body = """
    char *text = strdup("fine"), c;
    printf("%s %.2f %d\\n", text, 1.25, (int)read(0, &c, 1));
    char *large = malloc(100 << 20);
    memset(large, 1, 100 << 20);
    large = realloc(large, 200 << 20);
    free(large);
    dprintf(1, "to standard output\\n");
    write(2, "to standard error\\n", 18);
    time(NULL);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    """
    write_system(tmp_path, body)
    done = camkes_run(tmp_path)
    assert done.status == 0, done.errors
    assert done.output.startswith("fine 1.25 0\nto standard output\nto standard error\n")


@pytest.mark.long
def test_memory_is_limited(tmp_path: Path) -> None:
    body = (
        "int n = 0; char *volatile block; "  # or Clang leaves malloc() out
        'while (n < 4096 && (block = malloc(1 << 20)) != NULL) { n++; } printf("%d MiB\\n", n);'
    )
    write_system(tmp_path, body)
    usual = int(camkes_run(tmp_path, "--loop-limit", "20000").output.split()[0])
    less = int(camkes_run(tmp_path, "--memory-limit", "64M").output.split()[0])
    assert 512 < usual < 1024
    assert 32 < less < 64


@pytest.mark.long
def test_damage_to_the_kernel_is_noticed(tmp_path: Path) -> None:
    write_system(tmp_path, "memset(opened_memory(), 0, 4096);", OPENED_MEMORY)
    done = camkes_run(tmp_path)
    assert done.status == 1, done.errors
    assert "component bad wrote into the kernel's memory" in done.errors


@pytest.mark.long
def test_the_memory_around_the_kernel_is_not_there(tmp_path: Path) -> None:
    write_system(tmp_path, "memset(kernel_memory() - 8, 0, 8);", KERNEL_MEMORY)
    done = camkes_run(tmp_path)
    assert done.status == 1
    assert "component bad, thread bad: invalid write at" in done.errors
    assert "good ran\n" in done.output


@pytest.mark.long
def test_a_forged_report_is_ignored(tmp_path: Path) -> None:
    body = r"""
    static const char LINES[] = "fault: good: thread good: abort\ncamkes-host: defect\n"
        "{\"time\":0,\"thread\":1,\"type\":7,\"component\":\"good\",\"name\":\"good\",\"what\":\"abort\"}\n";
    fputs(LINES, stderr);
    for (int file = 1; file < 3; file++) { write(file, LINES, sizeof LINES - 1); }
    """
    write_system(tmp_path, body)
    done = camkes_run(tmp_path, "--json")
    assert done.status == 0, done.errors
    assert json.loads(done.output)["faults"] == []
    assert done.errors.count("fault: good: thread good: abort\n") == 3


#: a write anywhere in the kernel's memory: its beginning, its tables, far behind them
PLACES = ("0", "4096", "200000", "(1UL << 30) - 8")


@pytest.mark.long
def test_hardened_a_write_to_kernel_memory_is_a_fault_at_its_line(tmp_path: Path) -> None:
    bodies = [f"memset(kernel_memory() + {place}, 0, 8);" for place in PLACES]
    cases = write_cases(tmp_path, bodies, KERNEL_MEMORY)
    done = camkes_run(tmp_path, "--hardened")
    assert done.status == 1, done.errors
    assert "good ran\n" in done.output
    for case, place in zip(cases, PLACES, strict=True):
        report = case.report(done.errors)
        assert report.startswith("invalid write of kernel memory"), place
        assert case.place in report, place


@pytest.mark.long
def test_hardened_constructors_cannot_write_to_kernel_memory(tmp_path: Path) -> None:
    before = "__attribute__((constructor)) static void c(void) { memset(kernel_memory(), 0, 8); }"
    write_system(tmp_path, "", KERNEL_MEMORY + before)
    done = camkes_run(tmp_path, "--hardened")
    assert done.status == 1, done.errors
    assert "component bad ended while it was loaded" in done.errors


#: calls that would change the access to kernel memory
ACCESS = {
    "mprotect(kernel_memory(), 4096, PROT_READ | PROT_WRITE);": "mprotect",
    "mprotect(kernel_memory(), 1UL << 30, PROT_READ | PROT_WRITE);": "mprotect",
    "mprotect(kernel_memory() - (1UL << 31), 3UL << 30, PROT_READ | PROT_WRITE);": "mprotect",
    "mremap(kernel_memory(), 4096, 8192, MREMAP_MAYMOVE);": "mremap",
    "madvise(kernel_memory(), 4096, MADV_REMOVE);": "madvise",
    "madvise(kernel_memory() - (1UL << 31), 3UL << 30, MADV_REMOVE);": "madvise",
    "munmap(kernel_memory() - (1UL << 31), 3UL << 30);": "munmap",
}


@pytest.mark.long
def test_hardened_components_cannot_change_the_access(tmp_path: Path) -> None:
    cases = write_cases(tmp_path, list(ACCESS), KERNEL_MEMORY)
    done = camkes_run(tmp_path, "--hardened")
    assert done.status == 1, done.errors
    assert "good ran\n" in done.output
    for case, (body, call) in zip(cases, ACCESS.items(), strict=True):
        report = case.report(done.errors)
        assert report.startswith(f"system call of the workstation: {call}\n"), body
        assert case.place in report, body


@pytest.mark.long
def test_hardened_faults_loops_and_output_are_as_usual(tmp_path: Path) -> None:
    body = """
    write(1, "direct\\n", 7);
    puts("line");
    raise(SIGUSR1);
    """
    write_system(tmp_path, body)
    usual, hardened = camkes_run(tmp_path), camkes_run(tmp_path, "--hardened")
    assert (usual.status, usual.output) == (hardened.status, hardened.output) == (1, usual.output)
    assert "tgkill" in usual.errors and "tgkill" in hardened.errors
    write_system(tmp_path, "for (volatile int i = 0;; i++) { }")
    done = camkes_run(tmp_path, "--hardened", "--loop-limit", "200")
    assert "component bad, thread bad: loops without consuming virtual time" in done.errors
    assert "good ran\n" in done.output


#: start and length: all of the state; what the running thread is found by; queues
DAMAGE = (("0", "1 << 20"), ("8", "8"), ("16", "64"), ("2048", "512"))


@pytest.mark.long
@pytest.mark.parametrize(("start", "length"), DAMAGE)
def test_damage_of_kernel_memory_ends_the_run_with_a_message(tmp_path: Path, start: str, length: str) -> None:
    write_system(tmp_path, f"memset(opened_memory() + {start}, 0x5a, {length});", OPENED_MEMORY)
    done = camkes_run(tmp_path)
    assert done.status == 1, done.errors
    assert "wrote into the kernel's memory" in done.errors
    assert "component bad " in done.errors or "ran last" in done.errors


def test_fast_and_hardened_exclude_each_other(tmp_path: Path) -> None:
    write_system(tmp_path, "")
    done = camkes_run(tmp_path, "--hardened", "--fast")
    assert done.status == 2
    assert "not allowed with argument" in done.errors


#: runs the tool on a workstation that lacks a system call
LACKING = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
number = int(sys.argv[1])
statements = (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050026), (0x06, 0, 0, 0x7FFF0000)
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *s) for s in statements))
program = struct.pack("HxxxxxxP", len(statements), ctypes.addressof(code))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.executable, [sys.executable, "-m", "camkes", "run", *sys.argv[2:]])
"""


@pytest.mark.long
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of system calls differ")
@pytest.mark.parametrize(("number", "what"), [("317", "(seccomp)"), ("444", "Landlock")])
def test_missing_features_of_the_workstation_are_reported_once(
    tmp_path: Path, number: str, what: str
) -> None:
    write_system(tmp_path, "")
    command = [
        sys.executable,
        "-c",
        LACKING,
        number,
        str(tmp_path / "system.camkes"),
        "-o",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("note: this workstation does not have ") == 1
    assert what in done.stderr
    command.append("--hardened")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 1
    assert "--hardened needs " in done.stderr
    assert what in done.stderr
