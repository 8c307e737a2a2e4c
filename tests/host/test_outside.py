# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What happens to a run from outside: a full disk, interrupts, processes that are killed."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from tests.host.kernel import (
    END,
    RUNNER,
    SCENARIOS,
    Workplace,
)

pytestmark = pytest.mark.requirement("HOST-8")


@pytest.mark.parametrize("mode", [[], ["--fast"]])
def test_a_full_disk_is_reported(workplace: Workplace, mode: list[str]) -> None:
    result = workplace.run(workplace.folder / "call.table", *mode, "--trace", "/dev/full")
    assert "cannot write the trace" in result.stderr
    assert result.returncode == 3


@pytest.mark.parametrize("mode", [[], ["--fast"]])
def test_closed_output_is_reported(workplace: Workplace, mode: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = workplace.run(workplace.folder / "call.table", *mode, stdout=writing)
    finally:
        os.close(writing)
    assert result.stderr.count("cannot write to standard output") == 1
    assert result.returncode == 1


def test_an_output_of_one_byte_is_written(workplace: Workplace) -> None:
    source, table = workplace.folder / "byte.c", workplace.folder / "byte.table"
    source.write_text(
        "#include <camkes/host.h>\n"
        'void _camkes_thread(unsigned i) { if (i == 0) { seL4_DebugPutString("\\n"); } }\n'
    )
    workplace.compile(source, workplace.folder / "byte.so")
    table.write_text((SCENARIOS / "call.table").read_text().replace("call.so", "byte.so"))
    assert workplace.run(table).stdout == "\n"


ENDLESS = """#include <camkes/host.h>
void _camkes_thread(unsigned index)
{
    seL4_DebugPutString("started\\n");
    for (;;) { BODY; }
    (void)index;
}
"""


def start_endless(workplace: Workplace, body: str, *options: str) -> subprocess.Popen[str]:
    source = workplace.folder / "endless.c"
    source.write_text(ENDLESS.replace("BODY", body))
    workplace.compile(source, workplace.folder / "endless.so", "-fno-sanitize=all")
    table = workplace.folder / "endless.table"
    table.write_text((SCENARIOS / "call.table").read_text().replace("call.so", "endless.so"))
    process = subprocess.Popen(
        [*RUNNER, str(workplace.host), str(table), *options],
        cwd=workplace.folder, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "started\n"
    return process


@pytest.mark.parametrize("mode", [[], ["--fast"]])
@pytest.mark.parametrize("body", ["camkes_host_work(1000)", "index++", "seL4_Yield()"])
def test_an_interrupt_ends_the_run(workplace: Workplace, mode: list[str], body: str) -> None:
    process = start_endless(workplace, body, *mode, "--trace", "trace", "--call-limit", str(10**15))
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert errors == "" or "note:" in errors
    assert process.returncode == 0
    with (workplace.folder / "trace").open("rb") as trace:  # it is long
        trace.seek(-24, os.SEEK_END)
        _, kind, _, _, _, reason = struct.unpack("<QHHHHQ", trace.read())
    assert (kind, reason) == (END, 3)


def test_no_process_is_left(workplace: Workplace) -> None:
    """Also not when the runner is killed."""
    process = start_endless(workplace, "camkes_host_work(1000)")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(children) == 2
    process.kill()
    process.communicate()
    patience = time.monotonic() + 10
    while any(running(int(child)) for child in children):
        assert time.monotonic() < patience
        time.sleep(0.01)


@pytest.mark.mostly_long("0")
@pytest.mark.parametrize("victim", [0, 1])
def test_a_process_killed_from_outside(workplace: Workplace, victim: int) -> None:
    call = (
        "seL4_MessageInfo_t info = {{0}}; for (volatile int i = 0; i < 2000000; i++) { }"
        "if (index == 0) { camkes_host_work(1000); seL4_Call(1, info); } else seL4_ReplyRecv(1, info, 0)"
    )
    name = ("client", "server")[victim]
    killed = f"fault: {name}: thread {name}: its component's process was killed, signal 9\n"
    in_kernel = f"camkes-host: the process of {name} ended within the kernel\n"
    found = []
    for _ in range(10):  # on a busy machine a process can be in the kernel when it is killed
        process = start_endless(workplace, call)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        time.sleep(0.02)  # they have left the kernel, and are in their loops for nearly all of the time
        os.kill(int(children[victim]), signal.SIGKILL)
        _, errors = process.communicate(timeout=10)
        found.append(errors)
        assert process.returncode == 1 or errors == in_kernel
        if found.count(killed) == 3:
            break
    assert set(found) <= {killed, in_kernel} and found.count(killed) == 3


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
