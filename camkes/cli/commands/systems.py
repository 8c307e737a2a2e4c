# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Commands that read a system and describe it: check, dump, plan, graph."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from camkes import pipeline
from camkes.cli.arguments import Command, add_dependencies, add_input, input_of
from camkes.cli.output import (
    GOOD,
    USAGE,
    Progress,
    count,
    for_machines,
    wants_color,
    write_diagnostics,
)
from camkes.diagnostics import Sink
from camkes.files import write_output


def checked(arguments: argparse.Namespace, sink: Sink) -> pipeline.Checked | None:
    """The system that the arguments ask for; for make, the files it was read from are written."""
    request = input_of(arguments)
    if getattr(arguments, "code", False):
        progress = Progress(arguments)
        result = pipeline.check_code(request, arguments.output, sink, progress, counting=True)
        progress.clear()
    else:
        result = pipeline.check(request, sink)
    rules: Path | None = arguments.makefile_dependencies
    if rules is not None and result is not None:
        write_dependencies(rules, result, request)
    return result


def write_dependencies(file: Path, read: pipeline.Checked, asked: pipeline.Input) -> None:
    """Write a rule for make that names the files that were read; they make the file with the rule."""
    paths = [source.path for source in read.system.files]
    paths += [path for path in (asked.dtb or read.application.dtb, asked.gpio_list) if path]
    names = [re.sub(r"([\\ #])", r"\\\1", str(path)).replace("$", "$$") for path in (file, *paths)]
    lines = " \\\n  ".join([f"{names[0]}:", *dict.fromkeys(names[1:])])
    write_output(file, f"{lines}\n".encode())


def dump(arguments: argparse.Namespace) -> int:
    from camkes.model.dump import dump_text

    sink = Sink()
    result = checked(arguments, sink)
    status = write_diagnostics(arguments, sink)
    if result is not None:
        print(dump_text(result.system, places=arguments.places), end="")
    return status


def check(arguments: argparse.Namespace) -> int:
    sink = Sink()
    result = checked(arguments, sink)
    if result is not None and arguments.proofs:
        pipeline.check_for_proofs(result, sink)
    status = write_diagnostics(arguments, sink)
    if result is not None and status == GOOD and not for_machines(arguments):
        system, plan = result.system, result.plan
        print(
            f"{arguments.path}: good: {count(system.instances, 'instance')}, "
            f"{count(system.connections, 'connection')}, {count(plan.tasks, 'task')}, "
            f"{count(plan.cpis, 'protocol CPI')}"
        )
    return status


def plan(arguments: argparse.Namespace) -> int:
    from camkes.showing import plan_tables

    sink = Sink()
    result = checked(arguments, sink)
    capabilities = None
    if result is not None and arguments.authority:
        capabilities = pipeline.capabilities(result, sink)
    status = write_diagnostics(arguments, sink)
    if result is None:
        return status
    if capabilities is not None:
        from camkes.capdl import authority

        entries = authority.authority(result.system, result.plan, capabilities)
        threads = authority.thread_authority(capabilities)
        if arguments.json:
            print(authority.to_json(entries, threads))
        else:
            print(f"{authority.threads_to_text(threads)}\n\n{authority.to_text(entries)}")
    else:
        from camkes.analysis.verdict import responses
        from camkes.protocols.jobs import find_jobs
        from camkes.showing.plan_json import to_json
        from camkes.showing.workload_json import workload_report

        analysis, jobs = responses(result.system, result.plan), find_jobs(result.system, result.plan)
        if arguments.json:
            unread = {"": "without --code"} if result.calls is None else result.calls.unread
            workload = workload_report(result.system, result.plan, unread)
            print(to_json(result.plan, analysis, jobs, workload))
        else:
            color = wants_color(arguments, sys.stdout)
            print(plan_tables.to_text(result.plan, analysis, jobs, color=color))
    return status


def graph(arguments: argparse.Namespace) -> int:
    from camkes.showing.draw.graph import graph_dot
    from camkes.showing.draw.graph_svg import graph_svg
    from camkes.showing.draw.pictures import FORMS, write_picture

    output: Path | None = arguments.output
    if output is not None and output.suffix not in (".dot", *FORMS):
        forms = ", ".join((".dot", *FORMS))
        print(f"camkes graph: {output}: the name of a picture must end in one of {forms}", file=sys.stderr)
        return USAGE
    sink = Sink()
    request = input_of(arguments)
    result = pipeline.sketch(request, sink)  # a picture is of most use where something is wrong
    status = write_diagnostics(arguments, sink)
    if result is None:
        return status
    if arguments.makefile_dependencies is not None:
        write_dependencies(arguments.makefile_dependencies, result, request)
    drawn = output is not None and output.suffix in FORMS
    text = (graph_svg if drawn else graph_dot)(result.plan, result.system, result.cycle)
    if output is None:
        print(text, end="" if text.endswith("\n") else "\n")
    elif drawn:
        write_picture(output, text)
    else:
        write_output(output, text.encode())
    return status


def check_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_dependencies(parser)
    parser.add_argument(
        "--json", dest="format", action="store_const", const="json", help="the same as --format json"
    )
    parser.add_argument("--strict", action="store_true", help="a warning fails, too")
    parser.add_argument(
        "--proofs",
        action="store_true",
        help="warn of what the theories of l4v about CAmkES systems do not cover",
    )


def dump_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_dependencies(parser)
    parser.add_argument("--places", action="store_true", help="add the source line of each definition")


def plan_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_dependencies(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--authority",
        action="store_true",
        help="list which threads can set which priorities, and the capabilities of each component with "
        "their purpose",
    )
    parser.add_argument(
        "--code", action="store_true", help="compile the code and determine from it what handlers call"
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, help="build folder for --code (default: build/NAME)"
    )


def graph_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_dependencies(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help=".dot, .svg, .png or .pdf (default: DOT to stdout)"
    )


COMMANDS = (
    Command(
        "check",
        check,
        "check a system for errors without building it",
        check_arguments,
        """
  camkes check examples/nested
  camkes check system.camkes --strict
  camkes check system.camkes --format sarif > findings.sarif""",
    ),
    Command(
        "dump",
        dump,
        "print the resolved system as JSON",
        dump_arguments,
        """
  camkes dump examples/adder
  camkes dump system.camkes --places -I interfaces -MD system.d""",
        has_results=True,
    ),
    Command(
        "plan",
        plan,
        "show the computed plan: ceilings, threads, ids",
        plan_arguments,
        """
  camkes plan examples/protocols
  camkes plan examples/nested -DCONFIGURATION=3 --json""",
        has_results=True,
    ),
    Command(
        "graph",
        graph,
        "draw tasks, CPIs and requests",
        graph_arguments,
        """
  camkes graph examples/nested -o nested.svg
  camkes graph examples/nested | dot -Tpdf -o nested.pdf""",
        has_results=True,
    ),
)
