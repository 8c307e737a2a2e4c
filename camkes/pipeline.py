# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The steps from a path to a running system, one function each.

find -> load -> read calls -> plan -> allocate -> generate -> build -> run

Each step takes and returns typed values and adds the user's mistakes to a `Sink`; None means that the
step could not go on. The command line, CMake's package, the editor and the tests all call this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from camkes.backends.host.backend import IMAGE, TRACE, HostBackend
from camkes.backends.host.options import RunOptions
from camkes.backends.interface import Backend, Code, Image, Progress
from camkes.diagnostics import Diagnostic, Severity, Sink
from camkes.model.limits import RECORD_LIMIT

if TYPE_CHECKING:
    from contextlib import ExitStack

    from camkes.analysis.platform import UserPart
    from camkes.backends.host.host import HostImage
    from camkes.backends.sel4.project import Project, SystemParts
    from camkes.backends.sel4.sdk.archive import Sdk
    from camkes.backends.sel4.sdk.description import Configuration
    from camkes.callgraph.read import CodeCalls
    from camkes.callgraph.stacks import StackBound
    from camkes.capdl.model import CapabilityModel
    from camkes.capdl.size import StackUse, SystemSize
    from camkes.generate.facts import SystemFacts
    from camkes.model.system import System
    from camkes.outcome import Outcome
    from camkes.paths.system import SpaceProgram, SystemBounds
    from camkes.plain import PlainLoss
    from camkes.project.application import Application
    from camkes.protocols.plan import Plan
    from camkes.resolve import LoadOptions
    from camkes.resolve.files.imports import Program
    from camkes.resolve.options import Override

#: Endings of a trace file that `camkes run --trace` can write.
TRACE_FORMS = (".ctf", ".json", ".pftrace", ".trace")
TIMELINE_FORMS = (".html", ".svg", ".png", ".pdf")

#: The default duration of a run: a system with periodic tasks never becomes idle.
DEFAULT_DURATION = 1_000_000_000

#: What can make a run a failure beside faults, findings of sanitizers and violated properties: a missed
#: deadline, a run() that returns another value than 0, a thread that waits for what cannot come.
CONDITIONS = ("missed", "exit-status", "waits")


class _InputPath(Struct, frozen=True):
    path: Path


class Input(_InputPath, frozen=True, kw_only=True):
    """What a user asked the tool to read, and how."""

    definitions: tuple[tuple[str, str], ...] = ()
    import_path: tuple[Path, ...] = ()
    cpp_flags: tuple[str, ...] = ()
    cpp: str = "cpp"
    preprocess: bool | None = None  # None: as the application says
    dtb: Path | None = None
    gpio_list: Path | None = None
    allow_forward_references: bool | None = None  # None: as the application says
    workspace: Path | None = None
    sdk: Path | None = None  # in place of a workspace, to build for seL4
    overrides: tuple[Override, ...] = ()  # of settings of the configuration


class RunSettings(RunOptions, frozen=True, kw_only=True):
    """How to build and run a system, and what to write of the run; see `camkes run --help`."""

    output: Path | None = None
    sanitize: bool = False
    trace: Path | None = None
    timeline: Path | None = None
    window: tuple[int, int] | None = None
    profile: Path | None = None
    verify: bool = False
    places: bool = False  # of instances are asked for; on the host kernel they are always known
    watch: bool = False  # see HostBackend
    cost_profile: str | None = None  # name or file of a platform profile
    timeout: int | None = 10_000_000_000
    memory_limit: int | None = 1 << 30
    record_limit: int | None = RECORD_LIMIT
    show: Callable[[bytes], None] | None = None  # takes what components print, in place of `console`


class Loaded(Struct, frozen=True):
    """The files of a system, and the system if they describe one."""

    program: Program
    system: System | None


class Checked(Struct, frozen=True):
    """A system that was read, with what follows from it. `calls` is what its code calls, if that was read;
    `cycle` names CPIs each of which requests the next, which only a sketch may have."""

    application: Application
    system: System
    plan: Plan
    calls: CodeCalls | None = None
    cycle: tuple[str, ...] = ()


# Reading and checking ----------------------------------------------------------------------------


def find(
    asked: Input, sink: Sink, *, in_workspace: bool = False, platform: Mapping[str, str] | None = None
) -> Application | None:
    """Which sources and flags belong to the system at `asked.path`; see `find_application`."""
    from msgspec.structs import replace

    from camkes.project.application import find_application

    definitions = dict(asked.definitions)
    try:
        found = find_application(
            asked.path,
            sink,
            definitions,
            in_workspace=in_workspace,
            workspace=asked.workspace if platform is None else None,
            platform=platform,
        )
    except PermissionError as error:
        sink.add(unreadable(error))
        return None
    build_type = definitions.get("CMAKE_BUILD_TYPE", "")
    return found if found is None else replace(found, build_type=build_type)


def unreadable(error: PermissionError) -> Diagnostic:
    """The diagnostic for a file, or one in a folder, that the user may not read."""
    from camkes.parser.codes import FILE_UNREADABLE

    return Diagnostic(FILE_UNREADABLE, f"cannot read `{error.filename}`: {error.strerror}")


def load_options(application: Application, asked: Input) -> LoadOptions:
    """How the files of an application are read."""
    from camkes.project.application import KERNEL_IS_MCS
    from camkes.project.workspaces import named_workspace
    from camkes.resolve import LoadOptions
    from camkes.resources import DEVICES

    definitions, workspace = dict(asked.definitions), named_workspace(asked.workspace)

    def platform_tree() -> bytes:
        from camkes.project.trees import platform_tree

        assert workspace is not None
        return platform_tree(workspace, definitions)

    return LoadOptions(
        import_path=(*asked.import_path, *application.import_paths),
        cpp=_chosen(asked.preprocess, application.options.get("CAmkESCPP", "ON")),
        cpp_bin=asked.cpp,
        cpp_flags=(*application.cpp_flags, *asked.cpp_flags),
        include_path=application.cpp_includes,
        allow_forward_references=_chosen(
            asked.allow_forward_references, application.options.get("CAmkESAllowForwardReferences", "OFF")
        ),
        dtb=asked.dtb or application.dtb,
        platform_tree=None if workspace is None else platform_tree,
        gpio_list=asked.gpio_list,
        mcs=_chosen(None, {**application.options, **definitions}.get(KERNEL_IS_MCS, "OFF")),
        substitutes=DEVICES,
        overrides=asked.overrides,
    )


def _chosen(asked: bool | None, variable: str) -> bool:
    """The value that was given, or else that of a CMake variable."""
    from camkes.project.values import is_on

    return is_on(variable) if asked is None else asked


def load(root: Path, options: LoadOptions, sink: Sink, program: Program | None = None) -> Loaded:
    """Read and resolve a system; only resolve it, where the `program` was read before. It may have errors
    that leave later checks of use."""
    from camkes.resolve.files.imports import read_program
    from camkes.resolve.load import load_program

    if program is None:
        program = read_program(root, options, sink)
    return Loaded(program, load_program(program, options, sink))


def load_input(
    application: Application, asked: Input, sink: Sink, program: Program | None = None
) -> System | None:
    """Read and resolve the system of an application as a user asked for it; see `load`."""
    from camkes.backends.host.codes import SUBSTITUTE
    from camkes.model.substitutes import substituted, without_devices
    from camkes.project.domains import stated, with_domains
    from camkes.project.workspaces import named_workspace

    own = Sink()
    try:
        system = load(application.root, load_options(application, asked), own, program).system
    except PermissionError as error:
        sink.add(unreadable(error))
        return None
    workspace = named_workspace(asked.workspace)
    for diagnostic in own.diagnostics:
        if workspace is None or not _warns_of_workspace(diagnostic, workspace, application.folder):
            sink.add(diagnostic)
    if system is None:
        return None
    system = without_devices(system)
    for instance, what in substituted(system):
        message = f"on the host kernel, `{instance.name}` is {what}: it drives no device"
        sink.report(SUBSTITUTE, message, instance.span, help="build with `--kernel sel4` for the device")
    settings = stated(application.folder, dict(asked.definitions))
    return with_domains(system, settings, sink) if settings else system


def _warns_of_workspace(diagnostic: Diagnostic, workspace: Path, folder: Path) -> bool:
    """Whether it warns about text of a workspace, or what a macro there makes."""
    from camkes.project.workspaces import is_of_workspace

    span = diagnostic.span
    if diagnostic.severity is Severity.ERROR or span is None:
        return False
    places = [e.definition for e in span.file.expansions if e.use.overlaps(span)] or [span]
    return all(is_of_workspace(place.file.path, workspace, folder) for place in places)


def read_calls(
    system: System, backend: Backend[Code, Image], sink: Sink, progress: Progress, *, counting: bool = False
) -> CodeCalls | None:
    """What the code of a system calls, and if `counting` how often; None where no protocol depends on it.
    Mistakes in the code are left to the build."""
    from camkes.protocols.signals import code_matters

    if not code_matters(system) and not (counting and system.tasks):
        return None
    from camkes.callgraph.read import calls_of_code
    from camkes.generate import generate_headers

    headers = generate_headers(system, backend.headers)
    return calls_of_code(
        system,
        backend.application,
        headers,
        backend.calls,
        progress,
        sanitize=backend.sanitize,
        counting=counting,
    )


def plan(system: System, sink: Sink, calls: CodeCalls | None = None) -> Plan | None:
    """Plan a system and check it, with what its code calls if that is known; None after an error."""
    from msgspec.structs import replace

    from camkes.protocols import analyse

    read = None if calls is None or "" in calls.unread else calls
    if read is None:
        found = analyse(system, sink)
    else:
        found = analyse(system, sink, read.reached, read.chains, read.operations, read.counts, read.by_method)
    if found is not None and read is not None:
        found = replace(found, endless=read.endless)
    for note in calls.notes if calls is not None else ():
        sink.add(note)
    if found is not None and any(task.wcet for task in system.tasks):
        from camkes.analysis.feasibility import warn

        warn(system, found, sink)
    return found


def check(asked: Input, sink: Sink) -> Checked | None:
    """Find, load, check and plan; None if there is no plan because of an error. For that, sources need not
    exist."""
    from camkes.project.codes import MISSING_SOURCE

    application = find(asked, sink)
    if application is None:
        return None
    backend = HostBackend(application, build_folder(application, None), builds=False)
    checked = check_loaded(load_input(application, asked, sink), backend, sink, None)
    if checked is not None:
        application.report_missing(MISSING_SOURCE, sink)
    return checked


def check_code(
    asked: Input,
    output: Path | None,
    sink: Sink,
    progress: Progress,
    *,
    sanitize: bool = False,
    counting: bool = False,
) -> Checked | None:
    """As `check`, but the calls of handlers are found in their compiled code: that supplies `requests` that
    are not stated, and contradicts wrong ones. `counting`: also how many, if execution times are stated."""
    application = find(asked, sink)
    if application is None:
        return None
    backend = HostBackend(application, build_folder(application, output), sanitize)
    system = load_input(application, asked, sink)
    return check_loaded(system, backend, sink, progress, counting=counting)


def check_loaded(
    system: System | None,
    backend: Backend[Code, Image],
    sink: Sink,
    progress: Progress | None,
    *,
    counting: bool = False,
    calls: CodeCalls | None = None,
) -> Checked | None:
    """Check and plan a system. Without `progress`, or after an error, its code is not read; nor where `calls`
    has what it calls."""
    if system is None:
        return None
    backend.check(system, sink)
    if calls is None and counting and not _has_sources(system, backend):
        from camkes.callgraph.read import CodeCalls

        calls = CodeCalls({}, {}, (), unread={"": "there are no sources"})
    elif calls is None and progress is not None and not sink.has_errors:
        calls = backend.alone(
            lambda: read_calls(system, backend, sink, progress, counting=counting), sink, progress
        )
        if sink.has_errors:
            return None
    planned = plan(system, sink, calls)  # also after harmless errors: all mistakes of a file in one run
    _forget_followups(sink)
    if planned is None or sink.has_errors:
        return None
    return Checked(backend.application, system, planned, calls)


def _forget_followups(sink: Sink) -> None:
    """A setting with a slip in its name, for which a task has no priority, is one mistake."""
    from camkes.protocols.codes import NO_PRIORITY
    from camkes.resolve.codes import UNKNOWN_SETTING, UNKNOWN_SETTING_INSTANCE

    slips = [label.span for d in sink.diagnostics if d.code is NO_PRIORITY for label in d.related]
    lines = {(span.file, span.line) for span in slips}
    if lines:
        unknown = (UNKNOWN_SETTING, UNKNOWN_SETTING_INSTANCE)
        sink.keep(lambda d: d.code not in unknown or d.span is None or d.span[:2] not in lines)


def _has_sources(system: System, backend: Backend[Code, Image]) -> bool:
    """Whether a component of a system has code."""
    from camkes.backends.host.sources import builds_of

    builds = builds_of(backend.application, system.instances, Sink())
    return any(build.sources for build in builds.values())


def sketch(asked: Input, sink: Sink) -> Checked | None:
    """What is to be drawn of a system, also where checks find mistakes; None if it cannot be read."""
    from camkes.protocols import sketch as make_sketch

    application = find(asked, sink)
    if application is None:
        return None
    system = load_input(application, asked, sink)
    if system is None:
        return None
    planned = plan(system, sink)
    planned, cycle = (planned, ()) if planned is not None else make_sketch(system)
    return Checked(application, system, planned, cycle=cycle)


# Building ----------------------------------------------------------------------------------------


def build_folder(application: Application, output: Path | None) -> Path:
    """Where a system is built: in `output`, or by its name below `build`."""
    return output if output is not None else Path("build") / application.name


def capabilities(checked: Checked, sink: Sink) -> CapabilityModel:
    """The kernel objects and capabilities of a checked system. A note is reported for connections whose
    capabilities only a build allocates."""
    from camkes.backends.host.templates import rendered_connectors
    from camkes.capdl.allocate import allocate
    from camkes.capdl.authority import unlisted

    rendered = rendered_connectors(checked.application, checked.system)
    for diagnostic in unlisted(checked.system, rendered):
        sink.add(diagnostic)
    return allocate(checked.system, checked.plan, sink, rendered=rendered)


def check_for_proofs(checked: Checked, sink: Sink) -> None:
    """Warn of what in a checked system is outside of what l4v's theories about CAmkES cover."""
    from camkes.backends.sel4.provable import outside

    for diagnostic in outside(checked.system, capabilities(checked, sink)):
        sink.add(diagnostic)


def build(
    asked: Input, output: Path | None, sink: Sink, progress: Progress, *, sanitize: bool = False
) -> HostImage | None:
    """Everything up to an image for the host kernel, in `output` (default: build/NAME)."""
    progress("reading")
    checked = check_code(asked, output, sink, progress, sanitize=sanitize)
    if checked is None:
        return None
    return build_checked(checked, output, sink, progress, sanitize=sanitize)


def build_or_leave(
    asked: Input, output: Path | None, sink: Sink, progress: Progress, *, sanitize: bool = False
) -> Path | None:
    """As `build`, but what would change nothing is not done. The folder with the image."""
    progress("reading")
    application = find(asked, sink)
    system = None if application is None else load_input(application, asked, sink)
    if application is None or system is None:
        return None
    backend = HostBackend(application, build_folder(application, output), sanitize)
    said = sink.diagnostics
    state = None if sink.has_errors else backend.state_of(system)
    if state is not None and backend.has_finished(state, progress):
        return backend.folder / IMAGE
    checked = check_loaded(system, backend, sink, progress)
    if checked is None:
        return None

    def step() -> Path | None:
        image = build_with(checked, backend, sink, progress)
        if image is None:
            return None
        if state is not None and sink.diagnostics == said:
            backend.note_finished(state, system, image)
        return image.folder

    return backend.alone(step, sink, progress)


def build_checked(
    checked: Checked, output: Path | None, sink: Sink, progress: Progress, *, sanitize: bool = False
) -> HostImage | None:
    """As `build`, of a system that is checked already."""
    backend = HostBackend(checked.application, build_folder(checked.application, output), sanitize)
    return backend.alone(lambda: build_with(checked, backend, sink, progress), sink, progress)


def build_with(
    checked: Checked, backend: Backend[Code, Image], sink: Sink, progress: Progress
) -> Image | None:
    """Allocate, generate, compile and link a checked system; what did not change is not done again."""
    from camkes.callgraph.codes import CODE_NOT_READ

    image = _build(checked, backend, sink, progress)
    if sink.has_errors:
        sink.drop(CODE_NOT_READ)  # the errors are reported
    return image


def _build(checked: Checked, backend: Backend[Code, Image], sink: Sink, progress: Progress) -> Image | None:
    model = backend.allocate(checked.system, checked.plan, sink)
    if sink.has_errors:
        return None
    progress("generating")
    code = backend.generate(checked.system, checked.plan, model, sink)
    if code is None or sink.has_errors:
        return None
    return backend.build(checked.system, checked.plan, code, sink, progress)


# For CMake and in seL4 workspaces ----------------------------------------------------------------


def load_project(project: Project, sink: Sink) -> System | None:
    """Read and resolve the system of an application that CMake describes."""
    from camkes.project.domains import with_domains

    system = load(project.application.root, project.options, sink).system
    return system and with_domains(system, project.kernel_settings, sink)


def generate_for_sel4(project: Project, sink: Sink) -> SystemParts | None:
    """Write everything that is compiled and linked of an application, and how: see `Sel4Backend`."""
    checked = _check_for_sel4(project, sink)
    return None if checked is None else _generate_for_sel4(project, checked, sink)


def _check_for_sel4(project: Project, sink: Sink) -> Checked | None:
    from camkes.backends.sel4.build import Sel4Backend

    return check_loaded(load_project(project, sink), Sel4Backend(project), sink, lambda _: None)


def _generate_for_sel4(project: Project, checked: Checked, sink: Sink) -> SystemParts | None:
    from camkes.backends.sel4.build import Sel4Backend, write_calls

    if checked.calls is not None:
        write_calls(project, checked.calls)
    code = () if checked.calls is None else checked.calls.files
    return build_with(checked, Sel4Backend(project, code), sink, lambda _: None)


def calls_for_sel4(project: Project) -> None:
    """Write again what handlers call, and only if that changed."""
    from camkes.backends.sel4.build import Sel4Backend, write_calls

    sink = Sink()
    system = load_project(project, sink)
    calls = read_calls(system, Sel4Backend(project), sink, lambda _: None) if system is not None else None
    if calls is not None:
        write_calls(project, calls)


@contextmanager
def built_for_sel4(
    asked: Input, workspace: Path | None, output: Path | None, sink: Sink, progress: Progress
) -> Iterator[Path | None]:
    """Build an image for seL4 with an SDK, if one is asked for, or else in a workspace; its folder, or None
    after a diagnostic. No other command changes what is in the folder until this is left."""
    if asked.sdk is not None:
        with built_with_sdk(asked, output, sink, progress) as out:
            yield out
        return
    with _built_in_workspace(asked, workspace, output, sink, progress) as out:
        yield out


@contextmanager
def _built_in_workspace(
    asked: Input, workspace: Path | None, output: Path | None, sink: Sink, progress: Progress
) -> Iterator[Path | None]:
    """With CMake, which calls `generate_for_sel4`."""
    from camkes.backends.sel4.workspace import check_application, find_workspace, made

    home = find_workspace(workspace, sink)
    application = find(asked, sink, in_workspace=True)
    if application is not None:
        check_application(application, sink)
    if home is None or application is None or sink.has_errors:
        yield None
        return
    out = _sel4_folder(application, output)
    with made(home, application.folder, out, dict(asked.definitions), sink, progress) as good:
        yield out if good else None


def _sel4_folder(application: Application, output: Path | None) -> Path:
    return (output or Path("build") / f"{application.name}-sel4").absolute()


def find_for_sel4(asked: Input, sink: Sink, progress: Progress) -> Application | None:
    """As `find`, for the kernel that a workspace or, if one is asked for, an SDK has."""
    from camkes.backends.sel4.sdk.choice import seen_by_applications

    if asked.sdk is None:
        return find(asked, sink, in_workspace=True)
    found = _chosen_of_sdk(asked, sink, progress)
    return None if found is None else find(asked, sink, platform=seen_by_applications(found[1]))


def _chosen_of_sdk(asked: Input, sink: Sink, progress: Progress) -> tuple[Sdk, Configuration] | None:
    """The SDK that is asked for, and which configuration of it; None after a diagnostic."""
    from camkes.backends.sel4.sdk.choice import choose, opened

    assert asked.sdk is not None
    sdk = opened(asked.sdk, sink, progress)
    configuration = None if sdk is None else choose(sdk, asked.sdk, dict(asked.definitions), sink)
    return None if sdk is None or configuration is None else (sdk, configuration)


@contextmanager
def built_with_sdk(
    asked: Input,
    output: Path | None,
    sink: Sink,
    progress: Progress,
    application: Application | None = None,
    stacks: dict[str, StackBound] | None = None,
) -> Iterator[Path | None]:
    """As `built_for_sel4`, with the SDK that is asked for; of an `application` that was found already, if one
    is given. `stacks` gets the bounds of the stacks of threads."""
    from camkes.backends.host.folder import FolderInUseError, locked
    from camkes.backends.sel4.fault_lines import note_application
    from camkes.backends.sel4.sdk.choice import seen_by_applications

    found = _chosen_of_sdk(asked, sink, progress)
    if found is None:
        yield None
        return
    progress("reading")
    if application is None:
        application = find(asked, sink, platform=seen_by_applications(found[1]))
    if application is None:
        yield None
        return
    out = _sel4_folder(application, output)
    try:
        with locked(out, progress):
            good = _build_with_sdk(asked, *found, application, out, sink, progress, stacks)
            if good:
                note_application(out, application.folder)
            yield out if good else None
    except FolderInUseError as error:
        sink.add(error.diagnostic)
        yield None


def _build_with_sdk(
    asked: Input,
    sdk: Sdk,
    configuration: Configuration,
    application: Application,
    out: Path,
    sink: Sink,
    progress: Progress,
    stacks: dict[str, StackBound] | None = None,
) -> bool:
    from shlex import split

    from camkes.backends.host.sources import builds_of
    from camkes.backends.sel4.sdk.build import build_system
    from camkes.backends.sel4.sdk.choice import check, pass_on, project_of
    from camkes.project.codes import MISSING_FILE

    application.report_missing(MISSING_FILE, sink)
    check(application, sdk, configuration, sink)
    if sink.has_errors:
        return False
    project = project_of(application, load_options(application, asked), sdk, configuration, out)
    found = Sink()
    parts, builds, kinds = None, {}, {}
    checked = _check_for_sel4(project, found)
    if checked is not None:
        kinds = {instance.name: instance.type for instance in checked.system.instances}
        application.report_undeclared(checked.system, found)
        builds = builds_of(application, checked.system.instances, found)
    if checked is not None and not found.has_errors:
        progress("generating")
        parts = _generate_for_sel4(project, checked, found)
    pass_on(found, sink)
    if parts is None or sink.has_errors:
        return False
    flags = split(dict(asked.definitions).get(_C_FLAGS, ""))
    return build_system(
        sdk, configuration, application, parts, builds, kinds, out, sink, progress, stacks, flags
    )


# Sizes -------------------------------------------------------------------------------------------


class CountedSize(Struct, frozen=True):
    """What the system of an application takes."""

    name: str
    size: SystemSize


def planned_size(asked: Input, sink: Sink) -> CountedSize | None:
    """What a system takes as far as that is planned; nothing is built."""
    from camkes.backends.host.host import heap_sizes
    from camkes.capdl.size import planned_size as counted

    checked = check(asked, sink)
    if checked is None:
        return None
    model = capabilities(checked, sink)
    if sink.has_errors:
        return None
    heaps = heap_sizes(checked.application, checked.system, model)
    return CountedSize(checked.application.name, counted(model, heaps))


def used_stacks(
    asked: Input, duration: int, output: Path | None, sink: Sink, progress: Progress
) -> CountedSize | None:
    """As `planned_size`, with what a run of `duration` nanoseconds used of stacks, and what code can use at
    most. The system is built for the host kernel in the folder `output`."""
    from contextlib import ExitStack

    from camkes.backends.host.codes import FAULT
    from camkes.backends.host.compiler import find_compiler
    from camkes.backends.host.kernel import runtime_jobs
    from camkes.backends.host.run import run_host
    from camkes.callgraph.stacks import spaces_of_host, stack_bounds
    from camkes.capdl.size import with_stacks

    counted = planned_size(asked, sink)
    checked = None if counted is None else check_code(asked, output, sink, progress)
    if counted is None or checked is None:
        return None
    settings = RunSettings(duration=duration, output=output, stacks=True)
    with ExitStack() as stack:
        image = build_to_run(checked, settings, stack, sink, progress)
        compiler = find_compiler(False, sink, mcs=checked.system.mcs)
        if image is None or compiler is None or sink.has_errors:
            return None
        folder = build_folder(checked.application, output)
        stacks = folder / IMAGE / "stacks"
        bounds = {}
        if compiler.call_graphs:
            runtime = runtime_jobs(compiler, stacks, ())
            bounds = stack_bounds(spaces_of_host(image), runtime, stacks, progress)
        progress("")
        result = run_host(image, settings, output=lambda _: None)
    for diagnostic in result.diagnostics:
        sink.add(diagnostic)
    for fault in result.faults:
        sink.report(FAULT, f"`{fault.thread}` stopped: {fault.what}", help="`camkes run` shows where")
    uses = {name: _use(seen, bounds.get(name)) for name, seen in result.stacks.items()}
    return CountedSize(counted.name, with_stacks(counted.size, uses))


def _use(seen: int | None, bound: StackBound | None) -> StackUse:
    from camkes.capdl.size import StackUse

    if bound is None:
        return StackUse(seen, None, (), ())
    return StackUse(seen, bound.bytes, bound.path, bound.left_out)


def built_size(
    asked: Input,
    workspace: Path | None,
    output: Path | None,
    sink: Sink,
    progress: Progress,
    *,
    stacks: bool = False,
) -> CountedSize | None:
    """What a build of a system for seL4 takes. `stacks`: with what code can use of stacks at most; the build
    is with an SDK."""
    from contextlib import ExitStack

    from camkes.backends.sel4.codes import SEL4_BUILD
    from camkes.backends.sel4.elf import ElfError
    from camkes.backends.sel4.size import built_size as counted
    from camkes.capdl.size import with_stacks

    application = find_for_sel4(asked, sink, progress)
    if application is None:
        return None
    bounds: dict[str, StackBound] | None = {} if stacks else None
    with ExitStack() as stack:
        built = (
            built_for_sel4(asked, workspace, output, sink, progress)
            if bounds is None
            else built_with_sdk(asked, output, sink, progress, application, bounds)
        )
        out = stack.enter_context(built)
        if out is None:
            return None
        try:
            found = counted(out)
            if bounds is not None:
                names = [thread.name for each in found.components for thread in each.threads]
                found = with_stacks(found, {name: _use(None, bounds.get(name)) for name in names})
            return CountedSize(application.name, found)
        except (OSError, ElfError) as error:
            sink.report(SEL4_BUILD, f"the build cannot be read: {error}")
            return None


# Paths -------------------------------------------------------------------------------------------


def bounded_paths(
    asked: Input,
    workspace: Path | None,
    output: Path | None,
    limits: Mapping[str, int],
    sink: Sink,
    progress: Progress,
) -> SystemBounds | None:
    """Build a system for seL4, a release image unless something else is asked for, with lines in its
    programs, which changes no instruction, and bound its paths; None after a diagnostic that there is no
    build."""
    from msgspec.structs import replace

    flags = {"RELEASE": "ON", **dict(asked.definitions)}
    flags[_C_FLAGS] = f"{flags.get(_C_FLAGS, '')} -g".strip()
    asked = replace(asked, definitions=tuple(flags.items()))
    with built_for_sel4(asked, workspace, output, sink, progress) as out:
        if out is None:
            return None
        progress("bounding paths")
        return paths_of_build(out, asked, limits, sink)


_C_FLAGS = "CMAKE_C_FLAGS"


def paths_of_build(out: Path, asked: Input, limits: Mapping[str, int], sink: Sink) -> SystemBounds | None:
    """The bounds of the paths of a system in the folder of a build; None if it has no plan. `limits` bound
    each loop of functions that have no contract."""
    from camkes.backends.sel4.fault_lines import folders_of
    from camkes.paths.system import bound_paths

    found = _programs_of_build(out, asked)
    return None if found is None else bound_paths(*found, folders_of(out), limits, sink)


def user_part_of_build(out: Path, asked: Input) -> UserPart | None:
    """What the paths of the image that measures requests, in the folder of its build, execute at least; None
    if it is for a machine whose programs are not understood. Raises OSError."""
    from camkes.paths.costs import user_part
    from camkes.paths.program import ProgramError
    from camkes.paths.system import least_of_paths

    found = _programs_of_build(out, asked)
    try:
        return None if found is None else user_part(*least_of_paths(*found))
    except ProgramError:
        return None


def _programs_of_build(out: Path, asked: Input) -> tuple[SystemFacts, list[SpaceProgram]] | None:
    from camkes.backends.sel4.build import SPEC, Sel4Backend
    from camkes.backends.sel4.link import Unlinked
    from camkes.backends.sel4.spec import file_name
    from camkes.generate.facts import SystemFacts
    from camkes.paths.system import SpaceProgram

    unheard = Sink()  # the build has reported it
    project = _project_in(out, asked, unheard)
    checked = None if project is None else _check_for_sel4(project, unheard)
    if project is None or checked is None:
        return None
    system, plan = checked.system, checked.plan
    facts = SystemFacts(system, plan, Sel4Backend(project).allocate(system, plan, unheard), unheard)
    spaces = Unlinked.read((out / SPEC).read_bytes()).spaces
    return facts, [SpaceProgram(each.name, out / file_name(each.name), each.instances) for each in spaces]


def bounded_functions(
    program: Path, functions: Sequence[str], limits: Mapping[str, int], sink: Sink
) -> SystemBounds | None:
    """The bounds of functions of a linked program; None after a diagnostic that it cannot be read."""
    from camkes.paths.system import bound_functions

    return bound_functions(program, functions, limits, sink)


# To camkes-tool ----------------------------------------------------------------------------------


class Exported(Struct, frozen=True):
    """An application as plain CAmkES: the files that were written, below the folder that was asked for, and
    what is lost; `folder` is that of the application."""

    folder: Path
    files: tuple[Path, ...]
    lost: tuple[PlainLoss, ...]


def export(asked: Input, target: Path, sink: Sink) -> Exported | None:
    """Write the system of an application, its C code and its CMakeLists.txt to the folder `target`, without
    the words of this tool. None after an error. Raises OutputError."""
    from camkes.files import write_output
    from camkes.plain import application_files, cmake_lists, plain_system

    application = find(asked, sink)
    if application is None:
        return None
    options = load_options(application, asked)
    loaded = load(application.root, options, Sink())
    checked = check(asked, sink)
    if checked is None or sink.has_errors:
        return None
    files = application_files(application, checked.system, loaded.program, target)
    code = [path for name, path in files.items() if "tests" not in name.parts]
    plain = plain_system(loaded.program, checked.system, checked.plan, code, sink)
    if plain is None:
        return None
    texts = {path: text.encode() for path, text in plain.texts.items()}
    for name, source in files.items():
        write_output(target / name, texts[source] if source in texts else source.read_bytes())
    written = list(files)
    if application.lists is None:
        written.append(Path("CMakeLists.txt"))
        write_output(target / written[-1], cmake_lists(application, checked.system).encode())
    return Exported(application.folder, tuple(written), plain.lost)


def below(path: Path, folder: Path) -> Path:
    """A path as it is written below a folder; as it is, if it is not below it."""
    whole, base = path.absolute(), folder.absolute()
    return whole.relative_to(base) if whole.is_relative_to(base) else path


# Running -----------------------------------------------------------------------------------------


def run(asked: Input, settings: RunSettings, sink: Sink, progress: Progress) -> Outcome | None:
    """Build and run a system, write the traces and pictures that were asked for."""
    progress("reading")
    checked = check_code(asked, settings.output, sink, progress, sanitize=settings.sanitize)
    if checked is None:
        return None
    from contextlib import ExitStack

    with ExitStack() as stack:
        image = build_to_run(checked, settings, stack, sink, progress)
        if image is None or sink.has_errors:
            return None
        progress("")
        return run_image(image, checked, settings, sink)


def build_to_run(
    checked: Checked, settings: RunSettings, stack: ExitStack, sink: Sink, progress: Progress
) -> HostImage | None:
    """Build a system and take a copy of the image, which is there until `stack` is left."""
    folder = build_folder(checked.application, settings.output)
    watch = settings.watch or settings.schedule is not None
    backend = HostBackend(checked.application, folder, settings.sanitize, watch=watch)

    def build_and_copy() -> HostImage | None:
        image = build_with(checked, backend, sink, progress)
        return None if image is None else stack.enter_context(backend.copied(image))

    return backend.alone(build_and_copy, sink, progress)


def run_image(image: HostImage, checked: Checked, settings: RunSettings, sink: Sink) -> Outcome | None:
    """Run an image that was built and read what it did."""
    from msgspec.structs import replace

    from camkes.backends.host.costs import find_costs
    from camkes.backends.host.run import run_host
    from camkes.outcome import ResultFiles, judge, read_run, write_results
    from camkes.running.names import trace_names

    raw = image.folder / TRACE
    duration = DEFAULT_DURATION if settings.duration is None else settings.duration
    costs = find_costs(settings.cost_profile, checked.plan, image.capabilities, sink)
    if sink.has_errors:
        return None
    result = run_host(image, replace(settings, duration=duration, costs=costs), raw, settings.show)
    names = trace_names(image.capabilities, checked.plan, checked.system)
    backend = HostBackend(checked.application, build_folder(checked.application, settings.output))
    found = read_run(raw, names, result, backend, sink)
    if found is None:
        return None
    violations, left_out = None, []
    if settings.verify:
        from camkes.backends.host.oracle import not_judged, verify

        at_any_time = settings.schedule is not None and settings.schedule.arrivals > 0
        violations = verify(
            image.oracle, raw, names, checked.plan, checked.system, sink, at_any_time=at_any_time
        )
        left_out = not_judged(checked.system, checked.plan, found, at_any_time=at_any_time)
    base = checked.application.root.parent.absolute()
    outcome = judge(found, image, checked.system, checked.plan, base, result, violations, sink, left_out)
    files = ResultFiles(settings.trace, settings.timeline, settings.window, settings.profile)
    write_results(files, raw, found, checked.application.name, sink)
    if settings.coverage is not None:
        from camkes.backends.host.coverage import report_coverage

        objects, source = backend.folder / IMAGE / "objects", checked.application.folder
        covered = report_coverage(image.folder, objects, source, settings.coverage, sink)
        outcome = replace(outcome, coverage=covered or ())
    return outcome if costs is None else replace(outcome, cost_profile=costs.profile)


def record(
    asked: Input,
    settings: RunSettings,
    workspace: Path | None,
    show: Callable[[str], None],
    sink: Sink,
    progress: Progress,
) -> Outcome | None:
    """Build an image for seL4 that records what it does, and boot it for `settings.duration`; what components
    print goes to `show`."""
    from msgspec.structs import replace

    from camkes.backends.sel4.build import RECORDS
    from camkes.backends.sel4.recording import DEFINITION, outcome_of
    from camkes.outcome import ResultFiles, write_results

    asked = replace(asked, definitions=(*asked.definitions, DEFINITION))
    with built_for_sel4(asked, workspace, settings.output, sink, progress) as out:
        if out is None:
            return None
        progress("")
        outcome = outcome_of(out, settings.duration or DEFAULT_DURATION, show, asked.path, sink)
        if outcome is None:
            return None
        if settings.verify or settings.places:
            outcome = _judged(outcome, asked, out, settings, sink)
        files = ResultFiles(settings.trace, settings.timeline, settings.window, settings.profile)
        write_results(files, out / RECORDS, outcome.run, asked.path.resolve().stem, sink)
        return outcome


def _project_in(out: Path, asked: Input, sink: Sink) -> Project | None:
    """What the image in a folder was built of, with an SDK or in a workspace."""
    from camkes.backends.sel4.build import PROJECT
    from camkes.backends.sel4.project import Project
    from camkes.backends.sel4.sdk.choice import project_of, seen_by_applications

    if asked.sdk is None:
        return Project.read(out / PROJECT)
    found = _chosen_of_sdk(asked, sink, lambda _: None)
    application = None if found is None else find(asked, sink, platform=seen_by_applications(found[1]))
    if found is None or application is None:
        return None
    return project_of(application, load_options(application, asked), *found, out)


def _judged(outcome: Outcome, asked: Input, out: Path, settings: RunSettings, sink: Sink) -> Outcome:
    """What a recording of seL4 came to, with the places of its instances and, with `settings.verify`, what
    the judge of runs finds in it."""
    from msgspec.structs import replace

    from camkes.backends.host.compiler import find_compiler
    from camkes.backends.host.kernel import host_kit
    from camkes.backends.host.oracle import not_judged, verify
    from camkes.backends.sel4.build import RECORDS, Sel4Backend
    from camkes.backends.sel4.recording import JUDGED, at_its_time

    unheard = Sink()  # the build has reported it
    project = _project_in(out, asked, unheard)
    if project is None:
        return outcome
    checked = check_loaded(load_project(project, unheard), Sel4Backend(project), unheard, lambda _: None)
    if checked is None:
        return outcome
    places = {instance.name: instance.span for instance in checked.system.instances}
    outcome = replace(outcome, places=places)
    if not settings.verify or not (out / JUDGED).exists():
        return outcome
    compiler = find_compiler(False, sink, mcs=checked.system.mcs)
    kit = None if compiler is None else host_kit(compiler, out / "kernel-kit", sink, lambda _: None)
    if kit is None:
        return outcome
    found = verify(
        kit.oracle, out / JUDGED, outcome.run.names, checked.plan, checked.system, sink, at_any_time=True
    )
    why = "which come when the timer driver has run"
    left_out = not_judged(checked.system, checked.plan, outcome.run, at_any_time=True, why=why)
    if outcome.run.spent:
        left_out.append("A of the amounts that are charged, which a recording does not have")
    return replace(
        outcome,
        violations=tuple(at_its_time(found, out / RECORDS)),
        verified=True,
        failed=outcome.failed or bool(found),
        not_judged=tuple(left_out),
    )
