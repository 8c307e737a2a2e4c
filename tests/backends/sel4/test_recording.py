# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A run on seL4 that is recorded, with what an image would print in the place of QEMU."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.sel4 import recording
from camkes.backends.sel4.trace import Record
from camkes.backends.sel4.workspace import console
from camkes.cli.arguments import input_of
from camkes.cli.commands.runs import HOST_ONLY, wrong_for_sel4
from camkes.cli.table import make_parser
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering.text import Style, to_text
from camkes.outcome import Outcome
from camkes.running.kinds import EndReason, Kind
from tests.backends.sel4.test_trace import line, text
from tests.command import camkes
from tests.end_to_end.support import EXAMPLES

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
    done = camkes("run", EXAMPLES / "adder", "--kernel", "sel4", "--verify", "-I", tmp_path)
    assert done.status == 2
    assert done.errors.splitlines() == [
        "camkes run: --verify is for the host kernel",
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
    meaningful |= {"build_type", "strict", "sdk"}
    assert not wrong_for_sel4(given)
    assert set(vars(given)) == meaningful | set(HOST_ONLY)


@pytest.mark.skipif(
    "SEL4_WORKSPACE" not in os.environ or shutil.which("qemu-system-x86_64") is None,
    reason="SEL4_WORKSPACE names no workspace, or there is no QEMU",
)
def test_response_times_are_those_of_the_host_kernel(tmp_path: Path) -> None:
    request = pipeline.Input(EXAMPLES / "inversion")
    host = pipeline.run(
        request,
        pipeline.RunSettings(output=tmp_path / "host", duration=100_000_000),
        Sink(),
        lambda _: None,
    )
    sink, told = Sink(), list[str]()
    options = pipeline.RunSettings(output=tmp_path / "sel4", duration=100_000_000)
    sel4 = pipeline.record(request, options, None, told.append, sink, lambda _: None)
    assert host is not None and sel4 is not None, sink.diagnostics

    def times(outcome: Outcome) -> list[list[str]]:
        table = outcome.report_text(color=False, unicode=False).partition("response times")[2]
        return [row.split()[:9] for row in table.splitlines()[2:]]

    for calculated, measured in zip(times(host), times(sel4), strict=True):
        assert calculated[:3] == measured[:3]
        assert abs(float(calculated[8]) - float(measured[8])) < 1
