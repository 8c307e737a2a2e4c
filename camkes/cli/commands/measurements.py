# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command about execution times, and what operations cost on a machine: measure."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from camkes import pipeline
from camkes.cli.arguments import Command, add_input, duration, input_of, positive
from camkes.cli.commands.runs import add_kernel, wrong_for_host, wrong_for_sel4
from camkes.cli.machines import measure_platform
from camkes.cli.machines import wrong as wrong_of_machines
from camkes.cli.output import GOOD, USAGE, USER_ERROR, Progress, wants_color, write_diagnostics
from camkes.diagnostics import Sink
from camkes.documents import json_text

if TYPE_CHECKING:
    from camkes.experiments.measure import Measured

_NOTE = (
    "These are the longest times of {runs}, with a margin. They are measurements, not bounds: a longer"
    " time may be possible."
)
_INSTRUCTIONS = (
    "An instruction in QEMU counts as 1 ns, whatever it takes on a machine. Jobs and requests that others"
    " interrupted are left out."
)
#: how often a system runs on the host kernel
_RUNS = 5


def margin(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid margin; expected a factor of 1 or more")
    return value


class TimeReport(Struct, frozen=True):
    """The longest time of `count` jobs or requests that ended; `interrupted` more ended whose time is not
    known. `proposed` is null where no time passed, `stated` where none is."""

    name: str
    kind: Literal["task", "cpi", "method"]
    count: int
    interrupted: int
    longest: int
    proposed: int | None
    stated: int | None


class MeasureReport(Struct, frozen=True, kw_only=True):
    """Measured execution times, and what they propose with a factor of `margin`. None is a bound."""

    schema: int = 1
    kernel: str
    runs: int
    margin: float
    bound: Literal[False] = False
    times: tuple[TimeReport, ...]


def measure(arguments: argparse.Namespace) -> int:
    from camkes.experiments.measure import measure, measure_on_sel4

    if (message := wrong_of_machines(arguments)) is not None:
        print(f"camkes measure: {message}", file=sys.stderr)
        return USAGE
    if arguments.platform:
        return measure_platform(arguments)
    on_sel4 = arguments.kernel == "sel4"
    if on_sel4 and arguments.runs != _RUNS:
        print("camkes measure: --runs is for the host kernel", file=sys.stderr)
        return USAGE
    if wrong_for_sel4(arguments) if on_sel4 else wrong_for_host(arguments):
        return USAGE
    sink = Sink()
    progress = Progress(arguments)
    settings = pipeline.RunSettings(
        output=arguments.output, duration=arguments.duration, show=lambda data: None, fast=True
    )
    if on_sel4:
        found = measure_on_sel4(input_of(arguments), settings, arguments.workspace, sink, progress)
    else:
        found = measure(input_of(arguments), settings, arguments.runs, sink, progress)
    progress.clear()
    written: tuple[Path, ...] = ()
    if found is not None and arguments.write:
        from camkes.experiments.settings import write_settings
        from camkes.model.units import duration as words

        proposals = {each.setting: each.proposed(arguments.margin) for each in found.measurements}
        values = {setting: words(value) for setting, value in proposals.items() if value is not None}
        written = write_settings(found.checked, values, sink)
    status = write_diagnostics(arguments, sink)
    if found is None:
        return status
    if arguments.json:
        report = to_report(found, arguments.margin)
        print(json_text(report))
    else:
        print(to_text(found, arguments.margin, color=wants_color(arguments, sys.stdout)))
    for path in written:
        print(f"camkes measure: {path} has the proposed times", file=sys.stderr)
    return max(status, USER_ERROR if found.failed else GOOD)


def to_report(found: Measured, factor: float) -> MeasureReport:
    return MeasureReport(
        kernel=found.kernel,
        runs=found.runs,
        margin=factor,
        times=tuple(
            TimeReport(
                name=each.name,
                kind="task" if each.is_task else "method" if each.method else "cpi",
                count=each.count,
                interrupted=each.interrupted,
                longest=each.longest,
                proposed=each.proposed(factor),
                stated=each.stated,
            )
            for each in found.measurements
        ),
    )


def to_text(found: Measured, factor: float, *, color: bool = False) -> str:
    from camkes.running.times import format_time
    from camkes.showing.draw.table import table

    def time(value: int | None) -> str:
        return "-" if value is None else format_time(value, 6)

    rows: list[tuple[str, ...]] = [("execution time of", "ended", "longest", "proposed", "stated", "")]
    for each in found.measurements:
        proposed = each.proposed(factor)
        remark = ""
        if each.count == 0 and each.interrupted:
            whose = "its task" if each.is_task else "a task that requests it"
            remark = f"all {each.interrupted} were interrupted: measure with {whose} above the others"
        elif each.count == 0:
            remark = "none ended: run for longer with --for"
        elif proposed is None:
            remark = "no time passed: on the host kernel, time passes only in camkes_work()"
        elif each.stated is not None and each.stated < each.longest:
            remark = "longer than stated"
        times = (time(each.longest if each.count else None), time(proposed), time(each.stated))
        rows.append((each.name, str(each.count), *times, remark))
    note = _NOTE.format(runs="a run" if found.runs == 1 else f"{found.runs} runs")
    notes = [note] if found.kernel == "host" else [note, _INSTRUCTIONS]
    return "\n\n".join([table(rows, right={1, 2, 3, 4}, color=color), "\n".join(notes)])


def measure_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_kernel(parser, "build/NAME; with --platform: the profile, a .toml file")
    option = parser.add_argument
    option(
        "--for", dest="duration", metavar="TIME", type=duration, help="virtual time of each run (default: 1s)"
    )
    option(
        "--runs",
        type=positive,
        default=_RUNS,
        metavar="N",
        help="number of runs, all but the first with random choices (default: 5)",
    )
    option(
        "--margin",
        type=margin,
        default=1.2,
        metavar="FACTOR",
        help="factor from the longest time to the proposed one (default: 1.2)",
    )
    option("--write", action="store_true", help="write the proposed times into the .camkes files")
    option("--json", action="store_true", help="print the results as JSON")
    add_machine(parser)


def add_machine(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "measuring a machine",
        "What requests, releases and the kernel's clock cost, for `camkes analyze --platform FILE`.\n"
        "-D has the platform of a board as seL4 names it, and settings of the kernel (KernelIsMCS).",
    )
    group.add_argument("--platform", action="store_true", help="measure a machine in place of a system")
    group.add_argument(
        "--machine",
        choices=("qemu-x86_64", "qemu-aarch64", "qemu-riscv64", "board"),
        help="QEMU, which counts instructions, or a board, whose cycles are counted: without --boot, its "
        "images are only built (default: qemu-x86_64, with --boot board)",
    )
    group.add_argument(
        "--boot",
        metavar="COMMAND",
        help="what boots the files in the folder {images} on a board, and writes what the serial line brings "
        "to standard output",
    )
    group.add_argument(
        "--log",
        dest="logs",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="read what images printed that were booted before; may be repeated, a log may have several",
    )
    group.add_argument(
        "--samples",
        metavar="N",
        type=positive,
        help="how often each figure is measured (default: 1000; in QEMU 15, which repeat to the digit)",
    )
    group.add_argument(
        "--build-folder",
        metavar="DIR",
        type=Path,
        help="where images are built, and what they printed is kept (default: build/measure-MACHINE)",
    )
    group.add_argument(
        "--timeout", dest="limit", metavar="TIME", type=duration, help="for each boot (default: 600s)"
    )


COMMANDS = (
    Command(
        "measure",
        measure,
        "measure execution times and propose settings",
        measure_arguments,
        """
  camkes measure examples/nested
  camkes measure system.camkes --runs 20 --for 5s --margin 1.5 --write
  camkes measure apps/radar --kernel sel4 --workspace ~/sel4 --for 1s
  camkes measure --platform --machine qemu-aarch64 -D KernelIsMCS=ON -o arm-mcs.toml
  camkes measure --platform --boot './lab {images}' -D PLATFORM=zynqmp -o board.toml
  camkes measure --platform --machine board -D PLATFORM=zynqmp
  camkes measure --platform --log serial.log -o board.toml

On the host kernel, time passes only in camkes_work(), so only systems that model their execution times with
it can be measured. On seL4, a run in QEMU is recorded, where an instruction counts as 1 ns. With --platform,
images that measure are built and booted.
Exit status: 1 if a run had a fault, or a machine could not be measured.""",
        has_results=True,
    ),
)
