# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes debug`: where it stops, and what gdb shows there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from camkes.debugging import StopAt, parse_stop
from tests.command import Result, camkes
from tests.end_to_end.support import system

pytestmark = [
    pytest.mark.requirement("TOOL-19"),
    pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed"),
]

SYSTEM = """
procedure P { void work(in int ms); }
component Task { control; requestor; uses P p; attribute int bad; }
component Lock { provides P s with priority_protocol inherited, requests (); }
assembly {
    composition {
        component Task high;  component Task low;  component Lock lock;
        connection seL4RPCCall c(from high.p, from low.p, to lock.s);
    }
    configuration {
        high._priority = 30;  high._period = 20 ms;  high._offset = 1 ms;  high.bad = 0;
        low._priority = 10;  low._period = 20 ms;  low._deadline = 5 ms;  low.bad = 1;
    }
}
"""

TASK = """
int *volatile nowhere;
int run(void)
{
    for (int i = 0; camkes_next_job(); i++) {
        p_work(4);
        if (bad && i == 1) {
            *nowhere = 1; /* line 9 */
        }
    }
    return 0;
}
"""

LOCK = """
void s_work(int ms)
{
    camkes_work(CAMKES_MS(ms));
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("debug")
    return system(folder, SYSTEM, {"Task.c": TASK, "Lock.c": LOCK})


def debug(path: Path, *words: str) -> Result:
    """Run gdb to its end."""
    return camkes("debug", path, "-o", path.parent / "out", "--for", "60ms", "--batch", *words)


@pytest.mark.long
def test_a_time_and_back_to_an_earlier_one(built: Path) -> None:
    words = ("-x", "camkes threads", "-x", "camkes back 500us", "-x", 'python print(gdb.prompt_hook(""))')
    result = debug(built, "--at", "2ms", *words)
    assert result.status == 0, result.errors
    # `high` waits since 1 ms; the job of `low` in the lock ends at 4 ms with its priority
    assert "at 1 ms: thread lock.s@low of lock" in result.output
    assert re.search(r"^lock.s@low +30  runs +Lock.c:6$", result.output, re.MULTILINE), result.output
    assert re.search(r"^high +30  waits .* Task.c:8$", result.output, re.MULTILINE), result.output
    assert "at 0 ns: thread lock.s@low of lock" in result.output  # before time passes 500 us
    assert result.output.rstrip().endswith("(camkes 0 ns)")


@pytest.mark.long
def test_an_event_and_a_breakpoint_of_one_instance(built: Path) -> None:
    result = debug(built, "--at", "missed:low", "-x", "camkes break lock.s", "-x", "camkes at 22ms")
    assert result.status == 0, result.errors
    assert "at 4 ms: thread lock.s@high of lock" in result.output  # until 8 ms; the deadline is at 5 ms
    assert re.search(r"at 20 ms: thread lock.s@low of lock\n#0  s_work \(", result.output), result.output
    result = debug(
        built, "--at", "0ms", "-x", "camkes break low", "-x", "continue"
    )  # run() of `high` is before
    assert re.search(r"at 0 ns: thread \w+ of \w+\n#0  run \(", result.output), result.output
    assert "thread high of high" not in result.output
    assert "at 1 ms: thread high of high" in debug(built, "--at", "30ms", "high").output
    request = debug(built, "--at", "request:lock.s:1", "-x", "python print(now())")
    assert request.output.rstrip().endswith("1000000"), request.output  # that of `high`, which waits then


@pytest.mark.long
def test_a_fault_stops_at_its_line(built: Path) -> None:
    result = debug(built, "-x", "bt 1")
    assert "SIGSEGV" in result.output
    assert re.search(r"at 28 ms: thread low of low\n#0 .* run \(\) at \S+Task.c:10", result.output)
    result = debug(built, "--at", "fault:low", "-x", "python print(running()['fault']['kind'])")
    assert re.search(r"at 28 ms: thread low of low\n#0 .* run \(\) at \S+Task.c:10", result.output), (
        result.output
    )
    assert "SIGSEGV" in result.output  # at the fault, not where the thread last used the kernel


@pytest.mark.long
def test_invalid_places_to_stop_are_errors(built: Path) -> None:
    assert debug(built, "--at", "late").status == 2
    result = debug(built, "--at", "missed:high")
    assert (result.status, "E0739" in result.errors) == (1, True)
    assert debug(built, "lock.t").status == 1


def test_a_component_without_a_path_names_the_command(tmp_path: Path) -> None:
    result = camkes("debug", "pump", "store.s", cwd=tmp_path)
    assert (result.status, "camkes debug . pump store.s" in result.errors) == (2, True)


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("1.5ms", StopAt(time=1_500_000)),
        ("missed", StopAt("missed")),
        ("release:a.b:12", StopAt("release", "a.b", 12)),
        ("fault:3", StopAt("fault", "", 3)),
        ("lock:a", StopAt("lock", "a")),
    ],
)
def test_places_are_read(text: str, stop: StopAt) -> None:
    assert parse_stop(text) == stop


@pytest.mark.long
def test_what_threads_wait_for(built: Path) -> None:
    """With the holder and since when, as the report of a run has it."""
    result = debug(built, "--at", "2ms", "-x", "camkes waits")
    lock = "waits for the lock of lock.s, held by lock.s@low since 0 ns, since 1 ms"
    assert re.search(rf"^lock.s@high +{lock}$", result.output, re.MULTILINE), result.output
    assert re.search(r"^low +waits for a reply of lock.s, since 0 ns$", result.output, re.MULTILINE)
