# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Commands that build a system and run it, for the host kernel and for seL4."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import fields

from camkes import pipeline
from camkes.backends.host.codes import WAITS_FOR_EVER
from camkes.backends.host.errors import unwritten
from camkes.backends.host.schedule import is_schedule
from camkes.cli.arguments import (
    Command,
    add_build_type,
    add_input,
    add_sdk,
    choices,
    conditions,
    duration,
    input_of,
    size,
    time_slice,
    window,
)
from camkes.cli.output import (
    GOOD,
    USAGE,
    USER_ERROR,
    Progress,
    can_draw,
    for_machines,
    wants_color,
    write_diagnostics,
)
from camkes.diagnostics import Sink
from camkes.files import OutputError
from camkes.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import IO, Any

    from camkes.backends.host.schedule import Schedule
    from camkes.outcome import Outcome


DEFAULTS = pipeline.RunSettings()


def build(arguments: argparse.Namespace) -> int:
    if arguments.kernel == "sel4":
        if wrong_for_sel4(arguments):
            return USAGE
        out, status = build_sel4(arguments)
        if out is not None:
            say_built(arguments, out / "images")
        return status
    if wrong_for_host(arguments):
        return USAGE
    sink = Sink()
    progress = Progress(arguments)
    asked, output = input_of(arguments), arguments.output
    folder = pipeline.build_or_leave(asked, output, sink, progress, sanitize=arguments.sanitize)
    progress.clear()
    status = write_diagnostics(arguments, sink)
    if folder is not None and status == GOOD:
        say_built(arguments, folder)
    return status


def say_built(arguments: argparse.Namespace, folder: Path) -> None:
    if not for_machines(arguments):
        print(f"built {folder}")


def run(arguments: argparse.Namespace) -> int:
    if wrong_for_sel4(arguments) if arguments.kernel == "sel4" else wrong_for_host(arguments):
        return USAGE
    if arguments.trace is not None and arguments.trace.suffix not in pipeline.TRACE_FORMS:
        forms = " or ".join(pipeline.TRACE_FORMS)
        message = f"camkes run: {arguments.trace}: the name of a trace must end in {forms}"
        print(f"{message}; Perfetto can open .json", file=sys.stderr)
        return USAGE
    if arguments.timeline is not None and arguments.timeline.suffix not in pipeline.TIMELINE_FORMS:
        forms = ", ".join(pipeline.TIMELINE_FORMS)
        message = f"camkes run: {arguments.timeline}: the name of a timeline must end in one of {forms}"
        print(message, file=sys.stderr)
        return USAGE
    if arguments.kernel == "sel4":
        return run_sel4(arguments)
    sink = Sink()
    if arguments.coverage is not None:
        from camkes.backends.host.coverage import can_cover

        arguments.build_type = "Coverage"
        if not can_cover(sink):
            return report(arguments, None, sink)
    progress = Progress(arguments)
    outcome = schedule = None
    if arguments.replay is not None and is_schedule(arguments.replay):
        schedule = schedule_of(arguments)
        if schedule is None:
            return USAGE
    try:
        with console(arguments) as stream:
            descriptor = stream.fileno() if stream is not sys.stdout else None
            show = shown_on_terminal(stream) if stream.isatty() else None
            settings = settings_of(arguments, console=descriptor, show=show, schedule=schedule)
            if arguments.replay is None or schedule is not None:
                outcome = pipeline.run(input_of(arguments), settings, sink, progress)
            else:
                from camkes.experiments import replay

                outcome = replay.run(input_of(arguments), arguments.replay, settings, sink, progress)
    except OutputError as error:
        sink.add(unwritten(error))
    except KeyboardInterrupt:  # before there was anything to report
        if arguments.json:
            from camkes.outcome import no_report_json

            print(no_report_json(sink, interrupted=True))
        raise
    finally:
        progress.clear()
    return report(arguments, outcome, sink)


def schedule_of(arguments: argparse.Namespace) -> Schedule | None:
    """The schedule to repeat, checked as the search did; None if it cannot be read."""
    from camkes.backends.host.schedule import read_schedule

    try:
        schedule = read_schedule(arguments.replay)
    except (OSError, ValueError) as error:
        print(f"camkes run: {arguments.replay} is not a valid schedule: {error}", file=sys.stderr)
        return None
    arguments.verify = True
    if not arguments.quiet:
        from camkes.showing.draw.story import steps_text

        print(f"camkes run: the schedule shows {schedule.property}: {schedule.explanation}", file=sys.stderr)
        print(steps_text(schedule.steps), end="", file=sys.stderr)
    return schedule


def settings_of(arguments: argparse.Namespace, **others: Any) -> pipeline.RunSettings:
    """What `run_arguments` understood; `others` are settings that the command line does not give."""
    given = vars(arguments)
    names = [field.name for field in fields(pipeline.RunSettings) if field.name in given]
    return pipeline.RunSettings(**{**{name: given[name] for name in names}, **others})


def shown_on_terminal(stream: IO[str]) -> Callable[[bytes], None]:
    """Writes what components print, which must not control the terminal."""
    from codecs import getincrementaldecoder

    decoder = getincrementaldecoder("utf-8")("backslashreplace")

    def show(data: bytes) -> None:
        stream.write(visible(decoder.decode(data)))
        stream.flush()

    return show


def console(arguments: argparse.Namespace) -> AbstractContextManager[IO[str]]:
    """What components print to."""
    if arguments.console is None:
        return nullcontext(sys.stderr if arguments.json else sys.stdout)
    try:
        file: IO[str] = arguments.console.open("w", encoding="utf-8", errors="surrogateescape")
        return file
    except OSError as error:
        raise OutputError(f"cannot write {arguments.console}: {error.strerror}") from error


def report(arguments: argparse.Namespace, outcome: Outcome | None, sink: Sink) -> int:
    """Print what a run came to; with --json there is one document, whatever happened."""
    for denied in outcome.denied(arguments.deny) if outcome is not None else ():
        sink.add(denied)
    if "waits" in arguments.deny:
        sink.drop(WAITS_FOR_EVER)  # it is an error now
    status = write_diagnostics(arguments, sink)
    if outcome is None:
        if arguments.json:
            from camkes.outcome import no_report_json

            print(no_report_json(sink))
        return status
    if arguments.json:
        print(outcome.report_json())
    else:
        sys.stdout.flush()
        color = wants_color(arguments, sys.stdout)
        print(outcome.report_text(color=color, unicode=not arguments.ascii and can_draw(sys.stdout)), end="")
    if outcome.interrupted:
        return 128 + outcome.interrupted
    left_out = arguments.strict and outcome.not_judged
    return max(status, USER_ERROR if outcome.failed or left_out else GOOD)


def build_sel4(arguments: argparse.Namespace) -> tuple[Path | None, int]:
    """The folder with an image, and an exit status."""
    sink = Sink()
    progress = Progress(arguments)
    with pipeline.built_for_sel4(
        input_of(arguments), arguments.workspace, arguments.output, sink, progress
    ) as out:
        progress.clear()
    return out, max(write_diagnostics(arguments, sink), GOOD if out is not None else USER_ERROR)


def run_sel4(arguments: argparse.Namespace) -> int:
    """Show what an image prints; for a stated time, or with results, record it."""
    recorded = (arguments.duration, arguments.trace, arguments.timeline, arguments.profile)
    if not (
        any(each is not None for each in recorded) or arguments.json or arguments.verify or arguments.deny
    ):
        out, status = build_sel4(arguments)
        if out is not None:
            from camkes.backends.sel4.workspace import simulate

            with console(arguments) as stream:
                simulate(out, stream)
        return status
    sink = Sink()
    progress = Progress(arguments)
    settings = settings_of(arguments, console=None, places=bool(arguments.deny))
    with console(arguments) as stream:

        def show(text: str) -> None:
            stream.write(text)
            stream.flush()

        outcome = pipeline.record(input_of(arguments), settings, arguments.workspace, show, sink, progress)
    progress.clear()
    return report(arguments, outcome, sink)


#: Options that have no meaning for seL4, by their names in the parsed arguments: what to use instead.
HOST_ONLY = {
    **dict.fromkeys(("sanitize", "fast", "hardened", "scheduling", "timeslice", "choices"), ""),
    **dict.fromkeys(("input", "network", "sent"), ""),
    **dict.fromkeys(("loop_limit_ms", "timeout", "memory_limit", "record_limit"), ""),
    **dict.fromkeys(("coverage", "replay", "cost_profile"), ""),
    "import_path": "CAmkESAddImportPath() in CMakeLists.txt",
    "cpp_flag": "CPP_FLAGS of DeclareCAmkESRootserver() in CMakeLists.txt",
    "cpp_bin": "the `cpp` of PATH",
    "preprocess": "-DCAmkESCPP=ON or OFF",
    "dtb": "DTB_FILE_PATH of DeclareCAmkESRootserver() in CMakeLists.txt, and -DCAmkESDTS=ON",
    "gpio_list": "-DCAmkESDTS=ON: the list of the platform",
    "allow_forward_references": "-DCAmkESAllowForwardReferences=ON",
}


def wrong_for_sel4(arguments: argparse.Namespace, more: Sequence[str] = ()) -> bool:
    """Report which of the given options have no meaning for `--kernel sel4`; `more` are a command's own."""
    given = vars(arguments)
    options = {action.dest: action for action in reversed(arguments.parser._actions)}  # the first of a name
    wrong = [name for name in (*HOST_ONLY, *more) if name in given and given[name] != options[name].default]
    for name in wrong:
        instead = f"; for seL4: {HOST_ONLY[name]}" if HOST_ONLY.get(name) else ""
        print(
            f"camkes {arguments.command}: {options[name].option_strings[-1]} is for the host kernel{instead}",
            file=sys.stderr,
        )
    if arguments.workspace is not None and given.get("sdk") is not None:
        print(
            f"camkes {arguments.command}: --sdk and --workspace exclude each other",
            file=sys.stderr,
        )
        return True
    return bool(wrong)


def wrong_for_host(arguments: argparse.Namespace) -> bool:
    """Report an SDK that is given for the host kernel."""
    if vars(arguments).get("sdk") is None:
        return False
    print(f"camkes {arguments.command}: --sdk is for --kernel sel4", file=sys.stderr)
    return True


def add_kernel(parser: argparse.ArgumentParser, folder: str = "build/NAME") -> argparse._ArgumentGroup:
    """For which kernel, where (by default in `folder`), and of which type a system is built."""
    group = parser.add_argument_group("building")
    group.add_argument(
        "--kernel", choices=("host", "sel4"), default="host", help="the kernel to build for (default: host)"
    )
    group.add_argument("-o", "--output", metavar="DIR", type=Path, help=f"build folder (default: {folder})")
    add_build_type(group)
    add_sdk(group)
    return group


def add_host(parser: argparse.ArgumentParser) -> None:
    """How a system is built."""
    group = add_kernel(parser)
    group.add_argument(
        "--sanitize", action="store_true", help="build with the address and undefined-behaviour sanitizers"
    )


def build_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_host(parser)


def run_arguments(parser: argparse.ArgumentParser) -> None:
    """Those that are settings of a run have their names and defaults; see `settings_of`."""
    add_input(parser)
    add_host(parser)
    add_running(parser.add_argument_group("running"))
    results = parser.add_argument_group(
        "results",
        "Results and the output of components are written to standard output. With --json, the output of\n"
        "components is written to standard error, and with --console to a file. Diagnostics are written to\n"
        "standard error. On a terminal, control characters in the output are shown as \\x1b and so on.",
    )
    add_results(results)


def add_running(group: argparse._ArgumentGroup) -> None:
    """How a system runs."""
    group.add_argument(
        "--for",
        dest="duration",
        metavar="TIME",
        type=duration,
        help="virtual time to run, as 2s or 150ms; seconds without a unit (default: until all is idle, at "
        "most 1s)",
    )
    group.add_argument(
        "--input",
        metavar="FILE",
        type=Path,
        help="what comes to the serial device; - is standard input (default: nothing)",
    )
    group.add_argument(
        "--network",
        metavar="FILE",
        type=Path,
        help="frames that come to the Ethernet device: a capture in the form pcap (default: none)",
    )
    group.add_argument(
        "--sent", metavar="FILE", type=Path, help="write the frames that are sent, in the form pcap"
    )
    times = group.add_mutually_exclusive_group()
    times.add_argument(
        "--cost-profile",
        metavar="NAME",
        help="a platform profile, as for `camkes analyze --platform`: requests and releases take their "
        "measured time (default: none; only camkes_work() takes time)",
    )
    times.add_argument(
        "--replay",
        metavar="FILE",
        type=Path,
        help="repeat a schedule that `camkes explore` wrote, with --verify; or run a case that "
        "`camkes analyze --witnesses` wrote, not the system's own code",
    )
    add_isolation(group)
    group.add_argument(
        "--scheduling",
        choices=("fifo", "rr"),
        default=DEFAULTS.scheduling,
        help="order among threads of equal priority (default: fifo)",
    )
    group.add_argument(
        "--timeslice",
        metavar="TIME",
        type=time_slice,
        default=None,
        help="time slice of round robin (default: 10ms)",
    )
    group.add_argument(
        "--choices",
        metavar="HOW",
        type=choices,
        default=DEFAULTS.choices,
        help="first, random:SEED or script:FILE (default: first)",
    )
    add_limits(group)


def add_isolation(group: argparse._ArgumentGroup) -> None:
    """How components are kept apart."""
    isolation = group.add_mutually_exclusive_group()
    isolation.add_argument(
        "--fast",
        action="store_true",
        help="run all components in one process, without isolation: faster, for sweeps",
    )
    isolation.add_argument(
        "--hardened",
        action="store_true",
        help="protect the memory of the host kernel: a write to it is a fault at its line; each kernel "
        "call takes a few microseconds longer, unless the processor has protection keys",
    )


def add_limits(group: argparse._ArgumentGroup) -> None:
    """When a thread or a component is stopped."""
    group.add_argument(
        "--loop-limit",
        dest="loop_limit_ms",
        metavar="MS",
        type=int,
        default=None,
        help="processor time after which a thread that does not consume virtual time is stopped (default: "
        "1000)",
    )
    group.add_argument(
        "--timeout",
        metavar="TIME",
        type=duration,
        default=DEFAULTS.timeout,
        help="elapsed time without a kernel call or progress of virtual time after which the running "
        "thread is stopped, because it waits for something outside the system (default: 10s, 0: never)",
    )
    group.add_argument(
        "--memory-limit",
        metavar="SIZE",
        type=size,
        default=DEFAULTS.memory_limit,
        help="maximum memory of a component, such as 512M (default: 1G, 0: unlimited)",
    )


def add_results(group: argparse._ArgumentGroup) -> None:
    """What is made of a run, and where it goes."""
    group.add_argument(
        "--deny",
        "--fail-on",
        metavar="WHAT,...",
        type=conditions,
        default=(),
        help="errors that make the exit status 1: missed (a missed deadline), exit-status (a run() that "
        "returns a value other than 0), waits (a thread that waits for what cannot come), all",
    )
    group.add_argument(
        "--record-limit",
        metavar="SIZE",
        type=size,
        default=DEFAULTS.record_limit,
        help="maximum size of the trace, which all results are computed from; the run ends when it is "
        "reached (default: 64M)",
    )
    group.add_argument(
        "--trace",
        metavar="FILE",
        type=Path,
        help=".pftrace or .json (for ui.perfetto.dev), .ctf (a folder, for babeltrace2), or .trace",
    )
    group.add_argument(
        "--timeline",
        metavar="FILE",
        type=Path,
        help="write a timeline: .html is a page to explore, .svg, .png and .pdf are pictures",
    )
    group.add_argument(
        "--window",
        metavar="FROM:TO",
        type=window,
        help="the interval that the timeline shows, such as 0:100ms",
    )
    group.add_argument(
        "--profile",
        metavar="DIR",
        type=Path,
        help="write where virtual time passes, by task and by component: folded stacks and flame graphs",
    )
    group.add_argument(
        "--coverage",
        metavar="DIR",
        type=Path,
        help="count which lines and branches of components are executed; write coverage.info (lcov) and HTML "
        "(needs gcovr; components are compiled as with -D CMAKE_BUILD_TYPE=Coverage, and run as with --fast)",
    )
    group.add_argument(
        "--verify",
        action="store_true",
        help="check the trace against the properties M P H L Z S (`camkes explain M` and so on)",
    )
    group.add_argument(
        "--strict", action="store_true", help="a warning fails, and what --verify could not judge"
    )
    group.add_argument("--json", action="store_true", help="print the report as JSON")
    group.add_argument(
        "--console",
        metavar="FILE",
        type=Path,
        help="a file for the output of components (default: standard output, with --json standard error)",
    )


COMMANDS = (
    Command(
        "build",
        build,
        "build a system",
        build_arguments,
        """
  camkes build examples/adder -o build/adder
  camkes build examples/adder --debug            with compile_commands.json, as every build
  camkes build examples/adder --kernel sel4 --sdk x86_64.sdk""",
    ),
    Command(
        "run",
        run,
        "build a system and run it",
        run_arguments,
        """
  camkes run examples/inversion --timeline inversion.svg
  camkes run examples/nested --for 2s --trace nested.json
  camkes run examples/protocols --scheduling rr --timeslice 5ms --verify
  camkes run examples/nested --deny missed,exit-status --profile profile
  camkes run examples/adder --kernel sel4 --sdk x86_64.sdk

Exit status: 1 after an error in the system, a fault, a finding of a sanitizer, a refused message, a property
that --verify finds violated, and what --deny names; 128 + the signal after an interruption.""",
        has_results=True,
    ),
)
