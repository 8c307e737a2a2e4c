# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The sources of an instance, and how each is compiled."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence, Set
from pathlib import Path

from msgspec.structs import replace

from camkes.backends.host.codes import LINK_ERROR, NO_SOURCES
from camkes.backends.host.compiler import Compiler
from camkes.backends.host.digests import of_words
from camkes.backends.host.jobs import BuildJob
from camkes.diagnostics import Diagnostic, Label, Sink
from camkes.generate.handlers import Handler, handlers_of
from camkes.model.system import ComponentType, Instance
from camkes.project.application import Application
from camkes.project.builds import ComponentBuild, language_by_name
from camkes.resolve.files.library import comes_with_tool
from camkes.resources import HOST_KERNEL, RUNTIME

#: what rules for make, in which compilers list headers, have no way to write
_UNUSABLE = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")
#: the C library and what components are made of; what these have on the host kernel is in headers
_EVERYWHERE = {"muslc", "m", "sel4", "sel4runtime", "sel4muslcsys", "sel4camkes", "sel4sync", "utils"}
#: libraries of add_config_library, which are a header
_CONFIGURATION = "_Config"
#: what compilers call the languages of CMake
_NAMES = {"C": "c", "CXX": "c++", "ASM": "assembler-with-cpp"}


def build_of(
    application: Application, instance: Instance, sink: Sink, served: Set[str] = frozenset()
) -> ComponentBuild:
    """The declared (or found) build of an instance with what the application's own libraries add. Components
    that are `served` by templates of connectors need none."""
    kind = instance.type
    declared_in = kind.span.file.path
    build = application.build_of(kind.name, instance.name, declared_in)
    if build is not None and build.cakeml_sources:
        sink.report(
            NO_SOURCES,
            f"component {kind.name} is written in CakeML, which is supported only in builds for seL4",
            build.span,
            help="build with `--kernel sel4`, or replace it with a component in C",
        )
    if build is None and comes_with_tool(declared_in):
        return ComponentBuild()  # what it does is in the runtime
    if build is None:
        if kind.name not in served:
            report_no_sources(application, kind, sink)
        return ComponentBuild(includes=application.headers_of_all(declared_in.parent))
    return with_libraries(application, build)


def builds_of(
    application: Application, instances: Iterable[Instance], sink: Sink, served: Set[str] = frozenset()
) -> dict[str, ComponentBuild]:
    """`build_of` of instances by their names. Those of one component differ only where they are declared."""
    declared = application.instances.keys() | application.groups.keys()
    found: dict[Hashable, ComponentBuild] = {}
    builds: dict[str, ComponentBuild] = {}
    for instance in instances:
        kind = instance.type
        own = instance.name if (kind.name, instance.name) in declared else ""
        key = (kind.name, kind.span, own)
        if key not in found:
            found[key] = build_of(application, instance, sink, served)
        builds[instance.name] = found[key]
    return builds


#: folders of headers of a workspace: its templates of connectors include what the host kernel has not
_HEADERS = (
    *("tools/camkes-tool/libsel4camkes/include", "projects/camkes-tool/libsel4camkes/include"),
    *("projects/util_libs/libutils/include", "projects/util_libs/libplatsupport/include"),
)


def headers_of_workspace(application: Application) -> tuple[Path, ...]:
    """The folders of headers of the workspace that was named, where there is one; they are searched last."""
    if application.workspace is None:
        return ()
    return tuple(folder for name in _HEADERS if (folder := application.workspace / name).is_dir())


def report_no_sources(application: Application, kind: ComponentType, sink: Sink) -> None:
    """Report that nothing is declared and nothing found for a component, if it needs code."""
    serves = any(i.kind == "provides" and i.name not in kind.exported for i in kind.interfaces)
    if kind.control or serves:
        places = application.places(kind.name, kind.span.file.path)
        sink.report(
            NO_SOURCES,
            f"there are no source files for component {kind.name}",
            kind.span,
            notes=["looked for " + ", ".join(p + ".c" for p in places[:8])],
            help=f"declare them: DeclareCAmkESComponent({kind.name} SOURCES ...) in CMakeLists.txt",
        )


def with_libraries(application: Application, build: ComponentBuild) -> ComponentBuild:
    """A build with the sources of the application's libraries that it uses."""
    known = bool(build.groups)  # then CMake has added what a library gives to its users
    build = replace(build, sources=build.sources + tuple(s for g in build.groups for s in g.sources))
    for name in _closure(application, build):
        library = application.libraries[name]
        named = tuple(s for g in library.groups for s in g.sources)
        build = replace(
            build,
            sources=build.sources + (named if known else library.sources),
            includes=build.includes + (() if known else library.includes),
            c_flags=build.c_flags + (() if known else library.c_flags),
            groups=build.groups + library.groups,
        )
    return build


def lacks(kind: ComponentType, name: str, build: ComponentBuild | None) -> Diagnostic | None:
    """The message for code of a component that does not define `name`; None if it need not."""
    handler = next((each for each in handlers_of(kind) if each.name == name), None)
    if handler is not None:
        return _lacks_handler(kind, handler, build)
    for attribute in kind.attributes:
        if name == attribute.name:
            message = f"attribute `{name}` of component `{kind.name}` has no value, but its code reads it"
            help = f"add `INSTANCE.{name} = VALUE;` to a configuration, or a default"
            return Diagnostic(LINK_ERROR, message, attribute.span, help=help)
    return None


def _lacks_handler(kind: ComponentType, handler: Handler, build: ComponentBuild | None) -> Diagnostic:
    files = list(dict.fromkeys(source.name for source in build.sources)) if build is not None else []
    define = f"define `{handler.prototype}` in {files[0] if len(files) == 1 else 'one of its sources'}"
    writes = "`camkes stubs` writes what is missing"
    if handler.interface is None or handler.method is None:
        message = f"component `{kind.name}` is declared with `control` but does not define `run()`"
        return Diagnostic(LINK_ERROR, message, kind.span, help=f"{define}, or remove `control`; {writes}")
    return Diagnostic(
        LINK_ERROR,
        f"component `{kind.name}` does not define `{handler.name}()`",
        handler.interface.span,
        f"provides method `{handler.method.name}`",
        related=(Label(handler.method.span, "the method"),),
        help=f"{define}; {writes}",
    )


def links_foreign_code(application: Application, build: ComponentBuild) -> bool:
    """Whether a build names libraries whose sources are not known. What every component is linked
    with does not count."""
    libraries = application.libraries
    named = {*build.libs, *(lib for name in _closure(application, build) for lib in libraries[name].libs)}
    shown = {name for name, library in libraries.items() if library.sources}
    foreign = named - shown - _EVERYWHERE
    return not all(name.endswith(_CONFIGURATION) for name in foreign)


def _closure(application: Application, build: ComponentBuild) -> list[str]:
    """Libraries of the application that a build uses, directly or not."""
    found: dict[str, None] = {}
    todo = list(build.libs)
    while todo:
        name = todo.pop(0)
        if name in application.libraries and name not in found:
            found[name] = None
            todo += application.libraries[name].libs
    return list(found)


def sources_and_objects(build: ComponentBuild, folder: Path) -> Iterator[tuple[Path, Path]]:
    """The sources that are compiled, each with the object in `folder` that it becomes."""
    used: set[Path] = set()
    for source in dict.fromkeys(build.sources):
        if build.language_of(source) not in _NAMES:
            continue
        output = folder / f"{source.name}.o"
        if output in used:  # two files of one name in different folders
            output = folder / f"{of_words([str(source)])[:8]}-{source.name}.o"
        used.add(output)
        yield source, output


def compile_job(
    compiler: Compiler,
    source: Path,
    output: Path,
    includes: Sequence[Path],
    flags: Sequence[str],
    about: str,
    *,
    language: str | None = None,
    last: Sequence[str] = (),
    beside: str = "",
    generated: bool = False,
    after: Sequence[Path] = (),
) -> BuildJob:
    """Compile one source. `language` is C, CXX or ASM, by default that of its suffix; `last` are flags that
    win over the user's; `beside`: see `BuildJob`; folders in `after` are searched last for headers. Headers
    of the runtime are to `generated` code those of the system, in which compilers do not report inline
    functions that call static ones."""
    language = language or language_by_name(source)
    cxx = language == "CXX"
    program = compiler.cxx if cxx else compiler.c
    searched_as = ("-x", "c++" if cxx else "c")
    explicit = () if language in (None, language_by_name(source)) else ("-x", _NAMES[language])
    ours = (RUNTIME / "include", HOST_KERNEL / "include")
    command = (
        *program,
        "-std=gnu++17" if cxx else "-std=gnu11",
        *compiler.compile_flags(),
        "-DCAMKES_KERNEL_HOST=1",
        *(("-DCAMKES_GENERATED=1",) if generated else ()),
        *(f"-I{p}" for p in includes),
        *(f"{'-isystem' if generated else '-I'}{p}" for p in ours),
        *flags,
        *(word for folder in after for word in ("-idirafter", str(folder))),
        *last,
    )
    plain = source.suffix == ".s"  # not preprocessed
    job = BuildJob(
        f"{about}: {source.name}",
        output,
        (),
        (source,),
        about,
        beside=beside,
        identity=compiler.cxx_identity if cxx else compiler.identity,
        search=() if plain else (*command, *searched_as),
        compiler=(*program, *searched_as),
    )
    rule = () if plain else ("-MD", "-MF", str(job.dependencies), "-MQ", str(output))
    return replace(job, command=(*command, *rule, *explicit, "-c", str(source), "-o", str(output)))


def unusable_name(folder: Path, jobs: Iterable[BuildJob]) -> str | None:
    """The first name of a file or folder of a build in which compilers could not list what they read."""
    names = [str(folder)]
    for job in jobs:
        names += [*map(str, job.inputs), *(w[2:] for w in job.search if w.startswith("-I"))]
    return next((name for name in names if _UNUSABLE.search(name)), None)
