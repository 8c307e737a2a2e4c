# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the CAmkES functions of a CMakeLists.txt declare, whoever reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os.path import abspath
from pathlib import Path

from camkes.cmakelists.codes import CMAKE_ARGUMENTS, MISSING_FILE, SEVERAL_ROOTS
from camkes.diagnostics import Label, Sink, Span
from camkes.records import NamedTuple, dataclass, field


@dataclass(frozen=True, slots=True)
class ComponentBuild:
    """How the code of a component (or of a library) is built. Paths are absolute."""

    sources: tuple[Path, ...] = ()
    includes: tuple[Path, ...] = ()
    c_flags: tuple[str, ...] = ()
    cxx_flags: tuple[str, ...] = ()
    ld_flags: tuple[str, ...] = ()
    libs: tuple[str, ...] = ()
    template_sources: tuple[str, ...] = ()
    template_headers: tuple[str, ...] = ()
    cakeml_sources: tuple[Path, ...] = ()
    span: Span | None = None

    def extended(self, more: ComponentBuild) -> ComponentBuild:
        """With what a later declaration adds; its include folders come first, its flags last."""
        return ComponentBuild(
            self.sources + more.sources,
            more.includes + self.includes,
            self.c_flags + more.c_flags,
            self.cxx_flags + more.cxx_flags,
            self.ld_flags + more.ld_flags,
            self.libs + more.libs,
            self.template_sources + more.template_sources,
            self.template_headers + more.template_headers,
            self.cakeml_sources + more.cakeml_sources,
            self.span or more.span,
        )


@dataclass(frozen=True, slots=True)
class ConnectorTemplates:
    """The templates of a user's connector, by the keywords of DeclareCAmkESConnector."""

    templates: Mapping[str, str]
    from_libs: tuple[str, ...]
    to_libs: tuple[str, ...]
    span: Span | None


class RootServer(NamedTuple):
    """What DeclareCAmkESRootserver says."""

    adl: Path
    cpp_flags: tuple[str, ...]
    cpp_includes: tuple[Path, ...]
    dtb: Path | None
    dts: Path | None
    span: Span | None


class Missing(NamedTuple):
    """A source that does not exist, the call that names it, and where it stands there."""

    path: Path
    call: Span | None
    place: Span | None


@dataclass(slots=True)
class Declarations:
    """Collects the declarations of one reading."""

    name: str = ""
    roots: list[RootServer] = field(default_factory=list)
    components: dict[str, ComponentBuild] = field(default_factory=dict)
    instances: dict[tuple[str, str], ComponentBuild] = field(default_factory=dict)
    connectors: dict[str, ConnectorTemplates] = field(default_factory=dict)
    libraries: dict[str, ComponentBuild] = field(default_factory=dict)
    import_paths: list[Path] = field(default_factory=list)
    template_paths: list[Path] = field(default_factory=list)
    cpp_includes: list[Path] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    #: names of files that the build makes; they need not exist
    generated: set[str] = field(default_factory=set)
    missing: list[Missing] = field(default_factory=list)


_COMPONENT_KEYWORDS = (
    "SOURCES",
    "INCLUDES",
    "C_FLAGS",
    "CXX_FLAGS",
    "LD_FLAGS",
    "LIBS",
    "TEMPLATE_SOURCES",
    "TEMPLATE_HEADERS",
    "CAKEML_SOURCES",
    "CAKEML_DEPENDS",
    "CAKEML_INCLUDES",
    "CAKEML_HEAP_SIZE",
    "CAKEML_STACK_SIZE",
    "LINKER_LANGUAGE",
)
_TEMPLATE_KEYWORDS = ("FROM", "TO", "CAKEML_TO", "FROM_HEADER", "TO_HEADER")
#: spelled as CMake, which knows no case, lists them
FUNCTIONS = (
    "declarecamkescomponent",
    "declarecamkesrootserver",
    "generatecamkesrootserver",
    "declarecamkesconnector",
    "extendcamkescomponentinstance",
    "camkesaddimportpath",
    "camkesmaybeaddimportpath",
    "camkesaddtemplatespath",
    "camkesaddcppinclude",
)


class Call(NamedTuple):
    """A call of one of FUNCTIONS with its arguments evaluated, in a file of the folder `folder`."""

    function: str
    arguments: tuple[str, ...]
    folder: Path
    span: Span | None

    def place(self, argument: str) -> Span | None:
        """Where an argument is written in the call; the call, where it comes from a variable."""
        if self.span is None or self.span.line != self.span.end_line:
            return self.span
        file, _, _, number, column = self.span
        for line in file.lines[number - 1 :]:
            inside, closing, _ = line[column - 1 :].partition(")")
            found = re.search(rf"(?<![^\s(\"]){re.escape(argument)}(?![^\s\"])", inside)
            if found is not None and self.span.column < self.span.end_column:
                start = column + found.start()
                return Span(file, number, start, number, start + len(argument))
            if closing:
                break
            number, column = number + 1, 1
        return self.span


def declare(call: Call, to: Declarations, sink: Sink) -> None:
    """Add what a call declares."""
    match call.function:
        case "declarecamkescomponent":
            _component(call, to, sink)
        case "extendcamkescomponentinstance":
            _extension(call, to, sink)
        case "declarecamkesrootserver":
            _root(call, to, sink)
        case "declarecamkesconnector":
            _connector(call, to, sink)
        case "camkesaddimportpath":
            to.import_paths += _paths(call, call.arguments)
        case "camkesmaybeaddimportpath":
            to.import_paths += [p for p in _paths(call, call.arguments) if p.exists()]
        case "camkesaddtemplatespath":
            to.template_paths += _paths(call, call.arguments)
        case "camkesaddcppinclude":
            to.cpp_includes += _paths(call, call.arguments)


def _component(call: Call, to: Declarations, sink: Sink) -> None:
    if not _enough(call, 1, "a component", "DeclareCAmkESComponent(NAME SOURCES file.c)", sink):
        return
    name, build = call.arguments[0], _build(call, call.arguments[1:], to, sink)
    to.components[name] = to.components.get(name, ComponentBuild()).extended(build)


def _extension(call: Call, to: Declarations, sink: Sink) -> None:
    if not _enough(
        call,
        2,
        "a component and an instance of it",
        "ExtendCAmkESComponentInstance(NAME instance SOURCES file.c)",
        sink,
    ):
        return
    key = call.arguments[0], call.arguments[1]
    build = _build(call, call.arguments[2:], to, sink)
    to.instances[key] = to.instances.get(key, ComponentBuild()).extended(build)


def _build(call: Call, arguments: Sequence[str], to: Declarations, sink: Sink) -> ComponentBuild:
    values = _split(call, arguments, _COMPONENT_KEYWORDS, sink)
    names = [name for name in values["SOURCES"] if name]
    sources = _paths(call, names)
    for name, source in zip(names, sources, strict=True):
        if source.name not in to.generated and not source.exists():
            to.missing.append(Missing(source, call.span, call.place(name)))
    return ComponentBuild(
        tuple(sources),
        tuple(_paths(call, values["INCLUDES"])),
        tuple(values["C_FLAGS"]),
        tuple(values["CXX_FLAGS"]),
        tuple(values["LD_FLAGS"]),
        tuple(values["LIBS"]),
        tuple(values["TEMPLATE_SOURCES"]),
        tuple(values["TEMPLATE_HEADERS"]),
        tuple(_paths(call, values["CAKEML_SOURCES"])),
        call.span,
    )


def _root(call: Call, to: Declarations, sink: Sink) -> None:
    if not _enough(call, 1, "an assembly's file", "DeclareCAmkESRootserver(file.camkes)", sink):
        return
    keywords = ("DTS_FILE_PATH", "DTB_FILE_PATH", "CPP_FLAGS", "CPP_INCLUDES")
    values = _split(call, call.arguments[1:], keywords, sink)
    files = [_paths(call, values[k]) for k in ("DTB_FILE_PATH", "DTS_FILE_PATH")]
    root = RootServer(
        _paths(call, call.arguments[:1])[0],
        tuple(values["CPP_FLAGS"]),
        tuple(_paths(call, values["CPP_INCLUDES"])),
        files[0][0] if files[0] else None,
        files[1][0] if files[1] else None,
        call.span,
    )
    if to.roots:
        first = to.roots[0].span
        related = [Label(first, "the first one")] if first is not None else []
        sink.report(
            SEVERAL_ROOTS,
            "an application has one root server",
            call.span,
            related=related,
            help="choose one with a CMake option, or make a folder of its own for each",
        )
    if not root.adl.is_file():
        name = str(_seen_from(call.folder, root.adl))
        near = root.adl if root.adl.is_dir() else root.adl.parent
        there = sorted(path.name for path in near.glob("*.camkes"))
        has = f"its folder has {', '.join(there[:5])}" if there else "paths start at this file's folder"
        sink.report(MISSING_FILE, f"there is no file {name}", call.place(call.arguments[0]), help=has)
    to.roots.append(root)


def _connector(call: Call, to: Declarations, sink: Sink) -> None:
    if not _enough(call, 1, "a connector", "DeclareCAmkESConnector(NAME FROM file TO file)", sink):
        return
    keywords = (*_TEMPLATE_KEYWORDS, "FROM_LIBS", "TO_LIBS")
    values = _split(call, call.arguments[1:], keywords, sink)
    to.connectors[call.arguments[0]] = ConnectorTemplates(
        {k: values[k][0] for k in _TEMPLATE_KEYWORDS if values[k]},
        tuple(values["FROM_LIBS"]),
        tuple(values["TO_LIBS"]),
        call.span,
    )


def _enough(call: Call, count: int, what: str, example: str, sink: Sink) -> bool:
    if len(call.arguments) >= count:
        return True
    sink.report(CMAKE_ARGUMENTS, f"this call must name {what}", call.span, help=f"write {example}")
    return False


def _split(
    call: Call, arguments: Sequence[str], keywords: tuple[str, ...], sink: Sink
) -> dict[str, list[str]]:
    """Arguments by the keyword before them."""
    values: dict[str, list[str]] = {k: [] for k in keywords}
    current: list[str] | None = None
    for argument in arguments:
        if argument in values:
            current = values[argument]
        elif current is not None:
            current.append(argument)
        else:
            sink.report(
                CMAKE_ARGUMENTS,
                f'unknown argument "{argument}"',
                call.place(argument),
                help=f"a keyword goes before it: {', '.join(keywords[:4])}, ...",
            )
    return values


def _paths(call: Call, names: Sequence[str]) -> list[Path]:
    return [absolute(call.folder, name) for name in names if name]


def absolute(folder: Path, name: str) -> Path:
    """`name` seen from `folder`, without `.` and `..`, links as they are."""
    return Path(abspath(folder / name))  # noqa: PTH100


def _seen_from(folder: Path, path: Path) -> Path:
    return path.relative_to(folder) if path.is_relative_to(folder) else path
