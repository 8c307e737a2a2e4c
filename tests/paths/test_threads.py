# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Threads of the runtime, and generated functions that components call, have bounds: all of their loops have,
by numbers of the system."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.generate import generate
from camkes.generate.facts import SystemFacts
from camkes.paths.system import BoundedPath, PathKind, SpaceProgram, bound_paths
from camkes.protocols.groups import find_groups
from camkes.resources import HOST_KERNEL, RUNTIME
from tests.paths.programs import needs_gcc
from tests.runtime import test_fast_path as fast_path
from tests.runtime.host import place, plan_of

pytestmark = [pytest.mark.requirement("AN-31"), needs_gcc]

_SYSTEM = """

import <user_scheduler.camkes>;
procedure Put { void put(in int item); }
component Client {
    control; requestor; uses Put box; emits Done done; consumes Back back with helpers, within 1 ms;
    has semaphore free;
}
component Helper { control; requestor; consumes Done done; consumes Done more; emits Back back; }
component Box {
    provides Put put with priority_protocol inherited, monitor m; has condition full with helpers;
}
component Task { control; requestor; maybe uses UserScheduler band; }
assembly {
    composition {
        component Client one;
        component Client two;
        component Helper helper;
        component Box box;
        component Task a;
        component Task b;
        component EDFScheduler edf;
        connection seL4RPCCall c(from one.box, from two.box, to box.put);
        connection seL4NotificationQueue d(from one.done, to helper.done);
        connection seL4NotificationQueue g(from two.done, to helper.more);
        connection seL4Notification e(from helper.back, to one.back, to two.back);
        connection seL4UserScheduler f(from a.band, from b.band, to edf.tasks);
    }
    configuration {
        one._priority = 50; one._period = 10 ms; one._wcet = 1 ms;
        two._priority = 40; two._period = 10 ms; two._wcet = 1 ms;
        helper._priority = 30;
        a._period = 10 ms; a._wcet = 1 ms;
        b._period = 10 ms; b._wcet = 1 ms;
        edf._priority = 20;
    }
}
"""
#: what a program calls that is not here: the platform
_REST = """
#include <camkes.h>
void seL4_Yield(void) {}
void camkes_platform_write(const char *text, size_t length) { (void)text, (void)length; }
void camkes_platform_fault(void) { __builtin_trap(); }
uint64_t camkes_platform_now(void) { return 0; }
void camkes_platform_timer_arm(seL4_CPtr timer, uint64_t first, uint64_t period)
{
    (void)timer, (void)first, (void)period;
}
uint64_t camkes_platform_timer_expirations(seL4_CPtr timer) { return timer; }
void camkes_platform_timer_await(seL4_CPtr timer, seL4_CPtr notification, uint64_t number, uint64_t time)
{
    (void)timer, (void)notification, (void)number, (void)time;
}
seL4_Error camkes_platform_save_caller(const seL4_CPtr *slot) { return (seL4_Error)*slot; }
"""
_SOURCES = {
    "one": "int run(void) { done_emit(); back_wait(); return free_wait() + free_post(); }\n",
    "helper": "int run(void) { done_wait(); back_emit(); return done_poll(); }\n",
    "box": "void put_put(int item) { if (item) { full_wait(); } full_signal(); full_broadcast(); }\n",
    "a": "int run(void) { return camkes_next_job(); }\n",
    "edf": "",
}
_WANTED = {
    "one": {
        *((PathKind.CALL, name) for name in ("done.emit", "back.wait", "free.wait", "free.post")),
        *((PathKind.GROUP, ""), (PathKind.EVENTS, "")),
    },
    "helper": {
        *((PathKind.CALL, name) for name in ("done.wait", "done.poll", "back.emit")),
        *((PathKind.HELPER, ""), (PathKind.EVENTS, "")),
    },
    "box": {
        *((PathKind.CALL, name) for name in ("full.wait", "full.signal", "full.broadcast")),
        (PathKind.MEMBER, ""),
    },
    "a": {(PathKind.JOB, ""), (PathKind.HELPER, "")},
    "edf": {(PathKind.SCHEDULER, "")},
}


class Threads:
    """The system, with programs of its instances."""

    def __init__(self, folder: Path) -> None:
        self.folder, sink = folder, Sink()
        system, plan, model = plan_of(folder, _SYSTEM, sink)
        generate(system, plan, model, folder / "out", sink)
        assert not sink.has_errors
        self.facts = SystemFacts(system, plan, model, sink)

    def space(self, instance: str) -> SpaceProgram:
        folder, source = self.folder / "out" / instance, self.folder / f"{instance}.c"
        source.write_text(_REST + _SOURCES[instance])
        path = self.folder / f"{instance}.elf"
        includes = (folder, fast_path.HERE, RUNTIME / "include", HOST_KERNEL / "include")
        own = [each for part in ("core", "group", "time") for each in (RUNTIME / "src" / part).glob("*.c")]
        sources = (*folder.glob("*.c"), source, *own, RUNTIME / place("self_sel4.c"))
        begin = ("-nostartfiles", "-Wl,-e,camkes_thread_index", "-Wl,-u,camkes_threads", "-Wl,-u,run")
        words = (*fast_path.FLAGS, "-g", *begin, *(f"-I{each}" for each in includes), "-o", path, *sources)
        subprocess.run(["cc", *words], check=True)
        return SpaceProgram(instance, path, (instance,))

    def bounds(self, instance: str) -> dict[tuple[PathKind, str], BoundedPath]:
        sink = Sink()
        found = bound_paths(self.facts, [self.space(instance)], {}, {}, sink).paths
        assert not sink.diagnostics, [(each.message, each.notes, each.span) for each in sink.diagnostics]
        return {(each.of.kind, each.of.name): each for each in found}


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> Threads:
    return Threads(tmp_path_factory.mktemp("threads"))


@pytest.mark.parametrize("instance", _WANTED)
def test_threads_and_calls_have_bounds(instance: str, threads: Threads) -> None:
    found = threads.bounds(instance)
    assert found.keys() >= _WANTED[instance]
    for kind, name in _WANTED[instance]:
        bound = found[kind, name].bound
        assert bound is not None and bound.instructions > 0, (kind, name)


def test_numbers_are_those_of_the_system(threads: Threads) -> None:
    used = threads.bounds("one")[PathKind.GROUP, ""].contracts
    (group,) = find_groups(threads.facts.plan)
    source = RUNTIME / "src" / "group" / "group.c"
    lines = source.read_text().splitlines()
    times = {lines[place.line - 1].strip(): n for place, n in used.items() if place.path == str(source)}
    members = times["for (unsigned i = 0; i < group->members; i++) {"]
    assert members == len(group.parties) > 1
