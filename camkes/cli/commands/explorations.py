# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command that searches schedules: explore."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from camkes.cli.arguments import Command, add_input, duration, input_of, input_words
from camkes.cli.output import GOOD, USAGE, USER_ERROR, Progress, can_draw, write_diagnostics
from camkes.diagnostics import Sink

if TYPE_CHECKING:
    from camkes.exploration import Exploration


def explore(arguments: argparse.Namespace) -> int:
    from camkes.backends.host.explore import SearchOptions
    from camkes.backends.host.schedule import read_schedule
    from camkes.exploration import ExploreSettings
    from camkes.exploration import explore as search

    replay = None
    if arguments.replay is not None:
        try:
            replay = read_schedule(arguments.replay)
        except (OSError, ValueError) as error:
            print(f"camkes explore: {arguments.replay} is not a valid schedule: {error}", file=sys.stderr)
            return USAGE
    options = SearchOptions(
        arrivals=arguments.jobs,
        scheduling=arguments.scheduling or "fifo",
        bound=arguments.bound,
        random=arguments.random,
        seed=arguments.seed,
        states=arguments.states,
        seconds=-(-arguments.limit // 1_000_000_000),
        duration=arguments.duration,
        processes=arguments.processes or process_count(),
        every_point=arguments.no_reduction,
    )
    settings = ExploreSettings(
        output=arguments.output,
        search=options,
        any_order=arguments.arrivals != "stated",
        stated=arguments.arrivals != "any",
        slices=arguments.scheduling is None,
        schedule=arguments.schedule,
        replay=replay,
    )
    sink = Sink()
    progress = Progress(arguments)
    try:
        result = search(input_of(arguments), settings, sink, progress)
    finally:
        progress.clear()
    status = write_diagnostics(arguments, sink)
    if result is None:
        return status
    status = max(status, write_pictures(arguments, result))
    if arguments.json:
        print(result.report_json(), end="")
    else:
        print(result.report_text(unicode=not arguments.ascii and can_draw(sys.stdout)), end="")
        if result.schedule is not None:
            words = ["camkes", "run", *input_words(arguments), "--replay", str(result.schedule)]
            print(f"to repeat it: {shlex.join(words)}")
    wrong = result.violation is not None or (arguments.strict and result.not_searched)
    return max(status, USER_ERROR if wrong else GOOD)


def write_pictures(arguments: argparse.Namespace, result: Exploration) -> int:
    """The pictures of a violation that were asked for; an exit status."""
    from camkes.backends.host.errors import unwritten
    from camkes.files import OutputError, write_output
    from camkes.showing.draw.pictures import write_picture
    from camkes.showing.draw.steps import steps_page, steps_svg

    if result.chart is None:
        return GOOD
    shown = result.steps, result.chart, result.heading
    try:
        if arguments.timeline is not None:
            write_picture(arguments.timeline, steps_svg(*shown))
        if arguments.html is not None:
            write_output(arguments.html, steps_page(*shown).encode())
    except OutputError as error:
        sink = Sink()
        sink.add(unwritten(error))
        return write_diagnostics(arguments, sink)
    return GOOD


def process_count() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


def picture(text: str) -> Path:
    from camkes.showing.draw.pictures import FORMS

    path = Path(text)
    if path.suffix not in FORMS:
        raise argparse.ArgumentTypeError(f"{text!r} does not end in one of {', '.join(FORMS)}")
    return path


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid number; expected 1 or more")
    return int(text)


def number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid number; expected 0 or more")
    return int(text)


def _extent_arguments(group: argparse._ArgumentGroup) -> None:
    """How much is searched, and with how many processes."""
    group.add_argument(
        "--bound", metavar="N", type=number, help="maximum number of preemptions (default: unlimited)"
    )
    group.add_argument(
        "--random", metavar="N", type=number, default=0, help="run N random schedules instead of all"
    )
    group.add_argument("--seed", metavar="S", type=number, default=1, help="seed of --random (default: 1)")
    group.add_argument(
        "--states", metavar="N", type=number, default=0, help="stop after N states (default: never)"
    )
    group.add_argument(
        "--limit",
        metavar="TIME",
        type=duration,
        default=0,
        help="stop after this elapsed time (default: never)",
    )
    group.add_argument(
        "--processes", metavar="N", type=positive, help="processes that search (default: one for each core)"
    )


def _reduction_argument(group: argparse._ArgumentGroup) -> None:
    text = "let jobs arrive also where that leads to no other result (more states)"
    group.add_argument("--no-reduction", action="store_true", help=text)


def explore_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="build folder (default: build/NAME)")
    group = parser.add_argument_group("searching")
    group.add_argument(
        "--arrivals",
        choices=("any", "stated", "both"),
        default="both",
        help="any: jobs arrive in every order and at every point, whatever periods and durations are; "
        "stated: at the times in the text, with durations at their bounds, and deadlines are checked "
        "(default: both)",
    )
    group.add_argument(
        "--jobs",
        metavar="N",
        type=positive,
        default=1,
        help="number of jobs of each task that arrive in any order (default: 1)",
    )
    group.add_argument(
        "--scheduling",
        choices=("fifo", "rr"),
        help="order among equal priorities: rr: time slices can end at every point (default: fifo, then rr "
        "with at most 2 preemptions where threads have one priority)",
    )
    group.add_argument(
        "--for",
        dest="duration",
        metavar="TIME",
        type=duration,
        help="virtual time of a schedule with the stated arrivals (default: two hyperperiods of the tasks, "
        "and four jobs of each, 1s at most)",
    )
    _extent_arguments(group)
    _reduction_argument(group)
    results = parser.add_argument_group("results")
    results.add_argument(
        "--schedule",
        metavar="FILE",
        type=Path,
        help="file for the schedule of a violation, for `camkes run --replay` (default: schedule.json in "
        "the build folder)",
    )
    results.add_argument("--replay", metavar="FILE", type=Path, help="check only the schedule in this file")
    results.add_argument("--strict", action="store_true", help="what was not searched, and a warning, fails")
    text = "write a picture of the steps to a violation (.svg, .png, .pdf)"
    results.add_argument("--timeline", metavar="FILE", type=picture, help=text)
    text = "write the steps with the picture as one HTML page"
    results.add_argument("--html", metavar="FILE", type=Path, help=text)
    results.add_argument("--json", action="store_true", help="print the report as JSON")


COMMANDS = (
    Command(
        "explore",
        explore,
        "run a system under every schedule",
        explore_arguments,
        """
  camkes explore examples/inversion
  camkes explore examples/nested --arrivals any --jobs 2 --limit 60s
  camkes explore examples/protocols --random 100000 --seed 7""",
        has_results=True,
    ),
)
