# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The `camkes` command: words of the command line to calls of the pipeline, and exit statuses.

Exit status: 0 good, 1 the user's input has errors (or a run found a fault), 2 wrong usage, 3 a defect
of this tool. What is slow to import is imported in the command that needs it.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from camkes import __version__, pipeline
from camkes.diagnostics import Sink
from camkes.files import OutputError, write_output
from camkes.model.limits import RECORD_LIMIT
from camkes.model.units import NANOSECONDS
from camkes.process import CANNOT_WRITE, for_terminal, no_output

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import IO, Any, NoReturn

    from camkes.cli.reformat import Layout

GOOD, USER_ERROR, USAGE, DEFECT = 0, 1, 2, 3
INTERRUPTED = 130  # as a shell reports SIGINT

Command = Callable[[argparse.Namespace], int]


# Words of the command line -----------------------------------------------------------------------

DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|us|ms|s)?\Z")


def duration(text: str) -> int:
    """`2s`, `1.5ms`, `250us`; a bare number is seconds. In nanoseconds."""
    match = DURATION.match(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write 2s, 150ms, 20us or 500ns")
    nanoseconds = float(match[1]) * NANOSECONDS[match[2] or "s"]
    if nanoseconds >= 2**63:
        raise argparse.ArgumentTypeError(f"{text!r} is too long; the clock counts 292 years")
    return round(nanoseconds)


def window(text: str) -> tuple[int, int]:
    """`FROM:TO`, both durations since boot."""
    begin, colon, end = text.partition(":")
    if not colon:
        raise argparse.ArgumentTypeError(f"{text!r} is no window; write FROM:TO, as in 0:100ms")
    bounds = duration(begin or "0"), duration(end)
    if bounds[0] >= bounds[1]:
        raise argparse.ArgumentTypeError(f"the window {text!r} is empty; FROM must be before TO")
    return bounds


def choices(text: str) -> str:
    """How what scheduling leaves open is decided: `first`, `random:SEED` or `script:FILE`."""
    if not re.fullmatch(r"first|random:\d+|script:.+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is none of first, random:NUMBER, script:FILE")
    how, _, file = text.partition(":")
    return f"script:{Path(file).absolute()}" if how == "script" else text


def size(text: str) -> int:
    """`512M`, `2G`; a bare number is bytes."""
    match = re.fullmatch(r"(\d{1,15})([KMG]?)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid size; write 512K, 64M or 2G")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]]


def conditions(text: str) -> tuple[str, ...]:
    """What makes a run a failure beside faults and violated properties."""
    given = tuple(text.split(","))
    for name in given:
        if name not in pipeline.CONDITIONS:
            known = ", ".join(pipeline.CONDITIONS)
            raise argparse.ArgumentTypeError(f"{name!r} is not a valid condition; expected {known}")
    return given


def definition(text: str) -> tuple[str, str]:
    """`NAME=VALUE`; NAME alone is NAME=ON, as in CMake's own options."""
    name, equals, value = text.partition("=")
    name = name.partition(":")[0]  # CMake allows NAME:TYPE=VALUE
    if not re.fullmatch(r"\w+", name):
        raise argparse.ArgumentTypeError(f"{text!r} is no definition; write NAME=VALUE")
    return name, value if equals else "ON"


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """The end of a message about a wrong word; empty if none is near."""
    from camkes.resolve.nearest import nearest

    found = nearest(word, words)
    return f"; did you mean {found}?" if found else ""


def fixed_width(prog: str) -> argparse.HelpFormatter:
    """argparse formats every argument to see whether it can; that need not ask how wide the terminal is."""
    return argparse.RawDescriptionHelpFormatter(prog, width=80)


class Parser(argparse.ArgumentParser):
    """Argument errors name the command and end with the one line that helps."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=fixed_width)

    def format_help(self) -> str:
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stderr).write(message)  # argparse ignores that the output is full

    def error(self, message: str) -> NoReturn:
        unknown = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if unknown is not None:
            message = message.replace("argument COMMAND: invalid choice", "there is no command")
            if "there is no command" in message:
                message = message.partition(" (choose")[0]
            message += did_you_mean(unknown[1], re.findall(r"[\w-]+", unknown[2]))
        self.exit(USAGE, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")


def add_input(parser: argparse.ArgumentParser) -> None:
    """What every command that reads a system understands."""
    parser.add_argument("path", metavar="PATH", type=Path, help="a .camkes file or an application's folder")
    group = parser.add_argument_group("reading the system")
    group.add_argument(
        "-D",
        dest="definitions",
        metavar="NAME=VALUE",
        type=definition,
        action="append",
        default=[],
        help="a CMake variable of the application",
    )
    group.add_argument(
        "-I",
        "--import-path",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="where <imports> are",
    )
    group.add_argument(
        "--cpp-flag", metavar="FLAG", action="append", default=[], help="a flag for the C preprocessor"
    )
    group.add_argument("--cpp-bin", metavar="PROGRAM", help="the C preprocessor (default: cpp)")
    group.add_argument(
        "--cpp", dest="preprocess", action="store_true", default=None, help="run the C preprocessor (default)"
    )
    group.add_argument(
        "--nocpp", dest="preprocess", action="store_false", help="do not run the C preprocessor"
    )
    group.add_argument("--dtb", metavar="FILE", type=Path, help="the device tree that dtb() queries ask")
    group.add_argument("--gpio-list", metavar="FILE", type=Path, help="the pins that gpio() queries ask")
    group.add_argument(
        "--allow-forward-references",
        action="store_true",
        default=None,
        help="let names be used before they are defined",
    )
    group.add_argument(
        "--disallow-forward-references",
        dest="allow_forward_references",
        action="store_false",
        help="names are defined before they are used (default)",
    )
    add_messages(parser)


def add_dependencies(parser: argparse.ArgumentParser) -> None:
    """For commands whose result a makefile may keep."""
    parser.add_argument(
        "-MD",
        "--makefile-dependencies",
        metavar="FILE",
        type=Path,
        help="write a rule for make that names all files that were read",
    )


def add_messages(parser: argparse.ArgumentParser) -> None:
    """How a command says what is wrong."""
    messages = parser.add_argument_group("messages")
    messages.add_argument(
        "--format",
        choices=("text", "oneline", "json", "sarif"),
        default="text",
        help="how errors are written (default: text); json and sarif to standard output, unless it has "
        "results of the command",
    )
    messages.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colour (default: on a terminal)"
    )
    messages.add_argument("--ascii", action="store_true", help="draw with ASCII only")
    messages.add_argument(
        "-q", "--quiet", action="store_true", help="no warnings, notes or progress: only errors and results"
    )


def request_of(arguments: argparse.Namespace) -> pipeline.Request:
    return pipeline.Request(
        path=arguments.path,
        definitions=tuple(arguments.definitions),
        import_path=tuple(arguments.import_path),
        cpp_flags=tuple(arguments.cpp_flag),
        cpp=arguments.cpp_bin or "cpp",
        preprocess=arguments.preprocess,
        dtb=arguments.dtb,
        gpio_list=arguments.gpio_list,
        allow_forward_references=arguments.allow_forward_references,
    )


# Output ------------------------------------------------------------------------------------------


def wants_color(arguments: argparse.Namespace, stream: object) -> bool:
    if arguments.color != "auto":
        return bool(arguments.color == "always")
    isatty = getattr(stream, "isatty", None)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return bool(isatty and isatty()) and not plain


#: Commands that write something of their own to standard output, where it stands alone.
WITH_RESULTS = frozenset(("dump", "plan", "graph", "run", "migrate", "fmt"))


def for_machines(arguments: argparse.Namespace) -> bool:
    """Whether errors are written as one document for programs."""
    return arguments.format in ("json", "sarif")


def tell(arguments: argparse.Namespace, sink: Sink) -> int:
    """Write what a run has to say; the exit status that follows from it."""
    diagnostics = sink.diagnostics
    if arguments.quiet:
        diagnostics = tuple(d for d in diagnostics if d.severity.value == "error")
    machine = for_machines(arguments)
    stream = sys.stdout if machine and arguments.command not in WITH_RESULTS else sys.stderr
    if diagnostics or machine:
        from camkes.diagnostics import rendering

        style = rendering.Style(
            form=rendering.Form(arguments.format),
            color=not machine and wants_color(arguments, stream),
            unicode=not arguments.ascii and can_draw(stream),
        )
        text = rendering.render(diagnostics, style)
        stream.write(text if text.endswith("\n") else text + "\n")
    return USER_ERROR if sink.has_errors else GOOD


def can_draw(stream: object) -> bool:
    """Whether the stream takes box-drawing characters."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    return encoding.lower().replace("-", "").startswith("utf")


class Progress:
    """One line on a terminal that says what is being done; nothing elsewhere."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.shown = sys.stderr.isatty() and not arguments.quiet
        self.width = 0

    def __call__(self, text: str) -> None:
        if not text:
            self.clear()
        elif self.shown:
            sys.stderr.write("\r" + text[:100].ljust(self.width))
            sys.stderr.flush()
            self.width = len(text[:100])

    def clear(self) -> None:
        if self.shown and self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()
            self.width = 0


# Commands ----------------------------------------------------------------------------------------


def checked(arguments: argparse.Namespace, sink: Sink) -> pipeline.Checked | None:
    """The system that the arguments ask for; for make, the files it was read from are written."""
    request = request_of(arguments)
    if getattr(arguments, "code", False):
        progress = Progress(arguments)
        result = pipeline.check_code(request, arguments.output, sink, progress)
        progress.clear()
    else:
        result = pipeline.check(request, sink)
    rules: Path | None = arguments.makefile_dependencies
    if rules is not None and result is not None:
        pipeline.write_dependencies(rules, result, request)
    return result


def dump(arguments: argparse.Namespace) -> int:
    from camkes.model.dump import dump_text

    sink = Sink()
    result = checked(arguments, sink)
    status = tell(arguments, sink)
    if result is not None:
        print(dump_text(result.system, places=arguments.places), end="")
    return status


def check(arguments: argparse.Namespace) -> int:
    sink = Sink()
    result = checked(arguments, sink)
    status = tell(arguments, sink)
    if result is not None and status == GOOD and not for_machines(arguments):
        system, plan = result.system, result.plan
        print(
            f"{arguments.path}: good: {count(system.instances, 'instance')}, "
            f"{count(system.connections, 'connection')}, {count(plan.tasks, 'task')}, "
            f"{count(plan.cpis, 'protocol CPI')}"
        )
    return status


def count(items: Sequence[object], name: str) -> str:
    return f"{len(items)} {name}{'' if len(items) == 1 else 's'}"


def plan(arguments: argparse.Namespace) -> int:
    from camkes.report import plan_tables

    sink = Sink()
    result = checked(arguments, sink)
    capabilities = None
    if result is not None and arguments.authority:
        capabilities = pipeline.capabilities(result, sink)
    status = tell(arguments, sink)
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
    elif arguments.json:
        print(plan_tables.to_json(result.plan))
    else:
        print(plan_tables.to_text(result.plan, color=wants_color(arguments, sys.stdout)))
    return status


def graph(arguments: argparse.Namespace) -> int:
    from camkes.report.draw.graph import graph_dot
    from camkes.report.draw.graph_svg import graph_svg

    output: Path | None = arguments.output
    if output is not None and output.suffix not in (".dot", ".svg"):
        print(f"camkes graph: {output} ends neither in .dot nor in .svg", file=sys.stderr)
        return USAGE
    sink = Sink()
    request = request_of(arguments)
    result = pipeline.sketch(request, sink)  # a picture is of most use where something is wrong
    status = tell(arguments, sink)
    if result is None:
        return status
    if arguments.makefile_dependencies is not None:
        pipeline.write_dependencies(arguments.makefile_dependencies, result, request)
    draw = graph_svg if output is not None and output.suffix == ".svg" else graph_dot
    text = draw(result.plan, result.system, result.cycle)
    if output is None:
        print(text, end="" if text.endswith("\n") else "\n")
    else:
        write_output(output, text.encode())
    return status


def build(arguments: argparse.Namespace) -> int:
    if arguments.kernel == "sel4":
        if wrong_for_sel4(arguments):
            return USAGE
        out, status = build_sel4(arguments)
        if out is not None:
            say_built(arguments, out / "images")
        return status
    sink = Sink()
    progress = Progress(arguments)
    image = pipeline.build(
        request_of(arguments), arguments.output, sink, progress, sanitize=arguments.sanitize
    )
    progress.clear()
    status = tell(arguments, sink)
    if image is not None and status == GOOD:
        say_built(arguments, image.folder)
    return status


def say_built(arguments: argparse.Namespace, folder: Path) -> None:
    if not for_machines(arguments):
        print(f"built {folder}")


def run(arguments: argparse.Namespace) -> int:
    if arguments.kernel == "sel4" and wrong_for_sel4(arguments):
        return USAGE
    if arguments.trace is not None and arguments.trace.suffix not in pipeline.TRACE_FORMS:
        forms = " or ".join(pipeline.TRACE_FORMS)
        message = f"camkes run: {arguments.trace}: the name of a trace has to end in {forms}"
        print(f"{message}; Perfetto opens .json", file=sys.stderr)
        return USAGE
    if arguments.timeline is not None and arguments.timeline.suffix != ".svg":
        print(f"camkes run: {arguments.timeline}: a timeline ends in .svg", file=sys.stderr)
        return USAGE
    if arguments.kernel == "sel4":
        return run_sel4(arguments)
    sink = Sink()
    progress = Progress(arguments)
    options = pipeline.RunRequest(
        output=arguments.output,
        duration=arguments.duration,
        fast=arguments.fast,
        scheduling=arguments.scheduling,
        timeslice=arguments.timeslice,
        choices=arguments.choices,
        loop_limit_ms=arguments.loop_limit,
        trace=arguments.trace,
        timeline=arguments.timeline,
        window=arguments.window,
        verify=arguments.verify,
        sanitize=arguments.sanitize,
        timeout=arguments.timeout,
        memory_limit=arguments.memory_limit,
        record_limit=arguments.record_limit,
        hardened=arguments.hardened,
    )
    outcome = None
    try:
        with console(arguments) as stream:
            descriptor = stream.fileno() if stream is not sys.stdout else None
            show = shown_on_terminal(stream) if stream.isatty() else None
            options = replace(options, console=descriptor, show=show)
            outcome = pipeline.run(request_of(arguments), options, sink, progress)
    except OutputError as error:
        sink.add(pipeline.unwritten(error))
    except KeyboardInterrupt:  # before there was anything to report
        if arguments.json:
            print(pipeline.no_report_json(sink, interrupted=True))
        raise
    finally:
        progress.clear()
    return report(arguments, outcome, sink)


def shown_on_terminal(stream: IO[str]) -> Callable[[bytes], None]:
    """Writes what components print, which must not control the terminal."""
    from codecs import getincrementaldecoder

    decoder = getincrementaldecoder("utf-8")("backslashreplace")

    def show(data: bytes) -> None:
        stream.write(for_terminal(decoder.decode(data)))
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


def report(arguments: argparse.Namespace, outcome: pipeline.Outcome | None, sink: Sink) -> int:
    """Print what a run came to; with --json there is one document, whatever happened."""
    status = tell(arguments, sink)
    if outcome is None:
        if arguments.json:
            print(pipeline.no_report_json(sink))
        return status
    if arguments.json:
        print(outcome.report_json())
    else:
        sys.stdout.flush()
        color = wants_color(arguments, sys.stdout)
        print(outcome.report_text(color=color, unicode=not arguments.ascii and can_draw(sys.stdout)), end="")
    if outcome.interrupted:
        return 128 + outcome.interrupted
    return max(status, USER_ERROR if outcome.failed or outcome.fails_on(arguments.fail_on) else GOOD)


def build_sel4(arguments: argparse.Namespace) -> tuple[Path | None, int]:
    """The folder with an image, and an exit status."""
    from camkes.backends.sel4 import workspace

    sink = Sink()
    progress = Progress(arguments)
    out = workspace.build(
        arguments.path,
        dict(arguments.definitions),
        arguments.workspace,
        arguments.output,
        sink,
        progress,
    )
    progress.clear()
    return out, max(tell(arguments, sink), GOOD if out is not None else USER_ERROR)


def run_sel4(arguments: argparse.Namespace) -> int:
    """Show what an image prints; for a stated time, or with results, record it."""
    if arguments.duration is None and arguments.trace is None and not arguments.json:
        out, status = build_sel4(arguments)
        if out is not None:
            from camkes.backends.sel4.workspace import simulate

            with console(arguments) as stream:
                simulate(out, stream)
        return status
    sink = Sink()
    progress = Progress(arguments)
    options = pipeline.RunRequest(output=arguments.output, duration=arguments.duration, trace=arguments.trace)
    with console(arguments) as stream:

        def show(text: str) -> None:
            stream.write(text)
            stream.flush()

        outcome = pipeline.record(request_of(arguments), options, arguments.workspace, show, sink, progress)
    progress.clear()
    return report(arguments, outcome, sink)


#: Options that only the host kernel has, and what they are when they are not given.
HOST_ONLY = {
    "sanitize": False,
    "fast": False,
    "scheduling": "fifo",
    "timeslice": None,
    "choices": "first",
    "loop_limit": None,
    "timeout": 10_000_000_000,
    "memory_limit": 1 << 30,
    "record_limit": RECORD_LIMIT,
    "hardened": False,
    "fail_on": (),
    "timeline": None,
    "window": None,
    "verify": False,
}

#: What CMake is told instead, where an application is built by it.
INPUT_ONLY = {
    "import_path": "CAmkESAddImportPath() in CMakeLists.txt",
    "cpp_flag": "CPP_FLAGS of DeclareCAmkESRootserver() in CMakeLists.txt",
    "cpp_bin": "the `cpp` of PATH",
    "preprocess": "-DCAmkESCPP=ON or OFF",
    "dtb": "DTB_FILE_PATH of DeclareCAmkESRootserver() in CMakeLists.txt, and -DCAmkESDTS=ON",
    "gpio_list": "-DCAmkESDTS=ON: the list of the platform",
    "allow_forward_references": "-DCAmkESAllowForwardReferences=ON",
}


def wrong_for_sel4(arguments: argparse.Namespace) -> bool:
    """Says which of the given options have no meaning for `--kernel sel4`."""
    given = vars(arguments)
    wrong = [
        f"--{name.replace('_', '-')} is for the host kernel"
        for name, usual in HOST_ONLY.items()
        if given.get(name, usual) != usual
    ]
    wrong += [
        f"--{name.replace('_', '-').replace('preprocess', 'cpp')} is for the host kernel; for seL4: {instead}"
        for name, instead in INPUT_ONLY.items()
        if given.get(name) not in (None, [])
    ]
    for line in wrong:
        print(f"camkes {arguments.command}: {line}", file=sys.stderr)
    return bool(wrong)


def migrate(arguments: argparse.Namespace) -> int:
    from camkes.migrate import application

    sink = Sink()
    changes = application.migrate(arguments.path, sink)
    if sink.has_errors:
        return tell(arguments, sink)
    base = arguments.path if arguments.path.is_dir() else arguments.path.parent
    color = wants_color(arguments, sys.stdout)
    for change in changes:
        for line in change.diff(base):
            sys.stdout.write(application.painted(line) if color else line)
    sys.stdout.flush()
    status = tell(arguments, sink)
    if arguments.write:
        try:
            application.write(changes)
        except OSError as error:
            raise OutputError(f"cannot write {error.filename}: {error.strerror}") from error
    if changes and not arguments.quiet:
        files = count(changes, "file")
        said = f"changed {files}" if arguments.write else f"{files} would change; --write does it"
        print(said, file=sys.stderr)
    return status


def explain(arguments: argparse.Namespace) -> int:
    from camkes.diagnostics import explain as pages
    from camkes.report.trace import demands

    if arguments.code is None:
        found_all = pages.all_codes()
        print(pages.to_json(found_all) if arguments.json else pages.listing(found_all))
        return GOOD
    found = pages.find(arguments.code)
    described = demands.page(arguments.code) if found is None and not arguments.json else None
    if described is not None:
        print(described)
        return GOOD
    if found is None:
        nearest = pages.nearest(arguments.code)
        hint = f"; did you mean {nearest}?" if nearest else ""
        print(f"camkes explain: there is no code {arguments.code!r}{hint}", file=sys.stderr)
        return USER_ERROR
    print(pages.to_json([found]) if arguments.json else pages.page(found))
    return GOOD


def fmt(arguments: argparse.Namespace) -> int:
    from camkes.cli import reformat

    from_input = arguments.stdin or Path("-") in arguments.paths
    if from_input and arguments.paths not in ([], [Path("-")]):
        print("camkes fmt: standard input is formatted alone, without files", file=sys.stderr)
        return USAGE
    if not from_input and not arguments.paths:
        print("camkes fmt: name files or folders, or `-` for standard input", file=sys.stderr)
        return USAGE
    sink = Sink()
    if from_input:
        layouts = [reformat.lay_out_text(sys.stdin.buffer.read(), sink)]
    else:
        layouts = [reformat.lay_out(path, sink) for path in reformat.find_files(arguments.paths)]
    keep = arguments.check or arguments.diff
    status = GOOD
    for layout in layouts:
        if layout is None:
            continue
        if from_input and not keep:
            sys.stdout.write(layout.after)
        elif layout.changed:
            status = max(status, put_in_order(arguments, layout))
    return max(status, tell(arguments, sink))


def put_in_order(arguments: argparse.Namespace, layout: Layout) -> int:
    """Write a file that is not in order, or say what is to be said of it."""
    if not arguments.check and not arguments.diff:
        try:
            layout.write()
        except OutputError as error:
            print(f"camkes fmt: {error}", file=sys.stderr)
            return USER_ERROR
    if arguments.diff:
        sys.stdout.write(layout.diff())
    else:
        print(f"{'' if arguments.check else 'formatted '}{layout.source.path}")
    return USER_ERROR if arguments.check else GOOD


def lsp(arguments: argparse.Namespace) -> int:
    try:
        from camkes.editor.server import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        print(
            "camkes lsp: the editor server needs pygls; install it with\n"
            "  python -m pip install 'pygls>=2,<3' lsprotocol",
            file=sys.stderr,
        )
        return USER_ERROR
    gc.enable()
    return GOOD if serve() else USER_ERROR  # as the protocol wants it


def trust(arguments: argparse.Namespace) -> int:
    from camkes.project import trust as trusted

    for folder in arguments.folders:
        if not folder.is_dir():
            print(f"camkes trust: there is no folder {folder}", file=sys.stderr)
            return USER_ERROR
    try:
        for folder in arguments.folders:
            print(f"{folder}: trusted, as {trusted.add(folder)} says now")
    except OSError as error:
        print(
            f"camkes trust: cannot write {error.filename or 'the output'}: {error.strerror}", file=sys.stderr
        )
        return USER_ERROR
    return GOOD


def completion(arguments: argparse.Namespace) -> int:
    from camkes.cli import completion as scripts
    from camkes.diagnostics import explain as pages

    codes = [code.number for code in pages.all_codes()]
    print(scripts.script(arguments.shell, make_parser(), {"explain": codes}), end="")
    return GOOD


# The parser --------------------------------------------------------------------------------------

EXAMPLES = {
    "check": """
  camkes check examples/nested
  camkes check system.camkes --format sarif > findings.sarif""",
    "dump": """
  camkes dump examples/adder
  camkes dump system.camkes --places -I interfaces -MD system.d""",
    "plan": """
  camkes plan examples/protocols
  camkes plan examples/nested -DCONFIGURATION=3 --json""",
    "graph": """
  camkes graph examples/nested -o nested.svg
  camkes graph examples/nested | dot -Tpdf -o nested.pdf""",
    "build": """
  camkes build examples/adder -o build/adder""",
    "run": """
  camkes run examples/inversion --timeline inversion.svg
  camkes run examples/nested --for 2s --trace nested.json
  camkes run examples/protocols --scheduling rr --timeslice 5ms --verify""",
    "migrate": """
  camkes migrate projects/camkes/apps/pump            shows what would change
  camkes migrate projects/camkes/apps/pump --write""",
    "explain": """
  camkes explain E0501
  camkes explain M                     a property that `camkes run --verify` checks
  camkes explain                       lists all codes""",
    "fmt": """
  camkes fmt examples
  camkes fmt --check --diff system.camkes
  camkes fmt - < untidy.camkes""",
    "lsp": """
  camkes lsp                           started by an editor, see docs/editor.md""",
    "trust": """
  camkes trust ~/work                  CMake may run for all applications there""",
    "completion": """
  source <(camkes completion bash)""",
}


def add_host(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("building")
    group.add_argument(
        "--kernel", choices=("host", "sel4"), default="host", help="which kernel (default: host)"
    )
    group.add_argument("-o", "--output", metavar="DIR", type=Path, help="build folder (default: build/NAME)")
    group.add_argument("--workspace", metavar="DIR", type=Path, help="an seL4 workspace, for --kernel sel4")
    group.add_argument(
        "--sanitize", action="store_true", help="with address and undefined-behaviour sanitizers"
    )


def check_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_dependencies(parser)


def dump_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_dependencies(parser)
    parser.add_argument("--places", action="store_true", help="with the line of everything")


def plan_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_dependencies(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--authority",
        action="store_true",
        help="who can set which priorities, and who holds which capability, and why",
    )
    parser.add_argument(
        "--code", action="store_true", help="compile, and read off the code what handlers call"
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, help="build folder for --code (default: build/NAME)"
    )


def graph_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_dependencies(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help=".dot or .svg (default: DOT to stdout)"
    )


def build_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_host(parser)


def run_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_host(parser)
    group = parser.add_argument_group("running")
    group.add_argument(
        "--for",
        dest="duration",
        metavar="TIME",
        type=duration,
        help="virtual time to run, as 2s or 150ms (default: until all is idle, at most 1s)",
    )
    isolation = group.add_mutually_exclusive_group()
    isolation.add_argument(
        "--fast", action="store_true", help="all components in one process, not isolated: for sweeps"
    )
    isolation.add_argument(
        "--hardened",
        action="store_true",
        help="components cannot write to the host kernel's memory, a write is a fault at its line; a call "
        "of the kernel takes a few microseconds longer",
    )
    group.add_argument(
        "--scheduling", choices=("fifo", "rr"), default="fifo", help="among equal priorities (default: fifo)"
    )
    group.add_argument(
        "--timeslice", metavar="TIME", type=duration, default=None, help="of round robin (10ms)"
    )
    group.add_argument(
        "--choices",
        metavar="HOW",
        type=choices,
        default="first",
        help="first, random:SEED or script:FILE (default: first)",
    )
    group.add_argument(
        "--loop-limit",
        metavar="MS",
        type=int,
        default=None,
        help="processor time after which a thread that lets no virtual time pass is stopped (1000)",
    )
    group.add_argument(
        "--timeout",
        metavar="TIME",
        type=duration,
        default=10_000_000_000,
        help="elapsed time without any kernel call and without virtual time passing, after which the thread "
        "that runs is stopped: it waits for something outside the system (default: 10s, 0: never)",
    )
    group.add_argument(
        "--memory-limit",
        metavar="SIZE",
        type=size,
        default=1 << 30,
        help="memory that a component may have, as 512M (default: 1G, 0: any)",
    )
    group = parser.add_argument_group(
        "results",
        "Results and what components print go to standard output; with --json, what components print\n"
        "goes to standard error, and with --console to a file. Messages go to standard error.\n"
        "A terminal gets the control characters that components print as \\x1b and so on.",
    )
    group.add_argument(
        "--fail-on",
        metavar="WHAT,...",
        type=conditions,
        default=(),
        help="exit status 1 also for: missed (a missed deadline), exit-status (a run() that returns another "
        "value than 0)",
    )
    group.add_argument(
        "--record-limit",
        metavar="SIZE",
        type=size,
        default=RECORD_LIMIT,
        help="the run ends when its record, which all results are made from, has this size (default: 256M)",
    )
    group.add_argument("--trace", metavar="FILE", type=Path, help=".json (for ui.perfetto.dev) or .trace")
    group.add_argument("--timeline", metavar="FILE", type=Path, help="a picture, .svg")
    group.add_argument("--window", metavar="FROM:TO", type=window, help="what the picture shows, as 0:100ms")
    group.add_argument(
        "--verify",
        action="store_true",
        help="check the trace against the properties M P H L Z S (`camkes explain M` and so on)",
    )
    group.add_argument("--json", action="store_true", help="the report as JSON")
    group.add_argument(
        "--console",
        metavar="FILE",
        type=Path,
        help="what components print (default: standard output, with --json standard error)",
    )


def migrate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="an application's folder, or a file in it")
    parser.add_argument("--write", action="store_true", help="change the files, and not only show how")
    add_messages(parser)


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "code", metavar="CODE", nargs="?", help="as E0501, its name, or a property of --verify, as M"
    )
    parser.add_argument("--json", action="store_true", help="as JSON: number, name, severity and page")


def fmt_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", type=Path, help="a file, a folder, or `-`")
    parser.add_argument("--stdin", action="store_true", help="from standard input to standard output")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; list the files that would change, and fail"
    )
    parser.add_argument("--diff", action="store_true", help="change nothing; show what would change")
    add_messages(parser)


def lsp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stdio", action="store_true", help="for editors that say so; there is no other way")


def trust_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", metavar="DIR", nargs="+", type=Path, help="a folder, with all below it")


def completion_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


#: What a command does, what help says of it, and what it understands.
COMMANDS: dict[str, tuple[Command, str, Callable[[argparse.ArgumentParser], None]]] = {
    "check": (check, "find every mistake in a system without building it", check_arguments),
    "dump": (dump, "print the resolved system as JSON", dump_arguments),
    "plan": (plan, "show what follows from the requests: ceilings, threads, ids", plan_arguments),
    "graph": (graph, "draw tasks, CPIs and requests", graph_arguments),
    "build": (build, "build a system", build_arguments),
    "run": (run, "build a system and run it", run_arguments),
    "migrate": (
        migrate,
        "turn an application of the priority-aware library into native words",
        migrate_arguments,
    ),
    "explain": (
        explain,
        "explain the code of an error or a warning, or a property of a run",
        explain_arguments,
    ),
    "fmt": (fmt, "put .camkes files in the common layout", fmt_arguments),
    "lsp": (lsp, "serve an editor over standard input and output", lsp_arguments),
    "trust": (trust, "let CMake run in a folder where it cannot be confined", trust_arguments),
    "completion": (completion, "print a script that completes commands in a shell", completion_arguments),
}


def make_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the command line; with `only` one of the commands in it, which is sooner made."""
    parser = Parser(
        prog="camkes",
        description="CAmkES with real-time protocols as part of the language.",
        epilog="Exit status: 0 good, 1 errors in the input, 2 wrong usage, 3 a defect of camkes.",
    )
    parser.add_argument("--version", action="version", version=f"camkes-rt {__version__}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", parser_class=Parser, prog=parser.prog
    )
    for name in [only] if only in COMMANDS else COMMANDS:
        command, text, arguments = COMMANDS[name]
        sub = commands.add_parser(
            name,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog="examples:" + EXAMPLES[name],
        )
        sub.set_defaults(run_command=command, parser=sub)
        arguments(sub)
    return parser


def with_flags_joined(words: Sequence[str]) -> list[str]:
    """`--cpp-flag -DX` as `--cpp-flag=-DX`: a flag of the preprocessor is not one of ours."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "--cpp-flag":
            joined[-1] = f"--cpp-flag={word}"
        else:
            joined.append(word)
    return joined


def refuse(parser: argparse.ArgumentParser, unknown: Sequence[str]) -> NoReturn:
    """End because of words that a command does not know."""
    first = unknown[0].partition("=")[0]
    options = [word for action in parser._actions for word in action.option_strings if word[:2] == "--"]
    if not first.startswith("-"):
        parser.error(f"one argument too many: {first}")
    parser.error(f"there is no option {first}{did_you_mean(first, options)}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    words = sys.argv[1:] if argv is None else argv
    parser = make_parser(words[0] if words else None)
    try:
        arguments, unknown = parser.parse_known_args(with_flags_joined(words))
        if unknown:
            refuse(getattr(arguments, "parser", parser), unknown)
        if arguments.command is None:
            parser.print_help(sys.stderr)
            return USAGE
        status: int = arguments.run_command(arguments)
        sys.stdout.flush()
        return status
    except SystemExit as ended:  # --help, --version, wrong usage
        return int(ended.code or GOOD)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OutputError as error:
        sink = Sink()
        sink.add(pipeline.unwritten(error))
        return tell(arguments, sink)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in CANNOT_WRITE:
            return no_output(error)
        import traceback

        traceback.print_exc()
        print(
            f"\ncamkes: this is a defect of camkes ({type(error).__name__}), not of your system. "
            "Please report it with the lines above.",
            file=sys.stderr,
        )
        return DEFECT


if __name__ == "__main__":
    sys.exit(main())
