# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A component cannot write records of the trace that are not its own: each is a fault of it, and what is
reported of others is as if it had not tried."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.running.events import Event, parse_trace
from camkes.running.kinds import FaultKind, Kind
from camkes.running.names import trace_names
from tests.command import camkes
from tests.explore.search import search
from tests.host.kernel import RUNNER
from tests.report.checking import check_trace
from tests.runtime.host import HEAD, Built, build

pytestmark = pytest.mark.requirement("HOST-9")

TEXT = """procedure P { void go(); }
component Good { control; requestor; uses P store; }
component Bad { control; requestor; uses P store; }
component Store { provides P p with priority_protocol inherited; }
assembly {
    composition {
        component Bad bad; component Good good; component Store store;
        connection seL4RPCCall c(from bad.store, from good.store, to store.p);
    }
    configuration {
        good._priority = 20; good._period = 2 ms; good._deadline = 2 ms;
        bad._priority = 10; bad._period = 5 ms;
    }
}
"""

#: forged records: kind, the other thread, arguments. Threads are 0 bad, 1 good, then those of the store;
#: CPI 0 is the store's; context and task 0 are of bad, 1 of good.
FORGED = (
    "53, 1, 2, 0, 0",  # a job of good was given up
    "34, 1, 2, 0, 4000000",  # or ended late
    "34, 65535, 2, 7, 0",  # its own that has not begun
    "33, 65535, 2, 1UL << 40, 1UL << 62",
    "33, 65535, 2, 2, 0",
    "33, 65535, 1, 1",
    "33, 65535, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0",
    "33, 0, 2, 1, 0",
    "46, 65535, 2, 77, 1",  # that it refused a message that no one sent
    "46, 65535, 2, 1, 1",  # of good, at the store
    "35, 65535, 3, 0, 1, 20",  # a request of good
    "35, 65535, 3, 1, 0, 10",  # at what does not exist
    "37, 65535, 5, 0, 1, 20, 1, 1",  # the store serves good
    "38, 65535, 2, 0, 1",
    "39, 65535, 2, 0, 0",  # it has the lock of the store
    "39, 65535, 2, 9, 9",
    "40, 2, 3, 0, 1, 20",
    "41, 2, 2, 0, 1",
    "42, 65535, 2, 0, 1",
    "43, 65535, 5, 0, 1, 20, 10, 0",
    "44, 65535, 3, 0, 1, 20",
    "45, 65535, 2, 0, 1",
    "47, 1, 3, 0, 1, 20",
    "48, 1, 2, 0, 1",
    "49, 1, 4, 1, 20, 10, 0",
    "50, 1, 2, 0, 1",
    "51, 65535, 2, 1, 0",
    "54, 65535, 3, 1, 5, 0",
    "55, 65535, 1, 0",  # it has a mutex, by a slot that is none of a mutex
    "55, 65535, 1, 1",
    "56, 65535, 1, 2",
    "56, 65535, 1, 1UL << 40",
    "55, 1, 1, 1",
    # of the kernel
    "1, 65535, 0, 0",
    "2, 1, 1, 255",
    "6, 1, 2, 20, 1",
    "12, 65535, 4, 0, 0, 0, 0",
    "13, 65535, 1, 0",
    "14, 65535, 1, 1UL << 63",
    "15, 65535, 2, 0, 1UL << 62",
    "16, 65535, 1, 2",
    # of no one
    "0, 65535, 0, 0",
    "32, 65535, 0, 0",
    "57, 65535, 0, 0",
    "65535, 65535, 0, 0",
    "34, 9999, 2, 0, 0",
)

LOOP = """int run(void)
{
    while (camkes_next_job()) { camkes_work(CAMKES_US(100)); store_go(); }
    return 0;
}
"""


def forgery(number: int, record: str) -> str:
    """A case of the C code."""
    kind, other, n, arguments = record.split(", ", 3)
    call = f"camkes_host_annotate({kind}, {other}, {n}, a);"
    return f"case {number}: {{ const uint64_t a[] = {{{arguments}}}; {call} }} break;"


CASES = "\n".join(forgery(number, record) for number, record in enumerate(FORGED))
ATTACK = f"#include <stdlib.h>\nstatic void forge(int n)\n{{\nswitch (n) {{\n{CASES}\n}}\n}}\n"

SOURCES = {
    "Good": LOOP,
    "Store": "void p_go(void)\n{\ncamkes_work(CAMKES_US(50));\n}\n",
    "Bad": ATTACK
    + LOOP.replace(
        "store_go();", 'store_go(); if (getenv("FORGED")) { forge(atoi(getenv("FORGED"))); camkes_work(1); }'
    ),
}

FAULT = "writes a record of the trace that is not its own"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("records"), TEXT, SOURCES)


def run(built: Built, number: int | None, *options: str) -> tuple[Event, ...]:
    """What is recorded while one record is forged, None: none."""
    environment = {**os.environ} | ({} if number is None else {"FORGED": str(number)})
    words = (built.image.table.name, "--for", "20000000", "--trace", "forged.trace", *options)
    done = subprocess.run([*RUNNER, str(built.image.kernel), *words], cwd=built.image.folder, env=environment,
                          capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert done.stderr.count(FAULT) == (number is not None), done.stderr
    events = parse_trace((built.image.folder / "forged.trace").read_bytes(), "forged.trace", Sink())
    assert events is not None
    return events


def about_good(events: tuple[Event, ...]) -> list[tuple[int, int]]:
    """Its jobs: when each was released and ended."""
    return [(e.args[1], e.time) for e in events if e.thread == 1 and e.kind is Kind.JOB_END]


@pytest.mark.long
@pytest.mark.parametrize("options", [(), ("--fast",), ("--hardened",)], ids=["default", "fast", "hardened"])
def test_each_is_a_fault_of_the_component_and_not_recorded(built: Built, options: tuple[str, ...]) -> None:
    if RUNNER and options == ("--hardened",):
        pytest.skip("an emulator has no filters")
    names = trace_names(built.model, built.plan, built.system)
    assert [thread.name for thread in names.threads[:2]] == ["bad", "good"]
    usual = run(built, None, *options)
    assert not check_trace(usual, names, built.plan, system=built.system)
    for number, record in enumerate(FORGED):
        events = run(built, number, *options)
        (fault,) = (event for event in events if event.kind is Kind.FAULT)
        assert (fault.thread, fault.args[0]) == (0, FaultKind.RECORD), record
        assert fault.args[1] == int(record.partition(",")[0]), record
        assert len(about_good(events)) == len(about_good(usual)) == 10, record
        assert all(end - release <= 1_000_000 for release, end in about_good(events)), record
        assert not check_trace(events, names, built.plan, system=built.system), record
        until = events.index(fault)
        assert events[:until] == usual[:until], record


@pytest.mark.long
def test_a_flood_of_its_own_records_is_a_loop(tmp_path: Path) -> None:
    """Long before the trace is full."""
    flood = "{ const uint64_t a[] = {0, 0, 10}; for (;;) { camkes_host_annotate(35, 65535, 3, a); } }"
    built = build(tmp_path, TEXT, {**SOURCES, "Bad": f"int run(void)\n{flood}\n"})
    run = built.run("--call-limit", "10000", duration=20_000_000)
    assert "fault: bad: thread bad: loops without consuming virtual time" in run.errors
    assert len(run.of(Kind.CALL_BEGIN, "bad")) <= 10_000
    assert len(about_good(run.events)) == 10


@pytest.mark.skipif(bool(RUNNER), reason="a search with an emulator takes long")
@pytest.mark.parametrize("number", [0, 8, 12, 14, 30])
def test_a_search_finds_the_fault_and_no_violation_of_others(
    built: Built, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGED", str(number))
    found = search(built).violation
    assert found is not None
    assert FAULT in found.explanation
    assert "bad" in found.explanation


@pytest.mark.long
def test_the_line_is_reported(tmp_path: Path) -> None:
    (tmp_path / "system.camkes").write_text(HEAD + TEXT)
    for name, code in SOURCES.items():
        (tmp_path / f"{name.lower()}.c").write_text("#include <camkes.h>\n" + code)
    line = (tmp_path / "bad.c").read_text().splitlines().index(ATTACK.splitlines()[4]) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORGED", "0")
        done = camkes("run", tmp_path / "system.camkes", "-o", tmp_path / "out", "--verify", "--for", "20ms")
    assert done.status == 1
    assert f"error[E0729]: component bad, thread bad: {FAULT}" in done.errors
    assert f"bad.c:{line}:" in done.errors
    assert "help: leave the records" in done.errors
    assert "hold at every event" in done.output
