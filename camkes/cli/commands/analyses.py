# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command about deadlines: analyze."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from camkes import pipeline
from camkes.cli.arguments import Command, add_dependencies, add_input, did_you_mean
from camkes.cli.commands.systems import checked
from camkes.cli.output import GOOD, USAGE, USER_ERROR, Progress, wants_color, write_diagnostics
from camkes.diagnostics import Sink
from camkes.files import OutputError, write_output

#: Costs of a certificate are rounded up: what is longer by a smaller part than this has no message.
ROUNDING = 10_000

if TYPE_CHECKING:
    from camkes.analysis.budgets import BudgetResult
    from camkes.analysis.criticality import LevelResult
    from camkes.analysis.platform import Platform
    from camkes.analysis.verdict import Analysis
    from camkes.analysis.witness import Witness
    from camkes.analysis.workload import Workload
    from camkes.pipeline import Checked


def analyze(arguments: argparse.Namespace) -> int:
    from camkes.analysis.codes import ASSUMED
    from camkes.analysis.criticality import late_tasks
    from camkes.analysis.platform import FREE
    from camkes.analysis.profiles import find_platform
    from camkes.analysis.verdict import analyse_system, with_budgets

    if arguments.write and arguments.assign is None:
        print("camkes analyze: --write needs --assign", file=sys.stderr)
        return USAGE
    if arguments.certificate is not None and arguments.assign is not None:
        print(
            "camkes analyze: a certificate is for the priorities of the plan, without --assign",
            file=sys.stderr,
        )
        return USAGE
    if arguments.paths is not None and arguments.platform in (None, FREE.name):
        print("camkes analyze: --paths needs the costs of the kernel: --platform NAME", file=sys.stderr)
        return USAGE
    sink = Sink()
    machine = find_platform(arguments.platform or FREE.name, sink)
    result, unread = read_system(arguments, sink)
    if arguments.paths is not None and machine is not None and result is not None:
        machine = bounded(machine, arguments.paths, result, sink)
    platform = None if arguments.platform is None else machine
    analysis = None
    progress = Progress(arguments)
    of_system = partial(analyse_system, platform=platform, sink=sink, unread=unread, progress=progress)
    if machine is not None and result is not None:
        analysis = of_system(result.system, result.plan)
    progress.clear()
    if analysis is None or result is None:
        return write_diagnostics(arguments, sink)
    policy, priorities, before = arguments.assign, None, result
    if policy is not None:
        priorities, result = proposed(arguments, before, analysis.platform, sink)
        if priorities is not None:
            again = of_system(result.system, result.plan)
            progress.clear()
            assert again is not None
            analysis = again
    for each in analysis.assumptions if arguments.strict else ():
        sink.report(ASSUMED, f"it is assumed that {each.text}", each.span, help=each.help)
    status = write_diagnostics(arguments, sink)
    of_time = time_analysis(result, analysis.platform) if result.plan.mcs else None
    if of_time is not None:
        analysis = with_budgets(analysis, late_tasks(*of_time))
    if not show(arguments, analysis, priorities, before, result, of_time):
        return USAGE
    failed = not analysis.good or (policy is not None and priorities is None)
    return USER_ERROR if failed and status == GOOD else status


def bounded(platform: Platform, file: Path, result: Checked, sink: Sink) -> Platform | None:
    """The profile with the bounds of the system's paths in a file; None after a diagnostic."""
    import msgspec

    from camkes.paths.codes import UNUSABLE_BOUNDS
    from camkes.paths.costs import with_bounds
    from camkes.showing.paths import read_bounds

    try:
        bounds = read_bounds(file.read_bytes())
    except OSError as error:
        why = error.strerror
    except (msgspec.DecodeError, ValueError) as error:
        why = str(error)
    else:
        return with_bounds(platform, bounds, result.plan, sink)
    text = f"{file} does not have the bounds of paths: {why}"
    sink.report(UNUSABLE_BOUNDS, text, help="write it with `camkes paths --json`")
    return None


def read_system(
    arguments: argparse.Namespace, sink: Sink
) -> tuple[pipeline.Checked | None, Mapping[str, str]]:
    """The system that the arguments ask for, and why which code was not read."""
    from camkes.callgraph.codes import CODE_NOT_READ

    arguments.code = not arguments.text
    if arguments.text:
        return checked(arguments, sink), {"": "--text"}
    try:
        found = checked(arguments, sink)
    except OutputError as error:  # to analyse a system, nothing need be written
        arguments.code = False
        return checked(arguments, sink), {"": str(error)}
    if found is None or found.calls is None:
        return found, {}
    sink.drop(CODE_NOT_READ)  # what follows from that is among the assumptions
    return found, found.calls.unread


def time_analysis(
    result: Checked, platform: Platform
) -> tuple[Sequence[BudgetResult], Sequence[LevelResult]]:
    """Responses with budgets, and at each criticality."""
    from camkes.analysis.budgets import budget_results
    from camkes.analysis.criticality import level_results

    return (
        budget_results(result.system, result.plan, platform),
        level_results(result.system, result.plan, platform),
    )


def proposed(
    arguments: argparse.Namespace, result: Checked, platform: Platform, sink: Sink
) -> tuple[Mapping[str, int] | None, Checked]:
    """The priorities that --assign computes, written with --write, and the system with them; None, and the
    system as it is, where there are none that it can have."""
    from camkes.analysis.assignment import Policy, assign
    from camkes.analysis.workload import workload_of
    from camkes.experiments.settings import write_settings
    from camkes.model.settings import PRIORITY

    changed, reason = result, "no priorities were found with which all deadlines are met"
    priorities = None
    if result.plan.bands:
        reason = "the tasks of a band have no priorities of their own"
    else:
        priorities = assign(workload_of(result.system, result.plan), platform, Policy(arguments.assign))
    if priorities is not None:
        rejected = Sink()
        planned = with_priorities(result, priorities, rejected)
        if planned is None:
            priorities = None
            reason = f"the computed priorities are rejected: {rejected.diagnostics[0].message}"
        else:
            changed = planned
    if priorities is None:
        print(f"camkes analyze: {reason}; those of the system are shown", file=sys.stderr)
    elif arguments.write:
        now = {task.instance: task.priority for task in result.system.tasks}
        values = {(n, PRIORITY.of("_")): str(p) for n, p in priorities.items() if now[n] != p}
        for path in write_settings(result, values, sink):
            print(f"camkes analyze: {path} has the new priorities", file=sys.stderr)
    return priorities, changed


def with_priorities(result: Checked, priorities: Mapping[str, int], sink: Sink) -> Checked | None:
    """The system with other priorities of its tasks; None, and errors, where checks reject it."""
    from msgspec.structs import replace

    system = result.system
    tasks = (replace(task, priority=priorities.get(task.instance, task.priority)) for task in system.tasks)
    system = replace(system, tasks=tuple(tasks))
    plan = pipeline.plan(system, sink, result.calls)
    return None if plan is None or sink.has_errors else replace(result, system=system, plan=plan)


def show(
    arguments: argparse.Namespace,
    analysis: Analysis,
    priorities: Mapping[str, int] | None,
    before: Checked,
    result: Checked,
    of_time: tuple[Sequence[BudgetResult], Sequence[LevelResult]] | None,
) -> bool:
    """Print what was asked for, of a system that was read as `before`; False where a task was named that is
    not there."""
    from msgspec import UNSET

    from camkes.analysis.assignment import Policy
    from camkes.analysis.sensitivity import changes, margins
    from camkes.analysis.witness import witnesses
    from camkes.analysis.workload import workload_of
    from camkes.model.bands import Order
    from camkes.showing import analysis as report
    from camkes.showing import analysis_json, budgets, sensitivity
    from camkes.showing.draw.table import terminal_width

    workload = workload_of(result.system, result.plan)
    searched = arguments.search and all(band.order is Order.DEADLINE for band in result.plan.bands)
    found = witnesses(workload, analysis) if searched else {}
    met = {each.task.name: report.met_words(analysis, each) for each in analysis.tasks}
    if arguments.witnesses is not None:
        write_witnesses(arguments.witnesses, found)
    if arguments.certificate is not None:
        write_certificate(arguments, workload, analysis, result)
    if arguments.html is not None:
        write_output(arguments.html, page(result, workload, analysis, found, met, of_time).encode())
    color = wants_color(arguments, sys.stdout)
    if arguments.explain is not None:
        text = report.explain(workload, analysis, arguments.explain, found)
        if text is None:
            hint = did_you_mean(arguments.explain, [each.task.name for each in analysis.tasks])
            print(f"camkes analyze: there is no task {arguments.explain!r}{hint}", file=sys.stderr)
            return False
        print(text)
        return True
    more = arguments.sensitivity
    spans = margins(workload, analysis.platform) if more else ()
    planner = partial(pipeline.plan, calls=result.calls)
    effects = tuple(changes(result.system, analysis, planner)) if more else ()
    if arguments.json:
        chosen = analysis_json.assignment(arguments.assign, priorities)
        effect = sensitivity.to_report(spans, effects) if more else UNSET
        print(analysis_json.to_json(analysis, found, chosen, of_time, effect))
        return True
    width = terminal_width()
    parts = [report.to_text(analysis, found, color=color, width=width)]
    if priorities is not None:
        policy, old = Policy(arguments.assign), workload_of(before.system, before.plan)
        parts.insert(0, sensitivity.priorities_text(old, policy, priorities, color=color))
    if of_time is not None:
        parts.append(budgets.to_text(*of_time, met, color=color, width=width))
    if more:
        parts.append(sensitivity.margins_text(spans, color=color))
        assumed = bool(analysis.assumptions)
        parts.append(sensitivity.changes_text(effects, assumed=assumed, color=color, width=width))
    print("\n\n".join(parts))
    return True


def page(
    result: Checked,
    workload: Workload,
    analysis: Analysis,
    found: Mapping[str, Witness],
    met: Mapping[str, str],
    of_time: tuple[Sequence[BudgetResult], Sequence[LevelResult]] | None,
) -> str:
    from camkes.showing import budgets
    from camkes.showing.analysis import response_text
    from camkes.showing.draw.graph_svg import graph_svg
    from camkes.showing.page import to_html

    capabilities = pipeline.capabilities(result, Sink())
    known = (each for each in analysis.tasks if each.response is not None)
    bounds = {each.task.name: f"responds within {response_text(each)}" for each in known}
    graph = graph_svg(result.plan, result.system, bounds=bounds)
    times = () if of_time is None else budgets.tables(*of_time, met)
    return to_html(result.application.name, workload, analysis, found, capabilities, graph, times)


def write_certificate(
    arguments: argparse.Namespace, workload: Workload, analysis: Analysis, result: Checked
) -> None:
    """Write a certificate, and tell where it shows less than the analysis. Raises OutputError."""
    from camkes.analysis.assumptions import of_operations
    from camkes.analysis.certificate import OpenLine, TaskLine, certificate, certificate_text
    from camkes.analysis.overruns import lasting_budgets
    from camkes.model.units import duration

    platform = None if arguments.platform is None else analysis.platform
    # that operations take no time, where no machine is named, the line says by that
    assumed = () if platform is None else tuple(of_operations(result.system, result.plan, platform))
    lasting = lasting_budgets(result.plan, workload)
    lines = [*certificate(workload, platform, analysis, lasting, assumed)]
    write_output(arguments.certificate, certificate_text(lines).encode())
    found = {each.task.name: each.response for each in analysis.tasks}
    for each in lines:
        if isinstance(each, OpenLine):
            print(f"camkes analyze: {each.task} is not certified: {each.why}", file=sys.stderr)
        elif isinstance(each, TaskLine) and (shown := found[each.task]) is not None:
            pairs = (("respond", each.response, shown.time), ("end", each.latest, shown.latest))
            for does, certified, known in pairs:
                if certified > ceil(known) + known // ROUNDING:
                    times = f"in {duration(certified)}, not in {duration(ceil(known))}"
                    print(f"camkes analyze: {each.task} is certified to {does} {times}", file=sys.stderr)


def write_witnesses(folder: Path, found: Mapping[str, Witness]) -> None:
    """Write a replay file for each task. Raises OutputError."""
    from camkes.analysis.replay import to_json

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from error
    for name, witness in found.items():
        write_output(folder / f"{name}.json", to_json(witness).encode())


def add_reading(parser: argparse.ArgumentParser) -> None:
    """What is analysed, on which machine, and how its code is read."""
    add_input(parser)
    add_dependencies(parser)
    parser.add_argument(
        "--platform",
        metavar="NAME",
        help="the costs of kernel operations: a profile that comes with camkes, a .toml file, or `none`,"
        " which states that they cost nothing (default: that is assumed)",
    )
    counts = parser.add_mutually_exclusive_group()
    counts.add_argument(
        "--code",
        action="store_true",
        help="compile the code, and count in it how often jobs and handlers make requests (the default)",
    )
    counts.add_argument(
        "--text",
        action="store_true",
        help="do not read the code: a job or a request is assumed to use each interface once",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        help="build folder, in which code is compiled to be read (default: build/NAME)",
    )


def analyze_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument(
        "--paths",
        metavar="FILE",
        type=Path,
        help="bounds of the system's paths, as `camkes paths --json` writes them, in place of what operations"
        " were measured to execute at user level",
    )
    parser.add_argument(
        "--witnesses",
        metavar="DIR",
        type=Path,
        help="write the worst case that was found for each task, for `camkes run --replay`",
    )
    parser.add_argument(
        "--certificate",
        metavar="FILE",
        type=Path,
        help="write what shows each bound, for `camkes-check-certificate` and `camkes plan --json`",
    )
    parser.add_argument(
        "--no-search",
        dest="search",
        action="store_false",
        help="do not search for the cases in which tasks respond late",
    )
    parser.add_argument(
        "--assign",
        choices=("rm", "dm", "audsley"),
        help="propose priorities and analyse the system with them: rate-monotonic, deadline-monotonic, or"
        " Audsley's, which finds some if there are any",
    )
    parser.add_argument(
        "--write", action="store_true", help="with --assign: write the priorities into the .camkes files"
    )
    parser.add_argument(
        "--sensitivity",
        action="store_true",
        help="show how far each execution time can grow, and the effect of other protocols of CPIs",
    )
    parser.add_argument(
        "--html", metavar="FILE", type=Path, help="write a self-contained HTML page with all results"
    )
    parser.add_argument("--explain", metavar="TASK", help="show how each number of a task is computed")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--strict", action="store_true", help="an assumption that a bound rests on, and a warning, fails"
    )


COMMANDS = (
    Command(
        "analyze",
        analyze,
        "analyze whether every task meets its deadline",
        analyze_arguments,
        """
  camkes analyze examples/nested
  camkes analyze examples/nested --platform sudvarg2024-intel --explain t4
  camkes analyze examples/nested --html nested.html
  camkes analyze examples/nested --sensitivity
  camkes analyze examples/nested --platform qemu-x86_64 --paths bounds.json
  camkes analyze examples/nested --platform none --strict
  camkes analyze examples/nested --platform none --certificate nested.jsonl
  camkes analyze system.camkes --assign audsley --write
  camkes analyze system.camkes --witnesses cases
  camkes run system.camkes --replay cases/radar.json --timeline radar.svg

Exit status: 1 if a deadline can be missed, or a task with a deadline has no bound; with --strict also if a
bound rests on an assumption.""",
        has_results=True,
    ),
)
