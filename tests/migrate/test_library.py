# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Applications laid out as the library's own sample is, beside a library that is not there."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from camkes_migrate import application

from camkes import pipeline
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Style, render
from tests.written import write_files

pytestmark = pytest.mark.requirement("LANG-18")

SYSTEM = """\
import <std_connector.camkes>;
import <TimeServer/TimeServer.camkes>;
import <global-connectors.camkes>;
#include "../priority-aware-camkes/priority-protocols.camkes.h"
import "../../../../priority-aware-camkes/priority-connectors.camkes";

procedure Weigh { int weigh(in int grams, in int priority); }

component Belt {
    control;
    uses Timer clock;
    task_priority_attributes()
    attribute int every_ms;
    uses Weigh scale;
}
component Relay {
    provides Weigh w;
    interface_priority_attributes(w)
    uses Weigh onward;
}
component Scale {
    provides Weigh w;
    interface_priority_attributes(w)
}

#define POOL 2

assembly {
    composition {
        component TimeServer time;
        component Belt slow;
        component Belt fast;
        component Relay lock;
        component Relay pass;
        component Scale scale;
        connection rpc(POOL) to_lock(from slow.scale, from fast.scale, to lock.w);
        connection rpc(POOL) to_pass(from lock.onward, to pass.w);
        connection rpc(1) to_scale(from pass.onward, to scale.w);
        connection seL4TimeServer ticks(from slow.clock, from fast.clock, to time.the_timer);
    }
    configuration {
        time.timers_per_client = 1;
        slow._priority = 10;
        slow.every_ms = 500;
        fast._priority = 30;
        fast.every_ms = 200;
        lock.w_priority = 31;
        lock.w_num_threads = POOL;
        lock.w_priority_protocol = "inherited";
        pass.w_priority = 30;
        pass.w_num_threads = POOL;
        pass.w_priority_protocol = "propagated";
        scale.w_priority = 30;
        scale.w_num_threads = 1;
        scale.w_priority_protocol = "fixed";
    }
}
"""

BELT = """\
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    seL4_Word badge;
    clock_periodic(0, (uint64_t)every_ms * NS_IN_MS);
    for (;;) {
        printf("%s weighs %d\\n", get_instance_name(), scale_weigh(7, _priority));
        seL4_Wait(clock_notification(), &badge);
    }
}
"""

FILES = {
    "scales.camkes": SYSTEM,
    "belt.c": BELT,
    "relay.c": """\
#include <camkes.h>

void w_init(void) {}

int w_weigh(const int grams, const int priority) {
    return onward_weigh(grams + 1, priority);
}
""",
    "scale.c": """\
#include <camkes.h>

void w_init(void) {}

int w_weigh(int grams, const int priority) { return 2 * grams; }
""",
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.7.2)
project(scales C)
includeGlobalComponents()
DeclareCAmkESComponent (Belt SOURCES belt.c)
DeclareCAmkESComponent (Relay SOURCES
    relay.c
    ../priority-aware-camkes/priority-protocols/priority-protocols.c
    ../priority-aware-camkes/priority-protocols/priority-inheritance.c
)
DeclareCAmkESComponent (Scale SOURCES
    scale.c
    ../priority-aware-camkes/priority-protocols/priority-protocols.c
)
CAmkESAddTemplatesPath("../priority-aware-camkes")
foreach(pool RANGE 1 9)
    DeclareCAmkESConnector(seL4RPCCallPrioritized${pool} TO seL4RPCCallPrioritized-to.template.c
                           FROM seL4RPCCall-from.template.c)
endforeach()
DeclareCAmkESRootserver(scales.camkes)
""",
}

SAMPLE = os.environ.get("CAMKES_LIBRARY_SAMPLE", "")


def check(folder: Path) -> tuple[pipeline.Checked, list[str]]:
    sink = Sink()
    checked = pipeline.check(pipeline.Input(folder), sink)
    assert checked is not None, render(sink.diagnostics, Style(base=folder))
    return checked, [d.code.number for d in sink.diagnostics]


def protocols(checked: pipeline.Checked) -> object:
    return (
        [(t.name, t.priority) for t in checked.plan.tasks],
        [(c.name, c.protocol, c.threads, c.tasks, c.requests) for c in checked.plan.cpis],
    )


def run(folder: Path, out: Path, capfd: pytest.CaptureFixture[str]) -> list[str]:
    sink = Sink()
    outcome = pipeline.run(
        pipeline.Input(folder), pipeline.RunSettings(output=out, verify=True), sink, lambda _: None
    )
    assert outcome is not None, render(sink.diagnostics, Style(base=folder))
    assert not outcome.failed
    return capfd.readouterr().out.splitlines()


@pytest.mark.long
def test_an_application_of_the_library_is_accepted_unchanged(tmp_path: Path) -> None:
    checked, said = check(write_files(tmp_path, FILES))
    assert said == ["W0709", "W0709", "W0716"], "only what the library has is missed"
    assert [(c.name, c.protocol.value, c.ceiling, c.threads) for c in checked.plan.cpis] == [
        ("lock.w", "inherited", 31, 2),
        ("pass.w", "propagated", 30, 2),
        ("scale.w", "fixed", 30, 1),
    ]


@pytest.mark.long
def test_a_build_names_missing_files(tmp_path: Path) -> None:
    sink = Sink()
    request = pipeline.Input(write_files(tmp_path, FILES))
    assert pipeline.build(request, tmp_path / "out", sink, lambda _: None) is None
    assert [d.code.number for d in sink.diagnostics].count("E0708") == 2


@pytest.mark.long
def test_migrated_it_runs_untouched(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = write_files(tmp_path / "app", FILES)
    before, _ = check(folder)
    sink = Sink()
    application.write(application.migrate(folder, sink))
    assert [d.span.file.path.name for d in sink.diagnostics if d.span] == ["scales.camkes", "CMakeLists.txt"]
    after, said = check(folder)
    assert not said
    assert protocols(after) == protocols(before)
    lines = run(folder, tmp_path / "out", capfd)
    # a second, with releases at its begin
    assert Counter(lines) == {"fast weighs 18": 5, "slow weighs 18": 2}


@pytest.mark.long
def test_other_components_of_a_workspace_are_kept(tmp_path: Path) -> None:
    system = f"import <SerialServer/SerialServer.camkes>;\n{SYSTEM}"
    folder = write_files(tmp_path, {**FILES, "scales.camkes": system})
    application.write(application.migrate(folder, Sink()))
    assert "includeGlobalComponents()" in (folder / "CMakeLists.txt").read_text()


def test_the_library_itself_comes_first_where_it_is(tmp_path: Path) -> None:
    library = tmp_path / "priority-aware-camkes"
    library.mkdir()
    (library / "priority-protocols.camkes.h").write_text("#error from the library itself\n")
    sink = Sink()
    assert pipeline.check(pipeline.Input(write_files(tmp_path / "app", FILES)), sink) is None
    assert "from the library itself" in render(sink.diagnostics, Style(base=tmp_path))


@pytest.mark.skipif(not SAMPLE, reason="CAMKES_LIBRARY_SAMPLE names no folder")
def test_the_sample_of_the_library(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Its four tasks print a power each at every release, the task of the highest priority first."""
    folder = tmp_path / "sample"
    shutil.copytree(SAMPLE, folder)
    before, said = check(folder)
    assert set(said) <= {"W0709", "W0716"}
    application.write(application.migrate(folder, Sink()))
    after, said = check(folder)
    assert not said
    assert protocols(after) == protocols(before)
    assert application.migrate(folder, Sink()) == ()
    lines = run(folder, tmp_path / "out", capfd)
    tasks = [line.split(":")[0] for line in lines]
    assert tasks[:4] == ["Task t4", "Task t2", "Task t3", "Task t1"]
    assert lines[4] == "Task t4: 40^1=40"
    assert Counter(tasks) == {"Task t4": 10, "Task t2": 5, "Task t3": 2, "Task t1": 1}
