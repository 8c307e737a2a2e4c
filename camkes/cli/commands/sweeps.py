# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command about many settings of a system: sweep."""

from __future__ import annotations

import argparse
import re
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from camkes.cli.arguments import Command, add_input, duration, input_of, input_words, positive
from camkes.cli.commands.explorations import number, picture, process_count
from camkes.cli.output import GOOD, USAGE, USER_ERROR, Progress, wants_color, write_diagnostics
from camkes.diagnostics import Sink
from camkes.files import write_output

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from camkes.sweep.evaluate import Doable, Prepared
    from camkes.sweep.results import ResultsFile, SweepIdentity
    from camkes.sweep.rows import SweepRow, Wish
    from camkes.sweep.workers import Workers

#: Options that only some of what is done has, and the values that say that they are not given.
_ONLY = {
    "platform": ("analyze", None),
    "text": ("analyze", False),
    "duration": ("run explore", None),
    "random": ("explore", 0),
    "seeds": ("explore", ()),
    "states": ("explore", 0),
    "bound": ("explore", None),
    "arrivals": ("explore", "both"),
}
#: Seconds that a combination may take, where that is not stated.
_TIMEOUT = 600


def seeds(text: str) -> tuple[int, ...]:
    """`FROM:TO`, both included."""
    match = re.fullmatch(r"(\d{1,18}):(\d{1,18})", text)
    if match is None or int(match[1]) > int(match[2]) or int(match[2]) - int(match[1]) >= 1_000_000:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid range of seeds; expected FROM:TO, as 1:100"
        )
    return tuple(range(int(match[1]), int(match[2]) + 1))


def sweep(arguments: argparse.Namespace) -> int:
    from camkes.sweep.axes import MOST_COMBINATIONS, combinations, read_axes, sample
    from camkes.sweep.prepare import prepare
    from camkes.sweep.results import results_file

    wrong = _wrong_options(arguments)
    if wrong:
        print(f"camkes sweep: {wrong}", file=sys.stderr)
        return USAGE
    sink = Sink()
    axes = read_axes(arguments.vary, sink)
    todo = _todo(arguments, sink)
    if todo is None or sink.has_errors:
        return write_diagnostics(arguments, sink)
    total = combinations(axes) * max(1, len(arguments.seeds))
    count = min(total, arguments.sample or total)
    if count > MOST_COMBINATIONS:
        most = f"at most {MOST_COMBINATIONS:,} of them with --sample N"
        print(f"camkes sweep: there are {total:,} combinations; draw {most}", file=sys.stderr)
        return USAGE
    numbers = range(total) if count == total else sample(total, count, arguments.seed)
    progress = Progress(arguments)
    prepared = prepare(input_of(arguments), axes, arguments.seeds, todo, sink, progress)
    if prepared is None:
        progress.clear()
        return write_diagnostics(arguments, sink)
    try:
        with results_file(arguments.out, _identity(arguments, prepared, count, total), sink) as results:
            if results is None:
                return write_diagnostics(arguments, sink)
            rows = _evaluated(arguments, prepared, numbers, results, progress)
    finally:
        progress.clear()
    status = write_diagnostics(arguments, sink)
    if rows is None:
        return USER_ERROR
    _show(arguments, prepared, rows, total)
    return max(status, GOOD if any(row.good for row in rows) else USER_ERROR)


def _wrong_options(arguments: argparse.Namespace) -> str:
    """What is wrong about options together; empty: nothing."""
    doing = arguments.doing
    for name, (those, usual) in _ONLY.items():
        if doing not in those and getattr(arguments, name) != usual:
            option = {"duration": "for"}.get(name, name)
            return f"--{option} is for --do {' and --do '.join(those.split())}"
    if not arguments.vary and not arguments.seeds:
        return "nothing is varied; expected --vary INSTANCE.ATTRIBUTE=VALUES"
    if arguments.seeds and not arguments.random:
        return "--seeds needs --random N"
    if doing == "explore" and (arguments.best or arguments.top):
        return "--best and --top are for --do analyze and --do run"
    if doing == "run" and arguments.best == "budget":
        return "--best budget is for --do analyze"
    return ""


def _todo(arguments: argparse.Namespace, sink: Sink) -> Doable | None:
    from camkes.analysis.profiles import find_platform
    from camkes.backends.host.explore import SearchOptions
    from camkes.sweep.evaluate import Doable

    platform = None
    if arguments.platform is not None:
        platform = find_platform(arguments.platform, sink)
        if platform is None:
            return None
    search = SearchOptions(random=arguments.random, states=arguments.states, bound=arguments.bound)
    return Doable(
        doing=arguments.doing,
        platform=platform,
        unread={"": "--text"} if arguments.text else {},
        duration=arguments.duration,
        search=search,
        any_order=arguments.arrivals != "stated",
        stated=arguments.arrivals != "any",
    )


def _identity(arguments: argparse.Namespace, prepared: Prepared, count: int, total: int) -> SweepIdentity:
    from camkes.sweep.prepare import fingerprint
    from camkes.sweep.results import SweepIdentity

    options = {
        "--do": arguments.doing,
        "--sample": "" if count == total else str(count),
        "--seed": "" if count == total else str(arguments.seed),
        "--seeds": f"{arguments.seeds[0]}:{arguments.seeds[-1]}" if arguments.seeds else "",
        "--platform": arguments.platform or "",
        "--text": "given" if arguments.text else "",
        "--for": "" if arguments.duration is None else f"{arguments.duration}ns",
        "--random": str(arguments.random or ""),
        "--states": str(arguments.states or ""),
        "--bound": "" if arguments.bound is None else str(arguments.bound),
        "--arrivals": arguments.arrivals,
        "options for reading": " ".join(input_words(arguments)[1:]),
    }
    return SweepIdentity(vary=tuple(arguments.vary), options=options, files=fingerprint(prepared))


def _evaluated(
    arguments: argparse.Namespace,
    prepared: Prepared,
    numbers: Sequence[int],
    results: ResultsFile,
    progress: Callable[[str], None],
) -> list[SweepRow] | None:
    """The rows of all combinations; None, and a message, where there are no workers."""
    from camkes.sweep.run import sweep as evaluate
    from camkes.sweep.workers import WorkersError

    before = time.monotonic()
    known = len(results.rows)

    def tell(done: int, total: int) -> None:
        rate = (done - known) / max(time.monotonic() - before, 1e-3)
        progress(f"{done:,} of {total:,} combinations, {rate:,.1f} a second")

    try:
        with ExitStack() as stack:
            return evaluate(
                prepared, numbers, stack.enter_context(_workers(arguments, prepared)), results, tell
            )
    except ImportError as error:
        from camkes.resources import install_packages

        install = install_packages("dask[distributed]")
        print(f"camkes sweep: {error.name or error} is not installed: {install}", file=sys.stderr)
    except WorkersError as error:
        print(f"camkes sweep: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        progress("")
        if results.path is not None:
            done = f"{len(results.rows):,} of {len(numbers):,} combinations are in {results.path}"
            print(f"camkes sweep: {done}; the same command goes on", file=sys.stderr)
        raise
    return None


def _workers(
    arguments: argparse.Namespace, prepared: Prepared
) -> AbstractContextManager[Workers[int, SweepRow]]:
    from camkes.sweep.evaluate import Evaluation
    from camkes.sweep.workers import distributed, local

    seconds = arguments.timeout / 1_000_000_000
    if arguments.dask is not None:
        return distributed(Evaluation(prepared), arguments.dask, seconds)
    return local(Evaluation(prepared), arguments.jobs or process_count(), seconds)


def _show(arguments: argparse.Namespace, prepared: Prepared, rows: Sequence[SweepRow], total: int) -> None:
    """Print and write what was asked for. Raises OutputError."""
    from camkes.showing.draw.pictures import write_picture
    from camkes.showing.draw.table import terminal_width
    from camkes.sweep import reports
    from camkes.sweep.rows import best

    wish: Wish = arguments.best or "slack"
    chosen = best(rows, wish, arguments.top or 5)
    if arguments.csv is not None:
        write_output(arguments.csv, reports.to_csv(prepared, rows).encode())
    if arguments.plot is not None:
        write_picture(arguments.plot, reports.to_svg(prepared, rows))
    if arguments.json:
        print(reports.to_json(prepared, total, rows, wish, chosen))
        return
    color = wants_color(arguments, sys.stdout)
    width = terminal_width()
    parts = [reports.to_text(prepared, rows, color=color, width=width), reports.summary(rows)]
    parts += reports.conditions_text(rows, width)
    if chosen:
        parts.append(reports.best_text(prepared, wish, chosen))
    print("\n\n".join(parts))


def _choosing_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("combinations")
    option = group.add_argument
    option(
        "--vary",
        metavar="SETTING=VALUES",
        action="append",
        default=[],
        help="vary INSTANCE.ATTRIBUTE: FROM:TO:STEP with whole numbers or times, TO included, or a list of"
        " values with commas; can be given several times",
    )
    option("--sample", metavar="N", type=positive, help="only N combinations, drawn at random")
    option("--seed", metavar="S", type=number, default=1, help="seed of --sample (default: 1)")
    option(
        "--do",
        dest="doing",
        choices=("analyze", "run", "explore"),
        default="analyze",
        help="what is done with each combination (default: analyze)",
    )


def _doing_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("options of analyze, run and explore")
    option = group.add_argument
    option("--platform", metavar="NAME", help="analyze: the costs of kernel operations")
    option("--text", action="store_true", help="analyze: do not read the code")
    option(
        "--for",
        dest="duration",
        metavar="TIME",
        type=duration,
        help="run, explore: virtual time (default: as the commands have it)",
    )
    option("--random", metavar="N", type=number, default=0, help="explore: N random schedules")
    option(
        "--seeds",
        metavar="FROM:TO",
        type=seeds,
        default=(),
        help="explore: random schedules of each of these seeds",
    )
    option("--states", metavar="N", type=number, default=0, help="explore: stop after N states")
    option("--bound", metavar="N", type=number, help="explore: maximum number of preemptions")
    option(
        "--arrivals",
        choices=("any", "stated", "both"),
        default="both",
        help="explore: when jobs arrive (default: both)",
    )


def _working_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("working")
    option = group.add_argument
    option("--jobs", metavar="N", type=positive, help="number of processes (default: one for each core)")
    option("--dask", metavar="ADDRESS", help="a Dask scheduler whose workers evaluate the combinations")
    option(
        "--timeout",
        metavar="TIME",
        type=time_limit,
        default=_TIMEOUT * 1_000_000_000,
        help=f"elapsed time after which a combination has failed (default: {_TIMEOUT}s)",
    )
    option(
        "--out",
        metavar="FILE",
        type=Path,
        help="keep results in a file, one a line, and go on with those that are in it",
    )


def time_limit(text: str) -> int:
    found = duration(text)
    if not found:
        raise argparse.ArgumentTypeError("a time limit has to be longer than 0")
    return found


def sweep_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    _choosing_arguments(parser)
    _doing_arguments(parser)
    _working_arguments(parser)
    group = parser.add_argument_group("results")
    option = group.add_argument
    option(
        "--best",
        choices=("slack", "budget", "blocking"),
        help="which combinations are best: the greatest slack, the least budgets or the least blocking"
        " (default: slack)",
    )
    option("--top", metavar="N", type=positive, help="show the N best (default: 5)")
    option("--csv", metavar="FILE", type=Path, help="write the table as CSV")
    option("--plot", metavar="FILE", type=picture, help="draw the slack (.svg, .png, .pdf)")
    option("--json", action="store_true", help="print JSON")


COMMANDS = (
    Command(
        "sweep",
        sweep,
        "analyze, run or explore a system with many combinations of settings",
        sweep_arguments,
        """
  camkes sweep system.camkes --vary high._wcet=1ms:5ms:0.5ms
  camkes sweep system.camkes --vary table.t_priority_protocol=fixed,inherited \\
      --vary table.t_wcet=1ms:5ms:0.5ms --plot slack.svg --csv slack.csv
  camkes sweep system.camkes --vary a._priority=10:50:1 --vary b._priority=10:50:1 \\
      --sample 500 --out found.jsonl
  camkes sweep system.camkes --vary b._period=10ms,20ms --do run --for 1s
  camkes sweep system.camkes --do explore --random 1000 --seeds 1:100
  camkes sweep system.camkes --vary high._wcet=1ms:5ms:1us --dask tcp://host:8786

Each value takes the place of that of the configuration. A command that was stopped goes on with the
same --out FILE. Exit status: 1 if there is no combination with which all deadlines are met (explore:
in which no violation is found).""",
        has_results=True,
    ),
)
