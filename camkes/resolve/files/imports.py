# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Imports: from the file that was asked for to one list of definitions, each file read once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from msgspec import Struct, field

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.parser import ast
from camkes.parser.codes import FILE_UNREADABLE
from camkes.parser.parse import ParseOptions, parse
from camkes.resolve import codes
from camkes.resolve.files.library import BUILTIN, LIBRARY
from camkes.resolve.options import LoadOptions
from camkes.resolve.words.nearest import nearest


class Program(Struct, eq=False, dict=True):
    """All definitions in the order they count: an import is replaced by what it imports.

    `damage` are the statements with syntax errors. `whole` is false where a definition may be missing, with a
    file or in a place outside of blocks; then an unknown name is not an error.
    """

    root: SourceFile
    files: list[SourceFile] = field(default_factory=list)
    items: list[ast.TopLevelItem] = field(default_factory=list)
    damage: list[Span] = field(default_factory=list)
    whole: bool = True

    @property
    def complete(self) -> bool:
        """Whether all that was written was understood."""
        return self.whole and not self.damage


#: Files of an application that are not systems, by the suffixes of their names.
_OTHERS = {
    **dict.fromkeys(
        (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".s"), "a source file of C, C++ or assembly"
    ),
    **dict.fromkeys((".o", ".a", ".so", ".elf"), "compiled code"),
    **dict.fromkeys((".txt", ".cmake"), "a file of CMake or plain text"),
    ".cdl": "a capDL specification",
    ".json": "a JSON file",
    ".md": "a Markdown file",
    ".py": "a Python program",
    ".svg": "a picture",
}


def read_program(path: Path, options: LoadOptions, sink: Sink) -> Program:
    """Read `path` and everything it imports, depth first. A file that was read before is not read again."""
    reader = _ImportReader(options, sink)
    source = None if _is_another(path, sink) else reader.open(path, None)
    program = Program(source or SourceFile(path, ""))
    if source is None:
        program.whole = False
    else:
        reader.run(source, program)
    return program


#: The same, by how they begin: for files whose name does not show what they are.
_BEGINNINGS = {
    b"\x7fELF": "compiled code",
    b"!<arch>\n": "a library of compiled code",
    b"#!": "a script",
    b"\x89PNG": "a picture",
    b"\xd0\x0d\xfe\xed": "a device tree",
}


def _kind_of_another(path: Path) -> str | None:
    """What a file is that does not have the text of a system, by its name or by its first bytes; None: it may
    have."""
    if not path.is_file():
        return None
    if path.suffix:
        return _OTHERS.get(path.suffix.lower())
    try:
        with path.open("rb") as file:
            first = file.read(8)
    except OSError:
        return None  # reading it reports the reason
    return next((kind for mark, kind in _BEGINNINGS.items() if first.startswith(mark)), None)


def _is_another(path: Path, sink: Sink) -> bool:
    """Whether a file is of another kind than systems are, which is an error."""
    kind = _kind_of_another(path)
    if kind is None:
        return False
    sink.report(
        FILE_UNREADABLE,
        f"`{path}` is {kind}, not a .camkes file",
        help="expected the .camkes file of the system, or the folder of the application",
    )
    return True


class _ImportReader:
    def __init__(self, options: LoadOptions, sink: Sink) -> None:
        self.options = options
        self.sink = sink
        self.seen: set[str] = set()
        self.folders = tuple(map(str, (*options.import_path, BUILTIN)))
        self.real_folders: dict[str, str] = {}
        self.parse_options = ParseOptions(
            preprocess=options.cpp,
            cpp=options.cpp_bin,
            cpp_flags=options.cpp_flags,
            include_path=(*options.include_path, LIBRARY),
            partial=True,
        )

    def open(self, path: Path, span: Span | None) -> SourceFile | None:
        """The text of a file; None, and an error, if it cannot be read."""
        self.seen.add(self.real(path))
        return self.options.read(path, self.sink, span)

    def real(self, path: Path) -> str:
        """The path without symbolic links; those of a folder are looked up once."""
        folder, name = os.path.split(path)
        if folder not in self.real_folders:
            self.real_folders[folder] = os.path.realpath(folder)
        whole = os.path.join(self.real_folders[folder], name)  # noqa: PTH118
        return os.path.realpath(whole) if os.path.islink(whole) else whole  # noqa: PTH114

    def run(self, root: SourceFile, program: Program) -> None:
        """Depth first with a stack of its own, so that the length of a chain of imports is not limited."""
        stack = [iter(self.parse(root, program))]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
            elif isinstance(item, ast.ImportDecl):
                source = self.imported(item, program)
                if source is not None:
                    stack.append(iter(self.parse(source, program)))
            else:
                program.items.append(item)

    def parse(self, source: SourceFile, program: Program) -> tuple[ast.TopLevelItem, ...]:
        if self.options.parsed is not None:
            file = self.options.parsed.parse(source, self.sink, self.parse_options)
        else:
            file = parse(source, self.sink, options=self.parse_options)
        assert file is not None  # a partial one is always there
        program.damage += file.damage
        program.whole = program.whole and file.whole
        for read in file.read:
            program.files.append(read)
            self.seen.add(self.real(read.path))
        return file.items

    def imported(self, node: ast.ImportDecl, program: Program) -> SourceFile | None:
        """The file that an import names, or None if it was read before or cannot be."""
        path = self.find(node)
        if path is None:
            program.whole = False
            if not any(node.span.overlaps(damage) for damage in program.damage):
                self.missing(node)
            return None
        if self.real(path) in self.seen:
            return None
        source = self.open(path, node.span)
        if source is None:
            program.whole = False
        return source

    def places(self, node: ast.ImportDecl) -> Iterator[str]:
        folders = self.folders if node.system else (str(node.span.file.path.parent),)
        return (os.path.normpath(os.path.join(folder, node.path)) for folder in folders)  # noqa: PTH118

    def find(self, node: ast.ImportDecl) -> Path | None:
        places = self.places(node)
        if Path(node.path).parent.name == LIBRARY.name:
            places = chain(places, [str(LIBRARY / Path(node.path).name)])
        found = next((Path(path) for path in places if os.path.isfile(path)), None)  # noqa: PTH113
        return self.substitute(node, found) or found

    def substitute(self, node: ast.ImportDecl, found: Path | None) -> Path | None:
        """What takes the place of a file that is not one of the tool's own."""
        folder = self.options.substitutes
        if folder is None or found is None or not node.system or found.is_relative_to(BUILTIN):
            return None
        path = folder / os.path.normpath(node.path)
        return path if os.path.isfile(path) else None  # noqa: PTH113

    def missing(self, node: ast.ImportDecl) -> None:
        places = list(map(Path, self.places(node)))
        help = ""
        if not node.system and os.path.isfile(BUILTIN / node.path):  # noqa: PTH113
            help = f"a file that comes with the tool is imported with `import <{node.path}>;`"
        elif node.system and os.path.isfile(node.span.file.path.parent / node.path):  # noqa: PTH113
            help = f'a file beside this one is imported with `import "{node.path}";`'
        else:
            wanted, own = Path(node.path), node.span.file.path
            beside = [file for place in places for file in _files_in(place.parent) if file != own]
            below = [f for folder in _files_in(own.parent) if os.path.isfile(f := folder / wanted.name)]  # noqa: PTH113
            stem = nearest(wanted.stem, [file.stem for file in beside if file.suffix == wanted.suffix])
            if len(below) == 1 and not node.system:
                help = f'did you mean `import "{below[0].relative_to(own.parent).as_posix()}";`?'
            elif stem is not None:
                right = str(wanted.with_stem(stem))
                quoted = f"<{right}>" if node.system else f'"{right}"'
                help = f"did you mean `import {quoted};`?"
        there = next(filter(os.path.exists, places), None)
        self.sink.report(
            codes.IMPORT_NOT_FOUND,
            f"there is no file `{node.path}` to import"
            + (
                f": {'a folder' if there.is_dir() else 'something other than a file'} has this name"
                if there
                else ""
            ),
            node.span,
            notes=[f"looked for {place}" for place in places],
            help=help,
        )


def _files_in(folder: Path) -> list[Path]:
    """What is in a folder; nothing, if it cannot be read."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []
