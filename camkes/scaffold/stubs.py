# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which handlers the sources of components lack, read in their text, and what to append to which source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from camkes.backends.host.sources import with_libraries
from camkes.diagnostics import Sink
from camkes.generate.handlers import Handler, definitions, handlers_of
from camkes.model.system import ComponentType, System
from camkes.project.application import Application
from camkes.project.builds import language_by_name
from camkes.resolve.files.imports import Program
from camkes.resolve.files.library import comes_with_tool
from camkes.resolve.names.resolver import Names
from camkes.scaffold.insertions import Insertion, line_count

#: comments and literals, which have no code
_NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
#: what may stand between the parameters of a function and its body
_BEFORE_BODY = re.compile(r"(?:\s|__attribute__\s*\(\(.*?\)\)|noexcept\b)*\{", re.DOTALL)
_ALIAS = re.compile(r"[^;{]*\balias\b")

#: how the text of a file is read; None if it cannot be
ReadText = Callable[[Path], str | None]


class Stubs(Struct, frozen=True):
    """Handlers that a component lacks, and what defines them at the end of one of its sources: None if it has
    no source. One that is declared and that there is not is made."""

    kind: ComponentType
    handlers: tuple[Handler, ...]
    insertion: Insertion | None = None


def text_of(path: Path) -> str | None:
    """The text of a file on the disk, whatever its bytes are."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def without_literals(text: str) -> str:
    """C code with blanks in place of comments and of what is quoted."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def defined(text: str, names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The functions among `names` that C code defines, each with the offset of its name."""
    code = without_literals(text)
    for match in re.finditer(rf"\b({'|'.join(map(re.escape, names))})\s*\(", code):
        end = _end_of_parameters(code, match.end())
        if _BEFORE_BODY.match(code, end) or _ALIAS.match(code, end):
            yield match[1], match.start(1)


def _end_of_parameters(code: str, at: int) -> int:
    """Behind the parenthesis that closes the one before `at`."""
    depth = 1
    while depth and at < len(code):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        at += 1
    return at


def component_types(program: Program, *, forward: bool) -> dict[str, ComponentType]:
    """The components that a program defines, also those without instances, but for the tool's own. Mistakes
    in them are left to checks."""
    names = Names(program, forward, Sink())
    names.resolve()
    kinds = (each.type for each in names.components)
    return {kind.name: kind for kind in kinds if not comes_with_tool(kind.span.file.path)}


def missing_handlers(
    application: Application,
    kinds: Mapping[str, ComponentType],
    system: System | None,
    only: Collection[str],
    read: ReadText = text_of,
) -> list[Stubs]:
    """What the components `only` lack, of those of an application."""
    sources = {name: sources_of(application, kind) for name, kind in kinds.items()}
    uses = Counter(path for paths in sources.values() for path in paths)
    served = _served_by_templates(application, system)
    appended: dict[Path, str] = {}
    found = []
    for name in only:
        own = [
            each
            for each in handlers_of(kinds[name])
            if each.interface is None or (name, each.interface.name) not in served
        ]
        texts = {path: appended.get(path) or read(path) or "" for path in sources[name]}
        there = {path: {n for n, _ in defined(text, [h.name for h in own])} for path, text in texts.items()}
        lacking = tuple(h for h in own if not any(h.name in names for names in there.values()))
        if not lacking:
            continue
        places = [path for path in texts if _can_be_written(path, application)]
        if not places:
            found.append(Stubs(kinds[name], lacking))
            continue
        # a source that has no other component, before one that has a handler, before the first one
        place = min(places, key=lambda path: (uses[path] > 1, not there[path], places.index(path)))
        cxx = language_by_name(place) == "CXX"
        text = definitions(kinds[name], lacking, application.folder, texts[place], cxx=cxx)
        at = line_count(texts[place])
        found.append(Stubs(kinds[name], lacking, Insertion(place, at, text)))
        appended[place] = texts[place] + text
    return found


def sources_of(application: Application, kind: ComponentType) -> tuple[Path, ...]:
    """The sources of a component, with those of libraries of the application that it uses, and with what is
    added for single instances."""
    base = application.build_of(kind.name, "", kind.span.file.path)
    more = [build for (component, _), build in application.instances.items() if component == kind.name]
    builds = [with_libraries(application, each) for each in (*([base] if base else []), *more)]
    return tuple(dict.fromkeys(path for each in builds for path in each.sources))


def _can_be_written(path: Path, application: Application) -> bool:
    """Whether a source is one that people write: of C or C++, and in the folder of the application."""
    return language_by_name(path) in ("C", "CXX") and path.is_relative_to(application.folder)


def _served_by_templates(application: Application, system: System | None) -> set[tuple[str, str]]:
    """The interfaces ("component", "interface") that connectors with templates of their own may serve."""
    if system is None:
        return set()
    kinds = {each.name: each.type.name for each in system.instances}
    return {
        (kinds[end.instance], end.interface)
        for connection in system.connections
        if connection.connector.name in application.connectors
        for end in (*connection.from_ends, *connection.to_ends)
    }
