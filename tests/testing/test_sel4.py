# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes test --kernel sel4`: what is built, and what a recorded run comes to. Where SEL4_WORKSPACE names a
workspace, tests of a new project are built and booted there."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.host.folder import FolderInUseError, locked
from camkes.backends.sel4 import recording, workspace
from camkes.backends.sel4.build import RECORDS
from camkes.backends.sel4.complete import complete
from camkes.backends.sel4.devices import Machine, device_of
from camkes.backends.sel4.recorded_system import recorded_system, system_path, system_to_json
from camkes.backends.sel4.trace import Record
from camkes.capdl.model import Role
from camkes.diagnostics import Sink
from camkes.files import write_changed
from camkes.model.limits import NO_NUMBER
from camkes.running.kinds import Kind
from camkes.running.names import save_names, trace_names
from tests.backends.sel4.platforms import PLATFORMS
from tests.backends.sel4.test_trace import line, text
from tests.command import Result, camkes
from tests.written import write_files

pytestmark = pytest.mark.requirement("TOOL-16")

MILLISECOND = 1_000_000


class StandIn:
    """In the place of CMake and QEMU. `printed` is what the image prints: (time in ms, instance, line), or in
    place of a line the value that its run() returned."""

    def __init__(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.project = project
        self.declared = ""
        self.settings: Mapping[str, str] = {}
        self.printed: list[tuple[int, str, str | int]] = []
        monkeypatch.setattr(workspace, "_make_locked", self.make)
        monkeypatch.setattr(recording, "console", self.console)

    def make(self, home: Path, project: Path, out: Path, settings: Mapping[str, str], *_: object) -> bool:
        assert project == self.project
        self.settings, self.declared = settings, Path(settings["CAMKES_TEST"]).read_text()
        sink = Sink()
        checked = pipeline.check(pipeline.Input(project / "tests" / "average.camkes"), sink)
        assert checked is not None, sink.diagnostics
        model = pipeline.capabilities(checked, sink)
        names = trace_names(model, checked.plan, checked.system)
        completed = complete(model, device_of(Machine("x86_64")))
        recorded = recorded_system(completed, model, names, checked.system)
        save_names(out / RECORDS, recorded.names(names), sink)
        write_changed(system_path(out / RECORDS), system_to_json(recorded))
        self.threads = {t.instance: t.number for t in names.threads if t.role is Role.CONTROL}
        return True

    def console(self, out: Path, **_: object) -> Generator[str, None, None]:
        with pytest.raises(FolderInUseError), locked(out, lambda _: None, 0):
            pass  # another command would build another test there, while this one runs
        for milliseconds, instance, what in self.printed:
            time, thread = milliseconds * MILLISECOND, self.threads.get(instance, NO_NUMBER)
            if isinstance(what, int):
                yield line(Record(time, Kind.EXIT, thread, NO_NUMBER, (what % (1 << 64),)))
                continue
            for part in range(0, len(what) + 1, 30):
                whole = f"{what}\n"[part : part + 30]
                yield line(text(thread, whole)._replace(time=time)) if whole else ""
        yield from [""] * 100


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    assert camkes("new", tmp_path / "pump").status == 0
    for mark in (
        "kernel/CMakeLists.txt",
        "tools/seL4/cmake-tool",
        "tools/camkes-tool",
        "projects/camkes-tool",
    ):
        (tmp_path / "workspace" / mark).mkdir(parents=True)
    monkeypatch.setenv("SEL4_WORKSPACE", str(tmp_path / "workspace"))
    (tmp_path / "pump" / "tests" / "average.output").unlink()
    return StandIn(tmp_path / "pump", monkeypatch)


def run(project: Path, *words: str) -> Result:
    return camkes("test", project, "--kernel", "sel4", *words, cwd=project.parent)


@pytest.mark.long
def test_a_test_is_declared_in_the_place_of_the_system(image: StandIn) -> None:
    image.printed = [(45, "average", "hello"), (46, "average", 0)]
    done = run(image.project, "--verbose", "-DPLATFORM=qemu-arm-virt")
    # an image would record more, from which switches are found
    assert (done.status, re.findall(r"\[(\w\d+)\]", done.errors)) == (0, ["W0967"])
    assert "ok   average (46 ms)" in done.output and "  hello" in done.output
    component, system = image.declared.splitlines()
    tests, mocks = image.project / "tests", image.project.parent / "build/tests/pump/average/mocks/Average"
    assert component.startswith(
        f"DeclareCAmkESComponent(Average SOURCES [==[{tests}/average.c]==] [==[{mocks}/mocks.c]==] INCLUDES "
    )
    assert f"[==[{mocks}]==]" in component
    assert system == f"_DeclareCAmkESRootserver([==[{tests}/average.camkes]==])"
    assert image.settings["PLATFORM"] == "qemu-arm-virt" and image.settings["CAmkESTrace"] == "ON"


@pytest.mark.long
def test_failures_are_those_of_the_host_kernel(image: StandIn) -> None:
    code = image.project / "tests" / "average.c"
    image.printed = [
        (0, "average", f"camkes-test\tcase\t{code}\t12\tfirst"),
        (1, "average", f"camkes-test\tfailed\t{code}\t17\texpected 1 == 2: it is 1, not 2"),
        (2, "", "FAULT HANDLER: controller: thread controller: invalid memory access at 0x0, pc 0x401000"),
        (3, "average", 3),
    ]
    done = run(image.project)
    assert done.status == 1
    for part in ("E0761", "in case first", "invalid memory access", "at 2 ms of the run", "returned 3"):
        assert part in done.errors, part
    assert "1 test: 0 passed, 1 failed" in done.output


@pytest.mark.long
def test_a_fault_can_be_expected(image: StandIn) -> None:
    code = image.project / "tests" / "average.c"
    image.printed = [
        (1, "average", f"camkes-test\tfault\t{code}\t12\tcontroller"),
        (1, "average", f"camkes-test\tblocked\t{code}\t12\tcontroller"),
        (2, "", "FAULT HANDLER: controller: thread controller: fault of kind 7"),
        (3, "average", 0),
    ]
    assert run(image.project).status == 0


@pytest.mark.long
def test_a_component_that_does_not_return_fails_its_test(image: StandIn) -> None:
    image.printed = [(1, "average", "hello"), (2, "controller", 0)]
    done = run(image.project)
    assert done.status == 1 and "E0762" in done.errors


@pytest.mark.parametrize("declared", [True, False])
def test_a_source_that_is_missing_is_not_an_error_of_the_linker(image: StandIn, declared: bool) -> None:
    (image.project / "components" / "controller.c").unlink()
    if not declared:
        (image.project / "CMakeLists.txt").unlink()
    done = run(image.project)
    assert (done.status, image.declared) == (1, "")
    assert re.findall(r"error\[(\w+)\]", done.errors) == ["E0708" if declared else "E0721"]
    assert "controller" in done.errors.lower()


def test_what_only_the_host_kernel_can_do_is_refused(image: StandIn) -> None:
    done = run(image.project, "--sanitize")
    assert (done.status, done.errors) == (2, "camkes test: --sanitize is for the host kernel\n")


@pytest.mark.skipif(
    "SEL4_WORKSPACE" not in os.environ or shutil.which("qemu-system-x86_64") is None,
    reason="SEL4_WORKSPACE names no workspace, or there is no QEMU",
)
def test_the_test_of_a_new_project_passes_on_sel4(tmp_path: Path) -> None:
    assert camkes("new", tmp_path / "pump").status == 0
    done = camkes("test", "pump", "--kernel", "sel4", cwd=tmp_path)
    assert (done.status, done.errors) == (0, ""), done.output
    assert "1 test: 1 passed, 0 failed" in done.output


#: sensors of a test, each with a controller: what it does at its third reading
SENSORS = {
    "Crashes": ".fails = CAMKES_MOCK_CRASHES",
    "Silent": ".fails = CAMKES_MOCK_NEVER_ANSWERS",
    "Late": ".result = 60, .work = CAMKES_MS(3)",
}
FAULTY = (
    """
import <std_connector.camkes>;
import "../components/components.camkes";
component Watch { control; }
"""
    + "".join(
        f"component {name} {{ provides Reading reading with priority_protocol inherited, requests (); }}\n"
        for name in (*SENSORS, "Aborts", "Exits")
    )
    + "assembly { composition { component Watch watch;\n"
    + "".join(
        f"component {name} s_{name}; component Controller c_{name}; "
        f"connection seL4RPCCall k_{name}(from c_{name}.sensor, to s_{name}.reading);\n"
        for name in (*SENSORS, "Aborts", "Exits")
    )
    + "} configuration { watch._priority = 1;\n"
    + "".join(
        f"c_{name}._priority = {100 + number}; c_{name}._period = 20 ms;\n"
        for number, name in enumerate((*SENSORS, "Aborts", "Exits"))
    )
    + "} }\n"
)
MOCK = """#include <mocks.h>
void pre_init(void)
{{
    mock_reading_read_answer(.result = 10, .times = 2);
    mock_reading_read_answer({});
    mock_reading_read_usually(.result = 20);
}}
"""
ENDS = """#include <camkes.h>
#include <stdlib.h>
int reading_read(int channel)
{{
    static int calls;
    if (++calls == 3) {{
        {};
    }}
    return channel;
}}
"""
WATCH = """#include <camkes.h>
#include <camkes/test.h>
int run(void)
{
    camkes_expect_fault("s_Aborts");
    camkes_expect_fault("s_Exits");
    camkes_expect_missed("c_Crashes");
    camkes_expect_missed("c_Silent");
    camkes_expect_missed("c_Aborts");
    camkes_expect_missed("c_Exits");
    camkes_expect_response("c_Late", CAMKES_MS(15));
    camkes_work(CAMKES_MS(60));
    return 0;
}
"""


def faulty(folder: Path) -> Path:
    """A project with one test, in which sensors stop, or are late, while others go on."""
    assert camkes("new", folder).status == 0
    for file in (folder / "tests").iterdir():
        file.unlink()
    ends = {"Aborts": ENDS.format("abort()"), "Exits": ENDS.format("exit(1)")}
    mocks = {name: MOCK.format(answer) for name, answer in SENSORS.items()}
    files = {f"{name}.c": text for name, text in {**mocks, **ends, "Watch": WATCH}.items()}
    write_files(folder / "tests", files | {"faulty.camkes": FAULTY, "faulty.toml": 'for = "150ms"\n'})
    return folder


@pytest.mark.long
def test_sensors_that_stop_stop_no_other(tmp_path: Path) -> None:
    faulty(tmp_path / "pump")
    done = camkes("test", "pump", cwd=tmp_path)
    assert (done.status, done.errors) == (0, ""), done.output


@pytest.mark.skipif("SEL4_WORKSPACE" not in os.environ, reason="SEL4_WORKSPACE names no workspace")
@pytest.mark.parametrize("platform", ["x86_64", "qemu-arm-virt", "qemu-riscv-virt"])
def test_sensors_that_stop_stop_no_other_on_sel4(platform: str, tmp_path: Path) -> None:
    """abort(), with which exit() ends there, is a fault of the component, as on the host kernel."""
    program, machine = PLATFORMS[platform]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    faulty(tmp_path / "pump")
    settings = [f"-D{name}={value}" for name, value in machine.items()]
    done = camkes("test", "pump", "--kernel", "sel4", *settings, cwd=tmp_path)
    assert (done.status, done.errors) == (0, ""), done.output
