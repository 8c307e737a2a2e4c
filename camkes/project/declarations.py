# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The declarations of CAmkES functions in a CMakeLists.txt."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from os.path import abspath
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from camkes.diagnostics import Code, Label, Sink, SourceFile, Span
from camkes.project.builds import CompileGroup, ComponentBuild
from camkes.project.codemodel import UNIT
from camkes.project.codes import CMAKE_ARGUMENTS, FLAG_LEFT_OUT, MISSING_FILE, REFUSED_FLAG, SEVERAL_ROOTS
from camkes.project.compilers import find_compilers
from camkes.project.flags import COMPILING, PREPROCESSING, sifted
from camkes.project.places import place_of, span_of
from camkes.project.records import Answer, CodemodelGroup
from camkes.resolve.words.nearest import nearest


class ConnectorTemplates(Struct, frozen=True):
    """The templates of a user's connector, by the keywords of DeclareCAmkESConnector."""

    templates: Mapping[str, str]
    from_libs: tuple[str, ...]
    to_libs: tuple[str, ...]
    span: Span | None


class RootServer(NamedTuple):
    """The arguments of DeclareCAmkESRootserver."""

    adl: Path
    cpp_flags: tuple[str, ...]
    cpp_includes: tuple[Path, ...]
    dtb: Path | None
    dts: Path | None
    span: Span | None


class Missing(NamedTuple):
    """A source or folder that does not exist, the call that names it, and where it stands there."""

    path: Path
    call: Span | None
    place: Span | None


class Declarations(Struct):
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
    #: of which packages were read
    workspace: Path | None = None
    #: what all components are compiled with
    common: ComponentBuild = field(default_factory=ComponentBuild)
    #: how CMake compiles the sources of components, by component and instance (or "" for all of them)
    groups: dict[tuple[str, str], tuple[CompileGroup, ...]] = field(default_factory=dict)
    #: files that the build makes; they need not exist
    generated: set[Path] = field(default_factory=set)
    missing: list[Missing] = field(default_factory=list)
    missing_folders: list[Missing] = field(default_factory=list)
    #: the output of failed commands that generate files
    said_of_commands: list[str] = field(default_factory=list)
    #: generated files that are not there
    not_made: list[Missing] = field(default_factory=list)

    def generates(self, call: Call, name: str) -> bool:
        """Whether the build makes a file that a call names."""
        return any(absolute(folder, name) in self.generated for folder in call.folders)


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
_ROOT_KEYWORDS = ("DTS_FILE_PATH", "DTB_FILE_PATH", "CPP_FLAGS", "CPP_INCLUDES")
_TEMPLATE_KEYWORDS = ("FROM", "TO", "CAKEML_TO", "FROM_HEADER", "TO_HEADER")


class Call(NamedTuple):
    """A call of a function of CAmkES with its arguments evaluated. A relative path counts from the first of
    the `folders` that has it, or else from the first."""

    function: str
    arguments: tuple[str, ...]
    folders: tuple[Path, ...]
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


def declarations(answer: Answer, sink: Sink, *, check_flags: bool = True) -> Declarations:
    """What the answer of CMake declares; sources that are not there are noted, other mistakes reported.
    Without `check_flags`, all flags are allowed."""
    result = Declarations(name=answer.name, options=dict(answer.options))
    result.said_of_commands = answer.not_made
    result.files = [Path(file) for file in answer.files]
    result.generated = {Path(name) for name in answer.generated}
    groups = {name: tuple(map(_group, found)) for name, found in answer.groups.items()}
    result.libraries = {
        name: replace(_library(values), groups=groups.get(name, ()))
        for name, values in answer.libraries.items()
    }
    for path in (path for library in result.libraries.values() for path in library.sources):
        if path.exists() and not path.is_file():
            result.missing.append(Missing(path, None, None))
    for name, found in groups.items():
        component, _, instance = name.removeprefix(UNIT).partition(".")
        if name.startswith(UNIT):
            result.groups[component, instance] = found
    result.common = _common(answer)
    sieve = _Sieve(result.files, sink)
    sources: dict[str, SourceFile] = {}
    for each in answer.calls:
        span = span_of(each.file, each.line, each.name)
        source = sources.setdefault(each.file, span.file)
        call = Call(each.function, each.arguments, tuple(map(Path, each.folders)), span._replace(file=source))
        if check_flags:
            call = _with_sifted_flags(call, sieve)
        declare(call, result, sink)
    if check_flags:
        _sift_common(result, sieve)
    return result


class _Sieve:
    """Sorts the flags of an application, and reports each of those that are not used once."""

    def __init__(self, files: Sequence[Path], sink: Sink) -> None:
        self._files = files
        self._sink = sink
        self._accepts = cache(find_compilers().accepts)
        self._reported: dict[str, set[tuple[str, int, int] | None]] = {}

    def used(
        self, flags: Sequence[str], allowed: re.Pattern[str], call: Call, *, elsewhere: bool
    ) -> tuple[str, ...]:
        """The flags that are used. Others are reported where they are written: in the `call`, or, where they
        can be `elsewhere`, anywhere."""
        found = sifted(flags, allowed, self._accepts)
        for flag, why in found.left_out:
            self._report(FLAG_LEFT_OUT, flag, f"the flag `{flag}` is left out: {why}", call, elsewhere)
        for before, flag in pairwise(("", *found.refused)):
            if flag.startswith("-") or not before:  # or it is the value of the flag before it
                message = f"the flag `{flag}` is not allowed"
                why = "it can run programs or write files, or its effect is unknown"
                help = "remove it; `camkes explain E0717` lists the flags that are allowed"
                self._report(REFUSED_FLAG, flag, f"{message}: {why}", call, elsewhere, help)
        return found.used

    def _report(
        self, code: Code, flag: str, message: str, call: Call, elsewhere: bool, help: str = ""
    ) -> None:
        written = call.place(flag)
        if elsewhere or written == call.span:
            written = place_of(flag, self._files) or written
        key = (str(written.file.path), written.line, written.column) if written is not None else None
        known = self._reported.setdefault(flag, set())
        if not (known if elsewhere else key in known):
            self._sink.report(code, message, written, help=help)
        known.add(key)


def _sift_common(declared: Declarations, sieve: _Sieve) -> None:
    """Sort the flags of libraries and of all components, which have no place of their own."""
    place = Call("", (), (), declared.roots[0].span if declared.roots else None)

    def sift(flags: tuple[str, ...]) -> tuple[str, ...]:
        return sieve.used(flags, COMPILING, place, elsewhere=True)

    def sift_groups(groups: tuple[CompileGroup, ...]) -> tuple[CompileGroup, ...]:
        return tuple(replace(group, flags=sift(group.flags)) for group in groups)

    def sift_build(build: ComponentBuild) -> ComponentBuild:
        c_flags, cxx_flags = sift(build.c_flags), sift(build.cxx_flags)
        return replace(build, c_flags=c_flags, cxx_flags=cxx_flags, groups=sift_groups(build.groups))

    declared.common = sift_build(declared.common)
    declared.libraries = {name: sift_build(library) for name, library in declared.libraries.items()}
    declared.groups = {key: sift_groups(groups) for key, groups in declared.groups.items()}


def _group(written: CodemodelGroup) -> CompileGroup:
    language, sources, includes, flags = written
    named = tuple(Path(name) for name in sources if name)
    return CompileGroup(language, named, "" in sources, tuple(map(Path, includes)), tuple(flags))


def _library(values: Mapping[str, list[str]]) -> ComponentBuild:
    """A library of the application: components that link it are built from its sources, too."""

    def plain(kind: str) -> list[str]:
        return _plain(values.get(kind, []))

    return ComponentBuild(
        sources=tuple(Path(abspath(name)) for name in plain("sources")),  # noqa: PTH100
        includes=tuple(Path(abspath(name)) for name in plain("includes")),  # noqa: PTH100
        c_flags=(*plain("flags"), *(f"-D{each.removeprefix('-D')}" for each in plain("definitions"))),
        libs=tuple(plain("libs")),
    )


def _common(answer: Answer) -> ComponentBuild:
    """The flags of the root server's folder, for all that is compiled there, and CMAKE_BUILD_TYPE."""
    of_folder = {kind: _plain(values) for kind, values in answer.folder.items()}
    definitions = [f"-D{each.removeprefix('-D')}" for each in of_folder.get("COMPILE_DEFINITIONS", [])]
    flags = [*definitions, *of_folder.get("COMPILE_OPTIONS", [])]
    return ComponentBuild(
        includes=tuple(Path(name) for name in of_folder.get("INCLUDE_DIRECTORIES", [])),
        c_flags=(*answer.flags.get("C", []), *flags),
        cxx_flags=(*answer.flags.get("CXX", []), *flags),
    )


_OBJECTS = re.compile(r"\$<TARGET_OBJECTS:([^$<>]+)>")
_EXPRESSION = re.compile(r"\$<(?:BUILD_INTERFACE|LINK_ONLY):([^$<>]*)>")


def _plain(values: Sequence[str]) -> list[str]:
    """Values without generator expressions: the usual ones are replaced, values with others left out."""
    replaced = (_EXPRESSION.sub(r"\1", value) for value in values)
    return list(dict.fromkeys(value for value in replaced if value and "$<" not in value))


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
            to.import_paths += _folders(call, call.arguments, to)
        case "camkesmaybeaddimportpath":
            to.import_paths += [p for p in _paths(call, call.arguments) if p.exists()]
        case "camkesaddtemplatespath":
            to.template_paths += _folders(call, call.arguments, to)
        case "camkesaddcppinclude":
            to.cpp_includes += _folders(call, call.arguments, to)


def _component(call: Call, to: Declarations, sink: Sink) -> None:
    if not _enough(call, 1, "a component", "DeclareCAmkESComponent(NAME SOURCES file.c)", sink):
        return
    name = call.arguments[0]
    build = replace(_build(call, call.arguments[1:], to, sink), span=call.place(name))
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
    build = replace(_build(call, call.arguments[2:], to, sink), span=call.place(key[1]))
    to.instances[key] = to.instances.get(key, ComponentBuild()).extended(build)


def _build(call: Call, arguments: Sequence[str], to: Declarations, sink: Sink) -> ComponentBuild:
    values = _split(call, arguments, _COMPONENT_KEYWORDS, sink)
    objects = [match[1] for match in map(_OBJECTS.fullmatch, values["SOURCES"]) if match is not None]
    names = [name for name in values["SOURCES"] if name and _OBJECTS.fullmatch(name) is None]
    sources = _paths(call, names)
    for name, source in zip(names, sources, strict=True):
        if not source.is_file():  # a pipe or a device would never end
            to_list = to.not_made if to.generates(call, name) else to.missing
            to_list.append(Missing(source, call.span, call.place(name)))
    return ComponentBuild(
        sources=tuple(sources),
        includes=tuple(_folders(call, values["INCLUDES"], to)),
        c_flags=tuple(values["C_FLAGS"]),
        cxx_flags=tuple(values["CXX_FLAGS"]),
        ld_flags=tuple(values["LD_FLAGS"]),
        libs=(*values["LIBS"], *objects),
        template_sources=tuple(values["TEMPLATE_SOURCES"]),
        template_headers=tuple(values["TEMPLATE_HEADERS"]),
        cakeml_sources=tuple(_paths(call, values["CAKEML_SOURCES"])),
        linker_language=next(iter(values["LINKER_LANGUAGE"][-1:]), ""),
        span=call.span,
    )


def _root(call: Call, to: Declarations, sink: Sink) -> None:
    if not _enough(call, 1, "an assembly's file", "DeclareCAmkESRootserver(file.camkes)", sink):
        return
    values = _split(call, call.arguments[1:], _ROOT_KEYWORDS, sink)
    files = [_paths(call, values[k]) for k in ("DTB_FILE_PATH", "DTS_FILE_PATH")]
    root = RootServer(
        _paths(call, call.arguments[:1])[0],
        tuple(values["CPP_FLAGS"]),
        tuple(_folders(call, values["CPP_INCLUDES"], to)),
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
            help="choose one with a CMake option, or make a separate folder for each",
        )
    if not root.adl.is_file():
        name = str(_seen_from(call.folders[0], root.adl))
        near = root.adl if root.adl.is_dir() else root.adl.parent
        there = sorted(path.name for path in near.glob("*.camkes"))
        relative = "paths are relative to the folder of this file"
        has = f"its folder contains {', '.join(there[:5])}" if there else relative
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
            meant = nearest(argument, keywords)
            sink.report(
                CMAKE_ARGUMENTS,
                f'unknown argument "{argument}"',
                call.place(argument),
                help=f"did you mean `{meant}`?"
                if meant
                else f"expected a keyword before it: {', '.join(keywords[:4])}, ...",
            )
            current = values.get(meant or "")
    return values


_FLAGS = {"C_FLAGS": COMPILING, "CXX_FLAGS": COMPILING, "CPP_FLAGS": PREPROCESSING}


def _with_sifted_flags(call: Call, sieve: _Sieve) -> Call:
    """The call with those flags that are used."""
    keywords = (*_COMPONENT_KEYWORDS, *_ROOT_KEYWORDS)
    arguments: list[str] = []
    flags: list[str] = []
    keyword = ""
    for argument in (*call.arguments, ""):
        if argument in keywords or not argument:
            if keyword in ("C_FLAGS", "CXX_FLAGS"):
                flags = _as_options(flags)
            arguments += sieve.used(flags, _FLAGS.get(keyword, PREPROCESSING), call, elsewhere=False)
            flags, keyword = [], argument
        if keyword in _FLAGS and argument != keyword:
            flags.append(argument)
        else:
            arguments.append(argument)
    return call._replace(arguments=tuple(arguments[:-1]))


def _as_options(flags: Iterable[str]) -> list[str]:
    """What CMake makes of COMPILE_OPTIONS: repeated items are dropped, those after SHELL: are split."""
    words: list[str] = []
    for flag in dict.fromkeys(flags):
        words += shlex.split(flag.removeprefix("SHELL:")) if flag.startswith("SHELL:") else [flag]
    return words


def _folders(call: Call, names: Sequence[str], to: Declarations) -> list[Path]:
    paths = _paths(call, names)
    for name, path in zip([name for name in names if name], paths, strict=True):
        if not path.is_dir():
            to.missing_folders.append(Missing(path, call.span, call.place(name)))
    return paths


def _paths(call: Call, names: Sequence[str]) -> list[Path]:
    return [_found(call, name) for name in names if name]


def _found(call: Call, name: str) -> Path:
    places = [absolute(folder, name) for folder in call.folders]
    return next((place for place in places if place.exists()), places[0])


def absolute(folder: Path, name: str) -> Path:
    """`name` seen from `folder`, without `.` and `..`, links as they are."""
    return Path(abspath(folder / name))  # noqa: PTH100


def _seen_from(folder: Path, path: Path) -> Path:
    return path.relative_to(folder) if path.is_relative_to(folder) else path
