# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The commands that write what developers begin with: new, stubs."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from camkes import pipeline
from camkes.cli.arguments import Command, CommandLineParser, add_input, add_messages, did_you_mean, input_of
from camkes.cli.output import GOOD, USAGE, count, write_diagnostics
from camkes.diagnostics import Sink
from camkes.documents import json_text
from camkes.scaffold.create import TEMPLATES

if TYPE_CHECKING:
    from camkes.scaffold.components import AskedComponent

#: the word after `new` that adds to a project, if a name follows it
_COMPONENT = "component"


class NewReport(Struct, frozen=True):
    """A new project. `files` are those that were written, none after an error."""

    folder: str
    template: str
    files: tuple[str, ...]


class NewComponentReport(Struct, frozen=True):
    """A new component. `files` are those that were written, `changed` those that a line was added to, none
    after an error. `composition` and `configuration` are lines that make an instance of it."""

    component: str
    files: tuple[str, ...]
    changed: tuple[str, ...]
    composition: tuple[str, ...]
    configuration: tuple[str, ...]


class StubsReport(Struct, frozen=True):
    """Handlers that a component lacked, and what defines them in a file, which has them unless they were only
    to be printed."""

    component: str
    file: str
    handlers: tuple[str, ...]
    text: str


def new(arguments: argparse.Namespace) -> int:
    if arguments.component is not None:
        if arguments.name != Path(_COMPONENT):
            return _usage(f"unexpected argument: {arguments.component}")
        for option in ("template", "install"):
            if getattr(arguments, option) is not None:
                return _usage(f"--{option} is of a project; a component has none")
        return _new_component(arguments)
    given = [option for option in _OPTIONS if getattr(arguments, option)]
    if given:
        return _usage(f"--{given[0]} is of a component: camkes new component NAME --{given[0]} ...")
    return _new_project(arguments)


def _usage(message: str) -> int:
    print(f"camkes new: {message}\nTry 'camkes new --help'.", file=sys.stderr)
    return USAGE


def _new_project(arguments: argparse.Namespace) -> int:
    from camkes.scaffold.create import create
    from camkes.scaffold.installation import ToolSource, source_of_tool

    sink = Sink()
    folder, template = arguments.name, arguments.template or "task"
    source = source_of_tool() if arguments.install is None else ToolSource(arguments.install)
    written = create(folder, template, source, sink)
    status = write_diagnostics(arguments, sink)
    if arguments.json:
        report = NewReport(str(folder), template, tuple(map(str, written)))
        print(json_text(report))
    elif status == GOOD and not arguments.quiet:
        print(f"created {folder}: {TEMPLATES[template]}")
        print(f"  camkes run {folder}      build and run it")
        print(f"  camkes test {folder}     run its tests")
    return status


def _new_component(arguments: argparse.Namespace) -> int:
    sink = Sink()
    asked = _asked_component(arguments)
    report = NewComponentReport(asked.name, (), (), (), ())
    root = Path()
    application = pipeline.find(pipeline.Input(arguments.application), sink)
    if application is not None:
        from camkes.scaffold.components import new_component
        from camkes.scaffold.insertions import write_insertions

        options = pipeline.load_options(application, pipeline.Input(arguments.application))
        own = Sink()  # what the application lacks now does not matter here
        loaded = pipeline.load(application.root, options, own)
        if not loaded.program.complete:
            sink = own
        else:
            made = new_component(asked, application, loaded.program, loaded.system, options, sink)
            if made is not None:
                write_insertions((*made.written, *made.changed))
                root = made.root
                report = NewComponentReport(
                    asked.name,
                    tuple(os.path.relpath(each.path) for each in made.written),
                    tuple(os.path.relpath(each.path) for each in made.changed),
                    made.composition,
                    made.configuration,
                )
    status = write_diagnostics(arguments, sink)
    if arguments.json:
        print(json_text(report))
    elif not report.files:
        print("camkes new: nothing was written", file=sys.stderr)
    else:
        _describe(report, root, quiet=arguments.quiet)
    return status


def _describe(report: NewComponentReport, root: Path, *, quiet: bool) -> None:
    """What was written, and the lines that make an instance, which are the result."""
    if not quiet:
        for verb, files in (("wrote", report.files), ("changed", report.changed)):
            print("".join(f"{verb} {file}\n" for file in files), end="")
        replaced = any("INSTANCE.INTERFACE" in line for line in report.composition)
        with_names = ", with names in place of INSTANCE.INTERFACE" if replaced else ""
        print(f"to use it, add to {os.path.relpath(root)}{with_names}")
    for block in ("composition", "configuration"):
        lines: tuple[str, ...] = getattr(report, block)
        if lines:
            print("\n".join([f"  in its {block}:", *(f"    {line}" for line in lines)]))


def _asked_component(arguments: argparse.Namespace) -> AskedComponent:
    from camkes.scaffold.components import AskedComponent, AskedInterface

    return AskedComponent(
        arguments.component,
        tuple(AskedInterface(kind, *words) for kind in _INTERFACES for words in getattr(arguments, kind)),
        control=arguments.control,
        task=arguments.task or bool(arguments.period),
        period=arguments.period or "",
    )


def stubs(arguments: argparse.Namespace) -> int:
    from camkes.backends.host.sources import report_no_sources
    from camkes.scaffold.insertions import write_insertions
    from camkes.scaffold.stubs import component_types, missing_handlers

    sink = Sink()
    request = input_of(arguments)
    application = pipeline.find(request, sink)
    if application is None:
        return write_diagnostics(arguments, sink)
    options = pipeline.load_options(application, request)
    own = Sink()  # what has nothing to do with handlers is left to `check`
    loaded = pipeline.load(application.root, options, own)
    if not loaded.program.complete:
        return write_diagnostics(arguments, own)
    kinds = component_types(loaded.program, forward=options.allow_forward_references)
    types = {} if loaded.system is None else {each.name: each.type.name for each in loaded.system.instances}
    only = sorted(kinds) if arguments.of is None else [types.get(arguments.of, arguments.of)]
    if unknown := [name for name in only if name not in kinds]:
        meant = did_you_mean(unknown[0], [*kinds, *types])
        print(f"camkes stubs: there is no component or instance {unknown[0]}{meant}", file=sys.stderr)
        return USAGE
    found = missing_handlers(application, kinds, loaded.system, only)
    for each in found:
        if each.insertion is None and (arguments.of is not None or each.kind.name in types.values()):
            report_no_sources(application, each.kind, sink)
    if not arguments.print:
        write_insertions(each.insertion for each in found if each.insertion is not None)
    status = write_diagnostics(arguments, sink)
    reports = [
        StubsReport(
            each.kind.name,
            os.path.relpath(each.insertion.path),
            tuple(handler.name for handler in each.handlers),
            each.insertion.text,
        )
        for each in found
        if each.insertion is not None
    ]
    if arguments.json:
        print(json_text(reports))
    elif arguments.print:
        print("\n".join(f"/* {each.file} */\n{each.text.lstrip()}" for each in reports), end="")
    elif not arguments.quiet:
        for report in reports:
            print(f"{report.file}: added {', '.join(f'{name}()' for name in report.handlers)}")
        if not found:
            print(f"{count(only, 'component')}: no handler is missing")
    return status


def _pair(text: str) -> tuple[str, ...]:
    """`TYPE:NAME`, or TYPE alone, after which the interface is called then."""
    return _words(text, r"(\w+(?:\(\d+\))?)(?::([A-Za-z_]\w*))?", "TYPE:NAME, as in Reading:sensor")


def _provided(text: str) -> tuple[str, ...]:
    """The same with a protocol."""
    form = "TYPE:NAME or TYPE:NAME:PROTOCOL, as in Reading:sensor:inherited"
    return _words(text, r"([A-Za-z_]\w*)(?::([A-Za-z_]\w*)(?::(\w+))?)?", form)


def _words(text: str, pattern: str, form: str) -> tuple[str, ...]:
    match = re.fullmatch(pattern, text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid interface; expected {form}")
    kind, name, *more = match.groups()
    return kind, name or re.sub(r"\W.*", "", kind).lower(), *(word for word in more if word)


def _period(text: str) -> str:
    match = re.fullmatch(r"(\d+) ?(ns|us|ms|s)", text)
    if match is None or not int(match[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid period; expected 10ms, 250us or 1s")
    return f"{match[1]} {match[2]}"


def _component_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", text, re.ASCII):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid name of a component; it consists of letters, digits and `_`"
        )
    return text


#: what each kind of interface is followed by, how that is read, and what it means
_INTERFACES: dict[str, tuple[str, Callable[[str], tuple[str, ...]], str]] = {
    "provides": (
        "TYPE:NAME[:PROTOCOL]",
        _provided,
        "it serves this procedure, with this protocol",
    ),
    "uses": ("TYPE:NAME", _pair, "it calls this procedure"),
    "emits": ("TYPE:NAME", _pair, "it emits this event"),
    "consumes": ("TYPE:NAME", _pair, "it waits for this event"),
    "dataport": ("TYPE:NAME", _pair, "it shares memory of this type, Buf or a type of C"),
}
#: options of `new` that are of a component
_OPTIONS = (*_INTERFACES, "control", "task", "period")


def new_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "camkes new NAME [--template TEMPLATE] [options]\n       camkes new component NAME [options]"
    )
    if isinstance(parser, CommandLineParser):
        parser.mixed = True
    parser.add_argument(
        "name", metavar="NAME", type=Path, help="the folder, whose name is that of the project"
    )
    text = "after the word `component`: a new component of the application in the current folder"
    parser.add_argument("component", metavar="NAME", nargs="?", type=_component_name, help=text)
    described = "; ".join(f"{name}: {text}" for name, text in TEMPLATES.items())
    parser.add_argument(
        "--template",
        choices=tuple(TEMPLATES),
        help=f"template of the project (default: task). {described}",
    )
    parser.add_argument(
        "--install",
        metavar="SOURCE",
        help="what the workflow installs with pipx: git+https://..., a file or an address (default: from "
        "where this tool was installed, or a wheel of it in the project)",
    )
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
    group = parser.add_argument_group("options of a component, each of which can be repeated")
    repeated: Any = {"action": "append", "default": []}
    for kind, (form, words, meaning) in _INTERFACES.items():
        group.add_argument(f"--{kind}", metavar=form, type=words, help=meaning, **repeated)
    group = parser.add_argument_group("further options of a component")
    group.add_argument("--control", action="store_true", help="it has a run()")
    group.add_argument("--task", action="store_true", help="its run() is a task")
    text = "its run() is a task whose jobs are released once in this time"
    group.add_argument("--period", metavar="TIME", type=_period, help=text)
    text = "the application: its folder or its .camkes file (default: the current folder)"
    group.add_argument("--to", dest="application", metavar="PATH", type=Path, default=Path(), help=text)
    add_messages(parser)


def stubs_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    text = "a component, or an instance of it (default: all components)"
    parser.add_argument("of", metavar="COMPONENT", nargs="?", help=text)
    parser.add_argument("--print", action="store_true", help="print the code and write nothing")
    parser.add_argument("--json", action="store_true", help="print what was added as JSON")


COMMANDS = (
    Command(
        "new",
        new,
        "create a project, or a component of one",
        new_arguments,
        """
  camkes new pump                       a periodic task, its test, settings for CI and editors
  camkes new drivers/uart --template driver
  camkes new drone --template system    a whole system: the flight controller of examples/flight
  camkes new pump --install git+https://example.org/camkes-rt@v0.1.0

In a project, where the other components are:
  camkes new component Logger --provides Log:log:inherited
  camkes new component Filter --period 10ms --uses Reading:sensor --emits Ready:ready

No file is ever replaced. A project called component is made by `camkes new component` without
a second name.

Exit status: 0 it was created, 1 the name is not valid or there are files already.""",
        has_results=True,
    ),
    Command(
        "stubs",
        stubs,
        "write the handlers that the C code of components lacks",
        stubs_arguments,
        """
  camkes stubs                  of all components of the application in the current folder
  camkes stubs pump Sensor      of one
  camkes stubs pump --print     only print them

A handler is missing where no source of the component defines it (E0723). It is appended to the
source of the component, with the types of the procedure; it does nothing and returns zeros.""",
        has_results=True,
    ),
)
