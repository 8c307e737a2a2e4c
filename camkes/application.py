# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Applications: what is built from which files, found from a path that the user names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from camkes.cmakelists.codes import CMAKE_SYNTAX, NO_APPLICATION
from camkes.cmakelists.declarations import (
    ComponentBuild,
    ConnectorTemplates,
    Declarations,
    Missing,
    RootServer,
)
from camkes.cmakelists.evaluate import Evaluator, StoppedError, UnknownError
from camkes.cmakelists.syntax import CMakeSyntaxError
from camkes.diagnostics import Code, Label, Sink, SourceFile, Span
from camkes.records import dataclass, field

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
_SOURCE_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".S")


@dataclass(frozen=True, slots=True)
class Application:
    """An application as its CMakeLists.txt declares it, or as the folder of a lone `.camkes` file shows it.

    `components` is what is declared by component type; `instances` adds to single instances, by
    (component, instance). `options` are the CAmkES options it sets. `files` are the files it was read
    from, `missing` sources that do not exist and where they are named. Use `build_of` to ask how an instance
    is built.
    """

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
    libraries: Mapping[str, ComponentBuild] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    missing: tuple[Missing, ...] = ()

    def report_missing(self, code: Code, sink: Sink) -> None:
        """Say which sources do not exist, once for each call that names them."""
        calls: dict[Span | None, list[tuple[Path, Span | None]]] = {}
        for path, call, place in self.missing:
            name = path.relative_to(self.folder) if path.is_relative_to(self.folder) else path
            calls.setdefault(call, []).append((name, place))
        for call, ((first, span), *others) in calls.items():
            sink.report(
                code,
                f"there is no file {first}",
                span,
                related=[Label(place, "nor this") for _, place in others if place and place != call],
                notes=[f"nor {name}" for name, place in others if place is None or place == call],
            )

    def build_of(self, component: str, instance: str, declared_in: Path) -> ComponentBuild | None:
        """How an instance of a component is built; None if nothing is declared and nothing found.
        `declared_in` is the file that defines the component."""
        build = self.components.get(component)
        if build is None:
            build = self._by_convention(component, declared_in)
        more = self.instances.get((component, instance))
        if build is None or more is None:
            return build or more
        return build.extended(more)

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
                includes = (home / "include", home, self.folder / "include", self.folder)
                existing = dict.fromkeys(i for i in includes if i.is_dir())
                return ComponentBuild(tuple(found), tuple(existing))
        return None

    def _patterns(self, component: str, declared_in: Path) -> tuple[Path, ...]:
        """Folders ("folder/*") and files without suffix, in the order they are looked at."""
        lower = component.lower()
        result: dict[Path, None] = {}
        for base in dict.fromkeys((declared_in.parent, self.folder)):
            if base.name.lower() == lower:
                result[base / "src" / "*"] = None
            for name in dict.fromkeys((component, lower)):
                result[base / "components" / name / "src" / "*"] = None
                result[base / "components" / name / "*"] = None
                result[base / name / "src" / "*"] = None
                result[base / name / "*"] = None
                for file in (base / "components" / name, base / "src" / name, base / name):
                    result[file] = None
        return tuple(result)


def find_application(
    path: Path, sink: Sink, variables: Mapping[str, str] | None = None, *, ask_cmake: bool = False
) -> Application | None:
    """The application at `path`: a `.camkes` file, or a folder with a CMakeLists.txt or with one system; None
    after a diagnostic.

    A `.camkes` file that the CMakeLists.txt beside it declares is that application. `variables` are what
    CMake code sees as the platform's settings. `ask_cmake` asks CMake even where that is not needed.
    """
    settings = {**host_variables(), **(variables or {})}
    path = path.absolute()
    if path.is_file() and path.name != _LISTS:
        return _lone_file(path, settings)
    lists = path / _LISTS if path.is_dir() else path
    systems = _systems(path) if path.is_dir() and not lists.is_file() else []
    if len(systems) == 1:
        return _lone_file(systems[0], settings)
    if systems:
        names = [system.name for system in systems]
        message = f"there is no {_LISTS} in {path}, and there are {len(names)} systems"
        sink.report(NO_APPLICATION, message, notes=names, help=f"name one: {systems[0]}")
        return None
    if lists.name != _LISTS or not lists.is_file():
        message = f"there is no {_LISTS} in {path}" if path.is_dir() else f"there is no file {path}"
        sink.report(NO_APPLICATION, message, help="name a .camkes file or the folder of an application")
        return None
    declared = _read(lists, settings, sink, ask_cmake)
    if declared is None:
        return None
    if not declared.roots:
        source = SourceFile(lists, lists.read_text(encoding="utf-8", errors="replace"))
        sink.report(
            NO_APPLICATION,
            "this application declares no root server",
            Span(source, 1, 1, 1, 1),
            help="add DeclareCAmkESRootserver(your_assembly.camkes)",
        )
        return None
    if not declared.roots[0].adl.is_file():
        return None  # which was said
    return _application(declared, declared.roots[0], lists.parent)


#: Folders up from a file, beginning with its own, where systems are looked for that nothing declares.
_NEAR = 3


def surrounding_applications(path: Path, variables: Mapping[str, str] | None = None) -> Iterator[Application]:
    """The applications around a file, nearest first: those that CMakeLists.txt files declare, then systems in
    folders without one.

    It is only worth a look: there are no diagnostics, and CMake is not asked. The search ends at the
    folder of a repository; outside of one, a folder without CMakeLists.txt has to be near.
    """
    settings = {**host_variables(), **(variables or {})}
    without: list[Path] = []
    for folder in path.absolute().parents:
        lists = folder / _LISTS
        if lists.is_file():
            declared = _look(lists, settings)
            yield from (_application(declared, root, folder) for root in declared.roots)
        else:
            without.append(folder)
        if (folder / ".git").exists():
            break
    else:
        near = path.absolute().parents[:_NEAR]
        without = [folder for folder in without if folder in near]
    for folder in without:
        yield from (_lone_file(system, settings) for system in _systems(folder))


def host_variables() -> dict[str, str]:
    """The platform settings that an application sees when it is built for this workstation."""
    if os.uname().machine in ("aarch64", "arm64"):
        words = {"KernelArch": "arm", "KernelSel4Arch": "aarch64", "KernelPlatform": "qemu-arm-virt"}
        return {**words, "KernelArchARM": "ON", "KernelSel4ArchAarch64": "ON", "KernelWordSize": "64"}
    words = {"KernelArch": "x86", "KernelSel4Arch": "x86_64", "KernelPlatform": "pc99"}
    return {**words, "KernelArchX86": "ON", "KernelSel4ArchX86_64": "ON", "KernelWordSize": "64"}


def _systems(folder: Path) -> list[Path]:
    """The `.camkes` files of a folder that have an assembly."""
    files = [path for path in sorted(folder.glob("*.camkes")) if path.is_file()]
    texts = {path: path.read_text("utf-8", "replace") for path in files}
    return [path for path, text in texts.items() if re.search(_ASSEMBLY, re.sub(_COMMENT, " ", text))]


def _lone_file(path: Path, settings: Mapping[str, str]) -> Application:
    lists = path.parent / _LISTS
    if lists.is_file():
        declared = _look(lists, settings)  # the user named the assembly itself
        root = next((r for r in declared.roots if r.adl == path), None)
        if root is not None:
            return _application(declared, root, path.parent)
    return Application(path, path.stem, path.parent)


def _look(lists: Path, settings: Mapping[str, str]) -> Declarations:
    """What a CMakeLists.txt declares, as far as it can be read here."""
    evaluator = Evaluator(settings, Sink())
    try:  # noqa: SIM105 - contextlib is slow to import
        evaluator.run(lists)
    except (UnknownError, StoppedError, CMakeSyntaxError, OSError, RecursionError):
        pass
    return evaluator.declarations


def _read(lists: Path, settings: Mapping[str, str], sink: Sink, ask_cmake: bool) -> Declarations | None:
    """What a CMakeLists.txt declares: read here if its commands are known, else by CMake."""
    own = Sink()
    evaluator = Evaluator(settings, own)
    try:
        evaluator.run(lists)
    except UnknownError as error:
        return _ask_cmake(lists, settings, error.reason, error.span, sink)
    except CMakeSyntaxError as error:
        sink.report(CMAKE_SYNTAX, error.message, error.span)
        return None
    except StoppedError:
        for diagnostic in own.diagnostics:
            sink.add(diagnostic)
        return None
    except RecursionError:
        sink.report(CMAKE_SYNTAX, f"{lists} is nested too deeply")
        return None
    except OSError as error:
        sink.report(NO_APPLICATION, f"{error.filename or lists} cannot be read: {error.strerror}")
        return None
    if ask_cmake:
        source = SourceFile(lists, lists.read_text(encoding="utf-8", errors="replace"))
        return _ask_cmake(lists, settings, "a request", Span(source, 1, 1, 1, 1), sink)
    for diagnostic in own.diagnostics:
        sink.add(diagnostic)
    return evaluator.declarations


def _ask_cmake(
    lists: Path, settings: Mapping[str, str], reason: str, span: Span, sink: Sink
) -> Declarations | None:
    from camkes.cmakelists.fallback import run_cmake

    return run_cmake(lists, settings, reason, span, sink)


def _application(declared: Declarations, root: RootServer, folder: Path) -> Application:
    return Application(
        root=root.adl,
        name=declared.name or root.adl.stem,
        folder=folder,
        import_paths=tuple(declared.import_paths),
        template_paths=tuple(declared.template_paths),
        cpp_flags=root.cpp_flags,
        cpp_includes=root.cpp_includes + tuple(declared.cpp_includes),
        dtb=root.dtb,
        dts=root.dts,
        components=declared.components,
        instances=declared.instances,
        connectors=declared.connectors,
        libraries=declared.libraries,
        options=declared.options,
        files=tuple(dict.fromkeys(declared.files)),
        missing=tuple(dict.fromkeys(declared.missing)),
    )


def _sources(folder: Path) -> list[Path]:
    return sorted(f for s in _SOURCE_SUFFIXES for f in folder.glob(f"*{s}"))


def _with_suffixes(path: Path) -> list[Path]:
    return [path.with_name(path.name + s) for s in _SOURCE_SUFFIXES]
