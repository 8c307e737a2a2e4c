# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""MCS kernels: scheduling contexts, reply objects, passive interfaces.

The last test needs a workspace and QEMU: SEL4_WORKSPACE=DIR. SEL4_BUILDS=DIR keeps its build.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.sel4.complete import complete
from camkes.backends.sel4.devices import Machine, device_of
from camkes.backends.sel4.link import Unlinked
from camkes.backends.sel4.spec import unlinked
from camkes.backends.sel4.workspace import console, make
from camkes.capdl.allocate import allocate
from camkes.capdl.mcs import TimePlanner
from camkes.capdl.specification import FAULT_ENDPOINT, SCHEDULING_CONTEXT, SpecCap, SpecObject
from camkes.capdl.text import declared
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import render
from camkes.protocols import analyse
from camkes.resolve import LoadOptions, load
from tests.backends.sel4.platforms import MCS_PLATFORMS, PLATFORMS
from tests.written import write_files

pytestmark = pytest.mark.requirement("SEL4-5")

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")

SYSTEM = """\
import <std_connector.camkes>;
procedure Echo { int echo(in int x); }
component Client { control; uses Echo own; uses Echo first; uses Echo second; emits Tick tick; }
component Server {
    has semaphore order;
    provides Echo own; provides Echo first; provides Echo second; uses Echo next; consumes Tick tick;
}
component Leaf { provides Echo e; }
component Worker { control; requestor; uses Echo e; }
assembly {
    composition {
        component Client client;
        component Server server;
        component Leaf leaf;
        component Worker worker;
        connection seL4RPCCall a(from client.own, to server.own);
        connection seL4RPCCall b(from client.first, to server.first);
        connection seL4RPCCall c(from client.second, to server.second);
        connection seL4RPCCall d(from server.next, from worker.e, to leaf.e);
        connection seL4Notification t(from client.tick, to server.tick);
    }
    configuration {
        client._priority = 50;  client._period = 5 ms;  client._budget = 2 ms;
        server.own_priority = 60;  server.own_period = 20000;
        server.first_priority = 60;  server.first_passive = true;
        server.second_priority = 50;  server.second_passive = true;
        server.tick_period = 4 ms;  server.tick_data = 7;  server.tick_size_bits = 9;
        server.faultperiod = 8000;
        leaf.e_passive = 1;
        worker._priority = 30;  worker._period = 50 ms;
    }
}
"""

SERVER = """\
#include <camkes.h>
#include <stdio.h>

void pre_init(void) { printf("server: pre\\n"); }
void own__init(void) { order_wait(); printf("server: own\\n"); order_post(); }
void first__init(void) { order_wait(); printf("server: first\\n"); order_post(); }
void second__init(void) { order_wait(); printf("server: second\\n"); order_post(); }
void post_init(void) { printf("server: post\\n"); }
int own_echo(int x) { return x; }
int first_echo(int x) { return next_echo(x) + 1; }
int second_echo(int x) { return next_echo(x) + 2; }
"""

FILES = {
    "Client.c": """\
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    for (int i = 0; i < 1000; i++) {
        if (first_echo(i) != 2 * i + 1 || second_echo(i) != 2 * i + 2 || own_echo(i) != i) {
            printf("client: wrong\\n");
        }
        tick_emit();
    }
    printf("client: %d %d %d\\n", own_echo(5), first_echo(5), second_echo(5));
    return 0;
}
""",
    "Server.c": SERVER,
    "Leaf.c": "#include <camkes.h>\nint e_echo(int x) { return 2 * x; }\n",
    "Worker.c": """\
#include <camkes.h>
#include <camkes/realtime.h>
#include <stdio.h>

int run(void)
{
    for (int i = 0; camkes_next_job() && i < 3; i++) {
        printf("worker: %d\\n", e_echo(i));
    }
    return 0;
}
""",
    "CMakeLists.txt": "project(passive C)\n"
    + "".join(f"DeclareCAmkESComponent({n} SOURCES {n}.c)\n" for n in ("Client", "Server", "Leaf", "Worker"))
    + "DeclareCAmkESRootserver(passive.camkes)\n",
}


def specification(folder: Path, *, mcs: bool = True) -> Unlinked:
    path = folder / "passive.camkes"
    path.write_text(SYSTEM)
    sink = Sink()
    system = load(path, LoadOptions(mcs=mcs), sink)
    assert system is not None, render(sink.diagnostics)
    plan = analyse(system, sink)
    assert plan is not None
    time = TimePlanner(system, sink) if mcs else None
    completed = complete(allocate(system, plan, sink), device_of(Machine("x86_64")), time=time)
    assert not sink.has_errors, render(sink.diagnostics)
    return unlinked(completed, "x86_64")


def contexts(spec: Unlinked) -> dict[str, str]:
    """What the scheduling context of a thread grants."""
    granted = {item.name: declared(item).partition(" = sc ")[2] for item in spec.objects if item.type == "sc"}
    found = {}
    for space in spec.spaces:
        for thread in space.threads:
            slots = [cap.object for cap in thread.caps if cap.slot == SCHEDULING_CONTEXT]
            assert len(slots) <= 1
            found[thread.name] = granted[slots[0]] if slots else ""
    return found


def test_scheduling_contexts_of_threads(tmp_path: Path) -> None:
    found = contexts(specification(tmp_path))
    usual = "(period: 10000, budget: 10000, data: 0, 8 bits)"
    assert found["client"] == "(period: 5000, budget: 2000, data: 0, 8 bits)"
    assert found["server"] == found["leaf"] == usual
    assert found["server.own"] == "(period: 20000, budget: 10000, data: 0, 8 bits)"
    assert found["server.tick"] == "(period: 4000, budget: 4000, data: 7, 9 bits)"
    assert found["server-fault-handler"] == "(period: 8000, budget: 8000, data: 0, 8 bits)"
    assert found["worker"] == "(period: 50000, budget: 50000, data: 0, 8 bits)", "a task may use its period"
    assert found["timer-driver"] == usual


def test_passive_threads_have_none(tmp_path: Path) -> None:
    found = contexts(specification(tmp_path))
    assert {name for name, context in found.items() if not context} == {
        "server.first",
        "server.second",
        "leaf.e",
    }


def test_a_context_to_borrow_for_each_instance_with_passive_threads(tmp_path: Path) -> None:
    spec = specification(tmp_path)
    kept = {item.name for item in spec.objects if item.type == "sc" and "-passive-sc" in item.name}
    assert kept == {"server-passive-sc", "leaf-passive-sc"}
    rights_of = {"sc": "", "done": "RW", "gate": "RWP"}
    for name in ("server", "leaf"):
        caps = {(cap.object, cap.rights) for cap in spec.caps[f"{name}-cnode"]}
        assert {(f"{name}-passive-{part}", rights) for part, rights in rights_of.items()} <= caps
    assert not any("-passive-" in cap.object for cap in spec.caps["client-cnode"])


def test_every_thread_has_a_reply_object_and_its_faults_arrive(tmp_path: Path) -> None:
    spec = specification(tmp_path)
    for space in spec.spaces:
        caps = spec.caps[f"{space.name}-cnode"]
        slots = [cap.slot for cap in caps]
        assert len(slots) == len(set(slots))
        for number, thread in enumerate(space.threads):
            if not thread.name.endswith("-fault-handler"):  # it answers no Call
                assert SpecObject(f"{thread.name}-reply", "rtreply") in spec.objects
                assert any(cap.object == f"{thread.name}-reply" for cap in caps)
            assert thread.state.fault_slot == 0
            if space.name != "timer-driver" and not thread.name.endswith("-fault-handler"):
                fault = SpecCap(FAULT_ENDPOINT, f"{space.name}-faults", "WP", number + 1)
                assert fault in thread.caps


def test_other_kernels_have_none_of_it(tmp_path: Path) -> None:
    spec = specification(tmp_path, mcs=False)
    assert not {"sc", "rtreply"} & {item.type for item in spec.objects}
    slots = {cap.slot for space in spec.spaces for thread in space.threads for cap in thread.caps}
    assert not {SCHEDULING_CONTEXT, FAULT_ENDPOINT} & slots


def test_capabilities_of_the_system_keep_their_slots(tmp_path: Path) -> None:
    with_time, without = (specification(tmp_path, mcs=mcs) for mcs in (True, False))
    for container, caps in without.caps.items():
        # what seL4 needs besides follows
        kept = {cap for cap in caps if not cap.object.endswith("-faults") and cap.guard is None}
        if container != "timer-driver-cnode":
            assert kept <= set(with_time.caps[container])


def mistakes(folder: Path, text: str) -> list[tuple[str, str, str]]:
    """Code, message and line of what an MCS kernel cannot have of a system that others can."""
    path = folder / "passive.camkes"
    path.write_text(text)
    sink = Sink()
    system = load(path, LoadOptions(mcs=True), sink)
    assert system is not None, render(sink.diagnostics)
    plan = analyse(system, sink)
    assert plan is not None and not sink.has_errors
    allocate(system, plan, sink)
    errors = [d for d in sink.diagnostics if d.code.number[0] == "E" and d.span is not None]
    return [(d.code.number, d.message, d.span.file.lines[d.span.line - 1]) for d in errors if d.span]


def test_passive_needs_callers_that_lend_time(tmp_path: Path) -> None:
    text = "connector Own { from Procedures with 0 threads; to Procedure with 1 thread; }\n" + SYSTEM
    text = text.replace("connection seL4RPCCall a(", "connection Own a(")
    text = text.replace("server.own_period = 20000;", "server.own_passive = true;")
    ((number, message, line),) = mistakes(tmp_path, text)
    assert (number, message) == ("E0961", "`server.own` is served through Own, so it cannot be passive")
    assert "own_passive = true" in line


def test_less_time_than_the_kernel_needs_itself(tmp_path: Path) -> None:
    found = mistakes(tmp_path, SYSTEM.replace("worker._period = 50 ms", "worker._period = 19"))
    assert found[0][:2] == ("E0962", "thread `worker` has 19 us in each period of 19 us")
    assert "worker._period = 19" in found[0][2]


def application(folder: Path) -> Path:
    return write_files(folder, {**FILES, "passive.camkes": SYSTEM})


@pytest.mark.long
def test_on_the_host_kernel_passive_has_no_effect(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sink = Sink()
    options = pipeline.RunSettings(output=tmp_path / "out")
    request = pipeline.Input(application(tmp_path / "app"))
    assert pipeline.run(request, options, sink, lambda _: None) is not None, render(sink.diagnostics)
    assert "client: 5 11 12" in capfd.readouterr().out


@pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace")
@pytest.mark.parametrize("platform", MCS_PLATFORMS)
def test_passive_interfaces_serve_on_their_callers_time(platform: str, tmp_path: Path) -> None:
    program, machine = PLATFORMS[platform]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    builds = Path(os.environ.get("SEL4_BUILDS") or tmp_path)
    path = application(builds / "applications" / "passive")
    folder, sink = builds / f"{platform}-mcs-passive", Sink()
    settings = {**machine, "KernelIsMCS": "ON"}
    assert make(Path(WORKSPACE), path, folder, settings, sink, lambda *_: None), sink.diagnostics
    lines: list[str] = []
    run = console(folder, seconds=60)
    for line in run:
        lines.append(line.strip())
        if {"client: 5 11 12", "worker: 4"} <= set(lines):
            break
    run.close()
    said = [line for line in lines if line.startswith(("server:", "client:", "worker:"))]
    assert "client: 5 11 12" in said and "worker: 4" in said, lines[-20:]
    assert "client: wrong" not in said
    started = [line for line in said if line.startswith("server:")]
    assert started[0] == "server: pre" and started[-1] == "server: post"
    assert set(started[1:-1]) == {"server: own", "server: first", "server: second"}
