# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What C code calls the members of components: where it does, what it calls them after a renaming, and where
that cannot be known."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field

from camkes.diagnostics import SourceFile, Span
from camkes.editor.code import sources_of
from camkes.editor.index import NamedSymbol
from camkes.editor.rename import RefusedError
from camkes.editor.workspace import SystemSnapshot
from camkes.parser import ast
from camkes.resolve.files.library import comes_with_tool
from camkes.resolve.names.symbols import suffixes_of
from camkes.scaffold.stubs import ReadText, without_literals

_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_INCLUDE_LINE = re.compile(r"^[ \t]*#[ \t]*include\b[^\n]*", re.MULTILINE)
_MEMBER = re.compile(r"(?:\.|->)\s*\Z")
_QUALIFIERS = r"(?:(?:const|static|volatile|register|unsigned|signed|long|short|struct|union|enum)\s+)*"
_NO_TYPE = r"(?!(?:return|else|goto|case|extern|sizeof|do|typedef)\b)"
#: how a declaration begins, up to a first name
_DECLARATION = re.compile(rf"\s*{_NO_TYPE}{_QUALIFIERS}[A-Za-z_]\w*(?:\s+\**|\s*\*+\s+)(?:\w|\Z)")
#: what is before the name of a parameter
_PARAMETER = re.compile(rf"[(,]\s*{_QUALIFIERS}[A-Za-z_]\w*(?:\s+\**|\s*\*+\s+)\Z")
_BEHIND_DECLARED = re.compile(r"\s*(?:[=;,)]|\[)")
_PASTE = re.compile(r"##")
_MOST_FILES = 2000
_MOST_NAMED = 5
_CODE = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".camkes", ".idl4")


class CodeRename(Struct):
    """What a renaming changes in C code: the places and their new texts. `left`: what may have to be changed
    by hand, for the user."""

    edits: list[tuple[Span, str]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def names_in_code(member: NamedSymbol) -> dict[str, NamedSymbol]:
    """The C names of an interface, a lock or an attribute of a component; each with the symbol that its end
    is of, which is a method or the member."""
    name = member.name.text
    if member.kind == "attribute":
        return {name: member, f"{name}_DEF": member}
    node = member.node
    kind = node.kind if isinstance(node, (ast.InterfaceDecl, ast.SyncDecl)) else ""
    found = {f"{name}_{suffix}": member for suffix in suffixes_of(kind)}
    found[f"{name}__init"] = member
    if kind in ("dataport", *_LOCKS):
        found[name] = member
    methods = member.type.members if member.type is not None else {}
    return found | {f"{name}_{method}": symbol for method, symbol in methods.items()}


_LOCKS = ("mutex", "semaphore", "binary_semaphore", "condition")


def rename_in_code(analysis: SystemSnapshot, symbol: NamedSymbol, new: str, read: ReadText) -> CodeRename:
    """The changes for a method, an interface, a lock or an attribute. Raises RefusedError where it is not
    certain what a name in C means."""
    found = CodeRename()
    renamed = {
        component: names
        for component in analysis.index.tops["component"].values()
        if (names := _renamed(component, symbol, new))
    }
    files: dict[Path, list[NamedSymbol]] = defaultdict(list)
    for component in analysis.index.tops["component"].values():
        sources = _files(analysis, component, read)
        if component in renamed and not sources and _has_code(component):
            found.left.append(f"the sources of component `{component.name.text}` are not known")
        for path in sources:
            files[path].append(component)
    for path, components in files.items():
        wanted: dict[str, str] = {}
        for component in components:
            wanted |= renamed.get(component, {})
        text = read(path)
        if not wanted or text is None:
            continue
        others = [each for each in components if each not in renamed]
        own = [each for each in components if each in renamed]
        found.edits += _changed(analysis, path, text, wanted, own, others, symbol, new)
    found.left += _elsewhere(analysis, {*files, *analysis.files_read()}, symbol, renamed.values())
    return found


def _renamed(component: NamedSymbol, symbol: NamedSymbol, new: str) -> dict[str, str]:
    """The C names of a component that a renaming changes, and what they become."""
    found = {}
    for member in component.members.values():
        for name, end in names_in_code(member).items():
            if symbol is member:
                found[name] = new + name.removeprefix(member.name.text)
            elif symbol is end:
                found[name] = f"{member.name.text}_{new}"
    return found


def _has_code(component: NamedSymbol) -> bool:
    node = component.node
    return (
        isinstance(node, ast.ComponentDecl)
        and not any(isinstance(item, ast.Hardware) for item in node.items)
        and node.composition is None
        and not comes_with_tool(component.name.span.file.path)
    )


def _files(analysis: SystemSnapshot, component: NamedSymbol, read: ReadText) -> list[Path]:
    """The sources of a component, and the headers of the application that they include."""
    found: list[Path] = []
    waiting = [Path(os.path.realpath(each)) for each in sources_of(analysis, component)]
    folders = analysis.application.headers_of_all(component.name.span.file.path.parent)
    while waiting:
        path = waiting.pop()
        text = None if path in found else read(path)
        if text is None:
            continue
        found.append(path)
        for match in _INCLUDE.finditer(text):
            places = (Path(os.path.realpath(folder / match[1])) for folder in (path.parent, *folders))
            waiting += [each for each in places if each.is_file() and not comes_with_tool(each)][:1]
    return found


def _changed(
    analysis: SystemSnapshot,
    path: Path,
    text: str,
    wanted: Mapping[str, str],
    own: list[NamedSymbol],
    others: list[NamedSymbol],
    symbol: NamedSymbol,
    new: str,
) -> Iterator[tuple[Span, str]]:
    """The changes in one file."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    source = SourceFile(path, text)
    code = _INCLUDE_LINE.sub(lambda match: " " * len(match[0]), without_literals(text))

    def refuse(at: int, why: str) -> RefusedError:
        return RefusedError(f"{path.name}:{code.count(chr(10), 0, at) + 1} {why}; rename it by hand")

    taken = {name for each in own for member in each.members.values() for name in names_in_code(member)}
    pasted = _PASTE.search(code)
    for match in _WORD.finditer(code):
        word, at = match[0], match.start()
        if word in wanted.values() and word not in wanted:
            raise refuse(at, f"has another `{word}`")
        if pasted is not None and word == symbol.name.text and word not in wanted:
            raise refuse(at, f"has a `{word}` that may become a part of a name (`##`)")
        if word not in wanted or _MEMBER.search(code, max(0, at - 20), at):
            continue
        if wanted[word] in taken - wanted.keys():
            raise RefusedError(f"`{wanted[word]}` is already in use in C")
        if not path.is_relative_to(os.path.realpath(analysis.application.folder)):
            raise refuse(at, f"has `{word}` and is not in the folder of the application")
        if _BEHIND_DECLARED.match(code, match.end()) and _declares(code, at):
            raise refuse(at, f"declares a `{word}` of its own")
        for other in others:
            if any(word in names_in_code(member) for member in other.members.values()):
                raise refuse(at, f"has `{word}`, which is another one in component `{other.name.text}`")
        yield _span(source, at, len(word)), wanted[word]


def _declares(code: str, at: int) -> bool:
    """Whether a name at an offset is that of a variable, a parameter or a member that is declared there."""
    before = code[max(code.rfind(mark, 0, at) for mark in ";{}") + 1 : at]
    before = re.sub(r"^[ \t]*#.*", "", before, flags=re.MULTILINE)
    if before.count("(") > before.count(")"):
        return _PARAMETER.search(before) is not None
    return _DECLARATION.match(before) is not None and "=" not in before.rpartition(",")[2]


def _span(source: SourceFile, at: int, length: int) -> Span:
    line = source.text.count("\n", 0, at) + 1
    column = at - source.text.rfind("\n", 0, at)
    return Span(source, line, column, line, column + length)


def _elsewhere(
    analysis: SystemSnapshot, known: set[Path], symbol: NamedSymbol, renamed: Iterable[Mapping[str, str]]
) -> Iterator[str]:
    """Files of the folder that are not of the system, and have one of the names."""
    names = {name for each in renamed for name in each} | {symbol.name.text}
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b")
    found = []
    count = 0
    for folder, folders, files in os.walk(analysis.application.folder):
        folders[:] = sorted(each for each in folders if not each.startswith((".", "build")))
        for name in sorted(files):
            count += 1
            path = Path(os.path.realpath(Path(folder) / name))
            if name.endswith(_CODE) and path not in known and count <= _MOST_FILES:
                try:
                    text = path.read_text("utf-8", errors="replace")
                except OSError:
                    continue
                if pattern.search(without_literals(text)):
                    found.append(str(path.relative_to(os.path.realpath(analysis.application.folder))))
    if found:
        more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        yield f"not of this system, and not changed: {', '.join(found[:_MOST_NAMED])}{more}"
