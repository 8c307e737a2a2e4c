# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The steps from a path to a running system, one function each.

Each step takes and returns typed values and adds the user's mistakes to a `Sink`; None means that the
step could not go on. The command line, the tests and the editor all call this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from camkes.diagnostics import Diagnostic, Sink
from camkes.files import OutputError, write_output
from camkes.model.limits import RECORD_LIMIT

if TYPE_CHECKING:
    from contextlib import ExitStack

    from camkes.backends.host.faults import Located
    from camkes.backends.host.host import HostImage
    from camkes.callgraph.read import CodeCalls
    from camkes.capdl.model import CapabilityModel
    from camkes.model.system import System
    from camkes.project.application import Application
    from camkes.protocols.plan import Plan
    from camkes.report.refusals import Refusal
    from camkes.report.trace.model import Run as TraceRun
    from camkes.report.trace.names import TraceNames
    from camkes.report.trace.properties import PropertyChecker, Violation
    from camkes.resolve import LoadOptions

#: Endings of a trace file that `camkes run --trace` knows.
TRACE_FORMS = (".json", ".trace")

#: Where below a build folder images for the host kernel are. No instance has this name.
IMAGE = "host-image"

#: How long a run lasts if nobody says: a system with periodic tasks never becomes idle.
DEFAULT_DURATION = 1_000_000_000

#: What can make a run a failure beside faults and violated properties.
CONDITIONS = ("missed", "exit-status")

Progress = Callable[[str], None]


def unwritten(error: OutputError) -> Diagnostic:
    """What is said of a file that cannot be written."""
    from camkes.backends.host.codes import BUILD_FOLDER

    return Diagnostic(BUILD_FOLDER, str(error))


class Request(Struct, frozen=True):
    """What a user asked the tool to read, and how."""

    path: Path
    definitions: tuple[tuple[str, str], ...] = ()
    import_path: tuple[Path, ...] = ()
    cpp_flags: tuple[str, ...] = ()
    cpp: str = "cpp"
    preprocess: bool | None = None  # None: as the application says
    dtb: Path | None = None
    gpio_list: Path | None = None
    allow_forward_references: bool | None = None  # None: as the application says


class Checked(Struct, frozen=True):
    """A system that was read, with what follows from it."""

    application: Application
    system: System
    plan: Plan


class RunRequest(Struct, frozen=True):
    """How to run a system. Times are virtual nanoseconds; see `camkes run --help`."""

    output: Path | None = None
    duration: int | None = None
    fast: bool = False
    scheduling: str = "fifo"
    timeslice: int | None = None
    choices: str = "first"
    loop_limit_ms: int | None = None
    trace: Path | None = None
    timeline: Path | None = None
    window: tuple[int, int] | None = None
    verify: bool = False
    sanitize: bool = False
    timeout: int = 10_000_000_000
    memory_limit: int = 1 << 30
    record_limit: int = RECORD_LIMIT
    hardened: bool = False
    console: int | None = None  # the file descriptor that components print to; None: standard output
    show: Callable[[bytes], None] | None = None  # takes what components print, instead


def find(request: Request, sink: Sink) -> Application | None:
    """Which sources and flags belong to the system at `request.path`."""
    from camkes.project.application import find_application

    return find_application(request.path, sink, dict(request.definitions))


def load(application: Application, request: Request, sink: Sink) -> System | None:
    """Read and resolve the system of an application."""
    from camkes.resolve import load as resolve

    return resolve(application.root, load_options(application, request), sink)


def load_options(application: Application, request: Request) -> LoadOptions:
    """How the files of an application are read."""
    from camkes.resolve import LoadOptions

    return LoadOptions(
        import_path=(*request.import_path, *application.import_paths),
        cpp=_chosen(request.preprocess, application.options.get("CAmkESCPP", "ON")),
        cpp_bin=request.cpp,
        cpp_flags=(*application.cpp_flags, *request.cpp_flags),
        include_path=application.cpp_includes,
        allow_forward_references=_chosen(
            request.allow_forward_references, application.options.get("CAmkESAllowForwardReferences", "OFF")
        ),
        dtb=request.dtb or application.dtb,
        gpio_list=request.gpio_list,
    )


def _chosen(asked: bool | None, variable: str) -> bool:
    """What was asked for, or else what a CMake variable says."""
    return variable.upper() in ("ON", "1", "TRUE", "YES") if asked is None else asked


def write_dependencies(file: Path, checked: Checked | Sketch, request: Request) -> None:
    """Write a rule for make that names the files that were read; they make the file with the rule."""
    read = [source.path for source in checked.system.files]
    read += [path for path in (request.dtb or checked.application.dtb, request.gpio_list) if path]
    names = [re.sub(r"([\\ #])", r"\\\1", str(path)).replace("$", "$$") for path in (file, *read)]
    lines = " \\\n  ".join([f"{names[0]}:", *dict.fromkeys(names[1:])])
    write_output(file, f"{lines}\n".encode())


def check(request: Request, sink: Sink) -> Checked | None:
    """Find, load, check and plan; None if there is no plan because of an error. For that, sources need not
    exist."""
    from camkes.project.codes import MISSING_SOURCE

    checked = _check(request, sink, None)
    if checked is not None:
        checked.application.report_missing(MISSING_SOURCE, sink)
    return checked


class Sketch(Struct, frozen=True):
    """What a picture of a system shows. `cycle` names CPIs each of which requests the next."""

    application: Application
    system: System
    plan: Plan
    cycle: tuple[str, ...] = ()


def sketch(request: Request, sink: Sink) -> Sketch | None:
    """What is to be drawn of a system, also where checks find mistakes; None if it cannot be read."""
    from camkes.protocols import analyse
    from camkes.protocols import sketch as make_sketch

    application = find(request, sink)
    if application is None:
        return None
    system = load(application, request, sink)
    if system is None:
        return None
    plan = analyse(system, sink)
    return Sketch(application, system, *((plan,) if plan is not None else make_sketch(system)))


def check_code(
    request: Request, output: Path | None, sink: Sink, progress: Progress, *, sanitize: bool = False
) -> Checked | None:
    """As `check`, but what handlers call is read off their compiled code: that supplies `requests` that are
    not stated, and contradicts those that are wrong."""

    def calls(application: Application, system: System) -> CodeCalls | None:
        return code_calls(application, system, output, progress, sanitize=sanitize)

    return _check(request, sink, calls, output)


def _check(
    request: Request,
    sink: Sink,
    read: Callable[[Application, System], CodeCalls | None] | None,
    output: Path | None = None,
) -> Checked | None:
    from camkes.protocols import analyse

    application = find(request, sink)
    if application is None:
        return None
    system = load(application, request, sink)
    if system is None:
        return None
    application.report_undeclared(system, sink)
    if not sink.has_errors:
        _check_types(application, system, output if read is not None else None, read is not None, sink)
    if read is None or sink.has_errors:
        plan = analyse(system, sink)  # also after harmless errors: all mistakes of a file in one run
    else:
        from camkes.backends.host.folder import FolderInUseError
        from camkes.callgraph.read import analyse_code

        try:
            plan = analyse_code(system, read(application, system), sink)
        except FolderInUseError as error:
            sink.add(error.diagnostic)
            return None
    if plan is None or sink.has_errors:
        return None
    return Checked(application, system, plan)


def _check_types(
    application: Application, system: System, output: Path | None, building: bool, sink: Sink
) -> None:
    """Ask the compiler about types that the language does not know, if a system names any."""
    from camkes.model.c_types import names_own_types

    if not names_own_types(system):
        return
    from camkes.backends.host.folder import FolderInUseError
    from camkes.backends.host.types import check_types

    out = build_folder(application, output).absolute() / IMAGE / "types" if building else None
    try:
        check_types(system, application, out, sink, lambda _: None)
    except FolderInUseError as error:
        sink.add(error.diagnostic)
    except OSError as error:
        if out is not None:  # to check, nothing need be written
            raise OutputError(f"cannot write in {out}: {error.strerror}") from error


def code_calls(
    application: Application, system: System, output: Path | None, progress: Progress, *, sanitize: bool
) -> CodeCalls | None:
    """What the code of a system calls; None where no protocol depends on it. Mistakes are not reported: the
    steps that follow find them again. FolderInUseError where another command builds in the folder."""
    from camkes.backends.host.folder import locked
    from camkes.callgraph.read import read_code

    if not system.cpis:
        return None
    out = build_folder(application, output).absolute()
    try:
        with locked(out, progress):
            folder = out / IMAGE / "calls"
            return read_code(system, application, out / "generated", folder, progress, sanitize=sanitize)
    except OSError as error:
        raise OutputError(f"cannot write in {out}: {error.strerror}") from error


def build_folder(application: Application, output: Path | None) -> Path:
    """Where a system is built: in `output`, or by its name below `build`."""
    return output if output is not None else Path("build") / application.name


def capabilities(checked: Checked, sink: Sink) -> CapabilityModel:
    """The kernel objects and capabilities of a checked system."""
    from camkes.capdl.allocate import allocate

    return allocate(checked.system, checked.plan, sink)


def build(
    request: Request, output: Path | None, sink: Sink, progress: Progress, *, sanitize: bool = False
) -> HostImage | None:
    """Everything up to an image for the host kernel, in `output` (default: build/NAME)."""
    progress("reading")
    checked = check_code(request, output, sink, progress, sanitize=sanitize)
    if checked is None:
        return None
    return build_checked(checked, output, sink, progress, sanitize=sanitize)


def build_checked(
    checked: Checked, output: Path | None, sink: Sink, progress: Progress, *, sanitize: bool = False
) -> HostImage | None:
    """Allocate, generate, compile and link a checked system; what did not change is not done again."""
    from camkes.backends.host.folder import FolderInUseError, locked

    out = build_folder(checked.application, output).absolute()
    try:
        with locked(out, progress):
            return _build_locked(checked, out, sink, progress, sanitize)
    except FolderInUseError as error:
        sink.add(error.diagnostic)
        return None
    except OSError as error:
        raise OutputError(f"cannot write in {out}: {error.strerror}") from error


def _build_locked(
    checked: Checked, out: Path, sink: Sink, progress: Progress, sanitize: bool
) -> HostImage | None:
    """Build; where that fails, its errors say why the calls of the code were not known."""
    from camkes.callgraph.codes import CODE_NOT_READ

    image = _build(checked, out, sink, progress, sanitize)
    if sink.has_errors:
        sink.drop(CODE_NOT_READ)
    return image


def _build(checked: Checked, out: Path, sink: Sink, progress: Progress, sanitize: bool) -> HostImage | None:
    from camkes.backends.host.host import build_host
    from camkes.generate import generate
    from camkes.project.codes import MISSING_FILE

    checked.application.report_missing(MISSING_FILE, sink)
    model = capabilities(checked, sink)
    if sink.has_errors:
        return None
    progress("generating")
    files = generate(checked.system, checked.plan, model, out / "generated", sink)
    if sink.has_errors:
        return None
    return build_host(
        checked.system,
        checked.plan,
        model,
        checked.application,
        out,
        files,
        sink,
        progress,
        sanitize=sanitize,
    )


class Outcome(Struct, frozen=True):
    """What a run came to. `failed`: a fault, a violated property or a kernel that could not run. Files below
    `base` are told relative to it."""

    run: TraceRun
    faults: Sequence[Located]
    base: Path
    violations: Sequence[Violation]
    verified: bool
    failed: bool
    exit_statuses: Mapping[str, int]
    interrupted: int = 0
    findings: Sequence[Located] = ()  # of sanitizers
    refused: Sequence[Refusal] = ()

    def fails_on(self, conditions: Sequence[str]) -> bool:
        """Whether one of these conditions holds."""
        missed = any(job.missed for lane in self.run.tasks for job in lane.jobs)
        holds = {"missed": missed, "exit-status": any(self.exit_statuses.values())}
        return any(holds[condition] for condition in conditions)

    def report_text(self, *, color: bool, unicode: bool) -> str:
        """Chart, table of response times, and what the property checker found."""
        from camkes.report.draw.terminal import terminal_report

        text = terminal_report(self.run, color=color, unicode=unicode)
        text += "".join(f"{name}: run() returned {n}\n" for name, n in self.exit_statuses.items() if n)
        return text + self.verification_text() if self.verified else text

    def verification_text(self) -> str:
        """What the property checker found."""
        lines = [str(violation) for violation in self.violations]
        found = f"{len(lines)} violated" if lines else "hold at every event"
        return "\n".join([*lines, f"properties M P H L Z S: {found}", ""])

    def report_json(self) -> str:
        """Response times of all jobs, faults, refused messages and violations, as JSON."""
        from camkes.backends.host.faults import fault_dict, finding_dict
        from camkes.report.refusals import refusal_dict
        from camkes.report.summary import run_dict, to_json
        from camkes.report.trace.waits import wait_dict

        names = self.run.names
        report = run_dict(self.run)
        report["faults"] = [fault_dict(fault, self.run.situation, names, self.base) for fault in self.faults]
        report["findings"] = [finding_dict(finding, self.base) for finding in self.findings]
        report["refused"] = [refusal_dict(refusal, self.base) for refusal in self.refused]
        report["exit_statuses"] = dict(self.exit_statuses)
        report["interrupted"] = bool(self.interrupted)
        report["waits"] = [wait_dict(wait, names) for wait in self.run.situation.waits]
        if self.verified:
            report["violations"] = [
                {"time": v.time, "property": v.property.value, "explanation": v.explanation}
                for v in self.violations
            ]
        return to_json(report)


def run(request: Request, options: RunRequest, sink: Sink, progress: Progress) -> Outcome | None:
    """Build and run a system, write the traces and pictures that were asked for."""
    progress("reading")
    checked = check_code(request, options.output, sink, progress, sanitize=options.sanitize)
    if checked is None:
        return None
    from contextlib import ExitStack

    with ExitStack() as stack:
        image = build_to_run(checked, options, stack, sink, progress)
        if image is None or sink.has_errors:
            return None
        progress("")
        return run_image(image, checked, options, sink)


def build_to_run(
    checked: Checked, options: RunRequest, stack: ExitStack, sink: Sink, progress: Progress
) -> HostImage | None:
    """Build a system and take a copy of the image, which is there until `stack` is left: meanwhile others may
    build and run in the same folder."""
    from msgspec.structs import replace

    from camkes.backends.host.folder import FolderInUseError, copied, locked

    out = build_folder(checked.application, options.output).absolute()
    try:
        with locked(out, progress):
            image = _build_locked(checked, out, sink, progress, options.sanitize)
            if image is None:
                return None
            copy = stack.enter_context(copied([image.table, *image.images.values()], out))
            images = {name: copy / path.name for name, path in image.images.items()}
            return replace(image, folder=copy, table=copy / image.table.name, images=images)
    except FolderInUseError as error:
        sink.add(error.diagnostic)
        return None
    except OSError as error:
        raise OutputError(f"cannot write in {out}: {error.strerror}") from error


def run_image(image: HostImage, checked: Checked, options: RunRequest, sink: Sink) -> Outcome | None:
    """Run an image that was built and read what it did."""
    from camkes.backends.host.faults import diagnose, diagnose_findings, ended_by, locate_faults
    from camkes.backends.host.run import RunOptions, run_host
    from camkes.report.jobless import tasks_without_jobs
    from camkes.report.refusals import refusals
    from camkes.report.trace.decode import decode_trace
    from camkes.report.trace.names import names_path, save_names, trace_names

    raw = image.folder / "run.trace"
    result = run_host(
        image,
        RunOptions(
            duration=DEFAULT_DURATION if options.duration is None else options.duration,
            trace=raw,
            fast=options.fast,
            scheduling=options.scheduling,
            timeslice=options.timeslice,
            choices=options.choices,
            loop_limit_ms=options.loop_limit_ms,
            timeout_ms=-(-options.timeout // 1_000_000),
            memory_limit=options.memory_limit,
            record_limit=options.record_limit,
            hardened=options.hardened,
            console=options.console,
            output=options.show,
        ),
    )
    last = build_folder(checked.application, options.output) / IMAGE / raw.name  # others run there too
    reading = Sink()
    for diagnostic in result.diagnostics:
        reading.add(diagnostic)
    names = trace_names(image.capabilities, checked.plan, checked.system)
    checker = _property_checker(names, checked) if options.verify else None
    observe = None if checker is None else checker.step
    found = decode_trace(raw, names, reading, observe) if result.trace is not None else None
    if found is not None:
        save_names(raw, names, reading)
        made = [file for file in (raw, names_path(raw)) if file.exists()]
        _publish(made, last.parent, reading)
    for diagnostic in reading.diagnostics:
        sink.add(_about(diagnostic, raw, last))
    if found is None:
        if result.interrupted:
            raise KeyboardInterrupt
        return None
    refused = refusals(found, checked.system, checked.plan)
    for diagnostic in tasks_without_jobs(found, checked.system):
        sink.add(diagnostic)
    ended = found.situation
    faults = locate_faults(result.faults, image)
    for refusal in refused:
        if not any(ended_by(fault, refusal) for fault in faults):
            sink.add(refusal.diagnostic())
    findings = locate_faults(result.findings, image)
    for diagnostic in (*diagnose_findings(findings), *diagnose(faults, ended, names, refused)):
        sink.add(diagnostic)
    _write_results(options, raw, found, checked.application.name, sink)
    violations = checker.violations if checker is not None else []
    failed = result.status != 0 or bool(result.faults) or bool(violations) or bool(refused)
    base = checked.application.root.parent.absolute()
    return Outcome(
        found,
        faults,
        base,
        tuple(violations),
        options.verify,
        failed,
        _exit_statuses(found, checked.system),
        result.interrupted,
        findings,
        refused,
    )


def _write_results(options: RunRequest, raw: Path, found: TraceRun, name: str, sink: Sink) -> None:
    """Write the files that were asked for; the report of the run does not depend on whether that can be."""
    try:
        if options.trace is not None:
            write_trace(options.trace, raw, found, sink)
    except OutputError as error:
        sink.add(unwritten(error))
    try:
        if options.timeline is not None:
            from camkes.report.draw.timeline import timeline_svg

            picture = timeline_svg(found, sink, options.window or (None, None), name)
            if picture is not None:
                write_output(options.timeline, picture.encode())
    except OutputError as error:
        sink.add(unwritten(error))


def no_report_json(sink: Sink, *, interrupted: bool = False) -> str:
    """The report of a run that did not come to a result: the same lists, all empty, and `errors`."""
    from camkes.report.summary import SCHEMA, to_json

    empty: dict[str, object] = {"tasks": [], "faults": [], "findings": [], "refused": []}
    errors = [
        {"code": d.code.number, "message": d.message} for d in sink.diagnostics if d.severity.value == "error"
    ]
    rest = {"exit_statuses": {}, "interrupted": interrupted, "waits": [], "errors": errors}
    return to_json({"schema": SCHEMA, "end": None, **empty, **rest})


def _property_checker(names: TraceNames, checked: Checked) -> PropertyChecker:
    from camkes.report.trace.properties import PropertyChecker

    return PropertyChecker(names, checked.plan, checked.system)


def _exit_statuses(run: TraceRun, system: System) -> dict[str, int]:
    """What the run() of each component instance returned, in the order of the instances."""
    from camkes.capdl.model import Role

    ended = {
        thread.instance: (run.exits[thread.number] + 2**31) % 2**32 - 2**31
        for thread in run.names.threads
        if thread.role is Role.CONTROL and thread.number in run.exits
    }
    return {i.name: ended[i.name] for i in system.instances if i.type.control and i.name in ended}


def _publish(files: Sequence[Path], folder: Path, sink: Sink) -> None:
    """Leave the trace of this run, with its names, as that of the last one."""
    from camkes.backends.host.folder import FolderInUseError, locked, publish
    from camkes.report.codes import TRACE_UNREADABLE

    try:
        with locked(folder.parent, lambda _: None):
            publish(files, folder)
    except FolderInUseError as error:
        sink.add(error.diagnostic)
    except OSError as error:
        sink.report(TRACE_UNREADABLE, f"cannot write {folder / files[0].name}: {error.strerror}")


def _about(diagnostic: Diagnostic, raw: Path, last: Path) -> Diagnostic:
    """What is said of the trace of this run, said of the file that stays."""
    from msgspec.structs import replace

    def renamed(text: str) -> str:
        return text.replace(str(raw), str(last))

    notes = tuple(map(renamed, diagnostic.notes))
    return replace(diagnostic, message=renamed(diagnostic.message), notes=notes)


def record(
    request: Request,
    options: RunRequest,
    workspace: Path | None,
    tell: Callable[[str], None],
    sink: Sink,
    progress: Progress,
) -> Outcome | None:
    """Build an image for seL4 that records what it does, and boot it for `options.duration`; what components
    print goes to `tell`. Nothing is known of when the kernel switched, and `options` that need it have no
    effect."""
    from camkes.backends.sel4 import recording
    from camkes.backends.sel4.trace import trace_file
    from camkes.backends.sel4.workspace import build as build_sel4
    from camkes.report.trace.decode import decode_trace
    from camkes.report.trace.names import load_names

    definitions = dict((*request.definitions, recording.DEFINITION))
    out = build_sel4(request.path, definitions, workspace, options.output, sink, progress)
    if out is None:
        return None
    progress("")
    raw = out / recording.RECORDS
    records = recording.record(out, options.duration or DEFAULT_DURATION, tell, sink)
    write_output(raw, trace_file(records))
    names = load_names(raw, sink)
    found = decode_trace(raw, names, sink) if names is not None else None
    if found is None:
        return None
    if options.trace is not None:
        write_trace(options.trace, raw, found, sink)
    return Outcome(found, (), request.path, (), verified=False, failed=False, exit_statuses={})


def write_trace(path: Path, raw: Path, run: TraceRun, sink: Sink) -> None:
    """Write a trace in the form that the ending of `path` names."""
    if path.suffix == ".json":
        from camkes.report.draw.perfetto import perfetto_json

        write_output(path, perfetto_json(run).encode())
    else:
        from camkes.report.trace.names import save_names

        write_output(path, raw.read_bytes())
        save_names(path, run.names, sink)
