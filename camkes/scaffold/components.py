# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A new component of an application: the files that it is in, laid out as those of the others are."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from camkes.diagnostics import Severity, Sink, SourceFile
from camkes.generate.handlers import definitions, handlers_of
from camkes.model.connectors import NOTIFICATION, RPC_CALL, SHARED_DATA, support
from camkes.model.system import ComponentType, Interface, Procedure, System
from camkes.parser import ast
from camkes.parser.parse import ParseOptions, parse
from camkes.project.application import Application
from camkes.project.builds import language_by_name
from camkes.project.places import read_text
from camkes.resolve.files.imports import Program
from camkes.resolve.files.library import comes_with_tool
from camkes.resolve.names.resolver import Names
from camkes.resolve.options import LoadOptions
from camkes.scaffold import cmake
from camkes.scaffold.codes import COMPONENT_EXISTS
from camkes.scaffold.insertions import Insertion, line_count
from camkes.scaffold.stubs import component_types

#: where a component without others is, and its source
_HOME, _SOURCE = "components/{name}/{name}.camkes", "components/{name}/src/{lower}.c"

_IMPORT = re.compile(r"^[ \t]*import\b[^;\n]*;[^\n]*\n?", re.MULTILINE)


class AskedInterface(Struct, frozen=True):
    """An interface that a new component has; `protocol` "" is none."""

    kind: str  # provides uses emits consumes dataport
    type: str
    name: str
    protocol: str = ""


class AskedComponent(Struct, frozen=True):
    """What a new component has. `period` is as the language writes it, "" where it has none."""

    name: str
    interfaces: tuple[AskedInterface, ...] = ()
    control: bool = False
    task: bool = False
    period: str = ""

    @property
    def text(self) -> str:
        """Its declaration."""
        items = ["control;"] if self.control or self.task else []
        items += ["requestor;"] if self.task else []
        for each in self.interfaces:
            clause = f" with priority_protocol {each.protocol}" if each.protocol else ""
            items.append(f"{each.kind} {each.type} {each.name}{clause};")
        return "".join([f"component {self.name} {{\n", *(f"    {item}\n" for item in items), "}\n"])


class NewComponent(Struct, frozen=True):
    """What makes a component of an application: files that are `written`, and lines in files that are
    `changed`. `composition` and `configuration` are lines that make an instance of it in the file `root`."""

    written: tuple[Insertion, ...]
    changed: tuple[Insertion, ...]
    composition: tuple[str, ...]
    configuration: tuple[str, ...]
    root: Path


def new_component(
    asked: AskedComponent,
    application: Application,
    program: Program,
    system: System | None,
    options: LoadOptions,
    sink: Sink,
) -> NewComponent | None:
    """The files of an application with a new component; None after a diagnostic. The `system` tells to what
    the component can be connected, where it has no errors. Nothing is written."""
    layout = _Layout(asked.name, application, program)
    source = layout.source
    declared, imported = layout.declared(asked, options)
    kind = _resolved(asked.name, program, options, _with(declared, program), sink)
    if kind is None:
        return None
    new = [source] if imported is None else [declared.path, source]
    existing = [os.path.relpath(path) for path in new if path.exists()]
    if existing:
        sink.report(
            COMPONENT_EXISTS, f"there is {' and '.join(existing)} already", help="choose another name"
        )
        return None
    code = _code(kind, application.folder, cxx=language_by_name(source) == "CXX")
    changed = [declared if imported is None else imported]
    if application.lists is not None:
        folder = application.lists.parent
        includes = [path.relative_to(folder).as_posix() for path in layout.includes]
        words = [asked.name, "SOURCES", source.relative_to(folder).as_posix()]
        words += ["INCLUDES", *includes] if includes else []
        text = read_text(application.lists)
        call = f"DeclareCAmkESComponent({' '.join(map(cmake.word, words))})"
        changed.append(cmake.insertion(application.lists, text, call, "DeclareCAmkESRootserver"))
    instance = _instance_name(asked.name, system)
    return NewComponent(
        (*(() if imported is None else (declared,)), Insertion(source, 0, code)),
        tuple(changed),
        (f"component {asked.name} {instance};", *_connections(asked, instance, system)),
        _settings(asked, instance),
        program.root.path,
    )


def _with(declared: Insertion, program: Program) -> SourceFile:
    """The file of a declaration, with it."""
    file = next((each for each in program.files if each.path == declared.path), None)
    data = b"" if file is None else file.text.encode()
    return SourceFile(declared.path, declared.applied(data).decode())


class _Layout:
    """Where the components of an application are."""

    def __init__(self, name: str, application: Application, program: Program) -> None:
        self.name, self.application, self.program = name, application, program
        folder = application.folder
        self.components = [
            node
            for node in program.items
            if isinstance(node, ast.ComponentDecl) and node.name is not None
            if node.span.file.path.is_relative_to(folder) and not comes_with_tool(node.span.file.path)
        ]
        builds = {
            node.name.text: application.build_of(node.name.text, "", node.span.file.path)
            for node in self.components
            if node.name is not None
        }
        sources = {name: build.sources[0] for name, build in builds.items() if build and build.sources}
        pattern = self._most_common(sources.items()) or _SOURCE
        self.source = folder / self._named(pattern)
        common = [set(build.includes) for build in application.components.values()]
        shared = set.intersection(*common) if common else set()
        self.includes = sorted(path for path in shared if path.is_dir() and path.is_relative_to(folder))

    def declared(self, asked: AskedComponent, options: LoadOptions) -> tuple[Insertion, Insertion | None]:
        """The declaration, and the import of its file where that is a new one."""
        files = Counter(node.span.file.path for node in self.components)
        alone = [
            (node.name.text, path)
            for node in self.components
            if (path := node.span.file.path) != self.program.root.path and files[path] == 1 and node.name
        ]
        if len(self.components) > 2 * len(alone):  # most are in a file with others, or beside the assembly
            path = files.most_common(1)[0][0]
            last = max(node.span.end_line for node in self.components if node.span.file.path == path)
            return Insertion(path, last, f"\n{asked.text}"), None
        pattern = self._most_common(alone) or _HOME
        home = self.application.folder / self._named(pattern)
        procedures = {
            node.name.text: node.span.file.path
            for node in self.program.items
            if isinstance(node, ast.ProcedureDecl) and node.name is not None
        }
        types = [each.type for each in asked.interfaces if each.kind in ("provides", "uses")]
        needed = dict.fromkeys(procedures[name] for name in types if name in procedures)
        root = self.program.root
        imports = [_import(path, home, options) for path in needed if path != root.path]
        text = "".join([*imports, "\n" if imports else "", asked.text])
        return Insertion(home, 0, text), _imported(root, home, late=root.path in needed)

    def _most_common(self, found: Iterable[tuple[str, Path]]) -> str | None:
        """How the paths of components are made of their names, for most of them."""
        patterns = Counter(pattern for name, path in found if (pattern := self._pattern(name, path)))
        return patterns.most_common(1)[0][0] if patterns else None

    def _pattern(self, name: str, path: Path) -> str | None:
        if not path.is_relative_to(self.application.folder):
            return None
        place = path.relative_to(self.application.folder)
        parts = [*place.parts[:-1], place.stem]
        words = {name: "{name}", name.lower(): "{lower}"}
        if parts[-1] not in words:
            return None
        return "/".join(words.get(part, part.replace("{", "")) for part in parts) + place.suffix

    def _named(self, pattern: str) -> str:
        return pattern.replace("{name}", self.name).replace("{lower}", self.name.lower())


def _import(path: Path, home: Path, options: LoadOptions) -> str:
    """How the file `home` imports another one."""
    for folder in options.import_path:
        if path.is_relative_to(folder):
            return f"import <{path.relative_to(folder).as_posix()}>;\n"
    return f'import "{os.path.relpath(path, home.parent)}";\n'


def _imported(root: SourceFile, home: Path, *, late: bool) -> Insertion:
    """What imports a file in that of an assembly: after its other imports, or if that is `late` because it
    defines what that file needs, before its assembly."""
    line = f'import "{os.path.relpath(home, root.path.parent)}";\n'
    code = re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), root.text, flags=re.DOTALL)
    places = [match.end() for match in _IMPORT.finditer(code)]
    if places and not late:
        return Insertion(root.path, line_count(code, places[-1]), line)
    assembly = re.search(r"^[ \t]*(assembly|composition)\b", code, re.MULTILINE)
    at = assembly.start() if assembly else len(code)
    return Insertion(root.path, code.count("\n", 0, at), f"{line}\n")


def _resolved(
    name: str, program: Program, options: LoadOptions, file: SourceFile, sink: Sink
) -> ComponentType | None:
    """The new component, as the text of the `file` declares it that is not written yet. Its mistakes are
    reported, those that the application has already are not."""
    before, after = Sink(), Sink()
    forward = options.allow_forward_references
    Names(program, forward, before).resolve()
    parsed = parse(
        file,
        after,
        options=ParseOptions(
            preprocess=options.cpp,
            cpp=options.cpp_bin,
            cpp_flags=options.cpp_flags,
            include_path=options.include_path,
        ),
    )
    if parsed is not None:
        added = [each for each in parsed.items if isinstance(each, ast.ComponentDecl)][-1:]
        uses = (ast.AssemblyDecl, ast.CompositionDecl)
        at = next((n for n, item in enumerate(program.items) if isinstance(item, uses)), len(program.items))
        items = [*program.items[:at], *added, *program.items[at:]]
        changed = Program(program.root, program.files, items)
        Names(changed, forward, after).resolve()
    known = {(each.code, each.message) for each in before.diagnostics}
    for each in after.diagnostics:
        if each.severity is Severity.ERROR and (each.code, each.message) not in known:
            sink.add(each)
    return None if sink.has_errors else component_types(changed, forward=forward).get(name)


def _code(kind: ComponentType, folder: Path, *, cxx: bool) -> str:
    """The source of a new component: what its code can use, as comments, and what it has to define."""
    text = definitions(kind, handlers_of(kind), folder, "", cxx=cxx)
    used = [line for each in kind.interfaces for line in _use(each)]
    events = [each.name for each in kind.interfaces if each.kind == "consumes"]
    callbacks = "" if kind.control else "".join(map(_callback, events))
    if callbacks:
        calls = "".join(f"    {name}_reg_callback(on_{name}, NULL);\n" for name in events)
        callbacks += f"\nvoid post_init(void)\n{{\n{calls}}}\n"
    head, _, rest = text.partition("\n\n")
    comments = "\n".join(used) + "\n" if used else ""
    return "\n".join(part for part in (f"{head.rstrip()}\n", comments, callbacks.lstrip(), rest) if part)


def _callback(event: str) -> str:
    again = f"    {event}_reg_callback(on_{event}, NULL); /* a callback is called once */\n"
    return f"\nstatic void on_{event}(void *argument)\n{{\n    (void)argument;\n{again}}}\n"


def _use(interface: Interface) -> Iterator[str]:
    """What code can do with an interface that it does not have to define."""
    name = interface.name
    if interface.kind == "uses" and isinstance(interface.type, Procedure):
        calls = [f"{name}_{each.name}()" for each in interface.type.methods]
        yield f"/* {name}: {', '.join(calls[:4])}{', ...' if len(calls) > 4 else ''} */"
    elif interface.kind == "emits":
        yield f"/* {name}: {name}_emit() */"
    elif interface.kind == "consumes":
        yield f"/* {name}: {name}_wait(), {name}_poll() or {name}_reg_callback() */"
    elif interface.kind == "dataport":
        yield f"/* {name}: memory that {name} points to, of {name}_size bytes */"


# What to add to the composition -------------------------------------------------------------------

#: the other side of an interface, and the connector between both
_OTHERS = {
    "uses": ("provides", RPC_CALL),
    "provides": ("uses", RPC_CALL),
    "emits": ("consumes", NOTIFICATION),
    "consumes": ("emits", NOTIFICATION),
    "dataport": ("dataport", SHARED_DATA),
}
#: of which the end of a connection is its `from`
_FROM = ("uses", "emits", "dataport")


def _instance_name(name: str, system: System | None) -> str:
    taken = {each.name for each in system.instances} if system is not None else set()
    lower = name.lower() if name.lower() != name else f"{name}0"
    numbered = (f"{lower}{number}" for number in range(1, len(taken) + 2))
    return next(each for each in (lower, *numbered) if each not in taken)


def _connections(asked: AskedComponent, instance: str, system: System | None) -> Sequence[str]:
    """A connection for each interface, to the first instance that has its other side. What is in capitals is
    to be replaced."""
    lines = []
    for each in asked.interfaces:
        side, connector = _OTHERS[each.kind]
        other, used = _other_side(side, each.type, system)
        ends = [f"{instance}.{each.name}", other or "INSTANCE.INTERFACE"]
        first, second = ends if each.kind in _FROM else reversed(ends)
        name = f"{instance}_{each.name}"
        lines.append(f"connection {used or connector.name} {name}(from {first}, to {second});")
    return lines


def _other_side(side: str, type_name: str, system: System | None) -> tuple[str, str]:
    """The first interface of a kind and a type, and the connector that it has now; "" for none."""
    for owner in system.instances if system is not None else ():
        for interface in owner.type.interfaces:
            if interface.kind == side and getattr(interface.type, "name", interface.type) == type_name:
                end = f"{owner.name}.{interface.name}"
                used = [
                    connection.connector
                    for connection in (system.connections if system is not None else ())
                    if end in (each.name for each in (*connection.from_ends, *connection.to_ends))
                ]
                if (side == "uses" and used) or any(support(each).local for each in used):
                    continue  # it calls another one, or is called within its address space
                return end, used[0].name if used else ""
    return "", ""


def _settings(asked: AskedComponent, instance: str) -> tuple[str, ...]:
    period = [f"{instance}._period = {asked.period};"] if asked.period else []
    return (f"{instance}._priority = 100;", *period) if asked.task else ()
