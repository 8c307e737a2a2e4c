# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The files of an editor, and the analysed systems that they belong to."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from camkes import pipeline
from camkes.analysis.verdict import TaskResult, responses
from camkes.backends.host.backend import HostBackend
from camkes.diagnostics import Diagnostic, Sink, SourceFile, Span
from camkes.editor.index import Index
from camkes.model.system import Cpi, System, Task
from camkes.parser.files import decode, read_meaning
from camkes.project.application import Application, surrounding_applications
from camkes.project.trust import is_trusted
from camkes.protocols.plan import Plan, PlannedCpi, PlannedTask
from camkes.resolve.codes import NO_ASSEMBLY
from camkes.resolve.files.imports import Program
from camkes.resolve.files.library import BUILTIN
from camkes.resolve.options import LoadOptions

_IMPORT = re.compile(r'\bimport\s*(?:"(?P<own>[^"]+)"|<(?P<system>[^>]+)>)')


class SystemSnapshot(Struct, dict=True):
    """What is known about the system of an application."""

    application: Application
    options: LoadOptions
    program: Program
    diagnostics: tuple[Diagnostic, ...]
    system: System | None
    plan: Plan | None

    @cached_property
    def index(self) -> Index:
        return Index(self.program)

    @cached_property
    def files(self) -> dict[str, SourceFile]:
        """The files that were read, by their real paths."""
        return {os.path.realpath(file.path): file for file in self.program.files}

    def imported(self, source: SourceFile, line: int, column: int) -> Path | None:
        """The file that an import at a place names."""
        for match in _IMPORT.finditer(source.lines[line - 1]):
            if match.start() < column <= match.end() + 1:
                system = match["system"]
                folders = (*self.options.import_path, BUILTIN) if system else (source.path.parent,)
                files = (Path(os.path.normpath(f / (system or match["own"]))) for f in folders)
                return next((file for file in files if file.is_file()), None)
        return None

    @cached_property
    def cpis(self) -> dict[str, PlannedCpi]:
        return {cpi.name: cpi for cpi in self.plan.cpis} if self.plan else {}

    @cached_property
    def tasks(self) -> dict[str, PlannedTask]:
        return {task.name: task for task in self.plan.tasks} if self.plan else {}

    @cached_property
    def responses(self) -> dict[str, TaskResult]:
        """Execution time, blocking and response of each task, where all times are stated."""
        if self.system is None or self.plan is None:
            return {}
        found = responses(self.system, self.plan)
        return {result.task.name: result for result in found.tasks} if found is not None else {}

    @cached_property
    def stated_cpis(self) -> dict[str, Cpi]:
        return {cpi.name: cpi for cpi in self.system.cpis} if self.system else {}

    @cached_property
    def stated_tasks(self) -> dict[str, Task]:
        return {task.instance: task for task in self.system.tasks} if self.system else {}


def analyse_root(
    asked: pipeline.Input,
    application: Application,
    read: Callable[[Path], str | None],
    *,
    has_root: bool,
    compiles: bool,
) -> SystemSnapshot:
    """Read, resolve and plan the system of an application; `read` gives texts that are not saved.

    Without `has_root` the file may be a fragment, and a missing assembly is not an error. With `compiles` the
    C compiler checks the types that it names.
    """

    def source(path: Path, sink: Sink, span: Span | None) -> SourceFile | None:
        text = read(path)
        if text is None:
            return read_meaning(path, sink, span)
        return decode(path, text.encode(errors="replace"), sink, span)

    options = pipeline.load_options(application, asked)
    options = replace(options, read=source)
    sink = Sink()
    loaded = pipeline.load(application.root, options, sink)
    if loaded.system is not None and compiles:
        folder = pipeline.build_folder(application, None)
        HostBackend(application, folder, builds=False).check(loaded.system, sink)
    plan = pipeline.plan(loaded.system, sink) if loaded.system is not None else None
    found = sink.diagnostics
    if not has_root:
        found = tuple(each for each in found if each.code is not NO_ASSEMBLY)
    return SystemSnapshot(application, options, loaded.program, found, loaded.system, plan)


class Workspace(Struct, dict=True):
    """The open files. An analysis holds until one of them changes, or a file on disk, as the editor
    reports."""

    buffers: dict[str, str] = field(default_factory=dict)  # by real path
    trusts_all: bool = False  # the user's decision about the folders that the editor has open
    definitions: dict[str, str] = field(default_factory=dict)  # as -D of the command line
    unasked: set[str] = field(default_factory=set)  # folders that are not trusted, so CMake is not asked
    _analyses: dict[Path, SystemSnapshot] = field(default_factory=dict)
    _owners: dict[str, SystemSnapshot] = field(default_factory=dict)

    def open(self, path: str, text: str) -> None:
        self.buffers[os.path.realpath(path)] = text
        self.forget()

    def close(self, path: str) -> None:
        self.buffers.pop(os.path.realpath(path), None)
        self.forget()

    def forget(self) -> None:
        """Something changed; later questions are answered anew."""
        self._analyses = {}
        self._owners = {}

    def trusted(self, path: Path) -> bool:
        """Whether CMake and compilers may run for a folder: by the editor's option or by `camkes trust`."""
        return self.trusts_all or is_trusted(path.parent)

    def analysis(self, path: str) -> SystemSnapshot:
        """The system that a file belongs to: that of the application around it, or its own."""
        real = os.path.realpath(path)
        analyses, owners, buffers = self._analyses, self._owners, dict(self.buffers)
        if real not in owners:
            owners[real] = self._find(Path(path).absolute(), real, analyses, buffers)
        return owners[real]

    def open_analyses(self) -> list[SystemSnapshot]:
        """The systems of all open files."""
        return list({id(a): a for a in map(self.analysis, sorted(self.buffers))}.values())

    def _find(
        self, path: Path, real: str, analyses: dict[Path, SystemSnapshot], buffers: dict[str, str]
    ) -> SystemSnapshot:
        def read(file: Path) -> str | None:
            return buffers.get(os.path.realpath(file))

        def analyse(application: Application, *, has_root: bool, compiles: bool) -> SystemSnapshot:
            asked = pipeline.Input(application.root, definitions=tuple(self.definitions.items()))
            return analyse_root(asked, application, read, has_root=has_root, compiles=compiles)

        def around_of(place: Path) -> list[Application]:
            may_ask = self.trusted(place)
            return list(surrounding_applications(place, may_ask=may_ask, variables=self.definitions))

        def analysed(applications: list[Application]) -> SystemSnapshot | None:
            for application in applications:
                if not application.root.is_file():
                    continue
                if application.root not in analyses:
                    trusted = self.trusted(application.root)
                    analyses[application.root] = analyse(application, has_root=True, compiles=trusted)
                if real in analyses[application.root].files:
                    return analyses[application.root]
            return None

        around = around_of(path)
        lists = next((f / "CMakeLists.txt" for f in path.parents if (f / "CMakeLists.txt").is_file()), None)
        if lists is not None and not self.trusted(path) and not any(app.lists for app in around):
            self.unasked.add(str(lists.parent))
        found = analysed(around)
        for other in sorted(buffers) if found is None else ():
            found = found or analysed(around_of(Path(other)))
        if found is not None:
            return found
        own = replace(around[0], root=path) if around else Application(path, path.stem, path.parent)
        return analyse(own, has_root=False, compiles=self.trusted(path))
