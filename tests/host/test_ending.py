# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs end: by themselves, by the watch for threads that stand still, and when the user ends them."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from tests.host.systems import camkes_run, command, write_system
from tests.processes import PATIENCE, Marked, wait_for

pytestmark = pytest.mark.requirement("HOST-8")

#: blocks in a way that no filter of system calls forbids: on a lock in memory that belongs to the kernel
BLOCKS = "syscall(SYS_futex, kernel_memory() + 2 * 4096, 0, 0, NULL, NULL, 0);"

#: prints at all times, for 11 days of virtual time
TALKS = """#include <camkes.h>
#include <stdio.h>
int run(void) { for (;;) { puts("tick"); camkes_work(1000000); } }
"""


def start(folder: Path, marked: Marked, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(folder, *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=marked.env,
        start_new_session=True,
    )


def started(folder: Path, *options: str) -> tuple[subprocess.Popen[str], Marked]:
    """A system that runs for ever and has printed its first line."""
    write_system(folder, "", good=TALKS)
    marked = Marked()
    running = start(folder, marked, "--for", "1000000s", *options)
    assert running.stdout is not None
    assert running.stdout.readline() == "tick\n"
    return running, marked


@pytest.mark.long
def test_a_thread_that_blocks_is_stopped_and_the_others_go_on(tmp_path: Path) -> None:
    from tests.host.test_confinement import KERNEL_MEMORY

    line = write_system(tmp_path, BLOCKS, KERNEL_MEMORY)
    done = camkes_run(tmp_path, "--timeout", "300ms")
    assert done.status == 1, done.errors
    assert "component bad, thread bad: waits for something outside the system\n" in done.errors
    assert f"bad.c:{line}:" in done.errors
    assert "good ran\n" in done.output


@pytest.mark.long
@pytest.mark.parametrize("options", [(), ("--fast",)])
def test_a_loop_that_holds_back_signals_is_stopped(tmp_path: Path, options: tuple[str, ...]) -> None:
    body = "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, NULL);"
    body += " for (volatile long i = 0;; i++) { }"
    write_system(tmp_path, body)
    done = camkes_run(tmp_path, "--loop-limit", "200", *options)
    assert done.status == 1
    assert "component bad, thread bad: loops without consuming virtual time" in done.errors
    assert "good ran\n" in done.output


@pytest.mark.long
def test_a_constructor_that_loops_is_ended(tmp_path: Path) -> None:
    write_system(
        tmp_path, "", '__attribute__((constructor)) static void c(void) { for (;;) { __asm__(""); } }'
    )
    done = camkes_run(tmp_path, "--timeout", "300ms")
    assert done.status == 1
    assert "component bad: loading it does not end" in done.errors


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("options", [(), ("--fast",)])
def test_an_interrupted_run_reports(tmp_path: Path, number: signal.Signals, options: tuple[str, ...]) -> None:
    trace = tmp_path / "run.json"
    running, marked = started(tmp_path, "--trace", str(trace), *options)
    running.send_signal(number)
    _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 128 + number, errors
    assert "Traceback" not in errors
    assert json.loads(trace.read_text())
    marked.assert_none()


@pytest.mark.long
def test_an_interrupted_run_reports_json(tmp_path: Path) -> None:
    write_system(tmp_path, "", good=TALKS)
    marked = Marked()
    running = start(tmp_path, marked, "--for", "1000000s", "--json")
    assert running.stderr is not None and running.stdout is not None
    assert running.stderr.readline() == "tick\n"
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert json.loads(output)["interrupted"] is True
    marked.assert_none()


@pytest.mark.long
def test_an_interruption_ends_a_thread_that_blocks(tmp_path: Path) -> None:
    from tests.host.test_confinement import KERNEL_MEMORY

    write_system(
        tmp_path, f'puts("here"); camkes_yield(); {BLOCKS}'.replace("camkes_yield(); ", ""), KERNEL_MEMORY
    )
    marked = Marked()
    running = start(tmp_path, marked, "--timeout", "0")
    assert running.stdout is not None
    assert running.stdout.readline() in ("here\n", "good ran\n")
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130, errors
    marked.assert_none()


@pytest.mark.long
@pytest.mark.parametrize("options", [(), ("--fast",)])
def test_nothing_outlives_the_tool(tmp_path: Path, options: tuple[str, ...]) -> None:
    running, marked = started(tmp_path, *options)
    # the tool, the supervisor, the kernel, two components
    assert len(marked.alive()) == (3 if options else 5)
    running.kill()
    running.communicate(timeout=PATIENCE)
    marked.assert_none()


@pytest.mark.long
def test_nothing_outlives_the_kernel(tmp_path: Path) -> None:
    running, marked = started(tmp_path)
    kernel = min(number for number, line in marked.numbered() if "camkes-host" in line)
    os.kill(kernel, signal.SIGKILL)
    _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 1
    assert "the host kernel ended with signal 9" in errors
    marked.assert_none()


@pytest.mark.long
def test_an_interruption_while_compiling(tmp_path: Path) -> None:
    """Of a source that includes a pipe without a writer."""
    write_system(tmp_path, "", '#include "pipe"')
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    marked = Marked()
    with subprocess.Popen(command(tmp_path), stderr=subprocess.PIPE, env=marked.env, text=True) as running:
        wait_for(lambda: any(f"-c {tmp_path}/bad.c" in line for line in marked.alive()))
        running.send_signal(signal.SIGINT)
        try:
            assert running.wait(PATIENCE) == 130
        finally:
            running.kill()
    marked.assert_none()


@pytest.mark.long
def test_a_record_has_a_limit(tmp_path: Path) -> None:
    write_system(tmp_path, "", good=TALKS)
    done = camkes_run(tmp_path, "--for", "1000000s", "--record-limit", "3M")
    assert done.status == 1
    assert "the record of the run is full, with 3 MiB, so the run ends at " in done.errors
    assert " % of it is about component good; let it run shorter" in done.errors
    assert (tmp_path / "out/host-image/run.trace").stat().st_size < 6 << 20


@pytest.mark.long
def test_a_closed_output_ends_the_run(tmp_path: Path) -> None:
    running, marked = started(tmp_path)
    assert running.stdout is not None
    running.stdout.close()
    running.stdout = None
    running.communicate(timeout=PATIENCE)
    marked.assert_none()


@pytest.mark.long
def test_json_is_one_document_whatever_is_printed(tmp_path: Path) -> None:
    body = r"""
    printf("{\"a\": 1}\n\xff\xfe without end");
    for (int i = 0; i < 5000; i++) { putchar('x'); }
    fprintf(stderr, "errors\n");
    return 3;
    """
    write_system(tmp_path, body)
    done = camkes_run(tmp_path, "--json")
    assert done.status == 0, done.errors
    assert json.loads(done.output)["exit_statuses"] == {"bad": 3, "good": 0}
    assert "good ran\n" in done.errors and "errors\n" in done.errors


@pytest.mark.long
def test_statuses_can_fail_a_run(tmp_path: Path) -> None:
    write_system(tmp_path, "return -1;")
    usual = camkes_run(tmp_path)
    assert usual.status == 0
    assert "bad: run() returned -1\n" in usual.output
    assert camkes_run(tmp_path, "--deny", "missed").status == 0
    denied = camkes_run(tmp_path, "--deny", "missed,exit-status")
    assert (denied.status, "error[E0810]: run() of `bad` returned -1" in denied.errors) == (1, True)
    assert camkes_run(tmp_path, "--fail-on", "all").status == 1  # an older name
    wrong = camkes_run(tmp_path, "--deny", "late")
    assert wrong.status == 2
    assert "'late' is not a valid condition" in wrong.errors


def test_the_table_begins_on_a_line_of_its_own(tmp_path: Path) -> None:
    write_system(tmp_path, 'printf("no end"); return 1;')
    assert "no end\n" in camkes_run(tmp_path).output


@pytest.mark.long
def test_the_first_line_on_a_terminal_is_not_shifted(tmp_path: Path) -> None:
    write_system(tmp_path, "")
    master, slave = pty.openpty()
    with subprocess.Popen(command(tmp_path), stdin=slave, stdout=slave, stderr=slave) as running:
        os.close(slave)
        seen = b""
        try:
            while part := os.read(master, 4096):
                seen += part
        except OSError:
            pass  # the other end is closed
        assert running.wait(PATIENCE) == 0
    os.close(master)
    assert b"\rgood ran" in seen


@pytest.mark.long
def test_an_assertion_names_its_function_without_the_type(tmp_path: Path) -> None:
    """Some compilers write the function with its type."""
    write_system(
        tmp_path,
        '__assert_fail("x > 0", "f.c", 7, "static int *look(char *)");',
        "extern void __assert_fail(const char *, const char *, unsigned, const char *);",
    )
    done = camkes_run(tmp_path)
    assert done.status == 1
    assert "f.c:7: look: assertion failed: x > 0\n" in done.output + done.errors
