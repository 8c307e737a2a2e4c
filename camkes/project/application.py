# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Applications: their systems and sources, found from a path that the user names."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from camkes.diagnostics import Code, Label, Severity, Sink, Span
from camkes.model.substitutes import LIBRARIES
from camkes.model.system import Procedure
from camkes.parser.files import read_meaning
from camkes.process.limits import low_limits
from camkes.project.answers import answer
from camkes.project.builds import CompileGroup, ComponentBuild
from camkes.project.cmake import LACKS
from camkes.project.codes import (
    CMAKE_FAILED,
    CMAKE_SYNTAX,
    CMAKE_WARNING,
    MISSING_FOLDER,
    NO_APPLICATION,
    NO_SUCH_INSTANCE,
    NOT_DECLARED,
    UNKNOWN_DEFINITION,
)
from camkes.project.declarations import (
    ConnectorTemplates,
    Declarations,
    Missing,
    RootServer,
    declarations,
)
from camkes.project.domains import COUNT, SCHEDULE, TICK
from camkes.project.places import span_of
from camkes.project.records import RECORDER, Answer
from camkes.project.workspaces import (
    PLATFORM_WORDS,
    is_of_workspace,
    is_workspace,
    named_workspace,
    workspace_variables,
)
from camkes.resolve.files.library import comes_with_tool
from camkes.resolve.words.nearest import nearest, suggestion
from camkes.resources import DEVICES

if TYPE_CHECKING:
    from camkes.model.system import ComponentType, System

__all__ = [
    "Application",
    "ComponentBuild",
    "ConnectorTemplates",
    "find_application",
    "surrounding_applications",
]

_LISTS = "CMakeLists.txt"
_ASSEMBLY = r"\bassembly\b[^;{]*\{"
_COMMENT = r"(?s)//[^\n]*|/\*.*?\*/|\"[^\"]*\""

#: a variable of CMake that decides what a system is planned for
KERNEL_IS_MCS = "KernelIsMCS"
#: of the kernel, which is configured where no file of the application sees it
_SHOWN = 4  # names of one mistake
#: The functions of CAmkES that an application calls.
_FUNCTIONS = tuple(
    re.findall(r"^function\((\w*CAmkES\w+)", RECORDER.read_text(encoding="utf-8"), re.MULTILINE)
)
_OF_KERNEL = (KERNEL_IS_MCS, SCHEDULE, COUNT, TICK)
#: where a word of a name like `AlarmPanel` begins
_NEXT_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
#: how close a declared name must be to be taken for a slip of a component's (see `nearest`)
_SLIP = 0.75
_SOURCE_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".S")


class Application(Struct, frozen=True):
    """An application as its CMakeLists.txt declares it, or as the folder of a lone `.camkes` file shows it.

    `components` is what is declared by component type; `instances` adds to single instances, by
    (component, instance), `common` to all. `groups` is how CMake compiles them, by (component, instance), or
    (component, "") for other instances. `options` are the CAmkES options it sets. `files` are the files it
    was read from, `missing` sources that do not exist and where they are named, `missing_folders` folders,
    `not_made` sources that commands of CMake files should make, `said_of_commands` why they did not.
    Use `build_of` to ask how an instance is built. `lists` is its CMakeLists.txt, None for the folder of a
    lone file."""

    root: Path
    name: str
    folder: Path
    import_paths: tuple[Path, ...] = ()
    template_paths: tuple[Path, ...] = ()
    cpp_flags: tuple[str, ...] = ()
    cpp_includes: tuple[Path, ...] = ()
    dtb: Path | None = None
    dts: Path | None = None
    components: Mapping[str, ComponentBuild] = field(default_factory=dict)
    instances: Mapping[tuple[str, str], ComponentBuild] = field(default_factory=dict)
    connectors: Mapping[str, ConnectorTemplates] = field(default_factory=dict)
    groups: Mapping[tuple[str, str], tuple[CompileGroup, ...]] = field(default_factory=dict)
    libraries: Mapping[str, ComponentBuild] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    common: ComponentBuild = field(default_factory=ComponentBuild)
    missing: tuple[Missing, ...] = ()
    missing_folders: tuple[Missing, ...] = ()
    not_made: tuple[Missing, ...] = ()
    said_of_commands: tuple[str, ...] = ()
    lists: Path | None = None
    workspace: Path | None = None  # of which packages were read
    build_type: str = ""  # CMAKE_BUILD_TYPE, as it was asked for

    def report_missing(self, code: Code, sink: Sink) -> None:
        """Report which sources do not exist, once for each call that names them; and which folders, as
        warnings. Those that commands of the build make count only where `code` is an error."""
        if code.severity is Severity.ERROR:
            for path, _, place in self.not_made:
                message = f"{path.name} was not made: a command of the CMake files failed"
                sink.report(CMAKE_FAILED, message, place, notes=self.said_of_commands)
        self._report_missing(self.missing, "file", code, sink)
        self._report_missing(self.missing_folders, "folder", MISSING_FOLDER, sink)

    def _report_missing(self, missing: Sequence[Missing], what: str, code: Code, sink: Sink) -> None:
        calls: dict[Span | None, list[tuple[Path, Span | None]]] = {}
        for path, call, place in missing:
            name = path.relative_to(self.folder) if path.is_relative_to(self.folder) else path
            calls.setdefault(call, []).append((name, place))
        for call, ((first, span), *others) in calls.items():
            sink.report(
                code,
                f"{first} is not a {what}"
                if (self.folder / first).exists()
                else f"there is no {what} {first}",
                span,
                related=[Label(place, "nor this") for _, place in others if place and place != call],
                notes=_nor([str(name) for name, place in others if place is None or place == call]),
                help=self._meant(first),
            )

    def _meant(self, missing: Path) -> str:
        """A path that may be meant in place of one that is not there: the same name in a folder below."""
        if missing.is_absolute() or len(missing.parts) > 1:
            return ""
        with suppress(OSError):
            found = [path for folder in self.folder.iterdir() if (path := folder / missing.name).exists()]
            if len(found) == 1:
                return f"did you mean {found[0].relative_to(self.folder)}?"
        return ""

    def report_undeclared(self, system: System, sink: Sink) -> None:
        """Report which components of a system the CMakeLists.txt does not declare, and which instances that
        it names are not there."""
        if self.lists is None:
            return
        types = system.types
        undeclared = [
            kind
            for kind in types.values()
            if kind.name not in self.components
            and _needs_code(kind)
            and not is_of_workspace(kind.span.file.path, self.workspace, self.folder)
        ]
        extended = {component for component, _ in self.instances} | self.served_by_connectors(system)
        self._report_undeclared([kind for kind in undeclared if kind.name not in extended], types, sink)
        names = {(instance.type.name, instance.name) for instance in system.instances}
        for (component, name), build in self.instances.items():
            if component in types and (component, name) not in names:
                there = [own for kind, own in names if kind == component]
                message = f"component `{component}` has no instance `{name}`"
                sink.report(NO_SUCH_INSTANCE, message, build.span, help=suggestion(name, there))

    def served_by_connectors(self, system: System) -> set[str]:
        """Component types that may have all of their code from connectors: from their libraries, or, if
        nothing else is to be done, from their templates."""
        with_libraries = {name for name, each in self.connectors.items() if each.from_libs or each.to_libs}
        found: set[str] = set()
        rendered: dict[str, set[str]] = {}
        for connection in system.connections:
            for end in (*connection.from_ends, *connection.to_ends):
                if connection.connector.name in self.connectors:
                    rendered.setdefault(end.instance, set()).add(end.interface)
                if connection.connector.name in with_libraries:
                    found.add(end.instance)
        kinds = {each.name: each.type for each in system.instances}
        found |= {name for name, served in rendered.items() if not _needs_code(kinds[name], served)}
        return {kinds[name].name for name in found}

    def _report_undeclared(
        self, kinds: Sequence[ComponentType], types: Mapping[str, object], sink: Sink
    ) -> None:
        unknown = [name for name in self.components if name not in types]
        missing: list[ComponentType] = []
        for kind in kinds:
            meant = nearest(kind.name, unknown, _SLIP)
            if meant is None:
                missing.append(kind)
                continue
            sink.report(
                NOT_DECLARED,
                f"the system has no component type `{meant}`",
                self.components[meant].span,
                related=[Label(kind.span, f"`{kind.name}` is not declared")],
                help=f"did you mean `{kind.name}`?",
            )
        if not missing:
            return
        first, *others = missing
        subject = f"component `{first.name}` is" if not others else f"{len(missing)} components are"
        sink.report(
            NOT_DECLARED,
            f"{subject} not declared in {self.lists.name if self.lists else _LISTS}",
            first.span,
            notes=[f"these are {', '.join(f'`{kind.name}`' for kind in missing)}"] if others else [],
            help="\n".join(
                ["add", *map(self._declaration, missing)] if others else [f"add {self._declaration(first)}"]
            ),
        )

    def _declaration(self, kind: ComponentType) -> str:
        """The call that declares a component, with the sources that are found by its name."""
        found = self._by_convention(kind.name, kind.span.file.path)
        sources = found.sources if found is not None else ()
        names = [str(s.relative_to(self.folder)) for s in sources if s.is_relative_to(self.folder)]
        return f"DeclareCAmkESComponent({kind.name} SOURCES {' '.join(names) or '...'})"

    def build_of(self, component: str, instance: str, declared_in: Path) -> ComponentBuild | None:
        """How an instance of a component is built; None if nothing is declared and nothing found.
        `declared_in` is the file that defines the component."""
        if declared_in.is_relative_to(DEVICES):
            sources = tuple(_sources(declared_in.parent / "src"))
            libraries = tuple(name for name in LIBRARIES if name in self.libraries)
            return ComponentBuild(sources, libs=libraries) if sources else None
        build = self.components.get(component)
        if build is None and self.lists is None:
            build = self._by_convention(component, declared_in)
        more = self.instances.get((component, instance))
        own = build.extended(more) if build is not None and more is not None else build or more
        groups = self.groups.get((component, instance)) or self.groups.get((component, ""))
        if own is not None and groups:
            return own.grouped(groups)
        return own.among(self.common) if own is not None else None

    def places(self, component: str, declared_in: Path) -> tuple[str, ...]:
        """Where `build_of` looks for sources of a component that nothing declares."""
        return tuple(str(p) for p in self._patterns(component, declared_in))

    def _by_convention(self, component: str, declared_in: Path) -> ComponentBuild | None:
        for pattern in self._patterns(component, declared_in):
            if pattern.name == "*":
                found = _sources(pattern.parent)
            else:
                found = [f for f in _with_suffixes(pattern) if f.is_file()]
            if found:
                home = pattern.parent.parent if pattern.parent.name == "src" else pattern.parent
                return ComponentBuild(tuple(found), self._headers_near(home))
        return None

    def _headers_near(self, home: Path) -> tuple[Path, ...]:
        """Where headers of a component with sources in `home` are looked for that nothing declares."""
        includes = (home / "include", home, self.folder / "include", self.folder)
        return tuple(dict.fromkeys(i for i in includes if i.is_dir()))

    def headers_of_all(self, home: Path) -> tuple[Path, ...]:
        """The same, and all folders with headers of declared components."""
        declared = (folder for build in self.components.values() for folder in build.includes)
        return tuple(dict.fromkeys((*self._headers_near(home), *declared)))

    def _patterns(self, component: str, declared_in: Path) -> tuple[Path, ...]:
        """Folders ("folder/*") and files without suffix, in the order they are looked at."""
        lower = component.lower()
        words = _NEXT_WORD.sub("_", component).lower()
        result: dict[Path, None] = {}
        for base in dict.fromkeys((declared_in.parent, self.folder)):
            if base.name.lower() in (lower, words):
                result[base / "src" / "*"] = None
            for name in dict.fromkeys((component, lower, words)):
                result[base / "components" / name / "src" / "*"] = None
                result[base / "components" / name / "*"] = None
                result[base / name / "src" / "*"] = None
                result[base / name / "*"] = None
                for file in (base / "components" / name, base / "src" / name, base / name):
                    result[file] = None
        return tuple(result)


def find_application(
    path: Path,
    sink: Sink,
    variables: Mapping[str, str] | None = None,
    *,
    in_workspace: bool = False,
    workspace: Path | None = None,
    platform: Mapping[str, str] | None = None,
) -> Application | None:
    """The application at `path`: a `.camkes` file, or a folder with a CMakeLists.txt or with one system; None
    after a diagnostic.

    A `.camkes` file that the CMakeLists.txt beside it declares is that application. `variables` are the
    user's definitions (-D). `in_workspace`: the CMake files of an seL4 workspace use them, too, and compile.
    Packages of the `workspace` are known; those of SEL4_WORKSPACE only where the application cannot be read
    without, which is faster. With `platform`, that is what CMake files see of it, and there is no workspace.
    """
    always = workspace is not None and not in_workspace
    home = named_workspace(workspace) if platform is None else None
    definitions = _Asked(dict(variables or {}), home, always, platform)
    given, path = path, path.absolute()
    if path.is_file() and path.name != _LISTS:
        return _lone_file(path, definitions, sink, in_workspace)
    lists = path / _LISTS if path.is_dir() else path
    if lists.name == _LISTS and lists.exists() and not lists.is_file():
        _report_no_application(given / _LISTS if path.is_dir() else given, lists, [], sink)
        return None
    systems = systems_of(path) if path.is_dir() and not lists.is_file() else []
    if len(systems) == 1:
        return _lone_file(systems[0], definitions, sink, in_workspace)
    if lists.name != _LISTS or not lists.is_file():
        _report_no_application(given, path, systems, sink)
        return None
    declared = _read(lists, definitions, sink, in_workspace)
    if declared is None:
        return None
    if not declared.roots:
        message = "this application declares no root server"
        help = "add DeclareCAmkESRootserver(your_assembly.camkes)"
        sink.report(NO_APPLICATION, message, span_of(str(lists), 1), help=help)
        return None
    if not declared.roots[0].adl.is_file():
        return None  # which was reported
    return _application(declared, declared.roots[0], lists)


def _report_no_application(given: Path, path: Path, systems: Sequence[Path], sink: Sink) -> None:
    """Report why there is no application at `path`, which the user wrote as `given`."""
    help = "name a .camkes file or the folder of an application"
    place = "the current folder" if given == Path() else str(given)
    notes: list[str] = []
    if systems:
        message = f"there is no {_LISTS} in {place}, but {len(systems)} systems"
        notes = [system.name for system in systems]
        help = f"write for example {given / systems[0].name}"
    elif path.is_dir():
        message = f"there is no system in {place}: neither a {_LISTS} nor a .camkes file with an assembly"
        below = [
            folder for folder in sorted(path.iterdir()) if (folder / _LISTS).is_file() or systems_of(folder)
        ]
        if below:
            notes = [f"{folder.name} has one" for folder in below]
            help = f"name one of its subfolders: {given / below[0].name}"
    elif path.exists():
        message = f"{given} is not a regular file"
    else:
        message = f"there is no file {given}"
    sink.report(NO_APPLICATION, message, notes=notes, help=help)


#: Folders up from a file, beginning with its own, where systems are looked for that nothing declares.
_NEAR = 3


def surrounding_applications(
    path: Path, *, may_ask: bool, variables: Mapping[str, str] | None = None
) -> Iterator[Application]:
    """The applications around a file, nearest first: those that CMakeLists.txt files declare, then systems in
    folders without one.

    It is only worth a look: there are no diagnostics. `variables` are the user's definitions (-D). Without
    `may_ask`, CMake is not run, and only its earlier answers are known. The search ends at the folder of a
    repository; outside of one, a folder without CMakeLists.txt has to be near."""
    without: list[Path] = []
    for folder in path.absolute().parents:
        lists = folder / _LISTS
        if lists.is_file():
            declared = _look(lists, may_ask, variables or {})
            if declared is None:
                without.append(folder)
            else:
                yield from (_application(declared, root, lists) for root in declared.roots)
        else:
            without.append(folder)
        if (folder / ".git").exists():
            break
    else:
        near = path.absolute().parents[:_NEAR]
        without = [folder for folder in without if folder in near]
    for folder in without:
        yield from (Application(system, system.stem, folder) for system in systems_of(folder))


def host_variables() -> dict[str, str]:
    """The platform settings that an application sees when it is built for this workstation."""
    if os.uname().machine in ("aarch64", "arm64"):
        words = {"KernelArch": "arm", "KernelSel4Arch": "aarch64", "KernelPlatform": "qemu-arm-virt"}
        return {**words, "KernelArchARM": "ON", "KernelSel4ArchAarch64": "ON", "KernelWordSize": "64"}
    words = {"KernelArch": "x86", "KernelSel4Arch": "x86_64", "KernelPlatform": "pc99"}
    return {**words, "KernelArchX86": "ON", "KernelSel4ArchX86_64": "ON", "KernelWordSize": "64"}


def systems_of(folder: Path) -> list[Path]:
    """The `.camkes` files of a folder that have an assembly."""
    sources = [read_meaning(path, Sink()) for path in sorted(folder.glob("*.camkes")) if path.is_file()]
    return [s.path for s in sources if s and re.search(_ASSEMBLY, re.sub(_COMMENT, " ", s.text))]


def _lone_file(path: Path, definitions: _Asked, sink: Sink, in_workspace: bool) -> Application | None:
    """The application of a file: that of the CMakeLists.txt beside it, if that declares it."""
    lists = path.parent / _LISTS
    if lists.is_file():
        own = Sink()
        declared = _read(lists, definitions, own, in_workspace)
        root = next((r for r in declared.roots if r.adl == path), None) if declared else None
        if declared is None and path.name in span_of(str(lists), 1).file.text:
            for diagnostic in own.diagnostics:
                sink.add(diagnostic)
            return None  # it is not known whether it is one of this file
        if declared is not None and root is not None:
            for diagnostic in own.diagnostics:
                sink.add(diagnostic)
            return _application(declared, root, lists)
    return Application(path, path.stem, path.parent)


def _look(lists: Path, may_ask: bool, variables: Mapping[str, str]) -> Declarations | None:
    """What a CMakeLists.txt declares; None where that is not known."""
    asked = _Asked(variables, named_workspace(None), always=False)
    try:
        found = _answer(lists, asked, Sink(), may_ask=may_ask)
    except OSError:
        return None
    return declarations(found, Sink()) if found is not None else None


class _Asked(NamedTuple):
    """What the user defines (-D), and the workspace that is named, if there is one; whether it is `always`
    looked into. The `platform` is that of this machine, unless it is given."""

    variables: Mapping[str, str]
    workspace: Path | None
    always: bool
    platform: Mapping[str, str] | None = None


def _read(lists: Path, definitions: _Asked, sink: Sink, in_workspace: bool) -> Declarations | None:
    """What a CMakeLists.txt declares, by CMake's evaluation; None after a diagnostic. PermissionError where
    it cannot be read: to CMake it would be missing."""
    if not os.access(lists, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(lists))
    try:
        found = _answer(lists, definitions, sink)
    except OSError as error:
        place = error.filename or "the user's cache"
        message = f"CMake cannot be run: {place}: {error.strerror}"
        sink.report(NO_APPLICATION, message, span_of(str(lists), 1), notes=low_limits())
        return None
    if found is None:
        return None
    if not in_workspace and definitions.platform is None:
        _report_unused(found, sink, definitions.workspace is not None)
    for file, line, text in found.warnings:
        sink.report(CMAKE_WARNING, text, span_of(file, line, "message"), "reported by the application")
    declared = declarations(found, sink, check_flags=not in_workspace and definitions.platform is None)
    if definitions.workspace is not None:
        _leave_to_workspace(declared, definitions.workspace, lists.parent)
    return declared


def _leave_to_workspace(declared: Declarations, workspace: Path, folder: Path) -> None:
    """What files of the workspace lack is not of the application in `folder`."""
    declared.workspace = workspace

    def is_own(missing: Missing) -> bool:
        return missing.call is None or not is_of_workspace(missing.call.file.path, workspace, folder)

    declared.missing = [each for each in declared.missing if is_own(each)]
    declared.missing_folders = [each for each in declared.missing_folders if is_own(each)]


def _answer(lists: Path, definitions: _Asked, sink: Sink, *, may_ask: bool = True) -> Answer | None:
    """What CMake answers: by itself, or else with the packages of the workspace."""
    variables, workspace, always, platform = definitions
    own = Sink()
    there = workspace is not None and is_workspace(workspace)
    host = host_variables() if platform is None else platform
    found = None if always and there else answer(lists, host, variables, own, may_ask=may_ask)
    if found is None and workspace is not None and there:
        own = Sink()
        host = {**host_variables(), **workspace_variables(workspace, variables)}
        found = answer(lists, host, variables, own, may_ask=may_ask)
    elif found is None:
        own = _with_hint(own)
    for diagnostic in own.diagnostics:
        sink.add(diagnostic)
    return found


def _nor(names: Sequence[str]) -> list[str]:
    """Notes about more names that are missing."""
    more = len(names) - _SHOWN
    return [f"nor {name}" for name in names[:_SHOWN]] + ([f"nor {more} more"] if more > 0 else [])


def _lacks(message: str) -> bool:
    return LACKS.search(message) is not None or message.startswith("Unknown CMake command")


def _with_hint(found: Sink) -> Sink:
    """The diagnostics; where CMake lacks something, a workspace may have it."""
    hinted = Sink()
    for diagnostic in found.diagnostics:
        if diagnostic.code in (CMAKE_FAILED, CMAKE_SYNTAX) and _lacks(diagnostic.message):
            name = re.fullmatch(r'Unknown CMake command "(\w+)"\.', diagnostic.message)
            help = (name and suggestion(name[1], _FUNCTIONS)) or (
                "if a package of an seL4 workspace has it, name that with --workspace DIR or SEL4_WORKSPACE"
            )
            diagnostic = replace(diagnostic, help=diagnostic.help or help)
        hinted.add(diagnostic)
    return hinted


def _report_unused(found: Answer, sink: Sink, in_workspace: bool) -> None:
    for name in found.unused:
        if name in _OF_KERNEL or (in_workspace and name in PLATFORM_WORDS):
            continue
        meant = nearest(name, found.known)
        sink.report(
            UNKNOWN_DEFINITION,
            f"`{name}`, which is set with `-D`, is not used by any CMake file of this application",
            help=f"did you mean `-D {meant}=...`?" if meant else "",
        )


def _application(declared: Declarations, root: RootServer, lists: Path) -> Application:
    return Application(
        root=root.adl,
        name=declared.name or root.adl.stem,
        folder=lists.parent,
        lists=lists,
        import_paths=tuple(declared.import_paths),
        template_paths=tuple(declared.template_paths),
        cpp_flags=root.cpp_flags,
        cpp_includes=root.cpp_includes + tuple(declared.cpp_includes),
        dtb=root.dtb,
        workspace=declared.workspace,
        dts=root.dts,
        components=declared.components,
        instances=declared.instances,
        connectors=declared.connectors,
        groups=declared.groups,
        libraries=declared.libraries,
        options=declared.options,
        files=tuple(dict.fromkeys(declared.files)),
        common=declared.common,
        missing=tuple(dict.fromkeys(declared.missing)),
        missing_folders=tuple(dict.fromkeys(declared.missing_folders)),
        not_made=tuple(dict.fromkeys(declared.not_made)),
        said_of_commands=tuple(declared.said_of_commands),
    )


def _needs_code(kind: ComponentType, served: Set[str] = frozenset()) -> bool:
    """Whether a component type has code of its own to run, besides that for the interfaces `served`: a
    device has none, and those that come with the tool bring theirs."""
    if kind.hardware or comes_with_tool(kind.span.file.path):
        return False
    serves = [i for i in kind.interfaces if i.kind == "provides" and isinstance(i.type, Procedure)]
    return kind.control or any(i.name not in kind.exported and i.name not in served for i in serves)


def _sources(folder: Path) -> list[Path]:
    return sorted(f for s in _SOURCE_SUFFIXES for f in folder.glob(f"*{s}"))


def _with_suffixes(path: Path) -> list[Path]:
    return [path.with_name(path.name + s) for s in _SOURCE_SUFFIXES]
