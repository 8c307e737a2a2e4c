# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A run on seL4 that is recorded, with what an image would print in the place of QEMU."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.host.addresses import CodeLine
from camkes.backends.sel4 import recording
from camkes.backends.sel4.trace import Record
from camkes.backends.sel4.workspace import console
from camkes.cli.arguments import input_of
from camkes.cli.commands.runs import HOST_ONLY, wrong_for_sel4
from camkes.cli.table import make_parser
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering.text import Style, to_text
from camkes.project.application import KERNEL_IS_MCS
from camkes.resources import RUNTIME
from camkes.running.comparison import compare, load_recorded
from camkes.running.jobs import response_times
from camkes.running.kinds import EndReason, Kind
from camkes.running.model import Run, State
from camkes.running.names import TraceNames
from camkes.running.times import slots_between
from tests.backends.sel4.platforms import PLATFORMS
from tests.backends.sel4.recorded import needs_workspace
from tests.backends.sel4.test_trace import line, text
from tests.command import camkes
from tests.end_to_end.support import EXAMPLES
from tests.runtime.host import HEAD
from tests.written import write_files

pytestmark = pytest.mark.requirement("SEL4-15")

IDLE = Record(10_000_000, Kind.IDLE, 65535, 65535, ())


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the image prints, to be filled; after it, the image is asked in vain."""
    lines: list[str] = []

    def fake(out: Path, *, instruction_counting: bool, tick: float) -> Generator[str, None, None]:
        assert instruction_counting
        yield from lines
        raise KeyboardInterrupt

    monkeypatch.setattr(recording, "console", fake)
    return lines


def test_a_recording_ends_when_its_time_is_over(printed: list[str], tmp_path: Path) -> None:
    printed += ["Booting all finished\n", line(text(1, "one\ntwo")), line(IDLE), line(text(1, "late\n"))]
    told: list[str] = []
    records = recording.record(tmp_path, 9_000_000, told.append, Sink())
    assert "".join(told) == "Booting all finished\none\ntwo\n"
    assert records == [text(1, "one\ntwo"), Record(9_000_000, Kind.END, 65535, 65535, (EndReason.TIME,))]


def test_an_interrupted_recording_keeps_its_records(printed: list[str], tmp_path: Path) -> None:
    printed += [line(IDLE)]
    assert recording.record(tmp_path, 1 << 40, lambda _: None, Sink()) == [IDLE]


def test_a_fault_that_the_runtime_raises_is_where_the_user_called_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on the host kernel; the line that the runtime printed says why."""
    runtime = RUNTIME / "src" / "platform" / "sel4" / "platform_sel4.c"
    raised = CodeLine(runtime, 97, "camkes_platform_fault"), CodeLine(runtime, 112, "__assert_fail")
    user = CodeLine(tmp_path / "Task.c", 6, "check")
    generated = CodeLine(tmp_path / "build" / "glue.c", 52, "camkes__jobs")
    monkeypatch.setattr(recording, "places", lambda *_: (*raised, user, generated))
    printed = text(0, "FAULT HANDLER: a: thread a: x\n")
    (found,) = recording._faults([printed], TraceNames(), tmp_path / "build")
    assert found.calls == (user,) and found.deliberate


def test_a_recording_ends_where_records_are_lost(printed: list[str], tmp_path: Path) -> None:
    printed += [line(IDLE), "~ lost\n", line(IDLE._replace(time=11_000_000))]
    sink = Sink()
    assert recording.record(tmp_path, 1 << 40, lambda _: None, sink) == [IDLE]
    (told,) = sink.diagnostics
    assert told.code.number == "E0803"
    assert told.message == "the image made more records than it could print; those after 10 ms were skipped"


@pytest.mark.parametrize(
    ("lines", "records", "reached"),
    [
        ([], [], "there are no records"),
        ([line(IDLE)], [IDLE], "its last record is of 10 ms"),
        (["a fault, again and again\n"] * 500, [], "there are no records"),
    ],
    ids=["nothing", "one record", "no records"],
)
def test_an_image_that_makes_no_records_is_ended(
    lines: list[str], records: list[Record], reached: str, printed: list[str], tmp_path: Path
) -> None:
    printed += [*lines, *[""] * 500]
    seconds = iter(range(10_000))
    sink = Sink()
    found = recording.record(tmp_path, 1 << 40, lambda _: None, sink, lambda: next(seconds))
    assert found == records
    (told,) = sink.diagnostics
    assert (told.code.number, told.notes) == ("W0964", (reached,))
    if not lines:
        assert to_text([told], Style()) == (Path(__file__).parent / "golden" / "silent_image.txt").read_text()


@pytest.mark.parametrize("ending", ["", "\\n"], ids=["cut off", "whole"])
def test_lines_are_passed_on_at_once_and_silence_is_detected(ending: str, tmp_path: Path) -> None:
    """With another program in the place of QEMU."""
    (tmp_path / "simulate").write_text(
        "import sys\n"
        "sys.stdout.buffer.write(b'one\\r\\ntwo \\xff\\nthr')\n"
        "sys.stdout.flush()\n"
        f"sys.stdout.write('ee{ending}')\n"
        "sys.stdout.flush()\n"
    )
    lines = [text for text in console(tmp_path, tick=0.01) if text]
    assert lines == ["one\n", "two \ufffd\n", "three" + ("\n" if ending else "")]
    (tmp_path / "simulate").write_text("import time\ntime.sleep(1000)\n")
    run = console(tmp_path, tick=0.01)
    assert [next(run), next(run)] == ["", ""]
    run.close()


def test_options_without_a_meaning_on_sel4_are_refused(tmp_path: Path) -> None:
    done = camkes("run", EXAMPLES / "adder", "--kernel", "sel4", "--coverage", tmp_path, "-I", tmp_path)
    assert done.status == 2
    assert done.errors.splitlines() == [
        "camkes run: --coverage is for the host kernel",
        "camkes run: --import-path is for the host kernel; for seL4: CAmkESAddImportPath() in CMakeLists.txt",
    ]


def test_without_options_none_is_refused() -> None:
    for command in ("run", "build"):
        given = make_parser().parse_args([command, "x", "--kernel", "sel4"])
        assert not wrong_for_sel4(given)
    given = make_parser().parse_args(["build", "x", "--kernel", "sel4", "--nocpp"])
    assert wrong_for_sel4(given)


@pytest.mark.parametrize(("option", "release"), [("--debug", "OFF"), ("--release", "ON")])
def test_a_build_type_is_an_image_with_or_without_debugging(option: str, release: str) -> None:
    for command in ("build", "run"):
        parsed = make_parser().parse_args([command, "x", option, "--kernel", "sel4"])
        assert input_of(parsed).definitions == (("RELEASE", release),)
        parsed = make_parser().parse_args([command, "x", option])
        assert [name for name, _ in input_of(parsed).definitions] == ["CMAKE_BUILD_TYPE"]


def test_every_option_of_run_has_a_meaning_on_sel4_or_is_refused() -> None:
    given = make_parser().parse_args(["run", "x"])
    assert isinstance(given, argparse.Namespace)
    meaningful = {"path", "definitions", "format", "color", "ascii", "quiet", "kernel", "output", "workspace"}
    meaningful |= {"command", "run_command", "has_results", "duration", "trace", "json", "console", "parser"}
    meaningful |= {"build_type", "strict", "sdk", "deny", "timeline", "window", "profile", "verify"}
    assert not wrong_for_sel4(given)
    assert set(vars(given)) == meaningful | set(HOST_ONLY)


MS = 1_000_000

#: two tasks with slots of their own, in a third of the time each; the driver of timers is in domain 0
DOMAINS = """\
component Worker { control; requestor; attribute int us; }
assembly {
    composition { component Worker p; component Worker q; component Worker z; }
    configuration {
        p._priority = 10; p._period = 24 ms; p._domain = 1; p.us = 7000;
        q._priority = 20; q._period = 24 ms; q._domain = 2; q.us = 5000;
        z._priority = 30; z._period = 24 ms; z._domain = 0; z.us = 500;
    }
    schedule { [(0, 4 ms), (1, 4 ms), (2, 4 ms)] }
}
"""

#: a task that has used up its budget before and in its request; those of the other wait for that
BUDGETS = """\
procedure Store { void put(); }
component Worker { control; requestor; uses Store s; attribute int us; }
component Shared { provides Store s with priority_protocol inherited; }
assembly {
    composition { component Worker busy; component Worker calm; component Shared store;
        connection seL4RPCCall c(from busy.s, from calm.s, to store.s); }
    configuration {
        busy._priority = 30; busy._period = 20 ms; busy._budget = 6 ms; busy.us = 7000;
        calm._priority = 20; calm._period = 30 ms; calm.us = 4000;
    }
}
"""
WORKS = (
    "#include <camkes.h>\n"
    "int run(void) { while (camkes_next_job()) { camkes_work(CAMKES_US(us)); %s } return 0; }\n"
)
SHARED = "#include <camkes.h>\nvoid s_put(void) { camkes_work(CAMKES_MS(2)); }\n"


def application(folder: Path, name: str) -> Path:
    """An example, or one of the systems above."""
    if name in ("domains", "budgets"):
        own = {"domains": (DOMAINS, ""), "budgets": (BUDGETS, "s_put();")}
        text, request = own[name]
        files = {"system.camkes": HEAD + text, "Worker.c": WORKS % request, "Shared.c": SHARED}
        declared = "".join(
            f"DeclareCAmkESComponent({component} SOURCES {component}.c)\n"
            for component in ("Worker", "Shared")
            if f"component {component} {{" in text
        )
        files["CMakeLists.txt"] = f"project(system C)\n{declared}DeclareCAmkESRootserver(system.camkes)\n"
        return write_files(folder / name, files)
    return EXAMPLES / name


#: what is recorded on which machines, with and without MCS
RECORDED = [
    ("inversion", "x86_64", False),
    ("inversion", "qemu-arm-virt", True),
    ("nested", "x86_64", True),
    ("nested", "qemu-arm-virt", False),
    ("domains", "x86_64", False),
    ("domains", "x86_64", True),
    ("budgets", "x86_64", True),
    ("budgets", "qemu-arm-virt", True),
]


@needs_workspace
@pytest.mark.parametrize(("name", "platform", "mcs"), RECORDED, ids=lambda each: str(each))
def test_a_recording_has_what_a_run_on_the_host_kernel_has(
    name: str, platform: str, mcs: bool, tmp_path: Path
) -> None:
    """Response times and blocked times up to what kernel calls take, the steps in the same order, who
    runs, and properties that the same judge finds kept."""
    program, machine = PLATFORMS[platform]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    path = application(tmp_path, name)
    settings = {**machine, KERNEL_IS_MCS: "ON" if mcs else "OFF", "KernelNumDomains": "3"}
    request = pipeline.Input(path, definitions=tuple(settings.items()))
    traces = [tmp_path / "host.trace", tmp_path / "sel4.trace"]
    options = [
        pipeline.RunSettings(output=tmp_path / trace.stem, duration=100 * MS, trace=trace, verify=True)
        for trace in traces
    ]
    sink = Sink()
    host = pipeline.run(request, options[0], sink, lambda _: None)
    sel4 = pipeline.record(request, options[1], None, lambda _: None, sink, lambda _: None)
    assert host is not None and sel4 is not None, sink.diagnostics
    assert not sink.diagnostics
    assert sel4.verified and not sel4.violations, sel4.violations
    runs = [load_recorded(trace, trace.stem, sink) for trace in traces]
    assert runs[0] is not None and runs[1] is not None
    assert (
        compare(runs[0], runs[1]).same or name != "inversion"
    )  # elsewhere releases coincide with other steps
    for one, other in zip(host.run.tasks, sel4.run.tasks, strict=True):
        calculated, measured = response_times(one), response_times(other)
        if name != "domains":  # where the schedule begins before the first release
            assert calculated.completed == measured.completed
            assert calculated.maximum is not None and measured.maximum is not None
            assert abs(calculated.maximum - measured.maximum) < MS
            assert calculated.blocked is not None and measured.blocked is not None
            assert abs(calculated.blocked - measured.blocked) < MS
        executed = [
            sum(s.end - s.start for s in lane.segments if s.state is State.RUNNING) for lane in (one, other)
        ]
        assert abs(executed[0] - executed[1]) < (8 if name == "domains" else 1) * MS
    if name == "domains":
        in_slots(sel4.run)


def in_slots(run: Run) -> None:
    """Each task is executed in slots of its domain only, which come as the schedule says."""
    slots = list(slots_between(run.names.schedule, 0, run.end, run.slots_begin))
    domains = {thread.instance: thread.domain for thread in run.names.threads}
    for lane in run.tasks:
        for each in lane.segments:
            if each.state is State.RUNNING and each.end - each.start > MS // 2:
                middle = (each.start + each.end) // 2
                (slot,) = [slot for slot in slots if slot.start <= middle < slot.end]
                assert slot.domain == domains[lane.task.name], (lane.task.name, each)
