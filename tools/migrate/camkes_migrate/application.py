# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The migration of an application: its files, their changes, and notes for manual review."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from camkes.diagnostics import Diagnostic, Sink, Span
from camkes.diagnostics.rendering.patch import patch
from camkes.files import write_all
from camkes.parser.files import read_source
from camkes.project.application import find_application
from camkes.resolve.files.library import BUILTIN
from camkes_migrate import cmake
from camkes_migrate.code import CodeEditor
from camkes_migrate.codes import LOOK, NO_FILES, NOTHING_TO_MIGRATE
from camkes_migrate.declarations import (
    HEADERS,
    SOURCES,
    SYSTEM_FILES,
    LibraryComponent,
    LibraryDeclarations,
    read,
)
from camkes_migrate.system import Look, SystemEditor
from camkes_migrate.tokens import Document

_SYSTEMS = (".camkes", ".idl4")
_CODE = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp")
_COLOURS = {"+": "32", "-": "31", "@": "36"}
_LISTS = "CMakeLists.txt"
_BYTES = "surrogateescape"  # what is not UTF-8
_IMPORT = re.compile(r"^[ \t]*import[ \t]*<([^>\n]+)>", re.MULTILINE)
_LIBRARY = frozenset((*SYSTEM_FILES, *HEADERS, *SOURCES))


class FileChange(Struct, frozen=True):
    """A file that becomes another."""

    path: Path
    before: str
    after: str
    newline: str
    mark: str

    def diff(self, base: Path) -> Iterator[str]:
        """The lines of a patch."""
        try:
            name = self.path.relative_to(base).as_posix()
        except ValueError:
            name = str(self.path)
        return patch(self._stored(self.before), self._stored(self.after), f"a/{name}", f"b/{name}")

    @property
    def data(self) -> bytes:
        return self._stored(self.after).encode(errors=_BYTES)

    def _stored(self, text: str) -> str:
        return self.mark + text.replace("\n", self.newline)


def migrate(path: Path, sink: Sink) -> tuple[FileChange, ...]:
    """What changes in the application at `path` (a folder, or a file in it). What a person must look at is
    added to `sink`, at places in the files as they are."""
    folder = path if path.is_dir() else path.parent
    if not path.exists():
        sink.report(NO_FILES, f"there is no file or folder {path}", help="name an application's folder")
        return ()
    documents = [_read(p, sink) for p in _files(folder)]
    known = [d for d in documents if d is not None]
    systems = [d for d in known if d.path.suffix in _SYSTEMS]
    if not systems:
        sink.report(NO_FILES, f"there is no .camkes file in {folder}", help="name an application's folder")
        return ()
    code = [d for d in known if d.path.suffix in _CODE]
    declared = read(systems)
    if not declared.marks and not any(map(_uses_macros, code)):
        sink.report(NOTHING_TO_MIGRATE, f"no file in {folder} uses the priority-aware-camkes library")
        return ()

    def look(span: Span, label: str, why: str) -> None:
        sink.report(LOOK, why, span, label)

    owners = _owners(path, declared, code)
    editor = CodeEditor(declared, SystemEditor(declared, systems, {}, look).procedures(), look)
    used: dict[str, set[str]] = {}
    for document in code:
        editor.edit(document, owners[document.path])
        left = {document.tokens.text(i) for i in document.kept()}
        for component in owners[document.path]:
            used.setdefault(component.name, set()).update(left)
    SystemEditor(declared, systems, used, look).edit(code)
    changes = [FileChange(d.path, d.text, d.edited(), d.newline, d.mark) for d in (*systems, *code)]
    own = all(map(_imports_own, systems))
    for document in known:
        if document.path.name == _LISTS:
            _components_go(document, own, look)
            text = cmake.edit(document.text, own_components=own)
            changes.append(FileChange(document.path, document.text, text, document.newline, document.mark))
    _left_over(declared, folder, sink)
    return tuple(change for change in changes if change.before != change.after)


def _imports_own(document: Document) -> bool:
    """Whether everything that a file imports from somewhere comes with the tool."""
    return all((BUILTIN / name).is_file() for name in _IMPORT.findall(document.text))


def _components_go(document: Document, own: bool, look: Look) -> None:
    found = cmake.components(document.text)
    if found is not None and own:
        look(
            document.place(*found.span()),
            "goes",
            "all imports come with the tool, so global-components are removed; the tool provides the time "
            "server on both kernels",
        )


def _uses_macros(document: Document) -> bool:
    return any(t.text in ("NEST", "REQUEST") for t in document.tokens.all if t.kind == "name")


def _files(folder: Path) -> Iterator[Path]:
    """The application's own files: not hidden, not built, not the library's."""
    built = {p.parent for p in folder.rglob("CMakeCache.txt")}
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or not built.isdisjoint(path.parents) or path.name in _LIBRARY or not path.is_file():
            continue
        if path.suffix in (*_SYSTEMS, *_CODE) or path.name == _LISTS:
            yield path


def _read(path: Path, sink: Sink) -> Document | None:
    """A file, whatever the encoding of its comments: bytes that are not UTF-8 stay as they are."""
    try:
        data = path.read_bytes()
    except OSError as error:
        sink.report(NO_FILES, f"cannot read {path}: {error.strerror}")
        return None
    mark = "\ufeff" if data.startswith(codecs.BOM_UTF8) else ""
    text = data.decode(errors=_BYTES).removeprefix(mark).replace("\r\n", "\n")
    return Document(path, text, "\r\n" if b"\r\n" in data else "\n", mark)


def _owners(
    path: Path, declared: LibraryDeclarations, code: Sequence[Document]
) -> dict[Path, list[LibraryComponent]]:
    """The components that each file is compiled for: as the application declares, else all of them."""
    every = list(declared.components.values())
    application = find_application(path, Sink())
    found: dict[Path, list[LibraryComponent]] = {}
    for component in every:
        if application is None:
            break
        build = application.build_of(component.name, "", component.document.path.absolute())
        for source in build.sources if build is not None else ():
            found.setdefault(source.resolve(), []).append(component)
    return {d.path: found.get(d.path.resolve(), every) for d in code}


def _left_over(declared: LibraryDeclarations, folder: Path, sink: Sink) -> None:
    for name in sorted(_LIBRARY):
        for path in sorted(folder.rglob(name)):
            source = read_source(path, Sink())
            if source is not None:
                place = Span(source, 1, 1, 1, 2)
                sink.report(LOOK, f"{path.name} belongs to the library and is no longer used", place)
    shared = [c for c in declared.connections if c.prioritized and sum(e[0] == "to" for e in c.ends) > 1]
    for connection in shared:
        first, last = connection.connector
        sink.add(
            Diagnostic(
                LOOK,
                "this connection has several `to` ends; make one connection for each",
                connection.document.span(first, last),
            )
        )


def write(changes: Sequence[FileChange]) -> None:
    """Write the files: all of them, or none if there is no space for one. Raises OSError with its name."""
    write_all((change.path, change.data) for change in changes)


def painted(line: str) -> str:
    """A line of a patch in colours."""
    colour = "1" if line.startswith(("+++", "---")) else _COLOURS.get(line[:1])
    return f"\x1b[{colour}m{line.removesuffix(chr(10))}\x1b[0m\n" if colour else line
