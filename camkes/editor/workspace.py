# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The files of an editor, and the analysed systems that they belong to."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from camkes import pipeline
from camkes.analysis.verdict import TaskResult, responses
from camkes.backends.host.backend import HostBackend
from camkes.diagnostics import Diagnostic, Label, Severity, Sink, SourceFile, Span
from camkes.editor.excerpts import Statements, excerpt
from camkes.editor.index import Index
from camkes.model.system import Cpi, System, Task
from camkes.parser.files import decode, read_meaning
from camkes.parser.parse import ParsedFiles, needs_preprocessor
from camkes.project.application import Application, surrounding_applications
from camkes.project.trust import is_trusted
from camkes.protocols.plan import Plan, PlannedCpi, PlannedTask
from camkes.resolve.codes import NO_ASSEMBLY, UNCONNECTED
from camkes.resolve.files.imports import Program, read_program
from camkes.resolve.files.library import BUILTIN, comes_with_tool
from camkes.resolve.options import LoadOptions

#: Tasks of a system whose responses are computed; of so many it takes about 6 s.
MOST_TASKS = 100

#: Errors that only a whole system can have: something is missing in it.
_OF_THE_WHOLE = (NO_ASSEMBLY, UNCONNECTED)

_IMPORT = re.compile(r'\bimport\s*(?:"(?P<own>[^"]+)"|<(?P<system>[^>]+)>)')


class SystemSnapshot(Struct, dict=True):
    """What is known about the system of an application. One that is not `whole` is that of a program that was
    only read: without diagnostics and a plan."""

    application: Application
    options: LoadOptions
    program: Program
    diagnostics: tuple[Diagnostic, ...]
    system: System | None
    plan: Plan | None
    whole: bool = True

    @cached_property
    def index(self) -> Index:
        return Index(self.program)

    @cached_property
    def files(self) -> dict[str, SourceFile]:
        """The files that were read, by their real paths."""
        return {os.path.realpath(file.path): file for file in self.program.files}

    @cached_property
    def statements(self) -> dict[str, Statements] | None:
        """The texts of the files that do not come with the tool, by their real paths. None if one needs the
        preprocessor."""
        files = {real: file for real, file in self.files.items() if not comes_with_tool(file.path)}
        if not all(self.is_plain(file.text) for file in files.values()):
            return None
        return {real: Statements(file.text) for real, file in files.items()}

    def is_plain(self, text: str) -> bool:
        """Whether the preprocessor leaves a text as it is."""
        return not self.options.cpp or not needs_preprocessor(text, self.options.cpp_flags)

    def files_read(self) -> list[Path]:
        """The real paths of the files."""
        return [Path(real) for real in self.files]

    @cached_property
    def real_paths(self) -> dict[SourceFile, str]:
        """Those of the files."""
        return {file: real for real, file in self.files.items()}

    def imports(self, source: SourceFile) -> Iterator[tuple[int, int, int]]:
        """The imports of a file: the line of each, from 1, and where it begins and ends in it, from 0."""
        for number, line in enumerate(source.lines, 1):
            for match in _IMPORT.finditer(line):
                if "//" not in line[: match.start()]:
                    yield number, *match.span()

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

    @property
    def has_responses(self) -> bool:
        """Whether `responses` takes no time."""
        return "responses" in self.__dict__ or not any(task.wcet for task in self.stated_tasks.values())

    @cached_property
    def responses(self) -> dict[str, TaskResult]:
        """Execution time, blocking and response of each task, where all times are stated. It may take
        long."""
        if self.system is None or self.plan is None:
            return {}
        found = responses(self.system, self.plan, MOST_TASKS)
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
    parsed: ParsedFiles | None = None,
    show: Callable[[SystemSnapshot], None] = lambda _: None,
) -> SystemSnapshot:
    """Read, resolve and plan the system of an application; `read` gives texts that are not saved, `parsed`
    has trees of before, and `show` takes what is known when the files have been read.

    Without `has_root` the file may be a fragment, and a missing assembly is not an error. With `compiles` the
    C compiler checks the types that it names.
    """

    def source(path: Path, sink: Sink, span: Span | None) -> SourceFile | None:
        text = read(path)
        if text is None:
            return read_meaning(path, sink, span)
        return decode(path, text.encode(errors="replace"), sink, span)

    options = pipeline.load_options(application, asked)
    options = replace(options, read=source, parsed=parsed)
    sink = Sink()
    program = read_program(application.root, options, sink)
    show(SystemSnapshot(application, options, program, (), None, None, whole=False))
    loaded = pipeline.load(application.root, options, sink, program)
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
    _last: dict[str, SystemSnapshot] = field(default_factory=dict)  # of each file, maybe of an older text
    _parsed: dict[Path, ParsedFiles] = field(default_factory=dict)  # by the root of an application
    _real: dict[str, str] = field(default_factory=dict)
    _excerpts: dict[Path, ParsedFiles] = field(default_factory=dict)

    def open(self, path: str, text: str) -> None:
        self.buffers[os.path.realpath(path)] = text
        self.forget()

    def close(self, path: str) -> None:
        self.buffers.pop(os.path.realpath(path), None)
        self.forget()

    def real(self, path: str | Path) -> str:
        """A path without symbolic links, as it was since something changed on the disk."""
        name = str(path)
        if name not in self._real:
            self._real[name] = os.path.realpath(name)
        return self._real[name]

    def forget(self) -> None:
        """Something changed; later questions are answered anew."""
        self._real = {}
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
            _ = owners[real].index  # before an answer needs it, and what follows
            for statements in (owners[real].statements or {}).values():
                _ = statements.by_text, statements.by_name
            self._last[real] = owners[real]
        return owners[real]

    def known(self, path: str) -> SystemSnapshot | None:
        """The analysis of a file, if there is one of the present texts."""
        return self._owners.get(os.path.realpath(path))

    def last(self, path: str) -> SystemSnapshot | None:
        """The newest analysis of a file, which may be one of older texts."""
        return self._last.get(os.path.realpath(path))

    def changed_statements(self, path: str) -> ChangedStatements | None:
        """What differs from the last analysis of a file; None if there is none, or the preprocessor has a
        part in it."""
        last = self.last(path)
        if last is None or last.statements is None:
            return None
        now = dict(last.statements)
        changed: dict[str, set[int]] = {}
        for real, before in last.statements.items():
            text = self.buffers.get(real, before.text).replace("\r\n", "\n").replace("\r", "\n")
            if text != before.text:
                now[real] = Statements(text, before)
                changed[real] = now[real].unlike(before)
                if not last.is_plain("".join(now[real].all[number].text for number in changed[real])):
                    return None
        whole = self._parsed.setdefault(last.application.root, ParsedFiles())
        parsed = self._excerpts.setdefault(last.application.root, ParsedFiles(whole))
        return ChangedStatements(last, now, changed, parsed)

    def open_analyses(self) -> list[SystemSnapshot]:
        """The systems of all open files."""
        return list({id(a): a for a in map(self.analysis, sorted(self.buffers))}.values())

    def _show(self, read: SystemSnapshot) -> None:
        """Files that were never analysed are known by what was read, until they are."""
        for real in read.files:
            self._last.setdefault(real, read)

    def _find(
        self, path: Path, real: str, analyses: dict[Path, SystemSnapshot], buffers: dict[str, str]
    ) -> SystemSnapshot:
        def read(file: Path) -> str | None:
            return buffers.get(os.path.realpath(file))

        def analyse(application: Application, *, has_root: bool, compiles: bool) -> SystemSnapshot:
            asked = pipeline.Input(application.root, definitions=tuple(self.definitions.items()))
            parsed = self._parsed.setdefault(application.root, ParsedFiles())
            return analyse_root(
                asked, application, read, has_root=has_root, compiles=compiles, parsed=parsed, show=self._show
            )

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


class ChangedStatements(Struct, dict=True):
    """The statements that changed since an analysis, and what is known about them without another one. `now`:
    the present texts, by real path; `changed`: the numbers of the statements that the analysis did not
    have."""

    last: SystemSnapshot
    now: dict[str, Statements]
    changed: dict[str, set[int]]
    parsed: ParsedFiles  # excerpts, and what they import

    @cached_property
    def files(self) -> dict[str, SourceFile]:
        """The present texts, as diagnostics name them."""
        return {real: SourceFile(self.last.files[real].path, each.text) for real, each in self.now.items()}

    def diagnostics(self) -> list[Diagnostic] | None:
        """The errors in what changed, and what was reported about the rest; None if too much changed."""
        fresh: list[Diagnostic] = []
        if any(self.changed.values()):
            read = self.read(self.changed)
            if read is None:
                return None
            fresh = list(self._in_changed(read[1].diagnostics))
        return [*self._before(), *fresh]

    def read(self, wanted: Mapping[str, Iterable[int]]) -> tuple[SystemSnapshot, Sink] | None:
        """An excerpt with some statements of each file, read; None if it is too large."""
        texts = excerpt(self.now, {real: set(numbers) for real, numbers in wanted.items()})
        if texts is None:
            return None
        read = self.last.options.read

        def source(path: Path, sink: Sink, span: Span | None) -> SourceFile | None:
            text = texts.get(os.path.realpath(path))
            return read(path, sink, span) if text is None else SourceFile(path, text, span)

        sink = Sink()
        options = replace(self.last.options, read=source, parsed=self.parsed)
        program = read_program(self.last.application.root, options, sink)
        pipeline.load(self.last.application.root, options, sink, program)
        found = SystemSnapshot(self.last.application, options, program, (), None, None, whole=False)
        return found, sink

    def _in_changed(self, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """The errors in changed statements: what an excerpt leaves out can make no others."""
        for each in found:
            span = None if each.span is None else self._present(each.span)
            if span is None or each.severity is not Severity.ERROR or each.code in _OF_THE_WHOLE:
                continue
            real = os.path.realpath(span.file.path)
            now = self.now.get(real)
            if now is not None and now.at(span.line, span.column) in self.changed.get(real, ()):
                related = tuple(Label(self._present(label.span), label.text) for label in each.related)
                yield replace(each, span=span, related=related)

    def _present(self, span: Span) -> Span:
        return span._replace(file=self.files.get(os.path.realpath(span.file.path), span.file))

    def _before(self) -> Iterator[Diagnostic]:
        """What was reported about statements that are still there, at their present places."""
        for each in self.last.diagnostics:
            span = self.moved(each.span) if each.span is not None else None
            if span is not None or each.span is None:
                labels = ((self.moved(label.span), label.text) for label in each.related)
                related = tuple(Label(span, text) for span, text in labels if span is not None)
                yield replace(each, span=span, related=related)

    def before(self, real: str, line: int, column: int) -> tuple[int, int] | None:
        """Where a place of a present text was in the last analysis; None if its statement was not there."""
        assert self.last.statements is not None
        now, old = self.now[real], self.last.statements[real]
        return (line, column) if now is old else now.moved(line, column, old)

    def around(self, real: str, line: int, column: int) -> SystemSnapshot | None:
        """What can be read of the statement at a place of a present text."""
        found = self.read({real: [self.now[real].at(line, column)]})
        return None if found is None else found[0]

    def moved(self, span: Span) -> Span | None:
        """Where a span of the last analysis is now; None if its statement is not there any more."""
        assert self.last.statements is not None
        real = self.last.real_paths.get(span.file, "")
        old, now = self.last.statements.get(real), self.now.get(real)
        if old is None or now is None or old is now:
            return span
        begin, end = old.moved(span.line, span.column, now), None
        if begin is not None:
            end = old.moved(span.end_line, max(span.end_column - 1, 1), now)
        if begin is None or end is None:
            return None
        return Span(self.files[real], *begin, end[0], end[1] + (span.end_column > 1))
