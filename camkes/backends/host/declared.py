# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a component's `camkes.h` declares, and what a compiler's message about it means to the user.

Code that does not fit its interfaces is reported at the user's line, with the method or interface in the
`.camkes` file and the line of C that fits. The generated header is not the user's, so nothing points there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from camkes.backends.host.codes import COMPILE_ERROR, COMPILE_WARNING, INITIALISER_NOT_CALLED
from camkes.diagnostics import Diagnostic, Label, SourceFile, Span
from camkes.model.system import ComponentType, Interface, Method, Procedure
from camkes.resolve.words.nearest import nearest

#: GCC and Clang about a function that nothing declares; the first group is its name
UNDECLARED = re.compile(r"(?:implicit declaration of function|call to undeclared function) '(\w+)'")
_CONFLICT = re.compile(r"conflicting types for '(\w+)'")
_NO_HEADER = re.compile(r"^(?:([^\s:]+): No such file or directory|'([^']+)' file not found)")
_LIBRARY_HEADER = re.compile(r"include (?:the header )?'?(<[^>]+>)'? or ")
_FUNCTION = re.compile(r"\b(\w+)\(")
_ATTRIBUTE = re.compile(r"\s*__attribute__\(\((?:[^()]|\([^()]*\))*\)\)")
_INCLUDES = re.compile(r"^\s*#\s*include\s*[<\"]camkes\.h[>\"]", re.MULTILINE)
_OF_LIBRARY = ("camkes_", "CAMKES_", "seL4_")  # begin names that camkes.h has for all components
_SHOWN = 4
_NOT_DECLARED = " is not declared"


def _to_include(label: Label) -> str | None:
    """The header of the C library that a compiler's note says is not included."""
    found = _LIBRARY_HEADER.match(label.text)
    return None if found is None else found[1]


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


class DeclaredNames:
    """The names that the generated headers of a component declare. `headers` are these files; its own are in
    `folders`."""

    def __init__(self, kind: ComponentType, headers: Iterable[Path], folders: Iterable[Path]) -> None:
        self.kind = kind
        self.folders = tuple(folders)
        self.headers = frozenset(headers)

    @cached_property
    def _lines(self) -> Mapping[str, str]:
        """The declaration of each function."""
        found: dict[str, str] = {}
        for path in self.headers:
            for line in path.read_text(encoding="utf-8").splitlines():
                name = _FUNCTION.search(line) if line.endswith(";") else None
                if name is not None:
                    found[name[1]] = _ATTRIBUTE.sub("", line).rstrip(";")
        return found

    @cached_property
    def initialisers(self) -> Mapping[str, str]:
        """The functions that initialise an instance, by their names in small letters without `_`."""
        names = ("pre_init", "post_init", *(f"{i.name}__init" for i in self.kind.interfaces))
        return {_folded(name): name for name in names}

    def slip_of_initialiser(self, name: str, sources: Iterable[Path]) -> Diagnostic | None:
        """The message for a function of these sources that nothing calls, with a name like that of an
        initialiser."""
        meant = self.initialisers.get(_folded(name))
        if meant is None or meant == name or name in self.names:
            return None
        found: list[Span] = []
        for file in (SourceFile(path, path.read_text("utf-8", "replace")) for path in dict.fromkeys(sources)):
            for number, line in enumerate(file.lines, 1):
                for word in re.finditer(rf"\b{re.escape(name)}\b", line):
                    found.append(Span(file, number, word.start() + 1, number, word.end() + 1))
        if len(found) != 1:  # it is used, or its name is made by a macro
            return None
        return Diagnostic(
            INITIALISER_NOT_CALLED,
            f"nothing calls `{name}()`",
            found[0],
            notes=(f"`{meant}()` is called when an instance of `{self.kind.name}` starts",),
            help=f"did you mean `{meant}`?",
        )

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(self._lines)

    def meant(self, name: str, text: str | None) -> str:
        """What to write instead of a function that is not defined, in a file with this text; empty if that
        is not known."""
        known = name in self._lines or name.startswith(_OF_LIBRARY)
        if known and text is not None and not _INCLUDES.search(text):
            return "add `#include <camkes.h>`, which declares it"
        if near := nearest(name, self.names, 0.75):
            return f"did you mean `{near}`?"
        alike = self.alike(name, self.names)
        return f"did you mean `{alike}`?" if alike else ""

    def alike(self, name: str, names: Iterable[str]) -> str | None:
        """The one of the names that `name` is a slip of, or that is the same method with another prefix."""
        methods = {m for _, m in (self._parts(each) for each in (name, *self.names)) if m is not None}
        same = [n for n in names for m in methods if n.endswith(f"_{m.name}") and name.endswith(f"_{m.name}")]
        return nearest(name, names, 0.7) or (same[0] if len(set(same)) == 1 else None)

    def explained(self, found: Diagnostic) -> Diagnostic:
        """A compiler's diagnostic in terms of the `.camkes` file, if it is about something declared there."""
        span = found.span
        if span is not None and (needed := next(filter(None, map(_to_include, found.related)), None)):
            name = span.file.lines[span.line - 1][span.column - 1 : span.end_column - 1]
            help = f"add `#include {needed}`"
            return replace(found, message=f"`{name}()`{_NOT_DECLARED}", related=(), help=help)
        undeclared = UNDECLARED.search(found.message)
        if undeclared is not None and span is not None:
            name = undeclared[1]
            help = self.meant(name, span.file.text)
            return replace(found, message=f"`{name}()`{_NOT_DECLARED}", help=help, related=())
        if span is not None and (header := _NO_HEADER.search(found.message)) is not None:
            return self._without_header(found, header[1] or header[2])
        at = [label.span for label in found.related if label.span.file.path in self.headers]
        name = next((n for place in at if (n := self._function(place)) is not None), "")
        related = tuple(label for label in found.related if label.span.file.path not in self.headers)
        if name not in self._lines:
            found = replace(found, related=related) if at else found
            return self._of_dataport(found)
        conflict = _CONFLICT.search(found.message)
        interface, method = self._parts(name)
        if interface is None:
            return replace(found, related=related, help=f"it is declared as `{self._lines[name]}`")
        about = f"interface `{interface.name}`"
        place = Label(interface.span, "the interface")
        if method is not None and isinstance(interface.type, Procedure):
            about = f"method `{method.name}` of procedure `{interface.type.name}`"
            place = Label(method.span, "the method")
        what = f"`{name}()` does not fit" if conflict else f"this use of `{name}()` does not fit"
        return replace(
            found,
            message=f"{what} {about}",
            related=(*related, place),
            notes=(f"the compiler says: {found.message}", *found.notes),
            help=f"write `{self._lines[name]}`" if conflict else f"it is declared as `{self._lines[name]}`",
        )

    def _of_dataport(self, found: Diagnostic) -> Diagnostic:
        """A mistake where a dataport is used says what that is."""
        span = found.span
        word = "" if span is None else span.file.lines[span.line - 1][span.column - 1 : span.end_column - 1]
        ports = [i for i in self.kind.interfaces if i.kind == "dataport" and i.name == word]
        if not ports or found.help:
            return found
        place = Label(ports[0].span, "the dataport")
        help = f"`{word}` is a pointer to the memory of the dataport; its contents are `*{word}`"
        return replace(found, related=(*found.related, place), help=help)

    def _without_header(self, found: Diagnostic, name: str) -> Diagnostic:
        """A header that a source includes and no folder has."""
        place = found.span
        assert place is not None
        start = place.file.lines[place.line - 1].find(name) + 1
        near = nearest(name, (path.name for folder in self.folders for path in folder.glob("*.h")))
        return replace(
            found,
            message=f"there is no header `{name}`",
            span=place if not start else Span(place.file, place.line, start, place.line, start + len(name)),
            related=(),
            help=f"did you mean `{near}`?"
            if near
            else f"add its folder: DeclareCAmkESComponent({self.kind.name} ... INCLUDES folder)",
        )

    def _function(self, place: Span) -> str | None:
        """The function that is declared at a place of a generated header."""
        found = _FUNCTION.search(place.file.lines[place.line - 1])
        return None if found is None else found[1]

    def _parts(self, name: str) -> tuple[Interface | None, Method | None]:
        """The interface, and the method, that a function is generated for."""
        own = [i for i in self.kind.interfaces if name.startswith(f"{i.name}_")]
        for interface in own:
            methods = interface.type.methods if isinstance(interface.type, Procedure) else ()
            for method in methods:
                if name == f"{interface.name}_{method.name}":
                    return interface, method
        return max(own, key=lambda i: len(i.name), default=None), None


def one_for_each_cause(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics of the code of several components, each cause once: a line of a header that all include,
    a method that several components provide, a header that a source does not include."""
    found = list(found)
    explained = {d.span for d in found if d.message.endswith(_NOT_DECLARED) and d.help}
    found = [d for d in found if d.help or d.span not in explained]
    first: dict[tuple[object, ...], Diagnostic] = {}
    others: dict[tuple[object, ...], dict[Span, None]] = {}
    for each in found:
        key = _cause(each)
        if first.setdefault(key, each) is not each and each.span is not None and each.span != first[key].span:
            others.setdefault(key, {})[each.span] = None
    return [
        replace(
            each,
            related=(*each.related, *(Label(span, "and here") for span in [*others.get(key, ())][:_SHOWN])),
        )
        for key, each in first.items()
    ]


def is_of_missing_name(said: Diagnostic, missing: Iterable[Span]) -> bool:
    """Whether a warning about a function without a declaration is of one of the places whose function is not
    defined either, or has the same cause: a source that does not include `camkes.h`."""
    span = said.span
    if said.code is not COMPILE_WARNING or span is None or not said.message.endswith(_NOT_DECLARED):
        return False
    lacks_all = _INCLUDES.search(span.file.text) is None
    return any(p.file.path == span.file.path and (p.line == span.line or lacks_all) for p in missing)


def _cause(found: Diagnostic) -> tuple[object, ...]:
    span = found.span
    if span is None:
        return (found,)
    if found.code in (COMPILE_ERROR, COMPILE_WARNING) and found.help.startswith("add `#include"):
        return found.code.number, span.file.path, found.help
    methods = [label.span for label in found.related if label.text == "the method"]
    if methods and found.help.startswith("write `"):  # handlers
        return found.code.number, methods[0]
    return found.code.number, span.file.path, span[1:], found.message
